"""Trainers of policies, for authors of trainers.

`agora train` gives a trainer a run: the suite and stage to train on, the seed, and the last checkpoint, if there is one. The
trainer plays episodes, keeps checkpoints, and lets the run validate policies. From a checkpoint it must give the same curve as
without the interruption; `agora.testing.check_trainer` tests that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from agora.core.state import Array


class Savable(Protocol):
    """A policy that can be written to a file."""

    def save(self, path: Path) -> None:
        """Write a safetensors file."""


class TrainingRun(Protocol):
    """A running training in its folder.

    Attributes:
        suite: suite, an `agora.tasks.suite.Suite` whose split is training.
        stage: name of its stage to train on.
        seed: seed of everything random.
    """

    suite: Any
    stage: str
    seed: int

    @property
    def resumed(self) -> tuple[Mapping[str, float], Mapping[str, Array]] | None:
        """The numbers and arrays of the last checkpoint; None at the beginning."""

    def about(self, steps: int) -> dict[str, str]:
        """Return the notes for a policy after so many environment steps: label, training, seed, steps."""

    def log(self, steps: int, share: float, **values: float) -> None:
        """Add a point to the curve.

        Args:
            steps: environment steps so far.
            share: finished share of the training.
            values: values by name.
        """

    def save(self, steps: int, numbers: Mapping[str, float], arrays: Mapping[str, Array]) -> None:
        """Replace the checkpoint.

        Raises:
            DivergedError: an array holds a number that is not finite; the previous checkpoint stays.
        """

    def validate(self, policy: Savable, steps: int, share: float) -> Any:
        """Run the validation stage with a policy, and keep the policy if it is the best so far."""


class Trainer(Protocol):
    """A frozen dataclass that trains; its fields are its parameters."""

    def train(self, run: TrainingRun) -> Iterator[Savable | None]:
        """Train until done, from the run's last checkpoint if there is one.

        A generator: it yields at least whenever it has logged. At this moment its user sees the progress, and may stop it. It
        yields the current policy, which is kept if the training is stopped, or nothing.
        """
