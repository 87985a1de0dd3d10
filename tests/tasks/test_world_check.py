"""World folders are checked: what is wrong is found and named."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.places import furnished, rooms

from agora.maps.grid import Map
from agora.maps.place import Place, write_place
from agora.tasks.world_check import check_world
from agora.tasks.worlds.folder import world_folder, world_names


def scenario(start, goal, *people):
    dynamic = [{"name": f"p{k}", "pos": pos} for k, pos in enumerate(people)]
    return json.dumps({"robots": [{"start": start, "goal": goal}], "obstacles": {"dynamic": dynamic}}, indent=1)


@pytest.fixture
def world(tmp_path):
    """The furnished rooms, whose two rooms are joined by a gap of 0.2 m over and 2 m under the wall between them."""
    write_place(furnished(), tmp_path)
    (tmp_path / "scenarios").mkdir()
    return tmp_path


def test_a_good_world_has_no_problems(world):
    (world / "scenarios" / "a.json").write_text(scenario([-2.0, 4.0], [8.0, 3.0], [1.0, 8.0]))
    found = check_world(world, 0.3)
    assert found.problems == []
    assert found.notes[0] == f"{world.name}: 13 x 9 m, 130 x 90 cells of 0.1 m, 5 pieces of furniture, 2 zones"
    assert "robot of radius 0.3 m, the map has one area" in found.notes[1]


def test_goals_in_walls_or_beyond_the_map_people_in_walls_and_goals_out_of_reach_are_found(world):
    (world / "scenarios" / "a.json").write_text(scenario([-2.0, 4.0], [2.9, 3.0], [2.9, 3.5], [99.0, 0.0]))
    (world / "scenarios" / "b.json").write_text(scenario([-2.0, 4.0], [2.5, 3.0]))
    (world / "scenarios" / "c.json").write_text('{"robots": 3}')
    problems = check_world(world, 0.45).problems
    assert [p.partition("scenarios/")[2] for p in problems[:4]] == [
        "a.json:8: robots[0].goal: is in an obstacle",
        "a.json:18: obstacles.dynamic[0].pos: 'p0' is in an obstacle",
        "a.json:25: obstacles.dynamic[1].pos: 'p1' is outside the map",
        "b.json:8: robots[0].goal: is 0.30 m from an obstacle, less than the radius of 0.45 m",
    ]
    assert "c.json:1: robots: expected a list, got 3" in problems[4]


def test_a_goal_in_another_room_that_a_large_robot_cannot_get_to_is_found(tmp_path):
    m = rooms()
    cells = m.occupied.copy()
    cells[40:55, 60:63] = True
    write_place(Place(type(m)(m.name, m.resolution, m.origin, cells)), tmp_path)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "a.json").write_text(scenario([-2.0, 4.0], [8.0, 3.0]))
    assert check_world(tmp_path, 0.2).problems == []
    found = check_world(tmp_path, 0.4)
    assert len(found.problems) == 1 and found.problems[0].endswith(
        "robots[0].goal: a robot of radius 0.4 m cannot reach it from its start"
    )
    assert "2 separate areas" in found.notes[1]
    assert check_world(tmp_path, 9.0).problems[0].endswith("a robot of radius 9 m fits nowhere")


def house(tmp_path, door=False):
    """A house of 6 x 5 m with walls of 0.2 m in a map of 11 x 8 m, whose west is unknown."""
    cells, unknown = np.zeros((80, 110), bool), np.zeros((80, 110), bool)
    cells[10:60, 20:80] = True
    cells[12:58, 22:78] = False
    cells[30:40, 78:80] &= not door
    unknown[:, :10] = True
    write_place(Place(Map("house", 0.1, (-3.0, 2.0), cells, unknown)), tmp_path)
    (tmp_path / "scenarios").mkdir(exist_ok=True)
    return tmp_path / "scenarios" / "a.json"


def test_who_is_outside_the_house_is_told_from_who_is_inside(tmp_path):
    file = house(tmp_path)
    file.write_text(scenario([0.0, 5.0], [6.5, 5.0], [2.0, 6.0], [6.0, 3.0], [-2.5, 5.0]))
    outside = "outside the walls, in free space that reaches the edge of the map"
    assert [p.partition(": ")[2] for p in check_world(tmp_path, 0.3).problems] == [
        f"robots[0].goal: is {outside}",
        f"obstacles.dynamic[1].pos: 'p1' is {outside}",
        "obstacles.dynamic[2].pos: 'p2' is in an unknown area of the map",
    ]
    (tmp_path / "open").mkdir()
    house(tmp_path / "open", door=True).write_text(scenario([0.0, 5.0], [6.5, 5.0], [2.0, 6.0], [6.0, 3.0]))
    assert check_world(tmp_path / "open", 0.3).problems == []


def test_waypoints_that_cannot_be_reached_people_behind_walls_and_talks_through_walls_are_found(tmp_path):
    file = house(tmp_path)
    world = json.loads(scenario([0.0, 5.0], [3.0, 5.0], [2.0, 6.0], [3.0, 7.5]))
    first, second = world["obstacles"]["dynamic"]
    first["waypoints"], second["with"] = [[3.0, 5.0], [6.5, 5.0], [3.0, 1.0]], "p2"
    world["obstacles"]["dynamic"].append({"name": "p2", "pos": [3.0, 8.5]})
    file.write_text(json.dumps(world))
    keys = [p.partition(": ")[2].partition(": ")[::2] for p in check_world(tmp_path, 0.3).problems]
    assert [key for key, _ in keys] == [
        "obstacles.dynamic[0].waypoints[1]",
        "obstacles.dynamic[0].waypoints[2]",
        "obstacles.dynamic[1].pos",
        "obstacles.dynamic[2].pos",
        "obstacles.dynamic[2].pos",
    ]
    assert keys[1][1] == "is outside the map" and keys[2][1] == "an obstacle lies between 'p1' and 'p2', who talk"


def test_in_a_street_with_a_house_the_street_is_not_outside_and_who_is_shut_in_is_a_remark(tmp_path):
    cells = np.zeros((80, 110), bool)
    cells[10:30, 20:50] = True
    cells[12:28, 22:48] = False
    write_place(Place(Map("street", 0.1, (-3.0, 2.0), cells)), tmp_path)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "a.json").write_text(scenario([-2.0, 8.0], [7.0, 3.0], [0.5, 4.0], [6.0, 8.0]))
    found = check_world(tmp_path, 0.3)
    assert found.problems == [] and found.notes[-1].endswith("obstacles.dynamic[0].pos: walls separate 'p0' from every robot")


def test_furniture_and_zones_outside_the_map_are_found_with_their_line(world):
    furniture, zones = world / "map" / "furniture.json", world / "map" / "zones.yaml"
    furniture.write_text(furniture.read_text().replace('"x": 1.9', '"x": 11.9'))
    zones.write_text(zones.read_text().replace("9.6", "19.6"))
    problems = check_world(world, 0.3).problems
    assert "furniture.json:5: [4]: chair is outside the map" in problems[0]
    assert "zones.yaml:" in problems[1] and "'east' is partly outside the map" in problems[1]


def test_files_that_cannot_be_read_are_problems(world, tmp_path):
    assert check_world(tmp_path / "nowhere", 0.3).problems == [f"there is no folder {tmp_path / 'nowhere'}"]
    (world / "map" / "map.yaml").write_text("image: map.png\nresolution: -1\norigin: [0, 0, 0]\n")
    assert "map.yaml:2: resolution: expected a number above 0" in check_world(world, 0.3).problems[0]


@pytest.mark.parametrize("name", world_names())
def test_the_worlds_that_come_with_agora_are_good(name):
    assert check_world(world_folder(name), 0.3).problems == []
