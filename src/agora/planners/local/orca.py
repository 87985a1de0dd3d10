"""Optimal reciprocal collision avoidance as a local planner.

van den Berg, Guy, Lin, Manocha, "Reciprocal n-body collision avoidance", ISRR 2009, with the defaults of CrowdNav's ORCA robot
(Chen, Liu, Kreiss, Alahi, "Crowd-robot interaction", ICRA 2019). It knows moving discs only: walls are left to the path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agora.core.cells import index_in, key_of, select_nearest
from agora.core.halfplanes import disc_line, nearest_velocity, towards
from agora.core.jit import device, kernel
from agora.core.scalar import ONE, ZERO, atan2, sincos, wrap
from agora.core.state import PADDING, Bools, Floats
from agora.errors import InputError
from agora.interfaces import Memory, Observation, Tracks

_SETTLE = np.float32(1.0)
_TINY = np.float32(1e-12)
_STILL = np.float32(1e-3)
_CREEP = np.float32(0.25)
_FAR = np.float32(3e38)


@dataclass(frozen=True)
class OrcaPlanner:
    """The velocity nearest to the preferred one that avoids pedestrians and other robots for a while.

    A holonomic robot gets that velocity, turned into its frame and cut to its limits there, and does not turn (omega 0). Any other
    turns towards it: ``vx = |v| max(0, cos error)``, ``omega = turn_gain * error`` within its limits, where error is the angle from
    heading to velocity. One that cannot turn in place goes on at no less than a quarter of ``|v|``.

    With ``follow_path`` False, ``preferred_speed`` 1 and a holonomic robot it is CrowdNav's ORCA robot.

    Attributes:
        neighbour_distance: others farther away are not seen, m.
        max_neighbours: how many of the nearest are avoided.
        horizon: time for which others are avoided, s.
        padding: added to every radius, m (CrowdNav 0.01).
        responsibility: share of an avoidance that the robot makes (CrowdNav 0.5; SocNavBench 1: pedestrians make none).
        follow_path: head for a point on the path; False heads straight for the goal.
        lookahead: distance along the path of the point to head for, m; the goal when it is nearer or there is no path.
        preferred_speed: m/s; None for the robot's largest. Within that speed times 1 s of the goal it slows down.
        turn_gain: of the robots that cannot move sideways, 1/s.
    """

    neighbour_distance: float = 10.0
    max_neighbours: int = 10
    horizon: float = 5.0
    padding: float = 0.01
    responsibility: float = 0.5
    follow_path: bool = True
    lookahead: float = 1.0
    preferred_speed: float | None = None
    turn_gain: float = 2.0

    needs: ClassVar[frozenset[str]] = frozenset({"pedestrians", "robots", "path"})

    def __post_init__(self) -> None:
        for name in ("neighbour_distance", "horizon", "lookahead", "preferred_speed", "turn_gain"):
            value = getattr(self, name)
            if not (value is None and name == "preferred_speed") and not 0.0 < value < math.inf:
                raise InputError(f"orca: {name} must be above 0 and finite, got {value}")
        for name in ("max_neighbours", "padding"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise InputError(f"orca: {name} must be 0 or more and finite, got {getattr(self, name)}")
        if not 0.0 < self.responsibility <= 1.0:
            raise InputError(f"orca: responsibility must be in (0, 1], got {self.responsibility}")

    def act(self, observation: Observation, memory: Memory) -> tuple[Floats, Memory]:
        """Return twists (N, 3) in the robots' frame; nothing is remembered."""
        rows = len(observation.pose)
        parameters = np.array(
            [
                self.neighbour_distance,
                self.max_neighbours,
                self.horizon,
                self.padding,
                self.responsibility,
                self.lookahead,
                0.0 if self.preferred_speed is None else self.preferred_speed,
                self.turn_gain,
                observation.dt,
            ],
            np.float32,
        )
        path, path_count = observation.path, observation.path_count
        if path is None or path_count is None or not self.follow_path:
            path, path_count = np.zeros((rows, 1, 2), np.float32), np.zeros(rows, np.int32)
        limits = observation.limits
        out = np.zeros((rows, 3), np.float32)
        _act(
            parameters,
            (observation.pose, observation.twist, observation.goal, observation.radius),
            (limits.holonomic, limits.min_vx, limits.max_vx, limits.max_vy, limits.max_omega, limits.turning_radius),
            (path, path_count),
            _discs(observation.pedestrians, rows),
            _discs(observation.robots, rows),
            out,
            0,
            rows,
        )
        return out, memory


def _discs(tracks: Tracks | None, rows: int) -> tuple[Floats, Floats, Floats, Bools]:
    """The arrays of the tracks, without slots where there are none."""
    if tracks is None:
        nowhere = np.zeros((rows, 0, 2), np.float32)
        return nowhere, nowhere, np.zeros((rows, 0), np.float32), np.zeros((rows, 0), np.bool_)
    return tracks.position, tracks.velocity, tracks.radius, tracks.present


@device
def point_ahead(path, count, x, y, lookahead):
    """(found, x, y): the point ``lookahead`` m along the path from its point nearest to (x, y); not found beyond its end."""
    best, leg, start = _FAR, 0, ZERO
    for k in range(count - 1):
        ax, ay = path[k, 0], path[k, 1]
        dx, dy = path[k + 1, 0] - ax, path[k + 1, 1] - ay
        t = min(max(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, _TINY), ZERO), ONE)
        ox, oy = ax + t * dx - x, ay + t * dy - y
        squared = ox * ox + oy * oy
        if squared < best:
            best, leg, start = squared, k, t
    left = lookahead
    for k in range(leg, count - 1):
        ax, ay = path[k, 0], path[k, 1]
        dx, dy = path[k + 1, 0] - ax, path[k + 1, 1] - ay
        length = math.sqrt(dx * dx + dy * dy)
        rest = (ONE - start) * length
        if left < rest:
            t = start + left / length
            return True, ax + t * dx, ay + t * dy
        left -= rest
        start = ZERO
    return False, x, y


@device
def _near(keys, found, position, present, x, y, view, begin):
    """Append the keys of the tracks of one row closer than ``view``, numbered from ``begin``; returns how many keys there are."""
    for q in range(present.size):
        dx, dy = position[q, 0] - x, position[q, 1] - y
        squared = dx * dx + dy * dy
        keys[found] = key_of(squared, begin + q)
        found += present[q] & (squared < view * view)
    return found


@kernel
def _act(parameters, robot, limits, route, pedestrians, robots, out, first, last):
    """Twists of rows first..last-1."""
    pose, twist, goal, radius = robot
    holonomic, min_vx, max_vx, max_vy, max_omega, turning_radius = limits
    path, path_count = route
    view, most, inverse_horizon = parameters[0], np.int64(parameters[1]), ONE / parameters[2]
    padding, share, lookahead, gain, inverse_dt = parameters[3], parameters[4], parameters[5], parameters[7], ONE / parameters[8]
    slots = pedestrians[3].shape[1]
    keys = np.empty(slots + robots[3].shape[1] + PADDING, np.int64)
    nearest = np.empty(most, np.int64)
    lines, spare = np.empty((most, 4), np.float32), np.empty((most, 4), np.float32)
    for row in range(first, last):
        x, y, heading = pose[row, 0], pose[row, 1], pose[row, 2]
        sine, cosine = sincos(heading)
        vx, vy = twist[row, 0] * cosine - twist[row, 1] * sine, twist[row, 0] * sine + twist[row, 1] * cosine
        speed = parameters[6] if parameters[6] > ZERO else max_vx[row]
        leads, tx, ty = point_ahead(path[row], path_count[row], x, y, lookahead)
        if leads:
            tx, ty = towards(tx - x, ty - y, speed, ZERO)
        else:
            tx, ty = towards(goal[row, 0] - x, goal[row, 1] - y, speed, _SETTLE)
        found = _near(keys, 0, pedestrians[0][row], pedestrians[3][row], x, y, view, 0)
        found = _near(keys, found, robots[0][row], robots[3][row], x, y, view, slots)
        kept = select_nearest(keys, found, nearest)
        for n in range(kept):
            q = index_in(nearest[n])
            if q < slots:
                px, py, other = pedestrians[0][row, q, 0] - x, pedestrians[0][row, q, 1] - y, pedestrians[2][row, q]
                ux, uy = vx - pedestrians[1][row, q, 0], vy - pedestrians[1][row, q, 1]
            else:
                q -= slots
                px, py, other = robots[0][row, q, 0] - x, robots[0][row, q, 1] - y, robots[2][row, q]
                ux, uy = vx - robots[1][row, q, 0], vy - robots[1][row, q, 1]
            reach = radius[row] + other + padding + padding
            disc_line(lines, n, px, py, ux, uy, vx, vy, reach, inverse_horizon, inverse_dt, share)
        tx, ty = nearest_velocity(lines, kept, 0, max_vx[row], tx, ty, spare)
        size = math.sqrt(tx * tx + ty * ty)
        if holonomic[row]:
            out[row, 0] = min(max(tx * cosine + ty * sine, min_vx[row]), max_vx[row])
            out[row, 1] = min(max(ty * cosine - tx * sine, -max_vy[row]), max_vy[row])
        elif size > _STILL:
            error = wrap(atan2(ty, tx) - heading)
            tight = turning_radius[row]
            ahead = size * max(sincos(error)[1], _CREEP if tight > ZERO else ZERO)
            fastest = min(max_omega[row], ahead / tight) if tight > ZERO else max_omega[row]
            out[row, 0], out[row, 2] = ahead, min(max(gain * error, -fastest), fastest)
