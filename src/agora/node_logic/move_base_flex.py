"""Move Base Flex's actions exe_path and get_path, implemented with the library's planners.

The outcomes and their codes are from mbf_msgs. An execution ends at the same times and with the same outcomes as the controller
execution in mbf_abstract_nav. Both packages are at https://github.com/naturerobots/move_base_flex, commit 367269c. Differences:

- a local planner does not return an outcome. Its command is valid if the planner did not fail and the robot moves or stops for a
  reason that is not an error (`ERRORS`);
- this module, not the planner, decides whether the goal has been reached, using the tolerances;
- a robot that ignores its commands is not detected directly (ROBOT_STUCK), but by the oscillation timeout.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agora.core.recording import Reason
from agora.core.state import Array, Doubles, Floats
from agora.engine.paths import path_for
from agora.errors import AgoraError
from agora.interfaces import GlobalPlanner
from agora.maps.grid import Map
from agora.node_logic.navigator import Navigator
from agora.ranges import Checked, Deviation, Distance
from agora.robots.model import RobotModel

__all__ = ["Driven", "ExePath", "Execution", "FlexError", "GetPath", "Terms", "path_to"]


class ExePath(enum.IntEnum):
    """The outcomes of exe_path."""

    SUCCESS = 0
    FAILURE = 100
    CANCELED = 101
    NO_VALID_CMD = 102
    PAT_EXCEEDED = 103
    COLLISION = 104
    OSCILLATION = 105
    BLOCKED_PATH = 110
    INVALID_PATH = 111
    TF_ERROR = 112
    INVALID_PLUGIN = 114
    OUT_OF_MAP = 116
    STOPPED = 118


class GetPath(enum.IntEnum):
    """The outcomes of get_path."""

    SUCCESS = 0
    CANCELED = 51
    INVALID_START = 52
    INVALID_GOAL = 53
    BLOCKED_START = 54
    BLOCKED_GOAL = 55
    NO_PATH_FOUND = 56
    TF_ERROR = 59
    INVALID_PLUGIN = 61
    INTERNAL_ERROR = 62
    OUT_OF_MAP = 63


ERRORS = {
    Reason.NO_PATH: ExePath.INVALID_PATH,
    Reason.BLOCKED: ExePath.BLOCKED_PATH,
    Reason.START_IN_CONTACT: ExePath.COLLISION,
    Reason.NOT_CONVERGED: ExePath.NO_VALID_CMD,
    Reason.GAVE_UP: ExePath.FAILURE,
}
"""The outcome of a step in which the robot does not move, by reason."""


class FlexError(AgoraError):
    """A request that cannot be fulfilled; ``outcome`` is Move Base Flex's outcome code."""

    def __init__(self, outcome: enum.IntEnum, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


@dataclass(frozen=True)
class Terms(Checked):
    """The conditions that end an execution. Names and defaults are Move Base Flex's, except for the default tolerances.

    Attributes:
        dist_tolerance: distance from the goal within which the robot has arrived, m.
        angle_tolerance: deviation from the goal heading within which the robot has arrived, rad; pi or more to accept any heading.
        controller_patience: time without a valid command after which the execution ends, s; 0 for no limit.
        controller_max_retries: number of consecutive steps without a valid command after which the execution ends, even if the
            patience is not yet exhausted; -1 for no limit.
        oscillation_timeout: time after which the execution ends if the robot has not left a spot, s; 0 for no limit.
        oscillation_distance: distance that counts as having left the spot, m.
        oscillation_angle: rotation that counts as having left the spot, rad.
    """

    dist_tolerance: Distance = 0.2
    angle_tolerance: Deviation = 0.3
    controller_patience: float = 5.0
    controller_max_retries: int = -1
    oscillation_timeout: float = 0.0
    oscillation_distance: float = 0.02
    oscillation_angle: float = math.pi


class Driven(NamedTuple):
    """The result of one step of an execution.

    Attributes:
        twist: (3,) commanded vx, vy and omega, m/s and rad/s.
        outcome: outcome of this step, or of the execution if it has ended.
        message: message about the outcome.
        over: whether the execution has ended.
        noted: notes of the planner, each (1,), keyed by the names in `agora.interfaces.NOTES`.
    """

    twist: Floats
    outcome: ExePath
    message: str = ""
    over: bool = False
    noted: dict[str, Array] = {}  # noqa: RUF012 never written into


class Execution:
    """An execution, in which a planner follows given paths with one robot (robot 0 of a navigator).

    Args:
        navigator: navigator that receives the observations (`see_robot`, `see_scan`, `people`) and whose planner drives the robot.
        terms: conditions that end the execution.

    Attributes:
        began: start time of the execution, s.
    """

    def __init__(self, navigator: Navigator, terms: Terms) -> None:
        self.navigator, self._terms = navigator, terms
        self.began = self._valid = self._left = -math.inf
        self._spot: Doubles | None = None
        self._retries = 0

    def begin(self, time: float) -> None:
        """Start an execution at ``time`` (in seconds), without memory of earlier executions; call `follow` to set its path."""
        self.navigator.forget()
        self.began = self._left = time
        self._valid, self._retries, self._spot = -math.inf, 0, None

    def follow(self, path: ArrayLike, here: ArrayLike, tolerances: tuple[float, float] | None = None) -> None:
        """Set the path to follow, at the start or later as an update.

        Args:
            path: (K, 3) poses in the map frame; the last one is the goal.
            here: (3,) pose of the robot.
            tolerances: tolerances for this goal, m and rad; by default, the tolerances in the terms.

        Raises:
            FlexError: the path is empty, a value is non-finite, or the goal is outside the map.
        """
        poses = np.asarray(path, np.float64).reshape(-1, 3)
        if not len(poses):
            raise FlexError(ExePath.INVALID_PATH, "the path is empty")
        if not np.isfinite(poses).all():
            raise FlexError(ExePath.INVALID_PATH, "the path contains a non-finite value")
        place = self.navigator.map
        if not place.contains(poses[-1, :2]):
            raise FlexError(ExePath.OUT_OF_MAP, f"the path ends outside the map, at {place.place(poses[-1])}")
        points = poses[:, :2] if len(poses) > 1 else np.stack([np.asarray(here, np.float64)[:2], poses[0, :2]])
        self.navigator.lead(0, points, poses[-1])
        self.navigator.tolerate(0, *(tolerances or (self._terms.dist_tolerance, self._terms.angle_tolerance)))

    def step(self, time: float) -> Driven:
        """Plan from the latest observations; ``time`` is the current time in seconds."""
        nav = self.navigator
        if nav.arrived(0):
            return Driven(np.zeros(3, np.float32), ExePath.SUCCESS, "goal reached", over=True)
        decision = nav.decide(time, round((time - self.began) / nav.control), np.ones(1, np.bool_))
        twist, reason = decision.twists[0], Reason(int(decision.noted.get("reason", [0])[0]))
        outcome, message = ExePath.SUCCESS, reason.label.replace("_", " ")
        if 0 in decision.failures:
            outcome, message = ExePath.NO_VALID_CMD, f"the planner failed: {decision.failures[0]}"
        elif 0 in decision.standing:
            outcome, message = ExePath.NO_VALID_CMD, decision.standing[0]
        elif not twist.any():
            outcome = ERRORS.get(reason, outcome)
        ended = self._impatient(time, outcome) if outcome else self._stuck(time)
        return Driven(twist, outcome if ended is None else ended, message, ended is not None, decision.noted)

    def _impatient(self, time: float, outcome: ExePath) -> ExePath | None:
        """Return the outcome if the execution ends because this step has no valid command; otherwise None."""
        terms = self._terms
        self._retries += 1
        if 0 <= terms.controller_max_retries < self._retries:
            return outcome
        waited = time - max(self.began, self._valid)
        return ExePath.PAT_EXCEEDED if 0.0 < terms.controller_patience < waited else None

    def _stuck(self, time: float) -> ExePath | None:
        """Return the outcome if the execution ends because the robot has been on one spot for too long; otherwise None."""
        terms, robots = self._terms, self.navigator.robots
        self._valid, self._retries = time, 0
        pose = np.array([robots.x[0, 0], robots.y[0, 0], robots.heading[0, 0]], np.float64)
        if self._spot is None or _has_left(self._spot, pose, terms):
            self._spot, self._left = pose, time
        return ExePath.OSCILLATION if 0.0 < terms.oscillation_timeout < time - self._left else None


def _has_left(spot: Doubles, pose: Doubles, terms: Terms) -> bool:
    turned = abs(math.remainder(pose[2] - spot[2], math.tau))
    return math.dist(pose[:2], spot[:2]) >= terms.oscillation_distance or turned >= terms.oscillation_angle


def path_to(
    planner: GlobalPlanner, model: RobotModel, place: Map, here: ArrayLike, goal: ArrayLike, tolerance: float = 0.0
) -> Doubles:
    """Return a global planner's path (K, 3) for a robot. Every pose faces along the path, except the last, which has the goal
    heading.

    Args:
        planner: global planner.
        model: model of the robot.
        place: map to plan on.
        here: (3,) pose at the start of the path.
        goal: (3,) pose at the end of the path.
        tolerance: maximum distance from the goal to a substitute goal, which is used if the goal is too close to an obstacle, m.

    Raises:
        FlexError: there is no path; the message gives the reason.
    """
    start, end = np.asarray(here, np.float64), np.asarray(goal, np.float64)
    for pose, outcome, name in ((start, GetPath.INVALID_START, "start"), (end, GetPath.INVALID_GOAL, "goal")):
        if not np.isfinite(pose).all():
            raise FlexError(outcome, f"the {name} contains a non-finite value")
        if not place.contains(pose[:2]):
            raise FlexError(GetPath.OUT_OF_MAP, f"the {name} {place.place(pose)} is outside the map")
    path = path_for(model, planner, place, start, end)
    if path is None and tolerance > 0.0 and (beside := _beside(place, end, model.radius, tolerance)) is not None:
        end = beside
        path = path_for(model, planner, place, start, end)
    if path is None or not len(path):
        raise _why(model, place, start, end)
    points = np.asarray(path, np.float64)
    headings = points[:, 2:]
    if not headings.size:
        legs = np.diff(points, axis=0)
        headings = np.append(np.arctan2(legs[:, 1], legs[:, 0]), end[2])[:, None]
    poses = np.column_stack([points[:, :2], headings])
    poses[-1, 2] = end[2]
    return poses


def _beside(place: Map, goal: Doubles, radius: float, tolerance: float) -> Doubles | None:
    """Return the centre of the cell nearest to a goal in which a robot has room, with the goal heading; None if that cell is too
    far from the goal.
    """
    free = place.centre_of(*np.nonzero(place.clearance_inside(radius) > radius))
    away = np.hypot(*(free - goal[:2]).T)
    if not len(away) or away.min() > tolerance:
        return None
    return np.append(free[away.argmin()], goal[2])


def _why(model: RobotModel, place: Map, start: Doubles, end: Doubles) -> FlexError:
    """Return the reason why there is no path."""
    for pose, outcome, name in ((start, GetPath.BLOCKED_START, "start"), (end, GetPath.BLOCKED_GOAL, "goal")):
        room, margin = float(place.clearance_at(pose[:2])), float(place.margin(pose[:2]))
        if min(room, margin) <= model.inscribed_radius:
            near = f"{room:.2f} m from an obstacle" if room <= margin else f"{margin:.2f} m from the border of the map"
            return FlexError(
                outcome, f"the {name} {place.place(pose)} is {near}, but the robot needs {model.inscribed_radius:.2f} m"
            )
    return FlexError(GetPath.NO_PATH_FOUND, f"no path from {place.place(start)} to {place.place(end)} is wide enough")
