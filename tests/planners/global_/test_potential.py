"""Potentials of navfn and global_planner: a plain twin, values of the published code on a grid drawn by hand, closed forms."""

import math

import numpy as np
import pytest

from agora.planners.global_._descent import descend
from agora.planners.global_._wavefront import price_list
from agora.planners.global_.potential import EDGE, UNREACHED, Wave, spread

ROOM = [
    "##########################",
    "##########################",
    "##.........124#.........##",
    "##..........12#....444..##",
    "##...........1#....474..##",
    "##.....##.....#....444..##",
    "##.....##.....#.........##",
    "##..............1.......##",
    "##.......2....#......???##",
    "##...1..242...#......???##",
    "##.......2....#.........##",
    "##......................##",
    "##########################",
    "##########################",
]
"""Costs: # 254, ? unknown, a digit times 28; the outer cells are blocked, as the published code has them."""

PLACES = ((3, 5), (6, 10), (7, 15), (2, 12), (9, 17), (9, 3))
NAVFN = Wave(price_list(50.0, 0.8, 253, 253.0, True), 50.0, 254.0)
DIJKSTRA = price_list(50.0, 3.0, 252, 252.0, True)
A_STAR = price_list(50.0, 1.0, 253, 305.0, True)


def grid(rows):
    costs = {"#": 254, "?": 255, ".": 0} | {str(n): 28 * n for n in range(1, 10)}
    return np.array([[costs[c] for c in row] for row in rows], np.uint8)


def within(potential):
    return potential[EDGE:-EDGE, EDGE:-EDGE]


def twin(costs, wave, sources, first, goal):
    """The wave from sources {(row, column): potential}, cell by cell in float64."""
    rows, columns = costs.shape
    price = {(r, c): float(wave.prices[costs[r, c]]) for r in range(rows) for c in range(columns)}
    potential = dict.fromkeys(price, 1e10) | sources

    def of(cell):
        return potential.get(cell, 1e10)

    def around(cell):
        r, c = cell
        return (r, c - 1), (r, c + 1), (r - 1, c), (r + 1, c)

    now = [cell for cell in first if price.get(cell, math.inf) < 1e10]
    later, over, threshold = [], [], wave.threshold
    while now:
        waiting = set(over)
        for cell in now:
            left, right, below, above = (of(other) for other in around(cell))
            across, along = min(left, right), min(below, above)
            low, share = min(across, along), abs(across - along) / price[cell]
            rise = -0.2301 * share**2 + 0.5307 * share + 0.7040 if share < 1 and wave.quadratic else 1.0
            if low + price[cell] * rise >= potential[cell]:
                continue
            potential[cell] = low + price[cell] * rise
            for other in around(cell):
                cost = price.get(other, math.inf)
                if cost < 1e10 and other not in waiting and of(other) > potential[cell] + 0.707106781 * cost:
                    waiting.add(other)
                    (later if potential[cell] < threshold else over).append(other)
        now, later = later, []
        if not now:
            threshold += 2 * wave.neutral
            now, over = over, []
        if potential.get(goal, 1e10) < 1e10:
            break
    return np.array([[potential[r, c] for c in range(columns)] for r in range(rows)])


@pytest.mark.parametrize(("quadratic", "spread_of_costs"), [(True, 252), (True, 40), (False, 252)])
def test_the_wave_is_that_of_its_plain_twin(rng, quadratic, spread_of_costs):
    reached = 0
    for _ in range(6):
        costs = rng.integers(0, spread_of_costs, (17, 23)).astype(np.uint8)
        costs[rng.random(costs.shape) < 0.25] = 254
        costs[5, 8] = 0
        wave = NAVFN._replace(quadratic=quadratic)
        goal = (int(rng.integers(17)), int(rng.integers(23)))
        expected = twin(costs, wave, {(5, 8): 0.0}, ((5, 9), (5, 7), (4, 8), (6, 8)), goal)
        found = within(spread(costs, wave, np.array([8.0, 5.0]), goal))
        np.testing.assert_allclose(found, expected, rtol=2e-6)
        reached += (found < UNREACHED).sum()
    assert reached > 300


@pytest.mark.parametrize(
    ("wave", "potentials"),
    [
        (NAVFN, (85.2, 377.246, 625.422, 477.781, 797.296, 265.891)),
        (Wave(DIJKSTRA, 50.0, 253.0), (85.2, 377.246, 625.422, 611.627, 802.669, 265.891)),
        (Wave(DIJKSTRA, 50.0, 253.0, exact=True), (67.38, 345.996, 594.342, 582.401, 779.542, 237.106)),
        (Wave(DIJKSTRA, 50.0, 253.0, exact=True, quadratic=False), (68.75, 368.75, 656.25, 720.75, 856.25, 268.75)),
        (Wave(A_STAR, 50.0, 253.0, exact=True, guided=True), (85.2, 451.576, 666.376, UNREACHED, 841.164, UNREACHED)),
        (Wave(A_STAR, 50.0, 253.0, exact=True, guided=True, quadratic=False), (100.0, 400.0, 700.0, UNREACHED, 900.0, 300.0)),
    ],
)
def test_potentials_are_those_that_the_published_code_gave_on_this_grid(wave, potentials):
    start = np.array([4.25, 4.25]) if wave.exact else np.array([4.0, 4.0])
    found = within(spread(grid(ROOM), wave, start, (9, 18)))
    np.testing.assert_allclose([found[place] for place in PLACES], potentials, atol=6e-4)


@pytest.mark.parametrize(
    ("wave", "points"),
    [
        (NAVFN, [[18, 9], [15.20667, 7.11568], [11.56198, 4.75888], [9.29978, 3.78111], [5, 4], [4, 4]]),
        (Wave(DIJKSTRA, 50.0, 253.0), [[18, 9], [14.50533, 7.89336], [11.23808, 4.37774], [9.09343, 3.51966], [5, 4], [4, 4]]),
        (
            Wave(DIJKSTRA, 50.0, 253.0, exact=True),
            [[18.125, 9.125], [15.97904, 7.98706], [12, 5], [10.04177, 3.73545], [7, 4], [4.25, 4.25]],
        ),
        (
            Wave(A_STAR, 50.0, 253.0, exact=True, guided=True),
            [[18.125, 9.125], [15.96172, 7.88137], [13, 7], [10.05246, 7.09225], [7, 7], [4.25, 4.25]],
        ),
    ],
)
def test_ways_are_those_that_the_published_code_gave_on_this_grid(wave, points):
    begin, end = (
        (np.array([18.125, 9.125]), np.array([4.25, 4.25])) if wave.exact else (np.array([18.0, 9.0]), np.array([4.0, 4.0]))
    )
    way = descend(spread(grid(ROOM), wave, end, (9, 18)), begin, end, grid=False)
    np.testing.assert_allclose(way[[0, 5, 10, 15, 20, -1]], points, atol=2e-5)


def test_along_a_lane_one_cell_wide_the_potential_is_the_sum_of_the_prices():
    costs = np.full((3, 9), 254, np.uint8)
    costs[1, 1:8] = [0, 10, 252, 100, 0, 7, 30]
    found = within(spread(costs, NAVFN, np.array([1.0, 1.0]), None))
    assert found[1, 1:8].tolist() == pytest.approx(np.cumsum([0, 58, 251, 130, 50, 55, 74]))
    assert (found[[0, 2]] == UNREACHED).all()


def test_in_the_open_the_potential_is_near_the_distance_whatever_the_direction():
    found = within(spread(np.zeros((81, 97), np.uint8), NAVFN, np.array([40.0, 33.0]), None)) / 50.0
    rows, columns = np.mgrid[:81, :97]
    distance = np.hypot(rows - 33, columns - 40)
    far = distance > 10
    assert np.abs(found / np.maximum(distance, 1) - 1)[far].max() < 0.08
    np.testing.assert_allclose(found[33, 41:], distance[33, 41:], rtol=1e-6)


def test_a_goal_ends_the_wave_and_none_lets_it_reach_all_that_it_can():
    costs = np.zeros((40, 50), np.uint8)
    costs[:, 30] = 254
    some, every = (within(spread(costs, NAVFN, np.array([3.0, 3.0]), goal)) < UNREACHED for goal in ((6, 9), None))
    assert some[6, 9] and not some.all(where=every)
    np.testing.assert_array_equal(every, np.broadcast_to(np.arange(50) < 30, (40, 50)))


def test_the_way_goes_along_the_cells_where_the_gradient_is_zero_or_there_is_none():
    slope = np.full((13, 15), UNREACHED, np.float32)
    slope[2:-2, 2:-2] = 50.0 * np.abs(np.arange(11) - 5.0) * -1 + 300.0  # a ridge in the middle
    slope[6, 2] = 0.0
    way = descend(slope, np.array([5.0, 4.0]), np.array([0.0, 4.0]), grid=False)
    assert way[1].tolist() in ([4.0, 3.0], [4.0, 4.0], [4.0, 5.0])
    np.testing.assert_allclose(way[-1], [0.0, 4.0])


def test_a_hollow_without_the_end_has_no_way():
    hollow = np.full((11, 11), UNREACHED, np.float32)
    hollow[2:-2, 2:-2] = 50.0 * np.hypot(*np.mgrid[-3:4, -3:4]) + 90.0
    assert descend(hollow, np.array([5.5, 5.0]), np.array([0.0, 0.0]), grid=False) is None
    assert descend(hollow, np.array([5.5, 5.0]), np.array([3.0, 3.0]), grid=True) is not None


def test_no_step_leads_between_two_blocked_cells():
    far = UNREACHED
    lane = np.array([[400, 350, 300, 250], [500, far, far, 200], [far, 100, 120, 150]], np.float32)
    potential = np.pad(lane, EDGE, constant_values=far)
    for only_cells in (False, True):
        way = descend(potential, np.array([0.0, 1.0]), np.array([1.0, 2.0]), only_cells)
        assert way.tolist() == [[0, 1], [1, 0], [2, 0], [3, 1], [2, 2], [1, 2]]
