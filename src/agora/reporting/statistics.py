"""Intervals and comparisons for tables: Wilson's intervals for rates, bootstrap intervals for means and medians, and differences
between planners paired by episode.

Every estimate comes with the number of values that it was computed from. A metric that is undefined for some episodes (such as the
time to the goal if the goal was not reached) is always shown with the success rate (see `Summary`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from agora.benchmark.results.copies import PLACE, distinct
from agora.benchmark.results.store import Row as Row
from agora.core.state import Array, Doubles, Ints
from agora.errors import InputError, nearest
from agora.interfaces import Compared, Direction, Metric
from agora.reporting.clusters import ByPlace, by_place, deviation_of_mean, groups_of
from agora.seeds import Stream

__all__ = ["wilson"]

Statistic = Literal["mean", "median"]

RESAMPLES = 2000
RATE = "0/1"
"""Unit of metrics whose mean is a rate."""

_NORMAL = NormalDist()
_BLOCK = 2_000_000
_KEPT = 16  # blocks of 8 MB, enough for all resamples of 16,000 values
_SHORT = 500  # maximum number of values for which an estimate is cached
_EPISODE = ("suite", "stage", "episode", "seed", "robot")


@dataclass(frozen=True)
class Estimate:
    """A value with its interval.

    Attributes:
        n: number of values that the estimate was computed from.
        value: the estimate; None for n = 0.
        low: lower end of the interval; None if it is undefined (n < 2, except for rates).
        high: upper end of the interval; None if ``low`` is None.
        by_place: interval by place; None unless it was requested and all values have a place.
    """

    n: int
    value: float | None
    low: float | None
    high: float | None
    by_place: ByPlace | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Summary(Estimate):
    """The estimate of a metric for a group of rows, as shown in a row of a table.

    Attributes:
        group: values of the columns by which rows were grouped, in the order of these columns.
        metric: name of the metric.
        unit: unit of the metric.
        direction: better direction of the metric.
        episodes: number of rows in the group; ``n`` of them have a value.
        success: success rate in the group, from the ``success`` column; None if the rows do not have this column.
    """

    group: tuple[Any, ...]
    metric: str
    unit: str
    direction: Direction
    episodes: int
    success: float | None


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the confidence interval of a rate (Wilson 1927, without continuity correction).

    Raises:
        InputError: 0 <= successes <= n does not hold, n < 1, or the confidence is outside (0, 1).
    """
    if not 0 <= successes <= n or n < 1:
        raise InputError(f"{successes} successes in {n} trials; expected 0 <= successes <= trials and at least one trial")
    z = _quantile(confidence)
    rate, square = successes / n, z * z / n
    centre = rate + square / 2.0
    half = z * math.sqrt(rate * (1.0 - rate) / n + square / (4.0 * n))
    low = 0.0 if successes == 0 else (centre - half) / (1.0 + square)
    high = 1.0 if successes == n else (centre + half) / (1.0 + square)
    return low, high


def bootstrap(
    values: Sequence[float] | Array, statistic: Statistic = "mean", confidence: float = 0.95, resamples: int = RESAMPLES
) -> Estimate:
    """Return the mean or median of values with its bootstrap interval; every call gives the same result.

    The mean's interval is bias-corrected and accelerated (Efron 1987). The median's interval uses percentiles, because the
    acceleration is not useful for a median. The resamples depend only on the number of values, and the result does not depend on
    their order.

    Args:
        values: (N,) finite numbers.
        statistic: statistic to estimate, "mean" or "median".
        confidence: confidence level, i.e. the fraction of such intervals that contain the true value.
        resamples: number of resamples.

    Raises:
        InputError: the statistic is unknown, a value is non-finite, or the confidence is outside (0, 1).
    """
    data = np.sort(np.asarray(values, np.float64))
    if not np.isfinite(data).all():
        raise InputError("expected finite values; leave undefined ones out")
    if statistic not in _STATISTICS:
        raise InputError(f"no statistic called {statistic!r}; {nearest(statistic, _STATISTICS)}")
    alpha = _NORMAL.cdf(-_quantile(confidence))
    if len(data) == 0:
        return Estimate(0, None, None, None)
    if len(data) <= _SHORT:
        return _kept_estimate(data.tobytes(), statistic, alpha, resamples)
    return _estimate(data, statistic, alpha, resamples)


@functools.lru_cache(maxsize=8192)
def _kept_estimate(data: bytes, statistic: Statistic, alpha: float, resamples: int) -> Estimate:
    """Return the estimate from a few values. The estimate is cached because a report uses the same values repeatedly, for example
    for a suite and its only stage.
    """
    return _estimate(np.frombuffer(data), statistic, alpha, resamples)


def _estimate(data: Doubles, statistic: Statistic, alpha: float, resamples: int) -> Estimate:
    function = _STATISTICS[statistic]
    value = float(function(data, axis=-1))
    if len(data) == 1:
        return Estimate(1, value, None, None)
    blocks = [function(data[_indices(len(data), begin, count)], axis=-1) for begin, count in _blocks(len(data), resamples)]
    replicates = np.sort(np.concatenate(blocks))
    levels = (alpha, 1.0 - alpha) if statistic == "median" else _accelerated_levels(data, value, replicates, alpha)
    low, high = (_between(replicates, level) for level in levels)
    return Estimate(len(data), value, low, high)


def _between(ordered: Doubles, level: float) -> float:
    """Return a quantile of sorted values. The result is bit-identical to NumPy's interpolation, which takes twenty times as long
    per number.
    """
    place = level * (len(ordered) - 1)
    before = int(place)
    low, high = float(ordered[before]), float(ordered[min(before + 1, len(ordered) - 1)])
    part = place - before
    return float(high - (high - low) * (1.0 - part) if part >= 0.5 else low + (high - low) * part)


def paired_difference(
    rows: Iterable[Row], metric: str, first: str, second: str, statistic: Statistic = "mean", confidence: float = 0.95
) -> Estimate:
    """Return the difference of a metric, planner ``first`` minus planner ``second``, paired by episode (`paired_differences`).

    The interval of a mean is by place, as in `over_places`.
    """
    values, places = paired_differences(rows, metric, first, second)
    return over_places(values, places, confidence) if statistic == "mean" else bootstrap(values, statistic, confidence)


def over_places(values: Sequence[float], places: Sequence[object], confidence: float = 0.95) -> Estimate:
    """Return the mean of values with its interval by place (`agora.reporting.clusters.by_place`).

    If each place has a single value, or if there are too few places or some are unknown, the values are treated as independent
    (`bootstrap`).

    Args:
        values: (N,) finite numbers.
        places: (N,) place of each value; None if the place is unknown.
        confidence: confidence level of the interval.
    """
    single = bootstrap(values, "mean", confidence)
    wide = by_place(values, places, None, None, confidence) if len(set(places)) < len(values) else None
    return single if wide is None or wide.low is None else replace(single, low=wide.low, high=wide.high)


def paired_values(rows: Iterable[Row], metric: str, first: str, second: str, compared: Compared = "all") -> list[float]:
    """Return the differences computed by `paired_differences`, without the places."""
    return paired_differences(rows, metric, first, second, compared)[0]


def paired_differences(
    rows: Iterable[Row], metric: str, first: str, second: str, compared: Compared = "all"
) -> tuple[list[float], list[object]]:
    """Return the differences of a metric between two planners, and the places of the episodes; ``compared`` selects all episodes or
    only those in which both planners reached the goal.

    Rows are paired by suite, stage, episode, seed and robot. Pairs in which either value is undefined are left out. Copies count
    once (`agora.benchmark.results.copies`).

    Raises:
        InputError: a planner has no row, no row has the metric, or a planner has two rows for the same episode.
    """
    by_planner: dict[str, dict[tuple[Any, ...], Row]] = {}
    for row in distinct(rows):
        episodes = by_planner.setdefault(row["planner"], {})
        episode = tuple(row[column] for column in _EPISODE)
        if episode in episodes:
            raise InputError(f"two rows for {row['planner']!r} in {dict(zip(_EPISODE, episode, strict=True))}")
        episodes[episode] = row
    for planner in (first, second):
        if planner not in by_planner:
            raise InputError(f"no row for planner {planner!r}; {nearest(planner, by_planner)}")
    ours, theirs = by_planner[first], by_planner[second]
    _check_column(metric, (*ours.values(), *theirs.values()))
    pairs = [(row, theirs[episode]) for episode, row in ours.items() if episode in theirs]
    counted = [(a, b) for a, b in pairs if compared == "all" or (has_reached(a) and has_reached(b))]
    defined = [(a, b) for a, b in counted if a.get(metric) is not None and b.get(metric) is not None]
    return [float(a[metric]) - float(b[metric]) for a, b in defined], [a.get(PLACE) for a, _ in defined]


def comparable(rows: Sequence[Row], metric: Metric) -> list[Row]:
    """Return the rows on which planners are compared: for metrics that look better when a robot fails, only rows of episodes in
    which all planners reached the goal.

    If there is only one planner, all rows are returned.
    """
    planners = {row["planner"] for row in rows}
    if metric.over == "all" or len(planners) < 2:
        return list(rows)
    reached: dict[tuple[Any, ...], set[str]] = {}
    for row in rows:
        if has_reached(row):
            reached.setdefault(_episode(row), set()).add(row["planner"])
    return [row for row in rows if reached.get(_episode(row)) == planners]


def _episode(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(column) for column in _EPISODE)


def has_reached(row: Row) -> bool:
    """Return whether the robot of a row reached its goal; True if the row does not contain how the episode ended."""
    return bool(row.get("outcome", "reached") == "reached")


def rate_difference(first: tuple[float, int], second: tuple[float, int], confidence: float = 0.95) -> Estimate:
    """Return the difference between two rates over different episodes, each given as (rate, n), with Newcombe's interval.

    R. G. Newcombe 1998, "Interval estimation for the difference between independent proportions", method 10, based on Wilson's
    interval.
    """
    (a, n), (b, m) = first, second
    (low_a, high_a), (low_b, high_b) = wilson(round(a * n), n, confidence), wilson(round(b * m), m, confidence)
    below, above = math.hypot(a - low_a, high_b - b), math.hypot(high_a - a, b - low_b)
    return Estimate(n, a - b, a - b - below, a - b + above)


def mean_difference(first: tuple[float, float, int], second: tuple[float, float, int], confidence: float = 0.95) -> Estimate:
    """Return the difference between two means over different episodes, each given as (mean, standard deviation, n), with the normal
    interval.
    """
    (a, s, n), (b, t, m) = first, second
    half = _quantile(confidence) * math.sqrt(s * s / n + t * t / m)
    return Estimate(n, a - b, a - b - half, a - b + half)


def detectable(
    differences: Sequence[float], confidence: float = 0.95, power: float = 0.8, places: Sequence[object] | None = None
) -> float | None:
    """Return the true mean difference that the same number of pairs with the same spread would detect with a probability of
    ``power``.

    The result is (z_{(1 + confidence) / 2} + z_power) s / sqrt(n), where s is the standard deviation of the differences (Cohen
    1988, Statistical Power Analysis, section 2.3.5, in the normal approximation). It is None for fewer than two pairs, or if all
    differences are equal. If the ``places`` of the pairs are given, pairs in the same place are treated as correlated
    (`agora.reporting.clusters.deviation_of_mean`).

    Raises:
        InputError: the confidence or the power is outside (0, 1).
    """
    if not 0.0 < power < 1.0:
        raise InputError(f"power: expected a number between 0 and 1, such as 0.8, got {power}")
    z = _quantile(confidence) + _NORMAL.inv_cdf(power)
    groups = groups_of([None] * len(differences) if places is None else places)
    deviation = deviation_of_mean(np.asarray(differences, np.float64), groups)
    return z * deviation if deviation > 0.0 else None


def pairs_needed(
    differences: Sequence[float], confidence: float = 0.95, power: float = 0.8, places: Sequence[object] | None = None
) -> int | None:
    """Return the number of pairs with the same spread that would detect the observed mean difference with a probability of
    ``power``.

    The formula is that of `detectable`, solved for n; the result is at least 2. It is None if the mean difference is 0, or for
    fewer than two pairs.
    """
    mean = float(np.mean(differences)) if len(differences) else 0.0
    found = detectable(differences, confidence, power, places)
    if len(differences) < 2 or mean == 0.0:
        return None
    return 2 if found is None else max(2, math.ceil(len(differences) * (found / mean) ** 2))


def summarise(
    rows: Iterable[Row], metrics: Iterable[Metric], by: Sequence[str] = ("planner",), confidence: float = 0.95
) -> list[Summary]:
    """Return one table row per group and metric: rates with Wilson's interval, and other metrics with the bootstrap interval of the
    mean.

    Copies count once (`agora.benchmark.results.copies`). Rates also have an interval by place (`agora.reporting.clusters`).

    Args:
        rows: rows of results.
        metrics: metrics whose columns are summarised; a metric whose unit is `RATE` is a rate.
        by: columns to group by; groups are in the order of their first rows.
        confidence: confidence level of the intervals.

    Raises:
        InputError: no row has one of the metrics or columns.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    every = distinct(rows)
    for column in by:
        _check_column(column, every)
    for row in every:
        groups.setdefault(tuple(row[column] for column in by), []).append(row)
    wanted: list[tuple[Metric, tuple[Any, ...], list[float]]] = []
    for metric in metrics:
        _check_column(metric.name, every)
        for group, members in groups.items():
            wanted.append((metric, group, [float(row[metric.name]) for row in members if row.get(metric.name) is not None]))
    estimates: dict[int, Estimate] = {}
    # sorted by the number of values, because groups with equal numbers of values use the same cached resamples
    for k in sorted(range(len(wanted)), key=lambda k: len(wanted[k][2])):
        metric, group, values = wanted[k]
        estimate = _rate(values, confidence) if metric.unit == RATE else bootstrap(values, "mean", confidence)
        estimates[k] = with_place_interval(estimate, groups[group], metric.name, confidence) if metric.unit == RATE else estimate
    successes = {group: _success(members) for group, members in groups.items()}
    table = []
    for k, (metric, group, _) in enumerate(wanted):
        estimate = estimates[k]
        meaning = (metric.name, metric.unit, metric.direction, len(groups[group]), successes[group])
        table.append(Summary(estimate.n, estimate.value, estimate.low, estimate.high, group, *meaning, by_place=estimate.by_place))
    return table


def with_place_interval(estimate: Estimate, rows: Sequence[Row], column: str, confidence: float = 0.95) -> Estimate:
    """Return the estimate of a column's mean, with the interval by place added."""
    some = [row for row in rows if row.get(column) is not None]
    values, places = [float(row[column]) for row in some], [row.get(PLACE) for row in some]
    return replace(estimate, by_place=by_place(values, places, estimate.low, estimate.high, confidence))


_STATISTICS: dict[str, Callable[..., Any]] = {"mean": np.mean, "median": np.median}


def _quantile(confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence: expected a number between 0 and 1, such as 0.95, got {confidence}")
    return _NORMAL.inv_cdf(0.5 + confidence / 2.0)


def _blocks(n: int, resamples: int) -> list[tuple[int, int]]:
    """Return the index of the first resample and the number of resamples for each block; a block fits into memory."""
    size = max(1, _BLOCK // n)
    return [(begin, min(size, resamples - begin)) for begin in range(0, resamples, size)]


@functools.lru_cache(maxsize=_KEPT)
def _indices(n: int, begin: int, count: int) -> Ints:
    """Return the indices (count, n) of resamples of n values; they depend only on the number of values."""
    return Stream("statistics", n, "bootstrap", step=begin).uniform(0.0, n, (count, n)).astype(np.int32)


def _accelerated_levels(data: Doubles, value: float, replicates: Doubles, alpha: float) -> tuple[float, float]:
    """Return the lower and upper level of the bias-corrected and accelerated interval of a mean."""
    below = (np.count_nonzero(replicates < value) + np.count_nonzero(replicates <= value)) / (2.0 * len(replicates))
    deviation = data - data.mean()
    spread = float((deviation**2).sum())
    if spread**1.5 == 0.0 or not 0.0 < below < 1.0:
        return alpha, 1.0 - alpha
    bias = _NORMAL.inv_cdf(below)
    acceleration = float((deviation**3).sum()) / (6.0 * spread**1.5)

    def level(z: float) -> float:
        return _NORMAL.cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)))

    return level(_NORMAL.inv_cdf(alpha)), level(-_NORMAL.inv_cdf(alpha))


def _rate(values: list[float], confidence: float) -> Estimate:
    if not values:
        return Estimate(0, None, None, None)
    successes = int(sum(values))
    return Estimate(len(values), successes / len(values), *wilson(successes, len(values), confidence))


def _success(rows: list[Row]) -> float | None:
    values = [row.get("success") for row in rows]
    return None if None in values else sum(float(v) for v in values if v is not None) / len(values)


def _check_column(column: str, rows: Sequence[Row]) -> None:
    if any(column in row for row in rows):
        return
    if known := {name for row in rows for name in row}:
        raise InputError(f"no row has a column {column!r}; {nearest(column, known)}")
