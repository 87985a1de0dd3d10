"""Events that measurements of crowds yield."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Measuring"]


@dataclass(frozen=True)
class Measuring:
    """Event: a part of a measurement begins.

    Attributes:
        what: description of what is measured.
    """

    what: str
