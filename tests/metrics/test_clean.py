"""Clean arrivals and spoiling causes, on scenes drawn by hand; the robot's radius is 0.3 m, a pedestrian's 0.25 m."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.recording import ContactKind, Outcome
from agora.maps.grid import Map
from agora.metrics import clean
from recordings import among, drive, touching

TIME = np.arange(0.0, 10.01, 0.1)
STILL = np.zeros_like(TIME)
TOUCH = 0.55
TILT = 0.7


def spoilt(recording):
    """The causes in words; a clean arrival has none. Also checks that the indicator agrees."""
    found = [words for name, words in clean.CAUSES.items() if getattr(clean, name)(recording)]
    assert clean.clean_arrival(recording) == float(not found)
    return found


def turned(x, y):
    """Places in a rotated and shifted frame, so that nothing lies along an axis."""
    c, s = np.cos(TILT), np.sin(TILT)
    return 3.0 + c * x - s * y, -2.0 + s * x + c * y


def robot(x, y=0.0, *walks, group=None, **changes):
    """A robot at x, y in the rotated frame among pedestrians at (x, y) there, all in one group if a group is given."""
    crowd = among(TIME, *(turned(STILL + a, STILL + b) for a, b in walks))
    if group is not None:
        crowd["pedestrian_group"][:] = group
    track = turned(STILL + x, STILL + y)
    return drive(TIME, *track, TILT, **({"shortest_path": 10.0} | crowd | changes))


AHEAD = TIME.copy()
"""A drive along x at 1 m/s, the robot's top speed, from 0 to 10 m."""


@pytest.mark.parametrize("walks", [(), ((5.0, TOUCH + 0.46),)])
def test_an_arrival_without_people_or_with_a_person_at_a_polite_distance_is_clean(walks):
    assert spoilt(robot(AHEAD, 0.0, *walks)) == []


def test_a_robot_that_does_not_arrive_is_neither_clean_nor_spoilt():
    lost = robot(AHEAD, 0.0, (5.0, 0.3), outcome=Outcome.TIMEOUT)
    assert clean.clean_arrival(lost) == 0.0
    assert {getattr(clean, name)(lost) for name in clean.CAUSES} == {0.0}


def test_a_robot_that_drives_at_a_standing_person_closes_an_intimate_distance():
    assert spoilt(robot(np.minimum(AHEAD, 9.1), 0.0, (10.0, 0.0))) == ["intimate distance"]
    assert spoilt(robot(np.minimum(AHEAD, 8.9), 0.0, (10.0, 0.0))) == []


def test_a_robot_that_stands_while_a_person_walks_past_it_is_not_to_blame():
    passes = 1.3 * TIME - 6.5
    assert spoilt(robot(0.0, 0.0, (passes, TOUCH + 0.3), shortest_path=0.0)) == []
    assert spoilt(robot(0.0, 0.0, (passes, 0.2), shortest_path=0.0)) == []


@pytest.mark.parametrize(("speed", "found"), [(0.0, ["intimate distance"]), (1.2, ["intimate distance"]), (1.6, [])])
def test_the_robot_is_to_blame_for_a_close_pass_unless_the_person_is_clearly_faster(speed, found):
    assert spoilt(robot(AHEAD, 0.0, (9.0 - speed * TIME, TOUCH + 0.2))) == found


def test_a_person_who_overtakes_closely_closes_the_distance_itself():
    assert spoilt(robot(AHEAD, 0.0, (1.8 * TIME - 4.0, TOUCH + 0.2))) == []


def test_a_robot_that_keeps_driving_at_a_person_who_came_near_is_to_blame():
    comes = 3.0 - np.minimum(TIME, 1.0) * 0.45 + STILL
    stops = np.where(TIME < 2.0, 1.6, np.minimum(1.6 + 0.5 * (TIME - 2.0), 2.0))
    assert spoilt(robot(1.6, 0.0, (comes, 0.0), shortest_path=0.0)) == []
    assert spoilt(robot(stops, 0.0, (comes, 0.0), shortest_path=0.0)) == ["intimate distance"]


def test_a_robot_that_starts_beside_a_person_and_drives_away_is_clean():
    assert spoilt(robot(AHEAD, 0.0, (-0.65, 0.0))) == []
    assert spoilt(robot(AHEAD, 0.0, (0.0, -0.65))) == []


def hall(*segments):
    """A map with walls between points of the rotated frame."""
    lines = [[v for x, y in ends for v in turned(x, y)] for ends in segments]
    return Map.from_shapes(segments=lines, bounds=(-12.0, -12.0, 18.0, 18.0), resolution=0.05)


def test_people_behind_a_wall_are_not_disturbed():
    near, wall = ((5.0, 0.75),), hall(((-2.0, 0.4), (12.0, 0.4)))
    assert spoilt(robot(AHEAD, 0.0, *near)) == ["intimate distance"]
    assert spoilt(robot(AHEAD, 0.0, *near, map=wall)) == []
    assert spoilt(robot(AHEAD, 0.0, *near, map=hall(((-2.0, 0.4), (4.0, 0.4))))) == ["intimate distance"]


PAIR = ((5.0, 1.1), (5.0, -1.2))


def test_a_group_is_crossed_between_two_members_and_not_beside_them():
    assert spoilt(robot(AHEAD, 0.0, *PAIR, group=4)) == ["group crossed"]
    assert spoilt(robot(AHEAD, 0.0, *PAIR)) == []
    assert spoilt(robot(AHEAD, 2.2, *PAIR, group=4)) == []
    assert spoilt(robot(np.minimum(AHEAD, 4.9), 0.0, *PAIR, group=4)) == []


def test_members_far_apart_or_behind_a_wall_are_not_a_group():
    assert spoilt(robot(AHEAD, 0.0, (5.0, 2.0), (5.0, -1.7), group=4)) == []
    beyond = hall(((-2.0, 0.6), (12.0, 0.6)))
    assert spoilt(robot(AHEAD, 0.0, *PAIR, group=4, map=beyond)) == []


def test_a_group_that_walks_round_a_standing_robot_is_not_crossed_by_it():
    walks = 6.0 - 1.2 * TIME
    assert spoilt(robot(0.0, 0.0, (walks, 1.1), (walks, -1.2), group=0, shortest_path=0.0)) == []
    assert spoilt(robot(AHEAD, 0.0, (9.0 - 0.5 * TIME, 1.1), (9.0 - 0.5 * TIME, -1.2), group=0)) == ["group crossed"]


@pytest.mark.parametrize(("way", "found"), [(6.67, []), (10.0 / 1.5, ["time"]), (4.0, ["time"]), (0.0, [])])
def test_time_spoils_an_arrival_from_1_5_times_the_free_time(way, found):
    assert spoilt(robot(AHEAD, shortest_path=way)) == found


def test_without_a_known_path_only_the_other_causes_can_spoil():
    assert clean.clean_arrival(robot(AHEAD, shortest_path=np.inf)) is None
    assert clean.spoilt_by_time(robot(AHEAD, shortest_path=np.inf)) is None
    assert clean.clean_arrival(robot(AHEAD, 0.0, (5.0, 0.3), shortest_path=np.inf)) == 0.0


@pytest.mark.parametrize(
    ("kind", "found"), [(ContactKind.WALL, ["contact"]), (ContactKind.ROBOT, ["contact"]), (ContactKind.PEDESTRIAN, [])]
)
def test_contact_with_a_wall_or_robot_spoils_and_a_person_counts_if_the_robot_closed_the_distance(kind, found):
    assert spoilt(robot(AHEAD, contacts=touching(kind))) == found


def held_up(pause):
    """A person who stands 1 m beside the robot's path for a while, but would have walked on without robots."""
    along = -2.0 + 1.2 * (TIME - np.clip(TIME - 2.0, 0.0, pause))
    without = among(TIME, turned(-2.0 + 1.2 * TIME, STILL + 1.1))["pedestrian_position"]
    return robot(0.3 * TIME, 0.0, (along, 1.1), shortest_path=3.0 + 0 * pause, undisturbed=without)


def test_delay_spoils_if_the_robot_delayed_a_person_by_more_than_five_seconds():
    slow = [dataclasses.replace(held_up(pause), max_speed=0.3) for pause in (0.0, 4.0, 6.0)]
    assert [spoilt(one) for one in slow] == [[], [], ["delay of people"]]
    assert spoilt(dataclasses.replace(slow[2], undisturbed=None)) == []


def test_a_delay_far_from_the_robot_does_not_spoil():
    far = dataclasses.replace(held_up(6.0), max_speed=0.3)
    away = dataclasses.replace(
        far, pedestrian_position=far.pedestrian_position + (9.0, 9.0), undisturbed=far.undisturbed + (9.0, 9.0)
    )
    assert spoilt(away) == []


def test_other_limits_give_other_results():
    passing = robot(AHEAD, 0.0, (5.0, TOUCH + 0.46), shortest_path=6.0)
    assert clean.CleanArrival(time=1.7)(passing) == 1.0
    assert clean.CleanArrival(time=1.7, intimate=0.5)(passing) == 0.0
    assert clean.CleanArrival()(passing) == 0.0
