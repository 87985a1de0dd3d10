"""GA3C-CADRL: one of eleven speeds and changes of heading, learned by robots that share one policy.

M. Everett, Y. F. Chen, J. P. How, "Motion planning among dynamic, decision-making agents with deep reinforcement learning",
IROS 2018, and its code (mit-acl/gym-collision-avoidance).

Differences from the code: the robot turns evenly over the control period, where the code's turns at once and then drives straight
(`agora.policies.ga3c.Agents`); all robots have one radius and one preferred speed in training. It sees no walls, and people are
others like robots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from agora.core.state import Floats
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.pedestrians.checks import above_zero
from agora.planners.limits import own
from agora.policies.ga3c import Ga3c, load_ga3c
from agora.policies.policy import decides
from agora.policies.weights import weights_file
from agora.ranges import Speed


@dataclass(frozen=True)
class Ga3cCadrl:
    """Takes the action of the highest score: it drives forwards and turns, also where the robot could move sideways.

    The policy answers once in every control period of its training; with a shorter control period speed and turning rate are held
    (`agora.policies.policy.decides`). A robot that cannot turn by 30 degrees within the period turns as fast as it can. A car-like
    robot turns no tighter than it can. It does not turn in place, and may stand for ever where its goal lies behind it.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.ga3c.Ga3c.save`).
        preferred_speed: m/s; None for the robot's largest. Other velocities are seen in preferred speeds
            (`agora.policies.joint_state.JointState`), but turns stay as fast: near the 1 m/s of the training it drives best.
    """

    file: str = "ga3c_cadrl"
    preferred_speed: Speed | None = 1.0

    def __post_init__(self) -> None:
        if self.preferred_speed is not None:
            above_zero(self, "preferred_speed")

    def files(self) -> list[Path]:
        """The file of the policy."""
        return [weights_file(self.file)]

    @cached_property
    def policy(self) -> Ga3c:
        """The policy of the file.

        Raises:
            InputError: there is no such file, or it is wrong.
        """
        read = load_ga3c(self.file)
        return replace(read, observe=replace(read.observe, preferred_speed=self.preferred_speed))

    @cached_property
    def declares(self) -> Declaration:
        """What it says of itself."""
        read = self.policy
        speed = float(own(self.preferred_speed))
        return Declaration(needs=read.observe.needs, label=read.label, top_speed=speed, period=read.observe.period)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return twists (N, 3) in the robots' frames, and the memory.

        Memory: ``twists`` (N, 3) that are held, and ``calls`` (N,) so far in the episode.

        Raises:
            InputError: the control period is longer than that of the training.
        """
        o, rows, observe = observation, len(observation.pose), self.policy.observe
        twists: Floats = memory.get("twists", np.zeros((rows, 3), np.float32))
        calls = memory.get("calls", np.zeros(rows, np.int64))
        due = decides(calls, observe.period, o.dt)
        if due.any():
            answered = observe.twists(self.policy(observe(o)), o.limits, o.pose, o.goal)
            twists = np.where(due[:, None], answered, twists)
        return Answer(twists, {"twists": twists, "calls": calls + 1})
