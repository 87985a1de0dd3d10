"""Converts HuNavSim's ``agents.yaml`` files (robotics-upo/hunav_sim) to world folders.

The parameters in a file are the names of the agents and, for each name, the position, speed, behaviour and goals. Keys and defaults
follow hunav_agent_manager/src/hunav_loader.cpp (afa9743) and later configurations (965619e), in which a behaviour is a mapping.
HuNavSim's behaviours correspond to Agora's reactions to robots (hunav_msgs/msg/Agent.msg). A goal is reached within
``goal_radius``. Cyclic goals are visited in a loop, all other goals once.

Positions are in the frame of a map that the file names and that HuNavSim stores in hunav_rviz2_panel/maps. The files do not contain
a robot.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from agora.core.state import REACTIONS
from agora.datasets.foreign_yaml import Notes, number_of, wrong
from agora.datasets.imported import Imported, write_imported
from agora.datasets.waypoint_areas import Area, way_through
from agora.draft.people import People
from agora.draft.scenario import Obstacles, Pedestrian, Scenario, heading_of
from agora.errors import InputError, nearest, reading
from agora.maps.grid import Map
from agora.maps.io import read_map
from agora.yaml_tree import Node, read_text, tree_of_text

_BEHAVIORS = ("regular", "impassive", "surprised", "scared", "curious", "threatening")  # numbered from 1 on
_AGENT = ("init_pose", "behavior", "max_vel", "goal_radius", "cyclic_goals", "goals", "id", "group_id", "global_goals")
_WHY = {
    "publish_people": "the ROS graph always publishes people",
    "agent.skin": "the type of a person determines its appearance",
    "agent.radius": "the stage sets the radius of all people; write crowd: {radius: R} there",
    "agent.init_pose.z": "floors are flat",
    "agent.goal.h": "people may arrive with any heading",
    "agent.behavior.configuration": "Agora's social_states sets the parameters of reactions",
    "agent.behavior.duration": "Agora's social_states sets the parameters of reactions",
    "agent.behavior.once": "Agora's social_states sets the parameters of reactions",
    "agent.behavior.vel": "Agora's social_states sets the parameters of reactions",
    "agent.behavior.dist": "Agora's social_states sets the parameters of reactions",
    "agent.behavior.goal_force_factor": "the stage's crowd model sets the forces",
    "agent.behavior.obstacle_force_factor": "the stage's crowd model sets the forces",
    "agent.behavior.social_force_factor": "the stage's crowd model sets the forces",
    "agent.behavior.other_force_factor": "the stage's crowd model sets the forces",
}


def import_hunav(source: str | Path, output: str | Path, place: Path | None = None) -> Imported:
    """Write a world folder with the people of an ``agents.yaml``.

    Args:
        source: path of the file.
        output: folder of the world, which must be missing or empty.
        place: map (.yaml) to use; by default, the map that the file names, which is searched for near the file.

    Raises:
        InputError: a file cannot be read or has unexpected contents, or the folder cannot be written.
    """
    return write_imported(read_hunav(source, place), Path(output), Path(source).stem)


def read_hunav(path: str | Path, place: Path | None = None) -> Imported:
    """Read an ``agents.yaml``; for the arguments, see `import_hunav`.

    Raises:
        InputError: a file cannot be read or has unexpected contents; the message gives line and key.
    """
    with reading(path, "a HuNavSim agents.yaml file"):
        return _read(path, place)


def _read(path: str | Path, place: Path | None) -> Imported:
    where, notes = str(path), Notes(str(path))
    root = _parameters(tree_of_text(read_text(path), where, is_json=False), where)
    names = root.value.get("agents")
    if names is None or not isinstance(names.value, list) or not all(isinstance(one.value, str) for one in names.value):
        raise wrong(where, names.line if names else root.line, "agents", "a list of names", names.value if names else None)
    map = _map(root, where, place)
    people = []
    for name in names.value:
        if name.value not in root.value:
            agents = [key for key, node in root.value.items() if isinstance(node.value, dict)]
            raise InputError(f"{where}:{name.line}: agents: no agent called {name.value!r}; {nearest(name.value, agents)}")
        people.append(_person(name.value, root.value[name.value], root, map, notes))
    listed = {one.value for one in names.value}
    for key, node in root.value.items():
        if isinstance(node.value, dict) and key not in listed and key != "global_goals":
            notes.add(root.key_lines[key], key, "not imported: it is not listed in agents")
    notes.left_out(
        root, {"agents", "map", "global_goals", *(k for k, n in root.value.items() if isinstance(n.value, dict))}, "", _WHY
    )
    notes.add(root.line, "robot", "the file has no robot: place one with the stage (robots: random), or add one to the scenario")
    scenario = Scenario((), Obstacles(dynamic=tuple(people)), Path(path).stem)
    return Imported(map, scenario, notes.texts())


def _parameters(node: Node, where: str) -> Node:
    """Return the mapping ``ros__parameters`` of the only node in a file."""
    for one in node.value.values() if isinstance(node.value, dict) else ():
        found = _of(one, "ros__parameters") or one
        if isinstance(found.value, dict):
            return found
    raise InputError(f"{where}:{node.line or 1}: expected hunav_loader with ros__parameters, as in HuNavSim's agents.yaml")


def _map(root: Node, where: str, place: Path | None) -> Map:
    """Return the map at ``place`` or, if ``place`` is None, the map that the file names, which is searched for near the file."""
    if place is not None:
        return read_map(place)
    named = root.value.get("map")
    name = Path(str(named.value)).stem if named is not None else "map"
    near = list(Path(where).absolute().parents)[:3]
    tried = [folder / inner / f"{name}.yaml" for folder in near for inner in ("", "maps", "hunav_rviz2_panel/maps")]
    found = next((path for path in tried if path.is_file()), None)
    if found is None:
        raise InputError(
            f"{where}:{named.line if named else 1}: map: no {name}.yaml near this file; name the map's file: --map FILE"
        )
    return read_map(found)


def _person(name: str, agent: Node, root: Node, map: Map, notes: Notes) -> Pedestrian:
    """Return an agent as a pedestrian."""
    where = notes.where
    if not isinstance(agent.value, dict):
        raise wrong(where, agent.line, name, "a mapping", agent.value)
    pose = agent.value.get("init_pose", Node({}, agent.line))
    x, y, h = (number_of(_of(pose, key), where, f"{name}.init_pose.{key}", 0.0) for key in ("x", "y", "h"))
    notes.left_out(pose, ("x", "y", "h"), "agent.init_pose", _WHY)
    reach = number_of(_of(agent, "goal_radius"), where, f"{name}.goal_radius", 0.0)
    goals = [_goal(name, one, agent, root, notes) for one in _list(agent, "goals", where, name)]
    way = way_through(map, (x, y), [Area(*goal, reach) for goal in goals], People().radius)
    for lost in way.lost:
        notes.add(agent.line, name, f"no path leads to its goal ({lost.x:g}, {lost.y:g}), which is left out")
    group = number_of(_of(agent, "group_id"), where, f"{name}.group_id", -1.0)
    if group >= 0:
        notes.add(agent.key_lines["group_id"], "agent.group_id", "not imported: people in a scenario walk alone")
    inner = {key for key, node in agent.value.items() if isinstance(node.value, dict) and key not in ("init_pose", "behavior")}
    notes.left_out(agent, {*_AGENT, *inner}, "agent", _WHY)
    cyclic = _of(agent, "cyclic_goals")
    person = Pedestrian(
        name,
        (x, y, 0.0),
        way.points,
        waypoint_mode=0 if cyclic is None or cyclic.value is not False else 2,
        vmax=number_of(_of(agent, "max_vel"), where, f"{name}.max_vel", 1.0),
        heading=heading_of(f"{name}.init_pose.h", h),
        reaction=_reaction(name, agent, notes),
    )
    return replace(person, waypoint_radius=way.radius)


def _reaction(name: str, agent: Node, notes: Notes) -> str:
    """Return the name of an agent's reaction, which the file gives as a number from 1 on, a name, or a mapping with ``type``."""
    node = agent.value.get("behavior")
    if node is not None and isinstance(node.value, dict):
        notes.left_out(node, ("type",), "agent.behavior", _WHY)
        node = node.value.get("type")
    said: Any = 1 if node is None or node.value == -1 else node.value
    if isinstance(said, str) and said.lower() in REACTIONS:
        return said.lower()
    if isinstance(said, bool) or not isinstance(said, int) or not 1 <= said <= len(_BEHAVIORS):
        expected = f"1 to {len(_BEHAVIORS)} ({', '.join(_BEHAVIORS)})"
        raise wrong(notes.where, node.line if node else agent.line, f"{name}.behavior", expected, said)
    return _BEHAVIORS[said - 1]


def _goal(name: str, goal: Node, agent: Node, root: Node, notes: Notes) -> tuple[float, float]:
    """Return the position of a goal, looked up by name among the agent's goals or among the goals of all agents."""
    key = str(goal.value)
    shared = root.value.get("global_goals", Node({}, None)).value
    node = agent.value.get(key) or (shared.get(key) if isinstance(shared, dict) else None)
    if node is None or not isinstance(node.value, dict):
        raise InputError(f"{notes.where}:{goal.line}: {name}.goals: no goal called {key!r}; {nearest(key, agent.value)}")
    notes.left_out(node, ("x", "y"), "agent.goal", _WHY)
    x, y = (number_of(_of(node, axis), notes.where, f"{name}.{key}.{axis}", 0.0) for axis in ("x", "y"))
    return x, y


def _list(agent: Node, key: str, where: str, name: str) -> list[Node]:
    node = agent.value.get(key)
    if node is not None and not isinstance(node.value, list):
        raise wrong(where, node.line, f"{name}.{key}", "a list", node.value)
    return [] if node is None else list(node.value)


def _of(node: Node, key: str) -> Node | None:
    """Return a value of a mapping; None if it is missing."""
    found = node.value.get(key) if isinstance(node.value, dict) else None
    return found if isinstance(found, Node) else None
