"""Time limits for tasks that do not specify a time limit: the time that the robots need for their paths, plus a reserve."""

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
    """The length and the turns of a robot's shortest path.

    Attributes:
        length: length of the path, m; infinite if there is no path.
        turn: sum of the absolute turning angles along the path, rad, including the first turn from the heading at the start; None
            if there is no path.
    """

    length: float
    turn: float | None


def shortest_way(map: Map, start: Doubles, goal: Doubles, model: RobotModel) -> Way:
    """Return a shortest collision-free path of a robot from a pose (3,) to a goal (2 or more,).

    The path is computed for the disc that encloses the robot's outline. If no path is wide enough for this disc, the path is
    computed for the largest disc inside the outline; it is then at most as long as the shortest path for the outline itself.
    """
    found = geodesic(map, start[:2], goal[:2], model.radius)
    if found is None and model.footprint:
        found = geodesic(map, start[:2], goal[:2], model.inscribed_radius)
    return Way(math.inf, None) if found is None else Way(found.length, _turns(found.corners, start[2]))


def _turns(corners: Doubles, heading: float) -> float:
    """Return the sum of the turning angles along a path (K, 2), including the first turn from a given heading; all in radians."""
    steps = np.concatenate((np.stack(direction(np.array([heading])), axis=1), np.diff(corners, axis=0)))
    return float(angle_between(steps[:-1], steps[1:]).sum())


def measured(map: Map, robot: RobotStart) -> RobotStart:
    """Return the robot with the lengths of its legs, computed by `shortest_way` from each position to the next; infinite if there
    is no path.
    """
    places = np.vstack([robot.pose, robot.goals])
    ways = [shortest_way(map, a, b, robot.model) for a, b in zip(places, places[1:], strict=False)]
    return replace(robot, legs=np.array([way.length for way in ways]), turn=ways[0].turn)


def time_budget(robots: Iterable[RobotStart]) -> float:
    """Return the time limit in seconds, rounded up, for robots whose legs have been measured: 60 s plus three times the driving
    time of the slowest robot.

    The driving time is the time that a robot needs at top speed to drive to all its goals, in a straight line if there is no path,
    plus the time for half a turn at each goal. The limit is at most one hour.
    """
    rides = [_ride(robot) for robot in robots]
    return min(float(math.ceil(SPARE + RIDES * max(rides, default=0.0))), _LONGEST)


def enough_goals(task: Task, spacing: float, routes: Sequence[tuple[Doubles, Doubles]]) -> int:
    """Return a number of goals that no robot can use up before the time-out, if each goal is at least ``spacing`` metres from the
    previous goal.

    If the task has no time-out, it is set to the `time_budget` for driving ``routes`` once; ``routes`` contains the start (3,) and
    the goals (G, 3) of each robot.
    """
    if task.timeout is None:
        models = [task.models[k % len(task.models)] for k in range(len(routes))]
        robots = [RobotStart(model, start, goals) for model, (start, goals) in zip(models, routes, strict=True)]
        task.timeout = time_budget(measured(task.map, robot) for robot in robots)
    calls = math.ceil(task.timeout / task.control) + 2
    ride = spacing - 2 * task.goal_tolerance
    return calls if ride <= 0 else min(calls, math.ceil(1.001 * task.timeout * task.speed / ride) + 2)


def _ride(robot: RobotStart) -> float:
    """Return the time in seconds that a robot needs to drive its legs at top speed and to make half a turn at every goal."""
    assert robot.legs is not None
    straight = np.hypot(*np.diff(np.vstack([robot.pose[:2], robot.goals[:, :2]]), axis=0).T)
    way = float(np.where(np.isfinite(robot.legs), robot.legs, straight).sum())
    return way / max(robot.model.vx[1], 1e-3) + len(robot.goals) * _HALF_TURN / max(robot.model.omega, 1e-3)
