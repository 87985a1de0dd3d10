"""Pedestrians and obstacles are placed as asked for, with room for themselves and for the robots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.draft.pedestrian_types import pedestrian_types
from agora.draft.people import People
from agora.draft.scenario import Obstacle, Obstacles, Pedestrian
from agora.draft.scenario import Scenario as ScenarioFile
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import InputError
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.obstacles.none import Nothing
from agora.tasks.obstacles.random import Random
from agora.tasks.obstacles.replay import Replay
from agora.tasks.obstacles.scenario import Scenario as ScenarioMode
from agora.world.trajectories import Trajectories

ROOM = Map.from_shapes(segments=[(2.0, -1.0, 2.0, 4.0)], bounds=(-7.0, -3.5, 9.0, 8.5), resolution=0.1, name="crooked")
START, GOALS = np.array([-5.0, 1.0, 0.3]), np.array([[7.0, 2.0, 0.0], [6.0, 7.0, 1.0]])


def task(episode=0, **world) -> Task:
    made = Task(Surroundings(ROOM, **world), ROOM, 0.35, 0.25, Stream(f"test/stage/{episode}", 3, "task"), People(speed=1.1))
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
    with pytest.raises(InputError, match="random_phase needs recordings that repeat; those of 'crooked' do not"):
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
    with pytest.raises(ValueError, match=rf"^{next(iter(wrong))}(\[0\])?(:| must)"):
        Random(**wrong)


def test_types_and_reactions_come_in_their_shares_and_change_size_and_speed():
    shares = {"types": {"adult": 0.5, "child": 0.2, "wheelchair": 0.3}, "reactions": {"regular": 0.6, "curious": 0.4}}
    people = []
    for episode in range(60):
        made = task(episode)
        made.crowd = People(speed=1.1, speed_deviation=0.0, **shares)
        Random(dynamic=(6, 6)).place(made)
        people += made.pedestrians
    for key, given in shares.items():
        found = [getattr(p, key[:-1]) for p in people]
        for name, share in given.items():
            assert found.count(name) / len(people) == pytest.approx(share, abs=0.08)
    types = pedestrian_types()
    for person in people:
        assert person.speed == pytest.approx(1.1 * types[person.type].speed)
        assert person.radius == pytest.approx(0.3 * types[person.type].radius)


def test_other_reactions_leave_everybody_where_they_are():
    plain, shared = task(3), task(3)
    shared.crowd = People(speed=1.1, reactions={"scared": 1.0})
    for made in (plain, shared):
        Random(dynamic=(5, 5), group_size=(1, 3)).place(made)
    assert all(np.array_equal(a.position, b.position) for a, b in zip(plain.pedestrians, shared.pedestrians, strict=True))
    assert {p.reaction for p in plain.pedestrians} == {"regular"}
    assert {p.reaction for p in shared.pedestrians} == {"scared"}


def test_shares_must_have_known_names_and_add_up():
    with pytest.raises(ValueError, match="types: unknown key 'elders'; did you mean 'elder'"):
        People(types={"elders": 1.0})
    with pytest.raises(ValueError, match="reactions must have shares that add up to 1, got 0.7"):
        People(reactions={"regular": 0.7})
    with pytest.raises(ValueError, match="types.child: expected a number of at least 0"):
        People(types={"adult": 1.5, "child": -0.5})


def test_a_scenarios_types_habits_and_interactive_obstacles_are_taken_over():
    elder = Pedestrian(
        "e", (1.0, 2.0), waypoints=((4.0, 3.0),), type="human/elder", chatting_probability=0.3, talking_base_time=4.0
    )
    waiting = Pedestrian("w", (3.0, 6.0), vmax=0.8, start_up_mode="trigger_zone", trigger_zone_radius=1.5, wait_time=9.0)
    chair = Obstacle("c", "chair", (-2.0, 3.0, 0.4))
    made = task(scenario=ScenarioFile((), Obstacles(interactive=(chair,), dynamic=(elder, waiting))))
    ScenarioMode().place(made)
    first, second = made.pedestrians
    assert (first.type, second.type, second.speed) == ("elder", "adult", 0.8)
    assert first.speed < 0.8 * (1.1 + 2 * 0.26)
    assert (first.habits.chat_probability, first.habits.chat_time, first.habits.story_probability) == (0.3, 4.0, None)
    assert (second.habits.trigger_radius, second.habits.wait_time) == (1.5, 0.0)
    assert [(f.model, f.x, f.y, f.heading) for f in (thing.furniture for thing in made.things)] == [("chair", -2.0, 3.0, 0.4)]
    with pytest.raises(InputError, match="no pedestrian type called 'human/elders'; did you mean 'elder'"):
        ScenarioMode().place(task(scenario=ScenarioFile((), Obstacles(dynamic=(replace(elder, type="human/elders"),)))))


def placed(*people):
    made = task(scenario=ScenarioFile((), Obstacles(dynamic=people)))
    ScenarioMode().place(made)
    return made.pedestrians


def test_an_entry_of_several_pedestrians_is_as_many_side_by_side_with_the_same_way():
    trio = Pedestrian("trio", (0.5, 6.0), waypoints=((4.0, 6.5), (-4.0, 6.0)), waypoint_mode=0, number_of_peds=3)
    people = placed(
        trio,
        Pedestrian("one", (-3.0, 0.0), waypoints=((0.0, 0.0),), number_of_peds=1),
        Pedestrian("none", (5.0, 0.0), number_of_peds=0),
    )
    assert [person.name for person in people] == ["trio_0", "trio_1", "trio_2", "one", "none"]
    assert people[0].position.tolist() == [0.5, 6.0]
    apart = [
        np.hypot(*(a.position - b.position)) for a, b in ((people[0], people[1]), (people[1], people[2]), (people[2], people[0]))
    ]
    assert apart == pytest.approx([0.8] * 3)
    assert len({person.speed for person in people[:3]}) == 3
    assert all(person.waypoints.tolist() == [[4.0, 6.5], [-4.0, 6.0]] for person in people[:3])


def test_twenty_of_one_entry_do_not_touch():
    people = placed(Pedestrian("class", (-2.6, 2.2), number_of_peds=20))
    place = np.array([person.position for person in people])
    gaps = np.hypot(*(place[:, None] - place).transpose(2, 0, 1)) + 9.0 * np.eye(20)
    assert gaps.min() == pytest.approx(0.8)


def test_one_of_several_off_the_map_is_refused_by_its_name():
    with pytest.raises(InputError, match=r"'trio_1' is at \(9\.30, 1\.00\), outside map"):
        placed(Pedestrian("trio", (8.5, 1.0), waypoints=((-4.0, 6.0),), number_of_peds=3))


def test_everybody_looks_where_the_scenario_says_and_who_walks_from_a_place_without_a_heading_to_its_first_waypoint():
    stands, also, walks, editor, east = placed(
        Pedestrian("stands", (0.0, 0.0, 2.1)),
        Pedestrian("also", (0.0, 3.0, -1.3), waypoints=((0.1, 3.1), (0.0, 3.0))),
        Pedestrian("walks", (-3.0, 6.0, 2.1), waypoints=((-3.0, 1.0),)),
        Pedestrian("editor's", (-2.0, 6.0, 0.0), waypoints=((-2.0, 1.0),)),
        Pedestrian("east", (-1.0, 6.0), waypoints=((-1.0, 1.0),), heading=0.0),
    )
    assert (stands.facing(), also.facing(), walks.facing()) == (2.1, -1.3, 2.1)
    assert (editor.facing(), east.facing()) == (pytest.approx(-np.pi / 2), 0.0)


def test_nobody_and_nothing_is_put_into_a_robot_however_little_is_to_be_kept_clear():
    for episode in range(8):
        made = task(episode)
        Random(dynamic=(30, 30), static=(2, 2), keep_clear=0.0).place(made)
        people, discs = np.array([p.position for p in made.pedestrians]), made.map.discs
        radii = np.array([p.radius for p in made.pedestrians])
        assert (np.hypot(*(people - START[:2]).T) - radii).min() >= 0.35 + 0.25
        assert (np.hypot(*(discs[:, :2] - START[:2]).T) - discs[:, 2]).min() >= 0.35 + 0.25
