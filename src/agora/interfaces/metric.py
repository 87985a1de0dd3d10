"""Metrics: pure functions of a recording, with attributes that define them."""

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
_ROUNDING = 1e-9  # tolerance for shares that are means of many values
_ANY = frozenset({"", "m"})  # units of ratios and of distances that are negative if bodies overlap

Walls = Literal["", "ignored", "respected"]
"""How walls between a robot and pedestrians are treated: "ignored" if distances are measured through walls, "respected" if
pedestrians behind walls do not count, and empty for metrics that do not measure distances to pedestrians.
"""

Compared = Literal["reached", "all"]
"""The episodes over which a metric compares planners: "reached" for the episodes in which every planner reached the goal, "all" for
all episodes.
"""


@dataclass(frozen=True)
class Metric:
    """A metric, whose fields are used in tables, documentation and reports.

    Attributes:
        name: unique name; a definition that is specific to one source has the source in its name, as in
            ``personal_space_compliance.igibson``.
        unit: SI unit; "" if dimensionless, "0/1" for an indicator, whose mean is a rate.
        direction: whether higher or lower values are better.
        formula: definition in one line, in words or symbols.
        source: publication that defines the metric.
        version: version number, which is increased whenever the metric's values change.
        function: function that returns the value for a recording, or None if the value is undefined.
        values: range of the metric's values: "any", "amount" (0 or more), "share" (0 to 1), "count" (0, 1, 2, ...) or "indicator"
            (0 or 1). If empty, the unit determines the range: an indicator for "0/1", any value for "" and "m", an amount for all
            other units.
        compared: episodes over which planners are compared; None to use the rule in `over`.
        walls: how walls between the robot and pedestrians are treated.
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
        """The episodes over which planners are compared: ``all`` for rates, in which a failed episode counts against its planner.

        All other metrics look better if the robot fails: a robot that does not move or stops early has a short path and meets no
        one. They are therefore compared over ``reached``, the episodes in which every compared planner reached the goal, unless the
        metric sets ``compared``.
        """
        return self.compared or ("all" if self.unit == "0/1" else "reached")

    @property
    def group(self) -> str:
        """The group under which tables list the metric: the constant ``GROUP`` in the metric's module or, if there is no such
        constant, the module's name.
        """
        module = self.function.__module__
        return str(getattr(sys.modules.get(module), "GROUP", module.rpartition(".")[2]))

    @property
    def kind(self) -> Values:
        """The range of the metric's values."""
        return self.values or ("indicator" if self.unit == "0/1" else "any" if self.unit in _ANY else "amount")

    @property
    def total(self) -> bool:
        """True if the metric is defined for every recording, i.e. its function is annotated to return ``float``, never None."""
        return getattr(self.function, "__annotations__", {}).get("return") in ("float", float)

    def takes(self, value: float) -> bool:
        """Return whether a number is a possible value of the metric."""
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
        """True if the metric belongs to Agora."""
        return self.function.__module__.partition(".")[0] == "agora"

    def __call__(self, recording: Recording, missing: frozenset[str] = frozenset()) -> float | None:
        """Return the value for one recording; None if the value is undefined or the function reads a missing field.

        Metrics from other packages get a copy, so they cannot change the recording.

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
        """Return a value from the function as a float, after checking that it is in the metric's range.

        Raises:
            ComponentError: the value is not a number in that range.
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
    """A metric read a field that was not recorded; ``getattr`` with a default returns that default."""


class _Known:
    """A recording that raises an error if a missing field is read."""

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
