"""Records of numbers for kernels, derived from the fields of a component.

``Parameters = kernel_record("Parameters", Dwa, limits=("max_vel_x",), computed=("period",))`` declares a record, and
``Parameters.of(dwa, period=observation.dt)`` fills it. Numba infers the types of the fields, so kernels do not import the record.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

__all__ = ["kernel_record"]

_KINDS: dict[Any, Callable[[Any], Any]] = {float: np.float32, int: int, bool: bool}


def kernel_record(
    name: str, component: type, *, computed: Iterable[str] = (), limits: Iterable[str] = (), without: Iterable[str] = ()
) -> Any:
    """Return the class of a named tuple of the numbers of a component, under the names of its fields.

    The class has a function ``of(component, **computed)`` that returns a record: numbers as float32, counts as int, flags as bool.

    Args:
        name: variable in the component's module that holds the class. Numba's cache finds the class under this name.
        component: frozen dataclass. Fields of types other than float, int and bool are left out.
        computed: names of values that ``of`` takes as keywords. A field of the same name is not copied. A Python float becomes
            float32; other values stay.
        limits: fields that are a number or None for no limit, which becomes infinity.
        without: numbers that the kernel does not need.

    Raises:
        ValueError: a name in ``limits`` or ``without`` is not a field.
    """
    hints = typing.get_type_hints(component)
    fields = [field.name for field in dataclasses.fields(component)]
    if unknown := {*limits, *without} - set(fields):
        raise ValueError(f"{component.__name__} has no field {', '.join(sorted(unknown))}")
    left_out = {*without, *computed}
    copied = {field: _limit if field in limits else _KINDS.get(hints[field]) for field in fields if field not in left_out}
    numbers = {field: kind for field, kind in copied.items() if kind is not None}
    record = typing.cast(Any, namedtuple(name, [*numbers, *computed], module=component.__module__))
    record.__name__ = f"{component.__module__}.{name}"  # boxes of arguments (`agora.core.jit`) tell types apart by their names

    def of(owner: Any, **given: Any) -> Any:
        copies = [kind(getattr(owner, field)) for field, kind in numbers.items()]
        return record(*copies, **{key: np.float32(value) if isinstance(value, float) else value for key, value in given.items()})

    record.of = of
    return record


def _limit(value: float | None) -> np.float32:
    return np.float32(math.inf if value is None else value)
