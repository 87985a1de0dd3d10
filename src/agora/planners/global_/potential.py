"""Potentials that spread over cells from the robot, as in navfn and global_planner of ROS navigation: the kernels shared by both
planners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.heap import pop_bottom_up, push
from agora.core.jit import hidden, lean_kernel
from agora.core.state import Array, Doubles, Floats
from agora.costmap.inflation import LETHAL

UNREACHED = np.float32(1e10)
"""Potential of a cell that no wave has reached."""
EDGE = 2
"""Width of the border of unreached cells in a potential."""

POTENTIAL, PRICE = 0, 1

_ROOT_HALF, _ZERO, _BYTE = np.float32(0.707106781), np.float32(0.0), np.float32(255.0)
_SQUARE, _LINEAR, _CONSTANT = np.float32(-0.2301), np.float32(0.5307), np.float32(0.7040)


@hidden
def _cell_potential(left, right, below, above, price, quadratic):
    """Return the potential of a cell, computed from its neighbours' potentials: the lowest of them plus the cell's cost, or the
    potential of a plane wave along both axes.
    """
    across, along = min(left, right), min(below, above)
    low, apart = min(across, along), abs(across - along)
    if apart >= price or not quadratic:
        return low + price
    d = apart / price
    return low + price * ((_SQUARE * d + _LINEAR) * d + _CONSTANT)


@hidden
def _neighbour_potentials(nodes, n, columns):
    """Return the potentials of the four neighbours of a cell."""
    return nodes[n - 1, POTENTIAL], nodes[n + 1, POTENTIAL], nodes[n - columns, POTENTIAL], nodes[n + columns, POTENTIAL]


@lean_kernel
def _spread(nodes, columns, first, goal, quadratic, threshold, increment, waiting, queued):
    """Spread a wave until it has reached ``goal``, or all reachable cells.

    Cells wait in three buffers, as in the source: cells for this iteration, cells for the next one, and cells above a threshold
    that rises when the other two buffers are empty. In the source, a full buffer drops cells; in this module, each buffer has space
    for all cells.

    Args:
        nodes: (cells, 2) POTENTIAL: potential, in and out, initially `UNREACHED` except at the sources; PRICE: cost of moving by
            one cell, a whole number, infinite for blocked cells.
        columns: number of columns of the grid.
        first: (F,) indices of the cells around the sources.
        goal: index of the cell that ends the wave.
        quadratic: whether the wave is interpolated.
        threshold: initial threshold.
        increment: increment of the threshold.
        waiting: (3, cells + 4) uint32, the buffers.
        queued: (cells,) whether a cell is in a buffer; initially all false.
    """
    one, line = np.uint32(1), np.uint32(columns)
    now, later, over = 0, 1, 2
    count, more, beyond = 0, 0, 0
    for k in range(len(first)):
        cell = np.uint32(first[k])
        if not queued[cell] and nodes[cell, PRICE] < UNREACHED:
            waiting[now, count], queued[cell] = cell, True
            count += 1
    while count > 0:
        for k in range(count):
            queued[waiting[now, k]] = False
        for k in range(count):
            n = waiting[now, np.uint32(k)]
            around = (n - one, n + one, n - line, n + line)
            before = _neighbour_potentials(nodes, n, line)
            risen = _cell_potential(*before, nodes[n, PRICE], quadratic)
            if not risen < nodes[n, POTENTIAL]:
                continue
            nodes[n, POTENTIAL] = risen
            low = risen < threshold
            buffer, filled = (later, more) if low else (over, beyond)
            for side in range(4):
                other = around[side]
                joins = (before[side] > risen + _ROOT_HALF * nodes[other, PRICE]) & (not queued[other])
                waiting[buffer, np.uint32(filled)] = other
                queued[other] |= joins
                filled += np.int64(joins)
            more, beyond = (filled, beyond) if low else (more, filled)
        now, later, count, more = later, now, more, 0
        if count == 0:
            threshold += increment
            now, over, count, beyond = over, now, beyond, 0
        if nodes[goal, POTENTIAL] < UNREACHED:
            return


@lean_kernel
def _spread_guided(nodes, columns, start, goal, quadratic, neutral, keys, cells):
    """Like `_spread`, but in the order of potential plus Manhattan distance to the goal; each cell gets its potential only once."""
    goal_row, goal_column = goal // columns, goal % columns
    nodes[start, POTENTIAL] = _ZERO
    keys[0], cells[0] = _ZERO, start
    count = 1
    while count > 0:
        _, first = pop_bottom_up(keys, cells, count)
        cell = np.int64(first)
        count -= 1
        if cell == goal:
            return
        for step in (1, -1, columns, -columns):
            n = cell + step
            price = nodes[n, PRICE]
            if nodes[n, POTENTIAL] < UNREACHED or not price < UNREACHED:
                continue
            risen = (
                _cell_potential(*_neighbour_potentials(nodes, n, columns), price, quadratic)
                if quadratic
                else nodes[cell, POTENTIAL] + price
            )
            nodes[n, POTENTIAL] = risen
            far = abs(goal_row - n // columns) + abs(goal_column - n % columns)
            push(keys, cells, count, risen + np.float32(far) * neutral, n)
            count += 1


@lean_kernel
def _fill_goal(nodes, costs, columns, goal, neutral, quadratic):
    """Give unreached cells within two cells of the goal, including blocked cells, a potential higher than that of their
    neighbours.
    """
    for column in range(-2, 3):
        for row in range(-2, 3):
            n = goal + row * columns + column
            if nodes[n, POTENTIAL] >= UNREACHED:
                price = min(np.float32(costs[n]) + neutral, _BYTE)
                nodes[n, POTENTIAL] = _cell_potential(*_neighbour_potentials(nodes, n, columns), price, quadratic)


class Wave(NamedTuple):
    """The parameters of a wave over a costmap.

    Attributes:
        prices: (256,) cost of moving by one cell, for each value of costmap_2d; whole numbers, infinite for blocked cells.
        neutral: cost of moving by one free cell.
        threshold: initial threshold of the buffers; it rises in steps of twice ``neutral``.
        exact: whether the wave starts at the start point itself, from the four cells that surround it, and all cells around the
            goal get potentials; otherwise the wave starts in the start's cell.
        quadratic: whether the wave is interpolated between cells.
        guided: whether the wave expands towards the goal first (A*).
    """

    prices: Floats
    neutral: float
    threshold: float
    exact: bool = False
    quadratic: bool = True
    guided: bool = False


def spread(costs: Array, wave: Wave, start: Doubles, goal: tuple[int, int] | None) -> Floats:
    """Return the potential of a wave that spreads from the start until it reaches the goal; cells that it does not reach are
    `UNREACHED`.

    Args:
        costs: (rows, columns) uint8 costs on costmap_2d's scale.
        wave: parameters of the wave.
        start: (2,) start point, x and y in cells from the centre of cell [0, 0].
        goal: row and column of the cell that ends the wave, or None to reach all cells.

    Returns:
        (rows + 2 EDGE, columns + 2 EDGE): the potential, with a border of unreached cells around the map.
    """
    bordered = np.pad(costs, EDGE, constant_values=LETHAL)
    columns, size, flat, neutral = bordered.shape[1], bordered.size, bordered.reshape(-1), np.float32(wave.neutral)
    nodes = np.empty((size, 2), np.float32)
    nodes[:, POTENTIAL], nodes[:, PRICE] = UNREACHED, wave.prices[flat]
    end = 0 if goal is None else (goal[0] + EDGE) * columns + goal[1] + EDGE
    x, y = np.floor(start + 0.5).astype(np.int64) + EDGE
    own = y * columns + x
    waiting = np.empty((3, size + 4), np.uint32)
    if wave.guided:
        _spread_guided(nodes, columns, own, end, wave.quadratic, neutral, np.empty(size, np.float32), waiting[0])
    else:
        sources, first = [(own, 0.0)], own + np.array((1, -1, -columns, columns))
        if wave.exact:
            x, y = np.floor(start).astype(np.int64) + EDGE
            a, b = np.floor((start + EDGE - (x, y)) * 100.0 + 0.5) / 100.0
            n = y * columns + x
            sources = [(n, a * b), (n + 1, (1 - a) * b), (n + columns, a * (1 - b)), (n + columns + 1, (1 - a) * (1 - b))]
            first = n + np.array((2, -1, columns - 1, columns + 2, -columns, 1 - columns, 2 * columns, 2 * columns + 1))
        for cell, far in sources:
            if cell == own or nodes[cell, PRICE] < UNREACHED:
                nodes[cell, POTENTIAL] = 2.0 * neutral * far
        rising = (np.float32(wave.threshold), np.float32(2.0) * neutral)
        _spread(nodes, columns, first, end, wave.quadratic, *rising, waiting, np.zeros(size, np.bool_))
    if wave.exact and nodes[end, POTENTIAL] < UNREACHED:
        _fill_goal(nodes, flat, columns, end, neutral, wave.quadratic)
    return np.ascontiguousarray(nodes[:, POTENTIAL]).reshape(bordered.shape)
