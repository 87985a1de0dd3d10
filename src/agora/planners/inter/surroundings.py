"""Queries that interplanners make about the surroundings: pedestrians nearby and ahead, and walls behind.

Angles and distances are relative to the robot's base.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import HALF, ONE, ZERO, atan2, exp, sincos
from agora.core.state import TYPES, Bools, Floats, freeze
from agora.costmap.inflation import LETHAL
from agora.costmap.walls import window_of
from agora.interfaces import Guidance, Observation
from agora.planners.steering import room_ahead

__all__ = ["company", "unchanged"]

_DANGER = np.float32(3.0)  # m, from Arena's formula
_BESIDE = np.float32(0.1)  # m, distance from a pedestrian's disc within which a lidar return belongs to the pedestrian
_NEAR = np.float32(1e-6)
_LETHAL = np.uint8(LETHAL)
WALKING = np.float32(0.2)
"""Speed above which a person walks, m/s."""
_ELDER = TYPES.index("elder")


@dataclass(frozen=True, eq=False)
class Company:
    """The pedestrians around each robot; distances (N,) are to the centre of the nearest pedestrian, m, and infinite if there is
    none.

    Attributes:
        nearest: (N,) distance to the nearest of all pedestrians.
        ahead: (N,) distance to the nearest pedestrian in the field of view who is walking, at 0.2 m/s or more, and approaching the
            robot.
        comer: (N,) distance to the nearest walking and approaching pedestrian, inside or outside the field of view.
        elder: (N,) distance to the nearest pedestrian known to be elderly.
        danger: (N,) Arena's danger level, exp(-1 / sum (3 m / d)^2), where d are the distances to all pedestrians.
    """

    nearest: Floats
    ahead: Floats
    comer: Floats
    elder: Floats
    danger: Floats


def unchanged(o: Observation) -> Guidance:
    """Return guidance with the unchanged path, full speed and no danger."""
    assert o.path is not None and o.path_count is not None
    rows = len(o.pose)
    return Guidance(o.path, o.path_count, o.goal, np.ones(rows, np.float32), np.zeros(rows, np.float32))


def company(o: Observation, fov: float = math.tau, expected: Floats | None = None) -> Company:
    """Return the pedestrians around each robot.

    Args:
        o: observation with pedestrians.
        fov: field of view around a robot's heading, rad.
        expected: (N, Q, T, 2) predicted positions of pedestrians, m, which are treated like current positions in ``nearest``,
            ``ahead`` and ``comer``; the robot is assumed to stay where it is. None if there are no predictions.
    """
    seen = o.pedestrians
    assert seen is not None
    rows, slots = seen.present.shape
    kind = np.full((rows, slots), -1, np.int32) if seen.type is None else seen.type
    out = np.empty((5, rows), np.float32)
    people = (o.pose, seen.position, seen.velocity, seen.present, kind)
    _company(*(freeze(array) for array in people), np.float32(fov), out, 0, rows)
    if expected is not None:
        walkers = (o.pose, seen.position, seen.velocity, seen.present, expected)
        _comers(*(freeze(array) for array in walkers), np.float32(fov), out, 0, rows)
    return Company(*out)


def wall_within(o: Observation, reach: Floats, behind: bool) -> Bools:
    """Return in which rows (N,) a lidar return that does not belong to a pedestrian is within ``reach`` (N,) m of the base. With
    ``behind``, only returns from behind the robot count; otherwise, returns from any direction.

    Areas outside the lidar's field of view are not seen; without a lidar there are no walls.
    """
    out = np.zeros(len(o.pose), np.bool_)
    if o.scan is None or o.scan_angles is None or o.scan_pose is None or o.scan_range is None:
        return out
    seen = o.pedestrians
    assert seen is not None
    people = (freeze(array) for array in (o.pose, seen.position, seen.radius, seen.present))
    lidar = (freeze(o.scan), freeze(o.scan_angles), freeze(o.scan_pose), np.float32(o.scan_range))
    _walls(*people, *lidar, freeze(reach.astype(np.float32)), behind, out, 0, len(out))
    return out


def free_distance(o: Observation, direction: Floats, reach: Floats) -> Floats:
    """Return the distance that robots (N,) can move in a direction (N,) before they touch a wall or an unknown cell, m.

    The distance is at most ``reach`` (N,), which is also the result if there is no costmap.
    """
    out = reach.astype(np.float32)
    way = (freeze(o.pose), freeze(o.radius), freeze(direction.astype(np.float32)))
    _write_free_distances(*way, window_of(o.costmap, len(out)), out, 0, len(out))
    return out


@lean_kernel
def _write_free_distances(pose, radius, direction, window, room, first, last):
    cost, origin, resolution = window
    for n in range(first, last if cost.shape[1] > 0 else first):
        sine, cosine = sincos(direction[n])
        seen = (cost[n], origin[n, 0], origin[n, 1], resolution, pose[n, 0], pose[n, 1])
        room[n] = room_ahead(*seen, cosine, sine, radius[n], room[n], _LETHAL)


@hidden
def _approaches(dx, dy, velocity):
    """Return whether a person at (dx, dy), relative to a point, is walking and approaching that point."""
    ux, uy = velocity[0], velocity[1]
    return ux * ux + uy * uy >= WALKING * WALKING and dx * ux + dy * uy < ZERO


@lean_kernel
def _company(pose, position, velocity, present, kind, fov, out, first, last):
    for n in range(first, last):
        sine, cosine = sincos(pose[n, 2])
        nearest, ahead, comer, elder = np.float32(np.inf), np.float32(np.inf), np.float32(np.inf), np.float32(np.inf)
        near = ZERO
        for q in range(present.shape[1]):
            if present[n, q]:
                dx, dy = position[n, q, 0] - pose[n, 0], position[n, q, 1] - pose[n, 1]
                distance = math.sqrt(dx * dx + dy * dy)
                nearest = min(nearest, distance)
                if _approaches(dx, dy, velocity[n, q]):
                    comer = min(comer, distance)
                    seen = atan2(abs(cosine * dy - sine * dx), cosine * dx + sine * dy) <= HALF * fov
                    ahead = min(ahead, distance) if seen else ahead
                if kind[n, q] == _ELDER:
                    elder = min(elder, distance)
                share = _DANGER / max(distance, _NEAR)
                near += share * share
        out[0, n], out[1, n], out[2, n], out[3, n] = nearest, ahead, comer, elder
        out[4, n] = exp(-ONE / near) if near > ZERO else ZERO


@lean_kernel
def _comers(pose, position, velocity, present, expected, fov, out, first, last):
    for n in range(first, last):
        sine, cosine = sincos(pose[n, 2])
        for q in range(present.shape[1]):
            if not present[n, q]:
                continue
            comes = _approaches(position[n, q, 0] - pose[n, 0], position[n, q, 1] - pose[n, 1], velocity[n, q])
            for t in range(expected.shape[2]):
                dx, dy = expected[n, q, t, 0] - pose[n, 0], expected[n, q, t, 1] - pose[n, 1]
                distance = math.sqrt(dx * dx + dy * dy)
                out[0, n] = min(out[0, n], distance)
                if comes:
                    out[2, n] = min(out[2, n], distance)
                    if atan2(abs(cosine * dy - sine * dx), cosine * dx + sine * dy) <= HALF * fov:
                        out[1, n] = min(out[1, n], distance)


@lean_kernel
def _walls(pose, position, radius, present, scan, angles, mount, range_max, reach, behind, out, first, last):
    offset = math.sqrt(mount[0] * mount[0] + mount[1] * mount[1])
    for n in range(first, last):
        sine, cosine = sincos(pose[n, 2])
        for b in range(scan.shape[1]):
            if not (scan[n, b] < range_max and scan[n, b] <= reach[n] + offset):  # a NaN beam is invalid
                continue
            up, along = sincos(angles[b] + mount[2])
            x, y = mount[0] + scan[n, b] * along, mount[1] + scan[n, b] * up
            if (behind and x >= ZERO) or x * x + y * y > reach[n] * reach[n]:
                continue
            dx, dy = pose[n, 0] + cosine * x - sine * y, pose[n, 1] + sine * x + cosine * y
            theirs = False
            for q in range(present.shape[1]):
                px, py, beside = position[n, q, 0] - dx, position[n, q, 1] - dy, radius[n, q] + _BESIDE
                theirs |= present[n, q] and px * px + py * py <= beside * beside
            if not theirs:
                out[n] = True
                break
