"""The contract for trainers: the calls that they make to the run, and that resuming from a checkpoint gives the same result."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Array
from agora.interfaces import Savable, Trainer
from agora.testing.errors import ContractError

_Kept = tuple[dict[str, float], dict[str, Array]]


class _KilledError(Exception):
    """Simulates a kill -9 after a checkpoint."""


@dataclass
class _Run:
    """A training run that keeps everything in memory; `agora.interfaces.TrainingRun` describes its methods."""

    suite: Any
    stage: str
    seed: int
    folder: Path
    resumed: _Kept | None = None
    kill_after: int = 0
    curve: list[tuple[int, float, dict[str, float]]] = field(default_factory=list)
    kept: list[_Kept] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    validated: int = 0

    def about(self, steps: int) -> dict[str, str]:
        return {"label": "own", "training": "contract", "seed": str(self.seed), "steps": str(steps)}

    def log(self, steps: int, share: float, **values: float) -> None:
        self.curve.append((steps, share, values))

    def save(self, steps: int, numbers: Mapping[str, float], arrays: Mapping[str, Array]) -> None:
        self.kept.append((dict(numbers) | {"steps": steps}, {name: array.copy() for name, array in arrays.items()}))
        self.lengths.append(len(self.curve))
        if self.kill_after and len(self.kept) == self.kill_after:
            raise _KilledError

    def validate(self, policy: Savable, steps: int, share: float) -> None:
        self.validated += 1
        policy.save(self.folder / f"{self.validated}.safetensors")


def check_trainer(trainer: Trainer, suite: Any, stage: str, *, seed: int = 3) -> None:
    """Check a trainer against the contract of `agora.interfaces.Trainer`.

    The trainer yields after every log entry. The training curve has no infinite values, its steps never decrease, and its last
    share is 1. The trainer validates a policy that can be saved, and saves at least two checkpoints. A training run that is killed
    after its first checkpoint and resumed gives the same curve.

    Args:
        trainer: trainer with few enough steps to finish within seconds.
        suite: suite to train on (`agora.tasks.suite.Suite`).
        stage: name of the stage to train on.
        seed: seed for all random numbers.

    Raises:
        ContractError: the trainer breaks a clause.
    """
    name = type(trainer).__name__
    with tempfile.TemporaryDirectory() as folder:
        whole = _Run(suite, stage, seed, Path(folder))
        _train(name, trainer, whole)
        _said_well(name, whole)
        killed = _Run(suite, stage, seed, Path(folder), kill_after=1)
        try:
            _train(name, trainer, killed)
        except _KilledError:
            pass
        else:
            raise ContractError(f"{name}: it continued although its checkpoint could not be written")
        rest = _Run(suite, stage, seed, Path(folder), resumed=killed.kept[0])
        _train(name, trainer, rest)
    expected, got = whole.curve[whole.lengths[0] :], rest.curve
    if [_plain(point) for point in got] != [_plain(point) for point in expected]:
        raise ContractError(f"{name}: resumed from its first checkpoint it reaches {got}, but {expected} without interruption")
    for key, array in whole.kept[-1][1].items():
        if key not in rest.kept[-1][1] or not np.array_equal(array, rest.kept[-1][1][key]):
            raise ContractError(
                f"{name}: resumed from its first checkpoint it ends with a different {key} than without the interruption"
            )


def _train(name: str, trainer: Trainer, run: _Run) -> None:
    """Train to the end, and check that every point of the curve was followed by a yield.

    Raises:
        ContractError: the trainer logs more than one point between two yields, or its train() method is not a generator.
    """
    told, rounds = 0, trainer.train(run)
    if not isinstance(rounds, Iterator):
        raise ContractError(f"{name}: its train() method is not a generator; it must yield after every log entry")
    for _ in rounds:
        _one_more(name, run, told)
        told = len(run.curve)
    _one_more(name, run, told)


def _one_more(name: str, run: _Run, told: int) -> None:
    if (points := len(run.curve) - told) > 1:
        raise ContractError(f"{name}: it logs {points} points before it yields; expected a yield after every log entry")


def _said_well(name: str, run: _Run) -> None:
    if not run.curve or not run.validated or len(run.kept) < 2:
        counts = f"{len(run.curve)} points, {run.validated} validations and {len(run.kept)} checkpoints"
        raise ContractError(f"{name}: expected at least 1 point, 1 validation and 2 checkpoints, got {counts}")
    steps, shares = [point[0] for point in run.curve], [point[1] for point in run.curve]
    if sorted(steps) != steps or sorted(shares) != shares or not math.isclose(shares[-1], 1.0):
        raise ContractError(f"{name}: steps {steps} and shares {shares} must increase, and shares must end at 1")
    for _, _, values in run.curve:
        for key, value in values.items():
            if math.isinf(value):
                raise ContractError(f"{name}: {key} is {value}")
    for numbers, arrays in run.kept:
        if not all(isinstance(array, np.ndarray) for array in arrays.values()) or not numbers:
            raise ContractError(f"{name}: a checkpoint must contain arrays, got {type(next(iter(arrays.values()))).__name__}")


def _plain(point: tuple[int, float, dict[str, float]]) -> tuple[int, float, list[tuple[str, str]]]:
    """Return a point of the curve with its values as strings, so that NaN equals NaN."""
    steps, share, values = point
    return steps, share, [(key, repr(float(value))) for key, value in values.items()]
