"""Every planner that can be had by name keeps the contract."""

from __future__ import annotations

import dataclasses
import math
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from tests.learned import learned

from agora.costmap.window import Window
from agora.interfaces import Declaration
from agora.planners.adapters import as_batch_planner
from agora.planners.local.dwa import Dwa
from agora.planners.local.pure_pursuit import PurePursuit
from agora.planners.local.trajectory_rollout import TrajectoryRollout
from agora.planners.presets import named_planner
from agora.registry import load, make, ready
from agora.testing import ContractError, check_planner
from agora.testing.speed import hidden_speed

OTHERS = {
    "dwa": Dwa(window=Window(size=6.0)),
    "dwa kinetic": named_planner("dwa_kinetic")[1].part,
    "dwa arena_jackal": named_planner("dwa_arena_jackal")[1].part,
    "trajectory_rollout": TrajectoryRollout(window=Window(size=6.0), vx_samples=5),
    "trajectory_rollout barn": named_planner("trajectory_rollout_barn")[1].part,
}

HANDED = {
    "artplanner": "draws places at random",
    "brne": "draws velocities at random",
    "dragon": "counts a beam in the very direction of the target among those on the left of it, as published",
    "recovering": "recovers trajectory_rollout",
    "sipp": "takes the first found of ways that arrive at the same time",
    "trajectory_rollout": "samples turning rates from the rightmost on and leaves the leftmost out, as published",
}
"""Planners that treat left and right differently, beside the learned ones, whose networks do. The presets of `dwa` do too: of
samples that cost the same they take the first one, from the rightmost on, as published."""


@pytest.mark.parametrize("name", OTHERS)
def test_a_planner_with_other_parameters_keeps_the_contract(name):
    check_planner(OTHERS[name], grid=True, handed=name != "dwa")


def test_socnavbenchs_orca_keeps_the_contract():
    planner = named_planner("orca_socnavbench")[1].part
    check_planner(planner, grid=True, gives_way=False)  # a wall in the robot, as stairs of edges: it creeps on at 2.5 mm/s


def test_nh_orca_keeps_the_contract():
    check_planner(named_planner("nh_orca")[1].part, grid=True, gives_way=False)  # somebody in the robot: it turns, at 2.4 mm/s


@pytest.mark.parametrize("name", ready("planners"))
def test_a_registered_planner_keeps_the_contract_and_compiles_its_kernels_once(name):
    planner = make("planners", name)
    kernels = [one for one in vars(sys.modules[type(planner).__module__]).values() if hasattr(one, "shell")]
    before = [len(one.signatures) for one in kernels]
    gives_way = name not in learned()  # which do what they have learned
    handed = name in HANDED or name in learned() or name == "policy"
    check_planner(planner, grid="costmap" in planner.declares.channels, handed=handed, gives_way=gives_way)
    for kernel, count in zip(kernels, before, strict=True):
        assert len(kernel.signatures) <= count + 1, f"{kernel.__name__} is compiled for several types of arrays"


@pytest.mark.parametrize("name", ready("planners"))
def test_a_registered_planner_says_what_it_claims_to_be(name):
    assert (make("planners", name).declares.label == "own") == (name in ("go_to_goal", "policy"))
    assert (make("planners", name).declares.label == "small") <= (name in {*learned(), "cohan"})


@pytest.mark.parametrize("name", ready("planners"))
def test_a_registered_planner_with_a_speed_of_its_own_declares_it(name):
    given = {one.name for one in dataclasses.fields(load("planners", name))}
    own = next((one for one in ("max_vel_x", "max_speed", "preferred_speed", "speed") if one in given), None)
    planner = make("planners", name) if own is None else make("planners", name, **{own: 0.7})
    if own is not None or name not in learned():  # some of those keep to the speed of their training
        assert planner.declares.top_speed == pytest.approx(math.inf if own is None else 0.7)
    assert hidden_speed(as_batch_planner(planner)) == ""


def test_a_planner_that_hides_its_speed_is_found_out():
    @dataclass(frozen=True)
    class Slow(PurePursuit):
        """Drives at 0.4 m/s and does not say so."""

        @property
        def declares(self):
            return Declaration(needs=("path",))

    with pytest.raises(ContractError, match=r"Slow: top_speed: the robot drives at most 0.40 m/s although its limit is 1.5"):
        check_planner(Slow(speed=0.4))

    @dataclass(frozen=True)
    class Deaf(PurePursuit):
        """Drives at 0.8 m/s whatever the limits say."""

        def plan(self, observation, memory):
            limits = dataclasses.replace(observation.limits, max_vx=np.float32(0.8))
            return super().plan(dataclasses.replace(observation, limits=limits), memory)

    with pytest.raises(ContractError, match=r"Deaf: top_speed: at half the top speed of 0.80 m/s, the robot drives 0.80 m/s"):
        check_planner(Deaf(speed=0.8))
