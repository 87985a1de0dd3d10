"""People who are composed by hand: their states, partners and headings in scenario files, and what is refused."""

from __future__ import annotations

import json
import math

import pytest

from agora.draft.conversations import conversations
from agora.draft.people import People
from agora.draft.scenario import Pedestrian, read_scenario, scenario_in, write_scenario
from agora.draft.surroundings import Surroundings
from agora.errors import InputError
from agora.maps.place import Place, write_place
from agora.seeds import Stream
from agora.tasks.obstacles.scenario import needs_of, scenario_people
from agora.testing.tasks import hall


def file_of(tmp_path, *people):
    """A scenario file of a world; a line for each person, the first on line 4."""
    (tmp_path / "scenarios").mkdir(exist_ok=True)
    path = tmp_path / "scenarios" / "a.json"
    lines = ",\n".join(json.dumps(person) for person in people)
    path.write_text(f'{{"robots": [],\n"obstacles": {{\n"dynamic": [\n{lines}]}}}}')
    return path


def people_in(path):
    place = hall()
    world = Surroundings(place, scenario_in(place, path), scenario_file=path)
    return [person for _, person in scenario_people(world, People(), Stream("a", 1, "task"))]


def test_one_sided_partners_talk_with_each_other_and_look_at_each_other(tmp_path):
    path = file_of(
        tmp_path,
        {"name": "a", "pos": [2.0, 3.0], "with": "b", "state_time": 7.5},
        {"name": "b", "pos": [2.6, 3.8, 0]},
        {"name": "c", "pos": [5.0, 3.0, -1.2], "state": "phone"},
    )
    a, b, c = people_in(path)
    assert [(p.state, p.talk, p.state_time) for p in (a, b, c)] == [
        ("talking", 0, 7.5),
        ("talking", 0, 7.5),
        ("phone", -1, 36_000.0),
    ]
    assert (a.facing(), b.facing(), c.facing()) == pytest.approx((math.atan2(0.8, 0.6), math.atan2(-0.8, -0.6), -1.2))
    assert needs_of(read_scenario(path)) == ("given_states",)


def test_chains_and_several_of_one_entry_are_one_conversation():
    people = [
        Pedestrian("a", (0.0, 0.0), partners="b"),
        Pedestrian("x", (9.0, 0.0), state="talking", number_of_peds=2),
        Pedestrian("b", (1.0, 0.0), partners=("c",)),
        Pedestrian("c", (1.0, 1.0), state="listening"),
        Pedestrian("alone", (5.0, 5.0)),
    ]
    whole, talks = conversations(people)
    assert talks[0] == talks[2] == talks[3] != talks[1] >= 0 and talks[4] == -1
    assert [entry.state for entry in whole] == ["talking", "talking", "talking", "listening", None]


def test_a_start_up_condition_ends_the_state_and_is_no_second_wait(tmp_path):
    waits, triggered, both = people_in(
        file_of(
            tmp_path,
            {"name": "a", "pos": [2, 3], "state": "idle", "start_up_mode": "wait_timer", "wait_time": 5.0},
            {"name": "b", "pos": [4, 3], "state": "sitting", "start_up_mode": "trigger_zone", "trigger_zone_radius": 2.5},
            {"name": "c", "pos": [6, 3], "state": "idle", "start_up_mode": "wait_timer", "wait_time": 5.0, "state_time": 3.0},
        )
    )
    assert (waits.state_time, triggered.state_radius, both.state_time) == (5.0, 2.5, 3.0)
    assert (waits.habits.wait_time, triggered.habits.trigger_radius) == (0.0, 0.0)


def test_a_reaction_needs_social_states_and_a_heading_of_0_is_one_where_it_is_named(tmp_path):
    path = file_of(tmp_path, {"name": "a", "pos": [2, 3, 0], "reaction": "curious", "waypoints": [[2, 8]], "heading": 0})
    assert needs_of(read_scenario(path)) == ("social_states",)
    [person] = people_in(path)
    assert (person.reaction, person.facing(), person.state_time) == ("curious", 0.0, 0.0)


def test_the_keys_survive_the_way_through_a_file(tmp_path):
    path = file_of(
        tmp_path,
        {"name": "a", "pos": [2, 3], "with": ["b"], "state": "telling", "state_time": 2.5, "heading": 1.0},
        {"name": "b", "pos": [2, 4], "state": "listening", "reaction": "scared"},
    )
    scenario = read_scenario(path)
    write_scenario(scenario, tmp_path / "b.json")
    assert read_scenario(tmp_path / "b.json") == scenario
    first = json.loads((tmp_path / "b.json").read_text())["obstacles"]["dynamic"][0]
    assert {key: first[key] for key in ("with", "state", "state_time", "heading")} == {
        "with": ["b"], "state": "telling", "state_time": 2.5, "heading": 1.0,
    }  # fmt: skip


NEAR = {"name": "b", "pos": [2.5, 3.5]}


@pytest.mark.parametrize(
    ("person", "other", "message"),
    [
        ({"state": "phoning"}, NEAR, r":4: obstacles.dynamic\[0\]: state: no state called 'phoning'; did you mean 'phone'\?"),
        ({"state": "waiting"}, NEAR, "no state called 'waiting'; did you mean 'idle'"),
        ({"state": "Talkin"}, NEAR, "no state called 'Talkin'; did you mean 'talking'"),
        ({"state": "panicking"}, NEAR, "'panicking' is a reaction to an approaching robot; give the key reaction instead"),
        ({"state": 3}, NEAR, r"dynamic\[0\].state: expected a string or nothing, got 3"),
        ({"state": "running"}, NEAR, "'running' needs waypoints"),
        ({"state_time": 3}, NEAR, "state_time: has no effect without a state"),
        ({"state": "idle", "state_time": 0}, NEAR, r"state_time: expected a number in \(0, 36000\]"),
        ({"reaction": "curios"}, NEAR, "reaction: no reaction to robots called 'curios'; did you mean 'curious'"),
        ({"heading": "east"}, NEAR, r"dynamic\[0\].heading: expected a number .*got 'east'"),
        ({"heading": 90}, NEAR, r":4: obstacles.dynamic\[0\]: heading: a heading of 90 is more than .* degrees are 1.571"),
        ({"pos": [2, 3, 90]}, NEAR, "pos: a heading of 90 is more than two turns; angles are in radians: 90 "),
        ({"pos": [2, 3, 1.0], "heading": 2.0}, NEAR, "heading is 2, but the third number of pos is 1; leave one of them out"),
        ({"with": "a"}, NEAR, "with: 'a' must talk with at least one other pedestrian, got a"),
        ({"with": []}, NEAR, "with: 'a' must talk with at least one other pedestrian, got nobody"),
        ({"with": "bb"}, NEAR, r":4: obstacles.dynamic\[0\].with: no pedestrian called 'bb'; did you mean 'b'\?"),
        ({"with": "b", "state": "phone"}, NEAR, "with: a pedestrian that is 'phone' does not talk; the key with needs one "
            "of the states talking"),
        ({"with": "b"}, NEAR | {"state": "phone"}, r":4: obstacles.dynamic\[0\].with: 'b' is 'phone' and does not talk"),
        ({"with": "b", "state": "listening"}, NEAR | {"state": "listening"}, "all participants are listening; one must be"),
        ({"state": "talking"}, NEAR, r":4: .*\[0\].state: a pedestrian that is 'talking' needs a partner; name one in the "
            r"key `with`"),
        ({"with": "b"}, NEAR | {"pos": [2, 9]}, r":4: .*\.pos: 'a' talks with 'b', who is 6.0 m away; .* within 3.6 m"),
        ({"with": "b", "max_talking_distance": 5.5}, NEAR | {"pos": [2, 9]}, "must stand within 5.5 m"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_line_and_key(tmp_path, person, other, message):
    path = file_of(tmp_path, {"name": "a", "pos": [2, 3]} | person, other)
    with pytest.raises(InputError, match=message) as refused:
        people_in(path)
    assert str(path) in str(refused.value)


def test_a_scenario_with_a_wrong_partner_is_refused_when_it_is_played_and_checked(tmp_path):
    from agora.tasks.suite import load_suite
    from agora.tasks.world_check import check_world

    write_place(Place(hall()), tmp_path)
    path = file_of(tmp_path, {"name": "a", "pos": [2, 3], "with": "nobody"}, NEAR)
    assert f"{path}:4: obstacles.dynamic[0].with: no pedestrian called 'nobody'" in check_world(tmp_path, 0.3).problems[0]
    path.write_text(path.read_text().replace('"robots": []', '"robots": [{"start": [0.4, 3.5, 3.0], "goal": [7.0, 6.0]}]'))
    suite = load_suite(path)
    assert suite.entries() == [("a", 0)] and [b.name for b in suite.stages[0].crowd.behaviours] == ["given_states"]
    with pytest.raises(InputError, match=r"a.json:4: obstacles.dynamic\[0\].with: no pedestrian called 'nobody'"):
        suite.start("a", 0)
