"""The base class of planners whose recurrent policy outputs velocities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from agora.core.state import Floats
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.planners.steering import velocity_to_twist
from agora.policies.joint_state import JointState
from agora.policies.policy import Policy, decides, load_policy
from agora.policies.weights import weights_file
from agora.ranges import Checked, Positive, TopSpeed


@dataclass(frozen=True)
class ActorPlanner(Checked):
    """Drives at the velocity that the policy outputs, and keeps the recurrent state in its memory.

    A holonomic robot drives the velocity directly; for other robots, see `agora.planners.steering.velocity_to_twist`. The policy
    decides once per control period used in training; if the robot's control period is shorter, the velocity is held
    (`agora.policies.policy.decides`).

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.policy.Policy.save`); its
            actions must be velocities, i.e. its encoding must be a `JointState`.
        preferred_speed: preferred speed, m/s. The recurrent state depends on the number of calls, not on the distance driven, so
            the training speed, 1 m/s, works best.
        turn_gain: turning gain for robots that cannot move sideways, 1/s.
    """

    file: str
    preferred_speed: TopSpeed = 1.0
    turn_gain: Positive = 2.0

    def files(self) -> list[Path]:
        """Return the policy's file."""
        return [weights_file(self.file)]

    @cached_property
    def policy(self) -> Policy:
        """Return the policy from the file, with the preferred speed.

        Raises:
            InputError: the file does not exist, is invalid, or contains a policy with the wrong kind of actions.
        """
        read = load_policy(self.file)
        if not isinstance(read.observe, JointState):
            raise InputError(f"{self.file}: does not return velocities; the planner 'policy' drives with any policy")
        return replace(read, observe=replace(read.observe, preferred_speed=self.preferred_speed))

    @cached_property
    def declares(self) -> Declaration:
        """Return the needs, label and period of the policy, and the preferred speed as the top speed."""
        policy, speed = self.policy, self.preferred_speed
        return Declaration(needs=policy.observe.needs, label=policy.label, top_speed=speed, period=policy.period)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return twists (N, 3) in the robots' frames, and the memory.

        The memory contains the ``state`` (N, S) of the policy, the ``velocity`` (N, 2) being held, m/s in the map frame, and the
        number of ``calls`` (N,) in the episode.

        Raises:
            InputError: the control period is longer than in training.
        """
        o, rows, policy = observation, len(observation.pose), self.policy
        assert isinstance(policy.observe, JointState)
        state: Floats = memory.get("state", np.zeros((rows, policy.state_size), np.float32))
        velocity: Floats = memory.get("velocity", np.zeros((rows, 2), np.float32))
        calls = memory.get("calls", np.zeros(rows, np.int64))
        due = decides(calls, policy.period, o.dt)
        if due.any():
            actions, after = policy.step(policy.see(o), state)
            answered = policy.observe.velocities(actions, o.limits, o.pose, o.goal)
            state, velocity = np.where(due[:, None], after, state), np.where(due[:, None], answered, velocity)
        twists = velocity_to_twist(velocity, o, self.turn_gain)
        return Answer(twists, {"state": state, "velocity": velocity, "calls": calls + 1})
