"""Exports the rows of a run as one CSV file."""

from __future__ import annotations

from pathlib import Path

from agora.benchmark.results import store
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.run_record import RunRecord
from agora.core.recording import Outcome
from agora.errors import ResultsError
from agora.files import write_whole

__all__ = ["write_csv"]

_NUMBER = "outcome_number"


def write_csv(path: Path, run: Path) -> Path:
    """Write a line for each row of a run, sorted by key, and return the file's path; undefined values are empty.

    The columns are those of the shards in ``episodes/``, plus ``outcome_number``, the outcome's code in recordings. If any planner
    of the run was changed after the suite's edition was drawn, the ``after_draw`` column marks its rows.

    Args:
        path: path of the file.
        run: folder of the run.

    Raises:
        ResultsError: the folder contains no run or no rows, or the file exists or cannot be written.
    """
    import pyarrow as pa
    from pyarrow import csv

    marks = RunRecord.read(run).after_draw or {}
    rows = [{**row, **({"after_draw": marks.get(row["planner"], "")} if marks else {})} for row in audit_run(run).rows]
    rows = sorted(rows, key=lambda row: str(row["key"]))
    if not rows:
        raise ResultsError(f"{run}: has no rows")
    if path.exists():
        raise ResultsError(f"{path}: already exists; choose another file")
    numbers = {outcome.label: int(outcome) for outcome in Outcome}
    others = sorted({column for row in rows for column in row} - {*store.IDENTITY, "outcome"})
    whole = [{**row, _NUMBER: numbers.get(row["outcome"])} for row in rows]
    columns = [*store.IDENTITY, "outcome", _NUMBER, *others]
    out = pa.BufferOutputStream()
    csv.write_csv(pa.table({column: [row.get(column) for row in whole] for column in columns}), out)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, out.getvalue().to_pybytes())
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path
