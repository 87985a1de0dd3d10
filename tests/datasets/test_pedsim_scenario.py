"""Scenario files of pedsim_ros become world folders."""

from __future__ import annotations

import numpy as np
import pytest

from agora.datasets.pedsim_scenario import import_pedsim, read_pedsim
from agora.draft.scenario import read_scenario
from agora.errors import InputError
from agora.maps.place import read_place

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
    assert "shop.xml:15: 6 people find no room in their box" in read.notes[-1]


def test_every_problem_of_a_file_is_told_with_its_line(file):
    wrong = XML.replace('x2="8" y2="2"', 'x2="eight" y2="2"').replace('"east"/>\n    <addqueue', '"easst"/>\n    <addqueue')
    file.write_text(wrong.replace('type="3"', 'typ="3"').replace("<attraction ", "<atraction "))
    with pytest.raises(InputError) as told:
        read_pedsim(file)
    lines = str(told.value).replace(f"{file}:", "").splitlines()
    assert lines == [
        "4: <obstacle>: x2 must be a number, got 'eight'",
        "10: <atraction>: unknown element; did you mean 'attraction'?",
        "16: <addwaypoint>: no waypoint or queue called 'easst' before it; did you mean 'east'?",
        "19: <agent>: unknown attribute 'typ'; did you mean 'type'?",
    ]


def test_another_xml_file_is_no_scenario(tmp_path):
    (tmp_path / "a.xml").write_text("<random/>")
    with pytest.raises(InputError, match="expected the root element <scenario> of pedsim_ros"):
        read_pedsim(tmp_path / "a.xml")


def test_where_json_or_yaml_is_expected_a_scenario_of_pedsim_says_how_it_is_brought_in(file):
    with pytest.raises(
        InputError, match="shop.xml:1: is XML; expected YAML or JSON; a scenario of pedsim_ros .* agora import pedsim FILE"
    ):
        read_scenario(file)
