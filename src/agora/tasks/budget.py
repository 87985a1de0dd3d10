"""How much time a task gives its robots where it does not say: what their way needs, and something to spare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.maps.grid import Map
from agora.planners.global_.astar import geodesic_length
from agora.robots.model import RobotModel
from agora.world.start import RobotStart

SPARE = 60.0  # s
RIDES = 3.0
_HALF_TURN = math.pi  # rad, at every goal
_LONGEST = 3600.0  # s


def way_length(map: Map, start: ArrayLike, goal: ArrayLike, model: RobotModel) -> float:
    """Return the length of a shortest collision-free way of a robot between two points (2,), m; infinite where there is none.

    It is the way of the disc about its outline. Where that fits nowhere through, it is the way of the largest disc inside the
    outline, which is at most as long as the outline's own.
    """
    length = geodesic_length(map, start, goal, model.radius)
    return length if math.isfinite(length) or not model.footprint else geodesic_length(map, start, goal, model.inscribed_radius)


def measured(map: Map, robot: RobotStart) -> RobotStart:
    """The robot with the `way_length` of its legs, from place to place, m; infinite where there is no way."""
    places = np.vstack([robot.pose[:2], robot.goals[:, :2]])
    lengths = [way_length(map, a, b, robot.model) for a, b in zip(places, places[1:], strict=False)]
    return replace(robot, legs=np.array(lengths))


def time_budget(robots: Iterable[RobotStart]) -> float:
    """The time for robots whose legs are measured, whole s: 60 s, and three times what the slowest of them needs at its top speed.

    That is the way to all goals, straight where there is none, and half a turn at each. At most an hour.
    """
    rides = [_ride(robot) for robot in robots]
    return min(float(math.ceil(SPARE + RIDES * max(rides, default=0.0))), _LONGEST)


def enough_goals(task: Task, spacing: float, routes: Sequence[tuple[Doubles, Doubles]]) -> int:
    """How many goals no robot can use up before the time-out, where each is at least ``spacing`` m from the one before.

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
    """How long a robot drives at its top speed, and turns, s."""
    assert robot.legs is not None
    straight = np.hypot(*np.diff(np.vstack([robot.pose[:2], robot.goals[:, :2]]), axis=0).T)
    way = float(np.where(np.isfinite(robot.legs), robot.legs, straight).sum())
    return way / max(robot.model.vx[1], 1e-3) + len(robot.goals) * _HALF_TURN / max(robot.model.omega, 1e-3)
