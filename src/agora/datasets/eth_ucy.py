"""ETH and UCY: annotated pedestrians of six scenes, and of any other scenes in the same file formats, with walls, groups and goals.

S. Pellegrini, A. Ess, K. Schindler, L. Van Gool, "You'll never walk alone", ICCV 2009 (eth, hotel); A. Lerner, Y. Chrysanthou, D.
Lischinski, "Crowds by example", Computer Graphics Forum 26(3), 2007 (zara, students). The files are those of crowdbotp/OpenTraj
(97ec1d5e).

What to know before comparing numbers:

- A Zara scene has two metric scales. "obsmat" is used in trajectory prediction; "annotation" is the original annotation transformed
by its homography. Relative to "annotation", obsmat is rotated by 90 degrees, mirrored and scaled by about 0.84 x 1.20, so people
are faster in obsmat (1.30 instead of 1.10 m/s in zara01). With "annotation" all Zara scenes share one frame. - zara01's obsmat is
in zara02's frame, shifted by (1.30, 15.66) m. zara01's goals and the lines of the building in its ``map.xml`` are in zara02's
frame; they are shifted when they are read. The lines of the parked car are already correct. - The frame rate of a scene is taken
from its ``scene.yaml``, from its name for public scenes, or from its velocities (`agora.datasets.scenes`). - The obsmat of
students003 was made from different pixels and has different ids; it differs from the other sources by 0.36 m (median). Its
``groups.txt`` uses the ids of obsmat, so groups are only available with that source. students001 does not have groups and uses
students003's homography. None of the students scenes has a map.
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
"""The scenes of the data set, and the possible sources of their pedestrians, the default first."""

_SAME_CAMERA = {
    **dict.fromkeys(("students001", "students01", "uni_examples"), ("students003", "students03")),
    "zara03": ("zara01",),
}
"""Folders of scenes with the same homography, by the folder names of the data set and of OpenTraj."""
_TRAJNET = ".ndjson"

_ZARA01_OFFSET = np.array([1.30, 15.66])
_MARGIN = 1.0


@dataclass(frozen=True, eq=False)
class RecordedScene:
    """A scene in metres.

    Attributes:
        name: name of the scene.
        source: kind of file from which its pedestrians were read.
        map: walls of the scene; if no walls are known, free space as far as people walk.
        trajectories: pedestrians in the scene; time 0 is frame 0.
        destinations: (D, 2) goals that the authors assumed, m; D = 0 if they did not give any.
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
        source: kind of file from which its pedestrians are read; None for the default.
        walls: source of the walls of eth and hotel: the authors' obstacle image, or the lines and pillars drawn by OpenTraj; the
            other scenes only have lines.
        folder: folder of the data set; None for the import folder.
        said: frame rate and scale, which override the values of the scene.

    Raises:
        UnknownNameError: the scene is unknown, or does not have this source.
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
    """Return the kinds of files from which the pedestrians of a scene can be read, the default first.

    A scene that is not in `SOURCES`, such as UCY's zara03 and uni_examples, is a subfolder of the data set with one of these:
    ``obsmat.txt``, ``<name>.txt``, a TrajNet++ file ``.ndjson`` (`agora.datasets.trajnet`), Stanford Drone's ``annotations.txt``
    (`agora.datasets.drone`), or ``annotation.vsp``, which needs its own ``H.txt`` or the homography of a scene filmed from the same
    place. A file ``<name>.ndjson`` in the folder of the data set is also a scene.

    Args:
        name: name of the scene.
        folder: folder of the data set; None for the default.

    Raises:
        UnknownNameError: the data set has no such scene.
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
    """Return the folder that contains a scene: the folder of the data set, which must be complete for the data set's own scenes.

    Raises:
        InputError: the data set is missing.
    """
    return data_folder("eth_ucy") if name in SOURCES else data_home() / "eth_ucy"


def _sources_in(place: Path) -> tuple[Source, ...]:
    sources: tuple[Source, ...] = ("obsmat", "table", "trajnet", "drone", "annotation")
    return tuple(source for source in sources if any(path.is_file() for path in _files(place, source)))


def _files(place: Path, source: Source) -> list[Path]:
    """Return the files of a source, possibly none. A scene that is not a folder is a TrajNet++ file next to the scene folders."""
    if not place.is_dir():
        return [place.with_name(f"{place.name}{_TRAJNET}")] if source == "trajnet" else []
    if source == "trajnet":
        return sorted(place.glob(f"*{_TRAJNET}"))
    names = {"obsmat": "obsmat.txt", "table": f"{place.name}.txt", "annotation": "annotation.vsp", "drone": "annotations.txt"}
    return [place / names[source]]


def _file(place: Path, source: Source) -> Path:
    """Return the file of a source.

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
    """Return the frame rate stated by the file of a source; None if the file does not state it.

    Raises:
        InputError: the file is invalid.
    """
    return None if source == "annotation" else _rows(place, _file(place, source), source, said).rate


def scene_path(name: str, folder: Path | None = None) -> Path:
    """Return the folder of a scene, or its TrajNet++ file.

    Args:
        name: name of the scene.
        folder: folder of the data set; None for the import folder.

    Raises:
        InputError: the data set is missing.
    """
    place = (scenes_folder(name) if folder is None else folder) / name
    return place if place.is_dir() else place.with_name(f"{name}{_TRAJNET}")


def homography_file(place: Path) -> Path:
    """Return the homography of a scene: its own, or the homography of a scene filmed from the same place.

    The other scene is searched for in the neighbouring folders and in the data folder.

    Args:
        place: folder of the scene.

    Raises:
        InputError: no homography was found.
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
    """Return the rows of a source.

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
    """Read UCY's splines (``.vsp``): control points in pixels from the image centre, joined by straight lines.

    The first line gives the number of splines; obstacles may follow. A pedestrian's id is its position in the file, from 1.

    Args:
        path: the file.
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
    """Return the number at the start of a line such as ``9 - Num of control points``."""
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
    """Return the map given by an image in which obstacles are white.

    Each cell takes the value of the pixel at its centre; cells outside the image are unknown.

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
    """Return a map with walls as shapes, and free space that covers the walls, a margin, and the area in which people walk."""
    ends = segments.reshape(-1, 2)
    centres, reach = pillars[:, :2], pillars[:, 2:]
    walked = np.column_stack((people.knot_x, people.knot_y))
    points = np.concatenate((ends, centres - reach, centres + reach, walked))
    bounds = (*(points.min(0) - _MARGIN), *(points.max(0) + _MARGIN))
    return Map.from_shapes(segments=segments, discs=pillars, bounds=bounds, name=name)


def _lines(path: Path, name: str) -> tuple[Doubles, Doubles]:
    """Return the lines (S, 4) and circles (D, 3) of OpenTraj's ``map.xml`` in obsmat's metres."""
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
    """Return the affine map (2, 2), (2,) from obsmat's metres to the annotation's metres, fitted to the positions of all people in
    both (error 0.12 m).
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
    """Read every scene of a folder from every source.

    Raises:
        InputError: a file is invalid.
    """
    for name, sources in SOURCES.items():
        for source in sources:
            for walls in ("image", "lines"):
                read_scene(name, source, walls=walls, folder=folder)
