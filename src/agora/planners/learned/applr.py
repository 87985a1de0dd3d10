"""APPLR: a policy that sets the parameters of BARN's DWA every second, with weights that were trained here.

Z. Xu, G. Dhamankar, A. Nair, X. Xiao, G. Warnell, B. Liu, Z. Wang, P. Stone, "APPLR: Adaptive planner parameter learning from
reinforcement", ICRA 2021, and the code of Daffan/nav-competition-icra2022 (branch applr), which Arena runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.recording import Reason
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.planners.presets import named_planner
from agora.policies.policy import Policy, decides, load_policy
from agora.policies.rollout_settings import SPANS, RolloutSettings
from agora.policies.weights import weights_file


@dataclass(frozen=True)
class Applr:
    """Drive as `TrajectoryRollout` does with the speeds, samples, biases and inflation that a policy chooses every second.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file, whose encoding is `RolloutSettings`.
        planner: planner that drives, as text: a trajectory_rollout or a preset of it, whose settings the policy chooses.
    """

    file: str = "applr"
    planner: str = "trajectory_rollout_barn"

    def __post_init__(self) -> None:
        drives(self.planner)

    def files(self) -> list[Path]:
        """The file of the policy."""
        return [weights_file(self.file)]

    @cached_property
    def policy(self) -> Policy:
        """The policy of the file.

        Raises:
            InputError: there is no such file, or it is wrong, or of other actions.
        """
        policy = load_policy(self.file)
        if not isinstance(policy.observe, RolloutSettings):
            raise InputError(f"{self.file}: answers no settings of a planner; the planner 'policy' drives with any policy")
        return policy

    @cached_property
    def declares(self) -> Declaration:
        """Needs of the policy and of the planner, label and period of the policy."""
        policy, own = self.policy, drives(self.planner).declares
        needs = (*own.needs, *(name for name in policy.observe.needs if name not in own.channels))
        return Declaration(
            needs=needs, label=policy.label, notes=("reason",), top_speed=SPANS["max_vel_x"][1], period=policy.period
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), and the memory: calls, the policy's last actions (N, 7), and the planner's.

        A robot whose best curve by these settings is to stand waits, and notes it.

        Raises:
            InputError: the control period is longer than the second between two choices.
        """
        o, policy, count = observation, self.policy, len(observation.pose)
        calls = memory.get("calls", np.zeros(count, np.int64))
        chosen = memory.get("chosen", np.zeros((count, 7), np.float32))
        due = decides(calls, policy.period, o.dt)
        if due.any():
            seen = o if policy.body is None else policy.body.seen(o, policy.observe.beams)
            chosen = np.where(due[:, None], policy(policy.see(seen)), chosen)
        assert isinstance(policy.observe, RolloutSettings)
        answer: Answer = drives(self.planner).act_by(o, memory.get("planner", {}), policy.observe.settings(chosen))
        reason = answer.notes["reason"]
        waits = (np.abs(answer.twists).max(1) == 0.0) & (reason == Reason.NONE)
        notes = {"reason": np.where(waits, np.int8(Reason.WAITING), reason)}
        return replace(answer, memory={"calls": calls + 1, "chosen": chosen, "planner": answer.memory}, notes=notes)


@cache
def drives(planner: str) -> Any:
    """Return a planner, as text, with the largest settings that `RolloutSettings` has.

    Raises:
        InputError: it is no trajectory_rollout.
    """
    part = named_planner(planner)[1].part
    if not hasattr(part, "act_by"):
        raise InputError(f"planner: must be a trajectory_rollout, whose settings the policy chooses, got {planner!r}")
    most: dict[str, Any] = {name: high for name, (_, high) in SPANS.items() if name != "inflation_radius"}
    return replace(part, window=replace(part.window, inflation_radius=SPANS["inflation_radius"][1]), **most)
