"""Casts many rays from one point: distances to cells, segments and discs, for sixteen neighbouring rays at a time.

A block is LANES neighbouring beams. All values of a block are stored in one scratch array, field after field. The offsets between
the fields are constant, so the compiler turns every ``for i in range(_LANE)`` into a few vector instructions without checking for
overlap. Cells are read in a separate scalar loop, because gather instructions are no faster.

Cells: each beam traverses the grid using the algorithm of Amanatides and Woo, "A fast voxel traversal algorithm for ray tracing",
Eurographics 1987, but skips cells that the distance field shows to be free. The distance field gives the distance D from the centre
of the beam's cell to the nearest centre of an occupied cell. No point of an occupied cell is closer to the centre of the beam's
cell than D minus half a cell diagonal, so the beam may advance to the point where it leaves the disc of this radius around the
centre. Single steps and skips share one branch-free loop, so some beams of a block can take single steps while others skip cells.
Crossings are computed from whole numbers of cells, never accumulated. The axes are mirrored so that every beam advances in the
positive direction along both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, TWO, TWO_PI, ZERO, F, atan2

LANES = 16
"""Number of beams in a block: the float32 lanes of the widest vector registers."""
_LANE = np.uint64(LANES)
_DX, _DY, _RANGE, _LIMIT, _T, _KX, _KY, _NEAR, _AX, _AY, _IX, _IY, _HX, _HY, _HIGH_X, _HIGH_Y = (
    np.uint64(field * LANES) for field in range(16)
)
_CELL, _STEP_X, _STEP_Y = (np.uint64(field * LANES) for field in range(3))
REALS, INTEGERS = 16 * LANES, 3 * LANES
"""Number of floats and number of integers per block in the scratch arrays."""
_REALS, _INTEGERS = np.uint64(REALS), np.uint64(INTEGERS)
_HALF_DIAGONAL = F(0.7073)
_ENOUGH = F(0.7)
_TINY = F(1e-12)
_FAR = F(1e6)
_BELOW_ONE = F(1 - 2**-24)
_I1 = np.int32(1)
_SLACK = F(1e-5)
_BOW = F(math.pi / 2 - 1)


def _stack(typing_context: Any, count: Any, dtype: Any) -> Any:
    """Allocate an array (count,) of a type on the caller's stack; it is released when the caller returns."""
    array = types.Array(dtype.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = context.get_data_type(array.dtype)
        data = builder.alloca(number, size=arguments[0])
        data.align = 64
        step = ir.Constant(ir.IntType(64), context.get_abi_sizeof(number))
        result = make_array(array)(context, builder)
        fields = {"data": data, "shape": [arguments[0]], "strides": [step], "itemsize": step, "meminfo": None}
        populate_array(result, **fields)
        return result._getvalue()

    return array(types.int64, dtype), generate


stack: Callable[..., Any] = np.empty if numba.config.DISABLE_JIT else intrinsic(_stack)


@hidden
def aim_beams(room, dx, dy, sine, cosine, range_max):
    """Set the directions of the beams to (dx, dy), padded to whole blocks and rotated, and set all ranges to ``range_max``."""
    reals = room[0]
    for g in range(room[2].size):
        f, k = np.uint64(g) * _REALS, np.uint64(g) * _LANE
        for i in range(_LANE):
            x, y = dx[k + i], dy[k + i]
            reals[f + _DX + i] = cosine * x - sine * y
            reals[f + _DY + i] = sine * x + cosine * y
            reals[f + _RANGE + i] = range_max


@hidden
def _blocks(low, width, increment, beams):
    """Return the blocks, first..last and 0..again, that contain angles from ``low`` to ``low + width``, measured from the first
    beam.
    """
    turn, end = TWO_PI / increment, F(beams - 1)
    a = (low - _SLACK) / increment
    a -= turn * np.floor(a / turn)
    b = a + (width + TWO * _SLACK) / increment
    first = np.int64(a) // LANES
    last = np.int64(min(b, end)) // LANES if a <= end else first - 1
    again = np.int64(min(b - turn, end)) // LANES if b >= turn else -1
    return first, last, again


@hidden
def _disc_block(reals, f, x, y, r):
    for i in range(_LANE):
        dx, dy = reals[f + _DX + i], reals[f + _DY + i]
        along, aside = x * dx + y * dy, x * dy - y * dx
        t = along - math.sqrt(max((r - aside) * (r + aside), ZERO))
        near = reals[f + _RANGE + i]
        reals[f + _RANGE + i] = t if (abs(aside) <= r) & (along > ZERO) & (t < near) else near


@hidden
def shorten_at_disc(room, beams, angle, increment, range_max, x, y, r):
    """Shorten the beams that hit a disc of radius ``r`` at (x, y) relative to the sensor; the first beam's angle is ``angle``.

    Returns:
        Whether the sensor is inside the disc; if so, no beam is changed.
    """
    d2 = x * x + y * y
    if d2 <= r * r:
        return True
    reach = range_max + r
    if d2 < reach * reach:
        s = r / math.sqrt(d2)
        half = s + _BOW * s * s * s  # at least asin(s)
        first, last, again = _blocks(atan2(y, x) - angle - half, TWO * half, increment, beams)
        for g in range(first, last + 1):
            _disc_block(room[0], np.uint64(g) * _REALS, x, y, r)
        for g in range(again + 1):
            _disc_block(room[0], np.uint64(g) * _REALS, x, y, r)
    return False


@hidden
def _segment_block(reals, f, ax, ay, bx, by):
    for i in range(_LANE):
        dx, dy = reals[f + _DX + i], reals[f + _DY + i]
        left, right = dx * ay - dy * ax, dx * by - dy * bx
        start, end = dx * ax + dy * ay, dx * bx + dy * by
        t = start + (end - start) * (left / (left - right))
        near = reals[f + _RANGE + i]
        reals[f + _RANGE + i] = t if ((left <= ZERO) != (right <= ZERO)) & (t >= ZERO) & (t < near) else near


@hidden
def shorten_at_segment(room, beams, angle, increment, range_max, ax, ay, bx, by):
    """Shorten the beams that hit the segment from (ax, ay) to (bx, by), relative to the sensor; the first beam's angle is
    ``angle``.
    """
    ex, ey = bx - ax, by - ay
    along = min(max(-(ax * ex + ay * ey) / max(ex * ex + ey * ey, _TINY), ZERO), ONE)
    x, y = ax + along * ex, ay + along * ey
    if x * x + y * y < range_max * range_max:
        sweep = atan2(ax * by - ay * bx, ax * bx + ay * by)
        first, last, again = _blocks(atan2(ay, ax) - angle + min(sweep, ZERO), abs(sweep), increment, beams)
        for g in range(first, last + 1):
            _segment_block(room[0], np.uint64(g) * _REALS, ax, ay, bx, by)
        for g in range(again + 1):
            _segment_block(room[0], np.uint64(g) * _REALS, ax, ay, bx, by)


@hidden
def _start_block(room, g, columns, rows, column, row, x, y, inverse):
    """Place a block's beams at (x, y) in cell (row, column), or where they enter the grid; return whether any must be traced."""
    reals, integers = room[0], room[1]
    f, n = g * _REALS, g * _INTEGERS
    here = row * columns + column
    alive = False
    for i in range(_LANE):
        dx, dy = reals[f + _DX + i], reals[f + _DY + i]
        right, up = dx >= ZERO, dy >= ZERO
        ax, ay = abs(dx), abs(dy)
        ix, iy = ONE / max(ax, _TINY), ONE / max(ay, _TINY)
        hx, hy = (ONE - x if right else x), (ONE - y if up else y)
        low_x, low_y = F(-column if right else column + _I1 - columns), F(-row if up else row + _I1 - rows)
        high_x, high_y = F(columns - _I1 - column if right else column), F(rows - _I1 - row if up else row)
        t = max(max((low_x + hx - ONE) * ix, (low_y + hy - ONE) * iy), ZERO)
        limit = min(reals[f + _RANGE + i] * inverse, min((high_x + hx) * ix, (high_y + hy) * iy))
        inside = t <= ZERO
        kx = min(max(ZERO if inside else np.floor(ONE - hx + ax * t), low_x), high_x)
        ky = min(max(ZERO if inside else np.floor(ONE - hy + ay * t), low_y), high_y)
        step_x, step_y = (_I1 if right else -_I1), (columns if up else -columns)
        reals[f + _AX + i], reals[f + _AY + i] = ax, ay
        reals[f + _IX + i], reals[f + _IY + i] = ix, iy
        reals[f + _HX + i], reals[f + _HY + i] = hx, hy
        reals[f + _HIGH_X + i], reals[f + _HIGH_Y + i] = high_x, high_y
        reals[f + _KX + i], reals[f + _KY + i] = kx, ky
        reals[f + _T + i], reals[f + _LIMIT + i] = t, limit
        integers[n + _STEP_X + i], integers[n + _STEP_Y + i] = step_x, step_y
        integers[n + _CELL + i] = here + np.int32(np.int32(kx) * step_x) + np.int32(np.int32(ky) * step_y)
        alive |= t < limit
    return alive


@hidden
def _read_distances(room, g, distance):
    """Read the distance field at the current cells of a block's beams."""
    reals, integers = room[0], room[1]
    f, n = g * _REALS, g * _INTEGERS
    for i in range(_LANE):
        reals[f + _NEAR + i] = distance[np.uint64(integers[n + _CELL + i])]


@hidden
def _advance(room, g, here, inverse):
    """Advance a block's beams to the next cell, or farther through free space; return whether any beam continues."""
    reals, integers = room[0], room[1]
    f, n = g * _REALS, g * _INTEGERS
    alive = False
    for i in range(_LANE):
        t, kx, ky, near = reals[f + _T + i], reals[f + _KX + i], reals[f + _KY + i], reals[f + _NEAR + i]
        ax, ay, hx, hy = reals[f + _AX + i], reals[f + _AY + i], reals[f + _HX + i], reals[f + _HY + i]
        next_x, next_y = kx + hx, ky + hy
        tx, ty = next_x * reals[f + _IX + i], next_y * reals[f + _IY + i]
        crossing = min(tx, ty)
        cx, cy = (kx + ONE if tx < ty else kx), (ky if tx < ty else ky + ONE)
        radius = min(near * inverse, _FAR) - _HALF_DIAGONAL
        px, py = next_x - HALF, next_y - HALF
        aside = px * ay - py * ax
        leaving = px * ax + py * ay + math.sqrt(max(radius * radius - aside * aside, ZERO))
        skip = (leaving > crossing) & (radius > _ENOUGH)
        ahead = leaving if skip else crossing
        cx = max(cx, np.floor(ONE - hx + ax * ahead)) if skip else cx
        cy = max(cy, np.floor(ONE - hy + ay * ahead)) if skip else cy
        hit = near <= ZERO
        t, kx, ky = (
            (t if hit else ahead),
            (kx if hit else min(cx, reals[f + _HIGH_X + i])),
            (ky if hit else min(cy, reals[f + _HIGH_Y + i])),
        )
        reals[f + _T + i], reals[f + _KX + i], reals[f + _KY + i] = t, kx, ky
        integers[n + _CELL + i] = (
            here + np.int32(np.int32(kx) * integers[n + _STEP_X + i]) + np.int32(np.int32(ky) * integers[n + _STEP_Y + i])
        )
        alive |= (not hit) & (t < reals[f + _LIMIT + i])
    return alive


@hidden
def shorten_at_cells(room, maps, m, x, y, range_max):
    """Shorten the beams from (x, y) that hit an occupied cell of map ``m``; the space outside the grid is free."""
    resolution, columns, rows = maps.resolution[m], maps.columns[m], maps.rows[m]
    u = (np.float64(x) - np.float64(maps.origin_x[m])) / np.float64(resolution)
    v = (np.float64(y) - np.float64(maps.origin_y[m])) / np.float64(resolution)
    inverse = ONE / resolution
    reach = range_max * inverse
    if not ((u > -reach) & (v > -reach) & (u < columns + reach) & (v < rows + reach)):
        return
    column, row = np.int32(np.floor(u)), np.int32(np.floor(v))
    here = np.int32(row * columns + column)
    distance = maps.distance[maps.start[m] : maps.start[m] + np.int64(rows) * columns]
    going, count = room[2], 0
    for g in range(going.size):
        going[count] = g
        if _start_block(
            room, np.uint64(g), columns, rows, column, row, min(F(u - column), _BELOW_ONE), min(F(v - row), _BELOW_ONE), inverse
        ):
            count += 1
    while count > 0:
        for q in range(count):
            _read_distances(room, going[q], distance)
        left = 0
        for q in range(count):
            g = going[q]
            going[left] = g
            if _advance(room, g, here, inverse):
                left += 1
        count = left
    reals = room[0]
    for g in range(going.size):
        f = np.uint64(g) * _REALS
        for i in range(_LANE):
            t, far = reals[f + _T + i], reals[f + _RANGE + i]
            reals[f + _RANGE + i] = t * resolution if t < reals[f + _LIMIT + i] else far


@hidden
def read(room, range_min, out):
    """Write the ranges of the beams, at least ``range_min``, to ``out`` (B,)."""
    reals = room[0]
    for b in range(np.uint64(out.size)):
        out[b] = max(reals[b // _LANE * _REALS + _RANGE + b % _LANE], range_min)
