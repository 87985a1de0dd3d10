"""The contract of interplanners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agora.core.state import Array, Floats
from agora.interfaces import InterPlanner, Memory, Observation
from agora.testing.errors import ContractError
from agora.testing.planners import check_planner
from agora.testing.scenes import observation


def check_interplanner(interplanner: InterPlanner, *, tolerance: float = 1e-3) -> None:
    """Check an interplanner against the contract of `agora.interfaces`.

    What it returns is finite and has the shapes of `Guidance`; speed and danger are in [0, 1], and with nobody about there is no
    danger; a path ends at its goal. Its guidance, taken as the twist of a planner, keeps what `check_planner` asks for: the same
    bits for the same question, nothing given is written to, rows are alone, empty slots mean nothing, zero memory is the start of
    an episode, and in a scene that is moved as a whole it is the same in the robot's frame.

    Args:
        interplanner: to check.
        tolerance: in the moved scene, m, rad and shares.

    Raises:
        ContractError: it breaks a clause.
    """
    name = type(interplanner).__name__
    if "path" not in interplanner.needs:
        raise ContractError(f"{name}: needs: it must need the path")
    for seed in (1, 2, 3):
        _answers(interplanner, name, observation(seed=seed))
    _answers(interplanner, name, observation(pedestrians=0), nobody=True)
    _answers(interplanner, name, observation(rows=1, pedestrians=1))
    lost = observation()
    _answers(interplanner, name, replace(lost, path_count=np.zeros_like(lost.path_count)))
    probes: tuple[Any, ...] = (_Whither(interplanner), _How(interplanner))
    for probe in probes:
        check_planner(probe, tolerance=tolerance, within_limits=False, kinds=("differential",))


def _answers(interplanner: InterPlanner, name: str, seen: Observation, nobody: bool = False) -> None:
    rows = len(seen.pose)
    memory: Memory = {}
    for step in range(3):
        found, memory = interplanner.guide(seen, memory)
        shapes = {
            "path": (rows, found.path.shape[1], 2),
            "path_count": (rows,),
            "goal": (rows, 3),
            "speed": (rows,),
            "danger": (rows,),
        }
        for what, shape in shapes.items():
            value = getattr(found, what)
            if value.shape != shape or not np.isfinite(value).all():
                raise ContractError(f"{name}: step {step}: {what} must be finite and of shape {shape}, is {value.shape}: {value}")
        for what in ("speed", "danger"):
            if not ((getattr(found, what) >= 0.0) & (getattr(found, what) <= 1.0)).all():
                raise ContractError(f"{name}: step {step}: {what} must be in [0, 1], is {getattr(found, what)}")
        if found.reason is not None and (found.reason.shape != (rows,) or found.reason.dtype != np.int8):
            raise ContractError(f"{name}: step {step}: reason must be int8 of shape {(rows,)}, is {found.reason.dtype}")
        if nobody and found.danger.any():
            raise ContractError(f"{name}: step {step}: danger must be 0 with nobody about, is {found.danger}")
        for row in np.flatnonzero(found.path_count):
            end = found.path[row, found.path_count[row] - 1]
            if np.hypot(*(end - found.goal[row, :2])) > 1e-3:
                raise ContractError(
                    f"{name}: step {step}: row {row}: the path ends at {end}, not at its goal {found.goal[row, :2]}"
                )


@dataclass(frozen=True)
class _Whither:
    """A planner whose twist is the goal of an interplanner in the robot's frame."""

    inter: InterPlanner

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(self.inter.needs)

    def act(self, seen: Observation, memory: Memory) -> tuple[Floats, Memory]:
        found, after = self.inter.guide(seen, memory)
        x, y = _in_frame(found.goal[:, :2] - seen.pose[:, :2], seen.pose[:, 2])
        return np.column_stack((x, y, np.cos(found.goal[:, 2] - seen.pose[:, 2]))).astype(np.float32), after


@dataclass(frozen=True)
class _How(_Whither):
    """A planner whose twist is made of speed, danger and the middle of the path in the robot's frame."""

    def act(self, seen: Observation, memory: Memory) -> tuple[Floats, Memory]:
        found, after = self.inter.guide(seen, memory)
        middle = found.path[np.arange(len(seen.pose)), found.path_count // 2]
        x, y = _in_frame(middle - seen.pose[:, :2], seen.pose[:, 2])
        return np.column_stack((found.speed + 10.0 * found.danger, x, y)).astype(np.float32), after


def _in_frame(offset: Array, heading: Array) -> tuple[Array, Array]:
    cosine, sine = np.cos(heading), np.sin(heading)
    return cosine * offset[:, 0] + sine * offset[:, 1], cosine * offset[:, 1] - sine * offset[:, 0]
