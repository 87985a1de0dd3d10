"""The faults of a situation are found, and reported with their places."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.suites import write_world

from agora.draft.people import People, Person
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import InputError
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.faults import faults, task_of_file

ROOMS = Map.from_shapes(
    polygons=[[(1.0, -4.0), (1.4, -4.0), (1.4, 0.2), (1.0, 0.2)], [(1.0, 1.0), (1.4, 1.0), (1.4, 5.0), (1.0, 5.0)]],
    bounds=(-5.0, -4.0, 7.0, 5.0),
    resolution=0.05,
    name="rooms",
)
"""Two rooms with a gap of 0.8 m between them, at y = 0.6."""


def task(start=(-3.0, 0.5, 0.2), goal=(4.0, 1.0, 0.0), people=(), radius=0.27, place=ROOMS):
    robots = [(np.array(start), np.array([goal]))]
    return Task(Surroundings(place), place, radius, 0.0, Stream("x", 0, "task"), People(), robots, list(people))


def person(position, *waypoints, radius=0.25):
    return Person(np.array(position, float), np.array(waypoints or [position], float), 1.0, radius)


def test_nothing_is_wrong_where_everybody_gets_through():
    assert faults(task(people=[person((-2.0, 2.0), (4.0, 4.0), (-2.0, 2.0)), person((0.5, 3.0))])) == []


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        ({"start": (1.2, -1.0, 0.0)}, (1.2, -1.0), r"the robot starts at \(1.20, -1.00\), inside an obstacle"),
        ({"start": (0.8, 3.0, 0.0)}, (0.8, 3.0), r"0.20 m from an obstacle, with a radius of 0.27 m"),
        ({"start": (9.0, 1.0, 0.0)}, (9.0, 1.0), "off the map"),
        ({"goal": (1.1, 4.0, 0.0)}, (1.1, 4.0), "goal of the robot is at .* inside an obstacle"),
        (
            {"start": (-4.8, 3.0, 0.0)},
            (-4.8, 3.0),
            "starts at .* 0.200 m from the border of the map, expected 0.280 m for a radius of 0.27 m",
        ),
        (
            {"goal": (6.9, -3.6, 0.0)},
            (6.9, -3.6),
            "goal of the robot is at .* 0.100 m from the border of the map, expected 0.270 m for",
        ),
        ({"radius": 0.45}, (4.0, 1.0), "which a disc of radius 0.45 m cannot reach from its start"),
        ({"people": [person((-2.0, 2.0), (0.0, 0.0), (1.3, 2.0))]}, (1.3, 2.0), "waypoint 1 of pedestrian 0 is at .* inside"),
        (
            {"people": [person((-2.0, 2.0), (4.0, 0.0), radius=0.45)]},
            (4.0, 0.0),
            "waypoint 0 of pedestrian 0 .* disc of radius 0.45 m",
        ),
        ({"people": [person((-2.8, 0.5))]}, (-2.8, 0.5), "pedestrian 0 starts at .* inside robot 0"),
        ({"people": [person((3.0, 0.0)), person((3.2, 0.3))]}, (3.2, 0.3), "pedestrian 1 starts at .* inside pedestrian 0"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(change, place, words):
    (found,) = faults(task(**change))
    assert (found.x, found.y) == place
    assert re.search(words, found.text)


def test_pedestrians_may_reach_over_the_border_of_the_map_and_robots_may_stand_beside_it():
    coming = person((-4.98, 2.0), (6.95, -3.97), (-4.9, 4.9))
    assert faults(task(start=(-4.717, 3.0, 0.2), goal=(6.73, -3.73, 0.0), people=[coming])) == []


def test_a_gap_between_a_wall_and_the_border_that_is_too_narrow_is_no_way_for_robots_but_one_for_pedestrians():
    yard = Map.from_shapes(segments=[(1.0, -3.5, 1.0, 9.0)], bounds=(-5.0, -4.0, 7.0, 5.0), resolution=0.05, name="yard")
    (found,) = faults(task(place=yard, people=[person((-2.0, 2.0), (4.0, 4.0))]))
    assert found.text.endswith("which a disc of radius 0.27 m cannot reach from its start") and found.key == "goal"
    assert faults(task(place=yard, radius=0.2, people=[person((-2.0, 2.0), (4.0, 4.0))])) == []


def test_a_scenario_file_is_read_with_its_world(tmp_path):
    place = write_world(tmp_path / "room")
    (place / "scenarios").mkdir()
    file = place / "scenarios" / "a.json"
    thing = {"name": "a shelf", "model": "shelf", "pos": [4.0, 5.0, 0.0]}
    walker = {"name": "p", "pos": [-2.0, 4.0, 0.0], "waypoints": [[4.0, 5.1, 0.0], [0.0, 4.0, 0.0]]}
    file.write_text(
        json.dumps({"robots": [{"start": [1.0, 4.0], "goal": [5.0, 4.0]}], "obstacles": {"static": [thing], "dynamic": [walker]}})
    )
    (found,) = faults(task_of_file(file, 0.27))
    assert found.text.startswith("waypoint 0 of p is at (4.00, 5.10), inside an obstacle")


def test_a_file_without_a_world_around_it_is_refused(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"robots": [{"start": [1.0, 4.0], "goal": [5.0, 4.0]}]}))
    with pytest.raises(InputError, match="a.json: does not name a world"):
        task_of_file(tmp_path / "a.json", 0.3)
    place = write_world(tmp_path / "room")
    (place / "scenarios").mkdir()
    with pytest.raises(InputError, match="there is no such file"):
        task_of_file(place / "scenarios" / "a.json", 0.3)
