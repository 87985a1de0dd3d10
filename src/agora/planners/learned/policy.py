"""A planner that drives with a trained policy, using the same observations and actions as in training."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from agora.core.state import Array, Bools, Floats
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.policies.encoding import within
from agora.policies.policy import Policy, decides, load_policy
from agora.policies.weights import weights_file
from agora.ranges import Checked


@dataclass(frozen=True)
class PolicyPlanner(Checked):
    """Drives with a policy trained in `agora.learning`; needs neither PyTorch nor Gymnasium.

    Any policy can drive, regardless of its encoding and its network. If a policy's file names the robot used in training
    (`agora.policies.policy.TrainedRobot`), the policy drives every robot within the limits of both robots, and the lidar is
    resampled at the beam directions used in training (`TrainedRobot.seen`). Otherwise, actions span the limits of the robot being
    driven; a policy without sideways motion can also drive robots that can move sideways. If the file names the control period used
    in training and the robot's control period is shorter, the last twist is held (`agora.policies.policy.decides`); a longer
    control period is an error.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.policy.Policy.save`).
    """

    file: str = "hall"

    def files(self) -> list[Path]:
        """Return the policy's file."""
        return [weights_file(self.file)]

    @cached_property
    def policy(self) -> Policy:
        """Return the policy from the file.

        Raises:
            InputError: the file does not exist or is invalid.
        """
        return load_policy(self.file)

    @cached_property
    def declares(self) -> Declaration:
        """Return the needs and label of the policy, and the period and top speed used in training."""
        policy, body = self.policy, self.policy.body
        speed = math.inf if body is None else body.max_vx
        return Declaration(needs=policy.observe.needs, label=policy.label, top_speed=speed, period=policy.period)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3); between two decisions of the policy, these are the twists of the last decision.

        The memory contains the number of ``calls`` (N,) in the episode, the ``twists`` (N, 3) being held, the encoded observation
        ``looked`` (N, D) at the last decision, whether the robot has ``begun`` (N,), and the ``state`` (N, S) of the network.

        Raises:
            InputError: the policy was trained with a shorter control period.
        """
        policy, o, count = self.policy, observation, len(observation.pose)
        calls = memory.get("calls", np.zeros(count, np.int64))
        twists: Floats = memory.get("twists", np.zeros((count, 3), np.float32))
        due = decides(calls, policy.period, o.dt)
        if not due.any():
            return Answer(twists, {**memory, "calls": calls + 1})
        seen = o if policy.body is None else policy.body.seen(o, policy.observe.beams)
        looked, kept = self._encode(seen, memory, due)
        state: Floats = memory.get("state", np.zeros((count, policy.state_size), np.float32))
        actions, after = policy.step(looked, state)
        answered, kept = self._twists_of_actions(
            policy.observe.twists(actions, seen.limits, o.pose, o.goal), actions, looked, memory, kept, due
        )
        answered = within(answered, o.limits)
        twists = np.where(due[:, None], answered, twists)
        kept |= {"state": np.where(due[:, None], after, state)} if policy.state_size else {}
        return Answer(twists, {**kept, "calls": calls + 1, "twists": twists})

    def _twists_of_actions(
        self, twists: Floats, actions: Floats, looked: Floats, memory: Memory, kept: dict[str, Array], due: Bools
    ) -> tuple[Floats, dict[str, Array]]:
        """Return the twists (N, 3) for actions (N, A), and the memory; a subclass may override twists in rows that decide now."""
        return twists, kept

    def _encode(self, observation: Observation, memory: Memory, due: Bools) -> tuple[Floats, dict[str, Array]]:
        """Return the encoded observations (N, D), and their memory, in the rows ``due`` (N,) that decide now."""
        looked = self.policy.see(observation)
        before, begun = memory.get("looked", np.zeros_like(looked)), memory.get("begun", np.zeros(len(due), np.bool_))
        self.policy.observe.remember(looked, before, ~begun)
        return looked, {"looked": np.where(due[:, None], looked, before), "begun": begun | due}
