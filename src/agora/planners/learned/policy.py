"""A trained policy as a planner: it sees and answers as in training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from agora.core.state import Bools, Floats
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.policies.encoding import to_twists, within
from agora.policies.policy import Policy, decides, load_policy
from agora.policies.weights import weights_file


@dataclass(frozen=True)
class PolicyPlanner:
    """Drive as a policy does that was trained in `agora.learning`; neither torch nor Gymnasium is needed.

    An action goes from limit to limit of the robot at hand; a policy without sideways motion drives robots that have it, too. A
    policy whose file names the robot that it was trained with (`agora.policies.policy.Body`) drives every robot within the limits
    of that one, and within the robot's own, and reads another lidar in the directions of that one (`Body.seen`). Where the
    robot decides more often, its last twist is held (`agora.policies.policy.decides`); a longer control period is refused.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.policy.Policy.save`).
    """

    file: str = "hall"

    def files(self) -> list[Path]:
        """The file of the policy."""
        return [weights_file(self.file)]

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
        body = self.policy.body
        if body is None:
            return Declaration(needs=self.policy.observe.needs, label=self.policy.label)
        needs, label = self.policy.observe.needs, self.policy.label
        return Declaration(needs=needs, label=label, period=body.control, top_speed=body.max_vx)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), those of the last decision where the policy decides less often than the robots do.

        Raises:
            InputError: the policy was trained with a shorter control period.
        """
        policy, o, count = self.policy, observation, len(observation.pose)
        if policy.body is None:
            looked, kept = self._look(o, memory, np.ones(count, np.bool_))
            return Answer(to_twists(policy(looked), o.limits), kept)
        calls = memory.get("calls", np.zeros(count, np.int64))
        due, seen = decides(calls, policy.body.control, o.dt), policy.body.seen(o, policy.observe.beams)
        looked, kept = self._look(seen, memory, due)
        twists = within(to_twists(policy(looked), seen.limits), o.limits)
        twists = np.where(due[:, None], twists, memory.get("twists", twists))
        return Answer(twists, kept | {"calls": calls + 1, "twists": twists})

    def _look(self, observation: Observation, memory: Memory, due: Bools) -> tuple[Floats, Memory]:
        """What the policy sees (N, D), and the memory of it where it decides now: ``due`` (N,).

        Memory, where the policy sees earlier scans: ``looked`` (N, D) when it decided last, and whether it has ``begun`` (N,).
        """
        observe = self.policy.observe
        looked = observe(observation)
        if observe.scans == 1:
            return looked, {}
        before, begun = memory.get("looked", np.zeros_like(looked)), memory.get("begun", np.zeros(len(due), np.bool_))
        observe.remember(looked, before, ~begun)
        return looked, {"looked": np.where(due[:, None], looked, before), "begun": begun | due}
