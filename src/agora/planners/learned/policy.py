"""A trained policy as a planner: it sees and answers as in training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.policies.encoding import to_twists
from agora.policies.policy import Policy, load_policy


@dataclass(frozen=True)
class PolicyPlanner:
    """Drive as a policy does that was trained in `agora.learning`; neither torch nor Gymnasium is needed.

    An action goes from limit to limit of the robot at hand; a policy without sideways motion drives robots that have it, too. A
    policy whose file names the robot that it was trained with (`agora.policies.policy.Body`) drives no other.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.policy.Policy.save`).
    """

    file: str = "hall"

    @cached_property
    def policy(self) -> Policy:
        """The policy of the file.

        Raises:
            InputError: there is no such file, or it is wrong.
        """
        return load_policy(self.file)

    @cached_property
    def declares(self) -> Declaration:
        """What it says of itself."""
        return Declaration(needs=self.policy.observe.needs, label=self.policy.label)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), and the actions that are held where the policy decides less often than the robots do.

        Raises:
            InputError: the policy was trained with another robot.
        """
        policy = self.policy
        hold = 1 if policy.body is None else policy.body.hold(observation)
        twists = to_twists(policy(policy.observe(observation)), observation.limits)
        if hold == 1:
            return Answer(twists)
        count = len(twists)
        left = memory.get("left", np.zeros(count, np.int32))
        due = left == 0
        twists = np.where(due[:, None], twists, memory.get("twists", twists))
        return Answer(twists, {"left": np.where(due, hold - 1, left - 1).astype(np.int32), "twists": twists})
