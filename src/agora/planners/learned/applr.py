"""APPLR: a policy sets the parameters of BARN's DWA every second; with weights trained in this project.

Z. Xu, G. Dhamankar, A. Nair, X. Xiao, G. Warnell, B. Liu, Z. Wang, P. Stone, "APPLR: Adaptive planner parameter learning from
reinforcement", ICRA 2021, and the code of Daffan/nav-competition-icra2022 (branch applr), which Arena runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from agora.core.recording import Reason
from agora.errors import InputError
from agora.interfaces import Answer, Memory, Observation
from agora.planners.learned.set_by_policy import Driver, SetByPolicy
from agora.planners.presets import named_planner
from agora.policies.policy import Policy
from agora.policies.rollout_settings import SPANS, RolloutSettings


@dataclass(frozen=True)
class Applr(SetByPolicy):
    """Drives like `TrajectoryRollout`, with the speeds, sample counts, biases and inflation that a policy chooses every second.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file; the policy's encoding must be
            `RolloutSettings`.
        planner: planner string of the planner that drives: trajectory_rollout or a preset of it; the policy chooses its settings.
    """

    file: str = "applr"
    planner: str = "trajectory_rollout_barn"

    def __post_init__(self) -> None:
        drives(self.planner)

    @property
    def driver(self) -> Driver:
        """Return the planner that drives, with the maximum settings."""
        return drives(self.planner)

    def suits(self, policy: Policy) -> bool:
        """Return whether a policy outputs APPLR's settings."""
        return isinstance(policy.observe, RolloutSettings)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the result of `SetByPolicy.act`. If the best roll-out with the policy's settings is to stand still, the robot
        waits, and the reason ``WAITING`` is noted.
        """
        answer = super().act(observation, memory)
        reason = answer.notes["reason"]
        waits = (np.abs(answer.twists).max(1) == 0.0) & (reason == Reason.NONE)
        return replace(answer, notes={"reason": np.where(waits, np.int8(Reason.WAITING), reason)})


@cache
def drives(planner: str) -> Driver:
    """Return the planner for a planner string, with the maximum settings that `RolloutSettings` allows.

    Raises:
        InputError: the planner is not a trajectory_rollout.
    """
    part = named_planner(planner)[1].part
    if not hasattr(part, "act_by"):
        raise InputError(f"planner: must be a trajectory_rollout, whose settings the policy chooses, got {planner!r}")
    most: dict[str, Any] = {name: high for name, (_, high) in SPANS.items() if name != "inflation_radius"}
    driver: Driver = replace(part, window=replace(part.window, inflation_radius=SPANS["inflation_radius"][1]), **most)
    return driver
