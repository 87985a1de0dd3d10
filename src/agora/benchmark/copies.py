"""Copies among rows: episodes that start alike and in which every planner did the same are one observation, not several.

A row says how its episode started (`START`) and where (`PLACE`), by digests (`agora.tasks.copies`). Rows without these columns, of
episodes that were played elsewhere or by an older version, are taken as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agora.benchmark.store import IDENTITY

__all__ = ["distinct"]

Row = Mapping[str, Any]
"""A row of results, as `agora.benchmark.store` keeps them."""

START = "start"
"""Column with the digest of the start and the conditions of a row's episode."""

PLACE = "place"
"""Column with the name of the map of a row's episode, and a digest of it."""

_Episode = tuple[Any, ...]
_NOT_COMPARED = {*IDENTITY, "failure"}


def distinct(rows: Iterable[Row]) -> list[Row]:
    """Return the rows without those of copies, in their order."""
    every = list(rows)
    taken = copies(every)
    return [row for row in every if _episode_of(row) not in taken] if taken else every


def copies(rows: Sequence[Row]) -> dict[_Episode, _Episode]:
    """Return the episodes that are copies of an earlier one, with that one, each as suite, stage, number and seed.

    An episode is a copy if it starts as the earlier one and every row of it is the same as the row of that planner and robot there.
    Chance during an episode, as the noise of a sensor, makes rows of equal starts differ: then both count.
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


def copied(rows: Sequence[Row]) -> list[str]:
    """Return a sentence for each stage with copies: how many of its episodes count."""
    found, counts = copies(rows), dict[Any, list[int]]()
    for episode in dict.fromkeys(map(_episode_of, rows)):
        count = counts.setdefault(episode[1], [0, 0])
        count[0] += 1
        count[1] += episode in found
    return [
        f"Stage {stage}: {same} of {count} episodes {'is a copy' if same == 1 else 'are copies'} of another, with the same "
        f"start and the same results of every planner. Intervals and tests count {count - same}."
        for stage, (count, same) in counts.items()
        if same
    ]


def _episode_of(row: Row) -> _Episode:
    return row.get("suite"), row.get("stage"), row.get("episode"), row.get("seed")


def _values(row: Row) -> list[tuple[str, Any]]:
    """The results of a row, which copies have in common."""
    return sorted((name, value) for name, value in row.items() if name not in _NOT_COMPARED and value is not None)
