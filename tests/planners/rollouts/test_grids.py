"""Critics on a grid of 6 x 5 cells of 0.5 m, worked out by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from agora.core.jit import lean
from agora.planners._rollouts import grids
from agora.planners.local.dwa import _plan as dwa_plan
from agora.planners.local.dwa import _rollout as dwa_rollout

NAMES = ("reset_grid", "seed", "flood", "distance_at", "footprint_cost", "prune_path", "trace")
critics = SimpleNamespace(**{name: lean(getattr(grids, name).py_func) for name in NAMES})
remember, fill_samples, scale_of = (lean(f.py_func) for f in (dwa_plan.remember, dwa_rollout.fill_samples, dwa_rollout.scale_of))

F = np.float32
# row 4 is the top line; a wall with a gap in column 1, an inscribed cell, an unknown one
COST = np.array(
    [
        [0, 0, 0, 10, 0, 255],
        [254, 0, 254, 254, 254, 254],
        [0, 20, 0, 0, 0, 0],
        [0, 0, 0, 0, 253, 0],
        [0, 0, 0, 0, 0, 0],
    ],
    np.uint8,
)[::-1].copy()
INVERSE, STRIDE = F(2.0), COST.shape[1] + 2


def flooded(*cells, reach=9, centre=(0, 0)):
    grid, queue = np.empty((COST.shape[0] + 2) * STRIDE, np.int32), np.empty((COST.shape[0] + 2) * STRIDE, np.int32)
    wanted, length = critics.reset_grid(COST, *centre, reach, grid), 0
    for column, row in cells:
        length, wanted = critics.seed(grid, STRIDE, queue, length, wanted, column, row)
    critics.flood(grid, STRIDE, queue, length, wanted)
    return grid


def distances(grid):
    return np.array([[critics.distance_at(grid, COST, c, r) for c in range(6)] for r in range(5)])[::-1]


def test_waves_go_round_walls_in_four_directions():
    W, X = 30, 31
    expected = [
        [6, 5, 6, 7, 8, W],
        [W, 4, W, W, W, W],
        [4, 3, 2, 3, 4, 5],
        [3, 2, 1, 2, W, 4],
        [2, 1, 0, 1, 2, 3],
    ]
    assert np.array_equal(distances(flooded((2, 0))), expected)
    assert COST.size + 1 == X


def test_a_wave_starts_in_an_obstacle_but_does_not_enter_one():
    out = distances(flooded((4, 3)))
    assert out[1, 4] == 0
    assert out[0, 4] == 1
    assert out[2, 4] == 1
    shut_in = distances(flooded((5, 4)))
    assert shut_in[0, 5] == 0
    assert shut_in[0, 4] == 1


def test_several_targets_give_the_distance_to_the_nearest():
    both = distances(flooded((0, 0), (5, 0)))
    assert both[4].tolist() == [0, 1, 2, 2, 1, 0]


def test_no_wave_reaches_behind_a_closed_wall():
    shut = COST.copy()
    shut[3, 1] = 254
    grid, queue = np.empty(7 * STRIDE, np.int32), np.empty(7 * STRIDE, np.int32)
    wanted = critics.reset_grid(shut, 2, 0, 9, grid)
    critics.flood(grid, STRIDE, queue, *critics.seed(grid, STRIDE, queue, 0, wanted, 2, 0))
    assert critics.distance_at(grid, shut, 0, 4) == COST.size + 1
    assert critics.distance_at(grid, shut, 1, 3) == COST.size


def test_a_wave_that_may_stop_early_is_right_wherever_it_is_asked():
    whole = distances(flooded((2, 0)))
    near = distances(flooded((2, 0), reach=1, centre=(1, 1)))
    assert np.array_equal(near[2:5, 0:3], whole[2:5, 0:3])


def square(half):
    return np.array([half, -half, -half, half], np.float32), np.array([half, half, -half, -half], np.float32)


@pytest.mark.parametrize(
    ("x", "y", "scale", "expected"),
    [
        (0.75, 0.75, 1.0, 20),  # outline over rows 0..2, columns 0..2
        (0.75, 0.75, 1.6, -1),  # the grown outline meets the wall in row 3
        (1.25, 0.75, 1.0, 20),  # columns 1..3: the corner cell has 20
        (2.25, 0.75, 1.0, 253),  # the inscribed cell lies inside the outline, but under the centre
        (2.25, 0.25, 1.0, -1),  # off the grid below
        (2.25, 1.75, 0.1, -1),  # the centre itself is lethal
    ],
)
def test_the_footprint_costs_what_lies_under_its_outline_and_centre(x, y, scale, expected):
    got = critics.footprint_cost(COST, *square(0.5), F(scale), F(x), F(y), F(0.0), F(1.0), INVERSE)
    assert got == expected


def test_a_turned_square_touches_other_cells():
    quarter = F(math.sqrt(0.5))
    corners = square(0.5)
    straight = critics.footprint_cost(COST, *corners, F(1.0), F(1.1), F(0.8), F(0.0), F(1.0), INVERSE)
    turned = critics.footprint_cost(COST, *corners, F(1.0), F(1.1), F(0.8), quarter, quarter, INVERSE)
    assert (straight, turned) == (20, -1)


def test_the_local_goal_is_the_last_free_cell_of_the_first_stretch_inside_the_window():
    grid, queue = np.empty(7 * STRIDE, np.int32), np.empty(7 * STRIDE, np.int32)

    def goal_of(*points, origin=(3.0, -2.0)):
        path = np.array(points, np.float32) + np.array(origin, np.float32)
        wanted = critics.reset_grid(COST, 0, 0, 9, grid)
        start, corner = np.int32(0), (F(origin[0]), F(origin[1]))
        place = (path, np.int32(len(path)), start, start, *path[0], F(99.0), *corner)
        answer = critics.trace(*place, INVERSE, COST, grid, queue, wanted)
        return answer[0], answer[2], answer[5]

    assert goal_of((0.25, 0.25), (2.25, 0.25)) == (5, (4, 0), False)
    assert goal_of((0.25, 0.25), (4.25, 0.25), (4.25, 1.25), (0.25, 1.25)) == (6, (5, 0), True)  # leaves, comes back: first stretch
    assert goal_of((2.25, 0.25), (2.25, 0.75)) == (2, (4, 0), False)  # ends in the inscribed cell
    assert goal_of((2.25, 2.25), (3.75, 2.25)) == (1, (4, 4), True)  # unknown cells end it


def test_what_lies_a_metre_behind_is_cut_off_and_a_second_pass_does_not_count():
    there_and_back = np.array([(0, 0), (4, 0), (4, 0.6), (0, 0.6)], np.float32)
    s, p = critics.prune_path(there_and_back, np.int32(4), np.int32(0), np.int32(0), F(2.0), F(0.3), F(0.1))
    assert (s, p) == (0, 11)  # the first point nearer than 1 m to (2, 0.3): x > 2 - sqrt(1 - 0.09)
    s, p = critics.prune_path(there_and_back, np.int32(4), np.int32(2), np.int32(5), F(2.0), F(0.3), F(0.1))
    assert (s, p) == (2, 11)
    assert critics.prune_path(there_and_back, np.int32(4), np.int32(1), np.int32(2), F(50.0), F(0.3), F(0.1)) == (1, 2)


def test_samples_are_even_and_zero_is_put_between_two_signs():
    out = np.empty(9, np.float32)

    def samples(*arguments):
        return out[: fill_samples(*(F(a) for a in arguments[:4]), arguments[4], out)].tolist()

    assert samples(0.0, 0.3, -1.0, 1.0, 4) == pytest.approx([-0.3, -0.1, 0.0, 0.1, 0.3])
    assert samples(0.0, 0.3, -1.0, 1.0, 3) == pytest.approx([-0.3, 0.0, 0.3])
    assert samples(0.5, 0.2, 0.0, 0.6, 3) == pytest.approx([0.3, 0.45, 0.6])
    assert samples(2.0, 0.2, 0.0, 0.6, 3) == pytest.approx([0.6])
    assert samples(-1.0, 0.2, 0.0, 0.6, 3) == [0.0]
    assert samples(0.0, 0.0, -1.0, 1.0, 5) == [0.0]


def test_the_footprint_grows_from_the_scaling_speed_to_the_largest():
    grow = [scale_of(F(v), F(0.25), F(0.55), F(0.2)) for v in (0.1, 0.25, 0.4, 0.55)]
    assert grow == pytest.approx([1.0, 1.0, 1.1, 1.2], abs=1e-6)
    assert scale_of(F(0.5), F(0.25), F(0.2), F(0.2)) == 1.0


def test_the_second_change_of_direction_forbids_the_first_until_the_robot_has_left():
    flags, anchor = np.zeros((3, 2), np.int8), np.zeros(3, np.float32)

    def after(twist, x=0.0, heading=0.0):
        pose = np.array((x, 2.0, heading), np.float32)
        remember(flags, anchor, pose, tuple(F(v) for v in twist), F(0.1), F(0.05), F(0.2))
        return flags.tolist()

    assert after((0.0, 0.0, 0.5)) == [[0, 0], [0, 0], [1, 0]]
    assert after((0.0, 0.0, -0.5)) == [[0, 0], [0, 0], [-1, -1]]  # now only to the right
    assert after((0.5, 0.0, 0.3), x=0.03) == [[1, 0], [0, 0], [-1, -1]]  # turning while driving does not count
    assert after((0.5, 0.0, 0.0), x=0.04, heading=0.19) == [[1, 0], [0, 0], [-1, -1]]
    assert after((0.5, 0.0, 0.0), x=0.06) == [[0, 0], [0, 0], [0, 0]]


def test_turning_far_enough_lifts_the_flags_across_the_seam_of_angles():
    flags, anchor = np.zeros((3, 2), np.int8), np.zeros(3, np.float32)
    for heading, omega in ((3.1, 0.5), (3.1, -0.5), (-3.1, -0.5)):
        remember(flags, anchor, np.array((0, 0, heading), np.float32), (F(0), F(0), F(omega)), F(0.1), F(0.05), F(0.2))
    assert flags[2].tolist() == [-1, -1]
    remember(flags, anchor, np.array((0, 0, -2.9), np.float32), (F(0), F(0), F(-0.5)), F(0.1), F(0.05), F(0.2))
    assert not flags.any()
