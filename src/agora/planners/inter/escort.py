"""The interplanner that escorts a person: the robot leads, follows, or drives side by side.

The three tasks are those of Francis et al. 2025 (Figure 7 r to t); the rule is our own. The follower moves along the leader's
trail, so the gap is a length along the trail, and no map is needed to follow around corners. The pace is the person's speed,
corrected in proportion to the error of the gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.recording import Reason
from agora.core.scalar import ONE, ZERO, sincos
from agora.core.state import freeze
from agora.interfaces import Declaration, Guidance, Memory, Observation
from agora.planners.inter.surroundings import WALKING, company, unchanged
from agora.ranges import Checked, Distance, Length, Number, Positive

TRAIL, STEP = 64, np.float32(0.25)
"""Number of points of a trail, and the distance between consecutive points, m: the last 16 m are stored."""

LED = TRAIL + 2
"""Number of points of a path along a trail: the robot's position, the trail, and its end."""

RETAKEN = np.float32(1.0)
"""Maximum distance between the last position of a person and a track with another number that counts as the same person, m."""

_LEAD, _FOLLOW, _ACCOMPANY = np.int32(0), np.int32(1), np.int32(2)
_ROLES = {"lead": _LEAD, "follow": _FOLLOW, "accompany": _ACCOMPANY}
_SMOOTHING = np.float32(0.5)  # s
_AHEAD, _BEYOND = np.float32(1.0), np.float32(2.5)  # m
_SHORT = np.float32(0.6)
_MARGIN, _TINY = np.float32(0.1), np.float32(1e-6)
_NEVER = np.float32(np.inf)


@dataclass(frozen=True)
class Escort(Checked):
    """Leads a person to the goal, follows a person, or drives next to a person.

    A robot that leads drives along its path, and waits for a person that falls behind. At a gap of ``lead``, it drives at the
    person's speed; at a smaller gap, it drives slightly faster.

    A robot that follows drives along the person's trail.

    A robot that accompanies stays on its current side of the person. If its lidar sees a wall on its path, or the robot has fallen
    behind by ``distance``, it drives along the person's trail instead, so that both can pass a narrow door.

    If the person is out of sight, a robot that leads waits; in the other roles, the robot drives to the person's last known
    position. A robot that follows or accompanies drives to its goal once the goal is near, or once the person is standing near it.

    The pace is a fraction of the robot's top speed, so a local planner with a lower top speed keeps a larger gap.

    Attributes:
        role: "lead", "follow" or "accompany".
        person: identity of the person; 0 for the person who is nearest at the start.
        distance: gap between the centres when following and accompanying, m.
        lead: gap at which a robot that leads drives at the person's speed, m; should exceed the gap that the person keeps.
        gain: change in speed per metre of error in the gap, 1/s.
        arrival: distance to the goal below which a robot that follows or accompanies drives to the goal, m; if the person is
            standing, ``distance`` is added to it.
    """

    declares: ClassVar[Declaration] = Declaration(needs=("path", "pedestrians", "scan"), concurrent=True)

    role: Literal["lead", "follow", "accompany"] = "follow"
    person: Number = 0
    distance: Length = 1.4
    lead: Length = 2.4
    gain: Positive = 1.0
    arrival: Distance = 1.0

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the path and the pace; the memory holds the escorted person, and the trail of the leader."""
        o = observation
        assert o.pedestrians is not None and o.path is not None and o.path_count is not None
        rows, seen = len(o.pose), o.pedestrians
        now = {name: memory[name].copy() if memory else blank(rows) for name, blank in _BLANKS.items()}
        path = np.empty((rows, max(LED, o.path.shape[1]), 2), np.float32)
        path[:, : o.path.shape[1]], path[:, o.path.shape[1] :] = o.path, o.path[:, -1:]
        count, goal = o.path_count.astype(np.int32), o.goal.astype(np.float32)
        speed, waits = np.ones(rows, np.float32), np.zeros(rows, np.bool_)
        tracks = (seen.position, seen.velocity, seen.radius, seen.present, seen.id)
        mind = (now["known"], now["id"], now["place"], now["motion"], now["side"], now["trail"], now["points"])
        terms = (
            _ROLES[self.role],
            np.int32(self.person),
            *map(np.float32, (self.distance, self.lead, self.gain, self.arrival, o.dt)),
        )
        bodies = (o.pose, o.radius, o.limits.max_vx)
        _escort(
            tuple(map(freeze, bodies)), tuple(map(freeze, tracks)), _lidar(o), terms, mind, path, count, goal, speed, waits, 0, rows
        )
        reason = np.where(waits, np.int8(Reason.WAITING), np.int8(Reason.NONE))
        found = replace(unchanged(o), path=path, path_count=count, goal=goal, speed=speed, danger=company(o).danger, reason=reason)
        return found, now


_BLANKS = {
    "known": lambda rows: np.zeros(rows, np.bool_),
    "id": lambda rows: np.zeros(rows, np.int32),
    "place": lambda rows: np.zeros((rows, 2), np.float32),
    "motion": lambda rows: np.zeros((rows, 2), np.float32),
    "side": lambda rows: np.zeros(rows, np.int8),
    "trail": lambda rows: np.zeros((rows, TRAIL, 2), np.float32),
    "points": lambda rows: np.zeros(rows, np.int32),
}


def _lidar(o: Observation) -> tuple[Any, ...]:
    """Return the ranges (N, B), the angles (B,), the sensor's pose (3,) and its maximum range; there are no beams for a robot
    without a lidar.
    """
    if o.scan is None or o.scan_angles is None or o.scan_pose is None or o.scan_range is None:
        return np.empty((len(o.pose), 0), np.float32), np.empty(0, np.float32), np.zeros(3, np.float32), np.float32(0.0)
    return freeze(o.scan), freeze(o.scan_angles), freeze(o.scan_pose), np.float32(o.scan_range)


@hidden
def _distance(ax, ay, bx, by):
    return math.sqrt((ax - bx) * (ax - bx) + (ay - by) * (ay - by))


@hidden
def _choose_person(x, y, known, number, place, wanted, position, present, ids):
    """Return the slot of the escorted person: the person with the known number or, if that person is not present, the person
    nearest to the last position. At first, it is the person with the wanted number or, if that is 0, the person nearest to the
    robot. Return -1 if there is no such person.
    """
    best, least = -1, _NEVER if not known and wanted == 0 else RETAKEN
    for q in range(present.size):
        if not present[q]:
            continue
        if (known and ids[q] == number) or (not known and wanted != 0 and ids[q] == wanted):
            return q
        if known or wanted == 0:
            away = _distance(position[q, 0], position[q, 1], place[0] if known else x, place[1] if known else y)
            if away < least:
                best, least = q, away
    return best


@hidden
def _extend_trail(trail, count, x, y):
    """Add a position to a trail if it is at least one step away from the last; return the number of points."""
    if count > 0 and _distance(trail[count - 1, 0], trail[count - 1, 1], x, y) < STEP:
        return count
    if count == TRAIL:
        count = _drop_first_point(trail, count)
    trail[count, 0], trail[count, 1] = x, y
    return count + 1


@hidden
def _drop_first_point(trail, count):
    """Remove the first point of a trail."""
    for k in range(count - 1):
        trail[k, 0], trail[k, 1] = trail[k + 1, 0], trail[k + 1, 1]
    return count - 1


@hidden
def _distance_along_trail(trail, count, front_x, front_y, x, y):
    """Return the distance along the trail from the follower at (x, y) to the leader; points of the trail that the follower has
    passed are removed.
    """
    while count > 1 and _distance(trail[1, 0], trail[1, 1], x, y) <= _distance(trail[0, 0], trail[0, 1], x, y):
        count = _drop_first_point(trail, count)
    length, done = ZERO, ZERO
    for k in range(count):
        ahead_x, ahead_y = (trail[k + 1, 0], trail[k + 1, 1]) if k + 1 < count else (front_x, front_y)
        way = _distance(trail[k, 0], trail[k, 1], ahead_x, ahead_y)
        if k == 0 and way > ZERO:
            done = ((x - trail[0, 0]) * (ahead_x - trail[0, 0]) + (y - trail[0, 1]) * (ahead_y - trail[0, 1])) / way
        length += way
    return max(length - done, _distance(front_x, front_y, x, y)), count


@hidden
def _write_path_on_trail(path, trail, count, x, y, end_x, end_y, short):
    """Write a path that follows a trail and ends ``short`` m before the trail's end; return the path's number of points."""
    path[0, 0], path[0, 1] = x, y
    number = 1
    for k in range(count):
        if _distance(trail[k, 0], trail[k, 1], end_x, end_y) > short:
            path[number, 0], path[number, 1] = trail[k, 0], trail[k, 1]
            number += 1
    ax, ay = path[number - 1, 0], path[number - 1, 1]
    rest = _distance(ax, ay, end_x, end_y)
    share = max(rest - short, ZERO) / rest if rest > ZERO else ZERO
    path[number, 0], path[number, 1] = ax + share * (end_x - ax), ay + share * (end_y - ay)
    return number + 1


@hidden
def _write_path_beside(path, x, y, place, motion, side, distance):
    """Write a path that leads to the line next to the person and continues along it in the walking direction; return the path's
    number of points.

    The farther behind the robot is, the earlier the path reaches the line, so that the robot does not cut in behind the person.
    """
    at_x, at_y = place[0] - side * distance * motion[1], place[1] + side * distance * motion[0]
    done = (x - at_x) * motion[0] + (y - at_y) * motion[1]
    ahead = max(done, ZERO) + _AHEAD * (ONE - min(max(-done, ZERO) / distance, ONE))
    beyond = max(done, ZERO) + _BEYOND
    path[0, 0], path[0, 1] = x, y
    path[1, 0], path[1, 1] = at_x + ahead * motion[0], at_y + ahead * motion[1]
    path[2, 0], path[2, 1] = at_x + beyond * motion[0], at_y + beyond * motion[1]
    return 3


@hidden
def _side(mx, my, x, y, goal_x, goal_y):
    """Return on which side of a walking person the robot is; if it is on neither side, the goal's side."""
    left = mx * y - my * x
    left = left if abs(left) > _MARGIN else mx * goal_y - my * goal_x
    return 1 if left >= ZERO else -1


@hidden
def _is_wall_on_path(pose, radius, path, scan, lidar, position, radii, present):
    """Return whether a lidar return that does not belong to a person lies on the first section of the path."""
    angles, mount, reach = lidar
    sine, cosine = sincos(pose[2])
    ex, ey = path[1, 0] - path[0, 0], path[1, 1] - path[0, 1]
    square, wide = max(ex * ex + ey * ey, _TINY), radius + _MARGIN
    for b in range(scan.size):
        if not scan[b] < reach:  # a NaN beam is invalid
            continue
        up, along = sincos(angles[b] + mount[2])
        rx, ry = mount[0] + scan[b] * along, mount[1] + scan[b] * up
        x, y = cosine * rx - sine * ry, sine * rx + cosine * ry
        share = min(max((x * ex + y * ey) / square, ZERO), ONE)
        if _distance(x, y, share * ex, share * ey) > wide:
            continue
        theirs = False
        for q in range(present.size):
            theirs |= present[q] and _distance(pose[0] + x, pose[1] + y, position[q, 0], position[q, 1]) <= radii[q] + _MARGIN
        if not theirs:
            return True
    return False


@lean_kernel
def _escort(bodies, tracks, lidar, terms, mind, path, count, goal, speed, waits, first, last):
    pose, radius, top = bodies
    position, velocity, radii, present, ids = tracks
    scan, angles, mount, reach = lidar
    role, wanted, distance, lead, gain, arrival, dt = terms
    known, number, place, motion, side, trail, points = mind
    for n in range(first, last):
        x, y = pose[n, 0], pose[n, 1]
        q = _choose_person(x, y, known[n], number[n], place[n], wanted, position[n], present[n], ids[n])
        if q < 0 and not known[n]:
            continue
        vx, vy = ZERO, ZERO
        if q >= 0:
            known[n], number[n] = True, ids[n, q]
            place[n, 0], place[n, 1], vx, vy = position[n, q, 0], position[n, q, 1], velocity[n, q, 0], velocity[n, q, 1]
        walk = math.sqrt(vx * vx + vy * vy)
        if walk > WALKING:
            new = dt / (dt + _SMOOTHING) if motion[n, 0] != ZERO or motion[n, 1] != ZERO else ONE
            mx, my = motion[n, 0] + new * (vx / walk - motion[n, 0]), motion[n, 1] + new * (vy / walk - motion[n, 1])
            size = math.sqrt(mx * mx + my * my)
            if size > ZERO:
                motion[n, 0], motion[n, 1] = mx / size, my / size
        px, py, mx, my = place[n, 0], place[n, 1], motion[n, 0], motion[n, 1]
        if role == _LEAD:
            points[n] = _extend_trail(trail[n], points[n], x, y)
            gap, points[n] = _distance_along_trail(trail[n], points[n], x, y, px, py)
            away = _distance(x, y, px, py)
            closing = max(((x - px) * vx + (y - py) * vy) / away, ZERO) if away > ZERO else ZERO
            pace = closing + gain * (lead - gap)
        else:
            points[n] = _extend_trail(trail[n], points[n], px, py)
            gap, points[n] = _distance_along_trail(trail[n], points[n], px, py, x, y)
            stands = walk <= WALKING and _distance(px, py, goal[n, 0], goal[n, 1]) <= distance + arrival
            if count[n] > 0 and (stands or _distance(x, y, goal[n, 0], goal[n, 1]) <= arrival):
                continue
            along = (px - x) * mx + (py - y) * my
            beside = role == _ACCOMPANY and q >= 0
            near = beside and (mx != ZERO or my != ZERO) and abs(along) <= distance and gap <= distance + distance
            abreast = near
            if near:
                if side[n] == 0:
                    side[n] = _side(mx, my, x - px, y - py, goal[n, 0] - px, goal[n, 1] - py)
                end = _write_path_beside(path[n], x, y, place[n], motion[n], np.float32(side[n]), distance)
                abreast = not _is_wall_on_path(
                    pose[n], radius[n], path[n], scan[n], (angles, mount, reach), position[n], radii[n], present[n]
                )
            if abreast:
                count[n] = end
                pace = walk + gain * along
            else:
                side[n] = 0
                short = _SHORT * distance if q >= 0 else ZERO
                keeps = ZERO if q < 0 or (beside and not near) else distance
                count[n] = _write_path_on_trail(path[n], trail[n], points[n], x, y, px, py, short)
                pace = walk + gain * (gap - keeps)
            end = count[n] - 1
            for k in range(end + 1, path.shape[1]):
                path[n, k, 0], path[n, k, 1] = path[n, end, 0], path[n, end, 1]
            goal[n, 0], goal[n, 1] = path[n, end, 0], path[n, end, 1]
        speed[n] = min(max(pace / max(top[n], WALKING), ZERO), ONE)
        waits[n] = speed[n] <= ZERO
