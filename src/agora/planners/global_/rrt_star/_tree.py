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
"""Factor of the connection radius: 10 % above the minimum in the plane, 2 (1 + 1/2)^(1/2)."""
_GAIN = 1e-9


class Tree(NamedTuple):
    """The nodes reached so far; the first is the start.

    Attributes:
        place: (N, 2) positions, m.
        cost: (N,) cost from the start, m.
        edge: (N,) cost of the line from the parent node, m.
        detour: (N,) total length of the straight lines from the start to the node and from the node to the goal, m.
        parent: (N,) previous node; -1 for the start.
        child: (N,) first child of the node; -1 if it has none.
        beside: (N,) next child of the same parent; -1 if there is none.
        near: (N,) scratch for the nodes near a position.
        gap: (N,) scratch for the distances of these nodes.
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
        """Return an empty tree with space for ``count`` nodes."""
        parent, child, beside = np.full((3, count), -1, np.int32)
        cost, edge, detour, gap = np.empty((4, count))
        return cls(np.empty((count, 2)), cost, edge, detour, parent, child, beside, np.empty(count, np.int32), gap)


@hidden
def _line_cost(ground, x, y, to_x, to_y):
    """Return the cost of the straight line between two positions, m; infinite if the line is not free."""
    dx, dy = to_x - x, to_y - y
    return drive_cost(ground, x, y, math.atan2(dy, dx), math.sqrt(dx * dx + dy * dy), 0.0, 0.0)


@hidden
def _cut(tree, place):
    """Remove a node from its parent's list of children."""
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
    """Make a node the child of another node, and update the costs of all its descendants."""
    tree.parent[place], tree.edge[place] = parent, edge
    tree.beside[place], tree.child[parent] = tree.child[parent], place
    tree.cost[place] = tree.cost[parent] + edge
    now = place
    while True:  # depth first, without a stack: go down, otherwise to the next sibling, otherwise up
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
    """Map two random numbers to a position in the ellipse of positions that allow a path of at most ``shortest``; return the
    position and the ellipse's area.
    """
    long, broad = 0.5 * shortest, 0.5 * math.sqrt(max(shortest * shortest - apart * apart, 0.0))
    r, angle = math.sqrt(u), 2.0 * math.pi * v
    a, b = long * r * math.cos(angle), broad * r * math.sin(angle)
    cosine, sine = (goal[0] - start[0]) / apart, (goal[1] - start[1]) / apart
    x, y = 0.5 * (start[0] + goal[0]), 0.5 * (start[1] + goal[1])
    return x + cosine * a - sine * b, y + sine * a + cosine * b, math.pi * long * broad


@hidden
def _gather(tree, count, x, y, radius):
    """Write the nodes within a radius of a position, and their distances; return how many there are."""
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
    """Return the nearby node (or ``parent``) from which a position can be reached at the lowest cost, and the cost of the line from
    this node to the position.
    """
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
    """Connect nearby nodes to a new node if the path through the new node is cheaper."""
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
    """Grow the tree; return the index of the goal's node, or -1.

    Args:
        ground: `agora.planners.global_._ground.Ground`.
        start: (2,) start position, m.
        goal: (2,) goal position, m.
        free: free area, m2.
        iterations: number of samples.
        reach: maximum length of a line, m.
        bias: fraction of samples that are placed at the goal until it is reached.
        key: key of the stream of random numbers.
        tree: `Tree` with space for one node more than there are samples.
        counts: (1,), out: number of nodes.
    """
    half = 0.5 * ground.resolution
    wide, high = ground.clearance.shape[1] * ground.resolution, ground.clearance.shape[0] * ground.resolution
    apart = math.sqrt((goal[0] - start[0]) ** 2 + (goal[1] - start[1]) ** 2)
    tree.place[0, 0], tree.place[0, 1], tree.cost[0], tree.detour[0] = start[0], start[1], 0.0, apart
    count, end = 1, -1
    for i in range(iterations):
        shortest = tree.cost[end] if end >= 0 else np.inf
        x, y, area = goal[0], goal[1], free
        # Once a path is known, sample only in the ellipse of positions that can shorten it (informed RRT*).
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
        # The radius from algorithm 6, using the area of the ellipse and the number of nodes in it.
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
        # The new node becomes the parent of nearby nodes if this is cheaper.
        _rewire(ground, tree, near, new)
    counts[0] = count
    return end
