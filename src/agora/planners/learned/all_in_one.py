"""All-in-One: a policy selects which planner drives; with weights trained in this project.

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
    """Drives with the planner that a policy selects at regular intervals (every 0.3 s with the included weights).

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file; the policy's encoding must be `PlannerChoice`.
    """

    file: str = "all_in_one"

    @cached_property
    def driver(self) -> Switch:
        """Return the planners that the policy selects from."""
        assert isinstance(self.policy.observe, PlannerChoice)
        return Switch(self.policy.observe.planners)

    def suits(self, policy: Policy) -> bool:
        """Return whether a policy has one score for each of its planners."""
        observe = policy.observe
        if not isinstance(observe, PlannerChoice):
            return False
        nothing = np.zeros((1, observe.length), np.float32)
        return len(policy(nothing)[0]) == len(observe.planners)
