"""Formats values that were not reproduced, for printing by commands: one line per row of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agora.benchmark.results.differences import Difference

LINES = 10
"""Maximum number of printed lines."""


def lines(differences: Iterable[Difference]) -> Iterator[str]:
    """Yield a line for each row with its first differing value, and finally the number of further rows."""
    rows = [list(some) for _, some in groupby(differences, key=lambda one: (one.file, one.key))]
    for some in rows[:LINES]:
        yield f"{some[0]}{f', and at least {len(some) - 1} more columns' if some[1:] else ''}"
    if rows[LINES:]:
        yield f"and {len(rows) - LINES} more rows"
