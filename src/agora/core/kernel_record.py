"""Records of parameters for kernels, derived from the fields of a component.

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
    """Return a named-tuple class that holds the numbers of a component under the component's field names.

    The class has a function ``of(component, **values)`` that returns a record, with numbers as float32, counts as int and flags as
    bool.

    Args:
        name: name of the variable in the component's module that holds the class. Numba's cache finds the class under this name.
        component: a frozen dataclass. Fields with types other than float, int and bool are left out.
        computed: names of numbers that ``of`` takes as keyword arguments and converts to float32. Fields with the same names are
            not copied.
        others: names of counts, flags, arrays and records that ``of`` takes as keyword arguments and stores unchanged. Fields with
            the same names are not copied.
        limits: names of fields that hold a number, or None for no limit; None becomes infinity.
        without: names of fields that the kernel does not need.

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
