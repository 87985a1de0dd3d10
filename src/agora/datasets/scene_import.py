"""Bringing in one more scene of recorded pedestrians, beside those of ETH and UCY."""

from __future__ import annotations

import shutil
from pathlib import Path

from agora.config import dump
from agora.datasets.eth_ucy import read_scene
from agora.datasets.scenes import FRAME_RATE, SCENE_FILE, SceneFile, said_of
from agora.errors import AgoraError, InputError
from agora.share import data_home

_PARTS = ("obsmat.txt", "annotation.vsp", "annotations.txt", "H.txt", "groups.txt", "destinations.txt", "map.png", "map.xml")


def import_scene(source: Path, name: str, said: SceneFile) -> Path:
    """Copy one scene beside those of ETH and UCY, with a ``scene.yaml`` of its given frame rate and scale.

    Args:
        source: folder of the scene, with files that `agora.datasets.eth_ucy.scene_sources` knows.
        name: under which it is found.
        said: frame rate and scale of the scene; other keys of an own ``scene.yaml`` are kept.

    Returns:
        the folder it is in now.

    Raises:
        InputError: there are none of its files, one is wrong, or the folder cannot be written.
    """
    if not source.is_dir():
        raise InputError(f"{source}: expected the folder of a scene")
    if not name or Path(name).name != name:
        raise InputError(f"--scene {name!r}: expected a name without '/'")
    target = data_home() / "eth_ucy" / name
    part = target.parent / f".{name}.part" / name
    files = [path for path in sorted(source.iterdir()) if path.name in (*_PARTS, f"{source.name}.txt") or path.suffix == ".ndjson"]
    try:
        part.mkdir(parents=True, exist_ok=True)
        try:
            for path in files:
                shutil.copyfile(path, part / (f"{name}.txt" if path.name == f"{source.name}.txt" else path.name))
            known = said.over(said_of(source)).over(SceneFile(FRAME_RATE.get(source.name.lower())))
            (part / SCENE_FILE).write_text(dump(known))
            try:
                read_scene(name, folder=part.parent)
            except AgoraError as error:
                raise InputError(str(error).replace(str(part), str(source))) from error
            target.mkdir(exist_ok=True)
            for path in part.iterdir():
                path.replace(target / path.name)
        finally:
            shutil.rmtree(part.parent)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error}") from error
    return target
