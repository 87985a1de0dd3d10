"""What a metric is: a pure function of a recording, with its meaning as data on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agora.core.recording import Recording

__all__ = []

Direction = Literal["higher", "lower", "neutral"]


@dataclass(frozen=True)
class Metric:
    """A metric; tables, documentation and the report are generated from its fields.

    Attributes:
        name: unique; a definition that belongs to one source carries it, ``personal_space_compliance.igibson``.
        unit: SI unit, "" for a pure number, "0/1" for an indicator, whose mean is a rate.
        direction: which way is better.
        formula: definition in words or symbols, one line.
        source: where it was published.
        version: raised when the numbers change.
        function: recording to value; None where it is undefined for that recording.
    """

    name: str
    unit: str
    direction: Direction
    formula: str
    source: str
    version: int
    function: Callable[[Recording], float | None]

    @property
    def group(self) -> str:
        """What the metric is about: the name of the module that defines it, ``efficiency`` or ``proxemics``."""
        return self.function.__module__.rpartition(".")[2]

    def __call__(self, recording: Recording) -> float | None:
        """Return the value for one recording, None where it is undefined."""
        return self.function(recording)


def metric(
    name: str, *, unit: str, direction: Direction, formula: str, source: str, version: int = 1
) -> Callable[[Callable[[Recording], float | None]], Metric]:
    """Make a `Metric` of the decorated function."""
    return lambda function: Metric(name, unit, direction, formula, source, version, function)
