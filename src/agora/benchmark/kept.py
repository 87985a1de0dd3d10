"""The recordings that a run kept, with their maps, and the report made of them."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.benchmark import store, tracks
from agora.benchmark.account import Account, account
from agora.benchmark.answers import Answer, answers
from agora.benchmark.arrivals import CLEAN
from agora.benchmark.control import CONTROL
from agora.benchmark.copies import distinct
from agora.benchmark.facts import setting
from agora.benchmark.failures import MOST_FAILURES, choose, within
from agora.benchmark.informed import INFORMED
from agora.benchmark.limit_page import beyond
from agora.benchmark.limits import Limits, limits_of
from agora.benchmark.limits_csv import limit_lines, write_limits
from agora.benchmark.pictures import pictured
from agora.benchmark.record import RunRecord
from agora.benchmark.report import render
from agora.benchmark.run_folder import RunFolder
from agora.benchmark.statistics import Row
from agora.benchmark.sweep import sweeps
from agora.benchmark.tables import shown_metrics
from agora.core.recording import Recording
from agora.core.state import Array
from agora.errors import AgoraError, InputError, ResultsError
from agora.files import write_whole
from agora.interfaces import Metric
from agora.maps.exact import read_exact
from agora.maps.grid import Map
from agora.metrics.clean import CAUSES
from agora.registry import available
from agora.registry import load as load_component
from agora.viewer.why import why

__all__ = ["completed", "recordings", "report"]

_LOG = logging.getLogger(__name__)


def recordings(folder: Path, keys: Iterable[str] | None = None) -> dict[str, Recording]:
    """Return recordings by key, as far as they were kept, with the map that the suite gives the episode.

    Without ``keys`` these are all that were kept. Where the suite's worlds are not on this machine, recordings have no map, and the
    log says so.

    Raises:
        ResultsError: the folder holds no run.
    """
    run = RunFolder.read(folder)
    if keys is None:
        keys = [row["key"] for shard in run.shards("trajectories", ["key"]) for row in shard.rows]
    wanted = list(keys)
    found: dict[str, Recording] = {}
    for read in run.shards("trajectories", ["key"]) if wanted else ():
        if read.problem:
            _LOG.warning("%s: %s; its episodes are not replayed", read.path, read.problem)
        if some := {row["key"] for row in read.rows}.intersection(wanted):
            try:
                found.update({k: r for k, r in tracks.read_recordings(read.path).items() if k in some})
            except AgoraError as error:
                _LOG.warning("%s; its episodes are not replayed", error)
    kept = {key: found[key] for key in wanted if key in found}
    try:
        if (maps := run.record.maps) is not None:
            return {key: replace(r, map=_kept_map(folder, maps, key)) for key, r in kept.items()}
        suite, places = run.suite(), {key: (key.split("/")[1], int(key.split("/")[2])) for key in kept}
        drawn = {(stage, episode): suite.start(stage, episode).map for stage, episode in dict.fromkeys(places.values())}
        return {key: replace(kept[key], map=drawn[place]) for key, place in places.items()}
    except InputError as error:
        _LOG.warning("recordings are shown without their maps: %s", error)
    return kept


def completed(folder: Path, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows of a run; if the run was made before the metrics of clean arrivals, compute them from the recordings.

    If an episode that reached its goal has no recording with a map, all rows stay as they are: clean arrivals are not measured.

    Args:
        folder: folder of the run.
        rows: rows of the run's shards.

    Raises:
        ResultsError: the folder holds no run.
    """
    whole = [dict(row) for row in rows]
    lacking = [row for row in whole if CLEAN.name not in row]
    arrived = [row["key"] for row in lacking if row["outcome"] == "reached"]
    found = recordings(folder, arrived) if arrived else {}
    if any(key not in found or found[key].map is None for key in arrived):
        return whole
    measures = [CLEAN, *(load_component("metrics", name) for name in CAUSES)]
    for row in lacking:
        recording = found.get(row["key"])
        row |= {metric.name: 0.0 if recording is None else metric(recording) for metric in measures}
    return whole


def _kept_map(folder: Path, maps: dict[str, str], key: str) -> Map | None:
    """The map of an episode that was played elsewhere, from the results themselves."""
    name = maps.get("/".join(key.split("/")[:3]))
    return None if name is None else read_exact(folder / "maps" / name)


def report(folder: Path, found: Account | None = None, measured: Sequence[Limits] | None = None) -> Path:
    """Write ``report.html`` of a run, and ``limits.csv`` if its suite has axes, and return the path of the page.

    Args:
        folder: folder of the run.
        found: account of the run; made here if None.
        measured: limits of the planners; measured here if None.

    Raises:
        ResultsError: the folder holds no run, or the page cannot be written.
    """
    run, found = RunFolder.read(folder), found or account(folder)
    record, stages = run.record, [stage.name for stage in run.record.outline.stages]
    known = shown_rows(completed(folder, found.rows), record)
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
    """Return rows with the planners' labels for tables (`agora.benchmark.record.RunRecord.shown`); keys stay."""
    return [{**row, "planner": record.shown(row["planner"])} for row in rows]


def limits(run: RunFolder, rows: Sequence[Row]) -> list[Limits]:
    """Return the limits of the planners of a run on each axis of its suite; empty if the suite cannot be built here.

    Args:
        run: folder of the run.
        rows: rows with labels for tables (`shown_rows`).
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
    """Return the wall times of the control calls of rows of a run, s, by key."""
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
    """Write the page of rows with the replays and pictures that are worth it, and return its path.

    Args:
        path: path of the page.
        shown: what was run, as `agora.benchmark.report.render` takes it.
        rows: rows in the order of the page.
        timing: wall times of control calls, s, by key.
        kept_of: returns the recordings of keys, as far as they were kept.
        baseline: planner that others are compared with; None for the first.

    Raises:
        ResultsError: the page cannot be written. UnknownNameError: no such baseline.
    """
    metrics = _metrics()
    chosen = list(dict.fromkeys([*beyond(shown.get("limits") or ()), *choose(rows, MOST_FAILURES)]))
    drawn = pictured(rows, shown["planners"])
    kept = kept_of([*chosen, *drawn])
    replayed, pictures = ({key: kept[key] for key in keys if key in kept} for keys in (chosen, drawn))
    reasons = {key: why(recording).words for key, recording in replayed.items()}
    page = render(shown, rows, metrics, within(replayed), baseline=baseline, timing=timing, pictures=pictures, reasons=reasons)
    try:
        write_whole(path, page)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error}") from error
    return path


def first_answers(rows: Sequence[Row], planners: Sequence[str], control: Sequence[str] = ()) -> list[Answer]:
    """Return the first answers on rows of a run (`agora.benchmark.answers`), by the metrics that are installed."""
    return answers(rows, planners, shown_metrics(rows, _metrics())[0], control)


def _metrics() -> list[Metric]:
    return [load_component("metrics", name) for name in available("metrics")]


def figures(folder: Path, names: Iterable[str], kind: str) -> list[Path]:
    """Write the outcomes of a run, the distributions of metrics, all of these side by side, and the curves of sweeps, as figures;
    return their paths.

    Args:
        folder: folder of the run.
        names: names of metrics.
        kind: png, pdf or svg.

    Raises:
        ResultsError: the folder holds no run. UnknownNameError: no such metric.
    """
    from agora.benchmark.comparisons import comparison_figure, outcome_figure, overview_figure, sweep_figure
    from agora.viewer.figures import save

    record = RunFolder.read(folder).record
    rows, parameters = distinct(shown_rows(account(folder).rows, record)), record.parameters
    parameters = {record.shown(label): values for label, values in parameters.items()}
    metrics = [load_component("metrics", name) for name in names]
    drawn = {"outcomes": outcome_figure(rows), "overview": overview_figure(rows, metrics)}
    drawn |= {metric.name: comparison_figure(rows, metric) for metric in metrics}
    drawn |= {f"sweep_{sweep.name}": sweep_figure(rows, sweep, metrics) for sweep in sweeps(parameters, rows)}
    place = folder / "figures"
    place.mkdir(exist_ok=True)
    return [save(figure, place / f"{name}.{kind}") for name, figure in drawn.items()]
