"""Compares published numbers with the results of a run, and tests whether they are compatible.

The published numbers are in ``configs/published``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agora.benchmark.results.store import Row
from agora.config import load
from agora.errors import InputError
from agora.interfaces import Metric
from agora.ranges import Number
from agora.registry import load as load_component
from agora.reporting.statistics import RATE, Estimate, mean_difference, rate_difference, summarise
from agora.share import folder

_EXACT = 10**9


@dataclass(frozen=True)
class PublishedRow:
    """A row of a published table.

    Attributes:
        planner: name of the planner in the source.
        table: number or location of the table in the source.
        episodes: number of episodes from which the values were computed; 0 if the source does not state this number.
        values: mean and, if published, standard deviation over episodes, by metric.
        suite: name of the suite used for the comparison; empty if Agora has no such suite.
        stages: names of the stages used for the comparison; all stages if empty.
        ours: corresponding planner in Agora, in the format of ``agora bench -p``; empty if Agora has no such planner.
        why: known differences between the source and Agora, in a sentence or two.
    """

    planner: str
    table: str
    values: dict[str, tuple[float, ...]]
    episodes: Number = 0
    suite: str = ""
    stages: tuple[str, ...] = ()
    ours: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            if len(value) not in (1, 2) or len(value) == 2 and value[1] < 0.0:
                raise ValueError(f"values.{name} must be [mean] or [mean, deviation], got {list(value)}")
        if self.ours and not self.suite:
            raise ValueError("suite must be given if ours is given")


@dataclass(frozen=True)
class PublishedNumbers:
    """The numbers published in a paper or with its code.

    Attributes:
        title: title of the source, including authors and year.
        rows: rows of the source's tables.
    """

    title: str
    rows: tuple[PublishedRow, ...]


@dataclass(frozen=True)
class PublishedComparison:
    """A published number and the corresponding number from a run.

    Attributes:
        source: name of the file in ``configs/published``.
        row: row of the published table.
        metric: metric that is compared.
        published: published number.
        ours: mean over the run's episodes, with its 95 % interval.
        difference: our mean minus the published mean, with its 95 % interval.
    """

    source: str
    row: PublishedRow
    metric: Metric
    published: float
    ours: Estimate
    difference: Estimate

    @property
    def agrees(self) -> bool:
        """True if the interval of the difference contains 0, so that both numbers are compatible."""
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and low <= 0.0 <= high


def published_numbers() -> dict[str, PublishedNumbers]:
    """Return all published numbers, by name of the file.

    Raises:
        InputError: a file is invalid.
    """
    return {path.stem: load(path, PublishedNumbers) for path in sorted((folder("configs") / "published").glob("*.yaml"))}


def compare_with_published(suite: str, rows: Sequence[Row]) -> Iterator[PublishedComparison]:
    """Compare the rows of a run with the published numbers of its suite.

    Rates are compared using Newcombe's interval, and means using the normal interval. If a mean was published without a standard
    deviation, the standard deviation of the run's rows is used. A published number with an unknown number of episodes is treated as
    exact.

    Args:
        suite: name of the suite.
        rows: rows of the run, with ``planner``, ``stage`` and metrics.

    Raises:
        InputError: a file of published numbers is invalid, or names a metric that the rows do not contain.
    """
    for source, numbers in published_numbers().items():
        for line in numbers.rows:
            if line.suite != suite:
                continue
            mine = [row for row in rows if row["planner"] == line.ours and (not line.stages or row["stage"] in line.stages)]
            for name, value in line.values.items() if mine else ():
                if all(name not in row for row in mine):
                    raise InputError(f"configs/published/{source}.yaml: {line.planner}: no row of the run contains {name}")
                yield _compare(source, line, load_component("metrics", name), value, mine)


def _compare(source: str, line: PublishedRow, metric: Metric, value: tuple[float, ...], rows: Sequence[Row]) -> PublishedComparison:
    ours = summarise(rows, [metric])[0]
    estimate = Estimate(ours.n, ours.value, ours.low, ours.high)
    count = line.episodes or _EXACT
    if ours.value is None:
        return PublishedComparison(source, line, metric, value[0], estimate, Estimate(0, None, None, None))
    if metric.unit == RATE:
        difference = rate_difference((ours.value, ours.n), (value[0], count))
    else:
        deviation = float(np.std([row[metric.name] for row in rows if row[metric.name] is not None]))
        other = value[1] if len(value) == 2 else deviation
        difference = mean_difference((ours.value, deviation, ours.n), (value[0], other, count))
    return PublishedComparison(source, line, metric, value[0], estimate, difference)


def words(comparison: PublishedComparison) -> Mapping[str, str]:
    """Return the texts ``published``, ``ours``, ``difference`` and ``verdict`` for a comparison, with intervals; rates are in
    percent.
    """
    ours, difference = comparison.ours, comparison.difference
    scale = 100.0 if comparison.metric.unit == RATE else 1.0
    known = {"published": _short(scale * comparison.published), "ours": _with_interval(ours, scale)}
    verdict = "no value" if difference.value is None else "agrees" if comparison.agrees else "differs"
    return known | {"difference": _with_interval(difference, scale, "+"), "verdict": verdict}


def _with_interval(estimate: Estimate, scale: float, sign: str = "") -> str:
    if estimate.value is None:
        return "none"
    value, *ends = (_short(scale * x, sign) for x in (estimate.value, estimate.low, estimate.high) if x is not None)
    return f"{value} [{', '.join(ends)}]" if ends else value


def _short(value: float, sign: str = "") -> str:
    """Return a number with three significant digits, or rounded to an integer if the integer has more than three digits."""
    places = max(0, 2 - math.floor(math.log10(abs(value)))) if abs(value) >= 1.0 else 2
    return f"{value:{sign}.{places}f}"
