"""Converts YAML worlds of ir-sim (hanruihua/ir-sim) to world folders.

The keys and their defaults are taken from ir-sim a76275f: ``world`` (world/world.py), the lists ``robot`` and ``obstacle``
(world/object_factory.py, world/object_base.py), and shapes (`agora.datasets.irsim_shapes`). Objects without kinematics, and
obstacles without a behaviour, are static and part of the map. An obstacle with a behaviour is a pedestrian: with ``loop`` it walks
between its start and its goal, with ``wander`` to random points, otherwise to its goal. Random positions are sampled once, at
import.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Doubles
from agora.datasets.foreign_yaml import MOST, Notes, is_number, number_of, numbers_of, plain_of, wrong
from agora.datasets.imported import Imported, write_imported
from agora.datasets.irsim_shapes import Shapes, ground_of
from agora.draft.scenario import Obstacles, Pedestrian, Robot, Scenario, heading_of
from agora.errors import InputError, nearest, reading
from agora.seeds import Stream
from agora.yaml_tree import Node, read_text, tree_of_text

_TAKEN = ("number", "distribution", "state", "goal", "shape", "kinematics", "behavior", "vel_max", "static", "name")
_OF_OBSTACLES = ("goal_threshold",)
_MARGIN, _APART, _TRIES = 0.5, 1.0, 200  # distance from the world's edge and between objects, m; samples per object
_SPEED = 1.0  # m/s, default of vel_max
_WANDERED = 8  # number of random waypoints of a pedestrian that wanders
_FASTEST = 15.0  # m/s, maximum speed of a pedestrian
_ROBOT = "the stage sets the robot model: robot: NAME"
_PICTURES = "Agora draws its own pictures"
_WHY = {
    "world.step_time": "the stage sets the periods",
    "world.sample_time": "the stage sets the periods",
    "world.collision_mode": "a contact ends an episode, unless the stage says otherwise",
    "world.control_mode": "a planner drives the robot",
    "world.plot": _PICTURES,
    "world.fog_map": "planners have the map",
    "robot.behavior": "the planner in the benchmark drives the robot",
    "robot.group_behavior": "the planner in the benchmark drives the robot",
    "robot.kinematics": _ROBOT,
    "robot.shape": _ROBOT,
    "robot.vel_max": _ROBOT,
    "robot.vel_min": _ROBOT,
    "robot.acce": _ROBOT,
    "robot.angle_range": _ROBOT,
    "robot.sensors": _ROBOT,
    "robot.goal_threshold": "the stage sets goal_tolerance",
    "robot.arrive_mode": "the stage sets heading_tolerance",
    "robot.name": "robots have numbers, not names",
    "obstacle.vel_min": "people walk forwards",
    "obstacle.arrive_mode": "people may arrive with any heading",
    "obstacle.group_behavior": "the stage's crowd model moves people",
    "obstacle.behavior.name": "the stage's crowd model moves people, crowd: {model: orca}, for example",
    **{f"{role}.{key}": _PICTURES for role in ("robot", "obstacle") for key in ("plot", "color", "description")},
}


def import_irsim(source: str | Path, output: str | Path, seed: int = 0) -> Imported:
    """Write a world folder. The map contains the static obstacles of a YAML world, the scenario its robots and moving obstacles.

    Args:
        source: path of the file.
        output: folder of the world, which must be missing or empty.
        seed: seed used to sample random positions.

    Raises:
        InputError: the file cannot be read or has unexpected contents, or the folder cannot be written.
    """
    return write_imported(read_irsim(source, seed), Path(output), Path(source).stem)


def read_irsim(path: str | Path, seed: int = 0) -> Imported:
    """Read a YAML world; for the arguments, see `import_irsim`.

    Raises:
        InputError: the file cannot be read or has unexpected contents; the message gives line and key.
    """
    where = str(path)
    root = tree_of_text(read_text(path), where, is_json=False)
    if not isinstance(root.value, dict) or not isinstance(root.value.get("world", Node(None, None)).value, dict):
        raise InputError(f"{where}:{root.line or 1}: expected the key world with width and height, as in ir-sim's YAML worlds")
    with reading(path, "an ir-sim YAML world"):
        return _World(root, where, Path(path).stem, seed).imported()


@dataclass(frozen=True)
class _Thing:
    """A single robot or obstacle, with its own values from the lists in the file's entry."""

    role: str
    node: Node
    state: tuple[float, ...]
    goals: tuple[tuple[float, ...], ...]
    values: Mapping[str, Any]

    @property
    def moves(self) -> bool:
        """True if the object moves, i.e. if it is a robot with kinematics or an obstacle with a behaviour."""
        kinematics, behavior = self.values.get("kinematics"), self.values.get("behavior")
        name = kinematics.get("name") if isinstance(kinematics, dict) else None
        there = name not in (None, "static") and self.values.get("static") is not True
        return there and (self.role == "robot" or isinstance(behavior, dict))


class _World:
    """The objects in a file, whose random positions have already been sampled."""

    def __init__(self, root: Node, where: str, name: str, seed: int) -> None:
        self.root, self.where, self.name = root, where, name
        self.notes = Notes(where)
        self.stream = Stream(name, seed, "irsim")
        world = root.value["world"]
        self.size = tuple(number_of(world.value.get(key), where, f"world.{key}", 10.0) for key in ("width", "height"))
        self.offset = numbers_of(world.value.get("offset"), where, "world.offset", 2, (0.0, 0.0))[:2]
        if not all(0.0 < side <= 10_000.0 for side in self.size):
            raise wrong(where, world.line, "world", "width and height above 0 and at most 10,000 m", list(self.size))
        known = ("width", "height", "offset", "obstacle_map", "mdownsample", "name")
        self.notes.left_out(world, known, "world", _WHY)
        self.notes.left_out(root, ("world", "robot", "obstacle"), "", {})

    def imported(self) -> Imported:
        """Return the map and the scenario."""
        shapes = Shapes(self.where, self.notes, self.stream)
        robots: list[Robot] = []
        people: list[Pedestrian] = []
        for thing in self._things():
            if not thing.moves:
                shapes.add(thing.node.line, thing.values.get("shape"), thing.state)
            elif thing.role == "robot":
                robots.append(self._robot(thing))
            else:
                people.append(self._person(thing, len(people)))
        ground = ground_of(self.root.value["world"], self.where, self.name, self.size, self.offset, self.notes)
        map = replace(ground, segments=shapes.segments, discs=shapes.discs, polygons=shapes.polygons)
        return Imported(map, Scenario(tuple(robots), Obstacles(dynamic=tuple(people)), self.name), self.notes.texts())

    def _things(self) -> Iterator[_Thing]:
        for role in ("robot", "obstacle"):
            entries = self.root.value.get(role)
            for node in () if entries is None else entries.value if isinstance(entries.value, list) else [entries]:
                if not isinstance(node.value, dict):
                    raise wrong(self.where, node.line, role, "a mapping", plain_of(node))
                yield from self._of_entry(role, node)

    def _of_entry(self, role: str, node: Node) -> Iterator[_Thing]:
        """Yield the objects of one entry, whose ``number`` key gives the number of objects."""
        entry = plain_of(node)
        count = entry.get("number", 1)
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST:
            raise wrong(self.where, node.line, f"{role}.number", f"an integer up to {MOST}", count)
        places = list(self._places(role, node, entry, count))
        told = False
        for k in range(count):
            values = {key: _kth(value, k) for key, value in entry.items() if key not in ("state", "goal", "distribution")}
            thing = _Thing(role, node, *places[k], values)
            if not told:
                self._tell(thing)
                told = True
            yield thing

    def _tell(self, thing: _Thing) -> None:
        """Add notes on those keys of an object's entry that are ignored."""
        driven = thing.role == "robot" and thing.moves
        known = {"number", "distribution", "state", "goal"} if driven else {*_TAKEN, *_OF_OBSTACLES, "unobstructed"}
        self.notes.left_out(thing.node, known, thing.role, _WHY)
        behavior = thing.node.value.get("behavior")
        if not driven and thing.moves and behavior is not None:
            inner = behavior.value[0] if isinstance(behavior.value, list) else behavior
            taken = ("loop", "wander", "range_low", "range_high", "vxmax", "vmax")
            self.notes.left_out(inner, taken, f"{thing.role}.behavior", _WHY)
            self.notes.add(
                thing.node.line, "obstacle.shape", "not imported: the stage sets the radius of people, crowd: {radius: R}"
            )

    def _places(self, role: str, node: Node, entry: dict[str, Any], count: int) -> Iterator[tuple[Any, Any]]:
        """Yield the state and the goals of each object of an entry."""
        given = entry.get("distribution", "manual")
        distribution = given if isinstance(given, dict) else {"name": given}
        kind = distribution.get("name")
        line = node.key_lines.get("distribution", node.line)
        if kind == "manual":
            for k in range(count):
                state, goal = _kth(entry.get("state", [1, 1, 0]), k), _kth(entry.get("goal", [1, 9, 0]), k)
                goals = goal if isinstance(goal, list) and goal and isinstance(goal[0], list) else [goal]
                yield self._point(node, f"{role}.state", state), tuple(self._point(node, f"{role}.goal", one) for one in goals)
        elif kind == "circle":
            least = min(self.size) / 2 - _MARGIN
            centre = distribution.get("center", [o + s / 2 for o, s in zip(self.offset, self.size, strict=True)])
            radius = distribution.get("radius", least)
            if not isinstance(centre, list) or not all(map(is_number, [radius, *centre])) or len(centre) < 2:
                raise wrong(self.where, line, f"{role}.distribution", "numbers for center and radius", distribution)
            for k in range(count):
                angle = math.tau * k / count
                x, y = radius * math.cos(angle), radius * math.sin(angle)
                there = (centre[0] + x, centre[1] + y, math.remainder(angle - math.pi, math.tau))
                yield there, ((centre[0] - x, centre[1] - y, there[2]),)
        elif kind == "random":
            low, high = self._range(distribution, line, f"{role}.distribution")
            starts, ends = (self._drawn(low, high, count) for _ in range(2))
            for start, end in zip(starts, ends, strict=True):
                yield tuple(start), (tuple(end),)
        else:
            raise InputError(
                f"{self.where}:{line}: {role}.distribution.name: no distribution called {kind!r}; "
                f"{nearest(str(kind), ('manual', 'circle', 'random'))}"
            )

    def _range(self, said: Mapping[str, Any], line: int | None, key: str) -> tuple[Doubles, Doubles]:
        """Return the minimum (3,) and maximum (3,) of x, y and heading for random positions."""
        (x, y), (width, height) = self.offset, self.size
        low = said.get("range_low", [x + _MARGIN, y + _MARGIN, -math.pi])
        high = said.get("range_high", [x + width - _MARGIN, y + height - _MARGIN, math.pi])
        for value in (low, high):
            if not isinstance(value, list) or len(value) < 2 or not all(map(is_number, value)):
                raise wrong(self.where, line, key, "range_low and range_high of x, y, heading", value)
        return np.array([*low[:2], *(low[2:3] or [0.0])], float), np.array([*high[:2], *(high[2:3] or [0.0])], float)

    def _drawn(self, low: Doubles, high: Doubles, count: int) -> Doubles:
        """Return random poses (count, 3) that are at least 1 m apart if there is room."""
        found: list[Doubles] = []
        for _ in range(count):
            tried = self.stream.uniform(0.0, 1.0, (_TRIES, 3)) * (high - low) + low
            gaps = np.min([np.hypot(*(tried[:, :2] - one[:2]).T) for one in found], axis=0) if found else np.full(_TRIES, np.inf)
            found.append(tried[int(np.argmax(gaps >= _APART)) if (gaps >= _APART).any() else int(np.argmax(gaps))])
        return np.round(np.array(found).reshape(-1, 3), 3)

    def _point(self, node: Node, key: str, value: Any) -> tuple[float, float, float]:
        """Return x, y and heading of a state or goal, which may contain more numbers or no heading."""
        if not isinstance(value, list) or len(value) < 2 or not all(map(is_number, value)):
            raise wrong(self.where, node.key_lines.get(key.partition(".")[2], node.line), key, "[x, y, heading]", value)
        heading = float(value[2]) if len(value) > 2 else 0.0
        return float(value[0]), float(value[1]), math.remainder(heading, math.tau)

    def _robot(self, thing: _Thing) -> Robot:
        if len(thing.goals) > 1:
            self.notes.add(
                thing.node.key_lines.get("goal"), "robot.goal", "only its last goal is used; for several goals, use robots: guided"
            )
        return Robot(thing.state, thing.goals[-1])

    def _person(self, thing: _Thing, number: int) -> Pedestrian:
        behavior = thing.values["behavior"]
        goals = [goal[:2] for goal in thing.goals]
        mode = 2
        if behavior.get("wander"):
            said = {"range_low": [0.0, 0.0, -math.pi], "range_high": [10.0, 10.0, math.pi]} | behavior
            goals = [tuple(point[:2]) for point in self._drawn(*self._range(said, thing.node.line, "obstacle.behavior"), _WANDERED)]
            mode = 1
        elif behavior.get("loop"):
            goals, mode = goals if len(goals) > 1 else [*goals, thing.state[:2]], 0
        speeds = [behavior.get("vmax"), behavior.get("vxmax"), _first(thing.values.get("vel_max"))]
        speed = next((float(one) for one in speeds if is_number(one)), _SPEED)
        reach: Any = thing.values.get("goal_threshold")
        person = Pedestrian(
            str(thing.values.get("name") or f"obstacle_{number}"),
            (*thing.state[:2], 0.0),
            tuple((float(x), float(y)) for x, y in goals),
            waypoint_mode=mode,  # type: ignore[arg-type]
            vmax=min(abs(speed), _FASTEST),
            heading=heading_of("state", thing.state[2]),
        )
        return replace(person, waypoint_radius=float(reach) if is_number(reach) and reach > 0 else None)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _kth(value: Any, k: int) -> Any:
    """Return the value for the k-th object of an entry, like ir-sim's convert_list_length; a list of numbers counts as a single
    value.
    """
    if not isinstance(value, list) or not value or all(map(is_number, value)):
        return value
    return value[min(k, len(value) - 1)]
