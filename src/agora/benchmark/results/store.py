"""Results on disk: rows in Parquet shards (for recordings, see `agora.benchmark.results.recording_shards`).

A run that is killed leaves only complete shards (`agora.benchmark.results.shard`). Truncated or corrupted shards are logged, and
their episodes count as not done. With the same version of pyarrow, equal contents give equal bytes, because columns, types, order
and compression are fixed.

There is one row per episode and robot. The columns `IDENTITY` come first and are never empty. The other columns follow in
alphabetical order; their values are strings, booleans, float64 numbers, or None if undefined. The timing part also has the column
`CALLS`, whose values are lists of numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from agora.benchmark.results import shard
from agora.core.recording import Outcome
from agora.errors import InputError, ResultsError

if TYPE_CHECKING:
    import pyarrow

__all__ = ["read_rows"]

Row = Mapping[str, Any]
"""A row of results, by column."""

IDENTITY = ("key", "suite", "stage", "episode", "seed", "planner", "robot")
"""Columns that identify the episode and the robot of a row."""

PARTS = ("episodes", "timing", "trajectories")
"""Parts of a run, each in its own folder; a shard's file in the first folder is written last."""

OUTCOME = "outcome"
"""Column with the name of the outcome; the metadata map the names to the outcome codes used in recordings."""

CALLS = "calls"
"""Column of the timing table: wall time of each control call, s, single precision."""

_NOTHING: Mapping[str, str] = {}

Keep = Literal["all", "failed", "none"]
"""Which recordings a run keeps."""

_KEY = ("suite", "stage", "episode", "planner", "robot")
_LOG = logging.getLogger(__name__)


def episode_key(row: Mapping[str, Any]) -> str:
    """Return the key of a row, which identifies an episode and a robot: ``suite/stage/episode/planner/robot``.

    Raises:
        InputError: a part of the key is missing or empty, or contains a slash.
    """
    parts = []
    for column in _KEY:
        part = str(row.get(column, ""))
        if not part or "/" in part:
            raise InputError(f"{column} of a row: expected a name or number without '/', got {part!r}")
        parts.append(part)
    return "/".join(parts)


class Shard(NamedTuple):
    """The contents of a shard file.

    Attributes:
        path: path of the shard.
        rows: all rows, with all or only the requested columns; empty if the shard has a problem.
        problem: description of the problem with the shard, or "".
        run: mark of the shard's run; empty if the shard contains no mark.
    """

    path: Path
    rows: list[dict[str, Any]]
    problem: str = ""
    run: str = ""


def encode_rows(
    rows: Sequence[Mapping[str, Any]], run: str = "", where: str = "a shard", units: Mapping[str, str] = _NOTHING
) -> bytes:
    """Return the bytes of a shard of rows; the column ``key`` contains the `episode_key` of each row.

    Args:
        rows: at least one row, each with the columns of `IDENTITY` except the key; values are strings, booleans, numbers, arrays
            (K,) of numbers, or None.
        run: mark of the run; empty if none.
        where: name of the shard in messages.
        units: units by column, for the metadata; columns without a unit are left out.

    Raises:
        InputError: an identity is missing, a key occurs twice, or a column contains values of different types.
    """
    import pyarrow as pa

    if not rows:
        raise InputError(f"{where}: no rows to write")
    keyed = [{**row, "key": episode_key(row)} for row in rows]
    _unique([row["key"] for row in keyed], where)
    others = sorted({column for row in keyed for column in row} - set(IDENTITY))
    arrays = [_identity(where, column, [row.get(column) for row in keyed]) for column in IDENTITY]
    arrays += [_values(where, column, [row.get(column) for row in keyed]) for column in others]
    said: dict[str, Mapping[str, Any]] = {"units": {column: units[column] for column in others if units.get(column)}}
    said |= {"outcomes": {outcome.label: int(outcome) for outcome in Outcome}} if OUTCOME in others else {}
    return shard.encode(pa.table(arrays, names=[*IDENTITY, *others]), run=run, about=said)


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]], run: str = "") -> None:
    """Write rows to one shard, ``<something>.parquet``, encoded by `encode_rows`; the folder is created if necessary.

    Raises:
        InputError: as in `encode_rows`. ResultsError: the shard cannot be written.
    """
    shard.write(path, encode_rows(rows, run, str(path)))


def keep(folder: Path, name: str, files: Mapping[str, bytes]) -> None:
    """Write a shard of a run. The rows are written last, so a shard either is complete or does not exist.

    Args:
        folder: folder of the run.
        name: name of the shard.
        files: bytes of its files, by part (`PARTS`).

    Raises:
        ResultsError: the shard cannot be written.
    """
    for part in reversed(PARTS):
        if part in files:
            shard.write(folder / part / f"{name}.parquet", files[part])


def read_rows(folder: Path, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return the rows of all intact shards in a folder, in the order of the shards' names, or of one shard; [] if no shard exists.

    Damaged shards are logged and left out (`damaged_shards`).

    Args:
        folder: folder of one part of a run, or the path of one shard.
        columns: columns to read, including ``key``; all if None.

    Raises:
        ResultsError: two shards contain the same key.
    """
    rows: list[dict[str, Any]] = []
    for read in shards(folder, columns):
        if read.problem:
            _LOG.warning("%s: %s; its episodes are treated as not done", read.path, read.problem)
        rows.extend(read.rows)
    check_unique(rows, folder)
    return rows


def check_unique(rows: Iterable[Mapping[str, Any]], folder: Path) -> None:
    """Make sure that no key occurs twice in the rows of a folder.

    Raises:
        ResultsError: a key occurs twice.
    """
    _unique([row["key"] for row in rows], folder, ResultsError)


def shards(folder: Path, columns: Sequence[str] | None = None) -> Iterator[Shard]:
    """Yield the shards in a folder in the order of their names.

    Args:
        folder: folder of one part of a run, or the path of one shard.
        columns: columns to read, including ``key``; all if None.
    """
    for path in _paths(folder):
        read = shard.read(path, columns)
        if not isinstance(read, str) and "key" not in read.column_names:
            read = "contains no rows: the column 'key' is missing"
        yield Shard(path, [], read) if isinstance(read, str) else Shard(path, read.to_pylist(), "", shard.run_of(read))


def keys(folder: Path) -> set[str]:
    """Return the keys of all rows or recordings in the intact shards of a folder."""
    return {row["key"] for read in shards(folder, ["key"]) for row in read.rows}


def finished_keys(folder: Path) -> set[str]:
    """Return the keys of all complete rows, whose episodes do not need to be run again."""
    return {row["key"] for row in read_rows(folder, ["key"])}


def is_kept(row: Mapping[str, Any], keep: Keep) -> bool:
    """Return whether a run keeps the recording that belongs to a row."""
    return keep == "all" or (keep == "failed" and row["outcome"] != "reached")


def remove(folder: Path, name: str) -> None:
    """Delete all files of a shard; the rows are deleted last."""
    for part in reversed(PARTS):
        (folder / part / f"{name}.parquet").unlink(missing_ok=True)


def damaged_shards(folder: Path) -> dict[Path, str]:
    """Return a description of the problem with each shard in a folder that cannot be read completely, by path."""
    return {read.path: read.problem for read in shards(folder, ["key"]) if read.problem}


def _unique(keys: Iterable[str], where: Path | str, error: type[Exception] = InputError) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise error(f"{where}: two rows for {key!r}")
        seen.add(key)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _identity(where: str, column: str, values: list[Any]) -> pyarrow.Array:
    """Return a column of integers or strings, without missing values."""
    import pyarrow as pa

    plain = [_plain(value) for value in values]
    whole = all(type(value) is int for value in plain)
    if not whole and not all(isinstance(value, str) for value in plain):
        raise InputError(f"{where}: column {column!r}: expected a string or an integer in every row, got {_strange(plain)}")
    try:
        return pa.array(plain, pa.int64() if whole else pa.string())
    except OverflowError as error:
        raise InputError(f"{where}: column {column!r}: {error}") from error


def _values(where: str, column: str, values: list[Any]) -> pyarrow.Array:
    """Return a column of strings, booleans, float64 numbers or float32 lists. Undefined values are None; a column without values is
    numeric.
    """
    import pyarrow as pa

    if values and all(isinstance(value, np.ndarray) for value in values):
        return pa.array(values, pa.list_(pa.float32()))
    plain = [_plain(value) for value in values]
    given = [value for value in plain if value is not None]
    if given and all(isinstance(value, str) for value in given):
        return pa.array(plain, pa.string())
    if given and all(isinstance(value, bool) for value in given):
        return pa.array(plain, pa.bool_())
    if all(isinstance(value, int | float) and not isinstance(value, bool) and value == value for value in given):
        return pa.array([None if value is None else float(value) for value in plain], pa.float64())
    raise InputError(f"{where}: column {column!r}: expected strings, booleans, numbers or None, got {_strange(given)}")


def _strange(values: list[Any]) -> str:
    """Return the types of values in a column, for an error message."""
    return " and ".join(sorted({"NaN" if value != value else type(value).__name__ for value in values}))


def _paths(folder: Path) -> list[Path]:
    return [folder] if folder.is_file() else sorted(folder.glob("*.parquet"))
