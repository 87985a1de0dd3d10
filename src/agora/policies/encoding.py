"""Encodings for policies convert an `Observation` to a vector of fixed length and physical scale, and actions to twists.

`agora.interfaces.encoding` explains how to write a new encoding. This module does not depend on Gymnasium, because a trained policy
uses the same functions when it runs as a planner.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from agora.core.jit import hidden, kernel, spliced
from agora.core.scalar import HALF, ONE, ZERO, F, sincos
from agora.core.state import Array, Bools, Floats, freeze
from agora.errors import InputError
from agora.interfaces import Channel, Encoding, Limits, Observation, Provider, Tracks
from agora.policies.subgoal import subgoals
from agora.ranges import Checked, Natural, NotNegative, Positive, Whole
from agora.registry import Plug

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

__all__ = ["EncodingBase", "FromLimitToLimit", "Observe"]

_TINY, _NOTHING = F(1e-6), F(np.inf)
_GOAL, _TWIST, _PEDESTRIAN = 3, 3, 5

ROBOT_FRAME = "origin at the robot, x axis ahead, y axis to the left"


class EncodingBase(Checked, Encoding):
    """A base class for encodings that have no memory, use no scan and accept every robot."""

    beams: int = 0

    def __call__(self, observation: Observation) -> Floats:
        """Return the vectors (N, D) of N robots."""
        out = np.empty((len(observation.pose), self.length), np.float32)
        self.write(observation, out, 0, len(out))
        return out

    def check(self, robot: RobotModel) -> None:
        """Accept every robot."""

    def remember(self, seen: Floats, before: Floats, begins: Bools) -> None:
        """Do nothing, because the encoding has no memory."""

    def notes(self) -> Mapping[str, Any]:
        """Return no notes."""
        return {}


class FromLimitToLimit(EncodingBase):
    """A base class for encodings whose actions span the robot's limits; see `to_twists`."""

    def action_size(self, limits: Limits) -> int:
        """Return the number of values of an action."""
        return action_size(limits)

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the twists (N, 3) for actions (N, A)."""
        return to_twists(actions, limits)

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the actions (N, A) for twists (N, 3)."""
        return to_actions(twists, limits)

    def notes(self) -> Mapping[str, Any]:
        """Return the meaning of an action."""
        return {"actions": "vx, vy where the robot has it, omega; each from -1, the robot's lowest, to 1, its highest"}


@dataclass(frozen=True)
class Observe(FromLimitToLimit):
    """A scan, the goal, the twist, pedestrians and sensor readings; all values lie in [-1, 1], and the scales do not depend on the
    data.

    The values are, in this order: the scan; the distance to the goal or sub-goal, and the cosine and sine of its bearing; vx, vy
    and omega; for each of the nearest pedestrians, nearest first, x, y, vx, vy and 1, or five zeros for a missing pedestrian; the
    sensor readings; and the earlier scans, latest first. Positions and velocities are in the robot's frame; pedestrians' velocities
    are relative to the ground. At the start of an episode, the earlier scans equal the first scan.

    Attributes:
        beams: number of values of the scan; 0 for no scan. Each value is the shortest range in its sector of the lidar.
        scan_range: range that maps to 1, m; longer ranges are clipped.
        goal_range: distance that maps to 1, m; longer distances are clipped.
        pedestrians: number of nearest pedestrians to encode.
        pedestrian_range: distance beyond which pedestrians are not seen, m; a position at this distance maps to 1.
        pedestrian_speed: speed that maps to 1, m/s; higher speeds are clipped.
        sensors: additional channels, whose readings are included field by field; the minimum of a field maps to 0, and the maximum
            maps to 1.
        lookahead: distance along the global path to the sub-goal, m. If the distance is 0, or if the path ends earlier, the goal
            itself is used.
        scans: number of most recent scans that are included, one control period apart.
    """

    beams: Whole = 36
    scan_range: Positive = 10.0
    goal_range: Positive = 20.0
    pedestrians: Whole = 0
    pedestrian_range: Positive = 10.0
    pedestrian_speed: Positive = 2.0
    sensors: tuple[Annotated[Provider, Plug("channels")], ...] = ()
    lookahead: NotNegative = 0.0
    scans: Natural = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scans > 1 and not self.beams:
            raise InputError(f"observe: scans must be 1 where beams is 0, got {self.scans}")
        for sensor in self.sensors:
            for name, one in sensor.fields.items():
                if not one.is_fixed:
                    raise InputError(f"observe: {name} of {sensor.channel} has no fixed size: {one.shape}")
                if not (math.isfinite(one.low) and math.isfinite(one.high)):
                    raise InputError(f"observe: {name} of {sensor.channel} has no bounds: {one.low:g} to {one.high:g}")

    def check(self, robot: RobotModel) -> None:
        """Reject a robot that lacks a required sensor.

        Raises:
            InputError: the robot's lidar has too few beams.
        """
        beams = 0 if robot.lidar is None else robot.lidar.beams
        if self.beams > beams:
            raise InputError(f"observe: beams must be at most those of robot {robot.name!r}, {beams}, got {self.beams}")

    @property
    def needs(self) -> frozenset[str | Channel]:
        """Return the channels that a planner with this encoding needs."""
        own = (("scan", self.beams), ("pedestrians", self.pedestrians), ("path", self.lookahead))
        return frozenset({name for name, count in own if count} | set(self.sensors))

    @property
    def parts(self) -> dict[str, slice]:
        """Return, for each part by name, the slice of the vector that it occupies."""
        sizes = {"scan": self.beams, "goal": _GOAL, "twist": _TWIST, "pedestrians": _PEDESTRIAN * self.pedestrians}
        sizes |= {
            f"{sensor.channel}.{name}": math.prod(one.sized()) for sensor in self.sensors for name, one in sensor.fields.items()
        }
        if self.scans > 1:
            sizes["earlier"] = self.beams * (self.scans - 1)
        ends = np.cumsum(list(sizes.values())).tolist()
        return dict(zip(sizes, map(slice, [0, *ends[:-1]], ends), strict=True))

    @property
    def length(self) -> int:
        """Number of values, D."""
        return int(max(part.stop for part in self.parts.values()))

    @property
    def low(self) -> Floats:
        """Minimum values (D,)."""
        low, parts = np.full(self.length, -1.0, np.float32), self.parts
        low[parts["scan"]] = 0.0
        low[parts["goal"].start] = 0.0
        low[parts["pedestrians"]][_PEDESTRIAN - 1 :: _PEDESTRIAN] = 0.0
        low[parts["pedestrians"].stop :] = 0.0
        return low

    @property
    def high(self) -> Floats:
        """Maximum values (D,)."""
        return np.ones(self.length, np.float32)

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the vectors of the rows ``first <= n < last`` into ``out`` (N, D).

        Raises:
            InputError: the scan is needed but missing, or has fewer beams than the policy needs.
        """
        o, rows = observation, len(observation.pose)
        scan = np.zeros((rows, 0), np.float32) if o.scan is None or not self.beams else o.scan
        if scan.shape[1] < self.beams:
            raise InputError(f"observe: beams must be at most those of the robot's lidar, {scan.shape[1]}, got {self.beams}")
        position, velocity, _, present = tracks_of(o.pedestrians if self.pedestrians else None, rows)
        tracks = (freeze(position), freeze(velocity), freeze(present))
        scales = (self.scan_range, self.goal_range, self.pedestrian_range, self.pedestrian_speed)
        counts, m = (self.beams, self.pedestrians), o.limits
        goal = subgoals(o, self.lookahead, first, last) if self.lookahead else o.goal
        robot = tuple(freeze(one) for one in (o.pose, o.twist, goal, m.min_vx, m.max_vx, m.max_vy, m.max_omega))
        _write(counts, tuple(np.float32(1.0 / s) for s in scales), robot, freeze(scan), tracks, out, first, last)
        parts = self.parts if self.sensors else {}
        for sensor in self.sensors:
            for name, one in sensor.fields.items():
                read = o.sensors[sensor.channel][name][first:last].reshape(last - first, -1)
                share = (read.astype(np.float32) - F(one.low)) * F(1.0 / (one.high - one.low))
                out[first:last, parts[f"{sensor.channel}.{name}"]] = np.minimum(np.maximum(share, ZERO), ONE)

    def remember(self, seen: Floats, before: Floats, begins: Bools) -> None:
        """Copy the earlier scans of N robots into their vectors (N, D), from their vectors ``before`` (N, D) of the previous
        control period.

        In rows whose episode begins (``begins`` (N,)), the earlier scans equal the current scan.
        """
        if self.scans == 1:
            return
        first = self.parts["earlier"].start
        for k in range(self.scans - 1):
            at, of = first + k * self.beams, first + (k - 1) * self.beams if k else 0
            seen[:, at : at + self.beams] = np.where(begins[:, None], seen[:, : self.beams], before[:, of : of + self.beams])

    def notes(self) -> Mapping[str, Any]:
        """Return the parts, units and frame of the values."""
        shares = {
            "scan": f"shortest range of each share of the beams / {self.scan_range:g} m, cut to [0, 1]",
            "goal": f"distance / {self.goal_range:g} m, cut to [0, 1]; cosine and sine of the bearing",
            "twist": "vx, vy and omega / largest of the robot (m/s, m/s, rad/s), cut to [-1, 1]",
            "earlier": "scans of the control periods before, latest first, each like scan; at the start the first scan",
            "pedestrians": f"x, y / {self.pedestrian_range:g} m; vx, vy over ground / {self.pedestrian_speed:g} m/s; 1 if there",
        }
        parts = {name: [part.start, part.stop] for name, part in self.parts.items()}
        units = {name: shares.get(name, "from the least value of the field, 0, to the largest, 1") for name in parts}
        return {**super().notes(), "parts": parts, "units": units, "frame": ROBOT_FRAME}


def tracks_of(tracks: Tracks | None, rows: int) -> tuple[Floats, Floats, Floats, Bools]:
    """Return the position (N, P, 2), velocity (N, P, 2), radius (N, P) and presence (N, P) of tracks; P is 0 if there are no
    tracks.
    """
    if tracks is not None:
        return tracks.position, tracks.velocity, tracks.radius, tracks.present
    pairs = np.zeros((rows, 0, 2), np.float32)
    return pairs, pairs, pairs[..., 0], np.zeros((rows, 0), np.bool_)


@hidden
def _within(value):
    return min(max(value, -ONE), ONE)


@spliced
def _pool(beams, scale, scan, row):
    """Write the shortest range in each of ``beams`` sectors of a scan (B,); sector b ends before beam floor((b + 1) B / beams).

    NaN means that a beam has hit nothing.
    """
    first, left = 0, 0
    for b in range(beams):
        left += len(scan)
        nearest = scan[first] if scan[first] == scan[first] else _NOTHING
        while left >= beams:
            if scan[first] < nearest:
                nearest = scan[first]
            first += 1
            left -= beams
        row[b] = min(max(nearest * scale, ZERO), ONE)


@hidden
def nearest_tracks(count, reach, pose, position, present, chosen, distances):
    """Write the slots of the ``count`` nearest pedestrians within reach, nearest first; return how many there are."""
    found = 0
    for i in range(len(present)):
        dx, dy = position[i, 0] - pose[0], position[i, 1] - pose[1]
        d = dx * dx + dy * dy
        if not present[i] or d > reach * reach or (found == count and d >= distances[found - 1]):
            continue
        k = found if found < count else count - 1
        while k > 0 and distances[k - 1] > d:
            chosen[k], distances[k] = chosen[k - 1], distances[k - 1]
            k -= 1
        chosen[k], distances[k] = i, d
        found = min(found + 1, count)
    return found


@kernel
def _write(counts, scales, robot, scan, tracks, out, first, last):
    """Write the rows ``first <= n < last`` of `Observe`; ``scales`` are the inverses of the lengths and the speed that map to 1."""
    beams, pedestrians = counts
    pose, twist, goal, min_vx, max_vx, max_vy, max_omega = robot
    position, velocity, present = tracks
    chosen, distances = np.empty(pedestrians, np.int64), np.empty(pedestrians, np.float32)
    for n in range(first, last):
        row = out[n]
        _pool(beams, scales[0], scan[n], row)
        sine, cosine = sincos(pose[n, 2])
        dx, dy = goal[n, 0] - pose[n, 0], goal[n, 1] - pose[n, 1]
        distance = math.sqrt(dx * dx + dy * dy)
        ahead = (cosine * dx + sine * dy) / distance if distance > _TINY else ONE
        aside = (cosine * dy - sine * dx) / distance if distance > _TINY else ZERO
        row[beams], row[beams + 1], row[beams + 2] = min(distance * scales[1], ONE), _within(ahead), _within(aside)
        row[beams + 3] = _within(twist[n, 0] / max(max_vx[n], -min_vx[n], _TINY))
        row[beams + 4] = _within(twist[n, 1] / max(max_vy[n], _TINY))
        row[beams + 5] = _within(twist[n, 2] / max(max_omega[n], _TINY))
        row[beams + 6 :] = ZERO
        found = 0
        if pedestrians:
            found = nearest_tracks(pedestrians, ONE / scales[2], pose[n], position[n], present[n], chosen, distances)
        for k in range(found):
            i, at = chosen[k], beams + 6 + 5 * k
            dx, dy = (position[n, i, 0] - pose[n, 0]) * scales[2], (position[n, i, 1] - pose[n, 1]) * scales[2]
            vx, vy = velocity[n, i, 0] * scales[3], velocity[n, i, 1] * scales[3]
            row[at], row[at + 1] = _within(cosine * dx + sine * dy), _within(cosine * dy - sine * dx)
            row[at + 2], row[at + 3] = _within(cosine * vx + sine * vy), _within(cosine * vy - sine * vx)
            row[at + 4] = ONE


def action_size(limits: Limits) -> int:
    """Return the number of values of an action: 3 (vx, vy, omega) for robots that move sideways, 2 (vx, omega) for all others."""
    return 3 if limits.holonomic.all() else 2


def to_twists(actions: Array, limits: Limits) -> Floats:
    """Return the twists (N, 3) for actions (N, 2) or (N, 3), m/s and rad/s.

    Actions from -1 to 1 span the range from minimum to maximum vx, and the symmetric ranges of vy and omega; values outside [-1, 1]
    are clipped. Omega is also clipped to respect the robot's minimum turning radius.
    """
    cut = np.minimum(np.maximum(np.asarray(actions, np.float32), -ONE), ONE)
    middle, half = _span(limits)
    sideways = limits.max_vy * cut[:, 1] if cut.shape[1] == 3 else np.zeros(len(cut), np.float32)
    return within(np.stack([middle + half * cut[:, 0], sideways, limits.max_omega * cut[:, -1]], -1), limits)


def within(twists: Floats, limits: Limits) -> Floats:
    """Return twists (N, 3) clipped to the robots' limits and minimum turning radii."""
    forward = np.minimum(np.maximum(twists[:, 0], limits.min_vx), limits.max_vx)
    sideways = np.minimum(np.maximum(twists[:, 1], -limits.max_vy), limits.max_vy)
    circle = np.abs(forward) / np.maximum(limits.turning_radius, _TINY)
    fastest = np.where(limits.turning_radius > ZERO, np.minimum(circle, limits.max_omega), limits.max_omega)
    cut: Floats = np.stack([forward, sideways, np.minimum(np.maximum(twists[:, 2], -fastest), fastest)], -1).astype(np.float32)
    return cut


def to_actions(twists: Array, limits: Limits) -> Floats:
    """Return the actions (N, 2) or (N, 3) for twists (N, 3), such as a planner's twists, clipped to the limits; the inverse of
    `to_twists`.
    """
    size = action_size(limits)
    actions = np.zeros((len(twists), size), np.float32)
    middle, half = _span(limits)
    actions[:, 0] = (twists[:, 0] - middle) / np.maximum(half, _TINY)
    if size == 3:
        actions[:, 1] = twists[:, 1] / np.maximum(limits.max_vy, _TINY)
    actions[:, -1] = twists[:, 2] / np.maximum(limits.max_omega, _TINY)
    return np.minimum(np.maximum(actions, -ONE), ONE)


def _span(limits: Limits) -> tuple[Floats, Floats]:
    """Return the centre and half the width of the range of vx."""
    return HALF * (limits.max_vx + limits.min_vx), HALF * (limits.max_vx - limits.min_vx)
