"""Every planner that can be had by name keeps the contract."""

from __future__ import annotations

import pytest

from agora.costmap.window import Window
from agora.planners.local.dwa import Dwa
from agora.planners.local.go_to_goal import GoToGoal
from agora.planners.local.pure_pursuit import PurePursuit
from agora.planners.local.trajectory_rollout import TrajectoryRollout
from agora.planners.presets import named_planner
from agora.registry import available, load, make
from agora.testing import check_planner

BUILT_IN = {
    "dwa": (Dwa(window=Window(size=6.0)), True),
    "dwa kinetic": (named_planner("dwa_kinetic")[1].part, True),
    "dwa arena_jackal": (named_planner("dwa_arena_jackal")[1].part, True),
    "trajectory_rollout": (TrajectoryRollout(window=Window(size=6.0), vx_samples=5), True),
    "trajectory_rollout barn": (named_planner("trajectory_rollout_barn")[1].part, True),
    "go_to_goal": (GoToGoal(), False),
    "pure_pursuit": (PurePursuit(), False),
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_planner_keeps_the_contract(name):
    planner, grid = BUILT_IN[name]
    check_planner(planner, grid=grid)


@pytest.mark.parametrize("name", sorted(available("planners")))
def test_a_registered_planner_keeps_the_contract(name):
    planner = make("planners", name)
    check_planner(planner, grid="costmap" in planner.needs)


@pytest.mark.parametrize("name", sorted(available("planners")))
def test_a_registered_planner_says_what_it_claims_to_be(name):
    assert hasattr(load("planners", name), "label")
