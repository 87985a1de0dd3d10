"""A lazy roadmap of poses on a grid of cells, and the cheapest path through it: the core of both planners named ``artplanner``.

Wellhausen and Hutter, "ArtPlanner: Robust Legged Robot Navigation in the Field", Field Robotics 3, 2023 (its code
leggedrobotics/art_planner: ``prm_motion_cost``, ``sampler``, ``computeInverseSampleDensity``). Poses are sampled where the roadmap
is sparse, and kept if the robot can stand there. Poses within ``edge`` of each other are connected. A* checks an edge once the path
over it is the cheapest so far. Finally, shortcuts are tried.

Differences from the source:
- Poses are (x, y, heading). Height, roll and pitch are left out, because the map defines the walkable ground (`agora.maps.ground`).
- The cost of an edge is the travel time, computed as in ``PathLengthObjective``. Upstream's learned cost of motion (energy, time,
  risk) would need its network and a height map.
- Upstream samples positions with a probability that falls with the local density of the roadmap. In this module, poses are sampled
  in each block of the ground until the block has its number of poses, so that narrow places have as many poses as wide ones, or
  until ``attempts`` samples per pose have been used up. Blocks are aligned with the robot's heading, so that a rotated scene has
  the same roadmap. The random numbers come from a counter-based stream. Only the part of the ground that can be reached from the
  start is used.
- All poses within ``edge`` of each other are connected. PRM* (Karaman and Frazzoli 2011) connects poses within a distance that
  shrinks as the number of poses grows. Longer edges, which upstream splits, are left out.
- Shortcuts are straight-line motions with a constant rotation rate between poses of the path. Upstream calls OMPL's simplifier.
- From a start that is not a valid pose, the path leads to the valid pose that can be reached fastest. If the heading of the start
  or the goal is missing, the heading of the other end and 16 further headings are tried.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.scalar import HALF, ONE, TWO, TWO_PI, ZERO, sincos, wrap
from agora.planners._roadmaps.graph import Graph, add, search, shorten, sort
from agora.planners._roadmaps.stance import Ground, Pace, Stance, count_rough, edge_time, is_valid_stance
from agora.seeds import philox

_HEADINGS = 16
_STARTS = 1000  # upstream's n_iter
_FAR = np.float32(3e38)
_TO_UNIT = 1.0 / 4294967296.0  # 2**-32
_REACHED, _PASSED = np.uint8(1), np.uint8(2)


class Drawing(NamedTuple):
    """The settings for a roadmap.

    Attributes:
        key: key of the stream of random numbers.
        density: number of poses per m2 in a block.
        vertices: maximum number of poses.
        attempts: maximum number of samples drawn for each pose.
        edge: maximum length of an edge, m.
        start_radius: distance from an invalid start within which a valid pose is searched for, m.
        goal_radius: distance from an invalid goal within which a pose is accepted, m.
    """

    key: np.uint64
    density: np.float32
    vertices: int
    attempts: int
    edge: np.float32
    start_radius: np.float32
    goal_radius: np.float32


@hidden
def _add_valid(graph, count, ground, stance, x, y, heading, other):
    """Add a pose if it is valid; if its heading is free, add poses with the ``other`` heading, if known, and with 16 further
    headings. Return the number of poses.
    """
    free = np.isnan(heading)
    for k in range(_HEADINGS + 1 if free else 1):
        angle = heading
        if free:
            angle = other if k == 0 else wrap(np.float32(k) * (TWO_PI / np.float32(_HEADINGS)))
        if np.isnan(angle):
            continue
        sine, cosine = sincos(angle)
        if is_valid_stance(ground, stance, x, y, sine, cosine):
            count = add(graph, count, x, y, angle)
    return count


@hidden
def _flood(ground, reached, queue, x, y):
    """Mark the free cells that are connected to a position by free cells; the position's own cell may be blocked."""
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
    """Return whether all cells on a line are free."""
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
    """Add the valid pose that can be reached fastest from an invalid pose; return the number of poses, 0 or 1."""
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
            if is_valid_stance(ground, stance, x + dx, y + dy, turned[0], turned[1]):
                best, found = time, 1
                add(graph, 0, x + dx, y + dy, angle)
    return found


@hidden
def _find_blocks(ground, reached, inner, blocks, frame, block, across, reach):
    """Mark the blocks in which the robot's centre may be, and return their number; cells outside these blocks no longer count as
    reached.

    The frame, with which blocks are aligned, is given by its corner (x, y) and the sine and cosine of its heading. If ``reach`` is
    above 0, only the part within ``reach`` of the frame's centre is used. A square around the robot's centre, which extends
    ``inner`` cells to each side, must be free.
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
    """Sample valid poses in every block until the block has its number of poses or the samples are used up; return the number of
    poses.
    """
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
            if is_valid_stance(ground, stance, px, py, turned[0], turned[1]):
                count = add(graph, count, px, py, angle)
    return count


@kernel
def plan(drawing, cell, blocked, foothold, bodies, paces, start, goal, number, reach, out, counts, touching, first, last):
    """Write the cheapest paths of the rows ``first <= n < last``.

    Args:
        drawing: `Drawing`.
        cell: length of a cell, m.
        blocked: (N, rows, columns) uint8, as in `agora.planners._roadmaps.stance.Ground`.
        foothold: (N, rows, columns) uint8, as in `agora.planners._roadmaps.stance.Ground`.
        bodies: (N, V, 2) corners of the torsos, m, and the (N, 7) sizes from `agora.planners._roadmaps.stance.bodies`.
        paces: (N, 3) speeds along and across the robot, and turning rates, m/s and rad/s.
        start: (N, 3) start poses, m from the lower-left corner of cell [0, 0], and rad; NaN stands for a free heading.
        goal: (N, 3) goal poses, in the same form.
        number: (N,) int64 number of the roadmap; different numbers give different samples.
        reach: (N,) distance from the start within which poses are sampled, in a frame aligned with the start's heading, m; 0 for
            all cells.
        out: (N, K, 3), out: the paths, with as many poses as fit.
        counts: (N,), out: number of poses of each path; 0 if there is no path.
        touching: (N,), out: whether the start is not a valid pose.
        first: first row.
        last: one past the last row.
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
        size = sizes[n]
        ground = Ground(blocked[n], foothold[n], rough, cell, size[0] if reach[n] == ZERO else ZERO)
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
        starts = _add_valid(graph, 0, ground, stance, x, y, heading, goal[n, 2])
        if starts == 0:
            touching[n] = True
            starts = _escape(graph, drawing, ground, stance, pace, number[n], x, y, heading)
        goals = _add_valid(graph, starts, ground, stance, target[0], target[1], goal[n, 2], heading)
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
        sort(graph, count, drawing.edge, wide)
        found = search(graph, count, starts, goals, target, drawing, ground, stance, pace, wide)
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
        length = min(shorten(way, length, ground, stance, pace), out.shape[1])
        out[n, :length] = way[:length]
        counts[n] = length
