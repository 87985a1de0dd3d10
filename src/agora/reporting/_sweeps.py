"""Sweeps: planners of a run that differ only in one numeric parameter, with their results as a function of this parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agora.benchmark.results.store import Row
from agora.interfaces import Metric
from agora.metrics.registered import HEADLINE
from agora.reporting import tables
from agora.reporting.statistics import Estimate, comparable


@dataclass(frozen=True)
class Sweep:
    """Planners that differ only in one numeric parameter.

    Attributes:
        planner: name of the planner.
        parameter: path of the parameter, such as ``sim_time`` or ``window.size``.
        labels: labels of the planners, by value of the parameter, in increasing order of the value.
    """

    planner: str
    parameter: str
    labels: Mapping[float, str]

    @property
    def name(self) -> str:
        """The name of the sweep for use in file names."""
        return f"{self.planner}_{self.parameter}".replace(".", "_")

    def points(self, rows: Sequence[Row], metric: Metric) -> dict[float, Estimate]:
        """Return the mean of a metric at each value of the parameter, with its interval.

        If the metric looks better when a robot fails, only episodes in which the planner reached the goal at every value of the
        parameter count.

        Args:
            rows: rows of the run.
            metric: metric to average; may be `agora.reporting.tables.REACHED`.
        """
        own = [row for row in rows if row["planner"] in self.labels.values()]
        if metric is tables.REACHED:
            groups = tables.by_planner(own, list(self.labels.values()))
            return {value: tables.share(groups[label]) for value, label in self.labels.items()}
        found = tables.summaries(comparable(own, metric), [metric])
        nothing = Estimate(0, None, None, None)
        return {value: found.get((metric.name, label), nothing) for value, label in self.labels.items()}


def sweeps(planners: Mapping[str, Any], rows: Sequence[Row]) -> list[Sweep]:
    """Return the sweeps among the planners of a run that have rows.

    Args:
        planners: names and parameters of planners as plain data, by label.
        rows: rows of the run.
    """
    present = {row["planner"] for row in rows}
    known = {label: dict(_leaves(values)) for label, values in planners.items() if label in present and isinstance(values, Mapping)}
    groups: dict[tuple[str, tuple[tuple[str, Any], ...]], dict[float, str]] = {}
    for label, leaves in known.items():
        for path, value in leaves.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                others = tuple((other, repr(one)) for other, one in leaves.items() if other != path)
                groups.setdefault((path, others), {}).setdefault(float(value), label)
    found = []
    for (path, _), labels in groups.items():
        if len(labels) > 1:
            name = str(known[next(iter(labels.values()))]["name"])
            found.append(Sweep(name, path, dict(sorted(labels.items()))))
    return found


def curve_metrics(metrics: Sequence[Metric]) -> list[Metric]:
    """Return the metrics for which a sweep has a curve: the success rate, and the metrics at the top of the report."""
    return [tables.REACHED, *(metric for name in HEADLINE for metric in metrics if metric.name == name)]


def _leaves(values: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the scalars in plain data, with their paths."""
    if isinstance(values, Mapping):
        for key, value in values.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(values, list | tuple):
        for number, value in enumerate(values):
            yield from _leaves(value, f"{path}[{number}]")
    else:
        yield path, values
