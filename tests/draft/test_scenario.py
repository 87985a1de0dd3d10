"""Scenario files of arena-rosnav."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agora.draft.scenario import Obstacle, Obstacles, Pedestrian, Robot, Scenario, read_scenario, write_scenario
from agora.errors import InputError

ARENA = {
    "robots": [{"start": [1, -1, 0.4], "goal": [9, 3]}],
    "obstacles": {
        "static": [{"name": "s1", "model": "shelf", "pos": [5, 5, 0]}],
        "dynamic": [
            {"name": "p1", "pos": [3, 8], "waypoints": [[8, 3, 0], [3, 8]], "id": 4, "type": "human/elder"},
            {"name": "p2", "pos": [0, 0, 4.0], "waypoints": [], "waypoint_mode": 2, "vmax": 0.3, "start_up_mode": "wait_timer"},
        ],
    },
    "map": "map_empty",
    "resets": 3,
}


def written(tmp_path, values):
    path = tmp_path / "default.json"
    path.write_text(json.dumps(values, indent=1))
    return path


def test_a_file_as_arena_ships_them_is_read_without_a_change(tmp_path):
    scenario = read_scenario(written(tmp_path, ARENA))
    assert scenario.robots == (Robot((1.0, -1.0, 0.4), (9.0, 3.0, 0.0)),)
    assert scenario.obstacles.static == (Obstacle("s1", "shelf", (5.0, 5.0, 0.0)),)
    elder, slow = scenario.obstacles.dynamic
    assert (elder.pos, elder.waypoints) == ((3.0, 8.0, 0.0), ((8.0, 3.0, 0.0), (3.0, 8.0, 0.0)))
    assert (elder.model, elder.waypoint_mode, elder.vmax) == ("actor1", 1, None)
    assert (slow.waypoint_mode, slow.vmax, slow.start_up_mode, slow.type) == (2, 0.3, "wait_timer", "adult")
    assert (scenario.map, scenario.resets) == ("map_empty", 3)


def test_headings_are_put_into_one_turn(tmp_path):
    scenario = read_scenario(written(tmp_path, ARENA))
    assert scenario.obstacles.dynamic[1].pos[2] == pytest.approx(4.0 - 2 * math.pi)
    assert Robot((0, 0, -math.pi), (0, 0, 3 * math.pi)).start[2] == math.pi


def test_what_is_written_is_read_back_the_same_and_holds_only_what_was_said(tmp_path):
    scenario = read_scenario(written(tmp_path, ARENA))
    path = tmp_path / "copy.json"
    write_scenario(scenario, path)
    assert read_scenario(path) == scenario
    first = json.loads(path.read_text())["obstacles"]["dynamic"][0]
    assert set(first) == {"name", "pos", "waypoints", "type", "model", "waypoint_mode", "id"}
    assert [entry.name for entry in tmp_path.iterdir() if entry.suffix == ".part"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda v: v["obstacles"]["dynamic"][0].update(wpoints=[]),
            r":\d+: obstacles.dynamic\[0\].wpoints: unknown key; did you mean 'waypoints'",
        ),
        (lambda v: v["obstacles"]["dynamic"][0].update(VMAX=1), r"dynamic\[0\].VMAX: unknown key"),
        (lambda v: v["obstacles"]["dynamic"][0].update(waypoint_mode=3), r"waypoint_mode: expected one of 0, 1, 2, got 3"),
        (lambda v: v["obstacles"]["dynamic"][0].update(vmax=-1), r"dynamic\[0\].vmax: expected a number in \[0, 15\] or nothing"),
        (lambda v: v["obstacles"]["dynamic"][0].update(tell_story_probability=1.5), r"tell_story_probability: .* in \[0, 1\] or"),
        (lambda v: v["obstacles"]["dynamic"][0].update(waypoints=[[1]]), r"waypoint 0 has 1 numbers"),
        (lambda v: v["obstacles"]["dynamic"][0].pop("pos"), r"dynamic\[0\].pos: expected a list, got nothing: the key is missing"),
        (lambda v: v["obstacles"]["dynamic"][1].update(name="p1"), "two obstacles are called 'p1'"),
        (lambda v: v["obstacles"]["static"][0].update(pos=[1, 2, 3, 4]), r"pos must be \[x, y\] or \[x, y, heading\], not 4"),
        (lambda v: v["robots"][0].update(goal=[1, 2, 45]), r":\d+: robots\[0\]: goal: a heading of 45 is more .*0.7854"),
        (lambda v: v["robots"][0].update(goal="there"), r"robots\[0\].goal: expected a list, got 'there'"),
        (lambda v: v.pop("robots"), "robots: expected a list, got nothing"),
        (lambda v: v.update(robot=[]), "robot: unknown key; did you mean 'robots'"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_is_named_with_its_line(tmp_path, change, message):
    values = json.loads(json.dumps(ARENA))
    change(values)
    with pytest.raises(InputError, match=message):
        read_scenario(written(tmp_path, values))


def test_the_formats_of_old_are_refused_by_name(tmp_path):
    with pytest.raises(InputError, match="default.json: this is a scenario in arena-tools' old format .* agora scenario convert"):
        read_scenario(
            written(tmp_path, {"format": "arena-tools", "pedsim_agents": [], "robot_position": [0, 0], "robot_goal": [1, 1]})
        )
    with pytest.raises(InputError, match="the format before arena-tools"):
        read_scenario(written(tmp_path, {"scenarios": [{"scene_name": "a"}]}))


numbers = st.floats(-50, 50)
poses = st.tuples(numbers, numbers, st.floats(-3.1, 3.1))
people = st.builds(
    Pedestrian,
    name=st.uuids().map(str),
    pos=poses,
    waypoints=st.lists(poses, max_size=3).map(tuple),
    waypoint_mode=st.sampled_from([0, 1, 2]),
    vmax=st.none() | st.floats(0, 3),
)
scenarios = st.builds(
    Scenario,
    robots=st.lists(st.builds(Robot, poses, poses), max_size=3).map(tuple),
    obstacles=st.builds(Obstacles, dynamic=st.lists(people, max_size=3).map(tuple)),
    map=st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario=scenarios)
def test_any_scenario_survives_the_way_through_a_file(scenario, tmp_path_factory):
    path = tmp_path_factory.mktemp("scenario") / "any.json"
    write_scenario(scenario, path)
    assert read_scenario(path) == scenario


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(start=st.integers(0, 700), length=st.integers(0, 20), new=st.text('{}[]":,\\ 0123456789.eE-ntrue\n', max_size=6))
def test_a_mutated_file_is_read_or_refused_but_never_breaks(start, length, new, tmp_path_factory):
    text = json.dumps(ARENA, indent=1)
    path = tmp_path_factory.mktemp("mutated") / "default.json"
    path.write_text(text[:start] + new + text[start + length :])
    try:
        read_scenario(path)
    except InputError as error:
        assert str(path) in str(error)
