"""The contract for interplanners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agora.core.state import Array
from agora.interfaces import Answer, Declaration, Guidance, InterPlanner, Memory, Observation, Tracks
from agora.testing.bad_input import bad_inputs
from agora.testing.errors import ContractError
from agora.testing.planners import beyond, check_planner, needed
from agora.testing.scenes import observation


def check_interplanner(interplanner: InterPlanner, *, tolerance: float = 1e-3, grid: bool = False, handed: bool = False) -> None:
    """Check an interplanner against the contract of `agora.interfaces`.

    The guidance is finite and has the shapes of `Guidance`. Speed and danger are in [0, 1], and danger is 0 without people. Paths
    end at their goals; pedestrians passed to the local planner have valid positions and sizes; twists are within the robots'
    limits. All of this also holds for bad input (`agora.testing.bad_input.INPUTS`).

    Planners whose twists are made from the guidance satisfy `check_planner`: the same call gives bit-identical results, inputs are
    not written, rows are independent, empty slots have no effect, and zero memory means the start of an episode. If the whole scene
    is moved, the guidance is unchanged in the robot's frame; if the scene is mirrored, the guidance is mirrored.

    Args:
        interplanner: interplanner to check.
        tolerance: tolerance in the moved scene, for distances in m, angles in rad, and shares.
        grid: whether the interplanner works on a grid of cells. If so, scenes are rotated only by quarter turns, and only nine out
            of ten rows must agree.
        handed: whether the interplanner treats left and right differently, as for `check_planner`.

    Raises:
        ContractError: the interplanner breaks a clause.
    """
    name = type(interplanner).__name__
    if "path" not in interplanner.declares.channels:
        raise ContractError(f"{name}: needs: it must include the path")
    for seed in (1, 2, 3):
        _answers(interplanner, name, observation(seed=seed))
    _answers(interplanner, name, observation(pedestrians=0), nobody=True)
    _answers(interplanner, name, observation(rows=1, pedestrians=1))
    lost = observation()
    _answers(interplanner, name, replace(lost, path_count=np.zeros_like(lost.path_count)))
    _answers(interplanner, f"{name}: bad input", bad_inputs()[0])
    probes: tuple[Any, ...] = (_GoalProbe(interplanner), _SpeedProbe(interplanner), _TwistProbe(interplanner))
    for probe in probes:
        of_probe: dict[str, Any] = {"within_limits": False, "gives_way": False, "kinds": ("differential",)}
        check_planner(probe, tolerance=tolerance, grid=grid, handed=handed, **of_probe)


def _answers(interplanner: InterPlanner, name: str, whole: Observation, nobody: bool = False) -> None:
    seen, rows = needed(whole, interplanner.declares.channels), len(whole.pose)
    memory: Memory = {}
    for step in range(3):
        found, memory = interplanner.guide(seen, memory)
        if wrong := _wrong(found, seen, rows) or ("danger must be 0 without pedestrians" if nobody and found.danger.any() else ""):
            raise ContractError(f"{name}: step {step}: {wrong}")


def _wrong(found: Guidance, seen: Observation, rows: int) -> str:
    """Return a description of the first error in the guidance; empty if the guidance is valid."""
    for what, tail in {"path": found.path.shape[1:2] + (2,), "path_count": (), "goal": (3,), "speed": (), "danger": ()}.items():
        if unfit := _unfit(getattr(found, what), (rows, *tail)):
            return f"{what} {unfit}"
    for what in ("speed", "danger"):
        if not ((getattr(found, what) >= 0.0) & (getattr(found, what) <= 1.0)).all():
            return f"{what} must be in [0, 1], got {getattr(found, what)}"
    if found.reason is not None and (found.reason.shape != (rows,) or found.reason.dtype != np.int8):
        return f"reason must be int8 of shape {(rows,)}, got {found.reason.dtype} of shape {found.reason.shape}"
    for row in np.flatnonzero(found.path_count):
        end = found.path[row, found.path_count[row] - 1]
        if np.hypot(*(end - found.goal[row, :2])) > 1e-3:
            return f"row {row}: the path ends at {end}, not at its goal {found.goal[row, :2]}"
    return _wrong_twist(found, seen, rows) or _wrong_tracks(found.pedestrians, rows)


def _wrong_twist(found: Guidance, seen: Observation, rows: int) -> str:
    """Return a description of the first error in the twists that overrule the local planner; empty if they are valid."""
    twist, overrules = found.twist, found.overrules
    if twist is None or overrules is None:
        return "" if twist is None and overrules is None else "twist and overrules: one is given, the other is None"
    if overrules.shape != (rows,) or overrules.dtype != np.bool_:
        return f"overrules must be bool of shape {(rows,)}, got {overrules.dtype} of shape {overrules.shape}"
    if unfit := _unfit(twist, (rows, 3)):
        return f"twist {unfit}"
    wrong = beyond(seen.limits, np.where(overrules[:, None], twist, np.float32(0.0)))
    return f"twist: {wrong}" if wrong else ""


def _wrong_tracks(told: Tracks | None, rows: int) -> str:
    """Return a description of the first error in the tracks that the local planner gets; empty if they are valid."""
    if told is None:
        return ""
    slots = told.present.shape[1:2]
    for what, tail in {"position": (2,), "velocity": (2,), "radius": (), "present": (), "id": (), "group": ()}.items():
        value = getattr(told, what)
        there = value[told.present] if value.shape[:2] == told.present.shape else value
        if value.shape != (rows, *slots, *tail) or not np.isfinite(there).all():
            return (
                f"pedestrians: {what} must be of shape {(rows, *slots, *tail)} and finite where present, got {value.shape}: {there}"
            )
    if told.present.dtype != np.bool_ or not (told.radius[told.present] >= 0.0).all():
        return f"pedestrians: present must be bool and radius at least 0, got {told.present.dtype} and {told.radius}"
    return ""


def _unfit(value: Array, shape: tuple[int, ...]) -> str:
    """Return the reason why an array is non-finite or has the wrong shape; empty if it is valid."""
    fits = value.shape == shape and np.isfinite(value).all()
    return "" if fits else f"must be finite and of shape {shape}, got {value.shape}: {value}"


@dataclass(frozen=True)
class _GoalProbe:
    """A planner whose twist is the goal in an interplanner's guidance, in the robot's frame.

    As for any twist, mirroring keeps the first number and changes the sign of the other two.
    """

    inter: InterPlanner

    @property
    def declares(self) -> Declaration:
        return self.inter.declares

    def act(self, seen: Observation, memory: Memory) -> Answer:
        found, after = self.inter.guide(seen, memory)
        x, y = _in_frame(found.goal[:, :2] - seen.pose[:, :2], seen.pose[:, 2])
        turn = found.goal[:, 2] - seen.pose[:, 2]
        return Answer(np.column_stack((x + 10.0 * np.cos(turn), y, np.sin(turn))).astype(np.float32), after)


@dataclass(frozen=True)
class _SpeedProbe(_GoalProbe):
    """A planner whose twist consists of the guidance's speed, its danger, and the middle of its path in the robot's frame."""

    def act(self, seen: Observation, memory: Memory) -> Answer:
        found, after = self.inter.guide(seen, memory)
        middle = found.path[np.arange(len(seen.pose)), found.path_count // 2]
        x, y = _in_frame(middle - seen.pose[:, :2], seen.pose[:, 2])
        return Answer(np.column_stack((x + found.speed + 10.0 * found.danger, y, 0.0 * y)).astype(np.float32), after)


@dataclass(frozen=True)
class _TwistProbe(_GoalProbe):
    """A planner whose twist is made from the guidance's twists and from the number and distance of its pedestrians."""

    def act(self, seen: Observation, memory: Memory) -> Answer:
        found, after = self.inter.guide(seen, memory)
        twist = np.zeros((len(seen.pose), 3), np.float32)
        if found.twist is not None and found.overrules is not None:
            twist = np.where(found.overrules[:, None], found.twist + np.array([10.0, 0.0, 0.0], np.float32), twist)
        told = seen.pedestrians if found.pedestrians is None else found.pedestrians
        if told is not None:
            gap = np.hypot(*np.moveaxis(told.position - seen.pose[:, None, :2], -1, 0)) - told.radius
            twist[:, 0] += np.where(told.present, 1.0 / (1.0 + np.abs(gap)), 0.0).sum(axis=1)
        return Answer(twist.astype(np.float32), after)


def _in_frame(offset: Array, heading: Array) -> tuple[Array, Array]:
    cosine, sine = np.cos(heading), np.sin(heading)
    return cosine * offset[:, 0] + sine * offset[:, 1], cosine * offset[:, 1] - sine * offset[:, 0]
