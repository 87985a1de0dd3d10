"""The values that the parameters of a crowd model, or of a planner made of one, may have."""

from __future__ import annotations

import math
from typing import Any

from agora.errors import InputError


def at_least_zero(model: Any, *names: str) -> None:
    """Raise `InputError` unless the named parameters are finite and not negative."""
    for name in names:
        if not 0.0 <= getattr(model, name) < math.inf:
            raise InputError(f"{type(model).__name__}.{name} is {getattr(model, name)!r}; expected a finite number, 0 or more")


def above_zero(model: Any, *names: str) -> None:
    """Raise `InputError` unless the named parameters are finite and above 0."""
    for name in names:
        if not 0.0 < getattr(model, name) < math.inf:
            raise InputError(f"{type(model).__name__}.{name} is {getattr(model, name)!r}; expected a finite number above 0")
