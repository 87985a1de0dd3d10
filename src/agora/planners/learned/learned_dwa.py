"""A dynamic window whose choice is learned, a policy of our own, with weights that were trained here.

The window is of D. Fox, W. Burgard, S. Thrun, "The dynamic window approach to collision avoidance", IEEE Robotics & Automation
Magazine 1997. Its objective is replaced by a network that judges each command (`agora.policies.commands`). As in the window of ROS,
a robot that turns on the spot to either side by turns is stuck, and may only turn on to one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from agora.core.scalar import F
from agora.core.state import Array, Bools, Floats
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.planners.learned.policy import PolicyPlanner
from agora.policies.command_rollouts import CONTEXT, FEATURES
from agora.ranges import Distance, Speed

_STILL = 1e-3  # m/s, rad/s


@dataclass(frozen=True)
class LearnedDwa(PolicyPlanner):
    """Take the command that a policy rates highest by its three seconds among walls, people and groups, and along the path.

    It drives any robot with a lidar: commands are shares of the robot's own limits, and a command after which the robot could not
    brake before a wall is never taken. A faster robot than those of the training is driven at theirs: commands of its own would
    carry it past its goal.

    A robot that has turned on the spot to one side and then to the other turns on the spot to no other side than that until it has
    left its place. The policy remembers nothing, and between two headings it turned left at one and right at the other for ever.

    Attributes:
        file: of the policy.
        fastest: largest speed, of the training by default, m/s.
        fastest_sideways: largest speed of a robot that moves sideways, too, of the training by default, m/s.
        oscillation_reset_dist: distance to move before the robot may turn on the spot to either side again, m.
    """

    file: str = "learned_dwa"
    fastest: Speed = 2.0
    fastest_sideways: Speed = 1.2
    oscillation_reset_dist: Distance = 0.2

    @cached_property
    def declares(self) -> Declaration:
        """Needs, label and period of the policy, and the largest speed."""
        policy = self.policy
        return Declaration(
            needs=policy.observe.needs, label=policy.label, top_speed=max(self.fastest, self.fastest_sideways), period=policy.period
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), and the memory, as `PolicyPlanner.act` does; raises as that.

        Memory besides: ``place`` (N, 2) from which motion is measured, ``turned`` (N,) to which side the robot has turned on the
        spot there, 1 or -1, and whether it may turn to that side ``alone`` (N,).
        """
        own, rows = observation.limits, len(observation.pose)
        most = np.where(own.holonomic, F(self.fastest_sideways), F(self.fastest))
        limits = replace(
            own, min_vx=np.maximum(own.min_vx, -most), max_vx=np.minimum(own.max_vx, most), max_vy=np.minimum(own.max_vy, most)
        )
        fresh = memory.get("calls", np.zeros(rows, np.int64)) == 0
        place, turned, alone = (
            memory.get(name, np.zeros((rows, *shape), kind))
            for name, shape, kind in (("place", (2,), np.float32), ("turned", (), np.int8), ("alone", (), np.bool_))
        )
        off = observation.pose[:, :2] - place
        left = fresh | ((off * off).sum(1) > F(self.oscillation_reset_dist) ** 2)
        place = np.where(left[:, None], observation.pose[:, :2], place)
        turned, alone = np.where(left, np.int8(0), turned), alone & ~left
        answer = super().act(
            replace(observation, limits=limits), {**memory, "turned": turned, "alone": alone} if memory else memory
        )
        moves = np.abs(answer.twists) > _STILL
        side = np.where(moves[:, 2] & ~moves[:, :2].any(1), np.sign(answer.twists[:, 2]), 0.0).astype(np.int8)
        alone = alone | (side * turned < 0)
        turned = np.where(side != 0, side, turned)
        return Answer(answer.twists, {**answer.memory, "place": place, "turned": turned, "alone": alone})

    def _look(self, observation: Observation, memory: Memory, due: Bools) -> tuple[Floats, dict[str, Array]]:
        looked, kept = super()._look(observation, memory, due)
        if not memory or not memory["alone"].any():
            return looked, kept
        seen = looked.copy()
        commands = seen[:, CONTEXT:].reshape(len(seen), -1, FEATURES)
        back = np.sign(commands[..., 3]) * memory["turned"][:, None] < 0
        turns = (np.abs(commands[..., 1:3]) <= _STILL).all(2)
        commands[..., 0] *= ~(turns & back & memory["alone"][:, None])
        return seen, kept
