"""The surroundings of one robot for the model predictive planner, in the robot's frame: path, walls as points, and discs over time.

Based on mpc_local_planner (mpc_local_planner_ros.cpp, stage_inequality_se2.cpp). The robot is at (0, 0) and faces along x; all
values are float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.state import Array, Bools
from agora.costmap.inflation import INSCRIBED, LETHAL
from agora.interfaces import Costmap
from agora.planners._expected import Discs

MOMENT = 0.3
"""Time between two predicted positions of a disc, s."""

AWAY = 30.0
"""Coordinate of a missing obstacle, m."""

SPACING = 0.1
"""Distance between the points of a local path, m."""

_APART = 0.15  # m
_STANDS = 1e-3  # m
_REACHED = 0.05  # m2
_LOOK = 0.3  # m
_TINY = 1e-9


class Body(NamedTuple):
    """The shape of a robot that is used to measure distances: a rectangle with rounded corners.

    Attributes:
        x: x of its centre, m.
        y: y of its centre, m.
        half_length: half the length, without the rounding, m.
        half_width: half the width, without the rounding, m.
        rounding: radius of the rounding, m; for a disc all other values are 0.
    """

    x: float
    y: float
    half_length: float
    half_width: float
    rounding: float


class Things(NamedTuple):
    """The obstacles around one robot: points on walls, followed by discs.

    Attributes:
        walls: (P, 2) points on walls, m.
        places: (M, T, 2) current positions of the discs, and their predicted positions at intervals of `MOMENT`, m.
        radius: (P + M,) radii, which are 0 for points, m.
    """

    walls: Array
    places: Array
    radius: Array

    @property
    def discs(self) -> Things:
        """Return these obstacles without the walls."""
        return Things(np.zeros((0, 2)), self.places, self.radius[len(self.walls) :])

    @property
    def still(self) -> Array:
        """Return which discs (M,) do not move."""
        stays: Array = np.ptp(self.places, axis=1).max(axis=1, initial=0.0) < _STANDS
        return stays

    def at(self, times: Array) -> tuple[Array, Array]:
        """Return the positions (K, P + M, 2) at the times (K,), s, and the velocities; beyond the last predicted time, all
        obstacles keep their velocity.
        """
        moments = times / MOMENT
        before = np.clip(moments.astype(np.int64), 0, self.places.shape[1] - 2)
        steps = np.diff(self.places, axis=1)[:, before]
        places = self.places[:, before] + (moments - before)[:, None] * steps
        still = np.broadcast_to(self.walls, (len(times), *self.walls.shape))
        moving = np.concatenate((still, places.swapaxes(0, 1)), axis=1)
        return moving, np.concatenate((np.zeros_like(still), steps.swapaxes(0, 1) / MOMENT), axis=1)


def to_robot(points: Array, pose: Array) -> Array:
    """Transform points or poses (..., 2 or 3) from the map frame into the frame of a pose (3,)."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    x, y = points[..., 0] - pose[0], points[..., 1] - pose[1]
    return np.stack((c * x + s * y, c * y - s * x, *(points[..., k] - pose[k] for k in range(2, points.shape[-1]))), -1)


def to_map(poses: Array, pose: Array) -> Array:
    """Transform poses (..., 3) from the frame of a pose (3,) into the map frame."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    x, y = poses[..., 0], poses[..., 1]
    return np.stack((pose[0] + c * x - s * y, pose[1] + s * x + c * y, poses[..., 2] + pose[2]), -1)


def local_path(path: Array, leg: int, reach: float, half: float) -> tuple[int, Array, bool, float]:
    """Return the part of a path to plan for.

    A path that passes the same place twice is followed in order: the search for the nearest point ends where the path, having come
    within 0.22 m of the robot, moves away from it again.

    Args:
        path: (K, 2) path, m.
        leg: index of the leg that the robot has reached.
        reach: length along the path, m.
        half: half the side length of the window, m; points farther than this from the robot are left out.

    Returns:
        The index of the leg that the robot is on now; points (A, 2), about `SPACING` apart, starting with the robot's position (the
        only point if the path is not nearby); whether the last point is the end of the path; the direction of the path after the
        last point, rad.
    """
    path = path if len(path) > 1 else np.concatenate((path, path))
    leg = min(leg, len(path) - 2)
    start, step = path[leg:-1], np.diff(path[leg:], axis=0)
    share = np.clip(-(start * step).sum(1) / np.maximum((step * step).sum(1), _TINY), 0.0, 1.0)
    squared = ((start + share[:, None] * step) ** 2).sum(1)
    past = (np.minimum.accumulate(squared) < _REACHED) & (squared > np.minimum.accumulate(squared))
    nearest = int(np.argmin(squared[: int(np.argmax(past)) if past.any() else len(squared)]))
    long = np.hypot(step[:, 0], step[:, 1])
    ways = np.concatenate(([0.0], np.cumsum(long)))
    here, end = ways[nearest] + share[nearest] * long[nearest], ways[-1]
    count = max(int(np.ceil(min(end - here, reach) / SPACING - 1e-6)), 1)
    wanted = here + np.minimum(np.arange(1, count + 1) * SPACING, min(end - here, reach))
    points = np.stack([np.interp(wanted, ways, path[leg:, k]) for k in range(2)], -1)
    outside = (points**2).sum(1) > half * half
    kept = int(np.argmax(outside)) if outside.any() else len(points)
    ends = kept == len(points) and end - here <= reach
    ahead = np.array([np.interp((wanted[kept - 1] if kept else here) + _LOOK, ways, path[leg:, k]) for k in range(2)])
    points = np.concatenate((np.zeros((1, 2)), points[:kept]))
    if np.hypot(*(ahead - points[-1])) < _LOOK / 2 and len(points) > 1:  # end of the path
        ahead = points[-1] + points[-1] - points[-2]
    return leg + nearest, points, ends, float(np.arctan2(*(ahead - points[-1])[::-1]))


def walls(costmap: Costmap, row: int, pose: Array, reach: float, behind: float) -> Array:
    """Return the edges of lethal or unknown areas in a window: the centres (P, 2) of those cells that have a free neighbour.

    Args:
        costmap: costmap of N rows.
        row: row of the costmap.
        pose: (3,) pose of the robot, m and rad.
        reach: distance from the robot beyond which cells are left out, m.
        behind: distance behind the robot beyond which cells are left out, m.
    """
    cell, origin = costmap.resolution, costmap.origin[row].astype(np.float64)
    own, away = np.floor((pose[:2] - origin) / cell).astype(np.int64), int(reach / cell) + 1
    low = np.maximum(own - away, 0)
    blocked = costmap.cost[row, low[1] : own[1] + away + 1, low[0] : own[0] + away + 1] >= LETHAL
    free = np.zeros((blocked.shape[0] + 2, blocked.shape[1] + 2), np.bool_)
    free[1:-1, 1:-1] = ~blocked
    lines, columns = np.nonzero(blocked & (free[:-2, 1:-1] | free[2:, 1:-1] | free[1:-1, :-2] | free[1:-1, 2:]))
    points = to_robot(origin + (np.stack((columns, lines), -1) + low + 0.5) * cell, pose)
    squared = (points**2).sum(1)
    near: Array = points[(squared < reach * reach) & ((points[:, 0] >= 0.0) | (squared <= behind * behind))]
    return near


def discs_of(discs: Discs, row: int, pose: Array, dynamic: bool) -> tuple[Array, Array]:
    """Return the current and predicted positions (M, T, 2) of the discs around a robot, and their radii; unless ``dynamic`` is
    true, the discs do not move.
    """
    there = discs.present[row]
    now = discs.position[row, there][:, None].astype(np.float64)
    later = discs.expected[row, there].astype(np.float64) if dynamic else np.repeat(now, discs.expected.shape[2], axis=1)
    return to_robot(np.concatenate((now, later), axis=1), pose), discs.radius[row, there].astype(np.float64)


def gap(poses: Array, places: Array, body: Body) -> Array:
    """Return distances (K, M) from a body at poses (K, 3) to positions (K, M, 2), m; negative inside the body."""
    c, s = np.cos(poses[:, 2, None]), np.sin(poses[:, 2, None])
    dx, dy = places[..., 0] - poses[:, 0, None], places[..., 1] - poses[:, 1, None]
    along = np.abs(c * dx + s * dy - body.x) - body.half_length
    aside = np.abs(c * dy - s * dx - body.y) - body.half_width
    outside = np.hypot(np.maximum(along, 0.0), np.maximum(aside, 0.0))
    found: Array = outside + np.minimum(np.maximum(along, aside), 0.0) - body.rounding
    return found


def associate(
    poses: Array, places: Array, things: Things, body: Body, force: float, cutoff: float, most: int
) -> tuple[Array, Bools]:
    """Return the obstacles for each pose, (K, most), and which of these slots are in use.

    The slots hold the nearest obstacle on the left, the nearest on the right and the nearest disc, all within ``cutoff`` m,
    followed by the next nearest obstacles within ``force`` m. Wall points closer than 0.15 m to a wall point already in a slot are
    left out.

    Args:
        poses: (K, 3) poses.
        places: (K, M, 2) positions of obstacles at the times of the poses.
        things: the obstacles.
        body: shape of the robot.
        force: distance within which all obstacles are considered, m.
        cutoff: distance within which the nearest obstacle on each side is considered, m.
        most: maximum number of obstacles per pose, at least 3.
    """
    near = gap(poses, places, body) - things.radius
    heeded = np.flatnonzero((near < max(force, cutoff)).any(axis=0))
    near, places = near[:, heeded], places[:, heeded]
    dx, dy = places[..., 0] - poses[:, 0, None], places[..., 1] - poses[:, 1, None]
    left = np.cos(poses[:, 2, None]) * dy - np.sin(poses[:, 2, None]) * dx > 0.0
    disc = np.broadcast_to(heeded >= len(things.walls), near.shape)
    rows, points = np.arange(len(poses)), int((heeded < len(things.walls)).sum())
    chosen, there = np.zeros((len(poses), most), np.int64), np.zeros((len(poses), most), np.bool_)
    for slot in range(most if len(heeded) else 0):
        among = np.where((left, ~left, disc)[slot], near, np.inf) if slot < 3 else near
        first = among.argmin(axis=1)
        there[:, slot] = among[rows, first] < (cutoff if slot < 3 else force)
        chosen[:, slot] = heeded[first]
        apart = places[:, :points] - places[rows, first][:, None]
        close = (apart[..., 0] ** 2 + apart[..., 1] ** 2 < _APART**2) & there[:, slot, None]
        near[:, :points][close] = np.inf
        near[rows[there[:, slot]], first[there[:, slot]]] = np.inf
    return chosen, there


def obstacles_of(
    things: Things, wanted: Array, poses: Array, dt: float, body: Body, force: float, cutoff: float, most: int, moves: bool
) -> Array:
    """Return the obstacles (K, most, 3 or 5) of the poses (K, 3) after 1, 2 ... steps: x, y, and the distance to keep, m.

    Args:
        things: the obstacles.
        wanted: (P + M,) desired distances to the obstacles, m.
        poses: (K, 3) poses.
        dt: duration of a step, s.
        body: shape of the robot.
        force: as for `associate`.
        cutoff: as for `associate`.
        most: as for `associate`.
        moves: whether the duration of a step may change; positions are then extrapolated back to time 0 at the obstacles'
            velocities, and vx and vy are appended.
    """
    made = np.zeros((len(poses), most, 5))
    made[..., 0] = AWAY
    times = dt * np.arange(1, len(poses) + 1)
    places, velocities = things.at(times)
    chosen, there = associate(poses, places, things, body, force, cutoff, most)
    if len(things.radius):
        speed = np.take_along_axis(velocities, chosen[..., None], axis=1)
        at = np.take_along_axis(places, chosen[..., None], axis=1) - (times[:, None, None] * speed if moves else 0.0)
        keep = (wanted + things.radius)[chosen][..., None] + body.rounding
        made = np.where(there[..., None], np.concatenate((at, keep, speed), axis=-1), made)
    return made if moves else made[..., :3]


def on_wall(costmap: Costmap, row: int, poses: Array, outline: Array) -> Bools:
    """Return at which poses (K, 3), in the map frame, an outline touches or contains a lethal or unknown cell.

    Args:
        costmap: costmap of N rows.
        row: row of the costmap.
        poses: (K, 3) poses, m and rad.
        outline: (V, 2) corners in the robot's frame, m.
    """
    cell, cost = costmap.resolution, costmap.cost[row]
    sides = np.diff(outline, axis=0, append=outline[:1])
    pieces = max(int(np.ceil(np.hypot(sides[:, 0], sides[:, 1]).max() / cell)), 1)
    shares = np.arange(pieces) / pieces
    border = np.concatenate((np.zeros((1, 2)), (outline[:, None] + shares[:, None] * sides[:, None]).reshape(-1, 2)))
    c, s = np.cos(poses[:, 2, None]), np.sin(poses[:, 2, None])
    x = poses[:, 0, None] + c * border[:, 0] - s * border[:, 1] - float(costmap.origin[row, 0])
    y = poses[:, 1, None] + s * border[:, 0] + c * border[:, 1] - float(costmap.origin[row, 1])
    columns, lines = np.floor(x / cell).astype(np.int64), np.floor(y / cell).astype(np.int64)
    inside = (columns >= 0) & (lines >= 0) & (columns < cost.shape[1]) & (lines < cost.shape[0])
    found = np.where(inside, cost[np.where(inside, lines, 0), np.where(inside, columns, 0)], 0)
    touched: Bools = (found[:, 0] >= INSCRIBED) | (found[:, 1:] >= LETHAL).any(axis=1)
    return touched
