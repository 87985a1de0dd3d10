"""A scenario file by itself: is it one, and in which world is it played?"""

from __future__ import annotations

from pathlib import Path

from agora.draft.scenario import keys_of, older_format, read_scenario
from agora.errors import InputError
from agora.registry import Named
from agora.yaml_tree import location_of


def is_scenario(path: Path) -> bool:
    """Return whether a file is a scenario, also one that is wrong or of an older format: by its folder, or by its keys."""
    if path.suffix != ".json" or not path.is_file():
        return False
    keys = keys_of(path)
    return _is_in_world(path) or bool(keys & {"robots", "obstacles"} or older_format(keys))


def world_of(path: Path) -> Named:
    """Return the world in which a scenario file is played: the one in whose folder it lies, else that of its key ``map``.

    For a file in a folder ``scenarios``, the neighbouring folder ``worlds`` is searched first, as `agora web` keeps them.

    Raises:
        InputError: there is no such JSON file, or one that lies elsewhere cannot be read or names no world that there is.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    if path.suffix != ".json":
        raise InputError(f"{path}: expected a scenario file, whose name ends in .json")
    if _is_in_world(path):
        folder = path.parent.parent if path.parent.name == "scenarios" else path.absolute().parent.parent
        return Named.of("worlds", "folder", path=f"{folder}/", scenarios=(path.stem,))
    world = read_scenario(path).map
    if world is None:
        raise InputError(f'{path}: names no world; give the key map, such as "map": "hall", or put it into WORLD/scenarios')
    own = path.absolute().parent.parent / "worlds" / world
    if path.absolute().parent.name == "scenarios" and "/" not in world and (own / "map").is_dir():
        world = f"{own}/"
    try:
        return Named.of("worlds", "folder", path=world, scenarios=(str(path) if "/" in str(path) else f"./{path}",))
    except InputError as error:
        raise InputError(f"{location_of(path, 'map')}: {str(error).rpartition('path: ')[2]}") from error


def _is_in_world(path: Path) -> bool:
    """Return whether a file lies where scenarios lie in the folder of a world, which has a map."""
    scenarios = path.absolute().parent
    return scenarios.name == "scenarios" and (scenarios.parent / "map").is_dir()
