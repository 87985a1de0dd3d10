"""What a metric is: a pure function of a recording, with its meaning as data on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agora.core.recording import Recording

__all__ = []

Direction = Literal["higher", "lower", "neutral"]

Compared = Literal["reached", "all"]
"""Over which episodes planners are compared by a metric: those that each of them reached, or all."""


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
        compared: over which episodes planners are compared; None is as `over` says.
    """

    name: str
    unit: str
    direction: Direction
    formula: str
    source: str
    version: int
    function: Callable[[Recording], float | None]
    compared: Compared | None = None

    @property
    def over(self) -> Compared:
        """The episodes over which planners are compared: ``all`` where a failed episode counts against its planner, as in a rate.

        Everything else can look better by failing: a robot that stands still or stops early has a short path and nobody near. So
        it is ``reached``, the episodes that each of the compared planners reached, where the metric does not say ``compared``.
        """
        return self.compared or ("all" if self.unit == "0/1" else "reached")

    @property
    def group(self) -> str:
        """What the metric is about: the name of the module that defines it, ``efficiency`` or ``proxemics``."""
        return self.function.__module__.rpartition(".")[2]

    def __call__(self, recording: Recording) -> float | None:
        """Return the value for one recording, None where it is undefined."""
        return self.function(recording)


def metric(
    name: str,
    *,
    unit: str,
    direction: Direction,
    formula: str,
    source: str,
    version: int = 1,
    compared: Compared | None = None,
) -> Callable[[Callable[[Recording], float | None]], Metric]:
    """Make a `Metric` of the decorated function."""
    return lambda function: Metric(name, unit, direction, formula, source, version, function, compared)
