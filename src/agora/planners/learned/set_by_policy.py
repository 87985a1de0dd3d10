"""The base class of planners whose settings a policy chooses at regular intervals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from agora.core.state import Floats
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.policies.planner_settings import PlannerSettings
from agora.policies.policy import Policy, decides, load_policy
from agora.policies.weights import weights_file
from agora.registry import Named

__all__ = ["Driver", "SetByPolicy"]


class Driver(Protocol):
    """A planner that is given its settings at every call."""

    @property
    def declares(self) -> Declaration:
        """Return the properties of the planner."""

    def act_by(self, observation: Observation, memory: Memory, settings: Mapping[str, Floats]) -> Answer:
        """Return the result of `agora.interfaces.BatchPlanner.act`, with settings (N,) by name."""


class SetByPolicy:
    """A base class for planners that drive with a `Driver` whose settings a policy chooses.

    Attributes:
        file: policy file, as in `agora.planners.learned.policy.PolicyPlanner`.
    """

    file: str

    @property
    @abstractmethod
    def driver(self) -> Driver:
        """Return the planner that drives."""

    @abstractmethod
    def suits(self, policy: Policy) -> bool:
        """Return whether a policy's actions are settings of the driver."""

    def files(self) -> list[Path]:
        """Return the policy's file."""
        return [weights_file(self.file)]

    def named_parts(self) -> list[Named]:
        """Return the planner that drives; empty if it is unknown because no policy names it."""
        try:
            return [Named("driver", self.driver)]
        except InputError:
            return []

    @cached_property
    def policy(self) -> Policy:
        """Return the policy from the file.

        Raises:
            InputError: the file does not exist, is invalid, or contains a policy with the wrong kind of actions.
        """
        policy = load_policy(self.file)
        if not self.suits(policy):
            raise InputError(f"{self.file}: does not return settings of the planner; the planner 'policy' drives with any policy")
        return policy

    @cached_property
    def declares(self) -> Declaration:
        """Return the needs of the policy and of the driver, the driver's top speed, and the policy's label and period."""
        policy, own = self.policy, self.driver.declares
        needs = (*own.needs, *(name for name in policy.observe.needs if name not in own.channels))
        return Declaration(needs=needs, label=policy.label, notes=("reason",), top_speed=own.top_speed, period=policy.period)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the driver's twists (N, 3) and notes, and the memory: the number of calls, the policy's last actions (N, A), and
        the driver's memory.

        Raises:
            InputError: the control period is longer than the time between two choices.
        """
        o, policy, count = observation, self.policy, len(observation.pose)
        assert isinstance(policy.observe, PlannerSettings)
        calls = memory.get("calls", np.zeros(count, np.int64))
        chosen = memory.get("chosen", np.zeros((count, policy.observe.action_size(o.limits)), np.float32))
        due = decides(calls, policy.period, o.dt)
        if due.any():
            seen = o if policy.body is None else policy.body.seen(o, policy.observe.beams)
            chosen = np.where(due[:, None], policy(policy.see(seen)), chosen)
        answer = self.driver.act_by(o, memory.get("planner", {}), policy.observe.settings(chosen))
        return Answer(answer.twists, {"calls": calls + 1, "chosen": chosen, "planner": answer.memory}, answer.notes)
