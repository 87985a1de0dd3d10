"""The suites `dsrnn` and `attngraph`: the environments of DS-RNN and AG-RL, with what was published of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.interfaces import Answer, Declaration
from agora.learning.run import play
from agora.pedestrians.behaviours.restless import Restless
from agora.planners.presets import named_planner
from agora.seeds import Stream
from agora.tasks.suite import load_suite
from agora.tasks.worlds.crossing_groups import CrossingGroups
from agora.world.start import PedestrianStarts


@dataclass(frozen=True)
class Stand:
    """A planner that never moves."""

    declares = Declaration()

    def act(self, observation, memory):
        return Answer(np.zeros((len(observation.pose), 3), np.float32))


def ways_of(starts):
    return np.array([[s.robots[0].pose[:2], s.robots[0].goals[0, :2]] for s in starts])


@pytest.mark.parametrize(("name", "stage"), [("dsrnn", "test"), ("dsrnn_training", "circle"), ("dsrnn_training", "validation")])
def test_the_robot_and_five_people_start_as_in_the_code_of_dsrnn(name, stage):
    suite = load_suite(name)
    starts = [suite.start(stage, k) for k in range(40)]
    ways = ways_of(starts)
    assert np.abs(ways).max() <= 6.0 and np.hypot(*(ways[:, 1] - ways[:, 0]).T).min() >= 6.0
    assert np.abs(ways).mean() > 2.5, "all of the square is used"
    for s, way in zip(starts, ways, strict=True):
        crowd = s.pedestrians
        assert len(crowd.id) == 5 and crowd.radius.min() >= 0.3 and crowd.radius.max() <= 0.5
        assert crowd.speed.min() >= 0.5 and crowd.speed.max() <= 1.0, "a preferred speed above 1 m/s counts as 1 m/s"
        assert (np.abs(np.hypot(*crowd.position.T) - 6.0) <= 0.75 * math.sqrt(2.0)).all()
        assert crowd.waypoints[:, 0] == pytest.approx(-crowd.position)
        gaps = np.hypot(*(crowd.position[:, None] - way).transpose(2, 0, 1)) - crowd.radius[:, None] - 0.3
        assert gaps.min() >= 0.25, "nobody starts within 0.25 m of the robot's start or goal"


def test_people_change_their_minds_with_the_chances_of_the_codes():
    of = lambda suite, stage: [b.part for b in load_suite(suite).stage(stage).crowd.behaviours]  # noqa: E731
    assert of("dsrnn", "test") == of("dsrnn_training", "circle") == of("dsrnn_training", "validation") == [Restless(5.0, 0.25)]
    assert of("attngraph", "randomised") == [Restless(5.0, 0.5)] and of("attngraph", "fixed") == []


def test_there_are_500_cases_to_test_on_and_100_to_choose_by():
    assert load_suite("dsrnn").stage("test").episodes == 500
    assert load_suite("dsrnn_training").stage("validation").episodes == 100
    assert load_suite("dsrnn_training").split == "training"
    assert [s.episodes for s in load_suite("attngraph").stages] == [500, 500]
    trained_on = ways_of([load_suite("dsrnn_training").start("circle", k) for k in range(20)])
    assert not np.isclose(trained_on, ways_of([load_suite("dsrnn").start("test", k) for k in range(20)])).any()


def test_a_case_is_over_at_the_197th_step_and_a_robot_alone_takes_the_time_of_its_way():
    suite = load_suite("dsrnn")
    alone = replace(suite.start("test", 7), pedestrians=PedestrianStarts.none())
    conditions = Conditions.of(suite.stage("test"))
    ((_, (late,)),) = Episodes([alone], Stand(), conditions)
    assert late.outcome is Outcome.TIMEOUT and late.time[-1] == pytest.approx(197 * 0.25)
    ((_, (there,)),) = Episodes([alone], named_planner("orca_crowdnav")[1].part, conditions)
    left, steps = math.dist(alone.robots[0].pose[:2], alone.robots[0].goals[0, :2]), 0
    while left >= 0.3:  # ORCA's preferred velocity is the way that is left, and 1 m/s where it is longer than 1 m
        left, steps = left - 0.25 * min(left, 1.0), steps + 1
    assert there.outcome is Outcome.REACHED and there.time[-1] == pytest.approx(0.25 * steps)


def test_the_starts_of_ag_rl_are_shifted_to_one_side():
    source = CrossingGroups(people=16, groups=0, circle=7.3, circle_offset=1.7, radius=(0.2, 0.2), room=0.1)
    places = np.array([p.position for k in range(30) for p in source.world("crossing_groups", Stream("a", k, "task")).people])
    radii = np.hypot(*places.T)
    assert radii.min() >= 7.3 - 1.7 * math.sqrt(2.0) and radii.max() <= 7.3 + 1.7 * math.sqrt(2.0)
    assert places.mean(0) == pytest.approx([0.85, 0.85], abs=0.75), "the mean offset is half the largest"
    with pytest.raises(ValueError, match="circle_offset"):
        CrossingGroups(circle_offset=-0.1)


def test_the_social_force_has_its_published_rates_among_the_twenty_of_ag_rl():
    # published: .34 reached, .64 collided, .02 out of time, 19.95 s, of 500; here .328, .662, .010 and 20.33 s
    suite = load_suite("attngraph")
    some = replace(suite, stages=tuple(replace(s, episodes=200) for s in suite.stages))
    ends = play(some, "fixed", named_planner("social_force_simple_crowdnav:path_ahead=100")[1].part, worlds=100)
    _, low, high = ends.success
    assert low <= 0.34 <= high and ends.collided / 200 == pytest.approx(0.64, abs=0.07)
    assert ends.late <= 8 and ends.seconds == pytest.approx(19.95, abs=1.5)
