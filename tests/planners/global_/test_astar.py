"""Global planners: cheapest against an oracle, clearance kept, shapes with known answers."""

import math

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from agora.costmap.inflation import cost_of
from agora.errors import InputError
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners.global_.astar import AStar, geodesic, geodesic_length
from agora.planners.global_.dijkstra import Dijkstra
from agora.planners.global_.search import costs_from, pull, resample, search

STEPS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]


def oracle(factor, start):
    """Costs (rows, columns) of the cheapest ways from a cell, by SciPy."""
    rows, columns = factor.shape
    free = np.isfinite(factor)
    edges = []
    for r, c in np.argwhere(free):
        for dr, dc in STEPS:
            r2, c2 = r + dr, c + dc
            if 0 <= r2 < rows and 0 <= c2 < columns and free[r2, c2] and free[r, c2] and free[r2, c]:
                edges.append((r * columns + c, r2 * columns + c2, math.hypot(dr, dc) * (factor[r, c] + factor[r2, c2]) / 2))
    a, b, cost = zip(*edges, strict=True)
    return dijkstra(coo_matrix((cost, (a, b)), shape=(factor.size,) * 2).tocsr(), indices=start).reshape(factor.shape)


def cost_along(factor, numbers):
    r, c = np.divmod(numbers, factor.shape[1])
    assert (np.maximum(abs(np.diff(r)), abs(np.diff(c))) == 1).all()
    diagonal = np.diff(r) * np.diff(c) != 0
    assert np.isfinite(factor[r[:-1], c[1:]])[diagonal].all()
    assert np.isfinite(factor[r[1:], c[:-1]])[diagonal].all()
    values = factor[r, c].astype(float)
    return (np.hypot(np.diff(r), np.diff(c)) * (values[1:] + values[:-1]) / 2).sum()


@pytest.mark.parametrize("guided", [True, False])
@pytest.mark.parametrize("spread", [0.0, 0.3, 40.0])
def test_a_path_costs_what_scipys_dijkstra_says(rng, guided, spread):
    found = 0
    for _ in range(12):
        factor = (1 + spread * rng.random((23, 31))).astype(np.float32)
        factor[rng.random((23, 31)) < 0.3] = np.inf
        start, goal = (int(n) for n in rng.choice(np.flatnonzero(np.isfinite(factor)), 2, replace=False))
        best = oracle(factor, start).flat[goal]
        numbers = search(factor, start, goal, guided=guided)
        assert (numbers is None) == np.isinf(best)
        if numbers is not None:
            found += 1
            assert (numbers[0], numbers[-1]) == (start, goal)
            assert cost_along(factor, numbers) == pytest.approx(best, rel=1e-5)
    assert found >= 4


def test_the_nearest_exit_is_found(rng):
    factor = (1 + rng.random((19, 27))).astype(np.float32)
    factor[rng.random((19, 27)) < 0.2] = np.inf
    factor[9, 13] = 1.0
    exits = (rng.random((19, 27)) < 0.02) & np.isfinite(factor)
    best = oracle(factor, 9 * 27 + 13)[exits].min()
    numbers = search(factor, 9 * 27 + 13, -1, exits, guided=False)
    assert exits.flat[numbers[-1]]
    assert cost_along(factor, numbers) == pytest.approx(best, rel=1e-5)


def test_costs_to_all_that_is_nearer_are_scipys_and_no_more_to_the_rest(rng):
    factor = (1 + rng.random((19, 27))).astype(np.float32)
    factor[rng.random((19, 27)) < 0.3] = np.inf
    factor[9, 13] = 1.0
    best, until = oracle(factor, 9 * 27 + 13), np.zeros((19, 27), np.bool_)
    all_of_them = costs_from(factor, 9 * 27 + 13, until)
    np.testing.assert_allclose(all_of_them, best, rtol=1e-5)
    until[2:4, 20:23] = True
    costs, edge = costs_from(factor, 9 * 27 + 13, until), best[until].min()
    assert np.isfinite(edge) and (best > edge).any() and np.isinf(best).any()
    np.testing.assert_allclose(costs[best < edge], best[best < edge], rtol=1e-5)
    rest = np.isfinite(factor) & (best >= edge)
    np.testing.assert_allclose(costs[rest], edge, rtol=1e-5)
    assert np.isinf(costs[~np.isfinite(factor)]).all()


def test_two_searches_give_the_same_path():
    factor = np.ones((40, 57), np.float32)
    np.testing.assert_array_equal(search(factor, 3, 39 * 57 + 50), search(factor, 3, 39 * 57 + 50))


def find(planner, m, start, goal, radius):
    return planner.path(PathRequest(m, np.append(start, np.nan), np.append(goal, np.nan), radius))


def length(path):
    return np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


def cluttered(rng):
    return Map("clutter", 0.1, (-3.2, 5.7), rng.random((70, 90)) < 0.012, discs=[[1.0, 9.0, 0.5]])


@pytest.mark.parametrize("planner", [AStar(), AStar(smooth=False), AStar(factor=0.0), Dijkstra(spacing=0.25)])
def test_paths_keep_the_clearance_the_spacing_and_their_ends(rng, planner):
    m = cluttered(rng)
    free = m.centre_of(*np.nonzero(m.clearance > 0.35))
    found = 0
    for _ in range(20):
        start, goal = free[rng.choice(len(free), 2)] + rng.uniform(-0.04, 0.04, (2, 2))
        path = find(planner, m, start, goal, 0.2)
        if path is None:
            continue
        found += 1
        assert path.dtype == np.float32
        np.testing.assert_allclose(path[[0, -1]], [start, goal], atol=1e-5)
        assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() <= planner.spacing + 1e-5
        assert m.clearance_at(resample(path.astype(float), 0.01)).min() > 0.2 - 0.005
    assert found > 10


def test_astar_and_dijkstra_pay_the_same_and_smoothing_never_pays_more(rng):
    m = cluttered(rng)

    def price(path):
        fine = resample(path.astype(float), 0.004)
        cost = 1 + 0.8 / 50 * cost_of(m.clearance_at(0.5 * (fine[1:] + fine[:-1])), 0.2, 1.0, 5.0).astype(float)
        return (cost * np.linalg.norm(np.diff(fine, axis=0), axis=1)).sum()

    start, goal = [-2.9, 6.1], [5.5, 12.4]
    rough, dijkstra_rough = (find(p, m, start, goal, 0.2) for p in (AStar(smooth=False), Dijkstra(smooth=False)))
    assert price(rough) == pytest.approx(price(dijkstra_rough), rel=0.01)
    smooth = find(AStar(), m, start, goal, 0.2)
    assert price(smooth) <= price(rough) * 1.005
    assert length(smooth) < length(rough)


def test_an_open_field_is_crossed_straight():
    m = Map.open((1.0, -4.0), (9.0, 3.0), resolution=0.1)
    start, goal = np.array([1.53, -3.21]), np.array([8.21, 2.4])
    path = find(AStar(), m, start, goal, 0.3)
    assert length(path) == pytest.approx(np.hypot(*(goal - start)), rel=1e-5)


def around_a_tip(start, goal, tip, radius):
    """Length of the taut string about a disc of the radius at a wall's tip: two tangents and an arc."""
    legs, angles = [], []
    for p in (np.array(start) - tip, np.array(goal) - tip):
        legs.append(math.sqrt(p @ p - radius**2))
        angles.append((math.atan2(p[1], p[0]), math.acos(radius / math.hypot(*p))))
    turn = (angles[0][0] - angles[0][1]) - (angles[1][0] + angles[1][1])
    return sum(legs) + radius * (turn % (2 * math.pi))


@pytest.mark.parametrize("resolution", [0.1, 0.05, 0.025])
def test_the_way_around_a_wall_converges_to_tangents_and_arc(resolution):
    start, goal, tip = [-2.0, -0.5], [3.0, -1.0], np.array([0.0, 1.0])
    m = Map.from_shapes(segments=[[0, -3, 0, 1]], bounds=(-4, -3, 5, 4.1), resolution=resolution)
    exact = around_a_tip(start, goal, tip, 0.4)
    assert exact > np.hypot(2, 1.5) + np.hypot(3, 2)
    found = geodesic_length(m, start, goal, 0.4)
    assert found == pytest.approx(exact, abs=0.05 * resolution)


@pytest.mark.parametrize(("start", "goal"), [([-2.0, -0.5], [3.0, -1.0]), ([3.0, -1.0], [-2.0, -0.5])])
def test_the_way_around_a_wall_turns_from_tangent_to_tangent_one_way_only(start, goal):
    m = Map.from_shapes(segments=[[0, -3, 0, 1]], bounds=(-4, -3, 5, 4.1), resolution=0.05)
    found = geodesic(m, start, goal, 0.4)
    assert found.corners[0] == pytest.approx(start) and found.corners[-1] == pytest.approx(goal)
    assert np.hypot(*np.diff(found.corners, axis=0).T).sum() == pytest.approx(found.length) == geodesic_length(m, start, goal, 0.4)
    # the tangent from a point p to the arc about the tip leaves it at an angle asin(r / |p|) from the line to the tip
    left, right = np.array([-2.0, -1.5]), np.array([3.0, -2.0])
    rises = [math.atan2(-p[1], abs(p[0])) + math.asin(0.4 / math.hypot(*p)) for p in (left, right)]
    courses = np.unwrap(np.arctan2(*np.diff(found.corners, axis=0).T[::-1]))
    turns = np.diff(courses)
    assert np.abs(turns).sum() == pytest.approx(sum(rises), abs=0.01)
    assert (turns < 1e-9).all() or (turns > -1e-9).all()


def test_geodesic_lengths_are_at_least_straight_and_symmetric_and_straight_where_nothing_is_between(rng):
    m = cluttered(rng)
    free = m.centre_of(*np.nonzero(m.clearance_inside(0.35) > 0.35))
    straight = 0
    for _ in range(15):
        start, goal = free[rng.choice(len(free), 2)]
        forth, back = geodesic_length(m, start, goal, 0.15), geodesic_length(m, goal, start, 0.15)
        direct = np.hypot(*(goal - start))
        assert forth >= direct * (1 - 1e-6)
        assert forth == pytest.approx(back, rel=1e-6)
        if m.clearance_at(np.linspace(start, goal, 500)).min() > 0.16:
            straight += 1
            assert forth == pytest.approx(direct, rel=1e-6)
    assert straight


def test_a_gap_lets_through_whom_it_fits():
    m = Map.from_shapes(segments=[[2, 0, 2, 3.0], [2, 3.8, 2, 7]], bounds=(0, 0, 5, 7), resolution=0.05)
    for radius, fits in ((0.3, True), (0.36, True), (0.45, False)):
        path = find(AStar(), m, [0.9, 1.3], [4.1, 5.9], radius)
        assert (path is not None) == fits
        assert math.isfinite(geodesic_length(m, [0.9, 1.3], [4.1, 5.9], radius)) == fits


def test_cost_leads_away_from_walls_where_there_is_room():
    m = Map.from_shapes(segments=[[0, 2, 6, 2]], bounds=(-1, 0, 7, 6), resolution=0.05)
    near = find(AStar(factor=0.0), m, [0.5, 2.3], [5.5, 2.3], 0.2)
    far = find(AStar(), m, [0.5, 2.3], [5.5, 2.3], 0.2)
    assert m.clearance_at(near)[20:-20].max() < 0.35
    assert m.clearance_at(far)[20:-20].mean() > 0.5


def test_a_start_too_near_to_a_wall_gets_out_on_its_own_side():
    m = Map.from_shapes(segments=[[2, 0.0, 2, 5]], bounds=(0, 0, 4, 7), resolution=0.1)
    for x, side in ((1.93, -1), (2.07, 1)):
        path = find(AStar(), m, [x, 1.23], [2 + side * 1.5, 0.87], 0.3)
        assert (np.sign(path[:, 0] - 2) == side).all()
        assert length(path) < 2.5
        np.testing.assert_allclose(path[0], [x, 1.23], atol=1e-6)
    over = find(AStar(), m, [1.93, 1.23], [3.5, 0.87], 0.3)
    assert over[:, 1].max() > 5.3


def test_no_radius_is_small_enough_to_leak_through_a_thin_wall():
    slanted = Map.from_shapes(segments=[[-1, 0.2, 6, 3.9]], bounds=(0, 0, 5, 4.5), resolution=0.1)
    for radius in (0.0, 0.01, 0.05):
        assert find(AStar(), slanted, [0.7, 3.1], [4.1, 0.9], radius) is None
        assert geodesic_length(slanted, [0.7, 3.1], [4.1, 0.9], radius) == math.inf


def test_there_is_no_path_to_a_blocked_goal_or_from_a_sealed_start_or_outside():
    m = Map.from_shapes(polygons=[[[2, 2], [4, 2.3], [3, 4]]], discs=[[6, 3, 0.5]], bounds=(0, 1, 8, 5), resolution=0.1)
    for start, goal in (([0.5, 1.5], [3, 2.8]), ([0.5, 1.5], [6.6, 3]), ([0.5, 1.5], [9, 3]), ([0.5, 0.9], [7, 4])):
        assert find(AStar(), m, start, goal, 0.3) is None
        assert geodesic_length(m, start, goal, 0.3) == math.inf
    ring = Map.from_shapes(segments=[[1, 1, 2, 1], [2, 1, 2, 2], [2, 2, 1, 2], [1, 2, 1, 1]], bounds=(0, 0, 4, 3), resolution=0.05)
    assert find(AStar(), ring, [1.5, 1.5], [3.2, 1.5], 0.1) is None
    assert find(AStar(), ring, [1.1, 1.5], [3.2, 1.5], 0.6) is None


def test_start_and_goal_in_one_cell_and_the_same_point():
    m = Map.open((0, 1), (4, 4), resolution=0.5)
    near = find(AStar(), m, [1.1, 2.1], [1.2, 2.15], 0.2)
    np.testing.assert_allclose(near, [[1.1, 2.1], [1.15, 2.125], [1.2, 2.15]], atol=1e-6)
    same = find(AStar(), m, [1.1, 2.1], [1.1, 2.1], 0.2)
    assert (same == np.float32([1.1, 2.1])).all()
    assert geodesic_length(m, [1.1, 2.1], [1.1, 2.1], 0.2) == 0


def test_moving_the_map_moves_the_path(rng):
    m = cluttered(rng)
    moved = Map("moved", 0.1, (-3.2 + 16.0, 5.7 - 8.0), m.occupied, discs=m.discs + [16.0, -8.0, 0.0])
    here, there = find(AStar(), m, [-2.95, 6.15], [5.45, 12.35], 0.2), find(AStar(), moved, [13.05, -1.85], [21.45, 4.35], 0.2)
    np.testing.assert_allclose(there - [16.0, -8.0], here, atol=1e-4)


def test_pulling_keeps_the_ends_and_only_points_of_the_path():
    field = np.full((20, 30), 5.0, np.float32)
    field[8:12, 10:14] = 0.0
    points = np.array([[2.0, 10.0], [6, 8], [9, 5], [12, 5], [15, 6], [18, 9], [25, 10]])
    pulled = pull(field, points, 0.5)
    assert all(any((p == q).all() for q in points) for p in pulled)
    np.testing.assert_array_equal(pulled[[0, -1]], points[[0, -1]])
    assert 3 <= len(pulled) < len(points)


@pytest.mark.parametrize("fields", [{"neutral": 0.0}, {"spacing": -1.0}, {"factor": -0.1}, {"cost_scaling": math.inf}])
def test_parameters_that_make_no_sense_are_refused(fields):
    with pytest.raises(InputError, match=next(iter(fields))):
        AStar(**fields)
