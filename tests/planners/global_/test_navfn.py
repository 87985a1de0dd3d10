"""navfn and global_planner as planners: ends, obstacles, unknown cells, tolerance, layers, headings."""

import math

import numpy as np
import pytest

from agora.costmap.inflation import cost_of
from agora.errors import InputError
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners.global_.astar import geodesic_length
from agora.planners.global_.global_planner import MoveBaseGlobalPlanner
from agora.planners.global_.navfn import Navfn
from agora.planners.global_.search import resample

BOTH = [Navfn(), MoveBaseGlobalPlanner(orientation_mode="none")]
EVERY = [
    *BOTH,
    MoveBaseGlobalPlanner(use_dijkstra=False, orientation_mode="none"),
    MoveBaseGlobalPlanner(use_grid_path=True, orientation_mode="none"),
    MoveBaseGlobalPlanner(use_quadratic=False, orientation_mode="none"),
    MoveBaseGlobalPlanner(old_navfn_behavior=True, orientation_mode="none"),
    MoveBaseGlobalPlanner(use_dijkstra=False, use_grid_path=True, use_quadratic=False, orientation_mode="none"),
]


def find(planner, m, start, goal, radius, cost=None):
    start, goal = (np.append(p, [math.nan] * (3 - len(p))) for p in (start, goal))
    return planner.path(PathRequest(m, start, goal, radius, cost=cost))


def length(path):
    return np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).sum()


def pillars(rng):
    return Map("pillars", 0.1, (-3.2, 5.7), rng.random((70, 90)) < 0.012, discs=[[1.0, 9.0, 0.5]])


@pytest.mark.parametrize("planner", EVERY)
def test_paths_begin_and_end_where_they_shall_and_keep_the_radius(rng, planner):
    m = pillars(rng)
    free = m.centre_of(*np.nonzero(m.clearance > 0.35))
    found = 0
    for _ in range(12):
        start, goal = free[rng.choice(len(free), 2)] + rng.uniform(-0.045, 0.045, (2, 2))
        path = find(planner, m, start, goal, 0.22)
        if path is None:
            continue
        found += 1
        assert path.dtype == np.float32
        np.testing.assert_allclose(path[[0, -1]], [start, goal], atol=1e-5)
        assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() < 0.29
        assert m.clearance_at(resample(path.astype(float), 0.01)).min() > 0.22 - 0.05
    assert found > 6


@pytest.mark.parametrize("planner", BOTH)
def test_paths_cost_hardly_more_than_the_shortest_way_where_nothing_costs(rng, planner):
    m = Map.from_shapes(
        polygons=[[[1, 1], [3, 1.4], [2.5, 4], [0.7, 3]]], discs=[[5, 2.2, 0.7]], bounds=(-2, 0, 7.4, 6), resolution=0.05
    )
    plain = type(planner)(inflation_radius=0.3, **({} if isinstance(planner, Navfn) else {"orientation_mode": "none"}))
    for start, goal in (([-1.3, 0.9], [6.4, 4.1]), ([0.2, 4.6], [4.1, 0.6]), ([6.6, 0.8], [-1.0, 5.1])):
        path = find(plain, m, start, goal, 0.3)
        shortest = geodesic_length(m, start, goal, 0.3)
        assert shortest * 0.995 < length(path) < shortest * 1.05


@pytest.mark.parametrize("planner", EVERY[:3])
def test_on_a_mirrored_map_the_path_is_mirrored_to_a_cell(planner):
    walls = [[1.0, 0.0, 1.0, 2.55], [1.0, 3.8, 1.0, 5.95], [3.0, 1.2, 3.0, 5.95]]
    start, goal, width = np.array([0.2, 4.4]), np.array([5.1, 3.1]), 6.0
    m = Map.from_shapes(segments=walls, bounds=(0, 0, width, 5.95), resolution=0.05)
    mirrored = Map.from_shapes(
        segments=[[width - a, b, width - c, d] for a, b, c, d in walls], bounds=(0, 0, width, 5.95), resolution=0.05
    )
    here = find(planner, m, start, goal, 0.25)
    there = find(planner, mirrored, [width, 0] + start * [-1, 1], [width, 0] + goal * [-1, 1], 0.25)
    there[:, 0] = width - there[:, 0]
    apart = np.linalg.norm(resample(here.astype(float), 0.01)[:, None] - there[None], axis=2).min(axis=1)
    assert apart.max() < (0.1 if planner is not EVERY[2] else 0.4)


def test_navfn_walks_down_the_middle_of_a_corridor_where_the_dearer_planner_sees_no_middle():
    def corridor(width):
        return Map.from_shapes(segments=[[0, 0, 9, 0], [0, width, 9, width]], bounds=(0, -0.1, 9, width + 0.1), resolution=0.05)

    middle = find(Navfn(), corridor(1.1), [0.6, 0.4], [8.4, 0.4], 0.3)
    assert np.abs(middle[(middle[:, 0] > 2) & (middle[:, 0] < 7), 1] - 0.55).max() < 0.06
    aside = find(BOTH[1], corridor(1.1), [0.6, 0.4], [8.4, 0.4], 0.3)  # 3 c + 50 is above 252 everywhere: c is 72 in the middle
    assert cost_of(0.55, 0.3, 1.0, 5.0) == 72 and np.abs(aside[:, 1] - 0.4).max() < 0.06


def test_unknown_cells_are_dear_or_blocked():
    unknown = np.zeros((60, 80), bool)
    unknown[10:, 38:42] = True
    m = Map("fog", 0.1, (1.0, -2.0), np.zeros((60, 80), bool), unknown=unknown)
    walled = Map("fog", 0.1, (1.0, -2.0), np.zeros((60, 80), bool), unknown=np.broadcast_to(np.arange(80) // 4 == 10, (60, 80)))
    start, goal = [2.0, 3.3], [8.1, 3.4]
    for kind in (Navfn, MoveBaseGlobalPlanner):
        assert find(kind(), m, start, goal, 0.2)[:, 1].min() > 2.5
        around = find(kind(allow_unknown=False), m, start, goal, 0.2)
        assert around[:, 1].min() < -1.0 and not m.unknown[m.cell_of(around[1:-1, :2])].any()
        assert find(kind(), walled, start, goal, 0.2) is not None
        assert find(kind(allow_unknown=False), walled, start, goal, 0.2) is None


def test_a_goal_that_cannot_be_reached_is_reached_within_the_tolerance():
    m = Map.from_shapes(discs=[[5, 3.1, 0.5]], bounds=(0, 1, 9, 6), resolution=0.05)
    goal = np.array([5.3, 3.2])
    for kind in (Navfn, MoveBaseGlobalPlanner):
        assert find(kind(), m, [1.1, 2.2], goal, 0.3) is None
        assert find(kind(default_tolerance=0.3), m, [1.1, 2.2], goal, 0.3) is None
        path = find(kind(default_tolerance=0.7), m, [1.1, 2.2], goal, 0.3)
        assert 0.8 < np.hypot(*(path[-1, :2] - [5, 3.1])) < 0.88
        assert np.hypot(*(path[-1, :2] - goal)) < 0.8 - np.hypot(0.3, 0.1) + 0.06
    off = find(Navfn(default_tolerance=0.5), m, [1.1, 2.2], [9.2, 4.0], 0.3)
    assert off[-1] == pytest.approx([8.725, 3.975], abs=0.03)  # with the whole disc on the map, but for a cell
    assert find(Navfn(), m, [1.1, 2.2], [9.2, 4.0], 0.3) is None


@pytest.mark.parametrize("planner", BOTH)
def test_costs_of_layers_are_gone_around(planner):
    m = Map.open((0, 1), (8, 7), resolution=0.1)
    cost = np.zeros(m.shape, np.uint8)
    cost[20:38, 35:45] = 200
    straight, around = (find(planner, m, [1.0, 3.9], [7.0, 3.8], 0.3, layer) for layer in (None, cost))
    assert np.abs(straight[:, 1] - 3.85).max() < 0.15
    assert cost[m.cell_of(around)].max() == 0 and around[:, 1].min() < 3.0


@pytest.mark.parametrize("planner", EVERY)
def test_no_radius_is_small_enough_to_leak_through_a_thin_wall(planner):
    slanted = Map.from_shapes(segments=[[-1, -0.8, 6, 6.2]], bounds=(0, 0, 5, 4.5), resolution=0.1)
    for radius in (0.0, 0.04):
        assert find(planner, slanted, [0.7, 3.1], [4.1, 0.9], radius) is None


@pytest.mark.parametrize("planner", EVERY)
def test_a_long_lane_a_start_at_a_wall_and_one_cell(planner):
    lane = Map.open((0, 0), (0.9, 25), resolution=0.05)
    path = find(planner, lane, [0.45, 0.5], [0.41, 24.2], 0.2)
    assert length(path) == pytest.approx(23.7, rel=0.03)
    m = Map.from_shapes(segments=[[2, 0.0, 2, 5]], bounds=(0, 0, 4, 7), resolution=0.1)
    for x, side in ((1.93, -1), (2.07, 1)):
        path = find(planner, m, [x, 1.23], [2 + side * 1.5, 0.87], 0.3)
        assert (np.sign(path[:, 0] - 2) == side).all() and length(path) < 2.6
    near = find(planner, m, [1.02, 2.03], [1.07, 2.06], 0.3)
    np.testing.assert_allclose(near[[0, -1]], [[1.02, 2.03], [1.07, 2.06]], atol=1e-6)
    assert find(planner, m, [1.02, 2.03], [1.02, 2.03], 0.3) is not None


def test_there_is_no_path_to_a_wall_behind_walls_or_outside():
    m = Map.from_shapes(polygons=[[[2, 2], [4, 2.3], [3, 4]]], bounds=(0, 1, 8, 5), resolution=0.1)
    closed = Map.from_shapes(segments=[[3, 1, 3, 5]], bounds=(0, 1, 8, 5), resolution=0.1)
    for planner in EVERY:
        assert find(planner, m, [0.5, 1.5], [3, 2.8], 0.3) is None
        assert find(planner, m, [0.5, 1.5], [9, 3], 0.3) is None
        assert find(planner, m, [0.5, 0.9], [7, 4], 0.3) is None
        assert find(planner, closed, [0.5, 1.5], [7, 3], 0.3) is None


def headings(mode, path, start=math.nan, goal=math.nan, window=1):
    planner = MoveBaseGlobalPlanner(orientation_mode=mode, orientation_window_size=window)
    return planner._headings(np.array(path, float), start, goal)


BENT = [[0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [2, 3], [2, 4]]


def test_headings_follow_the_path_or_are_turned_from_it():
    along = np.array([0, 0, 0.25, 0.5, 0.5, 0.5, 0.5]) * np.pi
    np.testing.assert_allclose(headings("forward", BENT), along)
    np.testing.assert_allclose(headings("forward", BENT, goal=-2.0)[-2:], [np.pi / 2, -2.0])
    np.testing.assert_allclose(headings("leftward", BENT), along - np.pi / 2)
    np.testing.assert_allclose(headings("rightward", BENT), along + np.pi / 2)
    np.testing.assert_allclose(headings("backward", BENT, goal=1.0), [*np.where(along > 0, along - np.pi, np.pi)[:-1], 1.0])
    wide = headings("forward", BENT, window=2)
    np.testing.assert_allclose(wide[2], np.arctan2(2, 2))
    np.testing.assert_allclose(wide[1], np.arctan2(1, 2))


def test_headings_turn_evenly_from_start_to_goal_the_short_way():
    past = 3.0 + np.linspace(0, 2 * np.pi - 6, 7)
    np.testing.assert_allclose(headings("interpolate", BENT, 3.0, -3.0), np.where(past > np.pi, past - 2 * np.pi, past))
    np.testing.assert_allclose(headings("interpolate", BENT, 0.4, 1.6), np.linspace(0.4, 1.6, 7))
    then = headings("forward_then_interpolate", BENT, 1.0, 0.5 * np.pi + 0.6)
    np.testing.assert_allclose(then[:3], [0, 0, 0.25 * np.pi])
    np.testing.assert_allclose(then[3:], 0.5 * np.pi + np.linspace(0, 0.6, 4))
    one = headings("forward_then_interpolate", BENT[:2], 0.3, 0.5)
    np.testing.assert_allclose(one, [0.3, 0.5])


def test_poses_come_with_headings_and_points_without():
    m = Map.open((0, 1), (8, 7), resolution=0.1)
    poses = find(MoveBaseGlobalPlanner(), m, [1.0, 2.0, 0.1], [6.0, 5.0, -1.2], 0.2)
    assert poses.shape[1] == 3 and poses[-1, 2] == pytest.approx(-1.2)
    assert np.abs(poses[3:-3, 2] - np.arctan2(3, 5)).max() < 0.3
    assert find(BOTH[1], m, [1.0, 2.0], [6.0, 5.0], 0.2).shape[1] == 2


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Navfn, {"default_tolerance": -0.1}),
        (Navfn, {"cost_scaling": math.inf}),
        (MoveBaseGlobalPlanner, {"cost_factor": 0.0}),
        (MoveBaseGlobalPlanner, {"lethal_cost": 256}),
        (MoveBaseGlobalPlanner, {"orientation_mode": "sideways"}),
    ],
)
def test_parameters_that_make_no_sense_are_refused(kind, fields):
    with pytest.raises(InputError, match=next(iter(fields))):
        kind(**fields)
