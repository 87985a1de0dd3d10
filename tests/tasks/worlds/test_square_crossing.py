"""The world `square_crossing` and the suite `crowdnav_square`."""

import math

import numpy as np
import pytest

from agora.config import build_component
from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.errors import InputError, PlacementError
from agora.planners.presets import named_planner
from agora.registry import make
from agora.seeds import Stream
from agora.tasks.suite import load_suite
from agora.tasks.worlds.square_crossing import SquareCrossing


def crowdnav_people(seed, *, people=5, width=10.0, random_people=False):
    """CrowdNav's people, written as its code draws them: attributes, side, start until there is room, goal until there is room."""
    np.random.seed(seed)  # noqa: NPY002
    agents, drawn = [((0, -4), (0, 4), 0.3)], []
    for _ in range(people):
        body = 0.3
        if random_people:
            _, body = np.random.uniform(0.5, 1.5), np.random.uniform(0.3, 0.5)  # noqa: NPY002
        sign = -1 if np.random.random() > 0.5 else 1  # noqa: NPY002
        ends = []
        for end, side in ((0, sign), (1, -sign)):
            while True:
                point = np.random.random() * width * 0.5 * side, (np.random.random() - 0.5) * width  # noqa: NPY002
                if all(math.dist(point, agent[end]) >= body + agent[2] + 0.2 for agent in agents):
                    break
            ends.append(point)
        agents.append((*ends, body))
        drawn.append((*ends[0], *ends[1], body))
    return np.array(drawn)


@pytest.mark.parametrize("random_people", [False, True])
@pytest.mark.parametrize("case", [0, 1, 337])
def test_cases_are_those_of_crowdnavs_code(case, random_people):
    ranges = {"body": (0.3, 0.5), "speed": (0.5, 1.5)} if random_people else {}
    source = SquareCrossing(cases=500, **ranges)
    people = source.world(source.names()[case], Stream("unused", 0, "task")).people
    expected = crowdnav_people(1000 + case, random_people=random_people)
    assert np.allclose([(*p.position, *p.waypoints[0], p.radius) for p in people], expected, rtol=0, atol=1e-12)


def test_the_first_case_is_that_of_numpys_first_numbers():
    # NumPy's RandomState(1000) begins 0.6536, 0.1150, 0.9503, 0.4822, 0.8725: the left half, a start at (-5 * 0.1150, 10 * 0.4503)
    # and a goal at (5 * 0.4822, 10 * 0.3725), 2.4 m from the robot's
    first = SquareCrossing(cases=500).world("case_0", Stream("unused", 0, "task")).people[0]
    assert first.position == pytest.approx([-0.575, 4.503], abs=1e-3)
    assert first.waypoints[0] == pytest.approx([2.411, 3.725], abs=1e-3)


def test_orca_among_those_who_see_it_reaches_every_goal_and_others_make_it_collide():
    # CrowdNav's code publishes no table of the square; among people who see the robot, ORCA is free of collisions by its theorem
    suite = load_suite("crowdnav_square")
    rates = {}
    for stage in ("invisible", "visible"):
        starts = [suite.start(stage, k) for k in range(100)]
        episodes = Episodes(starts, named_planner("orca_crowdnav")[1].part, Conditions.of(suite.stage(stage)), worlds=100)
        rates[stage] = np.mean([r.outcome is Outcome.REACHED for _, (r,) in episodes])
    assert rates["visible"] >= 0.99 > 0.95 > rates["invisible"]


def test_drawn_people_cross_the_middle_and_keep_the_gap():
    source = SquareCrossing(people=7, radius=3.0, side=9.0, body=(0.2, 0.4), speed=(0.4, 0.9), gap=0.35)
    first, second = (source.world("square_crossing", Stream("a", seed, "task")).people for seed in (3, 4))
    assert not np.allclose(first[0].position, second[0].position)
    agents = [((0.0, -3.0), (0.0, 3.0), 0.3)]
    for person in first:
        assert np.sign(person.position[0]) == -np.sign(person.waypoints[0, 0]) != 0
        assert np.abs([person.position, person.waypoints[0]]).max() <= 4.5
        for start, goal, radius in agents:
            apart = min(math.dist(person.position, start), math.dist(person.waypoints[0], goal))
            assert apart >= person.radius + radius + 0.35
        agents.append((person.position, person.waypoints[0], person.radius))


def test_a_square_without_people_is_the_robots_alone_and_a_full_one_is_refused():
    assert SquareCrossing(people=0).world("square_crossing", Stream("a", 1, "task")).people == ()
    with pytest.raises(PlacementError, match="no place for a (start|goal) in the square"):
        SquareCrossing(people=60, side=5.0, radius=2.0).world("square_crossing", Stream("a", 1, "task"))


def test_a_square_of_no_size_is_refused_by_its_name():
    with pytest.raises(InputError, match="side"):
        build_component("worlds", {"name": "square_crossing", "side": 0.0})
    assert make("worlds", "square_crossing").names() == ["square_crossing"]
