"""The numbers that fields of files may hold, each kind once: ``lookahead: Distance = 0.8`` gives kind and range.

`agora.config` and `agora.registry` refuse what lies outside, with the key's name. The bounds are far beyond whatever moves among
people: what they refuse is a slip of the pen or of the unit.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Annotated, Any, Literal

from agora.errors import FieldError, similar

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
        """The interval in words: "in (0, 10]", or "above 0" with a largest number that is that of all files."""
        if self.most in (LARGEST, LARGEST_WHOLE):
            return f"above {self.least:.7g}" if self.above else f"of at least {self.least:.7g}"
        return f"in {'(' if self.above else '['}{self.least:.7g}, {self.most:.7g}]"


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
Fraction = Annotated[float, Within(0.0, 1.0, above=True)]
"""A share that is not 0."""
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
PositiveRate = Annotated[float, Within(0.0, 10.0, above=True)]
"""Of learning."""
Steps = Annotated[int, Within(0, 10**12)]
"""Steps or episodes of a training; 0 for no end."""
Count = Annotated[int, Within(1, 10_000)]
"""How many, of what costs time or memory."""
Number = Annotated[int, Within(0, 1_000_000)]
"""How many, or which; 0 for none."""
Quantity = Annotated[int, Within(1, 1_000_000)]
"""How many, of what is cheap."""
Robots = Annotated[int, Within(1, 1000)]
"""How many robots."""
Whole = Annotated[int, Within(0, LARGEST_WHOLE)]
"""A whole number of 0 or more that has no name of its own, such as a seed."""
Natural = Annotated[int, Within(1, LARGEST_WHOLE)]
"""A whole number above 0 that has no name of its own."""


def meant_degrees(angle: float, most: float) -> str:
    """Return the end of a message that refuses an angle, rad: the same number of degrees, where it is more than ``most``."""
    return f"; an angle is in radians, and {angle:g} degrees are {math.radians(angle):.4g}" if abs(angle) > most else ""


def range_of(hint: Any) -> Within | None:
    """The range of a type, also of one that may be left out; None if it has none."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next(filter(None, map(range_of, typing.get_args(hint))), None)
    return next((a for a in getattr(hint, "__metadata__", ()) if isinstance(a, Within)), None)


def type_name(kind: Any) -> str:
    """Return the words of a message for a type: "a number in (0, 1] or nothing"."""
    words = {float: "a number", int: "an integer", str: "a string", bool: "true or false", Path: "a path", type(None): "nothing"}
    origin = typing.get_origin(kind)
    if origin is Annotated:
        bounds = [f" {part}" for part in kind.__metadata__ if isinstance(part, Within)]
        return type_name(typing.get_args(kind)[0]) + "".join(bounds)
    if origin is Literal:
        return f"one of {', '.join(map(str, typing.get_args(kind)))}"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_name(k) for k in typing.get_args(kind))
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields") or kind is dict or origin in (dict, Mapping):
        return "a mapping"
    return words.get(kind, "a list" if kind in (list, tuple) or origin in (list, tuple, Sequence) else "a value")


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except NameError:  # a type that exists for type checkers alone
        return {}


def _members(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _accepts(member: Any, value: Any) -> bool:
    """Return whether a type that is no union accepts a value; only numbers, flags and words are examined."""
    bounds = range_of(member)
    if bounds is not None:
        is_whole = typing.get_args(member)[0] is int
        return _is_number(value) and bounds.holds(value) and not (is_whole and value % 1)
    if member in (float, int):
        return _is_number(value)
    if member in (bool, None, type(None)):
        return value is None if member is not bool else value in (True, False)
    return value in typing.get_args(member) if typing.get_origin(member) is Literal else True


def _expected(hint: Any, value: Any) -> str:
    """Return the words for what a type expects instead of a value that it does not accept."""
    bounds = range_of(hint)
    if bounds is not None and bounds.most in (LARGEST, LARGEST_WHOLE) and _is_number(value) and value > bounds.most:
        return f"a number of at most {bounds.most:.7g}"  # the range in words does not tell the largest number of all files
    return type_name(hint)


def _faults(name: str, hint: Any, value: Any) -> Iterator[str]:
    """Yield a message for the value of a field, or for each of its elements, that its type does not accept."""
    members = _members(hint)
    for member in members if isinstance(value, list | tuple | Mapping) else ():
        yield from _faults_inside(name, member, value)
    if _is_number(value) and not abs(value) < math.inf:
        yield f"{name}: expected a finite number, got {value}"
    elif not any(_accepts(member, value) for member in members):
        words = [str(word) for member in members if typing.get_origin(member) is Literal for word in typing.get_args(member)]
        shown = str(value) if _is_number(value) else repr(value)  # the representation of a number of NumPy names its type
        yield f"{name}: expected {_expected(hint, value)}, got {shown}{similar(value, words) if isinstance(value, str) else ''}"


def _faults_inside(name: str, member: Any, values: Any) -> Iterator[str]:
    origin, arguments = typing.get_origin(member), typing.get_args(member)
    if isinstance(values, Mapping) and origin in (dict, Mapping):
        for key, value in values.items():
            yield from _faults(f"{name}.{key}", arguments[1], value)
    elif not isinstance(values, Mapping) and origin in (list, tuple, Sequence):
        kinds = itertools.repeat(arguments[0]) if origin is not tuple or arguments[-1] is Ellipsis else arguments
        for number, (kind, value) in enumerate(zip(kinds, values, strict=False)):
            yield from _faults(f"{name}[{number}]", kind, value)


def check(kind: type, values: Mapping[str, Any]) -> None:
    """Make sure that the types of a dataclass' fields accept values: numbers are finite and in their ranges, words are known.

    Numbers in lists, tuples and mappings are checked too. Values of other types are not examined.

    Raises:
        FieldError: one is not accepted.
    """
    hints = _hints(kind)
    for name, value in values.items():
        for fault in _faults(name, hints.get(name, Any), value):
            raise FieldError(fault)


class Checked:
    """Base of a dataclass whose values are checked when it is created: the type of each field states its range.

    A dataclass with relations between fields defines ``__post_init__``, and calls ``super().__post_init__()`` first.
    """

    def __post_init__(self) -> None:
        """Make sure that the types of the fields accept their values.

        Raises:
            FieldError: one is not accepted.
        """
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # a subclass is a dataclass
        check(type(self), {field.name: getattr(self, field.name) for field in fields if field.init})
