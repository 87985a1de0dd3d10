"""Reward files of Arena 3.0: ``training/configs/reward_functions/*.yaml``, each a mapping of units to their parameters.

What a file leaves out has Arena's value, which is not always that of `ArenaReward`. Units that Agora has not, and parameters that
mean something else here, are told with their lines.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from agora.config import Builder, dump, plain
from agora.documents import Node, read_text, tree_of_text
from agora.learning.arena_reward import NOTHING, WEIGHTS, ArenaReward

_OUTLINES = "Arena measures between the centres, Agora between the outlines"
_ELDERS = "Agora's units know one type of pedestrian, elders, which are type 1"
_SAFE_KEY = "_on_safe_dist_violation"


@dataclass(frozen=True)
class Unit:
    """A unit of the file; its fields are Arena's parameters with Arena's defaults."""

    unsafe: bool = field(default=True, metadata={"key": _SAFE_KEY})
    always: ClassVar[bool] = False  # Arena counts it wherever the robot is

    def fields(self) -> Mapping[str, Any]:
        """Fields of `ArenaReward` that say the same."""
        return {}

    def notes(self) -> Mapping[str, str]:
        """The differences in Agora, by parameter; by "" the ones that concern the whole unit."""
        return {}


@dataclass(frozen=True)
class _Goal(Unit):
    reward: float = 15.0
    follow_subgoal: bool = field(default=False, metadata={"key": "_follow_subgoal"})

    def fields(self) -> Mapping[str, Any]:
        return {"reached": self.reward}

    def notes(self) -> Mapping[str, str]:
        return {"_follow_subgoal": "not taken: Agora rewards the last goal alone"} if self.follow_subgoal else {}


@dataclass(frozen=True)
class _Collision(Unit):
    always = True
    reward: float = -10.0
    bumper_zone: float = 0.05

    def fields(self) -> Mapping[str, Any]:
        return {"collision": self.reward}

    def notes(self) -> Mapping[str, str]:
        return {"bumper_zone": "not taken: a collision is a contact with the outline"}


@dataclass(frozen=True)
class _MaxSteps(Unit):
    penalty: float = 10.0

    def fields(self) -> Mapping[str, Any]:
        return {"timeout": -self.penalty}


@dataclass(frozen=True)
class _SafeDistance(Unit):
    always = True
    reward: float = -0.15

    def fields(self) -> Mapping[str, Any]:
        return {"safe": self.reward}


@dataclass(frozen=True)
class _ApproachGoal(Unit):
    pos_factor: float = 0.3
    neg_factor: float = 0.5
    threshold: float = field(default=2.5, metadata={"key": "_goal_update_threshold"})
    follow_subgoal: bool = field(default=False, metadata={"key": "_follow_subgoal"})

    def fields(self) -> Mapping[str, Any]:
        return {"approach": self.pos_factor, "retreat": self.neg_factor} | ({"along_path": True} if self.follow_subgoal else {})

    def notes(self) -> Mapping[str, str]:
        notes = {"_goal_update_threshold": "not needed: a new goal is no progress in Agora, however far it is"}
        return notes | ({"_follow_subgoal": "taken as metres along the global path"} if self.follow_subgoal else {})


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
class _Abrupt(Unit):
    vel_factors: Mapping[str, float] = field(default_factory=lambda: {"0": 0.3, "1": 0.07, "2": 0.07})

    def __post_init__(self) -> None:
        wrong = sorted(set(self.vel_factors) - {"0", "1", "2"})
        if wrong:
            raise ValueError(f"vel_factors has the keys 0 (vx), 1 (vy) and 2 (omega), got {wrong[0]}")

    def fields(self) -> Mapping[str, Any]:
        axes = ("abrupt_vx", "abrupt_vy", "abrupt_omega")
        return {name: -self.vel_factors.get(str(axis), 0.0) for axis, name in enumerate(axes)}


@dataclass(frozen=True)
class _RootDifference(Unit):
    unsafe: bool = field(default=False, metadata={"key": _SAFE_KEY})
    k: float = 500.0

    def __post_init__(self) -> None:
        if not self.k > 0:
            raise ValueError(f"k must be above 0, got {self.k}")

    def fields(self) -> Mapping[str, Any]:
        return {"smooth": 1.0 / self.k, "smooth_range": self.k}


@dataclass(frozen=True)
class _TwoFactors(Unit):
    unsafe: bool = field(default=False, metadata={"key": _SAFE_KEY})
    alpha: float = 0.01
    beta: float = 0.025

    def fields(self) -> Mapping[str, Any]:
        return {"change_vx": -self.alpha, "change_omega": -self.beta}


@dataclass(frozen=True)
class _Heading(Unit):
    r_angle: float = 0.6
    theta_m: float = math.pi / 6.0
    theta_min: float = 1000.0
    ped_min_dist: float = 8.0
    iters: int = 60

    def fields(self) -> Mapping[str, Any]:
        return {"heading": self.r_angle, "heading_turn": self.theta_m}

    def notes(self) -> Mapping[str, str]:
        return {
            "": "Arena draws headings, and some versions never add what comes out; Agora tries 60, evenly spaced",
            "theta_min": "not needed",
            "ped_min_dist": "Agora looks at people within 8 m",
            "iters": "Agora tries 60 headings",
        }


@dataclass(frozen=True)
class _OfType(Unit):
    ped_type: int = 1

    def notes(self) -> Mapping[str, str]:
        return {"ped_type": f"the unit is not taken: {_ELDERS}"} if self.ped_type != 1 else self.differences()

    def fields(self) -> Mapping[str, Any]:
        return self.weights() if self.ped_type == 1 else {}

    def weights(self) -> Mapping[str, Any]:
        """The fields, where the type is elders."""
        return {}

    def differences(self) -> Mapping[str, str]:
        """The notes, where the type is elders."""
        return {}


@dataclass(frozen=True)
class _TypeDistance(_OfType):
    reward: float = -0.25
    safety_distance: float = 1.25

    def weights(self) -> Mapping[str, Any]:
        return {"elder": self.reward, "elder_distance": self.safety_distance}

    def differences(self) -> Mapping[str, str]:
        return {"safety_distance": _OUTLINES}


@dataclass(frozen=True)
class _TypeCollision(_OfType):
    always = True
    reward: float = -10.0
    bumper_zone: float = 0.05

    def weights(self) -> Mapping[str, Any]:
        return {"elder_hit": self.reward}

    def differences(self) -> Mapping[str, str]:
        return {"": f"{_OUTLINES}, and adds the robot's radius", "bumper_zone": "not taken: Agora has 0.05 m"}


@dataclass(frozen=True)
class _TypeSpeed(_OfType):
    penalty_factor: float = 0.05
    active_distance: float = 1.25

    def weights(self) -> Mapping[str, Any]:
        return {"elder_speed": -self.penalty_factor, "elder_distance": self.active_distance}

    def differences(self) -> Mapping[str, str]:
        return {"active_distance": _OUTLINES}


@dataclass(frozen=True)
class _Turning(Unit):
    penalty_factor: float = 0.05
    threshold: float | None = None

    def fields(self) -> Mapping[str, Any]:
        return {"turning": -self.penalty_factor, "turning_rate": self.threshold} if self.threshold else {}

    def notes(self) -> Mapping[str, str]:
        if not self.threshold:
            return {"": "without a threshold it counts nothing, in Arena neither"}
        return {"threshold": "of the turn that the robot is told to make; Arena takes the one that it made"}


@dataclass(frozen=True)
class _PedSafeDistance(Unit):
    reward: float = -0.14
    safe_dist: float = 0.51

    def fields(self) -> Mapping[str, Any]:
        return {"pedestrian": self.reward, "pedestrian_distance": self.safe_dist}


@dataclass(frozen=True)
class RewardFile:
    """The units of a reward file, each of which may be left out."""

    goal_reached: _Goal | None = None
    collision: _Collision | None = None
    max_steps_exceeded: _MaxSteps | None = None
    safe_distance: _SafeDistance | None = None
    approach_goal: _ApproachGoal | None = None
    approach_globalplan: _ApproachPlan | None = None
    follow_globalplan: _FollowPlan | None = None
    no_movement: _NoMovement | None = None
    distance_travelled: _Travelled | None = None
    reverse_drive: _Reverse | None = None
    abrupt_velocity_change: _Abrupt | None = None
    root_velocity_difference: _RootDifference | None = None
    two_factor_velocity_difference: _TwoFactors | None = None
    active_heading_direction: _Heading | None = None
    ped_safe_distance: _PedSafeDistance | None = None
    ped_type_safety_distance: _TypeDistance | None = None
    ped_type_collision: _TypeCollision | None = None
    ped_type_vel_constraint: _TypeSpeed | None = None
    angular_vel_constraint: _Turning | None = None


_INSTEAD = {
    "obs_safe_distance": "use safe_distance, which reads the scan",
    "factored_safe_distance": "use safe_distance, whose reward is the same at every distance",
    "factored_reverse_drive": "use reverse_drive, whose reward is the same at every speed",
    "linear_vel_boost": "use distance_travelled with a consumption_factor below 0",
    "ped_type_factored_safety_distance": "use ped_type_safety_distance, whose reward is the same at every distance",
}
"""Units that Agora has not, with the nearest that it has."""


@dataclass(frozen=True)
class RewardRead:
    """The reward that a reward file describes, and its differences.

    Attributes:
        reward: reward with the units of the file, and no others.
        notes: differences in Agora, each ``file:line: unit.parameter: what``, in the order of the file.
    """

    reward: ArenaReward
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """YAML of the reward for the key ``reward`` of a training file; what it leaves out is as by default."""
        usual = plain(ArenaReward())
        values = {key: value for key, value in plain(self.reward).items() if value != usual[key]}
        return dump({"reward": {"name": "arena"} | values})


def read_arena_reward(path: str | Path, *, safe_distance: float = 0.5, subgoals: bool = False) -> RewardRead:
    """Read a reward file of Arena 3.0.

    Args:
        path: the file.
        safe_distance: ``safety_distance`` of Arena's ``training_config.yaml``, m.
        subgoals: ``rl_agent.subgoal_mode`` of it: whether progress is that to a sub-goal on the global path.

    Raises:
        InputError: the file cannot be read, or is no such file; names lines and keys.
    """
    node = tree_of_text(read_text(path), str(path), is_json=False)
    units = node.value if isinstance(node.value, dict) else {}
    whole = {name: dataclasses.replace(unit, value={}) if unit.value is None else unit for name, unit in units.items()}
    known = {name: unit for name, unit in whole.items() if name not in _INSTEAD}
    file: RewardFile = Builder(str(path)).run(dataclasses.replace(node, value=known) if whole else node, RewardFile)
    notes: list[str] = []
    values: dict[str, Any] = {"safe_distance": safe_distance, "along_path": subgoals}
    only_safe: list[str] = []
    for name, given in whole.items():
        notes += [f"{path}:{line}: {key}: {text}" for line, key, text in _notes(node, name, given, file)]
        if name in _INSTEAD:
            continue
        unit = getattr(file, name)
        fields = unit.fields()
        clash = fields.keys() & values.keys() - {"along_path"}
        if any(fields[key] != values[key] for key in clash):
            line = node.key_lines[name]
            notes.append(f"{path}:{line}: {name}: not taken: Agora has one distance to elders, and another unit has another")
            continue
        values |= fields
        if "safe" in values and not (unit.unsafe or unit.always):
            only_safe += [key for key in fields if key in WEIGHTS]
    return RewardRead(dataclasses.replace(NOTHING, **values, only_safe=tuple(only_safe)), tuple(notes))


def _notes(node: Node, name: str, given: Node, file: RewardFile) -> Iterator[tuple[int | None, str, str]]:
    """Lines, keys and texts of what is not the same in Agora."""
    line = node.key_lines.get(name, node.line)
    if name in _INSTEAD:
        yield line, name, f"not taken: Agora has no such unit; {_INSTEAD[name]}"
        return
    for key, text in getattr(file, name).notes().items():
        if not key:
            yield line, name, text
        elif key in given.value:
            yield given.key_lines[key], f"{name}.{key}", text
