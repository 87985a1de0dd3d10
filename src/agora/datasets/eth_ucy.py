"""ETH and UCY: reads pedestrians, walls, groups and goals of six scenes, and of other scenes in the same file formats.

S. Pellegrini, A. Ess, K. Schindler, L. Van Gool, "You'll never walk alone", ICCV 2009 (eth, hotel); A. Lerner, Y. Chrysanthou, D.
Lischinski, "Crowds by example", Computer Graphics Forum 26(3), 2007 (zara, students). The files are from crowdbotp/OpenTraj
(97ec1d5e).

Read the following before comparing numbers:

- A Zara scene has two metric scales. "obsmat" is used in trajectory prediction; "annotation" is the original annotation transformed
  by its homography. Relative to "annotation", obsmat is rotated by 90 degrees, mirrored and scaled by about 0.84 x 1.20, so people
  are faster in obsmat (1.30 instead of 1.10 m/s in zara01). With "annotation", all Zara scenes share one frame.
- The obsmat of zara01 is in the frame of zara02, shifted by (1.30, 15.66) m. The goals of zara01 and the lines of the building in
  its ``map.xml`` are in the frame of zara02; this module shifts them. The lines of the parked car are already correct.
- The frame rate of a scene is taken from its ``scene.yaml``, from the name of a public scene, or from the velocities in its files
  (`agora.datasets.scenes`).
- The obsmat of students003 was made from different pixels and has different ids; it differs from the other sources by 0.36 m
  (median). Its ``groups.txt`` uses the ids of obsmat, so groups are only available with this source. students001 has no groups and
  uses the homography of students003. None of the students scenes has a map.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import numpy as np

from agora.core.state import Doubles
from agora.datasets.catalogue import data_folder
from agora.datasets.drone import read_annotations
from agora.datasets.scenes import Rows, SceneFile, people_of, plausible, rate_of, rows_of_table, said_of
from agora.datasets.tables import numbers, read_table
from agora.datasets.trajnet import read_tracks
from agora.errors import InputError, UnknownNameError
from agora.maps.grid import LARGEST, Map
from agora.packed import image_of
from agora.share import data_home
from agora.world.trajectories import Trajectories
from agora.yaml_tree import read_text

Source = Literal["obsmat", "annotation", "table", "trajnet", "drone"]

SOURCES: dict[str, tuple[Source, ...]] = {
    "eth": ("obsmat",),
    "hotel": ("obsmat",),
    "zara01": ("obsmat", "annotation"),
    "zara02": ("obsmat", "annotation"),
    "students001": ("table", "annotation"),
    "students003": ("table", "annotation", "obsmat"),
}
"""The scenes of the data set, with the kinds of files from which their pedestrians can be read; the default is first."""

_SAME_CAMERA = {
    **dict.fromkeys(("students001", "students01", "uni_examples"), ("students003", "students03")),
    "zara03": ("zara01",),
}
"""Folders of scenes that share a homography, by folder name in the data set and in OpenTraj."""
_TRAJNET = ".ndjson"

_ZARA01_OFFSET = np.array([1.30, 15.66])
_MARGIN = 1.0


@dataclass(frozen=True, eq=False)
class RecordedScene:
    """A scene in metres.

    Attributes:
        name: name of the scene.
        source: kind of file from which the pedestrians were read.
        map: map of the scene's walls; if no walls are known, free space that covers the area in which people walk.
        trajectories: trajectories of the pedestrians in the scene; time 0 is frame 0.
        destinations: (D, 2) goals assumed by the authors of the data, m; D = 0 if they did not publish any.
    """

    name: str
    source: Source
    map: Map
    trajectories: Trajectories
    destinations: Doubles


def read_scene(
    name: str,
    source: Source | None = None,
    *,
    walls: Literal["image", "lines"] = "image",
    folder: Path | None = None,
    said: SceneFile | None = None,
) -> RecordedScene:
    """Read a scene.

    Args:
        name: name of a folder in the data set (`scene_sources`).
        source: kind of file from which the pedestrians are read; None for the default.
        walls: source of the walls for eth and hotel: ``image`` for the authors' obstacle image, or ``lines`` for the lines and
            pillars drawn by OpenTraj. The other scenes have only lines.
        folder: folder of the data set; None for its place in the data folder.
        said: frame rate and scale, which override the values of the scene.

    Raises:
        UnknownNameError: the scene is unknown, or has no files of this source.
        InputError: the data set is missing, or a file is invalid.
    """
    sources = scene_sources(name, folder)
    chosen = source or sources[0]
    if chosen not in sources:
        raise UnknownNameError(f"source of scene {name!r}", chosen, sources)
    root = scenes_folder(name) if folder is None else folder
    place = root / name
    people = _pedestrians(root, name, chosen, said or SceneFile())
    groups = place / "groups.txt"
    if groups.is_file() and (chosen == "obsmat" or name.startswith("zara")):
        people = people.grouped(read_groups(groups))
    goals = read_table(place / "destinations.txt", 2) if (place / "destinations.txt").is_file() else np.zeros((0, 2))
    goals = goals + _ZARA01_OFFSET if name == "zara01" else goals
    segments, pillars = _lines(place / "map.xml", name) if (place / "map.xml").is_file() else (np.zeros((0, 4)), np.zeros((0, 3)))
    if chosen == "annotation" and name.startswith("zara") and (place / "obsmat.txt").is_file():
        linear, shift = _obsmat_to_annotation(root, name, said or SceneFile())
        goals = goals @ linear.T + shift
        segments = (segments.reshape(-1, 2) @ linear.T + shift).reshape(-1, 4)
    if walls == "image" and (place / "map.png").is_file():
        surroundings = map_of_image(place / "map.png", read_homography(place / "H.txt"), name=name)
    else:
        surroundings = _map_of_lines(name, people, segments, pillars)
    return RecordedScene(name, chosen, surroundings, people, goals)


def scene_sources(name: str, folder: Path | None = None) -> tuple[Source, ...]:
    """Return the kinds of files from which the pedestrians of a scene can be read; the default is first.

    A scene that is not in `SOURCES`, such as UCY's zara03 and uni_examples, is a subfolder of the data set that contains one of
    these files: ``obsmat.txt``, ``<name>.txt``, a TrajNet++ file ``.ndjson`` (`agora.datasets.trajnet`), Stanford Drone's
    ``annotations.txt`` (`agora.datasets.drone`), or ``annotation.vsp``, which needs an ``H.txt`` in the same folder or the
    homography of a scene filmed from the same place. A file ``<name>.ndjson`` in the folder of the data set is also a scene.

    Args:
        name: name of the scene.
        folder: folder of the data set; None for its place in the data folder.

    Raises:
        UnknownNameError: the data set has no scene with this name.
    """
    root = data_home() / "eth_ucy" if folder is None else folder
    found = _sources_in(root / name)
    usual = tuple(source for source in SOURCES.get(name, ()) if source in found or not found)
    if usual or found:
        return usual + tuple(source for source in found if source not in usual)
    places = [path for path in root.iterdir() if path.is_dir() or path.suffix == _TRAJNET] if root.is_dir() else []
    known = sorted({path.stem if path.suffix == _TRAJNET else path.name for path in places})
    raise UnknownNameError("scene of ETH/UCY", name, [*SOURCES, *(other for other in known if _sources_in(root / other))])


def scenes_folder(name: str) -> Path:
    """Return the folder that contains a scene, which is the folder of the data set.

    For the data set's own scenes, the folder must be complete.

    Raises:
        InputError: the data set is missing.
    """
    return data_folder("eth_ucy") if name in SOURCES else data_home() / "eth_ucy"


def _sources_in(place: Path) -> tuple[Source, ...]:
    sources: tuple[Source, ...] = ("obsmat", "table", "trajnet", "drone", "annotation")
    return tuple(source for source in sources if any(path.is_file() for path in _files(place, source)))


def _files(place: Path, source: Source) -> list[Path]:
    """Return the existing files of a source. A scene that is not a folder is a TrajNet++ file next to the scene folders."""
    if not place.is_dir():
        return [place.with_name(f"{place.name}{_TRAJNET}")] if source == "trajnet" else []
    if source == "trajnet":
        return sorted(place.glob(f"*{_TRAJNET}"))
    names = {"obsmat": "obsmat.txt", "table": f"{place.name}.txt", "annotation": "annotation.vsp", "drone": "annotations.txt"}
    return [place / names[source]]


def _file(place: Path, source: Source) -> Path:
    """Return the only file of a source.

    Raises:
        InputError: the folder has several TrajNet++ files, each of which is a scene.
    """
    path, *others = _files(place, source) or [place]
    if others:
        names = ", ".join(one.stem for one in (path, *others))
        raise InputError(
            f"{place}: contains {1 + len(others)} TrajNet++ files ({names}), each of which is a scene; choose some in the "
            f"world, folder: {place}, scenes: [{path.stem}], or import one: agora data import eth_ucy {path} --scene "
            f"{path.stem}"
        )
    return path


def _pedestrians(root: Path, name: str, source: Source, said: SceneFile) -> Trajectories:
    place = root / name
    path = _file(place, source)
    if source == "annotation":
        rate = rate_of(place, said.over(said_of(place)))
        return plausible(read_annotation(path, read_homography(homography_file(place)), rate), path, rate)
    return people_of(_rows(place, path, source, said), place, said)


def stated_rate(place: Path, source: Source, said: SceneFile) -> float | None:
    """Return the frame rate that the file of a source states; None if the file does not state a frame rate.

    Raises:
        InputError: the file is invalid.
    """
    return None if source == "annotation" else _rows(place, _file(place, source), source, said).rate


def scene_path(name: str, folder: Path | None = None) -> Path:
    """Return the folder of a scene, or its TrajNet++ file.

    Args:
        name: name of the scene.
        folder: folder of the data set; None for its place in the data folder.

    Raises:
        InputError: the data set is missing.
    """
    place = (scenes_folder(name) if folder is None else folder) / name
    return place if place.is_dir() else place.with_name(f"{name}{_TRAJNET}")


def homography_file(place: Path) -> Path:
    """Return the path of a scene's homography: the scene's own file, or the file of a scene filmed from the same place.

    The function searches for the other scene in the neighbouring folders and in the data folder.

    Args:
        place: folder of the scene.

    Raises:
        InputError: no homography exists.
    """
    same = _SAME_CAMERA.get(place.name, ())
    beside = [root / other for root in (place.parent, data_home() / "eth_ucy") for other in same]
    found = next((folder / "H.txt" for folder in (place, *beside) if (folder / "H.txt").is_file()), None)
    if found is None:
        other = f", or put {same[0]}, filmed from the same position, next to it or into the data folder" if same else ""
        raise InputError(
            f"{place / 'annotation.vsp'}: its positions are in pixels; add H.txt, which converts them to metres{other}"
        )
    return found


def _rows(place: Path, path: Path, source: Source, said: SceneFile) -> Rows:
    """Read the rows of a source.

    Raises:
        InputError: the file is invalid, or the scale of its pixels is unknown.
    """
    if source == "trajnet":
        return read_tracks(path)
    if source != "drone":
        return rows_of_table(path, 8 if source == "obsmat" else 4, said.over(said_of(place)).columns)
    if said.over(said_of(place)).scale is None:
        raise InputError(
            f"{path}: its positions are in pixels; set the metres per pixel, such as scale: 0.04, in {place / 'scene.yaml'}"
        )
    return read_annotations(path)


def read_annotation(path: Path, homography: Doubles, rate: float) -> Trajectories:
    """Read UCY's splines (``.vsp``), whose control points are in pixels from the image centre; they are joined by straight lines.

    The first line gives the number of splines; obstacles may follow the splines. A pedestrian's id is its position in the file,
    counted from 1.

    Args:
        path: path of the file.
        homography: (3, 3) matrix from centred pixels to metres.
        rate: frames per second.

    Raises:
        InputError: the file is invalid; the message gives the line.
    """
    lines = read_text(path).splitlines()
    count, at = _leading_count(lines, 0, path), 1
    rows: list[list[float]] = []
    ids: list[int] = []
    for who in range(1, count + 1):
        points = _leading_count(lines, at, path)
        for line in range(at + 1, at + 1 + points):
            text = lines[line].split(" - ")[0] if line < len(lines) else ""
            rows.append(numbers(text, 4, f"{path}:{line + 1}"))
            ids.append(who)
        at += 1 + points
    if not rows:
        raise InputError(f"{path}:1: expected splines, got none")
    table = np.array(rows)
    place = project(homography, table[:, :2])
    try:
        return Trajectories.of_rows(table[:, 2] / rate, ids, place[:, 0], place[:, 1])
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _leading_count(lines: list[str], at: int, path: Path) -> int:
    """Return the number at the start of line ``at``, such as ``9 - Num of control points``."""
    words = lines[at].split() if at < len(lines) else []
    if not words or not words[0].isdecimal() or len(words[0]) > 7:
        raise InputError(f"{path}:{at + 1}: expected a number of splines or control points, got {' '.join(words)[:60]!r}")
    return int(words[0])


def read_homography(path: Path) -> Doubles:
    """Read a (3, 3) matrix that maps pixels to metres.

    Raises:
        InputError: the file is invalid, or the matrix is singular.
    """
    matrix = read_table(path, 3)
    if matrix.shape != (3, 3) or abs(np.linalg.det(matrix)) < 1e-12:
        raise InputError(f"{path}: expected an invertible 3 x 3 matrix")
    return matrix


def read_groups(path: Path) -> list[tuple[int, ...]]:
    """Read walking groups, one line of ids per group; a line with a single number is a count and is skipped.

    Raises:
        InputError: a line contains anything other than integers.
    """
    groups = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.split()
        if not all(word.isdecimal() and len(word) < 8 for word in words):
            raise InputError(f"{path}:{number}: expected the ids of a group, got {line.strip()[:60]!r}")
        if len(words) > 1:
            groups.append(tuple(dict.fromkeys(map(int, words))))
    return groups


def project(homography: Doubles, points: Doubles) -> Doubles:
    """Return points (N, 2) transformed by a homography (3, 3).

    Raises:
        InputError: the homography maps a point to infinity.
    """
    taken = np.column_stack((points, np.ones(len(points)))) @ homography.T
    if not np.isfinite(taken).all() or (np.abs(taken[:, 2]) <= 1e-12 * np.abs(taken).max(1)).any():
        raise InputError("the homography maps a point of the picture to infinity")
    return np.asarray(taken[:, :2] / taken[:, 2:])


def map_of_image(path: Path, homography: Doubles, *, name: str, resolution: float = 0.05) -> Map:
    """Return a map made from an image in which obstacles are white.

    Each cell has the value of the pixel at the centre of the cell; cells outside the image are unknown.

    Args:
        path: path of the image.
        homography: (3, 3) matrix from pixels (row, column) to metres.
        name: name of the map.
        resolution: length of a cell, m.

    Raises:
        InputError: the image cannot be read, or the homography does not yield a map.
    """
    try:
        with image_of(path) as image:
            pixels = np.asarray(image.convert("L"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: image not found") from error
    height, width = pixels.shape
    ends = [[0.0, 0.0], [0.0, width - 1.0], [height - 1.0, 0.0], [height - 1.0, width - 1.0]]
    corners = project(homography, np.array(ends))
    lower, upper = np.floor(corners.min(0) / resolution), np.ceil(corners.max(0) / resolution)
    if (upper - lower).max() > LARGEST:
        raise InputError(f"{path}: its homography gives a map of more than {LARGEST} cells per side")
    columns, rows = (upper - lower).astype(int)
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), -1).reshape(-1, 2)
    centres = np.asarray((grid + lower + 0.5) * resolution, np.float64)
    pixel = np.rint(project(np.asarray(np.linalg.inv(homography), np.float64), centres)).astype(np.int64)
    shown = ((pixel >= 0) & (pixel < (height, width))).all(1)
    white = np.zeros(len(grid), np.bool_)
    white[shown] = pixels[pixel[shown, 0], pixel[shown, 1]] > 127
    origin = (float(lower[0] * resolution), float(lower[1] * resolution))
    return Map(name, resolution, origin, white.reshape(rows, columns), ~shown.reshape(rows, columns))


def _map_of_lines(name: str, people: Trajectories, segments: Doubles, pillars: Doubles) -> Map:
    """Return a map whose walls are exact shapes. The free space covers the walls, the area in which people walk, and a margin."""
    ends = segments.reshape(-1, 2)
    centres, reach = pillars[:, :2], pillars[:, 2:]
    walked = np.column_stack((people.knot_x, people.knot_y))
    points = np.concatenate((ends, centres - reach, centres + reach, walked))
    bounds = (*(points.min(0) - _MARGIN), *(points.max(0) + _MARGIN))
    return Map.from_shapes(segments=segments, discs=pillars, bounds=bounds, name=name)


def _lines(path: Path, name: str) -> tuple[Doubles, Doubles]:
    """Return the lines (S, 4) and circles (D, 3) in OpenTraj's ``map.xml``, in the metres of obsmat."""
    try:
        root = ElementTree.fromstring(read_text(path))
    except ElementTree.ParseError as error:
        raise InputError(f"{path}:{error.position[0]}: not valid XML: {error}") from error
    found: dict[str, list[list[float]]] = {"Line": [], "Circle": []}
    keys = {"Line": ("x1", "y1", "x2", "y2"), "Circle": ("x", "y", "radius")}
    for element in root.iter():
        kind = element.tag.rpartition("}")[2]
        if kind in keys:
            values = " ".join(element.get(key, "missing") for key in keys[kind])
            found[kind].append(numbers(values, len(keys[kind]), f"{path}: {kind} {' '.join(keys[kind])}"))
    lines = np.array(found["Line"]).reshape(-1, 4)
    if name == "zara01":
        building = slice(0, 4)
        lines[building] += np.tile(_ZARA01_OFFSET, 2)
    return lines, np.array(found["Circle"]).reshape(-1, 3)


def _obsmat_to_annotation(root: Path, name: str, said: SceneFile) -> tuple[Doubles, Doubles]:
    """Return the affine transformation (2, 2) and (2,) from the metres of obsmat to the metres of the annotation, fitted to the
    positions of all people in both sources (error 0.12 m).
    """
    one, other = (_pedestrians(root, name, source, said) for source in ("obsmat", "annotation"))
    here, there = [], []
    for row in range(one.count):
        knots = slice(one.first[row], one.first[row + 1])
        twin = int(np.searchsorted(other.id, one.id[row]))
        if twin == other.count or other.id[twin] != one.id[row]:
            raise InputError(f"{root / name}: pedestrian {one.id[row]} of obsmat.txt is not in annotation.vsp")
        points = slice(other.first[twin], other.first[twin + 1])
        places = [np.interp(one.knot_time[knots], other.knot_time[points], c[points]) for c in (other.knot_x, other.knot_y)]
        here.append(np.column_stack((one.knot_x[knots], one.knot_y[knots], np.ones(knots.stop - knots.start))))
        there.append(np.column_stack(places))
    fit = np.linalg.lstsq(np.concatenate(here), np.concatenate(there), rcond=None)[0]
    return fit[:2].T, fit[2]


def check(folder: Path) -> None:
    """Check a folder by reading every scene from every source.

    Raises:
        InputError: a file is invalid.
    """
    for name, sources in SOURCES.items():
        for source in sources:
            for walls in ("image", "lines"):
                read_scene(name, source, walls=walls, folder=folder)
