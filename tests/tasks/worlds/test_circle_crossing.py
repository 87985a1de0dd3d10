"""The world `circle_crossing` and the suite `crowdnav`."""

import math

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.errors import PlacementError
from agora.planners.presets import named_planner
from agora.seeds import Stream
from agora.tasks.suite import load_suite
from agora.tasks.worlds.circle_crossing import CircleCrossing


def crowdnav_starts(seed, *, people=5, radius=4.0, random_people=False):
    """The starts of CrowdNav's people, written as its code draws them: attributes, then angle and noise until there is room."""
    np.random.seed(seed)  # noqa: NPY002
    agents, starts = [((0, -radius), (0, radius), 0.3)], []
    for _ in range(people):
        v_pref, body = 1.0, 0.3
        if random_people:
            v_pref, body = np.random.uniform(0.5, 1.5), np.random.uniform(0.3, 0.5)  # noqa: NPY002
        while True:
            angle = np.random.random() * np.pi * 2  # noqa: NPY002
            px = (np.random.random() - 0.5) * v_pref  # noqa: NPY002
            py = (np.random.random() - 0.5) * v_pref  # noqa: NPY002
            px, py = radius * np.cos(angle) + px, radius * np.sin(angle) + py
            if all(min(math.dist((px, py), s), math.dist((px, py), g)) >= body + r + 0.2 for s, g, r in agents):
                break
        agents.append(((px, py), (-px, -py), body))
        starts.append((px, py, body))
    return np.array(starts)


@pytest.mark.parametrize("random_people", [False, True])
@pytest.mark.parametrize("case", [0, 1, 337])
def test_cases_are_those_of_crowdnavs_code(case, random_people):
    ranges = {"body": (0.3, 0.5), "speed": (0.5, 1.5)} if random_people else {}
    source = CircleCrossing(cases=500, **ranges)
    people = source.world(source.names()[case], Stream("unused", 0, "task")).people
    expected = crowdnav_starts(1000 + case, random_people=random_people)
    assert np.allclose([(*p.position, p.radius) for p in people], expected, rtol=0, atol=1e-12)
    assert np.allclose([p.waypoints[0] for p in people], -expected[:, :2], rtol=0, atol=1e-12)


def test_orca_has_its_published_rates_among_people_who_do_not_see_it():
    # CrowdNav: .43 reached, .57 collided, 10.86 s (its code, run again: .426, .568 and .006 out of time); seen by people 1.00,
    # 10.02 s
    suite = load_suite("crowdnav")
    for stage, reached, seconds in (("invisible", 0.426, 10.86), ("visible", 1.0, 10.02)):
        starts = [suite.start(stage, k) for k in range(500)]
        episodes = Episodes(starts, named_planner("orca_crowdnav")[1].part, Conditions.of(suite.stage(stage)), worlds=128)
        ends = [(r.outcome, r.time[-1]) for _, (r,) in episodes]
        times = [time for outcome, time in ends if outcome is Outcome.REACHED]
        assert len(times) / 500 == pytest.approx(reached, abs=0.015)
        assert np.mean(times) == pytest.approx(seconds, abs=0.1)


def test_drawn_worlds_keep_the_gap_and_differ():
    source = CircleCrossing(people=7, radius=3.5, body=(0.2, 0.4), speed=(0.4, 0.9), gap=0.35)
    first, second = (source.world("circle_crossing", Stream("a", seed, "task")).people for seed in (3, 4))
    assert not np.allclose(first[0].position, second[0].position)
    for k, person in enumerate(first):
        assert 0.2 <= person.radius <= 0.4 and 0.4 <= person.speed <= 0.9
        for other in first[:k]:
            apart = min(math.dist(person.position, other.position), math.dist(person.position, other.waypoints[0]))
            assert apart >= person.radius + other.radius + 0.35


def test_a_circle_that_is_full_is_refused():
    with pytest.raises(PlacementError, match="no place on the circle"):
        CircleCrossing(people=60, radius=2.0).world("circle_crossing", Stream("a", 1, "task"))
