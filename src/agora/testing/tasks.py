"""The contracts for components that create an episode: world sources, robots modes and obstacles modes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agora.core.state import LEAVE, Array
from agora.draft.people import People
from agora.draft.scenario import Obstacle, Obstacles, Pedestrian, Robot, Scenario
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import PlacementError
from agora.interfaces import ObstaclesMode, RobotsMode, WorldSource
from agora.maps.distance import edges_of, gap_to_shapes
from agora.maps.grid import Map
from agora.maps.zones import Zone
from agora.seeds import Stream
from agora.testing.crowds import hall
from agora.testing.errors import ContractError
from agora.testing.guard import identical, pure
from agora.world.trajectories import Trajectories

_SEEDS = (1, 2, 3, 4)
_RADIUS, _SAFETY = 0.3, 0.2
_SLACK = 1e-6
FORBIDDEN = Zone.of("store", "forbidden", [(3.4, 8.6), (6.2, 8.3), (5.8, 10.4), (3.1, 10.1)])
ZONES = (
    Zone.of("west", "public", [(-3.7, 2.3), (1.6, 2.3), (2.2, 10.4), (-3.7, 10.4)]),
    Zone.of("east", "staff", [(2.2, 2.3), (9.2, 2.3), (9.2, 7.9), (2.6, 8.2)], [(7.0, 7.9), (9.2, 7.9), (9.2, 10.4)]),
    FORBIDDEN,
)


def check_world_source(source: WorldSource, *, most: int = 3) -> None:
    """Check a world source against the contract of `agora.interfaces.WorldSource`.

    The names of the source's worlds are distinct strings and always the same. The same name and stream give the same world. In a
    world's scenario, the starts and goals of robots are on the map and outside walls. Recorded pedestrians have a radius, and
    time-outs are above 0. No global random generator is used.

    Args:
        source: world source to check.
        most: maximum number of worlds to check.

    Raises:
        ContractError: the source breaks a clause.
    """
    name = type(source).__name__
    with pure(f"{name}: names", source=source):
        names = source.names()
        again = source.names()
    if not names or not all(isinstance(n, str) and n for n in names) or len(set(names)) < len(names):
        raise ContractError(f"{name}: names: expected a list of distinct strings, got {names!r}")
    if names != again:
        raise ContractError(f"{name}: not deterministic: the second call returns different names")
    for each in names[:most]:
        where = f"{name}: world {each!r}"
        read = []
        for seed in (1, 2, 1):
            with pure(where, source=source):
                read.append(source.world(each, Stream("contract/world/0", seed, "task")))
        if not isinstance(read[0], Surroundings):
            raise ContractError(f"{where}: expected a World, got a {type(read[0]).__name__}")
        if not identical(read[0], read[2]):
            raise ContractError(f"{where}: not deterministic: different worlds for the same random stream")
        for world in read[:2]:
            _check_world(world, where)


def _check_world(world: Surroundings, where: str) -> None:
    """Check the clauses that apply to every world."""
    for number, robot in enumerate(world.scenario.robots if world.scenario is not None else ()):
        for what, pose in (("starts", robot.start), ("ends", robot.goal)):
            if _gap(world.map, np.array([pose[:2]]))[0] <= 0.0:
                raise ContractError(f"{where}: robot {number} {what} in a wall or off the map, at {pose[:2]}")
    if world.replay is not None and not 0.0 < world.replay_radius < math.inf:
        raise ContractError(f"{where}: replay_radius must be above 0, got {world.replay_radius}")
    if world.timeout is not None and not 0.0 < world.timeout < math.inf:
        raise ContractError(f"{where}: timeout must be above 0, got {world.timeout}")


def task(seed: int = 1, *, map: Map | None = None) -> Task:
    """Return a task in a hall. Its world has recorded pedestrians and a scenario with two robots, furniture and pedestrians.

    The hall's zones are ``public`` in the west, ``staff`` in the east, and ``forbidden`` in the north, in which random positions
    are not allowed.

    Args:
        seed: seed of the task's stream.
        map: map to use instead of the hall.
    """
    things = Obstacles(
        static=(Obstacle("a shelf", "shelf", (-2.6, 8.4, 0.0)),),
        dynamic=(Pedestrian("someone", (2.4, 7.1, 0.0), ((0.6, 8.9), (3.0, 3.2)), vmax=1.1),),
    )
    robots = (Robot((-2.9, 4.2, 0.4), (7.9, 9.3, -2.0)), Robot((8.3, 3.1, 3.0), (0.7, 9.6, 0.1)))
    x, y = [1.0, 2.0, 2.5, 7.0, 8.0], [3.0, 3.5, 6.0, 6.0, 8.5]
    recorded = Trajectories.of_rows([0.0, 2.0, 5.0, 1.0, 4.0], [4, 4, 4, 9, 9], x, y)
    world = Surroundings(map or hall(), Scenario(robots, things), replace(recorded, period=np.array([6.0, 4.0])), 0.25, zones=ZONES)
    stream = Stream("contract/task/0", seed, "task")
    return Task(world, world.map, _RADIUS, _SAFETY, stream, People(), forbidden=FORBIDDEN.polygons)


def check_robots_mode(mode: RobotsMode, *, random: bool = True) -> None:
    """Check a robots mode against the contract of `agora.interfaces.RobotsMode`.

    Every robot has a start pose and at least one goal, with finite values and headings in (-pi, pi], on the map and clear of walls.
    Robots do not overlap at their starts, and random positions are outside forbidden zones. The same stream gives bit-identical
    results; if the mode is random, another stream gives other positions. Without free space, the mode raises the appropriate error.
    Inputs are not written, and no global random generator is used.

    Args:
        mode: mode to check.
        random: whether the mode samples positions. Sampled positions must also keep the task's safety distance beyond the robot's
            radius; otherwise, the positions in the contract's scenario are accepted as given.

    Raises:
        ContractError: the mode breaks a clause.
    """
    check = _Mode(mode, type(mode).__name__)
    clearance = _RADIUS + (_SAFETY if random else 0.0)
    placed = []
    for seed in _SEEDS:
        given = task(seed)
        robots = check.robots(given)
        placed.append(robots)
        for number, (start, goals) in enumerate(robots):
            poses = np.vstack((start, goals))
            if np.shape(start) != (3,) or np.ndim(goals) != 2 or np.shape(goals)[1] != 3 or not np.isfinite(poses).all():
                raise check.fail(f"robot {number}: expected a pose (3,) with goals (G, 3), got {start!r}, {goals!r}")
            if (np.abs(poses[:, 2]) > np.pi + _SLACK).any():
                raise check.fail(f"robot {number}: one of the headings {poses[:, 2].tolist()} is not in (-pi, pi]")
            check.clear(given.map, poses[:, :2], clearance, f"robot {number} of seed {seed}")
            check.allowed(given, poses[:, :2], f"robot {number} of seed {seed}", random)
        starts = np.array([start[:2] for start, _ in robots])
        check.apart(starts, np.full(len(starts), clearance), f"starts of seed {seed}")
    check.chance(placed, check.robots(task(_SEEDS[0])), random)
    full = Map("full", 0.1, (-3.7, 2.3), np.ones((81, 129), np.bool_))
    try:
        nowhere = mode.place(task(map=full))
    except PlacementError:
        return
    if nowhere:
        raise check.fail("it places robots on a map without free space; expected a PlacementError")


def check_obstacles_mode(mode: ObstaclesMode, *, random: bool = True) -> None:
    """Check an obstacles mode against the contract of `agora.interfaces.ObstaclesMode`.

    Pedestrians have waypoints, a speed and a radius, with finite values. They are on the map and outside walls; pedestrians present
    at the start do not overlap robots or each other. Names are distinct, and random positions are outside forbidden zones. Static
    obstacles leave the robots' starts and goals free. Recorded pedestrians appear only if the world contains recorded pedestrians.
    The same stream gives bit-identical results; if the mode is random, another stream gives another task. The world, its map and
    the robots' poses are not written, and no global random generator is used.

    Args:
        mode: mode to check.
        random: whether the mode uses random values.

    Raises:
        ContractError: the mode breaks a clause.
    """
    check = _Mode(mode, type(mode).__name__)
    placed = []
    for seed in _SEEDS:
        done = check.obstacles(seed)
        placed.append(_result(done))
        where = f"seed {seed}"
        for start, goals in done.robots:
            check.clear(done.map, np.vstack((start, goals))[:, :2], _RADIUS, f"a robot's start or goal, {where}")
        radii = [p.radius for p in done.pedestrians if p.enters <= 0]
        for number, person in enumerate(done.pedestrians):
            who = f"pedestrian {number} of {where}"
            shapes = np.shape(person.position), np.ndim(person.waypoints), np.shape(person.waypoints)[-1:]
            numbers = np.concatenate((np.ravel(person.position), np.ravel(person.waypoints), (person.speed, person.radius)))
            if shapes != ((2,), 2, (2,)) or not len(person.waypoints) or not np.isfinite(numbers).all():
                raise check.fail(f"{who}: expected a position (2,) with waypoints (K, 2), speed and radius, got {person}")
            if not (person.speed > 0 and person.radius > 0 and person.mode in range(LEAVE + 1)):
                raise check.fail(f"{who}: speed {person.speed}, radius {person.radius}, mode {person.mode}")
            check.clear(done.map, person.position[None], person.radius, who)
            check.allowed(done, np.vstack([person.position, person.waypoints]), who, random)
        check.allowed(done, np.array([(t.furniture.x, t.furniture.y) for t in done.things]).reshape(-1, 2), where, random)
        names = [name for name in (*(t.name for t in done.things), *(p.name for p in done.pedestrians)) if name]
        if len(set(names)) < len(names):
            raise check.fail(f"{where}: names are not distinct: {sorted(names)}")
        starts = [start[:2] for start, _ in done.robots]
        people = [p.position for p in done.pedestrians if p.enters <= 0]
        check.apart(np.array([*starts, *people]), np.array([_RADIUS] * len(starts) + radii), f"robots and pedestrians of {where}")
        if done.phase.size not in (0, done.replay.count if done.replay is not None else 0):
            raise check.fail(f"{where}: {done.phase.size} phases, which do not match the recorded pedestrians")
    check.chance(placed, _result(check.obstacles(_SEEDS[0])), random)


def _result(done: Task) -> dict[str, Any]:
    """Return the values that an obstacles mode has set in a task."""
    return {"map": done.map, "things": done.things, "pedestrians": done.pedestrians, "replay": done.replay, "phase": done.phase}


def _gap(map: Map, points: Array) -> Array:
    """Return the distance to the nearest wall or to the border of the map, m; negative off the map."""
    lower = np.asarray(map.origin)
    border = np.minimum(points - lower, lower + map.size - points).min(axis=1)
    return np.asarray(np.minimum(border, map.gap(points)))


@dataclass(frozen=True)
class _Mode:
    """The clauses that apply to both kinds of modes."""

    mode: Any
    name: str

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    def robots(self, given: Task) -> list[tuple[Array, Array]]:
        """Return the starts and goals that a robots mode sets."""
        with pure(f"{self.name}: place", mode=self.mode, world=given.world, map=given.map):
            given.robots = list(self.mode.place(given))
            for finish in given.later:
                finish()
        return given.robots

    def obstacles(self, seed: int) -> Task:
        """Return a task after the obstacles mode has changed it."""
        given = task(seed)
        scenario = given.world.scenario
        assert scenario is not None
        given.robots = [(np.array(robot.start), np.array([robot.goal])) for robot in scenario.robots]
        with pure(f"{self.name}: place", mode=self.mode, world=given.world, robots=given.robots):
            self.mode.place(given)
        return given

    def clear(self, map: Map, points: Array, clearance: float, where: str) -> None:
        """Check that points are on the map and at least ``clearance`` metres from walls."""
        gap = _gap(map, points)
        if gap.min(initial=math.inf) < clearance - _SLACK:
            point = points[np.argmin(gap)]
            raise self.fail(
                f"{where}: {point.tolist()} is {gap.min():.3f} m from a wall or the border, expected at least {clearance:g} m"
            )

    def allowed(self, given: Task, points: Array, where: str, random: bool) -> None:
        """Check that sampled points are outside forbidden zones."""
        gap = gap_to_shapes(points, edges_of(given.forbidden), np.zeros((0, 3)), given.forbidden) if random else np.ones(1)
        if len(points) and gap.min() <= 0.0:
            raise self.fail(f"{where}: {points[np.argmin(gap)].tolist()} is in a forbidden zone")

    def apart(self, points: Array, radii: Array, where: str) -> None:
        """Check that discs do not overlap."""
        for k in range(1, len(points)):
            gap = np.hypot(*(points[:k] - points[k]).T) - radii[:k] - radii[k]
            if gap.min() < -_SLACK:
                here, there = points[np.argmin(gap)].tolist(), points[k].tolist()
                raise self.fail(f"{where}: {here} and {there} overlap by {-gap.min():.3f} m")

    def chance(self, placed: list[Any], again: Any, random: bool) -> None:
        """Check that the same stream gives the same task, and that another stream gives other positions if they are sampled."""
        if not identical(placed[0], again):
            raise self.fail("not deterministic: different positions for the same random stream")
        same = all(identical(placed[0], other) for other in placed[1:])
        if same and random:
            raise self.fail("the same positions for every seed")
        if not same and not random:
            raise self.fail("different positions for another seed, although it is not random")
