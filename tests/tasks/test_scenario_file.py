"""Scenario files as suites: in the folder of a world, or anywhere with the name of their world."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.suites import write_world

from agora.errors import InputError
from agora.maps.place import read_place
from agora.tasks.faults import faults, task_of_file
from agora.tasks.scenario_file import is_scenario
from agora.tasks.suite import load_suite
from agora.tasks.worlds.folder import world_folder

PEOPLE = [{"name": "a", "pos": [6.1, 6.0], "with": "b"}, {"name": "b", "pos": [6.9, 5.4]}]


def scene(path, *people, world="hall", start=(1.2, 5.0), goal=(13.8, 4.6, 0.4), **more):
    """A file whose first line has the world, the second the robot, and those from the fourth on the people, one a line."""
    head = more if world is None else {"map": world} | more
    first = "".join(f"{json.dumps(key)}: {json.dumps(value)}, " for key, value in head.items())
    lines = ",\n".join(json.dumps(person) for person in people)
    robots = json.dumps([{"start": start, "goal": goal}])
    path.write_text(f'{{{first}\n"robots": {robots},\n"obstacles": {{"dynamic": [\n{lines}]}}}}')
    return path


def test_a_file_anywhere_is_a_suite_of_one_episode_in_the_world_that_it_names(tmp_path, monkeypatch):
    path = scene(tmp_path / "two talk.json", *PEOPLE)
    suite = load_suite(path)
    assert (suite.name, suite.entries()) == ("two talk", [("two talk", 0)])
    assert [behaviour.name for behaviour in suite.stages[0].crowd.behaviours] == ["given_states"]
    start = suite.start("two talk", 0)
    assert start.map.name == "hall" and start.names == ("a", "b")
    assert start.robots[0].pose.tolist() == [1.2, 5.0, 0.0] and start.robots[0].goals[0].tolist() == [13.8, 4.6, 0.4]
    assert start.pedestrians.talk.tolist() == [0, 0]
    monkeypatch.chdir(tmp_path)
    assert load_suite("two talk.json").start("two talk", 0).names == ("a", "b"), "a name without a folder too"
    task = task_of_file(path, 0.3)
    assert faults(task) == [] and [person.name for person in task.pedestrians] == ["a", "b"]


def test_a_file_in_the_folder_of_a_world_belongs_to_it_from_wherever_it_is_named(tmp_path, monkeypatch):
    world = write_world(tmp_path / "room")
    (world / "scenarios").mkdir(exist_ok=True)
    scene(world / "scenarios" / "a.json", world="hall", start=(-2.0, 4.0), goal=(0.0, 4.0))
    for folder, name in ((tmp_path, "room/scenarios/a.json"), (world, "scenarios/a.json"), (world / "scenarios", "a.json")):
        monkeypatch.chdir(folder)
        start = load_suite(name).start("a", 0)
        assert start.map.size == read_place(world).map.size


def test_the_same_people_are_the_same_in_a_file_of_the_world_and_in_one_elsewhere(tmp_path):
    inside = world_folder("hall") / "scenarios" / "talking_and_phoning.json"
    outside = tmp_path / inside.name
    outside.write_text(json.dumps(json.loads(inside.read_text()) | {"map": "hall"}))
    one, other = (load_suite(path).start(inside.stem, 0) for path in (inside, outside))
    assert one.entry == other.entry
    for name in ("position", "waypoints", "speed", "heading", "state", "state_time", "talk"):
        assert np.array_equal(getattr(one.pedestrians, name), getattr(other.pedestrians, name)), name


def test_a_suite_in_json_is_no_scenario(tmp_path):
    path = tmp_path / "s.json"
    stage = {"name": "a", "world": {"name": "open"}, "robots": "random", "obstacles": "none", "episodes": 2}
    path.write_text(json.dumps({"name": "s", "stages": [stage]}))
    assert not is_scenario(path) and load_suite(path).entries() == [("a", 0), ("a", 1)]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"world": None}, r'x.json: does not name a world; add the key map, such as "map": "hall", or move it to WORLD/scenarios'),
        ({"world": "hal"}, r"x.json:1: map: no world called 'hal'; did you mean 'hall'\?"),
        ({"world": "./nowhere"}, "x.json:1: map: there is no folder ./nowhere"),
        ({"world": 3}, "x.json:1: map: expected a string or nothing, got 3"),
        ({"robot": []}, r"x.json:1: robot: unknown key; did you mean 'robots'\?"),
        ({"start": [1.2, 5.0, 90]}, r"x.json:2: robots\[0\]: start: a heading of 90 .* 90 degrees are 1.571"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_line_and_key_before_it_is_played(tmp_path, more, message):
    path = scene(tmp_path / "x.json", *PEOPLE, **more)
    for read in (load_suite, lambda path: task_of_file(path, 0.3)):
        with pytest.raises(InputError, match=message):
            read(path)


@pytest.mark.parametrize(
    ("person", "line"),
    [
        ({"state": "fone"}, r":4: obstacles.dynamic\[0\]: state: no state called 'fone'; did you mean 'phone'\?"),
        ({"with": "bb"}, r":4: obstacles.dynamic\[0\].with: no pedestrian called 'bb'; did you mean 'b'\?"),
        ({"with": ["b", "zz"]}, r":4: obstacles.dynamic\[0\].with: no pedestrian called 'zz'"),
        ({"with": "a"}, r":4: obstacles.dynamic\[0\]: with: 'a' must talk with at least one other pedestrian"),
        ({"with": 3}, r":4: obstacles.dynamic\[0\].with: expected a string or a list or nothing, got 3"),
        ({"with": "b", "pos": [6.9, 25.4]}, r":4: obstacles.dynamic\[0\].pos: 'a' talks with 'b', who is 20.0 m away"),
        ({"state": "talking"}, r":4: obstacles.dynamic\[0\].state: a pedestrian that is 'talking' needs a partner"),
        ({"heading": "north"}, r":4: obstacles.dynamic\[0\].heading: expected a number or nothing, got 'north'"),
        ({"heading": 90}, r":4: obstacles.dynamic\[0\]: heading: a heading of 90 .* 90 degrees are 1.571"),
        ({"pos": [6.0, 6.0, 180]}, r":4: obstacles.dynamic\[0\]: pos: a heading of 180 .* 180 degrees are 3.142"),
        ({"heading": float("nan")}, ":4: not valid JSON: NaN is not a number"),
        ({"pos": [6.0, float("inf")]}, ":4: not valid JSON: Infinity is not a number"),
        ({"reaction": "NaN", "pos": [6.0, -float("inf")]}, ":4: not valid JSON: -Infinity is not a number"),
    ],
)
def test_an_odd_pedestrian_is_refused_with_file_line_and_key_wherever_the_file_is_used(tmp_path, person, line):
    path = scene(tmp_path / "x.json", {"name": "a", "pos": [6.1, 6.0]} | person, {"name": "b", "pos": [6.9, 5.4]})
    with pytest.raises(InputError, match="x.json" + line):
        load_suite(path).start("x", 0)
    with pytest.raises(InputError, match="x.json" + line):
        task_of_file(path, 0.3)


def test_files_that_are_no_scenarios_are_refused_by_name(tmp_path):
    with pytest.raises(InputError, match="nothing.json: there is no such file"):
        task_of_file(tmp_path / "nothing.json", 0.3)
    (tmp_path / "x.yaml").write_text("map: hall\nrobots: []\n")
    with pytest.raises(InputError, match=r"x.yaml: expected a scenario file, with the extension .json"):
        task_of_file(tmp_path / "x.yaml", 0.3)
    with pytest.raises(InputError, match=r"\.x.json: the name of the file becomes the name of the suite: name must be a printable"):
        load_suite(scene(tmp_path / ".x.json", *PEOPLE))
    (tmp_path / "old.json").write_text(json.dumps({"pedsim_agents": [], "robot_position": [0, 0]}))
    with pytest.raises(InputError, match="old.json: this is a scenario in arena-tools' old format"):
        load_suite(tmp_path / "old.json")
