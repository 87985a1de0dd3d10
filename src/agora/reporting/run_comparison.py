"""Writes a page and a few lines of text that compare several runs (`agora.reporting.merged_runs`)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agora.benchmark.results.recordings import recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.core.recording import Recording
from agora.core.state import Array
from agora.errors import ResultsError, UnknownNameError
from agora.interfaces import Metric
from agora.metrics.registered import HEADLINE
from agora.registry import load
from agora.reporting import report, tables
from agora.reporting._facts import setting
from agora.reporting.merged_runs import Merged
from agora.reporting.statistics import RATE, over_places

__all__ = ["differences", "write_comparison"]

_SHOWN = ("clean_arrival", "time_to_goal", "closest_pedestrian_distance_min", "personal_space_compliance.robosense")
"""Metrics that the lines of text compare; the page compares all metrics."""


def write_comparison(runs: Merged, path: Path, baseline: str | None = None) -> Path:
    """Write a page that compares runs, in the format of a run's report, and return the path of the page.

    Args:
        runs: merged runs to compare.
        path: path of the page; the folder is created if necessary.
        baseline: label of the planner with which all other planners are compared; if None, the first planner.

    Raises:
        ResultsError: the page cannot be written. UnknownNameError: the baseline is unknown.
    """
    if baseline is not None and baseline not in runs.planners:
        raise UnknownNameError("planner", baseline, runs.planners)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error
    records = list(runs.records.values())
    machines = [record.made_on for record in records if record.made_on is not None]
    settings = [setting(record) for record in records]
    shown = {
        **{name: list(dict.fromkeys(one for said in settings for one in said.get(name, ()))) for name in settings[0]},
        "suite": _each(record.outline.name for record in records),
        "version": _each(record.version for record in records),
        "commit": _each(machine.commit for machine in machines),
        "hardware": _each(machine.cpu for machine in machines),
        "interrupted": [f"{key}: {reason}" for key, reason in runs.interrupted.items()],
        "problems": runs.problems,
        "incomplete": runs.incomplete,
        "planners": runs.planners,
        "names": runs.names,
        "blind": runs.blind,
        "unaware": runs.unaware,
        "controls": runs.control,
        "places": {key: (shlex.quote(str(folder)), own) for key, (folder, own) in runs.places.items()},
        "parameters": runs.parameters,
        "notes": runs.notes,
        "part": any(record.whole for record in records),
    }
    return report.write_page(path, shown, runs.rows, _calls(runs), lambda keys: _recordings(runs, keys), baseline)


def differences(runs: Merged, baseline: str | None = None) -> Iterator[str]:
    """Yield one line of text per planner that has episodes in common with the baseline, with the differences from the baseline.

    Each difference is a mean over pairs of episodes, with a 95 % interval. The lines compare success rates, fractions of clean
    arrivals, and some metrics from the top of the report; these metrics are compared over the episodes in which both planners
    reached the goal.
    """
    first = baseline or runs.planners[0]
    rows = [{**row, tables.REACHED.name: float(row["outcome"] == "reached")} for row in runs.rows]
    groups = tables.by_planner(rows, runs.planners)
    for planner in runs.planners:
        if planner == first:
            continue
        parts = []
        for metric in (tables.REACHED, *map(_metric, _SHOWN)):
            found = over_places(*tables.differences(metric, groups, planner, first))
            cell = tables.cell(found, rate=metric.unit == RATE, signed=True)
            unit = "points" if metric.unit == RATE else metric.unit
            if found.n:
                words = "reached" if metric is tables.REACHED else HEADLINE[metric.name].lower()
                parts.append(" ".join(filter(None, (words, cell.value, unit, cell.interval, f"of {found.n}"))))
        yield f"{planner} minus {first}: {'; '.join(parts) or 'the runs have no episode in common'}"


def _metric(name: str) -> Metric:
    metric: Metric = load("metrics", name)
    return metric


def _each(values: Iterable[str | None]) -> str | None:
    """Return the distinct values, separated by commas; None if there are no values."""
    return ", ".join(dict.fromkeys(value for value in values if value)) or None


def _by_folder(runs: Merged, keys: Iterable[str]) -> dict[Path, dict[str, str]]:
    """Return the keys used on the page, by folder of the run and key of the row in that run."""
    found: dict[Path, dict[str, str]] = {}
    for key in dict.fromkeys(keys):
        folder, own = runs.places[key]
        found.setdefault(folder, {})[own] = key
    return found


def _calls(runs: Merged) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for folder, names in _by_folder(runs, runs.places).items():
        timing = report.calls(RunFolder.read(folder), [{"key": own} for own in names])
        found |= {names[own]: values for own, values in timing.items()}
    return found


def _recordings(runs: Merged, keys: Sequence[str] | Iterable[str]) -> dict[str, Recording]:
    keys, found = list(keys), dict[str, Recording]()
    for folder, names in _by_folder(runs, keys).items():
        found |= {names[own]: recording for own, recording in recordings(folder, names).items()}
    return {key: found[key] for key in keys if key in found}
