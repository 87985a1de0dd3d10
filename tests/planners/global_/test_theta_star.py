"""Theta*: against an exact visibility graph, the paths of A* and a plain twin."""

import heapq
import itertools
import math

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from agora.errors import InputError
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners.global_.astar import AStar
from agora.planners.global_.theta_star import ThetaStar, _turns

SCENES = {
    "one": ([[[1, 1], [3, 1.4], [2.5, 4], [0.7, 3]]], (-2.0, -1.1, 5.6, 5.3)),
    "three": (
        [[[0, 0], [2, 0.3], [1.6, 1.9]], [[3, 1.2], [4.4, 0.9], [4.9, 3.6], [3.4, 3.1]], [[0.4, 3.0], [2.2, 2.9], [1.5, 4.6]]],
        (-1.7, -1.1, 6.3, 5.6),
    ),
    "gate": ([[[2, -1], [2.4, -1], [2.4, 1.6], [2, 1.6]], [[2, 2.7], [2.4, 2.7], [2.4, 6], [2, 6]]], (-1.3, -1.0, 5.5, 5.2)),
}
WAYS = [((-0.93, 0.52), (5.17, 4.03)), ((4.98, 0.31), (-0.71, 4.44)), ((0.31, -0.62), (2.71, 4.83))]


def inflated(polygon, radius):
    """Convex outline of a disc's centre about a convex polygon, counter-clockwise, its arcs in steps of 5 degrees at least."""
    corners = np.array(polygon, float)
    edges = np.roll(corners, -1, axis=0) - corners
    if edges[0, 0] * edges[1, 1] - edges[0, 1] * edges[1, 0] < 0:
        return inflated(corners[::-1], radius)
    normals = np.unwrap(np.arctan2(-edges[:, 0], edges[:, 1]))
    points = []
    for k, corner in enumerate(corners):
        first, last = normals[k - 1], normals[k]
        last += 2 * math.pi * (last < first - 1e-9)
        angles = np.linspace(first, last, max(int((last - first) / math.radians(5)), 1) + 1)
        points.append(corner + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1))
    return np.vstack(points)


def shortest(polygons, radius, start, goal):
    """Length of the shortest path of a disc among convex polygons, by the visibility graph of their outlines."""
    outlines = [inflated(p, radius) for p in polygons]
    nodes = np.vstack([[start, goal], *outlines])
    p, q = nodes[:, None], nodes[None]
    seen = np.ones((len(nodes),) * 2, bool)
    for outline in outlines:
        enter, leave = np.zeros_like(seen, float), np.ones_like(seen, float)
        for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
            normal = np.array([b[1] - a[1], a[0] - b[0]])
            if not normal.any():
                continue
            normal /= np.hypot(*normal)
            here, there = (p - a) @ normal + 1e-7, (q - a) @ normal + 1e-7
            with np.errstate(divide="ignore", invalid="ignore"):
                cut = here / (here - there)
            enter = np.where((here > 0) & (there <= 0), np.maximum(enter, cut), enter)
            leave = np.where((here <= 0) & (there > 0), np.minimum(leave, cut), leave)
            leave = np.where((here > 0) & (there > 0), -1.0, leave)
        seen &= ~(leave - enter > 1e-6)
    lengths = np.where(seen, np.hypot(*np.moveaxis(p - q, 2, 0)), 0.0)
    return dijkstra(lengths, directed=False, indices=0)[1]


def find(planner, m, start, goal, radius, cost=None):
    return planner.path(PathRequest(m, np.append(start, np.nan), np.append(goal, np.nan), radius, cost=cost))


def length(path):
    return np.linalg.norm(np.diff(path.astype(float), axis=0), axis=1).sum()


def test_the_visibility_graph_knows_the_tangents_about_a_square():
    square, gap = [[-1, -1], [1, -1], [1, 1], [-1, 1]], 0.5
    assert shortest([square], gap, [-4, 1.5], [4, 1.5]) == pytest.approx(8.0, abs=1e-6)
    over = shortest([square], gap, [0, -4], [0, 4])
    # by the tangent to the arc about a corner, the arc, and along the side
    reach, angle = math.sqrt(1 + 9 - gap**2), math.atan2(1, 3) + math.asin(gap / math.sqrt(10))
    assert over == pytest.approx(2 * (reach + gap * angle + 1), abs=1e-3)


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(("resolution", "radius"), [(0.1, 0.25), (0.05, 0.3), (0.05, 0.07)])
def test_paths_are_hardly_longer_than_the_shortest_and_never_shorter_or_longer_than_a_stars(scene, resolution, radius):
    polygons, bounds = SCENES[scene]
    m = Map.from_shapes(polygons=polygons, bounds=bounds, resolution=resolution)
    for start, goal in WAYS:
        exact = shortest(polygons, radius, start, goal)
        path = find(ThetaStar(factor=0.0), m, start, goal, radius)
        np.testing.assert_allclose(path[[0, -1]], [start, goal], atol=1e-5)
        assert exact - 0.1 * resolution < length(path) < exact * 1.005 + 1.0 * resolution
        assert length(path) <= length(find(AStar(factor=0.0, smooth=False), m, start, goal, radius)) + 1e-5


def test_an_open_field_is_crossed_straight():
    straight = find(ThetaStar(), Map.open((1, -4), (9, 3), resolution=0.1), [1.53, -3.21], [8.21, 2.4], 0.3)
    assert length(straight) == pytest.approx(math.hypot(6.68, 5.61), rel=1e-5)
    assert np.linalg.norm(np.diff(straight, axis=0), axis=1).max() < 0.1 + 1e-5


def line_cost(field, columns, least, a, b):
    """Cost of a line between the centres of two cells."""
    (y0, x0), (y1, x1) = divmod(a, columns), divmod(b, columns)
    count, total = 2 * max(abs(x1 - x0), abs(y1 - y0)), 0.0
    for i in range(count):
        x, y = (p + (i + 0.5) / count * (q - p) for p, q in ((x0, x1), (y0, y1)))
        column, row = min(int(x), columns - 2), min(int(y), len(field) - 2)
        u, v = x - column, y - row
        if np.array([1 - v, v]) @ field[row : row + 2, column : column + 2, 0] @ [1 - u, u] <= least:
            return math.inf
        total += field[int(y + 0.501), int(x + 0.501), 1]
    return total * math.hypot(x1 - x0, y1 - y0) / count


def twin(field, first, last, least):
    """The cost of the path, in plain Python."""
    rows, columns = field.shape[:2]

    def line(a, b):
        return line_cost(field, columns, least, a, b)

    def ahead(a):
        return math.hypot(a // columns - last // columns, a % columns - last % columns)

    walked, parent, closed, queue = {first: 0.0}, {first: first}, set(), [(0.0, first)]
    while queue:
        _, cell = heapq.heappop(queue)
        if cell == last:
            return walked[last]
        if cell in closed:
            continue
        closed.add(cell)
        row, column = divmod(cell, columns)
        for r in range(max(row - 1, 0), min(row + 2, rows)):
            for c in range(max(column - 1, 0), min(column + 2, columns)):
                other = r * columns + c
                if other in closed or field[r, c, 0] <= least:
                    continue
                known = walked.get(other, math.inf)
                direct, through = (walked[source] + line(source, other) for source in (cell, parent[cell]))
                best, source = (direct, cell) if direct < known else (known, None)
                if through < (best * 1.00001 if source == cell else best):
                    best, source = through, parent[cell]
                if source is not None:
                    walked[other], parent[other] = best, source
                    heapq.heappush(queue, (best + ahead(other), other))
    return math.inf


def test_the_search_pays_what_its_plain_twin_pays(rng):
    found = 0
    for _ in range(8):
        field = (rng.random((15, 19, 2)) + [0, 1]).astype(np.float32)
        first, last = (int(n) for n in rng.choice(np.flatnonzero(field[..., 0] > 0.3), 2, replace=False))
        expected = twin(field.astype(float), first, last, 0.3)
        ends = np.array([[first % 19, first // 19], [last % 19, last // 19]], float)
        turns = _turns(field, ends, first, last, 0.3, 1.0)
        assert (turns is None) == math.isinf(expected)
        if turns is not None:
            found += 1
            way = [first, *turns, last]
            paid = sum(line_cost(field.astype(float), 19, 0.3, int(a), int(b)) for a, b in itertools.pairwise(way))
            assert paid == pytest.approx(expected, rel=1e-5)
    assert found >= 4


def test_costs_of_layers_are_gone_around_and_walls_never_leak():
    m = Map.open((0, 1), (8, 7), resolution=0.1)
    cost = np.zeros(m.shape, np.uint8)
    cost[20:38, 35:45] = 200
    path = find(ThetaStar(), m, [1.0, 3.9], [7.0, 3.8], 0.3, cost)
    assert cost[m.cell_of(path)].max() == 0 and length(path) < 6.4
    slanted = Map.from_shapes(segments=[[-1, 0.2, 6, 3.9]], bounds=(0, 0, 5, 4.5), resolution=0.1)
    for radius in (0.0, 0.04):
        assert find(ThetaStar(), slanted, [0.7, 3.1], [4.1, 0.9], radius) is None


def test_a_start_at_a_wall_an_end_beside_one_and_one_cell():
    m = Map.from_shapes(segments=[[2, 0.0, 2, 5]], bounds=(0, 0, 4, 7), resolution=0.1)
    for x, side in ((1.93, -1), (2.07, 1)):
        path = find(ThetaStar(), m, [x, 1.23], [2 + side * 1.5, 0.87], 0.3)
        assert (np.sign(path[:, 0] - 2) == side).all() and length(path) < 2.5
    beside = find(ThetaStar(), m, [1.68, 1.0], [1.66, 4.2], 0.3)
    np.testing.assert_allclose(beside[[0, -1]], [[1.68, 1.0], [1.66, 4.2]], atol=1e-6)
    assert m.clearance_at(beside[3:-3]).min() > 0.3
    near = find(ThetaStar(), m, [1.02, 2.03], [1.07, 2.06], 0.3)
    np.testing.assert_allclose(near[[0, -1]], [[1.02, 2.03], [1.07, 2.06]], atol=1e-6)
    assert find(ThetaStar(), m, [1.0, 1.0], [2.1, 3.0], 0.3) is None
    assert find(ThetaStar(), m, [1.0, 1.0], [4.1, 3.0], 0.3) is None


@pytest.mark.parametrize("fields", [{"neutral": 0.0}, {"spacing": 0.0}, {"factor": -0.1}, {"cost_scaling": math.nan}])
def test_parameters_that_make_no_sense_are_refused(fields):
    with pytest.raises(InputError, match=next(iter(fields))):
        ThetaStar(**fields)
