"""The poses of a roadmap, and the lazy search over them: an edge is only checked once the path over it is the cheapest so far."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.heap import move_up, pop_item
from agora.core.jit import hidden
from agora.core.scalar import ONE, ZERO, sincos, wrap
from agora.core.state import Array, Floats, Ints
from agora.planners._roadmaps.stance import edge_time, is_way, travel_time

_FAR, _SLACK = np.float32(3e38), np.float32(1e-4)
_NOBODY, _OPEN, _CLOSED = np.uint8(0), np.uint8(1), np.uint8(2)
_ROUNDS = 3


class Graph(NamedTuple):
    """The poses of a roadmap, and the search data of each pose.

    Attributes:
        pose: (V, 3) poses, m and rad.
        turn: (V, 2) sine and cosine of the headings.
        cost: (V,) time from the start, s.
        parent: (V,) previous pose, -1 if there is none.
        state: (V,) whether a pose is unseen, open or closed.
        failed: (V,) cost of the path via the last parent whose edge turned out to be invalid.
        without: (V,) index of that parent.
        heap: (V,) open poses, as a heap from `agora.core.heap`.
        place: (V,) position of each pose in the heap.
        key: (V,) cost plus a lower bound on the remaining cost.
        first: (bins + 1,) index in ``order`` of each bin's first pose.
        order: (V,) poses, sorted by bin; the width of a bin is the maximum length of an edge.
    """

    pose: Floats
    turn: Floats
    cost: Floats
    parent: Ints
    state: Array
    failed: Floats
    without: Ints
    heap: Ints
    place: Ints
    key: Floats
    first: Ints
    order: Ints


@hidden
def add(graph, count, x, y, heading):
    """Add a pose, and return the new number of poses."""
    graph.pose[count, 0], graph.pose[count, 1], graph.pose[count, 2] = x, y, heading
    graph.turn[count, 0], graph.turn[count, 1] = sincos(heading)
    return count + 1


@hidden
def sort(graph, count, edge, wide):
    """Sort the poses into bins whose width is the maximum length of an edge, ``wide`` bins per row."""
    first = graph.first
    first[:] = 0
    for v in range(count):
        first[np.int64(graph.pose[v, 1] / edge) * wide + np.int64(graph.pose[v, 0] / edge) + 1] += 1
    for k in range(first.size - 1):
        first[k + 1] += first[k]
    for v in range(count):
        k = np.int64(graph.pose[v, 1] / edge) * wide + np.int64(graph.pose[v, 0] / edge)
        graph.order[first[k]] = v
        first[k] += 1
    for k in range(first.size - 1, 0, -1):
        first[k] = first[k - 1]
    first[0] = 0


@hidden
def _offer(graph, u, v, time, left, size):
    """Make ``u`` the parent of pose ``v`` if the path via ``u`` is the cheapest that has not failed; return the size of the
    heap.
    """
    cost = graph.cost[u] + time
    tried = cost < graph.failed[v] or (cost == graph.failed[v] and u <= graph.without[v])
    if tried or cost >= graph.cost[v]:
        return size
    graph.cost[v], graph.parent[v], graph.key[v] = cost, u, cost + left
    if graph.state[v] != _NOBODY:
        move_up(graph.key, graph.heap, graph.place, v, graph.place[v])
        return size
    graph.state[v] = _OPEN
    move_up(graph.key, graph.heap, graph.place, v, size)
    return size + 1


@hidden
def search(graph, count, starts, goals, target, drawing, ground, stance, pace, wide):
    """Return the index of the cheapest pose at the goal, or -1 if no such pose is reached.

    Poses with an index below ``starts`` are starts, and poses with an index from ``starts`` to below ``goals`` are at the goal. If
    there are no goal poses, every pose within ``goal_radius`` of the ``target`` counts as being at the goal.
    """
    edge, fastest = drawing.edge, max(pace.lon, pace.lat)
    near = ZERO if goals > starts else drawing.goal_radius
    size, high = 0, (graph.first.size - 1) // wide
    graph.failed[:count], graph.without[:count], graph.cost[:count] = -ONE, -1, _FAR
    graph.state[:count] = _NOBODY
    for v in range(starts):
        graph.cost[v], graph.parent[v], graph.key[v] = ZERO, -1, ZERO
        graph.state[v] = _OPEN
        move_up(graph.key, graph.heap, graph.place, v, size)
        size += 1
    while size > 0:
        v = np.int64(pop_item(graph.key, graph.heap, graph.place, size))
        size -= 1
        x, y, heading = graph.pose[v, 0], graph.pose[v, 1], graph.pose[v, 2]
        u = graph.parent[v]
        is_there = u < 0 or is_way(ground, stance, graph.pose[u, 0], graph.pose[u, 1], graph.pose[u, 2], x, y, heading)
        if is_there:
            graph.state[v] = _CLOSED
            away = math.sqrt((target[0] - x) * (target[0] - x) + (target[1] - y) * (target[1] - y))
            if starts <= v < goals or (goals == starts and away <= near):
                return v
        else:
            graph.failed[v], graph.without[v], graph.cost[v], graph.state[v] = graph.cost[v], u, _FAR, _NOBODY
        row, column = np.int64(y / edge), np.int64(x / edge)
        for i in range(max(row - 1, 0), min(row + 2, high)):
            for k in range(graph.first[i * wide + max(column - 1, 0)], graph.first[i * wide + min(column + 1, wide - 1) + 1]):
                w = np.int64(graph.order[k])
                dx, dy = graph.pose[w, 0] - x, graph.pose[w, 1] - y
                if dx * dx + dy * dy > edge * edge or w == v:
                    continue
                if is_there and graph.state[w] != _CLOSED:
                    turn = wrap(graph.pose[w, 2] - heading)
                    time = edge_time(pace, dx, dy, turn, graph.turn[v, 0], graph.turn[v, 1])
                    ax, ay = target[0] - graph.pose[w, 0], target[1] - graph.pose[w, 1]
                    left = max(math.sqrt(ax * ax + ay * ay) - near, ZERO) / fastest
                    size = _offer(graph, v, w, time, left, size)
                elif not is_there and graph.state[w] == _CLOSED:
                    turn = wrap(heading - graph.pose[w, 2])
                    time = edge_time(pace, -dx, -dy, turn, graph.turn[w, 0], graph.turn[w, 1])
                    ax, ay = target[0] - x, target[1] - y
                    left = max(math.sqrt(ax * ax + ay * ay) - near, ZERO) / fastest
                    size = _offer(graph, w, v, time, left, size)
    return -1


@hidden
def shorten(way, count, ground, stance, pace):
    """Remove the poses of a path (count, 3) that a valid straight motion can skip without taking longer; return the number of poses
    left.
    """
    for _ in range(_ROUNDS):
        i, before = 0, count
        while i < count - 2:
            along, best = ZERO, i
            for j in range(i + 1, count):
                a, b = way[j - 1], way[j]
                along += travel_time(pace, a[0], a[1], a[2], b[0], b[1], b[2])
                a = way[i]
                is_sooner = j > i + 1 and travel_time(pace, a[0], a[1], a[2], b[0], b[1], b[2]) <= along + _SLACK
                if is_sooner and is_way(ground, stance, a[0], a[1], a[2], b[0], b[1], b[2]):
                    best = j
            if best > i + 1:
                for j in range(best, count):
                    for axis in range(3):
                        way[i + 1 + j - best, axis] = way[j, axis]
                count -= best - i - 1
            i += 1
        if count == before:
            break
    return count
