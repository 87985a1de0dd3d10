"""Operations on whole memories, which are arrays keyed by name, including the memories of nested planners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from agora.core.state import Array, Bools, Ints
from agora.interfaces import SEEN, Memory


def map_arrays(do: Callable[..., Any], memory: Memory, *others: Memory) -> Memory:
    """Return a memory in which each array is the result of ``do``, called with the arrays of that name from all memories."""
    return {
        name: map_arrays(do, part, *(other[name] for other in others))
        if isinstance(part, dict)
        else do(part, *(other[name] for other in others))
        for name, part in memory.items()
    }


def parts(memory: Memory, inside: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a memory, or their replacements, with their dotted names."""
    for name, part in memory.items():
        if isinstance(part, dict):
            yield from parts(part, f"{inside}{name}.")
        else:
            yield f"{inside}{name}", part


def rows_of(memory: Memory, rows: slice | Ints) -> Memory:
    """Return selected rows of a memory; a slice gives views."""
    return map_arrays(lambda array: array[rows], memory)


def join(memories: Sequence[Memory]) -> Memory:
    """Return the rows of several memories, concatenated."""
    return map_arrays(lambda *arrays: np.concatenate(arrays), *memories)


def reset(memory: Memory, rows: Bools) -> Memory:
    """Return a copy in which ``rows`` (N,) are reset to the start of an episode: to zeros, which mean None for a planner for one
    robot.
    """

    def zero_rows(array: Array) -> Array:
        after = array.copy()
        after[rows] = 0
        return after

    return map_arrays(zero_rows, memory)


def without_seen(memory: Memory, rows: Bools) -> Memory:
    """Return a memory in which the obstacles that the robots have seen (the parts named `SEEN`) are cleared in ``rows`` (N,)."""
    return {
        name: part if not isinstance(part, dict) else reset(part, rows) if name == SEEN else without_seen(part, rows)
        for name, part in memory.items()
    }


def put_rows(memory: Memory, rows: Ints, some: Memory, count: int) -> None:
    """Write the memory of selected rows (R,) into a memory of ``count`` rows, in place; new arrays are 0 in the remaining rows."""
    for name, part in some.items():
        if isinstance(part, dict):
            put_rows(memory.setdefault(name, {}), rows, part, count)
        else:
            memory.setdefault(name, np.zeros((count, *part.shape[1:]), part.dtype))[rows] = part
