"""Reads folders of leaderboard entries: ``entry.yaml`` with the rows, and the other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agora import __version__
from agora.benchmark.redrive import Drive, read_drives
from agora.benchmark.results import recording_shards, shard, store
from agora.benchmark.results.store import Row
from agora.config import load
from agora.core.recording import Recording
from agora.errors import InputError, ResultsError, reading
from agora.leaderboard import _rules
from agora.leaderboard._isolation import runnable_planner
from agora.leaderboard.entry import (
    CHECK,
    DRIVES,
    ENTRY,
    LARGEST_FILE,
    MOST_REPLAYS,
    REPLAYS,
    ROWS,
    TIMING,
    Check,
    Entry,
    EntryResults,
    digest_of,
    locate_weights,
)
from agora.perception.perception import LEVELS
from agora.registry import Named

_MOST_ROWS, _MOST_ROBOTS, _MOST_COLUMNS = 50_000, 100, 1000  # rows per entry, rows per episode, columns per file
_MOST_VALUES, _MOST_BYTES = 20_000_000, 2**29  # maximum decoded size of a file


@dataclass(frozen=True)
class PostedEntry:
    """An entry with its folder, the contents of its ``entry.yaml``, and all its rows in the order of the suite."""

    folder: Path
    entry: Entry
    rows: Sequence[Row]

    @cached_property
    def planner(self) -> Named:
        """The planner, which runs in a separate process if it comes from another package.

        Raises:
            InputError: the planner is not installed on this machine, does not have these parameters, or cannot be confined.
        """
        place = f"{self.folder / ENTRY}: planner.configuration"
        try:
            return runnable_planner(locate_weights(self.entry.planner.configuration, self.folder), place)
        except InputError as error:
            needs = ", ".join(f"{name} {version}" for name, version in self.entry.pins.packages.items())
            raise InputError(f"{error}\n{self.folder}: the entry was made with {needs}") from error

    @cached_property
    def timing(self) -> list[dict[str, Any]]:
        """The planning times of the rows.

        Raises:
            InputError: the file is damaged.
        """
        return read_shard(self.folder / TIMING)

    @cached_property
    def drives(self) -> dict[str, Drive]:
        """The recorded commands, keyed by row.

        Raises:
            InputError: the file is damaged, or does not contain the commands of exactly these rows.
        """
        path, keys = self.folder / DRIVES, {row["key"] for row in self.rows}
        found = read_drives(path)
        if lost := sorted(keys - found.keys()):
            raise InputError(f"{path}: no commands for {lost[0]!r}")
        if more := sorted(found.keys() - keys):
            raise InputError(f"{path}: contains commands for {more[0]!r}, which has no row")
        return found

    def problems(self) -> list[str]:
        """Return the problems that `_rules` finds: rows of another suite, impossible values, a wrong summary."""
        found = list(_rules.of_plan(self.rows, self.entry.suite, self.entry.planner.label))
        found += _rules.of_columns(self.rows) if self.entry.pins.agora == __version__ else ()
        found += _rules.of_values(self.rows)
        found += [] if found else [f"{TIMING}: {wrong}" for wrong in _rules.of_timing(self.timing, self.rows)]
        if not found and EntryResults.of(self.rows) != self.entry.results:
            found.append("its results differ from those computed from its rows")
        return found


def read_claims(folder: Path) -> Entry:
    """Read the ``entry.yaml`` of an entry, without its rows.

    Raises:
        InputError: the file is missing or damaged.
    """
    if not (folder / ENTRY).is_file():
        raise InputError(f"{folder}: contains no {ENTRY}; expected an entry folder (create one with agora submit)")
    return load(folder / ENTRY, Entry)


def read_entry(folder: Path) -> PostedEntry:
    """Read an entry.

    Raises:
        InputError: a file is missing, damaged, or not the file that ``entry.yaml`` names.
    """
    entry = read_claims(folder)
    for name, digest in entry.files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            raise InputError(f"{folder / ENTRY}: files.{name}: the entry has no such file")
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(f"{path}: expected a file of at most {LARGEST_FILE // 2**20} MiB")
        if digest_of(path) != digest:
            raise InputError(f"{path}: was changed since the entry was made: its digest differs from files.{name} in {ENTRY}")
    if lost := [name for name in (ROWS, DRIVES, TIMING) if name not in entry.files]:
        raise InputError(f"{folder / ENTRY}: files: expected {lost[0]} among them")
    episodes = sum(stage.episodes for stage in entry.suite.stages.values())
    if not entry.results.rows <= min(_MOST_ROWS, _MOST_ROBOTS * episodes):
        raise InputError(f"{folder / ENTRY}: results.rows is {entry.results.rows}, too many for {episodes} episodes")
    for name in (ROWS, DRIVES, TIMING):
        _refuse_large(folder / name, entry.results.rows, _MOST_VALUES)
    if REPLAYS in entry.files:
        _refuse_large(folder / REPLAYS, MOST_REPLAYS, _MOST_VALUES)
    places = {name: number for number, name in enumerate(entry.suite.stages)}
    rows = sorted(read_shard(folder / ROWS), key=lambda row: (places.get(row["stage"], 0), row["episode"], row["robot"]))
    for row in rows:
        if not isinstance(row.get("outcome"), str) or row.get("pedestrians") not in LEVELS:
            raise InputError(f"{folder / ROWS}: row {row['key']!r} has no outcome, or an unknown level of perception")
    return PostedEntry(folder, entry, rows)


def _refuse_large(path: Path, rows: int, values: int) -> None:
    """Make sure, before a shard is read, that it does not exceed the size limits.

    Raises:
        InputError: the shard is too large.
    """
    with reading(path, "rows of an entry"):
        found = shard.extent(path)
    for what, count, most in (
        ("rows", found.rows, rows),
        ("columns", found.columns, _MOST_COLUMNS),
        ("values", found.values, values),
        ("bytes", found.size, _MOST_BYTES),
    ):
        if count > most:
            raise InputError(f"{path}: has {count} {what}, expected at most {most}")


def read_check(posted: PostedEntry) -> Check | None:
    """Return the result of the check of the entry's current version; None if this version was not checked.

    Raises:
        InputError: ``check.yaml`` is invalid.
    """
    path = posted.folder / CHECK
    check = load(path, Check) if path.is_file() else None
    return check if check is not None and check.entry == digest_of(posted.folder / ENTRY) else None


def read_shard(path: Path) -> list[dict[str, Any]]:
    """Return the rows of one file of an entry.

    Raises:
        InputError: the file is damaged, or contains anything other than rows.
    """
    with reading(path, "rows of an entry"):
        read = next(iter(store.shards(path)))
    if read.problem:
        raise InputError(f"{path}: {read.problem}")
    for row in read.rows:
        if not all(isinstance(row.get(name), int if name in ("episode", "seed", "robot") else str) for name in store.IDENTITY):
            raise InputError(f"{path}: a row lacks one of the columns {', '.join(store.IDENTITY)}")
    store.check_unique(read.rows, path)
    return read.rows


def read_replays(posted: PostedEntry) -> dict[str, Recording]:
    """Return the recordings in an entry, keyed by the entry's rows, without maps.

    Raises:
        InputError: the file is damaged, or contains a recording without a row.
    """
    path = posted.folder / REPLAYS
    if REPLAYS not in posted.entry.files:
        return {}
    try:
        kept = recording_shards.read_recordings(path)
    except ResultsError as error:
        raise InputError(str(error)) from error
    if strange := set(kept) - {row["key"] for row in posted.rows}:
        raise InputError(f"{path}: contains a recording of {min(strange)!r}, which has no row")
    return kept
