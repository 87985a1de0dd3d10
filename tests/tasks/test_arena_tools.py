"""Scenario files of arena-tools become scenarios of the present format."""

from __future__ import annotations

import json
import math

import pytest

from agora.config import dump
from agora.draft.scenario import read_scenario, write_scenario
from agora.errors import InputError
from agora.tasks.arena_tools import convert

AGENT = {
    "name": "Ped",
    "id": 0,
    "pos": [9.39, 2.92],
    "type": "adult",
    "yaml_file": "/home/somebody/catkin_ws/src/arena-rosnav/simulator_setup/dynamic_obstacles/person_two_legged.model.yaml",
    "number_of_peds": 1,
    "vmax": 1.1,
    "start_up_mode": "wait_timer",
    "wait_time": 2.5,
    "chatting_probability": 0.01,
    "max_talking_distance": 5,
    "force_factor_social": 5.0,
    "waypoints": [[4.63, 0.89], [3.55, -2.08]],
    "waypoint_mode": 0,
}
FILE = {
    "pedsim_agents": [AGENT, AGENT | {"pos": [0.67, 9.22], "yaml_file": ""}, AGENT | {"name": "Ped (2)"}],
    "static_obstacles": [{"name": "it", "model_path": "C:\\models\\shelf.model.yaml", "pos": [3.1, -4.2], "angle": 4.0}],
    "robot_position": [1.5, -0.5],
    "robot_goal": [7.0, 2.0, 1.2],
    "resets": 5,
    "map_path": "/home/somebody/catkin_ws/src/arena-rosnav/simulator_setup/maps/map1/map.yaml",
    "format": "arena-tools",
}


def write(folder, content, name="old.json"):
    path = folder / name
    path.write_text(json.dumps(content, indent=1) if name.endswith("json") else dump(content))
    return path


@pytest.mark.parametrize("name", ["old.json", "old.yaml"])
def test_robot_people_things_and_world_are_taken_over_and_written_in_the_present_format(tmp_path, name):
    path = write(tmp_path, FILE, name)
    scenario = convert(path)
    write_scenario(scenario, tmp_path / "new.json")
    assert read_scenario(tmp_path / "new.json") == scenario
    assert (scenario.robots[0].start, scenario.robots[0].goal) == ((1.5, -0.5, 0.0), (7.0, 2.0, 1.2))
    first, second, third = scenario.obstacles.dynamic
    assert [first.name, second.name, third.name] == ["Ped", "Ped (2)", "Ped (2) (2)"]
    assert (first.model, second.model, first.id, first.yaml_file) == ("person_two_legged", "actor1", None, None)
    assert (first.pos, first.waypoints) == ((9.39, 2.92, 0.0), ((4.63, 0.89, 0.0), (3.55, -2.08, 0.0)))
    assert (first.vmax, first.waypoint_mode, first.start_up_mode, first.wait_time) == (1.1, 0, "wait_timer", 2.5)
    (shelf,) = scenario.obstacles.static
    assert (shelf.name, shelf.model, shelf.pos) == ("it", "shelf", pytest.approx((3.1, -4.2, 4.0 - math.tau)))
    assert (scenario.map, scenario.resets) == ("map1", 5)


@pytest.mark.parametrize(("path", "name"), [("/x/worlds/hall/map/map.yaml", "hall"), ("map.yaml", None), ("", None)])
def test_the_world_is_named_by_the_folder_of_its_map(tmp_path, path, name):
    assert convert(write(tmp_path, FILE | {"map_path": path})).map == name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"robot_goal": [1.0]}, r"old\.json: goal must be \[x, y\] or"),
        ({"robots": []}, r"old\.json:\d+: robots: unknown key"),
        ({"pedsim_agents": [AGENT | {"vmx": 1.0}]}, r"old\.json:\d+: pedsim_agents\[0\]\.vmx: unknown key; did you mean 'vmax'"),
        ({"static_obstacles": [{"name": "a", "pos": [1.0]}]}, r"static_obstacles\[0\]\.pos: expected a list of 2 values, got 1"),
        ({"format": "other"}, "format: expected one of arena-tools, got 'other'"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        convert(write(tmp_path, FILE | change))
