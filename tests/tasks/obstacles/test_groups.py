"""The obstacles mode `groups`: F-formations with room for all, and walking groups besides."""

from __future__ import annotations

import numpy as np
import pytest

from agora.draft.people import People
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.maps.grid import Map
from agora.pedestrians.shared.formations import o_space_radius
from agora.perception.groups import GroupDetector
from agora.perception.spaces import o_space
from agora.seeds import Stream
from agora.tasks.obstacles.groups import Groups

ROOM = Map.from_shapes(segments=[(2.0, -1.0, 2.0, 4.0)], bounds=(-9.0, -7.5, 13.0, 11.5), resolution=0.1, name="crooked")
START, GOALS = np.array([-5.0, 1.0, 0.3]), np.array([[7.0, 2.0, 0.0], [6.0, 7.0, 1.0]])


def task(episode=0) -> Task:
    made = Task(Surroundings(ROOM), ROOM, 0.35, 0.25, Stream(f"test/stage/{episode}", 3, "task"), People(speed=1.1))
    made.robots = [(START, GOALS)]
    return made


def test_standing_groups_stand_on_their_ring_clear_of_walls_robots_and_each_other():
    counts, sizes = set(), set()
    for episode in range(16):
        made = task(episode)
        Groups(standing_groups=(1, 3), standing_size=(2, 5), dynamic=(4, 4), keep_clear=1.2).place(made)
        numbers = [p.group for p in made.pedestrians if p.state != "walking"]
        counts.add(len(set(numbers)))
        places = np.array([p.position for p in made.pedestrians])
        assert ROOM.gap(places).min() >= 0.3
        apart = np.hypot(*(places[:, None] - places).transpose(2, 0, 1)) + 9 * np.eye(len(places))
        assert apart.min() > 0.6
        for number in set(numbers):
            members = [p for p in made.pedestrians if p.group == number]
            sizes.add(len(members))
            position, heading = np.array([p.position for p in members]), np.array([p.facing() for p in members])
            centre, radius = o_space(position, heading, float(o_space_radius(len(members))))
            assert np.hypot(*(position - centre).T) == pytest.approx([float(o_space_radius(len(members)))] * len(members))
            for point in (START[:2], *GOALS[:, :2]):
                assert np.hypot(*(centre - point)) >= 1.2 + radius
            assert [p.state for p in members].count("talking") == 1
            assert all(np.array_equal(p.waypoints, p.position[None]) and p.mode == 2 for p in members)
    assert counts == {1, 2, 3} and sizes == {2, 3, 4, 5}


def test_walking_groups_have_numbers_of_their_own():
    made = task(2)
    Groups(standing_groups=(2, 2), dynamic=(9, 9), group_size=(3, 3)).place(made)
    standing = {p.group for p in made.pedestrians if p.state != "walking"}
    walking = {p.group for p in made.pedestrians if p.state == "walking"}
    assert standing == {0, 1} and walking == {2, 3, 4}


def test_who_may_leave_has_somewhere_to_go():
    made = task()
    Groups(standing_groups=(1, 1), standing_waypoints=2).place(made)
    assert all(p.waypoints.shape == (2, 2) and (ROOM.gap(p.waypoints) >= 0.5 - 1e-9).all() for p in made.pedestrians)


def test_the_detector_finds_the_groups_that_were_placed():
    for episode in range(6):
        made = task(episode)
        Groups(standing_groups=(2, 3), standing_size=(2, 6)).place(made)
        position = np.array([[p.position for p in made.pedestrians]])
        heading = np.array([[p.facing() for p in made.pedestrians]])
        found = GroupDetector().detect(position, np.zeros_like(position), heading, np.ones(heading.shape, bool))
        assert found.tolist() == [p.group for p in made.pedestrians]


@pytest.mark.parametrize("wrong", [{"standing_groups": (2, 1)}, {"standing_size": (1, 3)}, {"standing_waypoints": -1}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}(: expected| must be)"):
        Groups(**wrong)
