"""The events of a training, in the order in which they happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agora.learning.run import Run

__all__ = ["Learned", "Saved", "Trained", "TrainingEvent"]


@dataclass(frozen=True)
class Learned:
    """The curve has another point.

    Attributes:
        steps: environment steps so far. share: of the training that is done. rate: environment steps a second.
        values: by name, such as losses and shares of outcomes.
    """

    steps: int
    share: float
    rate: float
    values: Mapping[str, float]

    def __str__(self) -> str:
        """One line."""
        values = (f"{k} {v:.0f}" if v.is_integer() else f"{k} {v:.3g}" for k, v in self.values.items())
        return ", ".join([f"{self.steps} steps, {self.rate:.0f} a second", *values])


@dataclass(frozen=True)
class Saved:
    """A checkpoint is on the disk, from which the training can continue.

    Attributes:
        steps: environment steps before it.
    """

    steps: int


@dataclass(frozen=True)
class Trained:
    """The training is done.

    Attributes:
        run: its folder holds the best policy.
        whole: False where it was stopped because its time was up.
    """

    run: Run
    whole: bool = True


TrainingEvent = Learned | Saved | Trained
