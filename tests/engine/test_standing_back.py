"""People who cannot get through take another way, or stand back, wait, and go on when the passage is free."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.engine.test_making_way import FOR_LONG, TERMS, aisle, crowd, played, scene
from tests.engines import engine

from agora.core.state import LEAVE, SOCIAL_STATES
from agora.maps.grid import Map
from agora.testing.scenes import Move

SITTING = SOCIAL_STATES.index("sitting")
CLOSED = [(7.5, y) for y in (0.25, 0.75, 1.25, 1.75)]
"""Places of robots that close an aisle of 2 m."""


def rooms(*doors: float, width: float = 1.0) -> Map:
    """Two rooms of 8 x 8 m, joined by doors in the wall at x = 8 at some y."""
    edges = [0.0, *np.ravel([(y - width / 2, y + width / 2) for y in doors]), 8.0]
    walls = [[8.0, low, 8.0, high] for low, high in zip(edges[::2], edges[1::2], strict=True)]
    around = [[0.0, 0.0, 16.0, 0.0], [0.0, 8.0, 16.0, 8.0], [0.0, 0.0, 0.0, 8.0], [16.0, 0.0, 16.0, 8.0]]
    return Map.from_shapes(segments=walls + around, bounds=(-0.5, -0.7, 16.5, 8.7), name="rooms")


def from_door(seen, y: float):
    """The distances (T, P) of people from the middle of a door."""
    return np.hypot(*(seen.position - (8.0, y)).transpose(2, 0, 1))


def test_people_stand_back_from_a_door_in_which_a_robot_stands():
    made = crowd([(4.0, 4.0), (3.0, 4.5), (2.0, 3.5)], [(12.0, 4.0), (13.0, 5.0), (13.0, 3.0)])
    seen, found = played(scene(rooms(4.0), made, [(8.0, 4.0)]), 60.0)
    assert not found.wedged and not found.is_jam
    near = from_door(seen, 4.0) < 1.3
    still = np.hypot(*np.diff(seen.position, axis=0).transpose(2, 0, 1)) < 0.02
    assert (~seen.wants & ~near).any(axis=0).all()  # everybody waits, away from the door
    assert not (still & near[1:] & ~seen.wants[1:]).any()


def test_a_pedestrian_that_stood_back_goes_on_when_the_door_is_free():
    """A person sits in the doorway for 25 s, then leaves through it."""
    made = crowd([(8.0, 4.0), (4.0, 4.0)], [[(13.0, 6.0), (13.0, 6.0)], [(12.0, 4.0), (12.0, 4.0)]], [25.0, 0.0])
    made = replace(made, doing=np.array([[SITTING, -1], [-1, -1]], np.int32), mode=np.full(2, LEAVE, np.int32))
    seen, found = played(scene(rooms(4.0), made), 60.0)
    waits = ~seen.wants[:, 1] & seen.present[:, 1]
    assert waits[: round(25.0 / 0.4)].any() and (from_door(seen, 4.0)[waits, 1] > 1.3).all()
    assert not seen.present[-1, 1] and not found.wedged


@pytest.mark.parametrize("move", [Move(), Move(turn=np.pi / 2), Move(mirror=True), Move(3.2, -6.4)])
def test_people_take_the_other_door_if_a_robot_stands_in_the_first(move):
    made = crowd([(4.0, 2.0), (3.0, 1.5)], [(12.0, 2.0), (13.0, 2.5)])
    seen, found = played(scene(rooms(2.0, 6.0), made, [(8.0, 2.0)], move), 60.0)
    ends = move.points(made.waypoints.reshape(-1, 2))
    assert (np.hypot(*(seen.position[-1] - ends).T) < 0.8).all() and not found.wedged


def test_people_who_sit_across_an_aisle_are_not_pushed():
    sitters = [(7.5, 0.35), (7.5, 1.0), (7.5, 1.65)]
    made = crowd([*sitters, (3.0, 1.0), (2.0, 0.6)], [[(15.0, 1.0)] * 2] * 5)
    times = np.zeros_like(made.waits)
    times[:3, 0] = FOR_LONG
    made = replace(made, waits=times, doing=np.where(times > 0, SITTING, -1).astype(np.int32))
    seen, found = played(scene(aisle(2.0), made), 40.0)
    assert np.ptp(seen.position[:, :3], axis=0).max() < 0.05 and not found.wedged
    assert (~seen.wants[:, 3:] & (seen.position[:, 3:, 0] < 6.2)).any(axis=0).all()


@pytest.mark.parametrize("seed", range(3))
def test_two_crowds_pass_each_other_through_one_door(seed):
    """Ten people on each side of a 1 m door. Everybody gets through, and nobody is wedged."""
    rng = np.random.default_rng(seed)
    places = np.stack(np.meshgrid(np.arange(5) * 0.9 + 2.0, [3.2, 4.6]), -1).reshape(-1, 2) + rng.uniform(-0.1, 0.1, (10, 2))
    others = (16.0, 8.0) - places
    made = crowd([*places, *others], [*others, *places])
    seen, found = played(scene(rooms(4.0), replace(made, mode=np.full(20, LEAVE, np.int32))), 90.0)
    assert not found.is_jam and not found.wedged
    assert not seen.present[-1].any()


def test_the_same_people_do_the_same_in_any_batch_and_on_any_threads():
    """People who stand back, take the other door or make way, alone and beside other worlds."""
    closed = scene(rooms(2.0, 6.0), crowd([(4.0, 2.0), (3.0, 1.5), (5.0, 2.2)], [(12.0, 2.0)] * 3), [(8.0, 2.0)])
    barred = scene(aisle(2.0), crowd([(5.0, 1.0), (4.0, 0.6), (3.0, 1.2)], [(15.0, 1.0)] * 3), CLOSED)
    terms = {"crowd": TERMS.crowd[0], "routes": True, "careful": True, "ends": 0}

    def after(starts, **how):
        starts = [replace(one, robots=one.robots[:1], timeout=60.0) for one in starts]
        made = engine(starts, 0.05, **terms, **how)
        for _ in range(400):
            made.step()
        there = made.world.pedestrians
        made.close()
        return np.stack([there.x, there.y, there.vx, there.vy], -1)[:, :3]

    together = after([closed, barred])
    assert np.array_equal(together, after([closed, barred], threads=2))
    assert np.array_equal(together, after([closed, barred], worlds=4, slots=32)[:2])
    assert np.array_equal(together[0], after([closed])[0]) and np.array_equal(together[1], after([barred])[0])
