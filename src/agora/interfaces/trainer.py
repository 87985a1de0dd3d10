"""The interface of trainers, which train policies.

`agora train` passes the trainer a run: the suite and stage to train on, the seed and, if there is one, the last checkpoint. The
trainer runs episodes, saves checkpoints, and has the run validate policies. A training run resumed from a checkpoint must produce
the same curve as an uninterrupted run; `agora.testing.check_trainer` tests this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from agora.core.state import Array


class Savable(Protocol):
    """A policy that can be written to a file."""

    def save(self, path: Path) -> None:
        """Write the policy to a safetensors file."""


class TrainingRun(Protocol):
    """A training run in progress, whose results are stored in a folder.

    Attributes:
        suite: suite to train on (`agora.tasks.suite.Suite`), whose split is "training".
        stage: name of the suite's stage to train on.
        seed: seed for all random numbers.
    """

    suite: Any
    stage: str
    seed: int

    @property
    def resumed(self) -> tuple[Mapping[str, float], Mapping[str, Array]] | None:
        """The numbers and arrays of the last checkpoint; None if there is no checkpoint yet."""

    def about(self, steps: int) -> dict[str, str]:
        """Return the notes to store with a policy that was trained for this number of environment steps: label, training, seed,
        steps.
        """

    def log(self, steps: int, share: float, **values: float) -> None:
        """Add a point to the training curve.

        Args:
            steps: number of environment steps so far.
            share: fraction of the training run that is finished, from 0 to 1.
            values: values of the curves, keyed by name.
        """

    def save(self, steps: int, numbers: Mapping[str, float], arrays: Mapping[str, Array]) -> None:
        """Replace the checkpoint.

        Raises:
            DivergedError: an array contains a non-finite value; the previous checkpoint is kept.
        """

    def validate(self, policy: Savable, steps: int, share: float) -> Any:
        """Run the validation stage with a policy, and save the policy if it is the best so far."""


class Trainer(Protocol):
    """Trains policies; a frozen dataclass whose fields are its parameters."""

    def train(self, run: TrainingRun) -> Iterator[Savable | None]:
        """Train to the end, starting from the run's last checkpoint if there is one.

        This is a generator that yields at least after every call of `log`. At each yield, the caller can show the progress or stop
        the training. The yielded value is the current policy, which is saved if the training is stopped, or None.
        """
