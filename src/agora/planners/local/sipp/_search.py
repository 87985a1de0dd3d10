"""Safe interval path planning: finds the earliest arrival over cells that are safe during certain time intervals.

M. Phillips and M. Likhachev, "SIPP: safe interval path planning for dynamic environments", ICRA 2011. A state is a cell in one of
its safe intervals, and only its earliest arrival matters, because a robot that arrives earlier can wait. A* over these states,
guided by the remaining distance without people, finds the earliest arrival.

Time is divided into 64 steps; a cell's mask has one bit per step, which is set if the cell is unsafe in that step. The last step
lasts forever. Moves lead to the eight neighbouring cells, but do not cut the corner of a blocked cell. Halfway through a move, the
robot changes from one cell to the other: the first cell must be safe until then, and the second from then on.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.heap import pop, push
from agora.core.jit import hidden, lean
from agora.core.scalar import HALF, ONE, ZERO

STEPS = 64
"""Number of time steps in a mask."""

INTERVALS = 32
"""Largest number of intervals of a cell: every other step of 64 is safe."""

_DIAGONAL = np.float32(math.sqrt(2.0))
_INFINITE = np.float32(3e38)
_SHIFT, _STATE = np.int64(32), np.int64(0xFFFFFFFF)
_BIT, _NONE = np.uint64(1), np.uint64(0)


@hidden
def _key(value, state):
    """Return a nonnegative value and the index of a state packed into one integer; such keys sort by value, then by state."""
    return (np.int64(np.float32(value).view(np.int32)) << _SHIFT) | np.int64(state)


@lean
def path_lengths(blocked, columns, target, togo, heap):
    """Write the length of the shortest path from each cell to the target, in cells; infinite if there is no path.

    Args:
        blocked: (C,) bool cells, row by row; the cells of the border are blocked.
        columns: number of columns.
        target: index of the target cell, which is not blocked.
        togo: (C,) lengths, in cells, out.
        heap: (K,) int64, scratch; K at least 8 C.
    """
    around = (-1, 1, -columns, columns, -columns - 1, -columns + 1, columns - 1, columns + 1)
    togo[:] = _INFINITE
    togo[target] = ZERO
    heap[0], count = _key(ZERO, target), np.int64(1)
    while count > 0:
        key, _ = pop(heap, heap, count)
        count -= 1
        cell = key & _STATE
        if key != _key(togo[cell], cell):
            continue
        for k in range(8):
            other = cell + around[k]
            if blocked[other] or (k >= 4 and (blocked[cell + around[k & 1]] or blocked[cell + around[2 + ((k - 4) >> 1)]])):
                continue
            way = togo[cell] + (_DIAGONAL if k >= 4 else ONE)
            if way < togo[other]:
                togo[other] = way
                key = _key(way, other)
                push(heap, heap, count, key, key)
                count += 1


@lean
def intervals(unsafe, counts, bounds):
    """Write the safe intervals of each cell, in increasing order.

    Args:
        unsafe: (C,) uint64 masks; bit k is set if a cell is unsafe in step k.
        counts: (C,) int64, out: number of intervals of each cell.
        bounds: (C, INTERVALS, 2) int64, out: first step, and one past the last step.
    """
    for cell in range(unsafe.size):
        mask, found = unsafe[cell], np.int64(0)
        if mask == _NONE:
            bounds[cell, 0, 0], bounds[cell, 0, 1], counts[cell] = 0, STEPS, 1
            continue
        safe = False
        for k in range(STEPS):
            now = (mask >> np.uint64(k)) & _BIT == _NONE
            if now and not safe:
                bounds[cell, found, 0] = k
            if safe and not now:
                bounds[cell, found, 1] = k
                found += 1
            safe = now
        if safe:
            bounds[cell, found, 1] = STEPS
            found += 1
        counts[cell] = found


@lean
def search_earliest(blocked, columns, start, target, togo, counts, bounds, step, pace, arrival, parent, done, heap):
    """Search for the earliest arrival at the target from the start, which is safe in the first step and may be left at once.

    Args:
        blocked: (C,) bool cells, row by row; the cells of the border are blocked.
        columns: number of columns.
        start: index of the start cell.
        target: index of the target cell.
        togo: (C,) length of the shortest path to the target, in cells, from `path_lengths`.
        counts: (C,) number of safe intervals, from `intervals`.
        bounds: (C, INTERVALS, 2) bounds of the intervals, from `intervals`.
        step: length of a step, s.
        pace: time for a move to an adjacent cell, s.
        arrival: (C * INTERVALS,) earliest arrival in each state, s, out; interval n of a cell has the index ``cell * INTERVALS +
            n``.
        parent: (C * INTERVALS,) int64 previous state, out; the start state is its own parent.
        done: (C * INTERVALS,) bool, scratch.
        heap: (K,) int64, scratch; K at least 8 C.

    Returns:
        Whether the target is reached (a start at the target counts if it stays safe), and the state at the target. If the target is
        not reached, the state is the one that stays safe for longest and, in a tie, the one nearest to the target.
    """
    around = (-1, 1, -columns, columns, -columns - 1, -columns + 1, columns - 1, columns + 1)
    arrival[:], done[:] = _INFINITE, False
    first = start * INTERVALS
    arrival[first], parent[first] = ZERO, first
    heap[0], count = _key(togo[start] * pace, first), np.int64(1)
    best, longest, nearest = first, np.int64(-1), _INFINITE
    while count > 0:
        key, _ = pop(heap, heap, count)
        count -= 1
        state = key & _STATE
        if done[state]:
            continue
        done[state] = True
        cell, now = state // INTERVALS, arrival[state]
        last = bounds[cell, state % INTERVALS, 1]
        # The target counts as reached if it stays safe, or if the robot moved to reach it; otherwise keep the state that is safe
        # for longest.
        if cell == target and (state != first or last == STEPS):
            return True, state
        if last > longest or (last == longest and togo[cell] < nearest):
            best, longest, nearest = state, last, togo[cell]
        # The robot must leave a cell before its interval ends; the first move is always allowed.
        until = np.float32(last) * step if last < STEPS else _INFINITE
        until = max(until, pace) if state == first else until
        for k in range(8):
            other = cell + around[k]
            if blocked[other] or (k >= 4 and (blocked[cell + around[k & 1]] or blocked[cell + around[2 + ((k - 4) >> 1)]])):
                continue
            if togo[other] >= _INFINITE:
                continue
            move = pace * (_DIAGONAL if k >= 4 else ONE)
            for n in range(counts[other]):
                end = bounds[other, n, 1]
                # Leave at once, or wait until the next cell is safe halfway through the move, when the robot changes cells.
                leave = max(now, np.float32(bounds[other, n, 0]) * step - HALF * move)
                if leave + HALF * move >= until:
                    break
                there, reached = other * INTERVALS + n, leave + move
                if (end < STEPS and reached >= np.float32(end) * step) or reached >= arrival[there]:
                    continue
                arrival[there], parent[there] = reached, state
                if count < heap.size:
                    key = _key(reached + togo[other] * pace, there)
                    push(heap, heap, count, key, key)
                    count += 1
    return False, best
