"""The search of hybrid A*: states on a grid of positions and headings, each state with its exact position."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.heap import pop, push
from agora.core.jit import hidden, lean_kernel
from agora.core.state import Array, Doubles
from agora.planners.global_._curves import advance, cheapest_curve, copy_curve
from agora.planners.global_._ground import curve_cost, drive_cost, spare_clearance

HEADINGS = 72
_OPEN, _GUIDED, _CLOSED = 0, 1, 2
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Tree(NamedTuple):
    """The states reached so far.

    Attributes:
        place: (N, 2) positions, m.
        cost: (N,) cost from the start, m.
        total: (N,) cost plus heuristic, m.
        heading: (N,) index of the heading.
        parent: (N,) previous state; an initial state is its own parent.
        move: (N,) index of the move that led to the state; -1 for an initial state.
        status: (N,) whether the state is waiting, is waiting with the cost of its curve to the goal included, or is done.
        slots: (2**n,) hash table of the cells: index of the state in a cell, counted from 1.
        keys: (2**n,) cell stored in each slot.
        queue: (Q,) heap of total costs.
        queued: (Q,) the states in the queue.
    """

    place: Doubles
    cost: Doubles
    total: Doubles
    heading: Array
    parent: Array
    move: Array
    status: Array
    slots: Array
    keys: Array
    queue: Doubles
    queued: Array

    @classmethod
    def of(cls, expansions: int) -> Tree:
        """Return an empty tree with space for ``expansions`` expanded states."""
        count = 6 * expansions + HEADINGS
        cells, waiting = 1 << count.bit_length(), 2 * count
        return cls(
            place=np.empty((count, 2)),
            cost=np.empty(count),
            total=np.empty(count),
            heading=np.empty(count, np.int16),
            parent=np.empty(count, np.int32),
            move=np.empty(count, np.int8),
            status=np.empty(count, np.int8),
            slots=np.zeros(cells, np.int32),
            keys=np.empty(cells, np.int64),
            queue=np.empty(waiting),
            queued=np.empty(waiting, np.int32),
        )


@hidden
def _slot(tree, key):
    """Return the slot of a cell, or the free slot to store it in."""
    mask = len(tree.slots) - 1
    slot = np.int64((np.uint64(key) * _MIX) >> np.uint64(24)) & mask
    while tree.slots[slot] != 0 and tree.keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@hidden
def _is_near_start(start, near, x, y):
    """Return whether a position is so close to the start that the robot may still be touching the obstacle at the start."""
    return (x - start[0]) ** 2 + (y - start[1]) ** 2 < near * near


@hidden
def _to_go(togo, side, half, start, near, goal, x, y):
    """Return the heuristic: the cost of the path around obstacles, or the length of the straight line; infinite if no path leads to
    the goal.
    """
    around = np.float64(togo[int((y + half) / side), int((x + half) / side)])
    straight = math.sqrt((goal[0] - x) ** 2 + (goal[1] - y) ** 2)
    return straight if around == np.inf and _is_near_start(start, near, x, y) else max(around, straight)


@hidden
def _add_roots(ground, togo, side, start, goal, near, roots, tree):
    """Add the initial states to the tree; return their number, and the minimum spare clearance allowed for a robot that touches
    something.
    """
    half, step = 0.5 * ground.resolution, 2.0 * math.pi / HEADINGS
    base = 0.0 if roots > 1 else start[2]
    freest = -np.inf
    for k in range(roots):
        freest = max(freest, spare_clearance(ground, start[0], start[1], base + step * k))
    deepest = max(min(freest - half, 0.0), half - ground.least)
    count = 0
    for k in range(roots):
        if roots > 1 and not spare_clearance(ground, start[0], start[1], base + step * k) > deepest:
            continue
        tree.place[count, 0], tree.place[count, 1] = start[0], start[1]
        tree.cost[count], tree.heading[count], tree.parent[count], tree.move[count] = 0.0, k, count, -1
        tree.total[count], tree.status[count] = _to_go(togo, side, half, start, near, goal, start[0], start[1]), _OPEN
        push(tree.queue, tree.queued, count, tree.total[count], count)
        count += 1
    return count, deepest


@lean_kernel
def grow(ground, price, togo, side, start, goal, radius, cell, bins, weight, expansions, tree, curve, trial, counts):
    """Search from the start until no path can be much cheaper than the best one found; return the last state of the best path
    before ``curve``, or -1 if there is no path.

    Args:
        ground: `agora.planners.global_._ground.Ground`.
        price: `agora.planners.global_._curves.Price`.
        togo: cost to the goal from each block, m; infinite if there is no path.
        side: length of a block, m.
        start: (3,) start pose, m and rad; NaN for any heading.
        goal: (3,) goal pose, m and rad; NaN for any heading.
        radius: radius of the tightest curve, m.
        cell: length of the cells that hold states, m.
        bins: number of heading bins by which a move turns.
        weight: weight of the heuristic relative to the cost so far, at least 1.
        expansions: maximum number of expanded states.
        tree: `Tree`.
        curve: (5, 2), out: the curve from the state to the goal.
        trial: (5, 2), scratch.
        counts: (2,), out: number of expanded states and number of reached states.
    """
    half, step = 0.5 * ground.resolution, 2.0 * math.pi / HEADINGS
    right, top = (ground.clearance.shape[1] - 0.5) * ground.resolution, (ground.clearance.shape[0] - 0.5) * ground.resolution
    wide = np.int64((right + half) / cell) + 1
    long = radius * step * bins
    moves = 6 if price.backward < np.inf else 3
    near = 2.0 * (ground.reach + ground.least)
    roots = HEADINGS if start[2] != start[2] else 1
    base = 0.0 if roots > 1 else start[2]
    count, deepest = _add_roots(ground, togo, side, start, goal, near, roots, tree)
    size, done = count, 0
    best, end = np.inf, -1
    while size > 0 and done < expansions:
        total, now = pop(tree.queue, tree.queued, size)
        size -= 1
        # No waiting state promises a lower cost than the best complete path.
        if total >= best:
            break
        if tree.status[now] == _CLOSED or total != tree.total[now]:
            continue
        x, y, heading = tree.place[now, 0], tree.place[now, 1], base + step * tree.heading[now]
        room = spare_clearance(ground, x, y, heading)
        before = 0 if tree.move[now] < 0 else (1 if tree.move[now] < 3 else -1)
        # A robot that touches something at the start may move away from it, but not closer.
        floor = deepest if room <= 0.0 and _is_near_start(start, near, x, y) else 0.0
        # The curve to the goal is only computed when a state comes first in the queue, because most states never do. If the curve
        # raises the estimate, the state is queued again.
        if tree.status[now] == _OPEN:
            sine, cosine = math.sin(heading), math.cos(heading)
            dx, dy = goal[0] - x, goal[1] - y
            left = cheapest_curve(cosine * dx + sine * dy, cosine * dy - sine * dx, goal[2] - heading, radius, price, before, trial)
            if tree.cost[now] + left < best:
                cost, _ = curve_cost(ground, price, x, y, heading, trial, before, floor)
                if tree.cost[now] + cost < best:
                    best, end = tree.cost[now] + cost, now
                    copy_curve(trial, curve)
            tree.status[now] = _GUIDED
            if goal[2] == goal[2] and tree.cost[now] + weight * left > total:
                tree.total[now] = tree.cost[now] + weight * left
                push(tree.queue, tree.queued, size, tree.total[now], now)
                size += 1
                continue
        tree.status[now] = _CLOSED
        done += 1
        for move in range(moves):
            bend = (move % 3 + 1) % 3 - 1
            way = 1 if move < 3 else -1
            length, curvature = way * long, bend / radius
            rate = (1.0 if way > 0 else price.backward) * (price.turn if bend != 0 else 1.0)
            cost = tree.cost[now] + (price.change if before * way < 0 else 0.0)
            px, py, _ = advance(x, y, heading, length, curvature)
            if px < -half or py < -half or px >= right or py >= top:
                continue
            k = (tree.heading[now] + way * bend * bins + HEADINGS) % HEADINGS
            key = (np.int64((py + half) / cell) * wide + np.int64((px + half) / cell)) * HEADINGS + k
            slot = _slot(tree, key)
            state = tree.slots[slot] - 1
            least = cost + rate * long
            if state >= 0 and (tree.status[state] == _CLOSED or tree.cost[state] <= least):
                continue
            # The cheap bounds are checked first; the cost on the ground is computed only for states that may improve.
            around = _to_go(togo, side, half, start, near, goal, px, py)
            if least + around >= best:
                continue
            cost += rate * drive_cost(ground, x, y, heading, length, curvature, floor)
            if cost + around >= best or (state >= 0 and tree.cost[state] <= cost):
                continue
            if state >= 0:
                tree.status[state] = _CLOSED
            state = count
            count += 1
            tree.slots[slot], tree.keys[slot] = state + 1, key
            tree.place[state, 0], tree.place[state, 1], tree.heading[state] = px, py, k
            tree.cost[state], tree.parent[state], tree.move[state] = cost, now, move
            tree.total[state], tree.status[state] = max(cost + weight * around, total), _OPEN
            push(tree.queue, tree.queued, size, tree.total[state], state)
            size += 1
    counts[0], counts[1] = done, count
    return end
