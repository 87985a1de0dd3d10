"""Pedestrians and obstacles are placed as asked for, with room for themselves and for the robots."""

from __future__ import annotations

import numpy as np
import pytest

from agora.datasets.trajectories import Trajectories
from agora.errors import InputError
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.obstacles.none import Nothing
from agora.tasks.obstacles.random import Random
from agora.tasks.obstacles.replay import Replay
from agora.tasks.world import People, Task, World

ROOM = Map.from_shapes(segments=[(2.0, -1.0, 2.0, 4.0)], bounds=(-7.0, -3.5, 9.0, 8.5), resolution=0.1, name="crooked")
START, GOALS = np.array([-5.0, 1.0, 0.3]), np.array([[7.0, 2.0, 0.0], [6.0, 7.0, 1.0]])


def task(episode=0, **world) -> Task:
    made = Task(World(ROOM, **world), ROOM, 0.35, 0.25, Stream(f"test/stage/{episode}", 3, "task"), People(speed=1.1))
    made.robots = [(START, GOALS)]
    return made


def test_nothing_is_nothing():
    made = task()
    Nothing().place(made)
    assert (made.pedestrians, made.replay, made.map) == ([], None, ROOM)


def test_random_pedestrians_are_as_many_as_asked_for_apart_clear_and_not_in_the_robots_way():
    counts = set()
    for episode in range(24):
        made = task(episode)
        Random(dynamic=(2, 6), waypoints=3, clearance=0.6, keep_clear=2.0).place(made)
        places = np.array([p.position for p in made.pedestrians])
        counts.add(len(places))
        assert (ROOM.gap(places) >= 0.6 - 1e-9).all()
        assert np.hypot(*(places - START[:2]).T).min() >= 2.0
        apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + 9 * np.eye(len(places))
        assert apart.min() >= 2.2 * 0.3
        for person in made.pedestrians:
            assert person.waypoints.shape == (4, 2) and np.array_equal(person.waypoints[-1], person.position)
            assert (ROOM.gap(person.waypoints) >= 0.6 - 1e-9).all()
            assert abs(person.speed - 1.1) <= 2 * 0.26 and person.group == -1
    assert counts == {2, 3, 4, 5, 6}


def test_members_of_a_group_start_together_share_their_way_and_their_speed():
    made = task()
    Random(dynamic=(9, 9), group_size=(3, 3)).place(made)
    groups = [[p for p in made.pedestrians if p.group == number] for number in range(3)]
    assert [len(group) for group in groups] == [3, 3, 3]
    for group in groups:
        assert len({p.speed for p in group}) == 1
        centre = np.mean([p.position for p in group], axis=0)
        offsets = np.array([p.position - centre for p in group])
        assert np.hypot(*offsets.T) == pytest.approx([0.8] * 3)
        routes = [p.waypoints - offset for p, offset in zip(group, offsets, strict=True)]
        assert routes[0] == pytest.approx(routes[1]) and routes[1] == pytest.approx(routes[2])
        assert ROOM.gap(np.array([p.position for p in group])).min() >= 0.3


def test_random_static_discs_leave_robots_room_to_stand_and_to_pass():
    for episode in range(5):
        made = task(episode)
        Random(static=(4, 4), static_radius=(0.2, 0.6), keep_clear=1.2).place(made)
        discs = made.map.discs
        assert len(discs) == 4 and len(ROOM.discs) == 0
        assert ((discs[:, 2] >= 0.2) & (discs[:, 2] <= 0.6)).all()
        for point in (START[:2], *GOALS[:, :2]):
            assert (np.hypot(*(discs[:, :2] - point).T) - discs[:, 2] >= 1.2).all()
        gaps = np.hypot(*(discs[:, None, :2] - discs[None, :, :2]).transpose(2, 0, 1)) - discs[:, None, 2] - discs[None, :, 2]
        assert (gaps + 9 * np.eye(4)).min() >= 2 * (0.35 + 0.25)


def test_a_replay_needs_a_recording_and_a_phase_one_that_repeats():
    once = Trajectories(np.array([0.0, 1.0]), np.zeros(2), np.zeros(2), np.array([0, 2]), np.array([1]))
    knots = np.zeros(4)
    again = Trajectories(np.arange(4.0), knots, knots, np.array([0, 2, 4]), np.array([1, 2]), period=np.array([1.0, 5.0]))
    made = task(replay=once)
    Replay().place(made)
    assert made.replay is once and made.phase.size == 0
    phases = []
    for episode in range(40):
        made = task(episode, replay=again)
        Replay(random_phase=True).place(made)
        phases.append(made.phase)
    low, high = np.min(phases, axis=0), np.max(phases, axis=0)
    assert (low >= 0).all() and (high < [1.0, 5.0]).all() and (high > [0.8, 4.0]).all()
    with pytest.raises(InputError, match="random_phase needs recordings that repeat; 'crooked' has none"):
        Replay(random_phase=True).place(task(replay=once))
    with pytest.raises(InputError, match="world 'crooked' has no recorded pedestrians"):
        Replay().place(task())


@pytest.mark.parametrize(
    "wrong",
    [
        {"dynamic": (3, 2)},
        {"static": (-1, 2)},
        {"group_size": (0, 2)},
        {"dynamic": (0, 10**9)},
        {"static_radius": (0.0, 1.0)},
        {"waypoints": 0},
        {"clearance": -0.1},
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} must be"):
        Random(**wrong)
