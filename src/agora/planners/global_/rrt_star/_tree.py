"""The tree of RRT*."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.state import Array, Doubles
from agora.planners.global_._ground import drive_cost, spare_clearance
from agora.seeds import uniform_at

_ACROSS, _UP, _WHICH = 0, 1, 2
_GAMMA = 1.1 * 2.0 * math.sqrt(1.5)
"""A tenth above the smallest factor of the radius in the plane: 2 (1 + 1/2)^(1/2)."""
_GAIN = 1e-9


class Tree(NamedTuple):
    """The reached places; the first is the start.

    Attributes:
        place: (N, 2) positions, m.
        cost: (N,) cost from the start, m.
        edge: (N,) cost of the line from the parent, m.
        detour: (N,) length of the straight lines from the start to the place and from the place to the goal, m.
        parent: (N,) previous place; -1 for the start.
        child: (N,) a next place; -1 for none.
        beside: (N,) another child of the same parent; -1 for none.
        near: (N,) room for the places near a place.
        gap: (N,) room for their distances.
    """

    place: Doubles
    cost: Doubles
    edge: Doubles
    detour: Doubles
    parent: Array
    child: Array
    beside: Array
    near: Array
    gap: Doubles

    @classmethod
    def of(cls, count: int) -> Tree:
        """Return scratch for ``count`` places."""
        parent, child, beside = np.full((3, count), -1, np.int32)
        cost, edge, detour, gap = np.empty((4, count))
        return cls(np.empty((count, 2)), cost, edge, detour, parent, child, beside, np.empty(count, np.int32), gap)


@hidden
def _line_cost(ground, x, y, to_x, to_y):
    """Return the cost of the straight line between two places, m; infinite if it is not free."""
    dx, dy = to_x - x, to_y - y
    return drive_cost(ground, x, y, math.atan2(dy, dx), math.sqrt(dx * dx + dy * dy), 0.0, 0.0)


@hidden
def _cut(tree, place):
    """Remove a place from the list of its parent."""
    parent = tree.parent[place]
    if tree.child[parent] == place:
        tree.child[parent] = tree.beside[place]
        return
    other = tree.child[parent]
    while tree.beside[other] != place:
        other = tree.beside[other]
    tree.beside[other] = tree.beside[place]


@hidden
def _graft(tree, place, parent, edge):
    """Make a place a child of another, and update the costs of all its descendants."""
    tree.parent[place], tree.edge[place] = parent, edge
    tree.beside[place], tree.child[parent] = tree.child[parent], place
    tree.cost[place] = tree.cost[parent] + edge
    now = place
    while True:  # depth first, without a stack: down, else to the sibling, else up
        if tree.child[now] >= 0:
            now = tree.child[now]
        else:
            while now != place and tree.beside[now] < 0:
                now = tree.parent[now]
            if now == place:
                return
            now = tree.beside[now]
        tree.cost[now] = tree.cost[tree.parent[now]] + tree.edge[now]


@hidden
def _draw_in_ellipse(start, goal, apart, shortest, u, v):
    """Return the place of two draws in the ellipse of places that allow a path of at most ``shortest``, and its area."""
    long, broad = 0.5 * shortest, 0.5 * math.sqrt(max(shortest * shortest - apart * apart, 0.0))
    r, angle = math.sqrt(u), 2.0 * math.pi * v
    a, b = long * r * math.cos(angle), broad * r * math.sin(angle)
    cosine, sine = (goal[0] - start[0]) / apart, (goal[1] - start[1]) / apart
    x, y = 0.5 * (start[0] + goal[0]), 0.5 * (start[1] + goal[1])
    return x + cosine * a - sine * b, y + sine * a + cosine * b, math.pi * long * broad


@hidden
def _gather(tree, count, x, y, radius):
    """Write the places within a radius of one and their distances; return their number."""
    near, squared = 0, radius * radius
    for j in range(count):
        dx, dy = tree.place[j, 0] - x, tree.place[j, 1] - y
        gap = dx * dx + dy * dy
        if gap <= squared:
            tree.near[near], tree.gap[near] = j, math.sqrt(gap)
            near += 1
    return near


@hidden
def _cheapest_parent(ground, tree, near, x, y, parent, edge):
    """Return the nearby place from which a place is reached at the lowest cost (or ``parent``), and the cost of that line."""
    cost = tree.cost[parent] + edge
    first = parent
    for k in range(near):
        j = tree.near[k]
        if j != first and tree.cost[j] + tree.gap[k] < cost:
            line = _line_cost(ground, tree.place[j, 0], tree.place[j, 1], x, y)
            if tree.cost[j] + line < cost:
                parent, edge, cost = j, line, tree.cost[j] + line
    return parent, edge


@hidden
def _rewire(ground, tree, near, new):
    """Connect nearby places with a cheaper path over a new place to that place."""
    cost, parent = tree.cost[new], tree.parent[new]
    for k in range(near):
        j = tree.near[k]
        if j != parent and cost + tree.gap[k] < tree.cost[j] - _GAIN:
            line = _line_cost(ground, tree.place[new, 0], tree.place[new, 1], tree.place[j, 0], tree.place[j, 1])
            if cost + line < tree.cost[j] - _GAIN:
                _cut(tree, j)
                _graft(tree, j, new, line)


@lean_kernel
def grow(ground, start, goal, free, iterations, reach, bias, key, tree, counts):
    """Grow the tree; return the number of the goal in it, or -1.

    Args:
        ground: `agora.planners.global_._ground.Ground`.
        start: (2,) position, m.
        goal: (2,) position, m.
        free: free area, m2.
        iterations: number of draws.
        reach: length of the longest line, m.
        bias: fraction of the draws at the goal until it is reached.
        key: key of the stream of draws.
        tree: `Tree` with room for one place more than there are draws.
        counts: (1,), out: number of places.
    """
    half = 0.5 * ground.resolution
    wide, high = ground.clearance.shape[1] * ground.resolution, ground.clearance.shape[0] * ground.resolution
    apart = math.sqrt((goal[0] - start[0]) ** 2 + (goal[1] - start[1]) ** 2)
    tree.place[0, 0], tree.place[0, 1], tree.cost[0], tree.detour[0] = start[0], start[1], 0.0, apart
    count, end = 1, -1
    for i in range(iterations):
        shortest = tree.cost[end] if end >= 0 else np.inf
        x, y, area = goal[0], goal[1], free
        # Once a path is known, draw only in the ellipse of places that can shorten it (informed RRT*).
        if end >= 0:
            x, y, ellipse = _draw_in_ellipse(
                start, goal, apart, shortest, uniform_at(key, 0, i, _ACROSS), uniform_at(key, 0, i, _UP)
            )
            area = min(area, ellipse)
        elif uniform_at(key, 0, i, _WHICH) >= bias:
            x, y = uniform_at(key, 0, i, _ACROSS) * wide - half, uniform_at(key, 0, i, _UP) * high - half
        nearest, least, inside = 0, np.inf, 1
        for j in range(count):
            dx, dy = tree.place[j, 0] - x, tree.place[j, 1] - y
            tree.gap[j] = dx * dx + dy * dy
            if tree.gap[j] < least:
                nearest, least = j, tree.gap[j]
            inside += tree.detour[j] <= shortest
        least = math.sqrt(least)
        if least <= _GAIN:
            continue
        aims = end < 0 and x == goal[0] and y == goal[1] and least <= reach
        if least > reach:
            share = reach / least
            x = tree.place[nearest, 0] + share * (x - tree.place[nearest, 0])
            y = tree.place[nearest, 1] + share * (y - tree.place[nearest, 1])
        if x < -half or y < -half or x >= wide - half or y >= high - half or not spare_clearance(ground, x, y, 0.0) > 0.0:
            continue
        edge = _line_cost(ground, tree.place[nearest, 0], tree.place[nearest, 1], x, y)
        if edge == np.inf:
            continue
        # The radius of algorithm 6, with area and number of places of the ellipse.
        radius = min(_GAMMA * math.sqrt(area / math.pi * math.log(inside) / inside), reach) if inside > 1 else reach
        near = _gather(tree, count, x, y, radius)
        parent, edge = _cheapest_parent(ground, tree, near, x, y, nearest, edge)
        new = count
        count += 1
        dx, dy, fx, fy = x - start[0], y - start[1], x - goal[0], y - goal[1]
        tree.place[new, 0], tree.place[new, 1] = x, y
        tree.detour[new] = math.sqrt(dx * dx + dy * dy) + math.sqrt(fx * fx + fy * fy)
        _graft(tree, new, parent, edge)
        if aims:
            end = new
        # Nearby places get the new one as a parent if this is cheaper.
        _rewire(ground, tree, near, new)
    counts[0] = count
    return end
