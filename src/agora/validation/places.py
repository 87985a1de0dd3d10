"""Measures how people move in places: runs episodes from map generators and suites without a planner.

The measures are those of `agora.validation.movement`. If there is a robot, it either stands in the middle of its path, or creeps
along the path at 0.3 m/s and stops in front of people. One row per episode is stored in a file, so an interrupted run can be
continued.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Doubles, Floats
from agora.draft.stage import CrowdSettings, Share, Stage
from agora.draft.unsteady import Unsteady
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.errors import PlacementError
from agora.maps.ways import along, length_of, way
from agora.registry import Named, available
from agora.tasks.suite import Suite
from agora.validation.movement import BANDS, PERIOD, THERE, Movement, Tracks, measure, percentile
from agora.world.start import Start
from agora.world.world import World

__all__ = ["ROBOTS", "PlaceRow", "generators", "markdown", "measure_places"]

ROBOTS = ("none", "stands", "creeps")
"""Behaviours of the robots, which alternate from episode to episode."""

_DENSITIES = (0.05, 0.1, 0.2)  # people per m2; the episodes of a generator are divided equally among the densities
_LONGEST = 120.0  # s, maximum length of an episode
_CREEP = 0.3  # m/s, speed of a robot that creeps
_BEFORE = 0.5  # m, gap to people ahead at which a robot stops
_STEP, _LOOK = 0.2, 3  # distance between points of the robot's path, m; number of points ahead towards which the robot steers


@dataclass(frozen=True)
class PlaceRow:
    """The measures of one episode.

    Attributes:
        entry: name of the episode, ``suite/stage/episode``.
        seed: seed of the episode's stage.
        robot: what the robot does, one of `ROBOTS`.
        movement: measures of the episode; None if people could not be placed.
    """

    entry: str
    seed: int
    robot: str
    movement: Movement | None

    @property
    def key(self) -> str:
        """The key of the row, which is unique in a file."""
        return f"{self.entry} {self.seed} {self.robot}"


def generators(episodes: int, seed: int) -> Suite:
    """Return a suite that uses every map generator, with a separate place for each episode and people with itineraries at three
    densities.

    Half of the people react to robots early, 40 % late, and 10 % never, as in the `social` suite.

    Args:
        episodes: number of episodes per generator.
        seed: seed used to generate the places and to sample the people.
    """
    shares = ((0.5, "early"), (0.4, "late"), (0.1, "never"))
    model = Named.of("crowd_models", "anticipation")
    crowd = CrowdSettings(models=tuple(Share(model, share, minds) for share, minds in shares), unsteady=Unsteady())  # type: ignore[arg-type]
    stages = []
    for name in sorted(available("map_generators")):
        for k, density in enumerate(_DENSITIES):
            count = len(range(k, episodes, len(_DENSITIES)))
            if count:
                world = Named.of("worlds", "generated", generator=Named.of("map_generators", name), count=count, seed=seed + k)
                people = Named.of("obstacles_modes", "itineraries", density=density)
                robots = Named.of("robots_modes", "random", distance=4.0)
                stages.append(Stage(f"{name}_{k + 1}", world, robots, people, crowd, episodes=count, robot="tiago"))
    return Suite("places", tuple(stages), seed=seed)


def measure_places(
    suites: Sequence[Suite], file: Path, *, duration: float = _LONGEST, only: int | None = None
) -> Iterator[PlaceRow]:
    """Measure every episode of the given suites that has simulated pedestrians, and yield the rows.

    The rows that are already in the file are yielded first.

    Args:
        suites: suites; the data that their stages need must be available.
        file: file of rows (JSON lines), to which each new row is appended.
        duration: simulated time per episode, s.
        only: maximum number of episodes per stage; None for all.
    """
    kept = {row.key: row for row in _read(file)} if file.exists() else {}
    with file.open("a") as out:
        for suite in suites:
            for stage, k in _in_turn(suite.part(episodes=only)):
                robot = ROBOTS[k % len(ROBOTS)]
                row = PlaceRow(suite.entry(stage.name, k), suite.seed_of(stage.name), robot, None)
                if row.key not in kept:
                    row = replace(row, movement=_episode(suite, stage, k, robot, duration))
                    out.write(json.dumps(dataclasses.asdict(row)) + "\n")
                    out.flush()
                yield kept.get(row.key, row)


def _in_turn(suite: Suite) -> list[tuple[Stage, int]]:
    """Return pairs of a stage and an episode number, cycling through the stages, so that a partial run covers all stages."""
    numbered = [(stage, k) for stage in suite.stages for k in range(stage.count)]
    return sorted(numbered, key=lambda each: each[1])


def _read(file: Path) -> list[PlaceRow]:
    """Return the rows of a file; an incomplete last line is ignored."""
    rows = []
    for line in file.read_text().splitlines():
        try:
            tree = json.loads(line)
        except json.JSONDecodeError:
            continue
        values: dict[str, Any] | None = tree.pop("movement")
        rows.append(PlaceRow(**tree, movement=None if values is None else _movement(values)))
    return rows


def _movement(values: dict[str, Any]) -> Movement:
    """Return the measures stored in a file."""
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return Movement(**fields)


def _episode(suite: Suite, stage: Stage, number: int, robot: str, duration: float) -> Movement | None:
    """Create an episode and measure it; return None if there is no room for the people, or if there are no people."""
    try:
        start = suite.start(stage.name, number)
    except PlacementError:
        return None
    if not len(start.pedestrians.id):
        return None
    return measure(tracks(_with_robot(start, robot), Conditions.of(stage), duration, creeps=robot == "creeps"))


def _with_robot(start: Start, robot: str) -> Start:
    """Return an episode's start without robots, with robots in the middle of their paths, or unchanged, depending on ``robot``."""
    if robot == "none":
        return replace(start, robots=())
    if robot == "creeps":
        return start
    ways = [_way(start, k) for k in range(len(start.robots))]
    middle = [along(points, length_of(points) / 2.0) for points in ways]
    there = zip(start.robots, middle, strict=True)
    return replace(start, robots=tuple(replace(one, pose=np.array([*at, one.pose[2]])) for one, at in there))


def tracks(start: Start, conditions: Conditions, duration: float, *, creeps: bool = False) -> Tracks:
    """Return the motion of an episode's simulated pedestrians. The robots stand still or creep.

    Args:
        start: start of the episode.
        conditions: conditions of the episode.
        duration: simulated time, s.
        creeps: whether robots creep along their paths.
    """
    ways = [_way(start, k) for k in range(len(start.robots) if creeps else 0)]
    paths = [np.array([along(points, s) for s in np.arange(0.0, length_of(points), _STEP)]) for points in ways]
    engine = Engine.of([start], replace(conditions, ends=0, simulator=Conditions().simulator))
    engine.reset(0, start)
    world, clock, count = engine.world, engine.world.status.clock, len(start.pedestrians.id)
    clock.time_limit[...] = np.iinfo(np.int32).max
    steps, every = round(duration / world.dt), round(PERIOD / world.dt)
    commands: Floats = np.zeros((1, len(start.robots), 3), np.float32)
    seen: list[list[Any]] = []
    for step in range(steps):
        clock.done[...] = False  # robots at their goals do not end the episode
        if step % every == 0:
            seen.append(_sample(world, count))
            for r, path in enumerate(paths):
                commands[0, r] = _creep(world, r, path)
        engine.step(commands)
    engine.close()
    position, present, wants = (np.array([sample[k] for sample in seen]) for k in range(3))
    return Tracks(position, present, wants & present, np.asarray(start.pedestrians.radius, np.float64))


def _sample(world: World, count: int) -> list[Any]:
    """Return the positions and presence of ``count`` people, and whether they want to move on."""
    people, goals = world.pedestrians, world.waypoints
    at = np.stack([people.x[0, :count], people.y[0, :count]], -1).astype(np.float64)
    left = np.hypot(goals.x[0, :count] - at[:, 0], goals.y[0, :count] - at[:, 1])
    return [at, people.active[0, :count].copy(), (world.traits.speed[0, :count] > 0.0) & (left > THERE)]


def _way(start: Start, number: int) -> Doubles:
    """Return the path (N, 2) of a robot to its first goal; a straight line if there is no path."""
    robot = start.robots[number]
    ends = np.asarray(robot.pose[:2], np.float64), np.asarray(robot.goals[0, :2], np.float64)
    found = way(start.map, robot.model.radius, *ends)
    return np.array(ends) if found is None else found


def _creep(world: World, r: int, path: Doubles) -> Doubles:
    """Return the twist (3,) of a robot that follows a path (N, 2), and stops in front of people and at the end of the path."""
    robots, people = world.robots, world.pedestrians
    here = np.array([robots.x[0, r], robots.y[0, r]], np.float64)
    nearest = int(np.argmin(np.hypot(*(path - here).T)))
    ahead = path[min(nearest + _LOOK, len(path) - 1)] - here
    bearing = float(np.angle(np.exp(1j * (np.arctan2(ahead[1], ahead[0]) - robots.heading[0, r]))))
    off = np.stack([people.x[0] - here[0], people.y[0] - here[1]])[:, people.active[0]]
    reach = world.robot_traits.radius[0, r] + world.traits.radius[0][people.active[0]] + _BEFORE
    barred = ((np.hypot(*off) < reach) & (ahead @ off > 0.0)).any()
    left = nearest + 1 < len(path)
    goes = left and not barred and abs(bearing) < 0.8
    return np.array([_CREEP * goes, 0.0, np.clip(1.5 * bearing, -1.0, 1.0) * left])


def markdown(rows: Sequence[PlaceRow]) -> str:
    """Return a Markdown table of the rows, by suite and stage, with a line for each of several suites. Stages whose names differ
    only in a final number are merged.
    """
    parts: dict[str, list[Movement]] = {}
    suites: dict[str, list[Movement]] = {}
    for row in rows:
        if row.movement is not None:
            suite, stage, _ = row.entry.rsplit("/", 2)
            place = stage.rstrip("0123456789").rstrip("_")
            parts.setdefault(f"`{suite}/{place}`", []).append(row.movement)
            suites.setdefault(f"`{suite}`", []).append(row.movement)
    if len(suites) > 1:
        parts |= suites
    parts["all"] = [row.movement for row in rows if row.movement is not None]
    columns = [
        "place",
        "episodes",
        "person-minutes",
        "jams",
        "wedged",
        "U-turns",
        "turn 50 %",
        "turn 95 %",
        "deepest",
        "overlapping",
    ]
    columns += [f"speed {low:g} to {high:g}" for low, high in zip(BANDS, BANDS[1:], strict=False)]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for name, some in parts.items():
        lines.append(f"| {name} | " + " | ".join(_cells(some)) + " |")
    return "\n".join(lines) + "\n"


def _cells(some: Sequence[Movement]) -> list[str]:
    """Return the cells of one line of the table, which summarises several episodes."""
    minutes, per = sum(m.minutes for m in some), 1000.0 / max(len(some), 1)
    turning = np.sum([m.turning for m in some], axis=0)
    speeds, walkers = np.sum([m.speeds for m in some], axis=0), np.sum([m.walkers for m in some], axis=0)
    means = [f"{s / n:.2f}" if n else "-" for s, n in zip(np.atleast_1d(speeds), np.atleast_1d(walkers), strict=True)]
    return [
        str(len(some)),
        f"{minutes:.0f}",
        f"{per * sum(m.is_jam for m in some):.0f}",
        f"{per * sum(m.wedged for m in some):.0f}",
        f"{sum(m.turns_round for m in some) / max(minutes, 1e-9):.2f}",
        f"{percentile(turning, 0.5):.0f}",
        f"{percentile(turning, 0.95):.0f}",
        f"{max((m.deepest for m in some), default=0.0):.2f}",
        f"{100.0 * sum(m.overlapping for m in some) / max(minutes, 1e-9):.1f} %",
        *means,
    ]
