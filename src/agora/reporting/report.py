"""Writes the report of a run into its folder: ``report.html``, the limits as a table, and figures."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agora.benchmark.control import CONTROL
from agora.benchmark.informed import INFORMED
from agora.benchmark.results import store
from agora.benchmark.results.audit import RunAudit, audit_run
from agora.benchmark.results.copies import distinct
from agora.benchmark.results.recordings import complete_rows, recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.run_record import RunRecord
from agora.benchmark.results.store import Row
from agora.core.recording import Recording
from agora.core.state import Array
from agora.errors import InputError, ResultsError
from agora.files import write_whole
from agora.interfaces import Metric
from agora.registry import available
from agora.registry import load as load_component
from agora.reporting._answers import Answer, answers
from agora.reporting._facts import setting
from agora.reporting._figures import comparison_figure, outcome_figure, overview_figure, sweep_figure
from agora.reporting._pictures import pictured_keys
from agora.reporting._sweeps import sweeps
from agora.reporting.failures import MOST_FAILURES, choose, recordings_that_fit
from agora.reporting.limits.measurement import Limits, limits_of
from agora.reporting.limits.section import beyond
from agora.reporting.limits.table import limit_lines, write_limits
from agora.reporting.page import render
from agora.reporting.tables import shown_metrics
from agora.viewer.figures import save
from agora.viewer.why import why

__all__ = ["report"]

_LOG = logging.getLogger(__name__)


def report(folder: Path, found: RunAudit | None = None, measured: Sequence[Limits] | None = None) -> Path:
    """Write ``report.html`` for a run and, if its suite has axes, ``limits.csv``; return the path of the page.

    Args:
        folder: folder of the run.
        found: audit of the run; if None, this function performs the audit.
        measured: limits of the planners; if None, this function measures them.

    Raises:
        ResultsError: the folder contains no run, or the page cannot be written.
    """
    run, found = RunFolder.read(folder), found or audit_run(folder)
    record, stages = run.record, [stage.name for stage in run.record.outline.stages]
    known = shown_rows(complete_rows(folder, found.rows), record)
    rows = sorted(known, key=lambda row: stages.index(row["stage"]) if row["stage"] in stages else 0)
    if axes := limits(run, rows) if measured is None else measured:
        write_limits(folder / "limits.csv", limit_lines(axes))
    shown = {
        "suite": record.outline.name,
        "version": record.version,
        "commit": record.made_on and record.made_on.commit,
        "hardware": record.made_on and record.made_on.cpu,
        "trajectories": record.trajectories,
        "interrupted": [f"{key}: {reason}" for key, reason in found.interrupted.items()],
        "problems": found.problems() + found.failed_metrics(),
        "notes": [record.part] if record.part else [],
        "part": bool(record.whole),
        "incomplete": bool(found.missing),
        "planners": [*map(record.shown, record.labels)],
        "names": {record.shown(label): name for label, name in record.names.items()},
        "parameters": {record.shown(label): values for label, values in record.parameters.items()},
        "blind": [*map(record.shown, record.blind or ())],
        "unaware": [*map(record.shown, record.unaware or ())],
        "controls": [*map(record.shown, record.control or ())],
        "folder": shlex.quote(str(folder)),
        "limits": axes,
        **setting(record),
    }
    return write_page(folder / "report.html", shown, rows, calls(run, rows), lambda keys: recordings(folder, keys))


def shown_rows(rows: Iterable[Row], record: RunRecord) -> list[Row]:
    """Return rows in which the planners' labels are replaced by the labels shown in tables
    (`agora.benchmark.results.run_record.RunRecord.shown`); keys are unchanged.
    """
    return [{**row, "planner": record.shown(row["planner"])} for row in rows]


def limits(run: RunFolder, rows: Sequence[Row]) -> list[Limits]:
    """Return the limits of a run's planners on each axis of its suite; empty if the suite cannot be built on this machine.

    Args:
        run: folder of the run.
        rows: rows with the labels shown in tables (`shown_rows`).
    """
    record = run.record
    named = {record.shown(label): str(values.get("name")) for label, values in record.parameters.items()}
    ends = (next((label for label, name in named.items() if name == end), None) for end in (INFORMED, CONTROL))
    try:
        return limits_of(run.suite(), rows, [*map(record.shown, record.labels)], *ends)
    except InputError as error:
        _LOG.warning("%s: limits are not shown: %s", run.path, error)
        return []


def calls(run: RunFolder, rows: Iterable[Row]) -> dict[str, Array]:
    """Return the wall time of each control call for rows of a run, s, by key of the row."""
    own, timing = {row["key"] for row in rows}, dict[str, Array]()
    for read in run.shards("timing"):
        timing |= {row["key"]: np.array(row.get(store.CALLS) or (), float) for row in read.rows if row["key"] in own}
    return timing


def write_page(
    path: Path,
    shown: Mapping[str, Any],
    rows: Sequence[Row],
    timing: Mapping[str, Array],
    kept_of: Callable[[Iterable[str]], dict[str, Recording]],
    baseline: str | None = None,
) -> Path:
    """Write the page for the given rows, with a selection of replays and pictures, and return the path of the page.

    Args:
        path: path of the page.
        shown: description of the run, as in `agora.reporting.page.render`.
        rows: rows in the order in which the page shows them.
        timing: wall time of each control call, s, by key of the row.
        kept_of: function that returns the recordings kept for given keys.
        baseline: label of the planner with which all other planners are compared; if None, the first planner.

    Raises:
        ResultsError: the page cannot be written. UnknownNameError: the baseline is unknown.
    """
    metrics = _metrics()
    chosen = list(dict.fromkeys([*beyond(shown.get("limits") or ()), *choose(rows, MOST_FAILURES)]))
    drawn = pictured_keys(rows, shown["planners"])
    kept = kept_of([*chosen, *drawn])
    replayed, pictures = ({key: kept[key] for key in keys if key in kept} for keys in (chosen, drawn))
    reasons = {key: why(recording).words for key, recording in replayed.items()}
    page = render(
        shown, rows, metrics, recordings_that_fit(replayed), baseline=baseline, timing=timing, pictures=pictures, reasons=reasons
    )
    try:
        write_whole(path, page)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error}") from error
    return path


def first_answers(rows: Sequence[Row], planners: Sequence[str], control: Sequence[str] = ()) -> list[Answer]:
    """Return the answers for the beginning of a run's report (`agora.reporting._answers`), based on the installed metrics."""
    return answers(rows, planners, shown_metrics(rows, _metrics())[0], control)


def _metrics() -> list[Metric]:
    return [load_component("metrics", name) for name in available("metrics")]


def figures(folder: Path, names: Iterable[str], kind: str) -> list[Path]:
    """Write the figures of a run: its outcomes, the distributions of metrics, the same distributions side by side, and the curves
    of sweeps.

    Return the paths of the figures.

    Args:
        folder: folder of the run.
        names: names of metrics.
        kind: png, pdf or svg.

    Raises:
        ResultsError: the folder contains no run. UnknownNameError: a metric is unknown.
    """
    record = RunFolder.read(folder).record
    rows, parameters = distinct(shown_rows(audit_run(folder).rows, record)), record.parameters
    parameters = {record.shown(label): values for label, values in parameters.items()}
    metrics = [load_component("metrics", name) for name in names]
    drawn = {"outcomes": outcome_figure(rows), "overview": overview_figure(rows, metrics)}
    drawn |= {metric.name: comparison_figure(rows, metric) for metric in metrics}
    drawn |= {f"sweep_{sweep.name}": sweep_figure(rows, sweep, metrics) for sweep in sweeps(parameters, rows)}
    place = folder / "figures"
    place.mkdir(exist_ok=True)
    return [save(figure, place / f"{name}.{kind}") for name, figure in drawn.items()]
