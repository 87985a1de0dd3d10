"""The measures of movement have the known values of simple motions."""

import numpy as np
import pytest

from agora.validation.movement import PERIOD, Tracks, measure, percentile


def seen(position, wants=True, radius=0.3):
    """Tracks (T, P, 2) of people who are present all the time."""
    position = np.asarray(position, float)
    present = np.ones(position.shape[:2], np.bool_)
    return Tracks(position, present, present & np.asarray(wants), np.full(position.shape[1], radius))


def line(count, speed, start=(0.0, 0.0), angle=0.7):
    """A pedestrian that walks straight, (count, 2)."""
    return np.asarray(start) + np.arange(count)[:, None] * PERIOD * speed * np.array([np.cos(angle), np.sin(angle)])


def test_a_pedestrian_that_walks_straight_is_neither_wedged_nor_turns():
    found = measure(seen(line(100, 1.3)[:, None]))
    assert (found.wedged, found.stuck, found.jammed, found.turns_round) == (0, 0, 0, 0)
    assert percentile(found.turning, 0.95) == 0.0 and found.minutes == pytest.approx(100 * PERIOD / 60.0)


@pytest.mark.parametrize(("seconds", "wedged", "stuck"), [(8.0, 0, 0), (12.0, 1, 0), (33.0, 1, 1)])
def test_a_standing_pedestrian_that_wants_to_go_on_is_wedged_after_10_s_and_stuck_after_30(seconds, wedged, stuck):
    before, stand = line(20, 1.3), round(seconds / PERIOD)
    track = np.vstack([before, np.repeat(before[-1:], stand, 0), line(20, 1.3, before[-1])])
    found = measure(seen(track[:, None]))
    assert (found.wedged, found.stuck, found.is_jam) == (wedged, stuck, bool(stuck))
    assert measure(seen(track[:, None], wants=False)).wedged == 0


def test_a_pedestrian_that_paces_within_a_metre_is_stuck_but_not_wedged():
    to_and_fro = 0.4 * np.sin(np.arange(120) * PERIOD)[:, None] * [0.6, 0.8]
    found = measure(seen(to_and_fro[:, None]))
    assert (found.wedged, found.stuck) == (0, 1)


@pytest.mark.parametrize(("people", "jammed"), [(2, 0), (3, 3)])
def test_three_neighbours_who_stand_until_the_end_are_jammed(people, jammed):
    places = np.repeat([[[0.0, 0.0], [1.0, 0.1], [2.0, 0.0]]], 40, 0)[:, :people]
    assert measure(seen(places)).jammed == jammed
    assert measure(seen(places, wants=False)).jammed == 0
    assert measure(seen(places * [4.0, 1.0])).jammed == 0


def test_a_u_turn_counts_once_and_a_right_angle_does_not():
    there = line(20, 1.2, angle=0.3)
    back = np.vstack([there, line(20, 1.2, there[-1], 0.3 + np.pi)])
    corner = np.vstack([there, line(20, 1.2, there[-1], 0.3 + np.pi / 2)])
    assert measure(seen(back[:, None])).turns_round == 1
    assert measure(seen(corner[:, None])).turns_round == 0


def test_turning_is_the_angle_of_a_circle_in_0_4_s():
    angle = np.radians(15.0) * np.arange(60)
    circle = 2.0 * np.stack([np.cos(angle), np.sin(angle)], -1)
    found = measure(seen(circle[:, None]))
    assert percentile(found.turning, 0.5) == percentile(found.turning, 0.95) == 15.0


def test_the_overlap_of_discs_is_both_radii_minus_their_distance():
    found = measure(seen(np.repeat([[[0.0, 0.0], [0.0, 0.5], [5.0, 0.0]]], 30, 0)))
    assert found.deepest == pytest.approx(0.1) and found.overlapping == pytest.approx(2 * 30 * PERIOD / 60.0)


def test_speeds_are_means_per_local_density():
    alone = measure(seen(line(50, 1.3)[:, None]))
    row = np.stack([line(50, 0.5, (0.0, y)) for y in (0.0, 0.5, 1.0, 1.5, 2.0)], 1)
    crowd = measure(seen(row))
    assert alone.speeds[0] / alone.walkers[0] == pytest.approx(1.3) and sum(alone.walkers[1:]) == 0
    assert crowd.walkers[0] == 0 and crowd.speeds[1] / crowd.walkers[1] == pytest.approx(0.5)
