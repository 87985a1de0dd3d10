"""A trained policy as a planner: it sees and answers as in training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.policies.encoding import to_twists
from agora.policies.policy import Policy, load_policy


@dataclass(frozen=True)
class PolicyPlanner:
    """Drive as a policy does that was trained in `agora.learning`; neither torch nor Gymnasium is needed.

    An action goes from limit to limit of the robot at hand; a policy without sideways motion drives robots that have it, too.

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
        return Declaration(needs=self.policy.observe.needs)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3); nothing is remembered."""
        return Answer(to_twists(self.policy(self.policy.observe(observation)), observation.limits))
