"""Paths around obstacles: homotopy classes of bands, and the search for new classes.

Rösmann, Hoffmann, Bertram, "Integrated online trajectory planning and optimization in distinctive topologies", RAS 88, 2017;
Bhattacharya, Kumar, Likhachev, "Search-based path planning with homotopy class constraints", AAAI 2010; based on teb_local_planner
(h_signature.h, graph_search.cpp, homotopy_class_planner.cpp).

The side on which a band passes an obstacle, left or right, is given by the sign of the angle that the band sweeps around the
obstacle, as seen from the obstacle while both move. Upstream integrates a magnetic field along the band in space and time
(H-signature in three dimensions): for an infinite conductor, this integral is the same angle, in turns, seen along the conductor.
As in upstream, the H-signature in two dimensions can be selected instead. It is a sum over obstacles of a factor times (the
logarithm of the distance plus i times this angle); it uses the current positions of obstacles, and counts how often a path winds
around an obstacle. Discs that the robot cannot pass between count as one obstacle.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import HALF, ONE, TWO_PI, ZERO, atan2, wrap
from agora.planners._bands.band import initialise
from agora.planners._bands.discs import MOMENT, MOMENTS

_FAR = np.float32(3e38)
_TINY = np.float32(1e-9)
_SHORT, _APART = np.float64(3.0), np.float64(0.05)
_CYCLE = 4096
_HORIZON = np.float32(MOMENTS) * MOMENT
PATHS = 200


@hidden
def _distance_to_segment(x, y, ax, ay, bx, by):
    """Return the distance from a point to the line segment from a to b."""
    dx, dy = bx - ax, by - ay
    t = min(max(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, _TINY), ZERO), ONE)
    ox, oy = ax + t * dx - x, ay + t * dy - y
    return math.sqrt(ox * ox + oy * oy)


@lean
def obstacles(still, standing, moving, movers, goal, width, order, out):
    """Write one point for each obstacle. Stationary discs less than ``width`` m apart form one obstacle, which is represented by
    the disc nearest to the line from the robot to the goal.

    Args:
        still: (S, 3) stationary discs; the first ``standing`` entries are valid.
        moving: moving discs, as in `agora.planners._bands.discs.gather`; the first ``movers`` entries are valid.
        goal: x and y of the goal.
        width: gap between stationary discs below which they form one obstacle, m.
        order: (S,) int32, scratch.
        out: (S + Q, 4) position of each obstacle, and its mean velocity up to the last predicted time.

    Returns:
        The number of obstacles.
    """
    for i in range(standing):
        order[i] = i
    count, done = 0, 0
    while done < standing:
        nearest, end = _FAR, done + 1
        while done < end:
            i = order[done]
            far = _distance_to_segment(still[i, 0], still[i, 1], ZERO, ZERO, goal[0], goal[1]) - still[i, 2]
            if far < nearest:
                nearest = far
                out[count, 0], out[count, 1], out[count, 2], out[count, 3] = still[i, 0], still[i, 1], ZERO, ZERO
            for k in range(end, standing):
                j = order[k]
                dx, dy, apart = still[j, 0] - still[i, 0], still[j, 1] - still[i, 1], still[i, 2] + still[j, 2] + width
                if dx * dx + dy * dy < apart * apart:
                    order[k], order[end] = order[end], j
                    end += 1
            done += 1
        count += 1
    for q in range(movers):
        far = moving.shape[1] - 2
        off_x, off_y = (moving[q, far], moving[q, far + 1]) if far > 3 else (ZERO, ZERO)
        out[count, 0], out[count, 1] = moving[q, 0], moving[q, 1]
        out[count, 2], out[count, 3] = moving[q, 2] + off_x / _HORIZON, moving[q, 3] + off_y / _HORIZON
        count += 1
    return count


@lean
def sweep(band, n, obstacle):
    """Return the angle, in turns, that a band sweeps around an obstacle (x, y, vx, vy), as seen from the obstacle; positive
    counter-clockwise.
    """
    time, total = ZERO, ZERO
    before = atan2(band[0, 1] - obstacle[1], band[0, 0] - obstacle[0])
    for i in range(1, n):
        time += band[i - 1, 3]
        x, y = band[i, 0] - obstacle[0] - time * obstacle[2], band[i, 1] - obstacle[1] - time * obstacle[3]
        angle = atan2(y, x)
        total += wrap(angle - before)
        before = angle
    return total / TWO_PI


@lean
def product(band, n, places, count, prescaler):
    """Return the two-dimensional H-signature of a band, as real and imaginary part, in float64.

    The signature is the sum over obstacles o_l of the change of A_l (ln |z - o_l| + i arg(z - o_l)) from the band's start to its
    end, where the angle is followed along the band. A_l = prescaler a (o_l - P) b (o_l - Q) / prod (o_l - o_j), where a + b =
    max(count - 1, 5); obstacles nearer than 0.05 m to o_l are left out of the product. P is to the right of the start and Q to the
    left of the end, at a distance equal to that between start and end; if the ends are less than 3 m apart, P is at (0, -3) m from
    the start, and Q is at (3, 3) m from the start.
    """
    most = max(count - 1, 5)
    scale = np.float64(prescaler) * np.float64((most + 1) // 2) * np.float64(most // 2)
    start_x, start_y = np.float64(band[0, 0]), np.float64(band[0, 1])
    end_x, end_y = np.float64(band[n - 1, 0]), np.float64(band[n - 1, 1])
    dx, dy = end_x - start_x, end_y - start_y
    px, py, qx, qy = start_x + dy, start_y - dx, end_x - dy, end_y + dx
    if dx * dx + dy * dy < _SHORT * _SHORT:
        px, py, qx, qy = start_x, start_y - _SHORT, start_x + _SHORT, start_y + _SHORT
    real, imaginary = np.float64(0.0), np.float64(0.0)
    for q in range(count):
        x, y = np.float64(places[q, 0]), np.float64(places[q, 1])
        a, b = scale * ((x - px) * (x - qx) - (y - py) * (y - qy)), scale * ((x - px) * (y - qy) + (y - py) * (x - qx))
        for j in range(count):
            u, v = x - np.float64(places[j, 0]), y - np.float64(places[j, 1])
            if j != q and u * u + v * v >= _APART * _APART:
                a, b = (a * u + b * v) / (u * u + v * v), (b * u - a * v) / (u * u + v * v)
        angle = np.float64(0.0)
        before = math.atan2(start_y - y, start_x - x)
        for i in range(1, n):
            now = math.atan2(np.float64(band[i, 1]) - y, np.float64(band[i, 0]) - x)
            turn = now - before
            angle += turn - 2.0 * math.pi * np.floor(turn / (2.0 * math.pi) + 0.5)
            before = now
        nearer = (start_x - x) * (start_x - x) + (start_y - y) * (start_y - y)
        long = 0.5 * math.log(((end_x - x) * (end_x - x) + (end_y - y) * (end_y - y)) / nearer)
        real, imaginary = real + a * long - b * angle, imaginary + a * angle + b * long
    return real, imaginary


@lean
def classify(band, n, places, count, signatures, known, rule):
    """Return the index of a band's class among the ``known`` classes, ``known`` for a new class, or -1 for a band without a class.

    Two bands belong to the same class if they pass every obstacle on the same side; obstacles around which either band sweeps less
    than the threshold are ignored. A band that sweeps more than one turn around an obstacle has no class. With products, two bands
    belong to the same class if neither the real nor the imaginary part differs by more than the threshold; a band through the
    centre of an obstacle has no class. The band's signature is written after the known signatures.

    Args:
        band: (n, 4) poses.
        n: number of poses in the band.
        places: (K, 4) obstacles, as written by `obstacles`; the first ``count`` entries are valid.
        signatures: (C + 1, K) float64 signatures of the known classes, K at least 2; the band's signature is added.
        known: number of known signatures.
        rule: threshold, which is in turns for sides; prescaler for products, or 0 for sides.
    """
    own, (threshold, prescaler) = signatures[known], rule
    if prescaler > ZERO:
        own[0], own[1] = product(band, n, places, count, prescaler)
        if not abs(own[0]) + abs(own[1]) < _FAR:
            return -1
        for c in range(known):
            if abs(own[0] - signatures[c, 0]) <= threshold and abs(own[1] - signatures[c, 1]) <= threshold:
                return c
        return known
    for q in range(count):
        own[q] = sweep(band, n, places[q])
        if abs(own[q]) > ONE:
            return -1
    for c in range(known):
        same = True
        for q in range(count):
            other = signatures[c, q]
            same &= abs(own[q]) < threshold or abs(other) < threshold or (own[q] > ZERO) == (other > ZERO)
        if same:
            return c
    return known


@hidden
def _radical_inverse(number, base):
    """Return element ``number`` of the van der Corput sequence: its digits mirrored at the radix point."""
    value, share = ZERO, ONE / np.float32(base)
    while number > 0:
        value += share * np.float32(number % base)
        number //= base
        share /= np.float32(base)
    return value


@lean
def scatter(goal_x, goal_y, width, scale, tick, samples, nodes):
    """Write the nodes of a roadmap: the robot, pairs of Halton points to the left and right of the line to the goal, and the goal.

    Each call uses the next points of the Halton sequence.

    Args:
        goal_x: x of the goal relative to the robot, m.
        goal_y: y of the goal relative to the robot, m.
        width: width of the area, m.
        scale: length of the area, as a multiple of the distance to the goal.
        tick: index of the call.
        samples: number of points.
        nodes: out, (samples + 2, 2) positions of the nodes, relative to the robot, m.
    """
    nodes[0, 0], nodes[0, 1] = ZERO, ZERO
    far = max(math.sqrt(goal_x * goal_x + goal_y * goal_y), _TINY)
    first = (tick % _CYCLE) * ((samples + 1) // 2)
    for k in range(samples):
        number = first + k // 2 + 1
        along = (HALF + scale * (_radical_inverse(number, 2) - HALF)) * far
        across = HALF * width * _radical_inverse(number, 3)
        across = -across if k % 2 == 1 else across
        nodes[k + 1, 0] = (along * goal_x - across * goal_y) / far
        nodes[k + 1, 1] = (along * goal_y + across * goal_x) / far
    nodes[samples + 1, 0], nodes[samples + 1, 1] = goal_x, goal_y


@lean
def connect(nodes, many, still, standing, moving, movers, clear, threshold, edges):
    """Write which pairs of nodes are connected, i.e. have an edge that leads towards the goal and stays ``clear`` m away from every
    disc.

    Args:
        nodes: (many, 2) positions of the nodes, relative to the robot, m.
        many: number of nodes.
        still: (S, 3) stationary discs; the first ``standing`` entries are valid.
        moving: moving discs at their current positions, as in `agora.planners._bands.discs.gather`; the first ``movers`` entries
            are valid.
        clear: distance from every disc, m.
        threshold: minimum cosine of the angle to the direction to the goal.
        edges: out, (many, many) bool.
    """
    goal_x, goal_y = nodes[many - 1, 0], nodes[many - 1, 1]
    far = max(math.sqrt(goal_x * goal_x + goal_y * goal_y), _TINY)
    for i in range(many):
        for j in range(many):
            edges[i, j] = False
            ax, ay, bx, by = nodes[i, 0], nodes[i, 1], nodes[j, 0], nodes[j, 1]
            dx, dy = bx - ax, by - ay
            long = math.sqrt(dx * dx + dy * dy)
            if i == many - 1 or j == 0 or (dx * goal_x + dy * goal_y) <= threshold * long * far:
                continue
            free = True
            for q in range(standing):
                if _distance_to_segment(still[q, 0], still[q, 1], ax, ay, bx, by) <= clear + still[q, 2]:
                    free = False
                    break
            for q in range(movers if free else 0):
                if _distance_to_segment(moving[q, 0], moving[q, 1], ax, ay, bx, by) <= clear + moving[q, 4]:
                    free = False
                    break
            edges[i, j] = free


@lean
def explore(nodes, many, edges, ends, guess, places, count, rule, bands, counts, known, most, roadmap, signatures):
    """Add bands of new classes along paths in the roadmap, depth first, until there are ``most`` bands.

    At most 200 paths are examined.

    Args:
        nodes: (many, 2) positions of the nodes, relative to the robot, m.
        many: number of nodes.
        edges: (many, many) whether two nodes are connected, as written by `connect`.
        ends: headings of the robot and of the goal, rad.
        guess: speed and turning rate of an initial guess, and the guess's minimum number of steps.
        places: (K, 4) obstacles, as written by `obstacles`; the first ``count`` entries are valid.
        rule: as in `classify`.
        bands: (C, M, 4) bands; the first ``known`` entries are valid.
        counts: (C,) number of poses in each band.
        most: maximum number of bands, up to C.
        roadmap: (3, many) int32, scratch for the path, and for the next node to try from each of the path's nodes.
        signatures: (C + 1, K) as in `classify`.

    Returns:
        The new number of bands.
    """
    path, following, visited = roadmap[0], roadmap[1], roadmap[2]
    visited[:many] = 0
    depth, tried = 0, 0
    path[0], following[0], visited[0] = 0, many - 1, 1
    while depth >= 0 and known < most and tried < PATHS:
        here, to = path[depth], following[depth]
        if to < 0:
            visited[here] = 0
            depth -= 1
            continue
        following[depth] = to - 1
        if not edges[here, to] or visited[to] == 1:
            continue
        if to == many - 1:
            tried += 1
            path[depth + 1] = to
            known += _add_band(nodes, path, depth + 2, ends, guess, places, count, rule, bands, counts, known, signatures)
            continue
        depth += 1
        path[depth], following[depth], visited[to] = to, many - 1, 1
    return known


@hidden
def _add_band(nodes, path, length, ends, guess, places, count, rule, bands, counts, known, signatures):
    """Add a band along a path in the roadmap after the known bands; return 1 if it belongs to a new class, otherwise 0."""
    band = bands[known]
    route = bands[known + 1]
    for k in range(length):
        route[k, 0], route[k, 1] = nodes[path[k], 0], nodes[path[k], 1]
    counts[known] = initialise(route, length, ends[0], ends[1], guess[0], guess[1], guess[2], band)
    return 1 if classify(band, counts[known], places, count, signatures, known, rule) == known else 0


@lean
def is_detour(band, n, best, best_n, tolerance, long, ratio):
    """Return whether a band starts in a different direction from the best band, or takes much longer; true if the band is too short
    to have a direction.

    Args:
        band: (n, 4) band.
        n: number of poses in the band.
        best: (best_n, 4) best band.
        best_n: number of poses in the best band.
        tolerance: maximum angle between the directions, rad.
        long: distance from the start at which the directions are measured, m.
        ratio: maximum ratio of the durations.
    """
    found, direction = _start_direction(band, n, long)
    best_found, best_direction = _start_direction(best, best_n, long)
    if not best_found:
        return False
    time, best_time = ZERO, ZERO
    for i in range(n - 1):
        time += band[i, 3]
    for i in range(best_n - 1):
        best_time += best[i, 3]
    return not found or abs(wrap(direction - best_direction)) > tolerance or time > ratio * max(best_time, ONE)


@hidden
def _start_direction(band, n, long):
    """Return whether a band leads at least ``long`` m away, and the direction of its first pose beyond that distance."""
    for i in range(n):
        if band[i, 0] * band[i, 0] + band[i, 1] * band[i, 1] > long * long:
            return True, atan2(band[i, 1], band[i, 0])
    return False, ZERO
