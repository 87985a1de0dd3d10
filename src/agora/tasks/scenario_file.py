"""Recognises scenario files, and finds the world in which a scenario file is run."""

from __future__ import annotations

from pathlib import Path

from agora.draft.scenario import keys_of, older_format, read_scenario
from agora.errors import InputError
from agora.registry import Named
from agora.yaml_tree import location_of


def is_scenario(path: Path) -> bool:
    """Return whether a file is a scenario file, judging by its folder or keys; the file may be invalid or have an older format."""
    if path.suffix != ".json" or not path.is_file():
        return False
    keys = keys_of(path)
    return _is_in_world(path) or bool(keys & {"robots", "obstacles"} or older_format(keys))


def world_of(path: Path) -> Named:
    """Return the world in which a scenario file is run: the world whose folder contains the file or, failing that, the world named
    by the file's ``map`` key.

    If the file is in a folder named ``scenarios``, the neighbouring folder ``worlds`` is searched first; `agora web` uses this
    layout.

    Raises:
        InputError: there is no such JSON file, or the file is not in a world's folder and either cannot be read or does not name an
            existing world.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    if path.suffix != ".json":
        raise InputError(f"{path}: expected a scenario file, with the extension .json")
    if _is_in_world(path):
        folder = path.parent.parent if path.parent.name == "scenarios" else path.absolute().parent.parent
        return Named.of("worlds", "folder", path=f"{folder}/", scenarios=(path.stem,))
    world = read_scenario(path).map
    if world is None:
        raise InputError(f'{path}: does not name a world; add the key map, such as "map": "hall", or move it to WORLD/scenarios')
    own = path.absolute().parent.parent / "worlds" / world
    if path.absolute().parent.name == "scenarios" and "/" not in world and (own / "map").is_dir():
        world = f"{own}/"
    try:
        return Named.of("worlds", "folder", path=world, scenarios=(str(path) if "/" in str(path) else f"./{path}",))
    except InputError as error:
        raise InputError(f"{location_of(path, 'map')}: {str(error).rpartition('path: ')[2]}") from error


def _is_in_world(path: Path) -> bool:
    """Return whether a file is in the ``scenarios`` folder of a world, i.e. whether there is a ``map`` folder next to it."""
    scenarios = path.absolute().parent
    return scenarios.name == "scenarios" and (scenarios.parent / "map").is_dir()
