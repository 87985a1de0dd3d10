"""Imports additional scenes of recorded pedestrians."""

from __future__ import annotations

import shutil
from pathlib import Path

from agora.config import dump
from agora.datasets.eth_ucy import SOURCES, homography_file, read_scene, stated_rate
from agora.datasets.scenes import FRAME_RATE, SCENE_FILE, SceneFile, said_of
from agora.errors import InputError
from agora.share import data_home

_PARTS = ("obsmat.txt", "annotation.vsp", "annotations.txt", "H.txt", "groups.txt", "destinations.txt", "map.png", "map.xml")


def import_scene(source: Path, name: str, said: SceneFile) -> Path:
    """Copy a scene to the folder of the ETH and UCY scenes, with a ``scene.yaml`` that contains the given frame rate and scale.

    Args:
        source: folder of the scene, which contains files supported by `agora.datasets.eth_ucy.scene_sources`, or a TrajNet++ file.
        name: name that the scene gets in the data set.
        said: frame rate, scale and columns of the scene; other keys of the user's ``scene.yaml`` are kept.

    Returns:
        The folder of the scene.

    Raises:
        InputError: files are missing or invalid, or the folder cannot be written.
    """
    alone = source.suffix == ".ndjson" and source.is_file()
    if not source.is_dir() and not alone:
        raise InputError(f"{source}: expected the folder of a scene, or a TrajNet++ file (.ndjson)")
    if not name or Path(name).name != name:
        raise InputError(f"--scene {name!r}: expected a name without '/'")
    if name in SOURCES:
        raise InputError(f"--scene {name}: the data set already has a scene with this name; choose another name")
    source = source.absolute()
    place = source.with_suffix("") if alone else source
    scene = read_scene(place.name, folder=place.parent, said=said)
    known = said.over(said_of(place))
    if stated_rate(place, scene.source, said) is None:  # the rate then depends on the name alone, which the import may change
        known = known.over(SceneFile(FRAME_RATE.get(place.name.lower())))
    target = data_home() / "eth_ucy" / name
    part = target.parent / f".{name}.part"
    try:
        part.mkdir(parents=True, exist_ok=True)
        try:
            for path in [source] if alone else _files(source):
                shutil.copyfile(path, part / (f"{name}.txt" if path.name == f"{source.name}.txt" else path.name))
            if scene.source == "annotation":
                shutil.copyfile(homography_file(source), part / "H.txt")
            (part / SCENE_FILE).write_text(dump(known))
            target.mkdir(exist_ok=True)
            for path in part.iterdir():
                path.replace(target / path.name)
        finally:
            shutil.rmtree(part)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error}") from error
    return target


def _files(source: Path) -> list[Path]:
    """Return the files in a folder that belong to a scene."""
    return [path for path in sorted(source.iterdir()) if path.name in (*_PARTS, f"{source.name}.txt") or path.suffix == ".ndjson"]
