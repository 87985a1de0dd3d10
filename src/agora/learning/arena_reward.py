"""The reward units of Arena 3.0 and of rosnav-rl (``reward_functions``) as named terms, and two of Arena's presets.

A positive weight rewards, a negative weight punishes. Units that Arena 3.0 does not have follow the equations of rosnav-rl 745073d,
rosnav_rl/reward/reward_units/reward_units.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from agora.core.recording import Outcome
from agora.core.state import Bools, Floats
from agora.errors import UnknownNameError
from agora.interfaces import Transition
from agora.learning.rewards import added, collision, reached
from agora.ranges import Checked, NotNegative

__all__ = ["BASE_SEMANTIC", "DEFAULT", "NOTHING", "WEIGHTS", "ArenaReward"]

_TIMEOUT = int(Outcome.TIMEOUT)
_ASKS = {
    "safe": {"nearest", "radius"},
    "safe_depth": {"nearest", "radius"},
    "along_path": {"way"},
    "approach_path": {"path_approach"},
    "retreat_path": {"path_approach"},
    "follow_path": {"path_distance", "command"},
    "standing": {"command"},
    "travelled": {"command"},
    "turned": {"command"},
    "reverse": {"command"},
    "reverse_rate": {"command"},
    "boost": {"command"},
    "abrupt_vx": {"command", "command_before"},
    "abrupt_vy": {"command", "command_before"},
    "abrupt_omega": {"command", "command_before"},
    "smooth": {"command", "command_before"},
    "change_vx": {"command", "command_before"},
    "change_omega": {"command", "command_before"},
    "jump_vx": {"command", "command_before"},
    "jump_omega": {"command", "command_before"},
    "heading": {"detour"},
    "elder": {"elder"},
    "elder_depth": {"elder"},
    "elder_hit": {"elder"},
    "elder_speed": {"elder", "command"},
    "adult": {"adult"},
    "adult_depth": {"adult"},
    "adult_hit": {"adult"},
    "adult_speed": {"adult", "command"},
    "turning": {"command"},
}
_SPEEDS = {"reverse_speed", "boost_speed"}
_BY_TYPE = ("elder", "adult")
_STANDS = 0.1  # speed up to which a robot counts as standing still, m/s
_BUMPER = 0.05  # clearance below which a pedestrian counts as hit, m


@dataclass(frozen=True)
class ArenaReward(Checked):
    """A weighted sum of Arena's reward units; units with weight 0 are not computed.

    Speeds, turning rates and changes refer to the commanded twist. The names of Arena's units are in parentheses.

    Attributes:
        reached: reward for reaching the last goal (goal_reached).
        collision: reward if the episode ends with a contact or outside the map (collision).
        timeout: reward if the episode ends with a time-out (max_steps_exceeded).
        safe: reward if the shortest range of the scan is at most the robot's radius plus ``safe_distance`` (safe_distance).
        safe_depth: reward per metre by which the shortest range of the scan is below the robot's radius plus ``safe_distance``
            (factored_safe_distance).
        safe_distance: distance from the robot's outline below which the robot is unsafe, m.
        approach: reward per metre of progress towards the goal (approach_goal).
        retreat: reward per metre of progress if the robot moves away from the goal, i.e. if progress is negative (approach_goal).
        along_path: whether progress is measured along the global path; otherwise it is measured in a straight line to the goal.
        approach_path: reward per metre by which the robot has moved closer to the global path (approach_globalplan).
        retreat_path: like ``approach_path``, if the robot moves away from the path; the distance is then negative
            (approach_globalplan).
        follow_path: reward per m/s of forward speed within ``follow_distance`` of the path (follow_globalplan).
        follow_distance: distance to the path up to which ``follow_path`` applies, m.
        standing: reward if the forward speed is between -0.1 and 0.1 m/s (no_movement).
        travelled: reward that is multiplied by the forward speed in m/s plus 0.001 times omega in rad/s (distance_travelled).
        turned: additional reward per rad/s of omega, which is positive in left turns and negative in right turns
            (distance_travelled).
        reverse: reward if the forward speed is below ``reverse_speed`` (reverse_drive).
        reverse_rate: reward per m/s of reverse speed if the forward speed is below ``reverse_speed`` (factored_reverse_drive).
        reverse_speed: forward speed below which the robot counts as driving in reverse, m/s, at most 0.
        boost: reward per m/s of forward speed if it is above ``boost_speed`` (linear_vel_boost).
        boost_speed: forward speed above which ``boost`` applies, m/s.
        abrupt_vx: reward that is multiplied by 0.01 times the fourth power of the change in vx (abrupt_velocity_change).
        abrupt_vy: like ``abrupt_vx``, for vy.
        abrupt_omega: like ``abrupt_vx``, for omega.
        smooth: reward that is multiplied by 1 minus the norm of the squared changes in the twist, if this norm is below
            ``smooth_range`` (root_velocity_difference).
        smooth_range: norm of the squared changes below which ``smooth`` applies, in m2/s2 and rad2/s2.
        change_vx: reward that is multiplied by the squared change in vx (two_factor_velocity_difference).
        change_omega: reward that is multiplied by the squared change in omega (two_factor_velocity_difference).
        jump_vx: reward per m/s of absolute change in vx (two_factor_velocity_difference of rosnav-rl).
        jump_omega: reward per rad/s of absolute change in omega (two_factor_velocity_difference of rosnav-rl).
        heading: reward per radian by which the turn to a free heading is smaller than ``heading_turn`` (active_heading_direction).
        heading_turn: turn at which ``heading`` gives 0, rad.
        pedestrian: reward if the clearance to any pedestrian is at most ``pedestrian_distance`` (ped_safe_distance).
        pedestrian_distance: clearance up to which ``pedestrian`` applies, m.
        elder: reward if the clearance to an elder is below ``elder_distance`` (ped_type_safety_distance).
        elder_depth: reward per metre by which the clearance to an elder is below ``elder_distance``
            (ped_type_factored_safety_distance).
        elder_distance: clearance below which the units for elders apply, m.
        elder_hit: reward if the clearance to an elder is below 0.05 m (ped_type_collision).
        elder_speed: reward per m/s of forward speed if an elder is closer than ``elder_distance`` (ped_type_vel_constraint).
        adult: like ``elder``, for adults.
        adult_depth: like ``elder_depth``, for adults.
        adult_distance: like ``elder_distance``, for adults, m.
        adult_hit: like ``elder_hit``, for adults.
        adult_speed: like ``elder_speed``, for adults.
        turning: reward per rad/s of absolute turning rate if it is above ``turning_rate`` (angular_vel_constraint).
        turning_rate: absolute turning rate above which ``turning`` applies, rad/s.
        unsafe_too: whether the units that depend on motion also apply while ``safe_distance`` is violated.
        only_safe: names of additional weights that do not apply while ``safe_distance`` is violated.
    """

    reached: float = 15.0
    collision: float = -20.0
    timeout: float = -10.0
    safe: float = -0.25
    safe_depth: float = 0.0
    safe_distance: NotNegative = 0.5
    approach: float = 0.5
    retreat: float = 0.8
    along_path: bool = False
    approach_path: float = 0.0
    retreat_path: float = 0.0
    follow_path: float = 0.0
    follow_distance: NotNegative = 0.5
    standing: float = 0.0
    travelled: float = 0.0
    turned: float = 0.0
    reverse: float = -0.1
    reverse_rate: float = 0.0
    reverse_speed: float = -0.5
    boost: float = 0.0
    boost_speed: float = 0.0
    abrupt_vx: float = 0.0
    abrupt_vy: float = 0.0
    abrupt_omega: float = 0.0
    smooth: float = 0.0
    smooth_range: NotNegative = 500.0
    change_vx: float = 0.0
    change_omega: float = 0.0
    jump_vx: float = 0.0
    jump_omega: float = 0.0
    heading: float = 0.0
    heading_turn: NotNegative = math.pi / 6.0
    pedestrian: float = 0.0
    pedestrian_distance: NotNegative = 0.51
    elder: float = 0.0
    elder_depth: float = 0.0
    elder_distance: NotNegative = 1.25
    elder_hit: float = 0.0
    elder_speed: float = 0.0
    adult: float = 0.0
    adult_depth: float = 0.0
    adult_distance: NotNegative = 1.25
    adult_hit: float = 0.0
    adult_speed: float = 0.0
    turning: float = 0.0
    turning_rate: NotNegative = 5.0
    unsafe_too: bool = True
    only_safe: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.only_safe:
            if name not in WEIGHTS:
                raise UnknownNameError("weight of a unit", name, WEIGHTS)

    @property
    def asks(self) -> frozenset[str]:
        """Names of the facts that the units with a nonzero weight need."""
        facts = {fact for name, some in _ASKS.items() if getattr(self, name) for fact in some}
        anywhere = self.unsafe_too and not any(getattr(self, name) for name in self.only_safe)
        return frozenset(facts if anywhere else facts | {"nearest", "radius"})

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the weighted terms (N,) of all units with a nonzero weight, by name."""
        motion = self._motion(transition)
        terms = {name: unit * np.float32(getattr(self, name)) for name, unit in (self._ends(transition) | motion).items()}
        held = {name for name in terms if name in self.only_safe or (name in motion and not self.unsafe_too)}
        if any(getattr(self, name) for name in held):
            safe = ~self._unsafe(transition)
            terms |= {name: terms[name] * safe for name in held}
        return {name: np.asarray(term, np.float32) for name, term in terms.items()}

    def __call__(self, transition: Transition) -> Floats:
        """Return the rewards (N,)."""
        return added(self.terms(transition))

    def _unsafe(self, transition: Transition) -> Bools:
        unsafe: Bools = transition.facts["nearest"] <= transition.facts["radius"] + np.float32(self.safe_distance)
        return unsafe

    def _ends(self, t: Transition) -> dict[str, Floats]:
        """Return the units that depend on the outcome or on nearby obstacles and people."""
        units: dict[str, Floats] = {"reached": reached(t), "collision": collision(t), "timeout": _number(t.outcome == _TIMEOUT)}
        if self.safe:
            units["safe"] = _number(self._unsafe(t))
        if self.pedestrian:
            units["pedestrian"] = _number(t.clearance <= np.float32(self.pedestrian_distance))
        if self.safe_depth:
            units["safe_depth"] = np.maximum(t.facts["radius"] + np.float32(self.safe_distance) - t.facts["nearest"], 0)
        for kind in _BY_TYPE:
            units |= self._near(t, kind)
        return units

    def _near(self, t: Transition, kind: str) -> dict[str, Floats]:
        """Return the units that depend on the clearance to pedestrians of one type."""
        units: dict[str, Floats] = {}
        near = np.float32(getattr(self, f"{kind}_distance"))
        if getattr(self, kind):
            units[kind] = _number(t.facts[kind] < near)
        if getattr(self, f"{kind}_depth"):
            units[f"{kind}_depth"] = np.maximum(near - t.facts[kind], 0)
        if getattr(self, f"{kind}_hit"):
            units[f"{kind}_hit"] = _number(t.facts[kind] < np.float32(_BUMPER))
        return units

    def _motion(self, t: Transition) -> dict[str, Floats]:
        """Return the units that depend on the robot's motion."""
        metres = t.facts["way"] if self.along_path else t.progress
        units = {"approach": np.maximum(metres, 0), "retreat": np.minimum(metres, 0)}
        if self.approach_path or self.retreat_path:
            units |= {
                "approach_path": np.maximum(t.facts["path_approach"], 0),
                "retreat_path": np.minimum(t.facts["path_approach"], 0),
            }
        if self.heading:
            units["heading"] = np.float32(self.heading_turn) - t.facts["detour"]
        if "command" in t.facts:
            units |= self._commands(t)
        return units

    def _commands(self, t: Transition) -> dict[str, Floats]:
        """Return the units that depend on the commanded twist and its change."""
        vx, vy, omega = t.facts["command"].T
        units = {
            "standing": _number(np.abs(vx) <= _STANDS),
            "travelled": vx + np.float32(0.001) * omega,
            "turned": omega,
            "reverse": _number(vx < self.reverse_speed),
            "reverse_rate": np.where(vx < min(self.reverse_speed, 0.0), -vx, np.float32(0.0)),
            "boost": np.where(vx > self.boost_speed, vx, np.float32(0.0)),
            "turning": np.where(np.abs(omega) > self.turning_rate, np.abs(omega), np.float32(0.0)),
        }
        if self.follow_path:
            units["follow_path"] = np.where(t.facts["path_distance"] < self.follow_distance, vx, np.float32(0.0))
        for kind in _BY_TYPE:
            if getattr(self, f"{kind}_speed"):
                near = t.facts[kind] < np.float32(getattr(self, f"{kind}_distance"))
                units[f"{kind}_speed"] = np.where(near, vx, np.float32(0.0))
        if "command_before" in t.facts:
            change = t.facts["command"] - t.facts["command_before"]
            powers, norm = change**4 / np.float32(100.0), np.sqrt((change**4).sum(1))
            units |= {"abrupt_vx": powers[:, 0], "abrupt_vy": powers[:, 1], "abrupt_omega": powers[:, 2]}
            units["smooth"] = np.where(norm < self.smooth_range, np.float32(1.0) - norm, np.float32(0.0))
            units |= {"change_vx": change[:, 0] ** 2, "change_omega": change[:, 2] ** 2}
            units |= {"jump_vx": np.abs(change[:, 0]), "jump_omega": np.abs(change[:, 2])}
        return units


WEIGHTS = tuple(f.name for f in fields(ArenaReward) if f.type == "float" and f.name not in _SPEEDS)
"""Names of the weights; the other fields specify when a unit applies."""

_ZEROS: Any = dict.fromkeys(WEIGHTS, 0.0)
NOTHING = ArenaReward(**_ZEROS)
"""A reward without any units."""

DEFAULT = ArenaReward()
"""Arena's ``default.yaml``."""

BASE_SEMANTIC = ArenaReward(
    reached=20.0,
    safe=-0.2,
    safe_distance=1.0,
    approach=0.5,
    retreat=0.6,
    reverse=-0.025,
    reverse_speed=-1.0,
    change_vx=-0.0025,
    change_omega=-0.005,
    elder=-0.15,
    elder_distance=1.5,
    elder_hit=-5.0,
    turning=-0.01,
    turning_rate=5.0,
)
"""Arena's ``base_semantic.yaml``, in which elders are pedestrians of type 1. We chose the weight of ``turning``."""


def _number(where: Bools) -> Floats:
    return where.astype(np.float32)
