"""The numbers that fields of files may hold, each kind once: ``lookahead: Distance = 0.8`` gives kind and range.

`agora.config` and `agora.registry` refuse what lies outside, with the key's name. The bounds are far beyond whatever moves among
people: what they refuse is a slip of the pen or of the unit.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from dataclasses import dataclass
from typing import Annotated, Any

from agora.errors import InputError

LARGEST = 1e8
"""Largest number of a file whose field says nothing else: beyond every place on Earth, m, and safe in float32 products."""
LARGEST_WHOLE = 2**63 - 1
"""Largest whole number of a file whose field says nothing else."""


@dataclass(frozen=True)
class Within:
    """Marks a field by the numbers that it may hold: ``Annotated[float, Within(0.0, 10.0)]``.

    Attributes:
        least: least number, allowed itself.
        most: largest number, allowed itself.
        above: whether ``least`` itself is not allowed.
    """

    least: float
    most: float
    above: bool = False

    def holds(self, number: float) -> bool:
        """Return whether a number is allowed; NaN is not."""
        return (self.least < number if self.above else self.least <= number) and number <= self.most

    def __str__(self) -> str:
        """The interval: ``(0, 10]``."""
        return f"{'(' if self.above else '['}{self.least:g}, {self.most:g}]"


Positive = Annotated[float, Within(0.0, LARGEST, above=True)]
"""A number above 0 that has no name of its own."""
NotNegative = Annotated[float, Within(0.0, LARGEST)]
"""A number of 0 or more that has no name of its own."""
Length = Annotated[float, Within(0.0, 10_000.0, above=True)]
"""Of what has a size, m."""
Distance = Annotated[float, Within(0.0, 10_000.0)]
"""Between two things, m; 0 for none."""
BodyLength = Annotated[float, Within(0.0, 100.0, above=True)]
"""Of a robot, m."""
PersonRadius = Annotated[float, Within(0.0, 2.0, above=True)]
"""Of a pedestrian, m."""
Offset = Annotated[float, Within(-100.0, 100.0)]
"""Of a part from the middle of its body, along an axis, m."""
TurningRate = Annotated[float, Within(0.0, 100.0)]
"""rad/s."""
Acceleration = Annotated[float, Within(0.0, 10_000.0, above=True)]
"""m/s2 or rad/s2."""
Speed = Annotated[float, Within(0.0, 100.0)]
"""Of a robot, m/s."""
TopSpeed = Annotated[float, Within(0.0, 100.0, above=True)]
"""Speed of a robot that moves, m/s."""
Velocity = Annotated[float, Within(-100.0, 100.0)]
"""Of a robot along an axis, m/s."""
WalkingSpeed = Annotated[float, Within(0.0, 15.0)]
"""Of a pedestrian, m/s; the fastest who was ever measured ran at 12.4."""
Duration = Annotated[float, Within(0.0, 36_000.0)]
"""s; 0 for none."""
Period = Annotated[float, Within(0.0, 36_000.0, above=True)]
"""Time that is not 0, s."""
Chance = Annotated[float, Within(0.0, 1.0)]
"""A probability or a share."""
Turns = Annotated[float, Within(-4.0 * math.pi, 4.0 * math.pi)]
"""A heading or another angle, rad, within two turns: who writes more means degrees."""
Deviation = Annotated[float, Within(0.0, 6.2832)]
"""Of a heading from another one, rad; every heading is within 3.1416, and who writes more than a turn means degrees."""
Factor = Annotated[float, Within(-10_000.0, 10_000.0)]
"""A factor of a force or a cost."""
Rate = Annotated[float, Within(0.0, 10.0)]
"""Of learning, or what limits it; 0 for none."""
Weight = Annotated[float, Within(0.0, 10_000.0)]
"""Of a term of a loss; 0 leaves it out."""
Size = Annotated[float, Within(0.0, 100.0, above=True)]
"""As a share of a published size."""
Steps = Annotated[int, Within(0, 10**12)]
"""Steps or episodes of a training; 0 for no end."""
Count = Annotated[int, Within(1, 10_000)]
"""How many, of what costs time or memory."""
Number = Annotated[int, Within(0, 1_000_000)]
"""How many, or which; 0 for none."""


def meant_degrees(angle: float, most: float) -> str:
    """Return the end of a message that refuses an angle, rad: the same number of degrees, where it is more than ``most``."""
    return f"; an angle is in radians, and {angle:g} degrees are {math.radians(angle):.4g}" if abs(angle) > most else ""


def range_of(hint: Any) -> Within | None:
    """The range of a type, also of one that may be left out; None if it has none."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next(filter(None, map(range_of, typing.get_args(hint))), None)
    return next((a for a in getattr(hint, "__metadata__", ()) if isinstance(a, Within)), None)


@functools.cache
def _ranges(kind: type) -> dict[str, Within]:
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except NameError:  # of a type that is there for type checkers alone
        return {}
    return {name: found for name, hint in hints.items() if (found := range_of(hint)) is not None}


def check(kind: type, values: dict[str, Any]) -> None:
    """Make sure that the numbers for fields of a dataclass are in their ranges, and that none is NaN or infinite.

    Raises:
        ValueError: one is not; the message begins with the field's name.
    """
    ranges = _ranges(kind)
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value}")
        if name in ranges and not ranges[name].holds(value):
            raise ValueError(f"{name} must be in {ranges[name]}, got {value:g}")


def check_fields(component: Any) -> None:
    """Make sure that the fields of a dataclass are in their ranges: its ``__post_init__`` calls this.

    Raises:
        InputError: one is not.
    """
    kind = type(component)
    try:
        check(kind, {field.name: getattr(component, field.name) for field in dataclasses.fields(component)})
    except ValueError as error:
        raise InputError(f"{kind.__name__}.{error}") from None
