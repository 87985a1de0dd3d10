"""Time limits of tasks that state none: the time that the robots' paths need, and a reserve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.maps.grid import Map
from agora.metrics.quantities.arithmetic import angle_between, direction
from agora.planners.global_.astar import geodesic
from agora.robots.model import RobotModel
from agora.world.start import RobotStart

SPARE = 60.0  # s
RIDES = 3.0
_HALF_TURN = math.pi  # rad, at every goal
_LONGEST = 3600.0  # s


class Way(NamedTuple):
    """A shortest way of a robot.

    Attributes:
        length: length, m; infinite where there is no way.
        turn: sum of the sizes of its turns, the first one from the heading at the start, rad; None if there is no way.
    """

    length: float
    turn: float | None


def shortest_way(map: Map, start: Doubles, goal: Doubles, model: RobotModel) -> Way:
    """Return a shortest collision-free way of a robot from a pose (3,) to a goal (2 or more,).

    It is the path of the disc around its outline. If that disc does not fit through, it is the path of the largest disc
    inside the outline, which is at most as long as the path of the outline itself.
    """
    found = geodesic(map, start[:2], goal[:2], model.radius)
    if found is None and model.footprint:
        found = geodesic(map, start[:2], goal[:2], model.inscribed_radius)
    return Way(math.inf, None) if found is None else Way(found.length, _turns(found.corners, start[2]))


def _turns(corners: Doubles, heading: float) -> float:
    """The sum of the turns along a path (K, 2), the first one from a heading, rad."""
    steps = np.concatenate((np.stack(direction(np.array([heading])), axis=1), np.diff(corners, axis=0)))
    return float(angle_between(steps[:-1], steps[1:]).sum())


def measured(map: Map, robot: RobotStart) -> RobotStart:
    """The robot with the `shortest_way` of its legs, from place to place; infinite lengths where there is no way."""
    places = np.vstack([robot.pose, robot.goals])
    ways = [shortest_way(map, a, b, robot.model) for a, b in zip(places, places[1:], strict=False)]
    return replace(robot, legs=np.array([way.length for way in ways]), turn=ways[0].turn)


def time_budget(robots: Iterable[RobotStart]) -> float:
    """The time for robots whose legs are measured, whole s: 60 s, and three times what the slowest of them needs at its top speed.

    That is the way to all goals, straight if there is none, and half a turn at each. At most an hour.
    """
    rides = [_ride(robot) for robot in robots]
    return min(float(math.ceil(SPARE + RIDES * max(rides, default=0.0))), _LONGEST)


def enough_goals(task: Task, spacing: float, routes: Sequence[tuple[Doubles, Doubles]]) -> int:
    """Return a number of goals that no robot can use up before the time-out, where each is at least ``spacing`` m from the one
    before.

    A time-out that is open is from now on the `time_budget` for ``routes``: start (3,) and goals (G, 3) of each robot, driven once.
    """
    if task.timeout is None:
        models = [task.models[k % len(task.models)] for k in range(len(routes))]
        robots = [RobotStart(model, start, goals) for model, (start, goals) in zip(models, routes, strict=True)]
        task.timeout = time_budget(measured(task.map, robot) for robot in robots)
    calls = math.ceil(task.timeout / task.control) + 2
    ride = spacing - 2 * task.goal_tolerance
    return calls if ride <= 0 else min(calls, math.ceil(1.001 * task.timeout * task.speed / ride) + 2)


def _ride(robot: RobotStart) -> float:
    """Return the time that a robot drives at its top speed, and turns, s."""
    assert robot.legs is not None
    straight = np.hypot(*np.diff(np.vstack([robot.pose[:2], robot.goals[:, :2]]), axis=0).T)
    way = float(np.where(np.isfinite(robot.legs), robot.legs, straight).sum())
    return way / max(robot.model.vx[1], 1e-3) + len(robot.goals) * _HALF_TURN / max(robot.model.omega, 1e-3)
