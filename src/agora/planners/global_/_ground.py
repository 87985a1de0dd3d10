"""The ground that a robot drives on: where the robot fits, with or without an outline, and the cost of driving there."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean, lean_kernel
from agora.core.state import Array, Doubles, Floats
from agora.costmap.inflation import cost_at
from agora.planners.global_._curves import SEGMENTS, advance

_EDGE = 1.001
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class Ground(NamedTuple):
    """A map, the cost of being close to its obstacles, and the body that moves on it. Positions are in m from the centre of cell
    [0, 0].

    Attributes:
        clearance: (rows, columns) clearance, m.
        layer: (rows, columns) uint8 additional costs, or an array of shape (0, 0).
        resolution: length of a cell, m.
        along: (D,) positions of the body's discs along its axis, m.
        across: position of these discs across the axis, m.
        radius: radius of these discs, m.
        least: clearance that each disc must exceed, m.
        reach: distance from the base to the farthest disc centre, m.
        share: weight of the inflated cost relative to length.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        scaling: rate at which the cost decays, 1/m.
    """

    clearance: Floats
    layer: Array
    resolution: float
    along: Doubles
    across: float
    radius: float
    least: float
    reach: float
    share: float
    inflation_radius: float
    scaling: float


@hidden
def _clearance(ground, x, y):
    """Return the distance to the nearest obstacle, interpolated bilinearly between cell centres."""
    rows, columns = ground.clearance.shape
    u = min(max(x / ground.resolution, 0.0), columns - _EDGE)
    v = min(max(y / ground.resolution, 0.0), rows - _EDGE)
    c, r = int(u), int(v)
    a, b = u - c, v - r
    lower = ground.clearance[r, c] * (1.0 - a) + ground.clearance[r, c + 1] * a
    upper = ground.clearance[r + 1, c] * (1.0 - a) + ground.clearance[r + 1, c + 1] * a
    return lower * (1.0 - b) + upper * b


@lean
def spare_clearance(ground, x, y, heading):
    """Return by how much the clearance at a pose exceeds the minimum, m; far from obstacles this may be a lower bound."""
    spare = _clearance(ground, x, y) - ground.reach - ground.least
    if spare > max(ground.inflation_radius - ground.least, 0.0):
        return spare
    spare = np.inf
    sine, cosine = math.sin(heading), math.cos(heading)
    for i in range(len(ground.along)):
        a, b = ground.along[i], ground.across
        spare = min(spare, _clearance(ground, x + cosine * a - sine * b, y + sine * a + cosine * b) - ground.least)
    return spare


@hidden
def _factor(ground, spare, x, y):
    """Return the cost per metre at a position, at least 1."""
    near = np.float32(spare + ground.least)
    bounds = np.float32(ground.radius), np.float32(ground.inflation_radius), np.float32(ground.scaling)
    cost = cost_at(near, _ZERO, bounds[0], bounds[1], bounds[2])
    if ground.layer.size > 0:
        rows, columns = ground.layer.shape
        row, column = int(y / ground.resolution + 0.5), int(x / ground.resolution + 0.5)
        cost = max(cost, np.float32(ground.layer[min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)]))
    return 1.0 + ground.share * cost


@lean
def drive_cost(ground, x, y, heading, length, curvature, floor):
    """Return the cost of driving a segment of a curve: its length times the mean factor, or infinite if the body touches something.

    The segment is sampled in steps of at most the spare clearance, but at least half a cell.

    Args:
        ground: `Ground`.
        x: x of the start, m.
        y: y of the start, m.
        heading: heading at the start, rad.
        length: length of the segment, m; negative if driven in reverse.
        curvature: curvature of the segment, 1/m.
        floor: minimum allowed spare clearance, m: 0, or negative for a robot that is already too close to an obstacle.
    """
    rows, columns = ground.clearance.shape
    half = 0.5 * ground.resolution
    right, top = (columns - 0.5) * ground.resolution, (rows - 0.5) * ground.resolution
    free = max(ground.inflation_radius - ground.least, 0.0)
    stretch = math.sqrt(1.0 + curvature * curvature * ground.reach * ground.reach)
    way, total, long = 0.0, 0.0, abs(length)
    room = spare_clearance(ground, x, y, heading)
    factor = _factor(ground, room, x, y)
    while way < long:
        step = room - free if room > free and ground.layer.size == 0 else min(room, 4.0 * half)
        step = max(step / stretch, half)
        step = min(step, long - way)
        way += step
        px, py, turned = advance(x, y, heading, math.copysign(way, length), curvature)
        if px < -half or py < -half or px > right or py > top:
            return np.inf
        room = spare_clearance(ground, px, py, turned)
        if not room > floor:
            return np.inf
        before, factor = factor, _factor(ground, room, px, py)
        total += step * 0.5 * (before + factor)
    return total


@hidden
def curve_cost(ground, price, x, y, heading, curve, before, floor):
    """Return the cost of a curve (5, 2) on the ground, and its final direction; the cost is infinite if the body touches
    something.
    """
    total, way = 0.0, before
    for i in range(SEGMENTS):
        length, curvature = curve[i, 0], curve[i, 1]
        if abs(length) <= 1e-9:
            continue
        direction = 1 if length > 0.0 else -1
        if way * direction < 0:
            total += price.change
        way = direction
        rate = (price.backward if length < 0.0 else 1.0) * (price.turn if curvature != 0.0 else 1.0)
        total += rate * drive_cost(ground, x, y, heading, length, curvature, floor)
        if total == np.inf:
            return total, way
        x, y, heading = advance(x, y, heading, length, curvature)
    return total, way


@lean_kernel
def block_factors(ground, radius, side, out):
    """Write the lowest cost per metre in each block of ``side`` x ``side`` cells; infinite if no cell centre is clear."""
    rows, columns = ground.clearance.shape
    for row in range(out.shape[0]):
        for column in range(out.shape[1]):
            widest, cheapest = _ZERO, np.float32(255.0) if ground.layer.size > 0 else _ZERO
            for r in range(row * side, min((row + 1) * side, rows)):
                for c in range(column * side, min((column + 1) * side, columns)):
                    widest = max(widest, ground.clearance[r, c])
                    if ground.layer.size > 0:
                        cheapest = min(cheapest, np.float32(ground.layer[r, c]))
            bounds = np.float32(ground.radius), np.float32(ground.inflation_radius), np.float32(ground.scaling)
            cost = max(cost_at(widest, _ZERO, bounds[0], bounds[1], bounds[2]), cheapest)
            out[row, column] = _ONE + np.float32(ground.share) * cost if widest > radius else np.float32(np.inf)
