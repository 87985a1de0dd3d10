"""Metrics: pure functions of a recording, with their definition as attributes."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, cast

import numpy as np

from agora.core.answers import blame
from agora.core.recording import Recording
from agora.core.state import protected_copy
from agora.errors import ComponentError

__all__ = []

Direction = Literal["higher", "lower", "neutral"]
Values = Literal["any", "amount", "share", "count", "indicator"]
_ROUNDING = 1e-9  # of a share that is a mean of many
_ANY = frozenset({"", "m"})  # units of ratios, and of distances that are negative where bodies overlap

Walls = Literal["", "ignored", "respected"]
"""Whether walls between a robot and pedestrians count: distances are measured through walls (ignored), or pedestrians behind walls
do not count (respected); empty for metrics that measure no distance to pedestrians."""

Compared = Literal["reached", "all"]
"""Over which episodes planners are compared by a metric: those that each of them reached, or all."""


@dataclass(frozen=True)
class Metric:
    """A metric; tables, documentation and the report are generated from its fields.

    Attributes:
        name: unique name; a definition of a single source includes the source, ``personal_space_compliance.igibson``.
        unit: SI unit, "" for a pure number, "0/1" for an indicator, whose mean is a rate.
        direction: direction of better values.
        formula: definition in words or symbols, one line.
        source: publication of the definition.
        version: number that is raised when the values change.
        function: value of a recording; None if it is undefined for that recording.
        values: range of its numbers: "any", "amount" (0 or more), "share" (0 to 1), "count" (0, 1, 2, ...) or "indicator" (0 or 1).
            Empty for the range that the unit implies: an indicator for "0/1", any for "" and m, an amount for all others.
        compared: episodes over which planners are compared; None is as `over` says.
        walls: whether walls between robot and pedestrians count.
    """

    name: str
    unit: str
    direction: Direction
    formula: str
    source: str
    version: int
    function: Callable[[Recording], float | None]
    values: Values | Literal[""] = ""
    compared: Compared | None = None
    walls: Walls = ""

    @property
    def over(self) -> Compared:
        """The episodes over which planners are compared: ``all`` if a failed episode counts against its planner, as in a rate.

        Failing improves all other metrics: a robot that stands still or stops early has a short path and nobody nearby. They are
        compared over ``reached``, the episodes that each of the compared planners reached, unless the metric sets ``compared``.
        """
        return self.compared or ("all" if self.unit == "0/1" else "reached")

    @property
    def group(self) -> str:
        """The name under which tables list the metric: ``GROUP`` of the module that defines it, otherwise the module's name."""
        module = self.function.__module__
        return str(getattr(sys.modules.get(module), "GROUP", module.rpartition(".")[2]))

    @property
    def kind(self) -> Values:
        """The range of its numbers."""
        return self.values or ("indicator" if self.unit == "0/1" else "any" if self.unit in _ANY else "amount")

    @property
    def total(self) -> bool:
        """True if the metric is defined for every recording: the return type of its function is float, without None."""
        return getattr(self.function, "__annotations__", {}).get("return") in ("float", float)

    def takes(self, value: float) -> bool:
        """Return whether a number is a possible value."""
        if not math.isfinite(value):
            return False
        match self.kind:
            case "amount":
                return value >= 0.0
            case "share":
                return -_ROUNDING <= value <= 1.0 + _ROUNDING
            case "count":
                return value >= 0.0 and value == int(value)
            case "indicator":
                return value in (0.0, 1.0)
        return True

    @property
    def own(self) -> bool:
        """True for a metric of Agora."""
        return self.function.__module__.partition(".")[0] == "agora"

    def __call__(self, recording: Recording, missing: frozenset[str] = frozenset()) -> float | None:
        """Return the value for one recording; None if the value is undefined, or the function reads a missing field.

        A metric of another package reads a copy, so that it cannot change the recording.

        Args:
            recording: recording of a robot.
            missing: names of fields that were not recorded.

        Raises:
            ComponentError: the function raised, or returned something other than None or a number in the metric's range.
        """
        given = recording if self.own else _copied(recording)
        with blame(f"metric {self.name}"):
            try:
                value = self.function(cast(Recording, _Known(given, missing)) if missing else given)
            except _MissingError:
                return None
        return None if value is None else self._number(value)

    def _number(self, value: Any) -> float:
        """Return a value of the function as a float in the metric's range.

        Raises:
            ComponentError: it is none.
        """
        if not isinstance(value, numbers.Real | np.bool_):
            said = f"{type(value).__name__} {value!r:.60}" if isinstance(value, str | numbers.Number) else type(value).__name__
            raise ComponentError(f"metric {self.name} returned {said}; expected a number or None")
        with blame(f"metric {self.name}"):
            number = float(value)
        if not self.takes(number):
            expected = _EXPECTED[self.kind]
            raise ComponentError(f"metric {self.name} returned {number:g}; expected {expected}, or None")
        return number


_EXPECTED = {
    "any": "a finite number",
    "amount": "a finite number of at least 0",
    "share": "a number from 0 to 1",
    "count": "an integer of at least 0",
    "indicator": "0 or 1",
}


class _MissingError(AttributeError):
    """A metric read a field that was not recorded; ``getattr`` with a default returns the default."""


class _Known:
    """A recording that raises if a missing field is read."""

    def __init__(self, recording: Recording, missing: frozenset[str]) -> None:
        self._recording, self._missing = recording, missing

    def __getattr__(self, name: str) -> Any:
        if name in self._missing:
            raise _MissingError(name)
        return getattr(self._recording, name)


def _copied(recording: Recording) -> Recording:
    """Return a recording whose arrays are copies that cannot be written to; maps are read-only already."""
    arrays = {
        one.name: protected_copy(getattr(recording, one.name)) for one in fields(recording) if one.name not in ("map", "robot")
    }
    robot = recording.robot
    return replace(recording, **arrays, robot=None if robot is None else type(robot)(*map(protected_copy, robot)))


def metric(
    name: str,
    *,
    unit: str,
    direction: Direction,
    formula: str,
    source: str,
    version: int = 1,
    values: Values | Literal[""] = "",
    compared: Compared | None = None,
    walls: Walls = "",
) -> Callable[[Callable[[Recording], float | None]], Metric]:
    """Make a `Metric` from the decorated function."""
    return lambda function: Metric(name, unit, direction, formula, source, version, function, values, compared, walls)
