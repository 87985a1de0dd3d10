"""The units of Arena 3.0 and rosnav-rl reward files, each with its parameters and their equivalents in `ArenaReward`.

rosnav-rl developed Arena 3.0's units further (745073d, rosnav_rl/reward/reward_units/reward_units.py; split by topic in 04e0280).
Some of its equations differ, so each unit returns separate fields for the two file types.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agora.ranges import Checked, Positive

__all__ = ["INSTEAD", "RewardFile", "Unit"]

_OUTLINES = "Arena measures between the centres, Agora between the outlines"
_TYPES = {"0": "adult", "1": "elder"}
_KNOWN_TYPES = "Agora's units only distinguish adults (type 0) and elders (type 1)"
_SAFE_KEY = "_on_safe_dist_violation"


@dataclass(frozen=True)
class Unit:
    """A unit in a reward file; its fields are Arena's parameters with Arena's default values."""

    unsafe: bool = field(default=True, metadata={"key": _SAFE_KEY})
    always: ClassVar[bool] = False  # Arena also applies this unit while the safe distance is violated
    later: ClassVar[bool] = False  # the unit exists only in rosnav-rl

    @property
    def of_later(self) -> bool:
        """Return whether the unit, or one of the parameters that it uses, is missing from Arena 3.0."""
        return self.later

    def fields(self) -> Mapping[str, Any]:
        """Return the equivalent fields of `ArenaReward`."""
        return {}

    def fields_later(self) -> Mapping[str, Any]:
        """Return the equivalent fields of `ArenaReward` for a rosnav-rl file."""
        return self.fields()

    def notes(self) -> Mapping[str, str]:
        """Return how Agora differs from Arena, keyed by parameter; differences that concern the whole unit have the key ""."""
        return {}


@dataclass(frozen=True)
class _Goal(Unit):
    reward: float = 15.0
    follow_subgoal: bool = field(default=False, metadata={"key": "_follow_subgoal"})
    following_subgoal: bool = field(default=False, metadata={"key": "_following_subgoal"})

    def fields(self) -> Mapping[str, Any]:
        return {"reached": self.reward}

    def notes(self) -> Mapping[str, str]:
        asked = self.follow_subgoal or self.following_subgoal
        note = "not imported: Agora only rewards the last goal"
        return {"_follow_subgoal": note, "_following_subgoal": note} if asked else {}


@dataclass(frozen=True)
class _Collision(Unit):
    always = True
    reward: float = -10.0
    bumper_zone: float = 0.05

    def fields(self) -> Mapping[str, Any]:
        return {"collision": self.reward}

    def notes(self) -> Mapping[str, str]:
        return {"bumper_zone": "not imported: a collision is a contact with the outline"}


@dataclass(frozen=True)
class _MaxSteps(Unit):
    penalty: float = 10.0
    reward: float | None = None

    @property
    def of_later(self) -> bool:
        return self.reward is not None

    def fields(self) -> Mapping[str, Any]:
        return {"timeout": -self.penalty if self.reward is None else self.reward}

    def notes(self) -> Mapping[str, str]:
        return {"reward": "imported; rosnav-rl's own unit reads only penalty and ignores reward"}


@dataclass(frozen=True)
class _SafeDistance(Unit):
    always = True
    reward: float = -0.15

    def fields(self) -> Mapping[str, Any]:
        return {"safe": self.reward}


@dataclass(frozen=True)
class _SafeDepth(Unit):
    always = later = True
    factor: float = -0.5

    def fields(self) -> Mapping[str, Any]:
        return {"safe_depth": self.factor}


@dataclass(frozen=True)
class _ApproachGoal(Unit):
    pos_factor: float = 0.3
    neg_factor: float = 0.5
    threshold: float = field(default=2.5, metadata={"key": "_goal_update_threshold"})
    follow_subgoal: bool = field(default=False, metadata={"key": "_follow_subgoal"})
    potential: bool = field(default=False, metadata={"key": "_potential_based"})
    factor: float = 0.3
    gamma: float = 0.99

    @property
    def of_later(self) -> bool:
        return self.potential

    def fields(self) -> Mapping[str, Any]:
        nearer, farther = (self.factor, self.factor) if self.potential else (self.pos_factor, self.neg_factor)
        return {"approach": nearer, "retreat": farther} | ({"along_path": True} if self.follow_subgoal else {})

    def notes(self) -> Mapping[str, str]:
        notes = {"gamma": "imported as 1: a metre counts the same at every distance"} if self.potential else {}
        notes |= {"_goal_update_threshold": "not needed: in Agora a new goal is not progress, at any distance"}
        return notes | ({"_follow_subgoal": "imported as metres along the global path"} if self.follow_subgoal else {})


@dataclass(frozen=True)
class _ApproachPlan(Unit):
    pos_factor: float = 0.3
    neg_factor: float = 0.5

    def fields(self) -> Mapping[str, Any]:
        return {"approach_path": self.pos_factor, "retreat_path": self.neg_factor}


@dataclass(frozen=True)
class _FollowPlan(Unit):
    min_dist_to_path: float = 0.5
    reward_factor: float = 0.1

    def fields(self) -> Mapping[str, Any]:
        return {"follow_path": self.reward_factor, "follow_distance": self.min_dist_to_path}


@dataclass(frozen=True)
class _NoMovement(Unit):
    reward: float = -0.01

    def fields(self) -> Mapping[str, Any]:
        return {"standing": self.reward}


@dataclass(frozen=True)
class _Travelled(Unit):
    consumption_factor: float = 0.005
    lin_vel_scalar: float = 1.0
    ang_vel_scalar: float = 0.001

    def fields(self) -> Mapping[str, Any]:
        forwards, turning = -self.consumption_factor * self.lin_vel_scalar, -self.consumption_factor * self.ang_vel_scalar
        return {"travelled": forwards, "turned": turning - 0.001 * forwards}


@dataclass(frozen=True)
class _Reverse(Unit):
    reward: float = 0.01
    threshold: float = -0.5

    def fields(self) -> Mapping[str, Any]:
        return {"reverse": self.reward, "reverse_speed": self.threshold}


@dataclass(frozen=True)
class _ReverseRate(Unit):
    later = True
    factor: float = -0.1
    threshold: float | None = None

    def fields(self) -> Mapping[str, Any]:
        return {"reverse_rate": -abs(self.factor), "reverse_speed": min(self.threshold or 0.0, 0.0)}

    def notes(self) -> Mapping[str, str]:
        return {"factor": "imported as a penalty: rosnav-rl 745073d multiplies it by the negative speed, 04e0280 by its magnitude"}


@dataclass(frozen=True)
class _Boost(Unit):
    later = True
    reward_factor: float = 0.05
    threshold: float | None = None

    def fields(self) -> Mapping[str, Any]:
        return {} if self.threshold is None else {"boost": self.reward_factor, "boost_speed": self.threshold}

    def notes(self) -> Mapping[str, str]:
        return _threshold_notes(self.threshold, "")


def _threshold_notes(threshold: float | None, otherwise: str) -> Mapping[str, str]:
    """Return the notes on a unit that applies above a threshold; ``otherwise`` is the note for a threshold above 0."""
    if threshold is None:
        return {"": "without a threshold it has no effect, as in Arena"}
    if threshold == 0.0:
        return {"threshold": "imported, as in rosnav-rl 04e0280; in 745073d a threshold of 0 has no effect"}
    return {"threshold": otherwise} if otherwise else {}


@dataclass(frozen=True)
class _Abrupt(Unit):
    vel_factors: Mapping[str, float] = field(default_factory=lambda: {"0": 0.3, "1": 0.07, "2": 0.07})

    def __post_init__(self) -> None:
        wrong = sorted(set(self.vel_factors) - {"0", "1", "2"})
        if wrong:
            raise ValueError(f"vel_factors: expected the keys 0 (vx), 1 (vy) and 2 (omega), got {wrong[0]}")

    def fields(self) -> Mapping[str, Any]:
        axes = ("abrupt_vx", "abrupt_vy", "abrupt_omega")
        return {name: -self.vel_factors.get(str(axis), 0.0) for axis, name in enumerate(axes)}


@dataclass(frozen=True)
class _RootDifference(Checked, Unit):
    unsafe: bool = field(default=False, metadata={"key": _SAFE_KEY})
    k: Positive = 500.0

    def fields(self) -> Mapping[str, Any]:
        return {"smooth": 1.0 / self.k, "smooth_range": self.k}


@dataclass(frozen=True)
class _TwoFactors(Unit):
    unsafe: bool = field(default=False, metadata={"key": _SAFE_KEY})
    alpha: float = 0.01
    beta: float = 0.025

    def fields(self) -> Mapping[str, Any]:
        return {"change_vx": -self.alpha, "change_omega": -self.beta}

    def fields_later(self) -> Mapping[str, Any]:
        return {"jump_vx": -self.alpha, "jump_omega": -self.beta}


@dataclass(frozen=True)
class _Heading(Unit):
    r_angle: float = 0.6
    theta_m: float = math.pi / 6.0
    theta_min: float = 1000.0
    ped_min_dist: float = 8.0
    iters: int = 60
    following_subgoal: bool = field(default=False, metadata={"key": "_following_subgoal"})

    def fields(self) -> Mapping[str, Any]:
        return {"heading": self.r_angle, "heading_turn": self.theta_m}

    def notes(self) -> Mapping[str, str]:
        return {
            "": "Arena samples headings, and some versions never add the result; Agora tries 60 evenly spaced headings",
            "theta_min": "not needed",
            "ped_min_dist": "Agora considers people within 8 m",
            "iters": "Agora tries 60 headings",
            "_following_subgoal": "not imported: headings refer to the goal",
        }


@dataclass(frozen=True)
class _OfType(Unit):
    ped_type: int = 1

    def by_type(self) -> Mapping[str, float]:
        """The unit's values, keyed by the number of the pedestrian type."""
        return {}

    @property
    def pairs_key(self) -> str:
        """The name of the parameter that lists the types."""
        return "ped_type"

    def weights(self, kind: str, value: float) -> Mapping[str, Any]:
        """Return the fields of `ArenaReward` for one type."""
        return {}

    def differences(self) -> Mapping[str, str]:
        """Return notes on how the imported parameters differ in Agora."""
        return {}

    def fields(self) -> Mapping[str, Any]:
        known = {_TYPES[number]: value for number, value in self.by_type().items() if number in _TYPES}
        return {name: weight for kind, value in known.items() for name, weight in self.weights(kind, value).items()}

    def notes(self) -> Mapping[str, str]:
        unknown = [number for number in self.by_type() if number not in _TYPES]
        left = {self.pairs_key: f"type {', '.join(unknown)} is not imported: {_KNOWN_TYPES}"} if unknown else {}
        return left | (dict(self.differences()) if self.fields() else {})


@dataclass(frozen=True)
class _OfTypes(_OfType):
    """A unit that applies to several pedestrian types in rosnav-rl (``type_reward_pairs``) and to a single type in Arena 3.0
    (``ped_type``, ``reward``).
    """

    reward: float = -0.25
    pairs: Mapping[str, float] | None = field(default=None, metadata={"key": "type_reward_pairs"})

    @property
    def of_later(self) -> bool:
        return self.pairs is not None

    @property
    def pairs_key(self) -> str:
        return "ped_type" if self.pairs is None else "type_reward_pairs"

    def by_type(self) -> Mapping[str, float]:
        return {str(self.ped_type): self.reward} if self.pairs is None else self.pairs


@dataclass(frozen=True)
class _TypeDistance(_OfTypes):
    safety_distance: float = 1.25

    def weights(self, kind: str, value: float) -> Mapping[str, Any]:
        return {kind: value, f"{kind}_distance": self.safety_distance}

    def differences(self) -> Mapping[str, str]:
        return {"safety_distance": _OUTLINES}


@dataclass(frozen=True)
class _TypeCollision(_OfTypes):
    always = True
    reward: float = -10.0
    bumper_zone: float = 0.05

    def weights(self, kind: str, value: float) -> Mapping[str, Any]:
        return {f"{kind}_hit": value}

    def differences(self) -> Mapping[str, str]:
        return {"": f"{_OUTLINES}, and adds the robot's radius", "bumper_zone": "not imported: Agora uses 0.05 m"}


@dataclass(frozen=True)
class _TypeDepth(_OfType):
    later = True
    factor: float = -0.5
    pairs: Mapping[str, float] | None = field(default=None, metadata={"key": "type_factor_pairs"})
    safety_distance: float = 1.25

    @property
    def pairs_key(self) -> str:
        return "ped_type" if self.pairs is None else "type_factor_pairs"

    def by_type(self) -> Mapping[str, float]:
        return {str(self.ped_type): self.factor} if self.pairs is None else self.pairs

    def weights(self, kind: str, value: float) -> Mapping[str, Any]:
        return {f"{kind}_depth": value, f"{kind}_distance": self.safety_distance}

    def differences(self) -> Mapping[str, str]:
        return {"safety_distance": _OUTLINES}


@dataclass(frozen=True)
class _TypeSpeed(_OfType):
    penalty_factor: float = 0.05
    active_distance: float = 1.25

    def by_type(self) -> Mapping[str, float]:
        return {str(self.ped_type): -self.penalty_factor}

    def weights(self, kind: str, value: float) -> Mapping[str, Any]:
        return {f"{kind}_speed": value, f"{kind}_distance": self.active_distance}

    def differences(self) -> Mapping[str, str]:
        return {"active_distance": _OUTLINES}


@dataclass(frozen=True)
class _Turning(Unit):
    """The unit angular_vel_constraint. Arena 3.0 subtracts a positive factor, rosnav-rl adds a negative factor; both punish."""

    penalty_factor: float = 0.05
    threshold: float | None = None

    def fields(self) -> Mapping[str, Any]:
        return {} if self.threshold is None else {"turning": -abs(self.penalty_factor), "turning_rate": self.threshold}

    def notes(self) -> Mapping[str, str]:
        return _threshold_notes(self.threshold, "uses the commanded turn; Arena uses the turn that the robot made")


@dataclass(frozen=True)
class _PedSafeDistance(Unit):
    reward: float = -0.14
    safe_dist: float = 0.51

    def fields(self) -> Mapping[str, Any]:
        return {"pedestrian": self.reward, "pedestrian_distance": self.safe_dist}


@dataclass(frozen=True)
class RewardFile:
    """The units of a reward file, all optional."""

    goal_reached: _Goal | None = None
    collision: _Collision | None = None
    max_steps_exceeded: _MaxSteps | None = None
    safe_distance: _SafeDistance | None = None
    factored_safe_distance: _SafeDepth | None = None
    approach_goal: _ApproachGoal | None = None
    approach_globalplan: _ApproachPlan | None = None
    follow_globalplan: _FollowPlan | None = None
    no_movement: _NoMovement | None = None
    distance_travelled: _Travelled | None = None
    reverse_drive: _Reverse | None = None
    factored_reverse_drive: _ReverseRate | None = None
    linear_vel_boost: _Boost | None = None
    abrupt_velocity_change: _Abrupt | None = None
    root_velocity_difference: _RootDifference | None = None
    two_factor_velocity_difference: _TwoFactors | None = None
    active_heading_direction: _Heading | None = None
    ped_safe_distance: _PedSafeDistance | None = None
    ped_type_safety_distance: _TypeDistance | None = None
    ped_type_factored_safety_distance: _TypeDepth | None = None
    ped_type_collision: _TypeCollision | None = None
    ped_type_vel_constraint: _TypeSpeed | None = None
    angular_vel_constraint: _Turning | None = None


INSTEAD = {
    "obs_safe_distance": "use safe_distance, which reads the scan",
    "proxemic_intrusion": "use ped_safe_distance, whose reward is the same all around a person",
    "social_potential": "use ped_safe_distance",
    "tgrf_discomfort": "use ped_safe_distance",
}
"""Units that Agora does not have, with the closest existing units."""
