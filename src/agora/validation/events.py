"""The events of a measurement of crowds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Measuring"]


@dataclass(frozen=True)
class Measuring:
    """A part of the work begins.

    Attributes:
        what: measured quantity, in words.
    """

    what: str
