"""RRT*: its paths shorten towards the shortest, its tree is one, and its draws are the question's."""

import math

import numpy as np
import pytest

from agora.errors import InputError
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners.global_._ground import drive_cost
from agora.planners.global_.astar import geodesic_length
from agora.planners.global_.rrt_star import RrtStar
from agora.planners.global_.rrt_star._tree import Tree, grow
from agora.seeds import key_of
from agora.testing.crowds import hall

ENDS = np.array([[0.75, 1.95], [11.55, 7.05]])


def find(planner, m, start, goal, radius=0.3, cost=None):
    return planner.path(PathRequest(m, np.append(start, np.nan), np.append(goal, np.nan), radius, cost=cost))


def length(path):
    return np.linalg.norm(np.diff(path.astype(float), axis=0), axis=1).sum()


@pytest.mark.parametrize(("start", "goal"), [((-2.9, 4.3), (7.9, 9.4)), ((-3.1, 9.7), (-2.6, 3.1))])
def test_the_more_draws_the_shorter_down_to_the_shortest_path(start, goal):
    least = geodesic_length(hall(), start, goal, 0.35)
    lengths = [length(find(RrtStar(iterations=n, factor=0.0), hall(), start, goal, 0.35)) / least for n in (300, 1200, 5000, 12000)]
    assert all(more >= fewer for more, fewer in zip(lengths, lengths[1:], strict=False))
    assert 1.0 - 1e-4 < lengths[-1] < 1.005 < lengths[0] < 1.1


def test_the_cost_never_rises_with_draws_whose_first_ones_are_the_same():
    ground = RrtStar()._ground(PathRequest(hall(), np.zeros(3), np.zeros(3), 0.35))
    costs = []
    for count in (200, 400, 600, 900, 1300, 2000, 3000):
        tree, counts = Tree.of(count + 1), np.zeros(1, np.int64)
        end = grow(ground, *ENDS, 90.0, count, 3.0, 0.05, key_of("t", 0, "u"), tree, counts)
        costs.append(tree.cost[end] if end >= 0 else math.inf)
    assert costs == sorted(costs, reverse=True) and costs[-1] < costs[1] < math.inf


def test_the_tree_is_a_tree_of_free_lines_whose_costs_add_up():
    ground = RrtStar()._ground(PathRequest(hall(), np.zeros(3), np.zeros(3), 0.35))
    tree, counts = Tree.of(1501), np.zeros(1, np.int64)
    end = grow(ground, *ENDS, 90.0, 1500, 2.0, 0.05, key_of("t", 3, "u"), tree, counts)
    count = counts[0]
    assert 300 < count <= 1501 and 0 < end < count
    children = {i: [] for i in range(count)}
    for i in range(count):
        child = tree.child[i]
        while child >= 0:
            children[i].append(child)
            child = tree.beside[child]
    assert sorted(c for some in children.values() for c in some) == list(range(1, count))
    for i in range(1, count):
        parent = tree.parent[i]
        assert i in children[parent]
        (x, y), (a, b) = tree.place[parent], tree.place[i]
        line = drive_cost(ground, x, y, math.atan2(b - y, a - x), math.hypot(a - x, b - y), 0.0, 0.0)
        back = drive_cost(ground, a, b, math.atan2(y - b, x - a), math.hypot(a - x, b - y), 0.0, 0.0)
        assert math.hypot(a - x, b - y) <= 2.0 + 1e-9
        assert line < math.inf and tree.edge[i] in (pytest.approx(line), pytest.approx(back))
        assert tree.cost[i] == pytest.approx(tree.cost[parent] + tree.edge[i])
    assert tuple(tree.place[end]) == (11.55, 7.05)


def test_once_the_goal_is_reached_only_places_are_drawn_by_way_of_which_it_may_be_nearer():
    m = Map.open((0.0, 0.0), (20.0, 14.0))
    ground = RrtStar(factor=0.0)._ground(PathRequest(m, np.zeros(3), np.zeros(3), 0.3))
    start, goal = np.array([5.0, 4.0]), np.array([12.0, 9.0])
    tree, counts = Tree.of(901), np.zeros(1, np.int64)
    end = grow(ground, start, goal, 280.0, 900, 3.0, 0.3, key_of("t", 1, "u"), tree, counts)
    late = tree.place[counts[0] // 2 : counts[0]]
    assert end < len(late) and len(late) > 200
    assert (np.hypot(*(late - start).T) + np.hypot(*(late - goal).T)).max() < 1.02 * math.hypot(7, 5)
    assert tree.cost[end] == pytest.approx(math.hypot(7, 5), rel=2e-3)


def test_it_finds_a_door_if_it_draws_enough():
    m = Map.from_shapes(segments=[[0, -3, 0, 0.1], [0, 1.0, 0, 3.5]], bounds=(-4, -3, 5, 3.5), resolution=0.05)
    path = find(RrtStar(), m, (-3.0, -2.0), (3.5, -2.2))
    assert m.clearance_at(path).min() > 0.27
    assert np.interp(0.0, path[:, 0], path[:, 1]) == pytest.approx(0.55, abs=0.16)
    assert find(RrtStar(iterations=5), m, (-3.0, -2.0), (3.5, -2.2)) is None
    assert find(RrtStar(), m, (-3.0, -2.0), (3.5, -2.2), radius=0.5) is None


def test_the_draws_are_the_questions_on_a_moved_map_too_and_another_seed_has_others():
    here, there = (np.array([-2.9, 4.3]), np.array([7.9, 9.4]))
    m, shift = hall(), np.array([64.0, -32.0])
    moved = Map("moved", m.resolution, (m.origin[0] + 64.0, m.origin[1] - 32.0), m.cells)
    still = Map("still", m.resolution, m.origin, m.cells)
    path, other = find(RrtStar(), still, here, there, 0.35), find(RrtStar(), moved, here + shift, there + shift, 0.35)
    np.testing.assert_allclose(other - shift, path, atol=1e-4)
    third = find(RrtStar(seed=1), still, here, there, 0.35)
    assert not np.array_equal(third, path) and length(third) == pytest.approx(length(path), rel=0.03)


def test_costs_of_layers_and_walls_lead_it_away():
    m = Map.from_shapes(segments=[[0, 2, 6, 2]], bounds=(-1, 0, 7, 6), resolution=0.05)
    near, far = (find(RrtStar(factor=f), m, (0.5, 2.3), (5.5, 2.3), 0.2) for f in (0.0, 0.8))
    assert m.clearance_at(near)[20:-20].max() < 0.35 < 0.5 < m.clearance_at(far)[20:-20].mean()
    cost = np.zeros(m.shape, np.uint8)
    cost[60:100, 60:100] = 200
    led = find(RrtStar(), m, (0.5, 4.0), (5.5, 4.0), 0.2, cost)
    assert ((led[:, 0] > 2.05) & (led[:, 0] < 3.95) & (led[:, 1] > 3.05) & (led[:, 1] < 4.95)).sum() <= 4


def test_a_start_too_near_to_a_wall_gets_out_on_its_own_side_and_a_goal_where_it_stands_is_there():
    m = Map.from_shapes(segments=[[2, 0.0, 2, 5]], bounds=(0, 0, 4, 7), resolution=0.1)
    for x, side in ((1.93, -1), (2.07, 1)):
        path = find(RrtStar(), m, (x, 1.23), (2 + side * 1.5, 0.87))
        assert (np.sign(path[:, 0] - 2) == side).all() and length(path) < 2.5
    same = find(RrtStar(), m, (1.0, 1.0), (1.0, 1.0))
    assert np.allclose(same, 1.0)
    assert find(RrtStar(), m, (1.0, 1.0), (2.1, 1.0)) is None and find(RrtStar(), m, (1.0, 1.0), (4.5, 1.0)) is None


@pytest.mark.parametrize("fields", [{"iterations": 0}, {"reach": 0.0}, {"bias": 1.5}, {"factor": -1.0}])
def test_parameters_that_make_no_sense_are_refused(fields):
    with pytest.raises(InputError, match=next(iter(fields))):
        RrtStar(**fields)
