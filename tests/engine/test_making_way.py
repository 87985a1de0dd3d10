"""Pedestrians make room: nobody stays wedged between standing bodies, and nobody enters a full place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.places import moved
from tests.starts import DISC, people, start

from agora.core.state import LEAVE, SOCIAL_STATES
from agora.engine.conditions import Conditions
from agora.maps.grid import Map
from agora.pedestrians.behaviours.cues import Cues
from agora.pedestrians.behaviours.groups import Groups
from agora.pedestrians.models.anticipation import Anticipation
from agora.testing.scenes import Move
from agora.validation.movement import Movement, Tracks, measure
from agora.validation.places import tracks
from agora.world.start import PedestrianStarts, RobotStart, Start

HERE = Move()
TERMS = Conditions(crowd=(Anticipation(),), behaviours=(Groups(), Cues()), routes=True, careful=True)
FOR_LONG = 1000.0  # s
CLOSED = [(7.5, y) for y in (0.25, 0.75, 1.25, 1.75)]
"""Places of robots that close an aisle of 2 m."""


def aisle(width: float, length: float = 16.0) -> Map:
    """An aisle along x from 0, with walls at y = 0 and ``width``."""
    lines = [[-1.0, y, length + 1.0, y] for y in (0.0, width)]
    return Map.from_shapes(segments=lines, bounds=(-1.0, -0.6, length + 1.0, width + 0.6), name="aisle")


def crowd(places, waypoints, waits=0.0, **more) -> PedestrianStarts:
    """Pedestrians that set out after a time, s."""
    made = people(places, waypoints, speed=1.2)
    count = len(made.id)
    times = np.zeros((count, made.waypoints.shape[1]))
    times[:, 0] = waits
    doing = np.where(times > 0, SOCIAL_STATES.index("idle"), -1).astype(np.int32)
    return replace(made, waits=times, doing=doing, facing=np.zeros(times.shape), **more)


def scene(place: Map, people_: PedestrianStarts, robots=(), move: Move = HERE) -> Start:
    """A scene of people and standing robots, moved as a whole."""
    made = replace(start(crowd=people_, place=moved(place, move)), robots=())
    at = [RobotStart(DISC, move.poses(np.array([x, y, 0.0])), move.poses(np.array([[x, y, 0.0]]))) for x, y in robots]
    ways = move.points(people_.waypoints.reshape(-1, 2)).reshape(people_.waypoints.shape)
    moved_people = replace(people_, position=move.points(people_.position), waypoints=ways, velocity=people_.velocity * 0.0)
    return replace(made, pedestrians=moved_people, robots=tuple(at))


def played(made: Start, seconds: float = 60.0, terms: Conditions = TERMS) -> tuple[Tracks, Movement]:
    """Play a scene with standing robots."""
    seen = tracks(made, terms, seconds)
    return seen, measure(seen)


def two_pairs(talking: bool) -> PedestrianStarts:
    """Two pairs that stand across an aisle of 2 m, 1.4 m apart, and three people on either side that want to pass."""
    pairs = [(7.3, 0.68), (7.3, 1.32), (8.7, 0.68), (8.7, 1.32)]
    walkers = [(1.0, 0.6), (2.0, 1.4), (3.0, 1.0), (13.0, 1.0), (14.0, 0.6), (15.0, 1.4)]
    goals = [*pairs, *[(15.2, y) for _, y in walkers[:3]], *[(0.8, y) for _, y in walkers[3:]]]
    group = np.array([0, 0, 1, 1] + [-1] * 6, np.int32)
    made = crowd([*pairs, *walkers], goals, [0.0 if talking else FOR_LONG] * 4 + [0.0] * 6)
    if not talking:
        return made
    state = np.array([SOCIAL_STATES.index("talking")] * 4 + [SOCIAL_STATES.index("walking")] * 6, np.int32)
    return replace(made, group=group, state=state, heading=np.array([1.5708, -1.5708] * 2 + [0.0] * 6))


@pytest.mark.parametrize("talking", [False, True])
def test_people_pass_two_pairs_that_block_an_aisle(talking):
    seen, found = played(scene(aisle(2.0), two_pairs(talking)), 90.0)
    walked = seen.position[-1, 4:, 0] - seen.position[0, 4:, 0]
    assert (np.abs(walked) > 9.0).all() and (np.sign(walked) == [1, 1, 1, -1, -1, -1]).all()
    assert not found.is_jam
    assert found.wedged <= 1  # one of the six may wait for more than 10 s until oncoming people have passed


@pytest.mark.parametrize("gap", [0.38, 0.45, 0.53])
@pytest.mark.parametrize("left", [False, True])
def test_nobody_stays_squeezed_between_a_stationary_robot_and_a_wall(gap, left):
    """The robot leaves the other side of the 3 m corridor free."""
    y = gap + DISC.radius
    places = [(1.0 + k, 0.35 + 0.1 * (k % 2)) for k in range(5)]
    made = replace(crowd(places, [(15.5, 0.4)] * 5), mode=np.full(5, LEAVE, np.int32))
    late = replace(TERMS, minding=("late",))
    seen, found = played(scene(aisle(3.0), made, [(6.5, y)], Move(mirror=left)), 40.0, late)
    assert not seen.present[-1].any()
    assert not found.wedged


def test_nobody_comes_in_while_people_near_the_entrance_are_stuck():
    """Robots close an aisle of 2 m, 7 m from its entrance. A pedestrian wants to enter every two seconds."""
    count = 24
    made = crowd([(0.5, 1.0)] * count, [(15.5, 1.0)] * count)
    made = replace(made, mode=np.full(count, LEAVE, np.int32), enters=2.0 * np.arange(1, count + 1))
    seen, _ = played(scene(aisle(2.0), made, CLOSED), 80.0)
    assert 3 <= seen.present[-1].sum() <= 12
    assert np.diff(seen.present[125:].sum(axis=1)).max() == 0  # from 50 s on


def test_a_pedestrian_that_cannot_reach_a_place_goes_on_to_the_next():
    """The first place lies behind robots that close the aisle."""
    made = crowd([(2.0, 1.0)], [[(12.0, 1.0), (0.5, 1.0)]])
    seen, _ = played(scene(aisle(2.0), made, CLOSED), 60.0)
    assert seen.position[:, 0, 0].max() > 6.0
    assert np.hypot(*(seen.position[-1, 0] - (0.5, 1.0))) < 0.5


def test_a_pedestrian_that_cannot_leave_takes_another_exit_behind_it():
    """Robots close the aisle; another pedestrian leaves at its other end."""
    made = crowd([(3.0, 1.0), (2.0, 1.5)], [(15.5, 1.0), (0.5, 1.5)])
    seen, _ = played(scene(aisle(2.0), replace(made, mode=np.full(2, LEAVE, np.int32)), CLOSED), 60.0)
    assert seen.position[:, 0, 0].max() > 6.0 and not seen.present[-1].any()


def test_people_who_sit_keep_their_places():
    made = crowd([(7.0, 1.0), (2.0, 1.0)], [[(15.0, 1.0), (15.0, 1.0)], [(15.0, 1.2), (15.0, 1.2)]], [FOR_LONG, 0.0])
    made = replace(made, doing=np.array([[SOCIAL_STATES.index("sitting"), -1], [-1, -1]], np.int32))
    seen, _ = played(scene(aisle(2.0), made), 30.0)
    assert np.ptp(seen.position[:, 0], axis=0).max() < 1e-3
