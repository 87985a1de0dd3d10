"""Scenario files of pedsim_ros become world folders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agora.config import build
from agora.datasets.pedsim_scenario import import_pedsim, read_pedsim
from agora.draft.scenario import read_scenario
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.maps.place import read_place
from agora.planners.local.go_to_goal import GoToGoal
from agora.tasks.suite import Suite

XML = """<?xml version="1.0" encoding="UTF-8"?>
<!-- a room of 9 x 6 m whose corner is at (-1, 2), and a pillar without length -->
<scenario>
  <obstacle x1="-1" y1="2" x2="8" y2="2"/>
  <obstacle x1="8" y1="2" x2="8" y2="8"/>
  <obstacle x1="4" y1="5" x2="4" y2="5" type="single"/>
  <waypoint id="west" x="0" y="3" r="2"/>
  <waypoint id="east" x="7" y="7.5" r="0.5"/>
  <queue id="desk" x="7" y="3" direction="90"/>
  <attraction id="shop" x="1" y="7" width="2" height="2" strength="1"/>
  <agent x="0.5" y="6" n="1" dx="0" dy="0" type="2">
    <addwaypoint id="west"/>
    <addwaypoint id="east"/>
  </agent>
  <agent x="2" y="4" n="6" dx="2.5" dy="2" type="0">
    <addwaypoint id="east"/>
    <addqueue id="desk"/>
  </agent>
  <agent x="6" y="6" n="1" type="3"/>
</scenario>
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "shop.xml"
    path.write_text(XML)
    return path


def test_its_obstacles_are_the_map_and_its_agents_the_scenario(file, tmp_path):
    notes = import_pedsim(file, tmp_path / "world").notes
    place, scenario = read_place(tmp_path / "world"), read_scenario(tmp_path / "world" / "scenarios" / "shop.json")
    assert place.map.segments == pytest.approx(np.array([[-1, 2, 8, 2], [8, 2, 8, 8]]))
    assert place.map.discs[:, :2] == pytest.approx(np.array([[4, 5]]))
    [robot] = scenario.robots
    assert robot.start == pytest.approx((0.5, 6.0, np.arctan2(-3, -0.5)), abs=1e-3) and robot.goal[:2] == (7.0, 7.5)
    *adults, elder = scenario.obstacles.dynamic
    assert len(adults) == 6 and {p.type for p in adults} == {"adult"} and (elder.type, elder.vmax) == ("elder", 0.9)
    assert {(p.waypoints, p.waypoint_mode) for p in adults} == {(((7.0, 7.5, 0.5), (7.0, 3.0, 0.0)), 0)} and elder.waypoints == ()
    assert [note.split(":")[2].strip() for note in notes] == ["<attraction>", "<addqueue>"]


def test_people_stand_in_their_box_clear_of_walls_and_of_each_other(file):
    read = read_pedsim(file, seed=4)
    spots = np.array([p.pos[:2] for p in read.scenario.obstacles.dynamic] + [read.scenario.robots[0].start[:2]])
    assert (np.abs(spots[:6] - [2, 4]) <= [1.25 + 1e-3, 1.0 + 1e-3]).all() and (read.map.gap(spots) >= 0.349).all()
    assert min(np.hypot(*(a - b)) for i, a in enumerate(spots) for b in spots[:i]) >= 0.699
    assert read.scenario == read_pedsim(file, seed=4).scenario != read_pedsim(file, seed=5).scenario


def test_a_box_without_room_grows_and_says_so(file):
    file.write_text(XML.replace('dx="2.5" dy="2"', 'dx="0" dy="0"'))
    read = read_pedsim(file)
    spots = np.array([p.pos[:2] for p in read.scenario.obstacles.dynamic[:6]])
    assert min(np.hypot(*(a - b)) for i, a in enumerate(spots) for b in spots[:i]) >= 0.699
    assert "shop.xml:15: 6 people do not fit into their box" in read.notes[-1]


def test_every_problem_of_a_file_is_told_with_its_line(file):
    wrong = XML.replace('x2="8" y2="2"', 'x2="eight" y2="2"').replace('"east"/>\n    <addqueue', '"easst"/>\n    <addqueue')
    file.write_text(wrong.replace('type="3"', 'typ="3"').replace("<attraction ", "<atraction "))
    with pytest.raises(InputError) as told:
        read_pedsim(file)
    lines = str(told.value).replace(f"{file}:", "").splitlines()
    assert lines == [
        "4: <obstacle>: x2 must be a number, got 'eight'",
        "10: <atraction>: unknown element; did you mean 'attraction'?",
        "16: <addwaypoint>: no earlier waypoint or queue is called 'easst'; did you mean 'east'?",
        "19: <agent>: unknown attribute 'typ'; did you mean 'type'?",
    ]


def test_another_xml_file_is_no_scenario(tmp_path):
    (tmp_path / "a.xml").write_text("<random/>")
    with pytest.raises(InputError, match="expected pedsim_ros's root element <scenario>"):
        read_pedsim(tmp_path / "a.xml")


def test_where_json_or_yaml_is_expected_a_scenario_of_pedsim_says_how_it_is_brought_in(file):
    with pytest.raises(
        InputError, match="shop.xml:1: is XML; expected YAML or JSON; convert a pedsim_ros scenario .* agora import pedsim FILE"
    ):
        read_scenario(file)


def room(*inside, width=34.0, height=12.0):
    """A closed room from (-2, 0), with a robot."""
    x, y = width - 2.0, height
    corners = [(-2.0, 0.0), (x, 0.0), (x, y), (-2.0, y), (-2.0, 0.0)]
    walls = [f'<obstacle x1="{a}" y1="{b}" x2="{c}" y2="{d}"/>' for (a, b), (c, d) in itertools.pairwise(corners)]
    robot = '<waypoint id="home" x="6" y="2" r="1"/><agent x="0" y="2" n="1" type="2"><addwaypoint id="home"/></agent>'
    return "\n".join(["<scenario>", *walls, robot, *inside, "</scenario>"])


def walkers(count, x, y, *names):
    return f'<agent x="{x}" y="{y}" n="{count}" dx="1" dy="1" type="0">{"".join(f"<addwaypoint id={n!r}/>" for n in names)}</agent>'


def read(tmp_path, *inside, **more):
    (tmp_path / "a.xml").write_text(room(*inside, **more))
    return read_pedsim(tmp_path / "a.xml")


def test_people_turn_at_the_edges_of_their_waypoints(tmp_path):
    west, east = '<waypoint id="west" x="0" y="6" r="5"/>', '<waypoint id="east" x="30" y="6" r="5"/>'
    (tmp_path / "hall.xml").write_text(room(west, east, walkers(1, 15, 6, "east", "west")))
    import_pedsim(tmp_path / "hall.xml", tmp_path / "hall")
    world = {"name": "folder", "path": str(tmp_path / "hall"), "scenarios": ["hall"]}
    stage = {
        "name": "a", "episodes": 1, "world": world, "robots": "scenario",
        "obstacles": "scenario", "timeout": 45.0, "crowd": {"model": "pedsim", "sees_robots": False},
    }  # fmt: skip
    suite = build({"name": "hall", "seed": 1, "stages": [stage]}, Suite)
    person = suite.start("a", 0).pedestrians
    assert person.tolerance.tolist() == [5.0]
    [(_, [recording])] = Episodes([suite.start("a", 0)], GoToGoal(speed=0.02), Conditions.of(suite.stage("a")))
    walk = recording.pedestrian_position[:, 0, 0]
    assert walk.min() == pytest.approx(5.0, abs=0.6) and walk.max() == pytest.approx(25.0, abs=0.6)


def test_smaller_and_larger_areas_of_one_person_are_left_at_their_edges(tmp_path):
    small, large = '<waypoint id="small" x="2" y="6" r="1"/>', '<waypoint id="large" x="26" y="6" r="4"/>'
    [person] = read(tmp_path, small, large, walkers(1, 15, 6, "large", "small")).scenario.obstacles.dynamic
    assert person.waypoint_radius == 1.0
    assert person.waypoints == (
        (23.0, 6.0, 4.0),
        (2.0, 6.0, 1.0),
    )  # 1 m before (23, 6) is 4 m before (26, 6)


def test_a_waypoint_on_a_wall_is_reached_where_its_area_is_free(tmp_path):
    lift = '<waypoint id="lift" x="12" y="12" r="2"/>'
    read_ = read(tmp_path, lift, walkers(2, 8, 3, "lift"))
    for person in read_.scenario.obstacles.dynamic:
        ((x, y, _),) = person.waypoints
        assert read_.map.gap(np.array([[x, y]]))[0] > 0.3 and 0.2 <= person.waypoint_radius <= 2.0
        assert np.hypot(x - 12, y - 12) + person.waypoint_radius <= 2.0 + 0.05
    assert not read_.notes


def test_a_waypoint_into_which_nobody_gets_is_left_out_and_said(tmp_path):
    outside, inside = '<waypoint id="out" x="8" y="30" r="3"/>', '<waypoint id="in" x="20" y="6" r="1"/>'
    read_ = read(tmp_path, outside, inside, walkers(1, 8, 3, "out", "in"))
    assert [person.waypoints for person in read_.scenario.obstacles.dynamic] == [((20.0, 6.0, 1.0),)]
    assert [note.partition(": ")[2] for note in read_.notes] == [
        "no path leads from its position to the waypoint at (8, 30), r = 3 m; it is left out"
    ]


def test_a_robots_goal_on_a_wall_is_the_nearest_free_place_of_its_area_and_one_beyond_the_walls_is_said(tmp_path):
    goal = '<waypoint id="goal" x="10" y="0" r="1"/><agent x="5" y="3" n="1" type="2"><addwaypoint id="goal"/></agent>'
    read_ = read(tmp_path, goal)
    x, y = read_.scenario.robots[1].goal[:2]
    assert read_.map.gap(np.array([[x, y]]))[0] > 0.3 and np.hypot(x - 10, y) <= 1.0
    beyond = read(tmp_path, goal.replace('y="0"', 'y="-9"'))
    assert beyond.notes[0].endswith("to the waypoint at (10, -9), r = 1 m; move the goal in the scenario")
