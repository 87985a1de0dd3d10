"""The interplanner that leads the robot around groups and leaves the driving to the local planner.

An improvement on TAGA (S. Sarker Roy et al. 2025; `agora.planners.inter.taga`), in which the tangent replaces the local planner's
command, so that no pedestrian is avoided in the meantime. In this interplanner, the tangent is a path, and the group is added to
the pedestrians as a disc: the local planner continues to avoid all of them, including the group. The detour starts while there is
still room to turn, stays on one side of the group, and takes the predicted motion of walking groups into account.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from agora.core.jit import device, kernel
from agora.core.recording import Reason
from agora.core.scalar import ONE, TWO_PI, ZERO, atan2, sincos
from agora.core.state import Floats, freeze
from agora.interfaces import Declaration, Guidance, Memory, Observation, Tracks
from agora.planners._expected import expected_ways, needs_of
from agora.planners.inter._rings import Rings, centre_deviations, group_numbers, rings
from agora.planners.inter.surroundings import company, unchanged
from agora.ranges import Chance, Checked, Distance, Duration, Length, TopSpeed
from agora.registry import Named, Plug
from agora.world.tracks import onward

ARC = 16
"""Number of points on the circle of a detour."""

_MOMENTS = 8

TWICE, TURNED = np.int64(2), np.float32(1.9 * math.pi)


@dataclass(frozen=True)
class AroundGroups(Checked):
    """Leads the path around the next group's circle on the shorter side, and presents groups to the local planner as discs.

    If the path cuts a group's circle within ``reach`` m ahead, it is replaced by the tangent to the circle, the arc to the other
    tangent, and the line to the next path point outside the circle. The side of the detour does not change while the path is
    blocked, unless the other side is shorter by ``hold`` m. A group whose circle contains the end of the path is left to the local
    planner. So are walls: the interplanner does not know whether a wall blocks a detour.

    Attributes:
        detect: whether groups are detected from positions and velocities; with False they are taken from the tracks.
        link_distance: maximum distance between two members of a group, m; only with ``detect``.
        link_speed: maximum difference between the velocities of two members of a group, m/s; only with ``detect``.
        sensing_range: maximum gap between robot and pedestrian at which a member is seen, m.
        margin: distance from the farthest member's position to the circle, m; the robot's centre stays outside the circle.
        reach: length of path ahead that is searched for groups, m.
        hold: length by which the other side must be shorter for the detour to change sides, m.
        horizon: maximum time for which the circles of walking groups are predicted, s.
        prediction: predictor of the groups' members.
        discs: whether groups are presented to the local planner as discs.
        room: minimum gap between the robot and a group's disc, m. The disc is shrunk to keep this gap, so that a planner that
            enlarges radii treats the group as a nearby person rather than as a collision.
        straight: whether the straight line from the robot to the goal is used as the path; intended for places without walls.
        danger_threshold: danger level above which the interplanner warns.
    """

    detect: bool = False
    link_distance: Length = 1.5
    link_speed: TopSpeed = 0.5
    sensing_range: Length = 5.0
    margin: Distance = 0.4
    reach: Length = 5.0
    hold: Duration = 0.5
    horizon: Duration = 2.0
    prediction: Annotated[Named, Plug("predictors")] = field(default_factory=lambda: Named.of("predictors", "constant_velocity"))
    discs: bool = True
    room: Distance = 0.35
    straight: bool = False
    danger_threshold: Chance = 0.6

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the interplanner."""
        return Declaration(
            needs=needs_of(self.prediction.part, ("path", "pedestrians")),
            concurrent=True,
            danger_threshold=self.danger_threshold,
            requires=self.prediction.part.declares.requires,
        )

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the detour; the memory holds the side of the detour (1 for left of the group, -1 for right) and the predictor's
        memory.
        """
        o = observation
        assert o.pedestrians is not None
        label = group_numbers(o.pedestrians, self.link_distance, self.link_speed) if self.detect else o.pedestrians.group
        groups, rows = rings(o, label, self.sensing_range), len(o.pose)
        side = memory["side"].copy() if memory else np.zeros(rows, np.int8)
        off, foretold = self._group_deviations(o, groups, memory.get("prediction", {}))
        o = _straight_paths(o) if self.straight else o
        plain = replace(unchanged(o), danger=company(o).danger, reason=np.zeros(rows, np.int8))
        if not groups.present.any():
            return plain, {"side": np.zeros_like(side), "prediction": foretold}
        plain = self._discs_to_avoid(o, plain, groups)
        led = np.concatenate((plain.path, np.repeat(plain.path[:, -1:], ARC + 1, axis=1)), axis=1)
        count, circles = plain.path_count.copy(), (groups.centre, groups.velocity, groups.radius, groups.present, off)
        sizes = tuple(np.float32(size) for size in (self.margin, self.reach, self.hold, self.horizon))
        given = (freeze(one) for one in (o.pose, plain.path, plain.path_count, o.limits.max_vx))
        _bend(*given, circles, sizes, side, led, count, 0, rows)
        reason = np.where(side != 0, np.int8(Reason.AVOIDING_GROUP), np.int8(Reason.NONE))
        return replace(plain, path=led, path_count=count, reason=reason), {"side": side, "prediction": foretold}

    def _group_deviations(self, o: Observation, groups: Rings, memory: Memory) -> tuple[Floats, Memory]:
        """Return the predicted deviation of groups from constant velocity at `_MOMENTS` time steps, and the predictor's memory."""
        people = o.pedestrians
        assert people is not None
        if self.horizon == 0.0:
            return np.zeros((*groups.present.shape, 0, 2), np.float32), memory
        moments = _MOMENTS, self.horizon / _MOMENTS
        ways, kept = expected_ways(self.prediction.part, o, *moments, memory)
        return centre_deviations(groups, ways, onward(people.position, people.velocity, *moments)), kept

    def _discs_to_avoid(self, o: Observation, plain: Guidance, groups: Rings) -> Guidance:
        """Return the pedestrians, plus groups as discs for the robot to avoid; a disc is smaller if the robot or its goal is in the
        circle.
        """
        seen = o.pedestrians
        assert seen is not None
        if not self.discs:
            return plain
        keeps = groups.radius + np.float32(self.margin)
        left = _distances(groups.centre, o.pose) - np.float32(self.room)
        keeps = np.minimum(keeps, np.minimum(left, _distances(groups.centre, o.goal)))
        here = groups.present & (keeps > o.radius[:, None])
        nobody = np.full(here.shape, -1, np.int32)
        added = {
            "position": groups.centre,
            "velocity": groups.velocity,
            "radius": keeps - o.radius[:, None],
            "present": here,
            "id": nobody,
            "group": nobody,
        }
        both = {name: np.concatenate((getattr(seen, name), values), axis=1) for name, values in added.items()}
        return replace(plain, pedestrians=Tracks(**both))


def _straight_paths(o: Observation) -> Observation:
    """Return the observation with its paths replaced by straight paths of 16 points; empty paths stay empty."""
    assert o.path_count is not None
    share = np.linspace(0.0, 1.0, 16, dtype=np.float32)[:, None]
    path = o.pose[:, None, :2] + share * (o.goal[:, None, :2] - o.pose[:, None, :2])
    path[:, -1] = o.goal[:, :2]
    return replace(o, path=path, path_count=np.minimum(o.path_count, np.int32(1)) * np.int32(16))


def _distances(centre: Floats, point: Floats) -> Floats:
    """Return distances (N, G) of points (N, 2 or more) to centres (N, G, 2), m."""
    x, y = centre[..., 0] - point[:, None, 0], centre[..., 1] - point[:, None, 1]
    return np.asarray(np.sqrt(x * x + y * y))


@device
def _cuts(ax, ay, bx, by, r):
    """Return whether the line segment from (ax, ay) to (bx, by) cuts the circle of radius r around the origin, and at which
    fraction of the segment they first intersect.
    """
    ex, ey = bx - ax, by - ay
    square, along = ex * ex + ey * ey, -(ax * ex + ay * ey)
    across = along * along - square * (ax * ax + ay * ay - r * r)
    if across <= ZERO or along <= ZERO:
        return False, ZERO
    entry = max((along - math.sqrt(across)) / square, ZERO)
    return entry < ONE, entry


@device
def _length(px, py, ex, ey, r, side):
    """Return the length of the path from p around the circle to e, and the angles of p and of both tangent points as seen from the
    circle's centre.
    """
    p2, e2 = max(px * px + py * py - r * r, ZERO), max(ex * ex + ey * ey - r * r, ZERO)
    begin = atan2(py, px) - side * atan2(math.sqrt(p2), r)
    turn = side * (begin - atan2(ey, ex)) - atan2(math.sqrt(e2), r)
    turn -= TWO_PI * np.floor(turn / TWO_PI)
    turn = ZERO if turn > TURNED else turn
    return math.sqrt(p2) + r * turn + math.sqrt(e2), begin, turn


@device
def _expected_deviation(off, time, horizon):
    """Return a group's deviation from constant velocity after a given time, up to the horizon, interpolated from samples (T, 2)."""
    moments = off.shape[0]
    if moments == 0:
        return ZERO, ZERO
    at = time * np.float32(moments) / horizon
    before = min(np.int64(at), moments - 1)
    share = at - np.float32(before)
    x, y = (off[before - 1, 0], off[before - 1, 1]) if before > 0 else (ZERO, ZERO)
    return x + share * (off[before, 0] - x), y + share * (off[before, 1] - y)


@device
def _first_cut(x, y, path, count, reach, circles, margin, horizon, top):
    """Return the first circle that the path ahead cuts: its centre and radius, and the index of the next path point outside it; the
    radius is 0 if no circle is cut.

    A circle that contains the end of the path is ignored.
    """
    centre, velocity, radius, present, off = circles
    here, least = 0, np.float32(np.inf)
    for k in range(count):
        dx, dy = path[k, 0] - x, path[k, 1] - y
        if dx * dx + dy * dy <= least:
            here, least = k, dx * dx + dy * dy
    ax, ay, gone = x, y, ZERO
    for k in range(min(here + 1, count - 1), count):
        bx, by = path[k, 0], path[k, 1]
        length, first, cx, cy, keep = math.sqrt((bx - ax) ** TWICE + (by - ay) ** TWICE), ONE, ZERO, ZERO, ZERO
        for g in range(present.size):
            if not present[g]:
                break
            dx, dy, r = centre[g, 0] - x, centre[g, 1] - y, radius[g] + margin
            time = min(horizon, math.sqrt(dx * dx + dy * dy) / max(top, margin))
            off_x, off_y = _expected_deviation(off[g], time, horizon)
            dx, dy = centre[g, 0] + time * velocity[g, 0] + off_x, centre[g, 1] + time * velocity[g, 1] + off_y
            ux, uy = path[count - 1, 0] - dx, path[count - 1, 1] - dy
            cut, entry = _cuts(ax - dx, ay - dy, bx - dx, by - dy, r)
            if cut and entry < first and gone + entry * length < reach and ux * ux + uy * uy > r * r:
                first, cx, cy, keep = entry, dx, dy, r
        if keep > ZERO:
            while (path[k, 0] - cx) ** TWICE + (path[k, 1] - cy) ** TWICE <= keep * keep:
                k += 1
            return cx, cy, keep, k
        ax, ay, gone = bx, by, gone + length
    return ZERO, ZERO, ZERO, 0


@kernel
def _bend(pose, path, count, top, circles, sizes, side, led, led_count, first, last):
    margin, reach, hold, horizon = sizes
    centre, velocity, radius, present, off = circles
    for n in range(first, last):
        x, y, was = pose[n, 0], pose[n, 1], side[n]
        side[n] = 0
        if count[n] == 0:
            continue
        row = (centre[n], velocity[n], radius[n], present[n], off[n])
        cx, cy, keep, after = _first_cut(x, y, path[n], count[n], reach, row, margin, horizon, top[n])
        if keep <= ZERO:
            continue
        px, py, ex, ey = x - cx, y - cy, path[n, after, 0] - cx, path[n, after, 1] - cy
        left, left_begin, left_turn = _length(px, py, ex, ey, keep, ONE)
        right, right_begin, right_turn = _length(px, py, ex, ey, keep, -ONE)
        lefter = left < right + np.float32(was) * hold
        side[n] = 1 if lefter else -1
        begin, turn = (left_begin, left_turn) if lefter else (right_begin, -right_turn)
        led[n, 0, 0], led[n, 0, 1] = x, y
        for k in range(ARC):
            sine, cosine = sincos(begin - turn * np.float32(k) / np.float32(ARC - 1))
            led[n, k + 1, 0], led[n, k + 1, 1] = cx + keep * cosine, cy + keep * sine
        rest = count[n] - after
        for k in range(led.shape[1] - ARC - 1):
            source = after + min(k, rest - 1)
            led[n, ARC + 1 + k, 0], led[n, ARC + 1 + k, 1] = path[n, source, 0], path[n, source, 1]
        led_count[n] = ARC + 1 + rest
