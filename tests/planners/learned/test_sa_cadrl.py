"""The planner `sa_cadrl` keeps right among robots that drive by it, and brings all of them to their goals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.sides import broken, driven, head_on, sides, swaps

from agora.episode import Conditions, Episodes
from agora.planners.learned.crowdnav import SaCadrl
from agora.planners.local.orca import OrcaPlanner
from agora.tasks.suite import load_suite
from agora.testing import check_planner

PLANNER = SaCadrl()


def test_it_keeps_the_contract_of_planners():
    check_planner(PLANNER, handed=True)


def test_the_weights_that_come_along_know_the_norm_to_keep_right_in_the_published_weight():
    ahead = PLANNER.network.ahead
    assert (ahead.norm, ahead.side, PLANNER.observe.people) == (0.5, "right", 3)


@pytest.mark.parametrize("aside", [-0.2, 0.0, 0.2])
def test_a_scene_and_its_image_in_the_mirror_are_left_on_the_same_side(aside):
    towards = [2.5, aside, -1.0, 0.0, 0.3, 1.0]
    state = np.float32([[6.0, 1.0, 0.3, 1.0, 0.0, 1.0, 0.0, *towards, *(0.0,) * 12]])
    [[ahead, left]] = PLANNER.network.choose(PLANNER.policy.arrays, state)
    assert ahead > 0.3 and left < -0.1


def test_two_robots_that_meet_head_on_pass_on_the_learned_side():
    kept, ends = sides(PLANNER, head_on(60, seed=4))
    assert kept["right"] >= 0.95 * 60, kept
    assert ends["reached"] >= 0.95 * 120, ends


def test_robots_without_a_norm_keep_to_no_side_where_half_of_the_trials_are_mirrored():
    kept, _ = sides(OrcaPlanner(padding=0.16, follow_path=False, wall_horizon=0.0), head_on(20, seed=4))
    assert kept == {"right": 10, "left": 10}


def test_somebody_who_comes_from_far_away_is_passed_on_the_learned_side_too():
    suite = load_suite("planners")
    starts = [suite.start("frontal_approach", k) for k in range(6)]
    for _, [one] in Episodes(starts, PLANNER, Conditions.of(suite.stage("frontal_approach"))):
        away = one.pedestrian_position[:, 0] - one.pose[:, :2]
        assert away[0, 0] > 11.0
        assert away[away[:, 0] < 0.0][:1, 1] > 0.5


@pytest.mark.parametrize("count", [2, 4])
def test_those_who_change_places_break_the_rule_to_keep_left_more_often_than_the_one_they_learned(count):
    robots = [broken(one) for one in driven(PLANNER, swaps(count, 30))]
    left, right = (sum(one[side] for one in robots) for side in ("left", "right"))
    assert left > 2 * right


@pytest.mark.parametrize("count", [2, 3, 4])
def test_robots_that_drive_by_it_reach_their_goals(count):
    suite = load_suite("sa_cadrl_training")  # other cases than those of the card
    stage = replace(suite.stage("validation"), name=f"validation_{count}", episodes=25)
    robots = replace(stage.robots, part=replace(stage.robots.part, count=count))
    suite = replace(suite, stages=(replace(stage, robots=robots),))
    starts = [suite.start(suite.stages[0].name, k) for k in range(25)]
    ends = [one.outcome.label for _, many in Episodes(starts, PLANNER, Conditions.of(stage)) for one in many]
    assert ends.count("reached") >= 0.93 * 25 * count
