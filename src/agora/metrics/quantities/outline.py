"""Distances from the robot's outline, which is the robot's polygon or, if no polygon was recorded, a disc with the robot's
radius.
"""

from __future__ import annotations

import functools

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.samples import closest, compute_once, facing, offsets


def corners(recording: Recording) -> Doubles | None:
    """Return the corners (V, 2) of the outline in the robot's frame, counter-clockwise, m; None for a disc."""
    if recording.robot is None or recording.robot.vertices[0, 0] == 0:
        return None
    own = slice(0, int(recording.robot.vertices[0, 0]))
    return np.stack((recording.robot.footprint_x[0, 0, own], recording.robot.footprint_y[0, 0, own]), axis=1).astype(np.float64)


@compute_once
def gaps(recording: Recording) -> Doubles:
    """(T, P) distance from the robot's outline to the pedestrians' centres, m; negative inside the outline, infinite for absent
    pedestrians.
    """
    polygon, (x, y, distance) = corners(recording), offsets(recording)
    if polygon is None:
        return distance - recording.radius
    x, y = in_robot_frame(recording, x, y)
    nearest, within = np.full(x.shape, np.inf), np.zeros(x.shape, np.bool_)
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        ex, ey = bx - ax, by - ay
        along = np.clip(((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey), 0.0, 1.0)
        px, py = x - ax - along * ex, y - ay - along * ey
        nearest = np.minimum(nearest, px * px + py * py)
        if ay != by:
            within ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) / (by - ay) * ex)
    signed = np.where(within, -1.0, 1.0) * np.sqrt(nearest)
    return np.where(recording.pedestrian_present, signed, np.inf)


@compute_once
def surface_distances(recording: Recording) -> Doubles:
    """(T, P) gap between the robot's outline and each pedestrian's disc, m; negative in an overlap, infinite if absent."""
    return gaps(recording) - recording.pedestrian_radius


@compute_once
def closest_surface(recording: Recording) -> Doubles:
    """(T,) gap between the robot's outline and the closest pedestrian's disc, m; infinite if there are none."""
    return closest(surface_distances(recording))


@functools.lru_cache(maxsize=4)
def wall_gaps(recording: Recording) -> Doubles | None:
    """(T,) distance from the robot's outline to the nearest obstacle on the map, m; None if there is no obstacle.

    If the outline overlaps an obstacle, the distance is negative for a disc and 0 for a polygon.
    """
    if recording.map is None:
        return None
    polygon = corners(recording)
    if polygon is None:
        gap = recording.map.gap(recording.pose[:, :2]) - recording.radius
    else:
        cosine, sine = (part[:, None] for part in facing(recording))
        x, y = cosine * polygon[:, 0] - sine * polygon[:, 1], sine * polygon[:, 0] + cosine * polygon[:, 1]
        gap = recording.map.gap_of(np.stack((x, y), axis=2) + recording.pose[:, None, :2])
    gap.setflags(write=False)
    return gap if np.isfinite(gap).all() else None


def times_to_touch(recording: Recording, vx: Doubles, vy: Doubles) -> Doubles:
    """Return the time (T, P) until the robot's outline touches pedestrians' discs, s; 0 if they overlap, infinite if they never
    touch.

    A disc's centre moves at a constant velocity relative to the robot, which keeps its heading. The boundary of the outline
    inflated by the disc's radius consists of the edges moved outwards and of a disc at each corner.

    Args:
        recording: recording of the episode.
        vx: (T, P) x component of the pedestrians' velocities relative to the robot, in the map frame, m/s.
        vy: (T, P) y component of the pedestrians' velocities relative to the robot, in the map frame, m/s.
    """
    polygon, (x, y, _), reach = corners(recording), offsets(recording), recording.pedestrian_radius
    if polygon is None:
        return _disc_times(x, y, vx, vy, recording.radius + reach, recording.pedestrian_present)
    (x, y), (vx, vy) = in_robot_frame(recording, x, y), in_robot_frame(recording, vx, vy)
    lengths, soonest = norm(np.roll(polygon, -1, axis=0) - polygon), np.full(x.shape, np.inf)
    for (ax, ay), (bx, by), length in zip(polygon, np.roll(polygon, -1, axis=0), lengths, strict=True):
        ex, ey = (bx - ax) / length, (by - ay) / length
        away, leaving = ey * (x - ax) - ex * (y - ay), ey * vx - ex * vy  # along the outward normal of the edge
        comes = recording.pedestrian_present & (away >= reach) & (leaving < 0.0)
        time = np.divide(reach - away, leaving, out=np.full(x.shape, np.inf), where=comes)
        at = ex * (x - ax) + ey * (y - ay) + np.where(comes, time, 0.0) * (ex * vx + ey * vy)
        soonest = np.where(comes & (at >= 0.0) & (at <= length), np.minimum(soonest, time), soonest)
        soonest = np.minimum(soonest, _disc_times(x - ax, y - ay, vx, vy, reach, recording.pedestrian_present))
    return np.where(gaps(recording) - reach <= 0.0, 0.0, soonest)


def in_robot_frame(recording: Recording, x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """Return vectors with map-frame components x and y (T, P), rotated into the robot's frame."""
    cosine, sine = (part[:, None] for part in facing(recording))
    return cosine * x + sine * y, cosine * y - sine * x


def _disc_times(x: Doubles, y: Doubles, vx: Doubles, vy: Doubles, reach: Doubles, present: Bools) -> Doubles:
    """Return the time (T, P), s, until moving points come within ``reach`` metres of the origin.

    The function returns the smaller root of |p + v t| = reach, computed in a form that does not divide by the speed.
    """
    product, speed2, gap = x * vx + y * vy, vx * vx + vy * vy, x * x + y * y - reach * reach
    root2 = product * product - speed2 * gap
    meets = present & (product < 0.0) & (root2 >= 0.0)
    soon: Doubles = np.full(x.shape, np.inf)
    np.divide(gap, np.sqrt(np.maximum(root2, 0.0)) - product, out=soon, where=meets)
    soon[present & (gap <= 0.0)] = 0.0
    return soon
