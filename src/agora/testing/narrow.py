"""Checks planners in narrow places and at starts close to a wall, in whole episodes without people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from agora.core.recording import Outcome, Recording
from agora.episode import Conditions, Episodes
from agora.interfaces import BatchPlanner, Planner
from agora.maps.grid import Map
from agora.planners import adapters
from agora.robots.model import RobotModel, load_robot, robot_names
from agora.tasks.budget import measured, time_budget
from agora.testing.errors import ContractError
from agora.world.start import PedestrianStarts, RobotStart, Start

SPARE = 0.15
"""Free space on each side within which a robot must still get through, m."""

_TOLERANCE = 0.3  # tolerance of the goal, m
_RESOLUTION = 0.05
_LONGER, _SLACK = 2.0, 5.0  # time limit for crossing an empty hall: multiple of the shortest time, and additional seconds

HEAVY = RobotModel(
    name="heavy",
    kinematics="differential",
    radius=0.63,
    footprint=((0.5, 0.38), (-0.5, 0.38), (-0.5, -0.38), (0.5, -0.38)),
    vx=(-0.3, 0.8),
    omega=0.5,
    ax=0.08,
    alpha=0.15,
    source="a loaded pallet truck: one control period changes its speed by less than 0.01 m/s",
)
CAR = RobotModel(
    name="car",
    kinematics="ackermann",
    radius=0.4,
    footprint=((0.37, 0.13), (-0.1, 0.13), (-0.1, -0.13), (0.37, -0.13)),
    vx=(-0.18, 0.18),
    omega=0.5,
    ax=0.1,
    wheelbase=0.26,
    max_steering=0.45,
    source="a model car that gains speed slowly",
)

Way = tuple[tuple[float, float, float], tuple[float, float]]
"""Start pose and goal position, m and rad."""


@dataclass(frozen=True)
class Passage:
    """An episode in a narrow place.

    Attributes:
        place: name of the place.
        robot: name of the robot.
        number: index of the start among the place's starts for this robot.
        recording: recording of the episode.
        limit: time limit, s; infinite if only the episode's time-out applies.
    """

    place: str
    robot: str
    number: int
    recording: Recording
    limit: float

    @property
    def passed(self) -> bool:
        """True if the robot reached its goal in time."""
        return self.recording.outcome == Outcome.REACHED and self.recording.time[-1] <= self.limit

    def __str__(self) -> str:
        seconds = self.recording.time[-1]
        return f"{self.place}: {self.robot}, start {self.number}: {self.recording.outcome.label} after {seconds:.1f} s"


@dataclass(frozen=True)
class _Place:
    """A narrow place.

    Attributes:
        robots: function that returns whether the place is suitable for a given robot.
        map: function that returns the map of the place for a given robot.
        ways: function that returns the starts and goals of a given robot in the place.
        timed: whether the robot must arrive within the time limit for an empty hall.
    """

    robots: Callable[[RobotModel], bool]
    map: Callable[[RobotModel], Map]
    ways: Callable[[RobotModel], list[Way]]
    timed: bool = False


def check_narrow_places(
    planner: Planner | BatchPlanner, places: Iterable[str] = (), robots: Iterable[RobotModel] = (), starts: int = 12
) -> None:
    """Check that a planner gets every robot through narrow places that leave 0.15 m of free space on each side.

    Args:
        planner: planner to check.
        places: names of places to use, from `PLACES`; by default, all.
        robots: robots to use; by default, the robots that come with Agora and two that accelerate slowly.
        starts: maximum number of starts per place and robot, chosen evenly from all starts.

    Raises:
        ContractError: a robot does not reach its goal in time; the message names the robot.
    """
    runs = narrow_places(planner, places, robots, starts)
    if failed := [run for run in runs if not run.passed]:
        raise ContractError(f"{type(planner).__name__}: {len(failed)} of {len(runs)} runs fail: " + "; ".join(map(str, failed)))


def narrow_places(
    planner: Planner | BatchPlanner, places: Iterable[str] = (), robots: Iterable[RobotModel] = (), starts: int = 12
) -> list[Passage]:
    """Run a planner through narrow places, and return the episodes; the arguments are those of `check_narrow_places`.

    A planner that reads the scan is only tested with robots that have a lidar.
    """
    models = tuple(robots) or (*(load_robot(name) for name in robot_names()), HEAVY, CAR)
    declares = adapters.declaration_of(planner)
    top, sees = declares.top_speed, "scan" in declares.channels
    models = tuple(model for model in models if model.lidar is not None or not sees)
    asked: list[tuple[str, int, Start, float]] = []
    for name in places or PLACES:
        place = PLACES[name]
        for model in filter(place.robots, models):
            there, ways = place.map(model), place.ways(model)
            for k in np.unique(np.linspace(0, len(ways) - 1, min(starts, len(ways))).round().astype(int)):
                start = _start(name, model, there, ways[k], int(k), top)
                asked.append((name, int(k), start, _limit(start.robots[0], top) if place.timed else math.inf))
    if not asked:
        return []
    found: dict[int, Recording] = {}
    for seen in dict.fromkeys(s.robots[0].model.lidar if sees else None for _, _, s, _ in asked):  # one batch per lidar
        mine = [i for i, (_, _, s, _) in enumerate(asked) if not sees or s.robots[0].model.lidar == seen]
        played = Episodes([asked[i][2] for i in mine], planner, Conditions())
        found |= {mine[index]: recordings[0] for index, recordings in played}
    return [Passage(name, s.robots[0].model.name, k, found[i], limit) for i, (name, k, s, limit) in enumerate(asked)]


def _start(place: str, model: RobotModel, there: Map, way: Way, number: int, top: float) -> Start:
    pose, goal = way
    robot = measured(there, RobotStart(model, np.array(pose), np.array([[*goal, 0.0]])))
    assert robot.legs is not None
    timeout = time_budget([robot]) + 3.0 * float(robot.legs[0]) / min(top, model.vx[1])
    entry = f"{place}/{model.name}/{number}"
    return Start(entry, 1, there, (robot,), PedestrianStarts.none(), timeout=timeout, goal_tolerance=_TOLERANCE)


def _limit(robot: RobotStart, top: float) -> float:
    """Return the time limit for an empty hall, based on the time needed for the straight path, including acceleration, braking and
    turning.
    """
    model = robot.model
    assert robot.legs is not None and robot.turn is not None
    speed, gain = min(top, model.vx[1]), model.ax or math.inf
    turning = robot.turn / model.omega if model.turning_radius == 0 else 2.0 * math.pi * model.turning_radius / speed
    return _SLACK + _LONGER * (float(robot.legs[0]) / speed + speed / gain + turning)


def half_width(model: RobotModel) -> float:
    """Return the largest lateral distance from the robot's base to its outline, m."""
    return max((abs(y) for _, y in model.footprint), default=model.radius)


def _passes(width: float) -> Callable[[RobotModel], bool]:
    """Return a function that tests whether a robot fits through a passage ``width`` m wide when it drives straight ahead."""
    return lambda model: model.vx[1] > 0 and 2.0 * (half_width(model) + SPARE) <= width + 1e-9


def _turns(width: float) -> Callable[[RobotModel], bool]:
    """Return a function that tests whether a robot has room to turn around in a lane ``width`` m wide."""

    def room(model: RobotModel) -> bool:
        side, nose = half_width(model), max((x for x, _ in model.footprint), default=model.radius)
        swept = side + model.turning_radius + math.hypot(model.turning_radius + side, nose)
        return (swept if model.turning_radius else 2.0 * model.radius) + 2.0 * SPARE <= width + 1e-9

    return room


def _walls(bounds: tuple[float, float, float, float], *segments: Sequence[float]) -> Callable[[RobotModel], Map]:
    """Return a map with walls, including a surrounding wall 0.5 m inside the map's bounds."""
    x0, y0, x1, y1 = bounds[0] + 0.5, bounds[1] + 0.5, bounds[2] - 0.5, bounds[3] - 0.5
    round_it = [(x0, y0, x1, y0), (x1, y0, x1, y1), (x1, y1, x0, y1), (x0, y1, x0, y0)]
    made = Map.from_shapes(segments=[*round_it, *segments], bounds=bounds, resolution=_RESOLUTION, name="narrow")
    return lambda model: made


def _door(model: RobotModel) -> list[Way]:
    """Return starts along the wall, to both sides of the door and in front of it; a car-like robot already faces the wall."""
    heading = 0.0 if model.turning_radius else 1.57
    return [((1.0, 0.8 + 0.4 * k, heading), (6.0, 5.0 if k % 2 else 1.0)) for k in range(12)]


def _corridor(model: RobotModel) -> list[Way]:
    """Return routes that start next to or in front of the corridor's entrance and end to either side beyond the corridor."""
    heading = 0.0 if model.turning_radius else 1.2
    return [((-3.0, -5.2 + 0.6 * k, -heading), (5.6, -1.2 if k % 2 else -4.8)) for k in range(8)]


def _lane(model: RobotModel) -> list[Way]:
    """Return starts that face the closed end of a lane, in the middle of the lane and closer to a wall, with the goal behind the
    robot.
    """
    side = 1.0 - half_width(model) - SPARE
    return [((4.0, 2.0 + share * side, heading), (-1.0, 2.0)) for share in (-1.0, 0.0, 0.6) for heading in (0.0, 0.35, -0.35)]


def _hairpin(model: RobotModel) -> list[Way]:
    """Return routes around the end of a wall between two lanes 1 m wide."""
    return [((0.4, 1.5 + aside, heading), (0.6, 2.5)) for aside, heading in ((0.0, 0.0), (0.05, 0.1), (-0.05, -0.1))]


def _before(model: RobotModel) -> list[Way]:
    """Return starts with the robot's front 0.15 m from a wall at x = 0, and the goal next to or behind the robot."""
    nose = max((x for x, _ in model.footprint), default=model.radius)
    x = -nose - SPARE
    return [((x, y, 0.0), goal) for y in (-0.4, 0.7) for goal in ((-4.0, y), (-3.0, 3.3), (x - 0.5, -3.6), (-4.1, -2.5))]


def _round(model: RobotModel) -> list[Way]:
    """Return routes from the centre to goals 5 m away in eight directions."""
    return [((0.3, -0.2, 0.0), (0.3 + 5.0 * math.cos(a), -0.2 + 5.0 * math.sin(a))) for a in np.arange(8) * math.pi / 4]


def _hall(model: RobotModel) -> list[Way]:
    """Return routes through an empty hall, starting with four headings."""
    return [((1.7, 2.1, heading), (7.9, 5.3)) for heading in (0.5, 2.0, -2.7, -0.8)]


def _slow(model: RobotModel) -> bool:
    """Return whether a robot accelerates so slowly that it takes many control periods to reach a speed at which its roll-outs
    differ noticeably.
    """
    return model.ax is not None and model.ax <= 0.1


PLACES: dict[str, _Place] = {
    "door": _Place(_passes(0.9), _walls((-0.5, -0.5, 8.5, 6.5), (3, 0, 3, 2.6), (3, 3.5, 3, 6)), _door),
    "corridor": _Place(
        _passes(1.0),
        _walls(
            (-4.9, -6.7, 7.5, 0.5),
            (-1, -6.2, -1, -3.6),
            (-1, -3.6, 3, -3.6),
            (3, -3.6, 3, -6.2),
            (-1, 0, -1, -2.6),
            (-1, -2.6, 3, -2.6),
            (3, -2.6, 3, 0),
        ),
        _corridor,
    ),
    "lane": _Place(_turns(2.0), _walls((-2.9, 0.5, 6.5, 3.5)), _lane),
    "hairpin": _Place(_turns(1.0), _walls((-0.6, 0.5, 5.5, 3.5), (-0.1, 2, 4, 2)), _hairpin),
    "wall": _Place(lambda model: model.vx[1] > 0, _walls((-6.5, -5.3, 0.5, 5.7)), _before),
    "slow": _Place(_slow, _walls((-8.5, -8.5, 8.5, 8.5)), _round),
    "hall": _Place(lambda model: not _slow(model), _walls((-0.5, -0.5, 12.5, 9.5)), _hall, timed=True),
}
"""The places: a 0.9 m door, a 1.0 m corridor, turning around in a 2.0 m lane, turning around the end of a wall with 1 m on both
sides, a wall 0.15 m ahead, slow robots on an empty floor, and an empty hall.
"""
