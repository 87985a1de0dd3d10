"""A legged robot on a grid of cells: where its torso is free and its feet find ground, and the travel time between poses.

Wellhausen and Hutter, "ArtPlanner: Robust Legged Robot Navigation in the Field", Field Robotics 3, 2023; the checks and costs are
those of its code (leggedrobotics/art_planner: ``ValidityCheckerFeet``, ``PathLengthObjective``), in two dimensions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, TWO, ZERO, sincos, wrap
from agora.core.state import Array, Bools, Floats
from agora.costmap.window import inscribed_radius

_PIECE = HALF  # m and rad: longer motions are divided into pieces of this size


class Ground(NamedTuple):
    """The cells around a robot; poses are in m from the lower-left corner of cell [0, 0].

    Attributes:
        blocked: (rows, columns) uint8, cells that no part of the robot may touch.
        foothold: (rows, columns) uint8, cells that a foot may stand on.
        rough: (rows + 1, columns + 1) int32, number of cells below and to the left of each corner that are blocked or not
            footholds.
        cell: length of a cell, m.
        margin: minimum distance of the robot's centre from the border of the grid, m; the robot's radius if the grid is the whole
            map.
    """

    blocked: Array
    foothold: Array
    rough: Array
    cell: np.float32
    margin: np.float32


class Stance(NamedTuple):
    """The outline and the feet of a robot in its frame.

    Attributes:
        corners_x: (V,) x of the corners of the torso, counter-clockwise, m; the last corner is repeated if there are fewer than V;
            all zero, or V = 0, for a disc.
        corners_y: (V,) y of the corners, m.
        radius: radius of the disc around the torso, m.
        foot_x: distance of the feet from the robot's centre, along the robot, m.
        foot_y: distance of the feet from the robot's centre, across the robot, m.
        foot_reach: half the side length of the box within which a foot must find ground, m; 0 for a robot without feet.
        extent: radius of the disc around the torso and the feet, m.
    """

    corners_x: Floats
    corners_y: Floats
    radius: np.float32
    foot_x: np.float32
    foot_y: np.float32
    foot_reach: np.float32
    extent: np.float32


class Pace(NamedTuple):
    """The speeds that determine the cost of a motion.

    Attributes:
        lon: speed along the robot, m/s.
        lat: speed across the robot, m/s.
        yaw: turning rate, rad/s.
    """

    lon: np.float32
    lat: np.float32
    yaw: np.float32


@hidden
def edge_time(pace, dx, dy, turn, sine, cosine):
    """Return the time for a motion (dx, dy) with a turn, s; ``sine`` and ``cosine`` are those of the heading at the start. The
    robot moves along its axis, moves sideways and turns at the same time.
    """
    along, across = cosine * dx + sine * dy, cosine * dy - sine * dx
    return max(max(abs(along) / pace.lon, abs(across) / pace.lat), abs(turn) / pace.yaw)


@hidden
def travel_time(pace, x, y, heading, to_x, to_y, to_heading):
    """Return the time for a straight-line motion with constant rotation rate, s: the sum over pieces of at most 0.5 m and 0.5
    rad.
    """
    dx, dy, turn = to_x - x, to_y - y, wrap(to_heading - heading)
    pieces = max(np.int64(np.ceil(max(math.sqrt(dx * dx + dy * dy), abs(turn)) / _PIECE)), 1)
    part, total = ONE / np.float32(pieces), ZERO
    for k in range(pieces):
        sine, cosine = sincos(wrap(heading + turn * part * np.float32(k)))
        total += edge_time(pace, dx * part, dy * part, turn * part, sine, cosine)
    return total


@hidden
def count_rough(blocked, foothold, rough):
    """Compute the ``rough`` field of a `Ground`."""
    for i in range(blocked.shape[0]):
        line = np.int32(0)
        for j in range(blocked.shape[1]):
            line += np.int32(blocked[i, j] != 0 or foothold[i, j] == 0)
            rough[i + 1, j + 1] = rough[i, j + 1] + line


@hidden
def _meets_disc(dx, dy, half, radius):
    """Return whether a cell with its centre at (dx, dy) touches a disc."""
    ex, ey = max(abs(dx) - half, ZERO), max(abs(dy) - half, ZERO)
    return ex * ex + ey * ey <= radius * radius


@hidden
def _meets_polygon(stance, dx, dy, half, sine, cosine):
    """Return whether the torso meets the cell with its centre at (dx, dy), i.e. no side of the torso separates the two;
    conservative near corners.
    """
    count = stance.corners_x.size
    for k in range(count):
        after = k + 1 if k + 1 < count else 0
        ex, ey = stance.corners_x[after] - stance.corners_x[k], stance.corners_y[after] - stance.corners_y[k]
        nx, ny = cosine * ey + sine * ex, sine * ey - cosine * ex  # outward normal, rotated
        ax = cosine * stance.corners_x[k] - sine * stance.corners_y[k]
        ay = sine * stance.corners_x[k] + cosine * stance.corners_y[k]
        if (dx - ax) * nx + (dy - ay) * ny > half * (abs(nx) + abs(ny)):
            return False
    return True


@hidden
def _has_foothold(ground, x, y, half, sine, cosine):
    """Return whether a foot's box, with its centre at (x, y), contains a foothold."""
    rows, columns = ground.foothold.shape
    cell, inverse, turned = ground.cell, ONE / ground.cell, abs(sine) + abs(cosine)
    reach, support = half * turned, half + HALF * ground.cell * turned
    west, east = max(np.int64(np.floor((x - reach) * inverse)), 0), min(np.int64(np.floor((x + reach) * inverse)), columns - 1)
    low, high = max(np.int64(np.floor((y - reach) * inverse)), 0), min(np.int64(np.floor((y + reach) * inverse)), rows - 1)
    for i in range(low, high + 1):
        for j in range(west, east + 1):
            if ground.foothold[i, j] == 0 or ground.blocked[i, j] != 0:
                continue
            dx, dy = (np.float32(j) + HALF) * cell - x, (np.float32(i) + HALF) * cell - y
            if abs(cosine * dx + sine * dy) <= support and abs(cosine * dy - sine * dx) <= support:
                return True
    return False


@hidden
def is_valid_stance(ground, stance, x, y, sine, cosine):
    """Return whether a pose is valid: its centre is on the grid, the torso is free of blocked cells, and each of the four feet has
    a foothold within reach.
    """
    blocked, rough, cell = ground.blocked, ground.rough, ground.cell
    rows, columns = blocked.shape
    inverse, half = ONE / cell, HALF * cell
    right, top = np.float32(columns) * cell - ground.margin, np.float32(rows) * cell - ground.margin
    if not (ground.margin <= x < right and ground.margin <= y < top):
        return False
    extent = stance.extent
    west, east = np.int64(np.floor((x - extent) * inverse)), np.int64(np.floor((x + extent) * inverse)) + 1
    low, high = np.int64(np.floor((y - extent) * inverse)), np.int64(np.floor((y + extent) * inverse)) + 1
    inside = west >= 0 and low >= 0 and east <= columns and high <= rows
    west, east, low, high = max(west, 0), min(east, columns), max(low, 0), min(high, rows)
    if inside and rough[high, east] - rough[low, east] - rough[high, west] + rough[low, west] == 0:
        return True
    round_one = stance.corners_x.size == 0 or (stance.corners_x[0] == ZERO and stance.corners_y[0] == ZERO)
    for i in range(low, high):
        dy = (np.float32(i) + HALF) * cell - y
        for j in range(west, east):
            if blocked[i, j] != 0:
                dx = (np.float32(j) + HALF) * cell - x
                meets = (
                    _meets_disc(dx, dy, half, stance.radius) if round_one else _meets_polygon(stance, dx, dy, half, sine, cosine)
                )
                if meets:
                    return False
    if stance.foot_reach <= ZERO:
        return True
    for foot in range(4):
        fx = stance.foot_x if foot < 2 else -stance.foot_x
        fy = stance.foot_y if foot % 2 == 0 else -stance.foot_y
        if not _has_foothold(ground, x + cosine * fx - sine * fy, y + sine * fx + cosine * fy, stance.foot_reach, sine, cosine):
            return False
    return True


@hidden
def is_way(ground, stance, x, y, heading, to_x, to_y, to_heading):
    """Return whether a straight-line motion with constant rotation rate is valid between its ends, tested at poses half a cell
    apart.
    """
    dx, dy, turn = to_x - x, to_y - y, wrap(to_heading - heading)
    length = math.sqrt(dx * dx + dy * dy) + stance.extent * abs(turn)
    steps = np.int64(np.ceil(TWO * length / ground.cell))
    for k in range(1, steps):
        share = np.float32(k) / np.float32(steps)
        sine, cosine = sincos(wrap(heading + share * turn))
        if not is_valid_stance(ground, stance, x + share * dx, y + share * dy, sine, cosine):
            return False
    return True


def bodies(
    outline: Array, radius: Floats, foot_x: float, foot_y: float, foot_reach: float, padding: float = 0.0
) -> tuple[Floats, Floats]:
    """Return the corners (N, V, 2) and the sizes (N, 7) of robots, m, for `agora.planners._roadmaps.plan.plan`.

    The sizes are those in a `Stance`, followed by half the side length of the square around the centre that the robot always needs,
    and by the length of the blocks in which its poses are counted, which is a quarter of its length and width, as in upstream.

    Args:
        outline: (N, V, 2) corners, m; all zero, or V = 0, for discs.
        radius: (N,) radius of the disc around the outline, m.
        foot_x: distance of the feet from the robot's centre along the robot, as a fraction of half its length.
        foot_y: distance of the feet from the robot's centre across the robot, as a fraction of half its width.
        foot_reach: side length of a foot's box, as a fraction of the robot's length.
        padding: length by which corners are moved outwards along x and y, and discs are enlarged, m.
    """
    corners = np.ascontiguousarray(outline + np.float32(padding) * np.sign(outline), np.float32)
    disc: Bools = (corners == 0.0).all(axis=(1, 2))
    radius = (radius + padding * np.where(disc, 1.0, math.sqrt(2.0))).astype(np.float32)
    half, inside = np.stack([radius, radius], axis=1), radius
    if corners.shape[1]:
        half = np.where(disc[:, None], half, HALF * (corners.max(axis=1) - corners.min(axis=1)))
        inside = np.where(disc, radius, inscribed_radius(corners))
    reach = foot_reach * half[:, 0]
    feet = np.stack([foot_x * half[:, 0], foot_y * half[:, 1]], axis=1)
    extent = np.maximum(radius, np.hypot(*feet.T) + math.sqrt(2.0) * reach)
    sizes = np.stack([radius, *feet.T, reach, extent, math.sqrt(0.5) * inside, HALF * half.sum(axis=1)], axis=1)
    return corners, sizes.astype(np.float32)
