"""The base class of planners whose trained policy has a memory: it answers with velocities, and remembers what it has seen."""

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
from agora.ranges import Positive, TopSpeed, check_fields


@dataclass(frozen=True)
class ActorPlanner:
    """Takes the velocity that the policy answers, and remembers the recurrent state.

    A holonomic robot takes the velocity at once; `agora.planners.steering.velocity_to_twist` says how other robots follow it.
    The policy answers once in every control period of its training; with a shorter control period the velocity is held
    (`agora.policies.policy.decides`).

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.policy.Policy.save`),
            whose actions are velocities: its encoding is a `JointState`.
        preferred_speed: m/s. The memory counts calls and not metres, so that the speed of the training, 1 m/s, is the best known.
        turn_gain: of robots that cannot move sideways, 1/s.
    """

    file: str
    preferred_speed: TopSpeed = 1.0
    turn_gain: Positive = 2.0

    def __post_init__(self) -> None:
        check_fields(self)

    def files(self) -> list[Path]:
        """The file of the policy."""
        return [weights_file(self.file)]

    @cached_property
    def policy(self) -> Policy:
        """The policy of the file, with the preferred speed.

        Raises:
            InputError: there is no such file, or it is wrong, or of other actions.
        """
        read = load_policy(self.file)
        if not isinstance(read.observe, JointState):
            raise InputError(f"{self.file}: answers no velocities; the planner 'policy' drives with any policy")
        return replace(read, observe=replace(read.observe, preferred_speed=self.preferred_speed))

    @cached_property
    def declares(self) -> Declaration:
        """Needs, label and period of the policy, and the preferred speed as its top speed."""
        policy, speed = self.policy, self.preferred_speed
        return Declaration(needs=policy.observe.needs, label=policy.label, top_speed=speed, period=policy.period)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return twists (N, 3) in the robots' frames, and the memory.

        Memory: ``state`` (N, S) of the policy, ``velocity`` (N, 2) that is held, m/s in the map frame, and ``calls`` (N,) so far in
        the episode.

        Raises:
            InputError: the control period is longer than that of the training.
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
