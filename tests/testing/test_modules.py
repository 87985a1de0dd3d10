"""Modules that can be had by name keep their contract, and bad ones do not."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

import pytest

from agora.draft.periods import Periods
from agora.interfaces import Module
from agora.registry import available, make
from agora.testing import ContractError, check_module

PARAMETERS = {"axis": {"sets": {"safety": (0.2, 0.3)}}}
"""Parameters of modules that do nothing without them."""


@pytest.mark.parametrize("name", sorted(available("modules")))
def test_a_registered_module_keeps_the_contract(name):
    check_module(make("modules", name, **PARAMETERS.get(name, {})))


@dataclass(frozen=True)
class Counts(Module):
    """Remembers how often it was asked."""

    seen: list = field(default_factory=list, compare=False)

    def before_reset(self, plan):
        self.seen.append(plan.episode)
        return replace(plan, episode=len(self.seen))


@dataclass(frozen=True)
class Quickens(Module):
    def before_reset(self, plan):
        return replace(plan, stage=replace(plan.stage, periods=Periods(physics=0.01)))


@dataclass(frozen=True)
class Forgets(Module):
    def before_reset(self, plan):
        return None


@dataclass(frozen=True)
class Draws(Module):
    def before_reset(self, plan):
        random.random()
        return plan


@dataclass(frozen=True)
class Raises(Module):
    def before_reset(self, plan):
        raise ZeroDivisionError


@dataclass(frozen=True)
class TakesTheRobots(Module):
    def after_reset(self, task):
        task.robots.clear()


@dataclass(frozen=True)
class MovesTheWalls(Module):
    def after_reset(self, task):
        task.map.discs.flags.writeable = True
        task.map.discs[:] += 0.1


@dataclass(frozen=True)
class Pushes(Module):
    pushed: list = field(default_factory=list, compare=False)

    def after_reset(self, task):
        self.pushed.append(0)
        task.robots = [(start + len(self.pushed) * 0.01, goals) for start, goals in task.robots]


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (Counts(), "not deterministic: the plan"),
        (Quickens(), "changes periods"),
        (Forgets(), "got a NoneType"),
        (Draws(), "global random generator"),
        (Raises(), "raises ZeroDivisionError"),
        (TakesTheRobots(), "leaves no robot"),
        (MovesTheWalls(), "writes to"),
        (Pushes(), "not deterministic: the same task"),
    ],
)
def test_a_bad_module_fails_for_its_own_reason(module, reason):
    with pytest.raises(ContractError, match=reason):
        check_module(module)
