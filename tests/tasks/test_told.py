"""Situations in plain sentences."""

from __future__ import annotations

import numpy as np
import pytest

from agora.draft.people import People, Person
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.seeds import Stream
from agora.tasks.told import direction, told
from agora.testing.tasks import hall


def said(*people, robots=()):
    world = Surroundings(hall())
    return list(told(Task(world, world.map, 0.3, 0.0, Stream("a", 1, "task"), People(), list(robots), list(people))))


def person(*waypoints, at=(1.0, 4.0), **more):
    return Person(np.array(at), np.array(waypoints or [at], float), 1.2, 0.3, **more)


def test_everybody_has_a_sentence_with_place_heading_state_partner_and_end():
    talks = {"state": "talking", "state_time": 36_000.0, "talk": 0}
    lines = said(
        person(name="ben", type="elder", heading=0.1, **talks),
        person(at=(2.0, 4.0), name="ida", heading=3.0, **talks),
        person((5.0, 4.0), (1.0, 4.0), state="phone", state_time=4.0, state_radius=2.0, mode=0),
        person((5.0, 4.0), state="idle", state_time=3.0, heading=-1.6, mode=2, reaction="scared"),
        person(),
        robots=[(np.array([0.0, 5.0, 1.6]), np.array([[3.0, 5.0, -2.3]]))],
    )
    assert lines == [
        "the robot starts at (0.00, 5.00), facing north, and drives to (3.00, 5.00), facing south-west.",
        "ben (pedestrian 1, an elder) stands at (1.00, 4.00), facing east, and talks with ida until the end.",
        "ida (pedestrian 2, an adult) stands at (2.00, 4.00), facing west, and talks with ben until the end.",
        "pedestrian 3, an adult, starts at (1.00, 4.00), facing east, and walks at half speed while it talks on the phone, until "
        "4 s or a robot is within 2 m; it walks to (5.00, 4.00), (1.00, 4.00), repeatedly.",
        "pedestrian 4, an adult, scared of robots, stands at (1.00, 4.00), facing south, and waits until 3 s; then it walks to "
        "(5.00, 4.00) and stays there.",
        "pedestrian 5, an adult, stands at (1.00, 4.00), facing east and has no waypoints.",
    ]


def test_waits_on_the_way_and_the_company_of_a_robot_are_told():
    waits, company = said(
        person((5.0, 4.0), (1.0, 6.0), waits=(2.0, 1.5), mode=3, heading=0.0), person(company=(1.2, 0.0, 20.0), heading=2.4)
    )
    assert waits.endswith("for 2 s, and then walks to (5.00, 4.00), (1.00, 6.00), and leaves, waiting 1.5 s before (1.00, 6.00).")
    assert company.endswith("facing north-west and stays 1.2 m from the nearest robot from 0 to 20 s.")


@pytest.mark.parametrize(
    ("heading", "word"), [(0.0, "east"), (-0.3, "east"), (0.5, "north-east"), (3.14, "west"), (-3.14, "west"), (-1.5, "south")]
)
def test_a_heading_has_a_word(heading, word):
    assert direction(heading) == word
