"""Predicates on made-up drives; pedestrian 7 is the first, 8 the second."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.recordings import among, drive

from agora.tasks.cards import predicates
from agora.tasks.cards.shapes import box, door, junction

TIME = np.linspace(0.0, 10.0, 101)
TURN = 0.7  # rad, by which every drive is turned, so that no axis is special
AXIS = (math.cos(TURN), math.sin(TURN))


def turned(x, y):
    x, y = np.broadcast_arrays(x, y)
    return AXIS[0] * x - AXIS[1] * y + 2.0, AXIS[1] * x + AXIS[0] * y - 1.0


def scene(robot, *walks, present=True):
    """A robot at (x, y) over time and pedestrians, in a turned frame."""
    x, y = turned(*robot)
    return drive(TIME, x, y, **among(TIME, *(turned(*w) for w in walks), present=present))


ROBOT = (TIME - 5.0, 0.0 * TIME)


def test_the_distance_to_nobody_is_infinite():
    alone = scene(ROBOT)
    assert np.isinf(predicates.distance(alone, 7)).all()
    assert not predicates.met(alone, 7, 1e9) and not predicates.head_on(alone, 7, 1e9)
    assert predicates.together(alone, 7, 1e5) == 0.0 and predicates.crowding(alone, 1e9) == 0
    absent = scene(ROBOT, ROBOT, present=False)
    assert np.isinf(predicates.distance(absent, 7)).all() and predicates.meetings(absent, 5.0) == 0


@pytest.mark.parametrize(("beside", "passes"), [(1.9, True), (2.1, False)])
def test_order_changes_where_one_passes_the_other_nearby(beside, passes):
    overtaken = scene(ROBOT, (0.4 * TIME - 3.0, beside))
    assert predicates.changed_order(overtaken, 7, AXIS, 2.0) is passes
    assert not predicates.changed_order(overtaken, 7, AXIS, beside - 0.2)
    assert not predicates.changed_order(scene(ROBOT, (TIME - 3.0, beside)), 7, AXIS, 9.0)


def test_order_that_changes_back_has_not_changed():
    there_and_back = (-0.5 - 2.0 * np.cos(0.2 * math.pi * TIME) + TIME - 5.0 - 0.5, 0.5)
    assert not predicates.changed_order(scene(ROBOT, there_and_back), 7, AXIS, 4.0)


def test_head_on_is_towards_each_other_and_near():
    meeting = scene(ROBOT, (5.0 - TIME, 0.3))
    assert predicates.head_on(meeting, 7, 1.0) and not predicates.head_on(meeting, 7, 0.2)
    assert not predicates.head_on(scene(ROBOT, (TIME - 4.0, 0.3)), 7, 3.0), "the same way"
    assert not predicates.head_on(scene(ROBOT, (0.3, TIME - 5.0)), 7, 3.0), "across"
    assert not predicates.head_on(scene(ROBOT, (-5.5 - TIME, 0.3)), 7, 3.0), "apart"
    assert not predicates.head_on(scene(ROBOT, (0.0, 0.3)), 7, 3.0), "stands"


@pytest.mark.parametrize("late", [0.0, 1.5, 3.0])
def test_the_time_between_two_in_an_area_is_that_between_leaving_and_coming(late):
    area = np.stack(turned(*box(-0.5, -0.5, 0.5, 0.5).T), -1)
    crossing = scene(ROBOT, (0.0 * TIME, TIME - 5.0 - late))
    expected = max(0.0, late - 1.0)
    assert predicates.between(crossing, 7, area) == pytest.approx(expected, abs=0.21)
    robot, person = predicates.first_inside(crossing, 7, area)
    assert (robot, person) == pytest.approx((4.5, 4.5 + late), abs=0.11)
    assert predicates.between(scene(ROBOT), 7, area) == math.inf
    assert predicates.first_inside(scene(ROBOT), 7, area)[1] == math.inf


def test_shares_counts_and_durations():
    beside = scene(ROBOT, (TIME - 5.0, np.where(TIME < 4.0, 1.0, 3.0)), (2.0, 1.0))
    assert predicates.share_near(beside, 7, 0.5, 2.0) == pytest.approx(0.4, abs=0.02)
    assert predicates.crowding(beside, 1.2) == 1 and predicates.crowding(beside, 3.2) == 2
    assert predicates.meetings(beside, 1.2) == 2 and predicates.meetings(beside, 0.9) == 0
    assert predicates.together(beside, 7, 2.0) == pytest.approx(4.0, abs=0.11)
    assert predicates.together(beside, 8, 9.0) == 0.0, "who stands goes nowhere"


def test_a_door_leaves_its_width_and_a_junction_its_arms():
    low, high = door(1.0, -2.0, 3.0, 0.5, 0.9)
    assert low == pytest.approx((0.9, -2.0, 1.1, 0.05)) and high == pytest.approx((0.9, 0.95, 1.1, 3.0))
    place = junction("t", 6.0, 2.0, 3.0, arms="ewn")
    gap = place.gap(np.array([[-5.5, 0.0], [5.5, 0.0], [0.0, 5.5], [0.0, 0.0], [2.5, 2.5], [0.0, -1.05]]))
    assert gap == pytest.approx([0.5, 0.5, 0.5, 1.0, 0.0, 0.0], abs=1e-9)
