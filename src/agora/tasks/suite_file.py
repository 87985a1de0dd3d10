"""Finds the worlds and scenarios of suite files that are in a folder named ``suites``, in the neighbouring folders; `agora web`
uses this layout.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agora.draft.scenario import read_scenario
from agora.errors import InputError, nearest
from agora.yaml_tree import Node

OWN = "own/"
"""Prefix for the names of scenarios in the ``scenarios`` folder next to a suite's folder."""


def home_of(path: Path) -> Path | None:
    """Return the folder in which the worlds and scenarios of a suite file are looked up; None if the file's folder is not named
    ``suites``.
    """
    place = path.absolute().parent
    return place.parent if place.name == "suites" else None


def found_beside(tree: Node, where: str, home: Path) -> Node:
    """Return the tree of a suite file, with the names of worlds and scenarios replaced by paths.

    A world ``{name: folder, path: NAME}`` refers to the folder ``worlds/NAME`` if this folder exists; it takes precedence over the
    worlds that come with Agora. A scenario ``own/NAME`` of the world refers to the file ``scenarios/NAME.json``.

    Args:
        tree: tree of the file.
        where: name of the file, used in messages.
        home: folder that contains ``suites``, ``worlds`` and ``scenarios``.

    Raises:
        InputError: there is no such scenario, or the scenario belongs to another world.
    """
    stages = tree.value.get("stages") if isinstance(tree.value, dict) else None
    if stages is None or not isinstance(stages.value, list):
        return tree
    made = [_stage(stage, where, f"stages[{k}].world", home) for k, stage in enumerate(stages.value)]
    return _with(tree, "stages", replace(stages, value=made))


def _stage(stage: Node, where: str, key: str, home: Path) -> Node:
    """Return a stage, with the names of its world and scenarios replaced by paths."""
    world = stage.value.get("world") if isinstance(stage.value, dict) else None
    if world is None or not isinstance(world.value, dict) or _text(world, "name") != "folder":
        return stage
    name = _text(world, "path")
    own = home / "worlds" / name
    if name and "/" not in name and (own / "map").is_dir():
        world = _with(world, "path", replace(world.value["path"], value=f"{own}/"))
    scenarios = world.value.get("scenarios")
    if scenarios is not None and isinstance(scenarios.value, list):
        found = [_scenario(one, name, f"{where}:{one.line}" if one.line else where, key, home) for one in scenarios.value]
        world = _with(world, "scenarios", replace(scenarios, value=found))
    return _with(stage, "world", world)


def _scenario(node: Node, world: str, where: str, key: str, home: Path) -> Node:
    """Return the path of a user's scenario; any other node is returned unchanged."""
    if not isinstance(node.value, str) or not node.value.startswith(OWN):
        return node
    name, there = node.value.removeprefix(OWN), {file.stem: file for file in (home / "scenarios").glob("*.json")}
    if name not in there:
        raise InputError(f"{where}: {key}.scenarios: you have no scenario called {name!r}; {nearest(name, there)}")
    drawn = read_scenario(there[name]).map
    if drawn != world:
        raise InputError(f"{where}: {key}.scenarios: {node.value} belongs to the world {drawn!r}, not to {world!r}")
    return replace(node, value=str(there[name]))


def _text(node: Node, key: str) -> str:
    found = node.value.get(key)
    return found.value if found is not None and isinstance(found.value, str) else ""


def _with(node: Node, key: str, value: Node) -> Node:
    return replace(node, value={**node.value, key: value})
