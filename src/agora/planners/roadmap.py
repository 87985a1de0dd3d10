"""A lazy roadmap of poses on cells, and the cheapest way through it: the planner inside the two called ``artplanner``.

Wellhausen and Hutter, "ArtPlanner: Robust Legged Robot Navigation in the Field", Field Robotics 3, 2023 (leggedrobotics/art_planner:
``prm_motion_cost``, ``sampler``, ``computeInverseSampleDensity``). Poses are drawn where the roadmap is thin, and kept if the robot
can stand there; those within ``edge`` of each other are joined; A* looks at an edge when its way is the cheapest so far; shortcuts
are tried at last.

Where it differs:
- Poses are (x, y, heading). Height, roll and pitch are left out: the map has decided what can be walked on (`agora.maps.ground`).
- The cost of an edge is the time of ``PathLengthObjective``. The learned cost of motion (energy, time, risk) needs the network and a
  height map.
- The density of the roadmap is that in square blocks, not a Gaussian blur; blocks lie along the robot's heading, so that a scene that
  is turned has the same roadmap. Draws come from a counted stream. Only what can be reached from the start is sampled.
- All poses within ``edge`` of each other are joined, which no number of neighbours thins out (PRM*, Karaman and Frazzoli 2011, joins
  fewer the more there are); longer edges, which upstream splits, are left out.
- Shortcuts are straight motions with an even turn, from pose to pose of the way. Upstream calls OMPL's simplifier.
- A start that is no valid pose is left to the valid pose that is reached soonest. Any heading that is not given is tried in 16 ways.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.scalar import HALF, ONE, TWO, TWO_PI, ZERO, sincos, wrap
from agora.core.state import Array, Floats, Ints
from agora.planners.stance import Ground, Pace, Stance, count_rough, edge_time, holds, is_way, travel_time
from agora.seeds import philox

_HEADINGS = 16
_STARTS = 1000  # upstream's n_iter
_FAR, _SLACK = np.float32(3e38), np.float32(1e-4)
_TO_UNIT = 1.0 / 4294967296.0  # 2**-32
_REACHED, _PASSED = np.uint8(1), np.uint8(2)
_NOBODY, _OPEN, _CLOSED = np.uint8(0), np.uint8(1), np.uint8(2)
_ROUNDS = 3


class Drawing(NamedTuple):
    """The settings of a roadmap.

    Attributes:
        key: key of the stream of its draws.
        density: poses per m2 of free ground.
        vertices: most poses.
        attempts: most draws for each pose.
        edge: length of the longest edge, m.
        start_radius: how far from a start that is no valid pose a valid one is looked for, m.
        goal_radius: distance to a goal that is no valid pose at which a pose will do, m.
    """

    key: np.uint64
    density: np.float32
    vertices: int
    attempts: int
    edge: np.float32
    start_radius: np.float32
    goal_radius: np.float32


class Graph(NamedTuple):
    """The poses of a roadmap, and what the search knows of each.

    Attributes:
        pose: (V, 3) poses.
        turn: (V, 2) sine and cosine of their headings.
        cost: (V,) time from the start, s.
        parent: (V,) pose before it, -1 for none.
        state: (V,) not seen, open or closed.
        failed: (V,) cost by way of the last parent from which no way led here.
        without: (V,) that parent.
        heap: (V,) open poses, the first in front.
        place: (V,) place of each in the heap.
        key: (V,) cost and what is left at least.
        first: (bins + 1,) first of each bin's poses in ``order``.
        order: (V,) poses, bin by bin; a bin is as wide as an edge is long.
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
def _up(graph, k):
    """Let an entry of the heap rise to its place."""
    vertex = graph.heap[k]
    while k > 0:
        above = (k - 1) // 2
        if graph.key[graph.heap[above]] <= graph.key[vertex]:
            break
        graph.heap[k] = graph.heap[above]
        graph.place[graph.heap[k]] = k
        k = above
    graph.heap[k] = vertex
    graph.place[vertex] = k


@hidden
def _pop(graph, size):
    """Take the first of a heap of ``size`` entries."""
    first, vertex = graph.heap[0], graph.heap[size - 1]
    k, size = 0, size - 1
    while 2 * k + 1 < size:
        below = 2 * k + 1
        if below + 1 < size and graph.key[graph.heap[below + 1]] < graph.key[graph.heap[below]]:
            below += 1
        if graph.key[vertex] <= graph.key[graph.heap[below]]:
            break
        graph.heap[k] = graph.heap[below]
        graph.place[graph.heap[k]] = k
        k = below
    if size > 0:
        graph.heap[k] = vertex
        graph.place[vertex] = k
    return first


@hidden
def _add(graph, count, x, y, heading):
    """Write a pose, and return the number of poses."""
    graph.pose[count, 0], graph.pose[count, 1], graph.pose[count, 2] = x, y, heading
    graph.turn[count, 0], graph.turn[count, 1] = sincos(heading)
    return count + 1


@hidden
def _add_valid(graph, count, ground, stance, x, y, heading):
    """Write a pose, or one with each of 16 headings, if they are valid; return the number of poses."""
    free = np.isnan(heading)
    for k in range(_HEADINGS if free else 1):
        angle = heading if not free else wrap(np.float32(k) * (TWO_PI / np.float32(_HEADINGS)))
        sine, cosine = sincos(angle)
        if holds(ground, stance, x, y, sine, cosine):
            count = _add(graph, count, x, y, angle)
    return count


@hidden
def _flood(ground, reached, queue, x, y):
    """Mark the cells that are not blocked and joined to a place by such; the place's own cell may be blocked."""
    rows, columns = reached.shape
    row, column = np.int64(np.floor(y / ground.cell)), np.int64(np.floor(x / ground.cell))
    if not (0 <= row < rows and 0 <= column < columns):
        return
    reached[row, column], queue[0] = _REACHED, row * columns + column
    head, tail = 0, 1
    while head < tail:
        row, column = queue[head] // columns, queue[head] % columns
        head += 1
        for side in range(4):
            i = row + (1 if side == 0 else -1 if side == 1 else 0)
            j = column + (1 if side == 2 else -1 if side == 3 else 0)
            if 0 <= i < rows and 0 <= j < columns and reached[i, j] == 0 and ground.blocked[i, j] == 0:
                reached[i, j] = _REACHED
                queue[tail] = i * columns + j
                tail += 1


@hidden
def _line_is_open(ground, x, y, to_x, to_y):
    """Return whether the cells on a line are not blocked."""
    steps = np.int64(np.ceil(2.0 * math.sqrt((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y)) / ground.cell)) + 1
    for k in range(steps + 1):
        share = np.float32(k) / np.float32(steps)
        row = np.int64(np.floor((y + share * (to_y - y)) / ground.cell))
        column = np.int64(np.floor((x + share * (to_x - x)) / ground.cell))
        if not (0 <= row < ground.blocked.shape[0] and 0 <= column < ground.blocked.shape[1]) or ground.blocked[row, column] != 0:
            return False
    return True


@hidden
def _escape(graph, drawing, ground, stance, pace, number, x, y, heading):
    """Write the valid pose that is soonest reached from one that is not; return the number of poses, 0 or 1."""
    known = not np.isnan(heading)
    own = heading if known else ZERO
    sine, cosine = sincos(own)
    best, found = _FAR, 0
    for k in range(_STARTS):
        a, b, c, _ = philox(drawing.key, number, k, 0, 1)
        away = drawing.start_radius * np.float32(math.sqrt(a * _TO_UNIT))
        up, along = sincos(wrap(own + TWO_PI * np.float32(b * _TO_UNIT)))
        turn = (np.float32(c * _TO_UNIT) - HALF) * (ONE if known else TWO_PI)
        dx, dy = away * along, away * up
        time = edge_time(pace, dx, dy, turn if known else ZERO, sine, cosine)
        if time < best and _line_is_open(ground, x, y, x + dx, y + dy):
            angle = wrap(own + turn)
            turned = sincos(angle)
            if holds(ground, stance, x + dx, y + dy, turned[0], turned[1]):
                best, found = time, 1
                _add(graph, 0, x + dx, y + dy, angle)
    return found


@hidden
def _find_blocks(ground, reached, inner, blocks, frame, block, across, reach):
    """Mark the blocks in which the middle of a robot may be, and return their number; other cells are no longer reached.

    A frame is its corner (x, y), the sine and cosine of its heading; blocks lie along it. With a ``reach`` above 0 only what is
    within it of the frame's middle counts. About the middle a square of half side ``inner`` cells must hold nothing blocked.
    """
    rows, columns = reached.shape
    found, cell, inverse = 0, ground.cell, ONE / block
    x, y, sine, cosine = frame
    middle, farthest = HALF * block * np.float32(across), reach * reach
    for i in range(rows):
        for j in range(columns):
            if reached[i, j] == 0:
                continue
            dx, dy = (np.float32(j) + HALF) * cell - x, (np.float32(i) + HALF) * cell - y
            u, v = cosine * dx + sine * dy, cosine * dy - sine * dx
            clear = reach <= ZERO or (u - middle) * (u - middle) + (v - middle) * (v - middle) <= farthest
            for k in range(max(i - inner, 0), min(i + inner + 1, rows) if clear else 0):
                for h in range(max(j - inner, 0), min(j + inner + 1, columns)):
                    clear = clear and ground.blocked[k, h] == 0
            if not clear:
                reached[i, j] = _PASSED
                continue
            k = np.int64(np.floor(v * inverse)) * across + np.int64(np.floor(u * inverse))
            if blocks[k] == 0:
                blocks[k] = np.uint8(1)
                found += 1
    return found


@hidden
def _draw(graph, count, drawing, ground, stance, number, reached, blocks, found, frame, heading, block, across):
    """Draw valid poses in every block until it has its number or draws are used up; return the number of poses."""
    rows, columns = reached.shape
    inverse = ONE / ground.cell
    x, y, sine, cosine = frame
    wanted = min(np.int64(np.ceil(drawing.density * block * block)), max(drawing.vertices // max(found, 1), 1))
    for n in range(blocks.size):
        last = min(count + wanted, graph.parent.size) if blocks[n] != 0 else count
        for tries in range(wanted * drawing.attempts):
            if count >= last:
                break
            a, b, c, _ = philox(drawing.key, number, n, tries, 0)
            u = (np.float32(n % across) + np.float32(a * _TO_UNIT)) * block
            v = (np.float32(n // across) + np.float32(b * _TO_UNIT)) * block
            px, py = x + cosine * u - sine * v, y + sine * u + cosine * v
            row, column = np.int64(np.floor(py * inverse)), np.int64(np.floor(px * inverse))
            if not (0 <= row < rows and 0 <= column < columns) or reached[row, column] != _REACHED:
                continue
            angle = wrap(heading + TWO_PI * np.float32(c * _TO_UNIT))
            turned = sincos(angle)
            if holds(ground, stance, px, py, turned[0], turned[1]):
                count = _add(graph, count, px, py, angle)
    return count


@hidden
def _sort(graph, count, edge, wide):
    """Put the poses into bins as wide as an edge is long, ``wide`` in a line."""
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
    """Let pose ``v`` have ``u`` before it if that is the cheapest way of those that have not failed; return the heap's size."""
    cost = graph.cost[u] + time
    tried = cost < graph.failed[v] or (cost == graph.failed[v] and u <= graph.without[v])
    if tried or cost >= graph.cost[v]:
        return size
    graph.cost[v], graph.parent[v], graph.key[v] = cost, u, cost + left
    if graph.state[v] == _NOBODY:
        graph.state[v], graph.heap[size], graph.place[v] = _OPEN, v, size
        size += 1
    _up(graph, graph.place[v])
    return size


@hidden
def _search(graph, count, starts, goals, target, drawing, ground, stance, pace, wide):
    """Return the pose at the goal that is cheapest to get to; -1 for none.

    Poses 0 to ``starts`` begin, those from there to ``goals`` are at the goal; where there are none, every pose within
    ``goal_radius`` of the ``target`` is.
    """
    edge, fastest = drawing.edge, max(pace.lon, pace.lat)
    near = ZERO if goals > starts else drawing.goal_radius
    size, high = 0, (graph.first.size - 1) // wide
    graph.failed[:count], graph.without[:count], graph.cost[:count] = -ONE, -1, _FAR
    graph.state[:count] = _NOBODY
    for v in range(starts):
        graph.cost[v], graph.parent[v], graph.key[v] = ZERO, -1, ZERO
        graph.state[v], graph.heap[size], graph.place[v] = _OPEN, v, size
        size += 1
    while size > 0:
        v = np.int64(_pop(graph, size))
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
def _shorten(way, count, ground, stance, pace):
    """Leave out poses of a way (count, 3) where a straight motion is valid and no slower; return how many are left."""
    for _ in range(_ROUNDS):
        i, before = 0, count
        while i < count - 2:
            along, best = ZERO, i
            for j in range(i + 1, count):
                a, b = way[j - 1], way[j]
                along += travel_time(pace, a[0], a[1], a[2], b[0], b[1], b[2])
                a = way[i]
                if j > i + 1 and travel_time(pace, a[0], a[1], a[2], b[0], b[1], b[2]) <= along + _SLACK:
                    if is_way(ground, stance, a[0], a[1], a[2], b[0], b[1], b[2]):
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


@kernel
def plan(drawing, cell, blocked, foothold, bodies, paces, start, goal, number, reach, out, counts, touching, first, last):
    """Write the cheapest ways of the rows ``first <= n < last``.

    Args:
        drawing: `Drawing`.
        cell: length of a cell, m.
        blocked: (N, rows, columns) uint8, as in `agora.planners.stance.Ground`.
        foothold: (N, rows, columns) uint8.
        bodies: (N, V, 2) corners of the torsos, m, and (N, 5) the numbers of a `agora.planners.stance.Stance`.
        paces: (N, 3) along, across, turning, m/s and rad/s.
        start: (N, 3) poses, m from the lower-left corner of cell [0, 0]; a heading that is NaN is free.
        goal: (N, 3) poses, likewise.
        number: (N,) int64, of the roadmap: another number is another draw.
        reach: (N,) distance from the start within which poses are drawn, in a frame along its heading, m; 0 for all cells.
        out: (N, K, 3) the ways; as many poses as fit.
        counts: (N,) number of poses of each; 0 for no way.
        touching: (N,) whether the start is no valid pose.
        first: first row.
        last: one after the last.
    """
    corners, sizes = bodies
    rows, columns = blocked.shape[1:]
    rough = np.zeros((rows + 1, columns + 1), np.int32)
    reached, queue = np.empty((rows, columns), np.uint8), np.empty(rows * columns, np.int32)
    room = drawing.vertices + 3 * _HEADINGS
    wide = np.int64(np.float32(columns) * cell / drawing.edge) + 1
    bins = (np.int64(np.float32(rows) * cell / drawing.edge) + 1) * wide
    floats, ints = np.empty((3, room), np.float32), np.empty((5, room), np.int32)
    graph = Graph(
        np.empty((room, 3), np.float32),
        np.empty((room, 2), np.float32),
        floats[0],
        ints[0],
        np.empty(room, np.uint8),
        floats[1],
        ints[1],
        ints[2],
        ints[3],
        floats[2],
        np.empty(bins + 1, np.int32),
        ints[4],
    )
    way = np.empty((room, 3), np.float32)
    for n in range(first, last):
        counts[n], touching[n] = 0, False
        ground = Ground(blocked[n], foothold[n], rough, cell)
        size = sizes[n]
        stance = Stance(corners[n, :, 0], corners[n, :, 1], size[0], size[1], size[2], size[3], size[4])
        pace = Pace(paces[n, 0], paces[n, 1], paces[n, 2])
        x, y, heading = start[n, 0], start[n, 1], start[n, 2]
        target = (goal[n, 0], goal[n, 1])
        count_rough(blocked[n], foothold[n], rough)
        reached[:] = 0
        _flood(ground, reached, queue, x, y)
        row, column = np.int64(np.floor(target[1] / cell)), np.int64(np.floor(target[0] / cell))
        if not (0 <= row < rows and 0 <= column < columns) or (reached[row, column] == 0 and drawing.goal_radius <= ZERO):
            continue
        starts = _add_valid(graph, 0, ground, stance, x, y, heading)
        if starts == 0:
            touching[n] = True
            starts = _escape(graph, drawing, ground, stance, pace, number[n], x, y, heading)
        goals = _add_valid(graph, starts, ground, stance, target[0], target[1], goal[n, 2])
        if starts == 0 or (goals == starts and drawing.goal_radius <= ZERO):
            continue
        inner, block, wide_open = size[5], size[6], reach[n] <= ZERO
        across = np.int64(np.ceil((np.float32(columns) * cell if wide_open else TWO * reach[n]) / block))
        lines = np.int64(np.ceil(np.float32(rows) * cell / block)) if wide_open else across
        own = ZERO if wide_open or np.isnan(heading) else heading
        sine, cosine = sincos(own)
        half = HALF * block * np.float32(across)
        corner_x = ZERO if wide_open else x - cosine * half + sine * half
        corner_y = ZERO if wide_open else y - sine * half - cosine * half
        frame = (corner_x, corner_y, sine, cosine)
        blocks = np.zeros(across * lines, np.uint8)
        some = _find_blocks(ground, reached, np.int64(inner / cell), blocks, frame, block, across, reach[n])
        count = _draw(graph, goals, drawing, ground, stance, number[n], reached, blocks, some, frame, own, block, across)
        _sort(graph, count, drawing.edge, wide)
        found = _search(graph, count, starts, goals, target, drawing, ground, stance, pace, wide)
        if found < 0:
            continue
        length, v = 0, found
        while v >= 0:
            length += 1
            v = np.int64(graph.parent[v])
        v = found
        for k in range(length - 1, -1, -1):
            way[k] = graph.pose[v]
            v = np.int64(graph.parent[v])
        length = min(_shorten(way, length, ground, stance, pace), out.shape[1])
        out[n, :length] = way[:length]
        counts[n] = length
