"""Recorded motion."""

from __future__ import annotations

import numpy as np
import pytest

from agora.errors import InputError
from agora.world.trajectories import Trajectories, joined


def three():
    """Pedestrian 9 from t = 1 to 4 with uneven knots, 2 from 2.5 to 3, and 5 with a single knot."""
    time = [1.0, 2.5, 2.0, 4.0, 3.0, 1.5]
    who = [9, 2, 9, 9, 2, 5]
    x = [0.0, -1.0, 2.0, 2.0, -1.0, 7.0]
    y = [1.0, 0.0, 1.0, -5.0, 3.0, 7.0]
    return Trajectories.of_rows(time, who, x, y)


def test_rows_in_any_order_become_pedestrians_with_ascending_ids():
    t = three()
    np.testing.assert_array_equal(t.id, [2, 5, 9])
    np.testing.assert_array_equal(t.first, [0, 2, 3, 6])
    np.testing.assert_array_equal(t.start, [2.5, 1.5, 1.0])
    np.testing.assert_array_equal(t.end, [3.0, 1.5, 4.0])


def test_between_knots_one_walks_straight_at_constant_speed():
    t = three()
    moment = t.at(2.75)
    np.testing.assert_allclose(moment.position[[0, 2]], [[-1.0, 1.5], [2.0, -1.25]])
    np.testing.assert_allclose(moment.velocity, [[0.0, 6.0], [0.0, 0.0], [0.0, -3.0]])
    np.testing.assert_allclose(t.at(1.25).velocity[2], [2.0, 0.0])


def test_a_pedestrian_is_there_from_its_first_knot_and_gone_at_its_last():
    t = three()
    assert t.at(1.0).present.tolist() == [False, False, True]
    assert t.at(np.nextafter(1.0, 0.0)).present.tolist() == [False, False, False]
    assert t.at(np.nextafter(4.0, 0.0)).present.tolist() == [False, False, True]
    assert t.at(4.0).present.tolist() == [False, False, False]
    assert not t.at(1.5).present[1], "one knot has no duration"


def test_at_a_knot_the_next_line_has_begun():
    np.testing.assert_allclose(three().at(2.0).velocity[2], [0.0, -3.0])
    np.testing.assert_allclose(three().at(2.0).position[2], [2.0, 1.0])


def test_who_is_absent_stands_at_the_nearest_end_and_has_no_velocity():
    t = three()
    np.testing.assert_allclose(t.at(-100.0).position, [[-1.0, 0.0], [7.0, 7.0], [0.0, 1.0]])
    np.testing.assert_allclose(t.at(100.0).position, [[-1.0, 3.0], [7.0, 7.0], [2.0, -5.0]])
    assert not t.at(100.0).velocity.any()


def test_the_velocity_is_the_derivative_of_the_position(rng):
    time = np.cumsum(rng.uniform(0.1, 1.0, 40))
    t = Trajectories.of_rows(time, np.zeros(40), rng.normal(size=40), rng.normal(size=40))
    for now in rng.uniform(time[0], time[-1] - 0.01, 30):
        if np.abs(time - now).min() > 2e-6:
            slope = (t.at(now + 1e-6).position - t.at(now - 1e-6).position) / 2e-6
            np.testing.assert_allclose(slope, t.at(now).velocity, rtol=1e-5, atol=1e-6)


def repeating():
    return Trajectories([10.0, 11.0, 13.0], [0.0, 1.0, 1.0], [0.0, 0.0, 4.0], [0, 3], [7], period=[3.0])


def test_a_trajectory_with_a_period_jumps_back_and_never_ends():
    t = repeating()
    for turn in (-5, 0, 1, 1000):
        np.testing.assert_allclose(t.at(12.0 + 3 * turn).position, [[1.0, 2.0]])
        np.testing.assert_allclose(t.at(10.0 + 3 * turn).position, [[0.0, 0.0]])
        assert t.at(10.0 + 3 * turn).present.all()
        np.testing.assert_allclose(t.at(10.0 + 3 * turn).velocity, [[1.0, 0.0]])
    assert t.overlapping(-9.0, -8.0).all()


def test_a_period_longer_than_the_motion_leaves_a_gap():
    t = Trajectories([0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [0, 2], [1], period=[2.5])
    there = {0.5: True, 1.0: False, 2.4: False, 2.5: True, 3.4: True, 3.5: False, -1.6: True, -1.5: False}
    assert {time: bool(t.at(time).present[0]) for time in there} == there


def test_a_repeating_pedestrian_is_there_at_every_time_whatever_the_rounding(rng):
    length = 0.1 * 7
    t = Trajectories([0.3, 0.3 + length], [0.0, 1.0], [0.0, 0.0], [0, 2], [1], period=[length])
    times = np.concatenate([0.3 + length * np.arange(2000), rng.uniform(0, 1e4, 2000)])
    assert all(t.at(s).present[0] for s in times)


def test_moving_turns_places_and_delays_times_and_keeps_speeds():
    angle = np.radians(25.0)
    turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    moved = three().moved(turn, (3.0, -1.0), delay=0.5)
    np.testing.assert_allclose(moved.at(3.25).position, three().at(2.75).position @ np.transpose(turn) + (3.0, -1.0))
    assert moved.mean_speed() == pytest.approx(three().mean_speed())


def test_the_mean_speed_is_the_whole_way_over_the_whole_time():
    assert three().mean_speed() == pytest.approx((3.0 + 2.0 + 6.0) / (0.5 + 1.0 + 2.0))


def test_keeping_some_keeps_their_knots_and_groups():
    t = three().grouped([(9, 2)]).only([True, False, True])
    assert t.id.tolist() == [2, 9]
    assert t.group.tolist() == [0, 0]
    np.testing.assert_allclose(t.at(2.75).position, three().at(2.75).position[[0, 2]])


def test_groups_that_share_a_member_are_one_and_strangers_are_passed_over():
    five = Trajectories([0.0] * 5, range(5), [0.0] * 5, range(6), [10, 20, 30, 40, 50])
    assert five.grouped([(10, 20), (30, 99), (40, 50, 77), (20, 30)]).group.tolist() == [1, 1, 1, 0, 0]
    assert five.grouped([(10, 10), (30,)]).group.tolist() == [-1] * 5


def test_joining_keeps_groups_apart_and_refuses_the_same_id_twice():
    one, other = three().grouped([(2, 9)]), repeating()
    pair = Trajectories([0.0, 1.0], [0, 0], [0, 0], [0, 1, 2], [100, 200]).grouped([(100, 200)])
    both = joined([one, other.moved(offset=(1.0, 0.0)), pair])
    assert both.group.tolist() == [0, -1, 0, -1, 1, 1]
    np.testing.assert_allclose(both.at(12.0).position[3], [2.0, 2.0])
    np.testing.assert_array_equal(both.at(12.0).present, [False, False, False, True, False, False])
    with pytest.raises(InputError, match="an id occurs twice"):
        joined([one, one])


def test_nobody_at_all_is_fine():
    empty = joined([])
    assert empty.count == 0
    assert empty.at(3.0).position.shape == (0, 2)
    assert empty.mean_speed() == 0.0
    assert empty.overlapping(0.0, 1.0).shape == (0,)


def test_arrays_are_read_only_copies():
    x = np.zeros(2)
    t = Trajectories([0.0, 1.0], x, [0.0, 0.0], [0, 2], [1])
    x[0] = 5.0
    assert t.at(0.0).position[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        t.knot_x[0] = 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"knot_time": [0.0, 0.0]}, "the times of pedestrian 4 do not increase"),
        ({"knot_x": [0.0]}, "inconsistent shapes"),
        ({"knot_x": [0.0, np.nan]}, "not finite"),
        ({"first": [0, 0], "id": [4]}, "at least one knot"),
        ({"first": [0, 1, 2], "id": [4, 4]}, "an id occurs twice"),
        ({"period": [0.5]}, "a period is shorter"),
        ({"knot_y": [[0.0, 1.0]]}, "one axis"),
    ],
)
def test_arrays_that_are_no_trajectories_are_refused(changes, message):
    good = {"knot_time": [0.0, 1.0], "knot_x": [0.0, 1.0], "knot_y": [0.0, 1.0], "first": [0, 2], "id": [4]}
    with pytest.raises(InputError, match=message):
        Trajectories(**(good | changes))
