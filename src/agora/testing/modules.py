"""The contract for modules, which change a task before or after it is created."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from agora.draft.stage import Stage
from agora.draft.task import Task
from agora.interfaces import Module, ResetPlan
from agora.registry import Named
from agora.testing.errors import ContractError
from agora.testing.guard import identical, pure
from agora.testing.tasks import task

_EPISODES = tuple(range(12))
_SHARED = ("crowd", "periods", "navigation", "ends", "after_end")


def check_module(module: Module, *, stage: Stage | None = None) -> None:
    """Check a module against the contract of `agora.interfaces.Module`.

    The module returns a plan, which depends only on the input plan and not on earlier calls. It does not change settings that all
    episodes of a batch share. The same task gives the same result. The world and its map are not written, and no global random
    generator is used.

    Args:
        module: module to check.
        stage: stage to use; by default, one with robots and pedestrians at random positions in an empty plane.

    Raises:
        ContractError: the module breaks a clause.
    """
    name = type(module).__name__
    given = stage if stage is not None else _stage()
    plans = [ResetPlan("contract", given, episode, seed) for seed in (1, 2) for episode in _EPISODES]
    forwards = [_planned(name, module, plan) for plan in plans]
    backwards = [_planned(name, module, plan) for plan in reversed(plans)][::-1]
    for plan, one, other in zip(plans, forwards, backwards, strict=True):
        if one != other:
            raise ContractError(f"{name}: not deterministic: the plan for episode {plan.episode} differs after other calls")
    results = [_after(name, module, seed) for seed in (1, 2, 1)]
    if not identical(results[0], results[2]):
        raise ContractError(f"{name}: not deterministic: the same task gives different results")


def _stage() -> Stage:
    obstacles = Named.of("obstacles_modes", "random", dynamic=(2, 4))
    return Stage("stage", Named.of("worlds", "open"), obstacles=obstacles)


def _planned(name: str, module: Module, plan: ResetPlan) -> ResetPlan:
    """Return the plan that the module makes from another plan."""
    stage = replace(plan.stage, modules=(Named(name, module), *plan.stage.modules))
    before = replace(plan, stage=stage)
    with pure(f"{name}: before_reset of episode {plan.episode}", plan=before):
        made = module.before_reset(before)
    if not isinstance(made, ResetPlan) or not isinstance(made.stage, Stage):
        raise ContractError(f"{name}: before_reset: expected a Plan with a Stage, got a {type(made).__name__}")
    if made.episode < 0 or made.seed < 0:
        raise ContractError(f"{name}: before_reset returns episode {made.episode} and seed {made.seed}; expected 0 or more")
    for key in _SHARED:
        if getattr(made.stage, key) != getattr(plan.stage, key):
            raise ContractError(f"{name}: before_reset changes {key}, which all episodes of a batch share")
    return made


def _after(name: str, module: Module, seed: int) -> dict[str, Any]:
    """Return the parts of a task after the module has changed it."""
    done: Task = task(seed)
    scenario = done.world.scenario
    assert scenario is not None
    done.robots = [(np.array(robot.start), np.array([robot.goal])) for robot in scenario.robots]
    with pure(f"{name}: after_reset", world=done.world, map=done.map):
        module.after_reset(done)
    if not done.robots:
        raise ContractError(f"{name}: after_reset leaves no robot")
    return {"map": done.map, "robots": done.robots, "pedestrians": done.pedestrians, "things": done.things}
