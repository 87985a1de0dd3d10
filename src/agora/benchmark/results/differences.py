"""Bit-exact differences between a row in a file and the same row recomputed on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agora.benchmark.results.copies import PLACE, START


@dataclass(frozen=True)
class Difference:
    """A value in a file that recomputation did not reproduce.

    Attributes:
        file: name of the file.
        key: key of the row that contains the value.
        column: column that contains the value.
        entry: the value in the file, as text.
        here: the recomputed value, as text.
    """

    file: str
    key: str
    column: str
    entry: str
    here: str

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.column} is {self.entry} in the file, but {self.here} when recomputed"


def differences(file: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterable[Difference]:
    """Yield the bit-exact differences between a row of a file and the same row recomputed on this machine, most important first."""
    for column in dict.fromkeys(["outcome", "duration", *theirs, *ours]):
        value, here = theirs.get(column), ours.get(column)
        if column in (START, PLACE) and column not in theirs:
            continue  # older entries lack this column
        if column not in theirs and here is not None:
            yield Difference(file, theirs["key"], column, "no such column", repr(here))
        elif column not in ours and value is not None:
            yield Difference(file, theirs["key"], column, repr(value), "no such column")
        elif repr(value) != repr(here):  # distinguishes 0.0 from -0.0
            yield Difference(file, theirs["key"], column, repr(value), repr(here))
