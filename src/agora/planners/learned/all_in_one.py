"""All-in-One: a policy that says which planner drives, with weights that were trained here.

L. Kästner, J. Cox, T. Buiyan, J. Lambrecht, "All-in-One: A DRL-based control switch combining state-of-the-art navigation
planners", ICRA 2022, and its code, Arena-Rosnav/all_in_one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agora.planners.learned.set_by_policy import SetByPolicy
from agora.planners.switch import Switch
from agora.policies.planner_choice import PlannerChoice
from agora.policies.policy import Policy


@dataclass(frozen=True)
class AllInOne(SetByPolicy):
    """Let the planner drive that a policy chooses from time to time, every 0.3 s with the weights that come along.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file, whose encoding is `PlannerChoice`.
    """

    file: str = "all_in_one"

    @cached_property
    def driver(self) -> Switch:
        """The planners of the policy."""
        assert isinstance(self.policy.observe, PlannerChoice)
        return Switch(self.policy.observe.planners)

    def suits(self, policy: Policy) -> bool:
        """Say whether a policy scores each of its planners."""
        observe = policy.observe
        if not isinstance(observe, PlannerChoice):
            return False
        nothing = np.zeros((1, observe.length), np.float32)
        return len(policy(nothing)[0]) == len(observe.planners)
