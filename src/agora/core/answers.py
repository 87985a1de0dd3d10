"""Checks on the values that components return. Errors name the component, the file and the line; valid results are converted to
proper arrays.

A component from another package may raise or return anything. Planners are checked separately (`agora.planners.adapters.call`),
because their failure ends a robot's episode.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from agora.core import float_mode
from agora.core.state import Array
from agora.core.untrusted_calls import CallBoundary, Signalled
from agora.errors import AgoraError, ComponentError, in_words, place

__all__: list[str] = []

LARGEST = 1e8
"""Maximum absolute value of a number in a result, as in `agora.ranges.LARGEST`."""


@contextmanager
def blame(component: str) -> Iterator[None]:
    """Return a context in which errors raised by a component's code name the component.

    Signals and Agora's own errors pass through unchanged. If the code forked a process, that process ends when the context does.

    Args:
        component: kind and name of the component.

    Raises:
        ComponentError: the code raised anything else, including ``SystemExit``, ``KeyboardInterrupt`` and ``GeneratorExit``, or
            changed the floating-point mode.
    """
    try:
        with CallBoundary():
            yield
        float_mode.check(component)
    except (AgoraError, Signalled):
        raise
    except BaseException as error:
        calls = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename != __file__]
        raise ComponentError(f"{component}: {in_words(error)} ({place(calls)})") from error


def numbers(component: str, what: str, value: Any, shape: Sequence[int | None], *, where: Any = None) -> Array:
    """Return a component's result as an array of float32 or float64 numbers with the expected shape.

    Args:
        component: kind and name of the component.
        what: name of the result, for messages.
        value: result of the component.
        shape: expected shape; None stands for any length.
        where: mask of the leading axes; entries outside it may hold any number.

    Raises:
        ComponentError: the result is not such an array, or contains a number that is non-finite or exceeds `LARGEST`.
    """
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    fits = array.ndim == len(shape) and all(wanted in (None, given) for wanted, given in zip(shape, array.shape, strict=True))
    if array.dtype.kind not in "fiu" or not fits:
        axes = ", ".join("any" if length is None else str(length) for length in shape)
        got = f"{array.dtype} of shape {array.shape}" if array.dtype.kind != "O" else type(value).__name__
        raise ComponentError(f"{component} returned {what} as {got}; expected real numbers of shape ({axes})")
    counted = array if where is None else array[where]
    if not (np.abs(counted) <= LARGEST).all():
        first = counted[~(np.abs(counted) <= LARGEST)].flat[0]
        raise ComponentError(f"{component} returned {what} with {first:g}; expected finite numbers up to {LARGEST:g}")
    return array if array.dtype.kind == "f" else array.astype(np.float64)
