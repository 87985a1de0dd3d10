"""The results of a run in the format used by the front end: pages of rows, tables, downloads, and replays."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agora.benchmark.exports.mcap import write_mcap_files
from agora.benchmark.exports.rows_csv import write_csv
from agora.benchmark.results import shard, store
from agora.benchmark.results.recordings import recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.store import Shard
from agora.errors import InputError, ResultsError, UnknownNameError
from agora.metrics.registered import FEW, metrics
from agora.reporting.merged_runs import merged
from agora.reporting.paper_tables import FORMATS, paper_table
from agora.reporting.run_comparison import write_comparison
from agora.viewer.replay import write_replay

FIRST = ("planner", "stage", "episode", "outcome")
"""Columns at the start of a row, before the metrics."""

MOST_ROWS = 1000

_SHORT = 30  # maximum length of a title after a planner's name, characters


def page(
    run: Path,
    *,
    offset: int = 0,
    limit: int = 100,
    sort: str = "",
    down: bool = False,
    find: str = "",
    columns: Sequence[str] = (),
) -> dict[str, Any]:
    """Return one page of a run's rows.

    Args:
        run: folder of the run.
        offset: index of the first row, from 0.
        limit: maximum number of rows.
        sort: column to sort by; if empty, rows are in the order of the files. Rows without a value come last.
        down: whether to sort in descending order.
        find: text that the planner, the stage or the outcome of a row must contain.
        columns: columns to return; all columns if empty.

    Raises:
        ResultsError: the folder holds no run.
        UnknownNameError: a column is unknown.
        InputError: a number is out of range.
    """
    if not (offset >= 0 and 1 <= limit <= MOST_ROWS):
        raise InputError(f"expected an offset of at least 0 and 1 to {MOST_ROWS} rows, got {offset} and {limit}")
    table = _table(run, _stamp(run))
    for name in (*columns, *filter(None, (sort,))):
        if name not in table.column_names:
            raise UnknownNameError("column", name, table.column_names)
    order = _order(table, sort, down, _hits(table, find) if find else pa.array(range(table.num_rows), pa.int64()))
    shown = table.select(list(columns) or table.column_names)
    units = {metric.name: metric.unit for metric in metrics()}
    chosen = order.slice(offset, limit)
    part = shown.take(chosen)
    return {
        "total": len(order),
        "columns": [{"name": name, "unit": units.get(name, "")} for name in shown.column_names],
        "few": [name for name in FEW if name in table.column_names],
        "recorded": _recorded(run, table["key"].take(chosen).to_pylist()),
        "rows": [list(row) for row in zip(*(map(_sendable, column.to_pylist()) for column in part.columns), strict=True)],
    }


def _hits(table: pa.Table, find: str) -> pa.Array:
    """Return the indices of the rows that contain a text."""
    hits = [pc.match_substring(table[name], find, ignore_case=True) for name in ("planner", "stage", "outcome")]
    return pc.indices_nonzero(pc.or_(pc.or_(hits[0], hits[1]), hits[2]))


def _order(table: pa.Table, sort: str, down: bool, among: pa.Array) -> pa.Array:
    """Return row indices sorted by the values of a column, rows without a value last; unchanged if no column is given."""
    if not sort:
        return among
    pairs = pa.table({"number": among, "value": table[sort].take(among)})
    known = pairs.filter(pc.is_valid(pairs["value"])).sort_by(
        [("value", "descending" if down else "ascending"), ("number", "ascending")]
    )
    unknown = pairs.filter(pc.is_null(pairs["value"]))
    return pa.concat_tables([known, unknown])["number"].combine_chunks()


def _sendable(value: Any) -> Any:
    """Return a value that JSON can represent; non-finite numbers become strings."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _stamp(run: Path, part: str = "episodes") -> tuple[tuple[str, int], ...]:
    """Return the shards of a part of a run with their modification times, which show whether a cached table is up to date."""
    return tuple((path.name, path.stat().st_mtime_ns) for path in sorted((run / part).glob("*.parquet")))


@lru_cache(maxsize=8)
def _table(run: Path, stamp: tuple[tuple[str, int], ...]) -> pa.Table:
    """Return the rows of a run, sorted by key, with the main columns first."""
    folder, parts = RunFolder.read(run), []
    for name, _ in stamp:
        path = run / "episodes" / name
        read = shard.read(path)
        if isinstance(read, str):
            continue
        few = read.select([name for name in ("key", "seed") if name in read.column_names])
        strange = {row["key"] for row in folder.strangers(Shard(path, few.to_pylist(), "", shard.run_of(read)))}
        parts.append(read.filter(pc.invert(pc.is_in(read["key"], pa.array(sorted(strange), pa.string())))) if strange else read)
    if not parts:
        return pa.table({name: pa.array([], pa.string()) for name in ("key", *FIRST)})
    whole = pa.concat_tables(parts, promote_options="permissive").sort_by("key").combine_chunks()
    measured = [metric.name for metric in metrics() if metric.name in whole.column_names]
    head = [*FIRST, *measured]
    return whole.select([*head, *sorted(set(whole.column_names) - set(head))])


def table_text(run: Path, kind: str, chosen: Sequence[str]) -> str:
    """Return a run's results as a table for papers.

    Args:
        run: folder of the run.
        kind: latex, csv or markdown.
        chosen: names of metrics; the default metrics if empty.

    Raises:
        InputError: the format is unknown.
        ResultsError: the folder holds no run.
    """
    if kind not in FORMATS:
        raise InputError(f"expected the format {', '.join(FORMATS)}, got {kind!r}")
    found = merged([run])
    return FORMATS[kind](paper_table(found.rows, list(found.planners), found.title(()), chosen, common=True))


def comparison(runs: Sequence[Path], titles: Sequence[str]) -> str:
    """Return the page that compares runs.

    Args:
        runs: folders of the runs.
        titles: titles of the runs.

    Raises:
        ResultsError: a folder holds no run.
        InputError: there are fewer than two runs, or no rows.
    """
    if len(runs) < 2:
        raise InputError(f"expected at least two runs to compare, got {len(runs)}")
    found = merged(runs, short_names(runs, titles))
    if not found.rows:
        raise InputError("the runs have no rows yet")
    with tempfile.TemporaryDirectory() as place:
        return write_comparison(found, Path(place) / "compare.html").read_text(encoding="utf-8")


def short_names(runs: Sequence[Path], titles: Sequence[str]) -> list[str]:
    """Return short, distinct names for runs, based on their seeds if these differ, or else on short titles or numbers.

    Args:
        runs: folders of the runs.
        titles: titles of the runs.
    """
    outlines = [RunFolder.read(run).record.outline for run in runs]
    seeds = [f"seed {one.seed}" for one in outlines] if len({one.name for one in outlines}) == 1 else []
    numbers = [f"run {number}" for number in range(1, len(runs) + 1)]
    short = [title for title in titles if len(title) <= _SHORT]
    return next(names for names in (seeds, short, numbers) if len(set(names)) == len(runs))


def csv_of(run: Path) -> bytes:
    """Return all rows of a run as CSV.

    Raises:
        ResultsError: the folder holds no run, or no rows.
    """
    with tempfile.TemporaryDirectory() as place:
        return write_csv(Path(place) / "rows.csv", run).read_bytes()


def parquet_of(run: Path) -> bytes:
    """Return all rows of a run as one Parquet file.

    Raises:
        ResultsError: the folder holds no run, or no rows.
    """
    table = _table(run, _stamp(run))
    if not table.num_rows:
        raise ResultsError(f"{run}: has no rows")
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def replay(run: Path, keys: Sequence[str]) -> str:
    """Return the page that replays some episodes.

    Raises:
        ResultsError: the folder holds no run, or no recording of any of the episodes.
    """
    found = recordings(run, keys)
    if not found:
        raise ResultsError(f"{', '.join(keys)}: no recording of this episode was kept")
    with tempfile.TemporaryDirectory() as place:
        title = next(iter(found)) if len(found) == 1 else "Replay"
        return write_replay(Path(place) / "replay.html", found, title=title).read_text(encoding="utf-8")


def mcap_of(run: Path, key: str) -> bytes:
    """Return the recording of an episode as an MCAP file, which Foxglove can show.

    Raises:
        ResultsError: the folder holds no run, or no recording of the episode.
        InputError: a package that writes such files is missing.
    """
    with tempfile.TemporaryDirectory() as place:
        return write_mcap_files(Path(place), [run], [key])[0].read_bytes()


def _recorded(run: Path, keys: Iterable[str]) -> list[str]:
    """Return the keys of the given episodes that can be replayed."""
    return [key for key in keys if key in _recorded_keys(run, _stamp(run, "trajectories"))]


@lru_cache(maxsize=8)
def _recorded_keys(run: Path, stamp: tuple[tuple[str, int], ...]) -> frozenset[str]:
    return frozenset(store.keys(run / "trajectories"))
