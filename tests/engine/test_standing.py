"""The reasons that the library notes about robots that stand and whose planner gives none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from tests.starts import DISC, people, start

from agora.core.recording import Reason
from agora.episode import Conditions, Episodes
from agora.interfaces import Answer, Declaration
from agora.maps.grid import Map
from agora.pedestrians.models.waypoint import Waypoint
from agora.world.records import END_WALL

PLACE = Map.from_shapes(bounds=(-10.0, -8.0, 10.0, 8.0), segments=[(4.0, -3.0, 4.0, 3.0)])
CELL = Map.from_shapes(
    bounds=(-10.0, -8.0, 10.0, 8.0),
    segments=[(-3.0, -2.0, -1.2, -2.0), (-1.2, -2.0, -1.2, 0.0), (-1.2, 0.0, -3.0, 0.0), (-3.0, 0.0, -3.0, -2.0)],
)


@dataclass(frozen=True)
class Told:
    """Drives ahead for some calls, and then gives twists by turns, without a reason, or with one at every call."""

    declares: ClassVar[Declaration] = Declaration(notes=("reason",))
    twists: tuple[tuple[float, float, float], ...] = ((0.0, 0.0, 0.0),)
    drives: int = 0
    reason: Reason = Reason.NONE

    def act(self, observation, memory):
        calls = memory.get("calls", np.zeros(len(observation.pose), np.int32)) + 1
        by_turns = np.array(self.twists, np.float32)[calls % len(self.twists)]
        twists = np.where((calls <= self.drives)[:, None], np.float32((0.5, 0.0, 0.0)), by_turns)
        return Answer(twists.astype(np.float32), {"calls": calls}, {"reason": np.full(len(calls), self.reason, np.int8)})


def reasons(planner, seconds=8.0, pose=(0.0, 0.0, 0.0), place=PLACE, crowd=None):
    """The reasons of the first episode's calls, ten a second."""
    begun = start(pose=pose, goal=(-8.0, 6.0, 0.0), place=place, crowd=crowd, timeout=seconds)
    ((_, (made,)),) = Episodes([begun], planner, Conditions(crowd=Waypoint(), ends=END_WALL))
    return [Reason(int(number)) for number in made.reason]


@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        ({}, Reason.STANDS),
        ({"pose": (3.5, 0.0, 0.0)}, Reason.STANDS_BY_WALL),
        ({"pose": (3.3, 0.0, 0.0), "crowd": people([(3.3, 1.4)], [(3.3, 1.4)])}, Reason.STANDS_BY_SOMEBODY),
        ({"crowd": people([(0.0, 2.0)], [(0.0, 2.0)])}, Reason.STANDS),
        ({"pose": (-2.0, -1.0, 0.0), "place": CELL}, Reason.NO_PATH),
    ],
    ids=["in the open", "at a wall", "beside somebody", "far from somebody", "shut in"],
)
def test_a_robot_that_stands_for_five_seconds_has_a_reason_from_then_on(scene, expected):
    noted = reasons(Told(), **scene)
    assert noted == [Reason.NONE] * 50 + [expected] * 30


@pytest.mark.parametrize(
    "twists",
    [((0.2, 0.0, 0.0), (-0.2, 0.0, 0.0)), ((0.0, 0.0, 0.5), (0.0, 0.0, -0.5)), ((0.0, 0.0, 1.0),)],
    ids=["to and fro", "left and right", "round and round"],
)
def test_a_robot_that_is_told_to_move_and_stays_where_it_is_makes_no_headway(twists):
    noted = reasons(Told(twists))
    assert set(noted[:50]) == {Reason.NONE} and set(noted[51:]) == {Reason.NO_HEADWAY}


def test_the_five_seconds_begin_when_the_robot_has_stopped():
    noted = reasons(Told(drives=20))
    assert set(noted[:68]) == {Reason.NONE} and set(noted[72:]) == {Reason.STANDS}


def test_the_reason_of_the_planner_stays():
    assert set(reasons(Told(reason=Reason.WAITING))) == {Reason.WAITING}


def test_a_robot_at_its_goal_that_turns_to_the_goal_s_heading_needs_no_reason():
    begun = start(pose=(0.0, 0.0, 0.0), goal=(0.1, 0.0, 3.0), place=PLACE, timeout=8.0)
    begun = replace(begun, heading_tolerance=0.1)
    ((_, (made,)),) = Episodes([begun], Told(((0.0, 0.0, 0.02),)), Conditions(ends=END_WALL))
    assert not made.reason.any()


def test_a_slow_robot_that_drives_has_moved():
    crawls = replace(DISC, vx=(0.0, 0.03))
    begun = start(pose=(0.0, 0.0, 0.0), goal=(-8.0, 6.0, 0.0), place=PLACE, model=crawls, timeout=9.0)
    ((_, (made,)),) = Episodes([begun], Told(((0.03, 0.0, 0.0),)), Conditions(ends=END_WALL))
    assert not made.reason.any()


def test_what_is_noted_does_not_depend_on_the_batch():
    starts = [start(pose=(3.3 - k, 0.0, 0.0), goal=(-8.0, 6.0, 0.0), place=PLACE, timeout=6.0 + 0.3 * k) for k in range(4)]
    planner = Told(drives=4)

    def noted(starts, worlds):
        episodes = Episodes(starts, planner, Conditions(ends=END_WALL), worlds=worlds)
        return [made.reason.tolist() for _, (made,) in sorted(episodes, key=lambda item: item[0])]

    alone = [noted([begun], 1)[0] for begun in starts]
    assert noted(starts, 2) == noted(starts, 4) == alone and any(Reason.STANDS_BY_WALL in one for one in alone)
