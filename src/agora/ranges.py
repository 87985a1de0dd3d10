"""Types for the numbers in the fields of files, each with a range: ``lookahead: Distance = 0.8`` states both the kind of quantity
and the range.

`agora.config` and `agora.registry` reject values outside the range and name the key. The bounds are far beyond the values of
anything that moves among people, so they only catch typing errors and wrong units.
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
"""Default maximum for numbers in files: larger than any coordinate on Earth, m, and safe in float32 products."""
LARGEST_WHOLE = 2**63 - 1
"""Default maximum for integers in files."""


@dataclass(frozen=True)
class Within:
    """Annotates a field with the numbers that it may hold: ``Annotated[float, Within(0.0, 10.0)]``.

    Attributes:
        least: minimum; the value itself is allowed unless ``above`` is set.
        most: maximum; the value itself is allowed.
        above: whether values must be above ``least``.
    """

    least: float
    most: float
    above: bool = False

    def holds(self, number: float) -> bool:
        """Return whether a number is allowed; NaN is not."""
        return (self.least < number if self.above else self.least <= number) and number <= self.most

    def __str__(self) -> str:
        """Return the interval in words: "in (0, 10]", or just "above 0" if the maximum is the default one."""
        if self.most in (LARGEST, LARGEST_WHOLE):
            return f"above {self.least:.7g}" if self.above else f"of at least {self.least:.7g}"
        return f"in {'(' if self.above else '['}{self.least:.7g}, {self.most:.7g}]"


Positive = Annotated[float, Within(0.0, LARGEST, above=True)]
"""A number above 0 for which there is no more specific type."""
NotNegative = Annotated[float, Within(0.0, LARGEST)]
"""A number of 0 or more for which there is no more specific type."""
Length = Annotated[float, Within(0.0, 10_000.0, above=True)]
"""A length, m; not 0."""
Distance = Annotated[float, Within(0.0, 10_000.0)]
"""A distance between two objects, m; may be 0."""
BodyLength = Annotated[float, Within(0.0, 100.0, above=True)]
"""A dimension of a robot, m."""
PersonRadius = Annotated[float, Within(0.0, 2.0, above=True)]
"""Radius of a pedestrian, m."""
Offset = Annotated[float, Within(-100.0, 100.0)]
"""Offset of a part from the middle of its body, along an axis, m."""
TurningRate = Annotated[float, Within(0.0, 100.0)]
"""Turning rate, rad/s."""
Acceleration = Annotated[float, Within(0.0, 10_000.0, above=True)]
"""Linear or angular acceleration, m/s2 or rad/s2."""
Speed = Annotated[float, Within(0.0, 100.0)]
"""Speed of a robot, m/s; may be 0."""
TopSpeed = Annotated[float, Within(0.0, 100.0, above=True)]
"""Speed of a robot, m/s; not 0."""
Velocity = Annotated[float, Within(-100.0, 100.0)]
"""Velocity of a robot along an axis, m/s."""
WalkingSpeed = Annotated[float, Within(0.0, 15.0)]
"""Speed of a pedestrian, m/s; the highest ever measured is 12.4."""
Duration = Annotated[float, Within(0.0, 36_000.0)]
"""Duration, s; may be 0."""
Period = Annotated[float, Within(0.0, 36_000.0, above=True)]
"""Duration, s; not 0."""
Chance = Annotated[float, Within(0.0, 1.0)]
"""A probability or share."""
Fraction = Annotated[float, Within(0.0, 1.0, above=True)]
"""A share; not 0."""
Turns = Annotated[float, Within(-4.0 * math.pi, 4.0 * math.pi)]
"""A heading or other angle, rad, within two turns; a larger value is probably in degrees."""
Deviation = Annotated[float, Within(0.0, 6.2832)]
"""Deviation of one heading from another, rad. A deviation of 3.1416 includes every heading; a value above one turn is probably in
degrees.
"""
Factor = Annotated[float, Within(-10_000.0, 10_000.0)]
"""Factor by which a force or a cost is multiplied."""
Rate = Annotated[float, Within(0.0, 10.0)]
"""A learning rate or a limit of learning; may be 0."""
Weight = Annotated[float, Within(0.0, 10_000.0)]
"""Weight of a term in a loss; 0 leaves the term out."""
Size = Annotated[float, Within(0.0, 100.0, above=True)]
"""Size relative to a published size."""
PositiveRate = Annotated[float, Within(0.0, 10.0, above=True)]
"""A learning rate; not 0."""
Steps = Annotated[int, Within(0, 10**12)]
"""Number of steps or episodes of a training run; 0 for no limit."""
Count = Annotated[int, Within(1, 10_000)]
"""Number of items that each take considerable time or memory; at least 1."""
Number = Annotated[int, Within(0, 1_000_000)]
"""A number of items, or an index; may be 0."""
Quantity = Annotated[int, Within(1, 1_000_000)]
"""Number of cheap items; at least 1."""
Robots = Annotated[int, Within(1, 1000)]
"""Number of robots."""
Whole = Annotated[int, Within(0, LARGEST_WHOLE)]
"""An integer of 0 or more for which there is no more specific type, such as a seed."""
Natural = Annotated[int, Within(1, LARGEST_WHOLE)]
"""An integer above 0 for which there is no more specific type."""


def meant_degrees(angle: float, most: float) -> str:
    """Return the end of a message that rejects an angle in radians: if the angle exceeds ``most``, a hint that the number may be in
    degrees.
    """
    return f"; angles are in radians: {angle:g} degrees are {math.radians(angle):.4g} rad" if abs(angle) > most else ""


def range_of(hint: Any) -> Within | None:
    """Return the range of a type, including an optional one; None if the type has no range."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next(filter(None, map(range_of, typing.get_args(hint))), None)
    return next((a for a in getattr(hint, "__metadata__", ()) if isinstance(a, Within)), None)


def type_name(kind: Any) -> str:
    """Return the description of a type for messages, such as "a number in (0, 1] or nothing"."""
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
    except NameError:  # a type that exists only for type checkers
        return {}


def _members(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _accepts(member: Any, value: Any) -> bool:
    """Return whether a type, other than a union, accepts a value; only numbers, Booleans and strings are checked."""
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
    """Return a description of what a type expects, given a value that it does not accept."""
    bounds = range_of(hint)
    if bounds is not None and bounds.most in (LARGEST, LARGEST_WHOLE) and _is_number(value) and value > bounds.most:
        return f"a number of at most {bounds.most:.7g}"  # the range in words omits the default maximum
    return type_name(hint)


def _faults(name: str, hint: Any, value: Any) -> Iterator[str]:
    """Yield a message for a field's value that its type does not accept, or for each element that the type does not accept."""
    members = _members(hint)
    for member in members if isinstance(value, list | tuple | Mapping) else ():
        yield from _faults_inside(name, member, value)
    if _is_number(value) and not abs(value) < math.inf:
        yield f"{name}: expected a finite number, got {value}"
    elif not any(_accepts(member, value) for member in members):
        words = [str(word) for member in members if typing.get_origin(member) is Literal for word in typing.get_args(member)]
        shown = str(value) if _is_number(value) else repr(value)  # the repr of a NumPy number includes its type
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
    """Check that values fit the types of a dataclass's fields: numbers must be finite and in range, strings must be known.

    Numbers in lists, tuples and mappings are also checked; values of other types are not.

    Raises:
        FieldError: a value is not accepted.
    """
    hints = _hints(kind)
    for name, value in values.items():
        for fault in _faults(name, hints.get(name, Any), value):
            raise FieldError(fault)


class Checked:
    """Base class of dataclasses whose values are checked on creation: the type of each field states the field's range.

    A subclass that must check relations between fields defines ``__post_init__`` and calls ``super().__post_init__()`` first.
    """

    def __post_init__(self) -> None:
        """Check that the values of the fields fit their types.

        Raises:
            FieldError: a value is not accepted.
        """
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # a subclass is a dataclass
        check(type(self), {field.name: getattr(self, field.name) for field in fields if field.init})
