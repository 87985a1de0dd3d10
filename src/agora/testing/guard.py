"""The guard used by every contract: a call must not raise an exception, write to its arguments, or draw from a global random
generator.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from agora.core.state import Array
from agora.errors import AgoraError, ComponentError
from agora.testing.errors import ContractError


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every array, number and string in nested records, tuples, lists and dicts, each with its name."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts: Any = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    elif isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, tuple | list):
        parts = zip(getattr(value, "_fields", range(len(value))), value, strict=True)
    else:
        yield name, value
        return
    for key, part in parts:
        yield from leaves(part, f"{name}.{key}" if name else str(key))


def arrays(value: Any) -> Iterator[tuple[str, Array]]:
    """Return the arrays among the `leaves` of a nested record."""
    return ((name, leaf) for name, leaf in leaves(value) if isinstance(leaf, np.ndarray))


def identical(one: Any, other: Any) -> bool:
    """Return whether two nested records are bit-identical."""
    mine, its = dict(leaves(one)), dict(leaves(other))
    return mine.keys() == its.keys() and all(np.array_equal(mine[name], its[name]) for name in mine)


def freeze(value: Any) -> None:
    """Make all arrays in a nested record read-only."""
    for _, array in arrays(value):
        array.flags.writeable = False


def _generators() -> tuple[Any, ...]:
    """Return the state of the global random generators, without drawing from them."""
    name, key, *rest = np.random.get_state()  # noqa: NPY002
    return name, np.asarray(key).tobytes(), *rest, random.getstate()


@contextmanager
def pure(where: str, **given: Any) -> Iterator[None]:
    """Check the code that runs in this context.

    Args:
        where: beginning of the error message.
        **given: nested records that the code must not change.

    Raises:
        ContractError: the code raises an exception, writes to an array in ``given``, or draws from a global random generator.
    """
    before, generators = {name: array.copy() for name, array in arrays(given)}, _generators()
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
        raised = error.__cause__ if isinstance(error, ComponentError) and error.__cause__ is not None else error
        said = f"{raised}" if isinstance(raised, AgoraError) else f"raises {type(raised).__name__}: {raised}"
        raise ContractError(f"{where}: {said}") from error
    if generators != _generators():
        raise ContractError(f"{where}: it draws from a global random generator")
    for name, array in arrays(given):
        if not np.array_equal(array, before[name], equal_nan=array.dtype.kind == "f"):
            raise ContractError(f"{where}: it writes to {name}")
