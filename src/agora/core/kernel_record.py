"""Records of numbers for kernels, derived from the fields of a component.

``Parameters = kernel_record("Parameters", Dwa, limits=("max_vel_x",), computed=("period",))`` declares a record, and
``Parameters.of(dwa, period=observation.dt)`` fills it. Numba infers the types of the fields, so kernels do not import the record.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections import namedtuple
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

__all__ = ["kernel_record"]

_KINDS: dict[Any, Callable[[Any], Any]] = {float: np.float32, int: int, bool: bool}


def kernel_record(
    name: str,
    component: type,
    *,
    computed: Collection[str] = (),
    others: Collection[str] = (),
    limits: Collection[str] = (),
    without: Collection[str] = (),
) -> Any:
    """Return the class of a named tuple of the numbers of a component, under the names of its fields.

    The class has a function ``of(component, **values)`` that returns a record: numbers as float32, counts as int, flags as bool.

    Args:
        name: variable in the component's module that holds the class. Numba's cache finds the class under this name.
        component: frozen dataclass. Fields of types other than float, int and bool are left out.
        computed: names of numbers that ``of`` takes as keywords and makes float32. Fields of the same names are not copied.
        others: names of counts, flags, arrays and records that ``of`` takes as keywords and leaves as they are. Fields of the same
            names are not copied.
        limits: fields that are a number or None for no limit, which becomes infinity.
        without: numbers that the kernel does not need.

    Raises:
        ValueError: a name in ``limits`` or ``without`` is not a field.
    """
    hints = typing.get_type_hints(component)
    fields = [field.name for field in dataclasses.fields(component)]
    if unknown := {*limits, *without} - set(fields):
        raise ValueError(f"{component.__name__} has no field {', '.join(sorted(unknown))}")
    left_out = {*without, *computed, *others}
    copied = {field: _limit if field in limits else _KINDS.get(hints[field]) for field in fields if field not in left_out}
    numbers = {field: kind for field, kind in copied.items() if kind is not None}
    record = typing.cast(Any, namedtuple(name, [*numbers, *computed, *others], module=component.__module__))

    def of(owner: Any, **values: Any) -> Any:
        copies = [kind(getattr(owner, field)) for field, kind in numbers.items()]
        return record(*copies, **{key: np.float32(value) if key in computed else value for key, value in values.items()})

    record.of = of
    return record


def _limit(value: float | None) -> np.float32:
    return np.float32(math.inf if value is None else value)
