"""The reward units of Arena 3.0 and of rosnav-rl (``reward_functions``) as named terms, and two of Arena's presets.

A weight is what the unit is worth: above 0 it rewards, below 0 it punishes. Equations of units that Arena 3.0 lacks are from
rosnav-rl 745073d, rosnav_rl/reward/reward_units/reward_units.py.
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
_STANDS = 0.1  # m/s
_BUMPER = 0.05  # m


@dataclass(frozen=True)
class ArenaReward(Checked):
    """A weighted sum of Arena's reward units; units of weight 0 are not computed.

    Attributes:
        reached: for reaching the last goal (goal_reached).
        collision: for an end by contact, or outside the map (collision).
        timeout: for an end by time-out (max_steps_exceeded).
        safe: where the shortest range of the scan is no more than the robot's radius and ``safe_distance`` (safe_distance).
        safe_depth: for every metre by which that range is below the radius and ``safe_distance`` (factored_safe_distance).
        safe_distance: beyond the radius, m.
        approach: for every metre nearer to the goal (approach_goal).
        retreat: for every metre farther away, counted as a negative number of metres (approach_goal).
        along_path: whether these metres are those of the global path; else they go straight to the goal.
        approach_path: for every metre nearer to the global path (approach_globalplan).
        retreat_path: for every metre farther from it, counted as a negative number (approach_globalplan).
        follow_path: for every m/s forwards within ``follow_distance`` of the path (follow_globalplan).
        follow_distance: m.
        standing: where the speed forwards is at most 0.1 m/s (no_movement).
        travelled: for every m/s forwards, and for 0.001 of every rad/s (distance_travelled).
        turned: for every rad/s to the left, in addition; to the right it counts as a negative number (distance_travelled).
        reverse: where the speed forwards is below ``reverse_speed`` (reverse_drive).
        reverse_rate: for every m/s backwards, where the speed forwards is below ``reverse_speed`` (factored_reverse_drive).
        reverse_speed: m/s, at most 0.
        boost: for every m/s forwards, where the speed forwards is above ``boost_speed`` (linear_vel_boost).
        boost_speed: m/s.
        abrupt_vx: for a hundredth of the fourth power of the change of vx (abrupt_velocity_change).
        abrupt_vy: likewise of vy.
        abrupt_omega: likewise of omega.
        smooth: for 1 minus the norm of the squared changes, where that norm is below ``smooth_range`` (root_velocity_difference).
        smooth_range: m2/s2 and rad2/s2.
        change_vx: for the squared change of vx (two_factor_velocity_difference).
        change_omega: for that of omega.
        jump_vx: for every m/s of change of vx, up or down (two_factor_velocity_difference of rosnav-rl).
        jump_omega: for every rad/s of change of omega.
        heading: for every radian by which the turn to a free heading is below ``heading_turn`` (active_heading_direction).
        heading_turn: rad.
        pedestrian: where the clearance to a pedestrian is no more than ``pedestrian_distance`` (ped_safe_distance).
        pedestrian_distance: m.
        elder: where that to an elder is below ``elder_distance`` (ped_type_safety_distance).
        elder_depth: for every metre by which it is below ``elder_distance`` (ped_type_factored_safety_distance).
        elder_distance: m.
        elder_hit: where it is below 0.05 m (ped_type_collision).
        elder_speed: for every m/s forwards while an elder is nearer than ``elder_distance`` (ped_type_vel_constraint).
        adult: as ``elder``, of adults.
        adult_depth: as ``elder_depth``, of adults.
        adult_distance: m.
        adult_hit: as ``elder_hit``, of adults.
        adult_speed: as ``elder_speed``, of adults.
        turning: for every rad/s where the robot turns faster than ``turning_rate`` (angular_vel_constraint).
        turning_rate: rad/s.
        unsafe_too: whether the units of motion count also where ``safe_distance`` is breached.
        only_safe: names of more weights whose units count nothing where it is breached.
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
        """Names of the facts that units of a weight read."""
        facts = {fact for name, some in _ASKS.items() if getattr(self, name) for fact in some}
        anywhere = self.unsafe_too and not any(getattr(self, name) for name in self.only_safe)
        return frozenset(facts if anywhere else facts | {"nearest", "radius"})

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the terms (N,) of the units that have a weight, weighted, by name."""
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
        """The units of ends and of what is near."""
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
        """The units of the clearance to pedestrians of a type."""
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
        """The units of motion."""
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
        """The units of the commanded twist and of its change."""
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
"""Names of the weights; the other fields say where a unit counts."""

_ZEROS: Any = dict.fromkeys(WEIGHTS, 0.0)
NOTHING = ArenaReward(**_ZEROS)
"""No unit at all."""

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
"""Arena's ``base_semantic.yaml``; its elders are pedestrians of type 1. The weight of ``turning`` is ours."""


def _number(where: Bools) -> Floats:
    return where.astype(np.float32)
