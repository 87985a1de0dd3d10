"""Finds rows of duplicate episodes. Episodes with the same start and the same result for every planner count as one observation.

A row contains digests of the episode's start (`START`) and place (`PLACE`); see `agora.tasks.copies`. Rows without these columns,
which come from external episodes or older versions, are never treated as copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agora.benchmark.results.store import IDENTITY, Row

__all__ = ["distinct"]

START = "start"
"""Column with the digest of the start and the conditions of a row's episode."""

PLACE = "place"
"""Column with the name and a digest of the map of a row's episode."""

_Episode = tuple[Any, ...]
_NOT_COMPARED = {*IDENTITY, "failure"}


def distinct(rows: Iterable[Row]) -> list[Row]:
    """Return the rows in their original order, without the rows of episodes that are copies."""
    every = list(rows)
    taken = copies(every)
    return [row for row in every if _episode_of(row) not in taken] if taken else every


def copies(rows: Sequence[Row]) -> dict[_Episode, _Episode]:
    """Return a mapping from each episode that is a copy to the earlier episode that it copies.

    An episode is given as suite, stage, number and seed. It is a copy if it has the same start as an earlier episode and if each of
    its rows equals the row of the same planner and robot in the earlier episode. If two episodes have the same start but different
    rows, because of sensor noise for instance, both episodes count.
    """
    alike: dict[Any, dict[_Episode, list[Row]]] = {}
    for row in rows:
        if row.get(START) is not None:
            alike.setdefault(row[START], {}).setdefault(_episode_of(row), []).append(row)
    found: dict[_Episode, _Episode] = {}
    for episodes in alike.values():
        kept: dict[_Episode, dict[Any, Any]] = {}
        for episode, members in episodes.items() if len(episodes) > 1 else ():
            values = {(row["planner"], row.get("robot")): _values(row) for row in members}
            first = next((one for one, there in kept.items() if values.items() <= there.items()), None)
            if first is None:
                kept[episode] = values
            else:
                found[episode] = first
    return found


def copy_notes(rows: Sequence[Row]) -> list[str]:
    """Return one sentence per stage that contains copies; it gives the number of episodes that count."""
    found, counts = copies(rows), dict[Any, list[int]]()
    for episode in dict.fromkeys(map(_episode_of, rows)):
        count = counts.setdefault(episode[1], [0, 0])
        count[0] += 1
        count[1] += episode in found
    return [
        f"Stage {stage}: {same} of {count} episodes {'is a copy' if same == 1 else 'are copies'} of another one, with the "
        f"same start and the same results for every planner. Intervals and tests use {count - same} episodes."
        for stage, (count, same) in counts.items()
        if same
    ]


def _episode_of(row: Row) -> _Episode:
    return row.get("suite"), row.get("stage"), row.get("episode"), row.get("seed")


def _values(row: Row) -> list[tuple[str, Any]]:
    """Return the values of a row that must be equal in a copy."""
    return sorted((name, value) for name, value in row.items() if name not in _NOT_COMPARED and value is not None)
