"""Events that a training run reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agora.learning.run import Run

__all__ = ["Learned", "Saved", "Trained", "TrainingEvent"]


@dataclass(frozen=True)
class Learned:
    """A point was added to the learning curve.

    Attributes:
        steps: number of environment steps so far.
        share: fraction of the training run that has been completed.
        rate: number of environment steps per second.
        values: values by name, such as losses and fractions of outcomes.
    """

    steps: int
    share: float
    rate: float
    values: Mapping[str, float]

    def __str__(self) -> str:
        """Return the event as one line of text."""
        values = (f"{k} {v:.0f}" if v.is_integer() else f"{k} {v:.3g}" for k, v in self.values.items())
        return ", ".join([f"{self.steps} steps, {self.rate:.0f} per second", *values])


@dataclass(frozen=True)
class Saved:
    """A checkpoint was written, from which the training can resume.

    Attributes:
        steps: number of environment steps before the checkpoint.
    """

    steps: int


@dataclass(frozen=True)
class Trained:
    """The training run has ended.

    Attributes:
        run: the run; its folder contains the best policy.
        whole: False if the run was stopped by its time limit.
    """

    run: Run
    whole: bool = True


TrainingEvent = Learned | Saved | Trained
