"""Pedestrians come into the world when it is time and there is room, and leave it at their last waypoint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import starts
from tests.engines import engine as engine_at

from agora.core.state import LEAVE, STAY
from agora.pedestrians.models.waypoint import Waypoint

DT = 0.1


def crowd(places, routes, enters, mode=LEAVE):
    people = starts.people(places, routes, speed=1.0)
    return replace(
        people, enters=np.array(enters, float), mode=np.full(len(places), mode, np.int32), tolerance=np.full(len(places), 0.2)
    )


def run(people, seconds, pose=(90.0, 90.0, 0.0), slots=0, speed=0.0):
    """Return whether each is there (T, P), and everybody's place (T, P, 2); the robot drives straight ahead."""
    engine = engine_at([starts.start(crowd=people, pose=pose)], DT, crowd=Waypoint(), ends=0, slots=slots)
    there, places = [], []
    for _ in range(round(seconds / DT)):
        now = engine.world.pedestrians
        there.append(now.active[0].copy())
        places.append(np.stack([now.x[0], now.y[0]], -1))
        engine.world.commands[...] = (speed, 0.0, 0.0)
        engine.step()
    engine.close()
    return np.array(there), np.array(places)


def test_who_comes_later_is_not_there_before_and_comes_in_at_a_walking_pace():
    there, places = run(crowd([(1.0, 2.0)], [[(6.0, 2.0)]], [2.0], mode=STAY), 4.0)
    assert not there[:20, 0].any() and there[20:, 0].all()
    assert places[20, 0] == pytest.approx((1.0, 2.0))
    assert places[30, 0, 0] == pytest.approx(2.0, abs=0.02)


def test_who_leaves_is_gone_at_the_last_waypoint_and_does_not_come_back():
    there, places = run(crowd([(1.0, 2.0)], [[(4.0, 2.0)]], [0.0]), 8.0)
    gone = int(np.argmin(there[:, 0]))
    assert there[:gone, 0].all() and not there[gone:, 0].any()
    assert places[gone - 1, 0, 0] == pytest.approx(4.0 - 0.6, abs=0.11)


def test_a_list_whose_places_are_one_is_no_reason_to_stay_for_who_leaves():
    there, _ = run(crowd([(1.0, 2.0)], [[(4.0, 2.0), (4.0, 2.0)]], [0.0]), 8.0)
    assert not there[-1, 0]


def test_who_finds_somebody_in_the_entrance_waits_outside():
    people = crowd([(1.0, 2.0), (1.3, 2.0)], [[(6.0, 2.0)], [(1.3, 2.0)]], [1.0, 0.0])
    stands = replace(people, mode=np.array([LEAVE, STAY], np.int32))
    there, _ = run(stands, 5.0)
    assert not there[:, 0].any() and there[:, 1].all()


def test_nobody_comes_in_onto_a_robot():
    there, _ = run(crowd([(1.0, 2.0)], [[(6.0, 2.0)]], [1.0]), 3.0, pose=(1.2, 2.1, 0.3))
    assert not there.any()


def test_nobody_comes_in_before_a_robot_that_would_be_there_in_two_seconds():
    """It drives at 1 m/s from (7, 2.3) over the entrance at (1, 2): two seconds before, until it is past by its own reach."""
    there, _ = run(crowd([(1.0, 2.0)], [[(1.0, 9.0)]], [3.8]), 9.0, pose=(7.0, 2.3, np.pi), speed=1.0)
    entered = int(there[:, 0].argmax()) * DT
    assert 6.3 < entered < 7.0


@pytest.mark.parametrize("pose", [(7.0, 0.4, np.pi), (8.3, 2.3, np.pi), (0.0, 2.3, np.pi)])
def test_a_robot_that_passes_aside_or_is_far_off_or_drives_away_keeps_nobody_out(pose):
    there, _ = run(crowd([(1.0, 2.0)], [[(1.0, 9.0)]], [3.8]), 5.0, pose=pose, speed=1.0)
    assert not there[:38, 0].any() and there[38, 0]


def test_two_who_come_at_once_come_one_after_the_other():
    there, places = run(crowd([(1.0, 2.0), (1.0, 2.0)], [[(8.0, 2.0)], [(8.0, 3.0)]], [1.0, 1.0]), 6.0)
    first, second = there.argmax(axis=0)[:2]
    assert first == 10 and second > first + 5
    assert np.hypot(*(places[second, 0] - places[second, 1])) >= 0.8 - 0.01


def test_slots_and_other_worlds_change_nothing():
    people = crowd([(1.0, 2.0), (1.0, 2.0)], [[(3.0, 2.0)], [(3.0, 3.0)]], [1.0, 1.5])
    alone, wide = run(people, 6.0), run(people, 6.0, slots=48)
    assert np.array_equal(alone[0][:, :2], wide[0][:, :2])
    assert np.array_equal(alone[1][:, :2], wide[1][:, :2])
