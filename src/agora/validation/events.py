"""Events of crowd measurements."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Measuring"]


@dataclass(frozen=True)
class Measuring:
    """Event: a part of the measurement begins.

    Attributes:
        what: description of the measured quantity.
    """

    what: str
