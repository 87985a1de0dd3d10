"""The tables in the report, which contain numbers with their intervals, formatted for the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.benchmark.results.copies import PLACE
from agora.benchmark.results.store import Row
from agora.core.recording import FAILURES
from agora.core.state import Array
from agora.interfaces import Metric
from agora.perception.perception import LEVELS
from agora.reporting.clusters import by_place, in_words
from agora.reporting.ranking import LEVEL, benjamini_hochberg, paired_p
from agora.reporting.statistics import RATE, Estimate, Summary, has_reached, over_places, paired_differences, summarise, wilson
from agora.viewer.scene import OUTCOME_COLOURS

OUTCOMES = ("reached", "pedestrian_collision", "wall_collision", "robot_collision", "timeout", "planner_failed")
"""Outcomes that always have a column."""

REACHED = Metric("reached", RATE, "higher", "goal reached in time, with or without contacts", "Agora", 1, lambda _: None)
"""The metric by which planners are ranked; it is derived from the column ``outcome`` of the rows."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        value: number as text; None if there is no number.
        sort: number itself, for sorting.
        interval: interval as text.
        note: note next to the number.
        best: whether the number is the best in its table row.
        by_place: interval by place as text, with the factor by which it is wider than the other interval.
    """

    value: str | None = None
    sort: float = 0.0
    interval: str = ""
    note: str = ""
    best: bool = False
    by_place: str = ""


@dataclass(frozen=True)
class TableRow:
    """A row in a table of metrics: the metric, and one cell per planner."""

    metric: Mapping[str, Any]
    cells: Sequence[Cell]


def by_planner(rows: Sequence[Row], planners: Sequence[str]) -> dict[str, list[Row]]:
    """Return the rows of each planner; a planner may have no rows."""
    groups: dict[str, list[Row]] = {planner: [] for planner in planners}
    for row in rows:
        groups[row["planner"]].append(row)
    return groups


def same_episodes(groups: Mapping[str, Sequence[Row]]) -> bool:
    """Return whether all planners have rows for the same episodes, so that their means can be ranked."""
    return len({frozenset((row["stage"], row["episode"]) for row in members) for members in groups.values()}) < 2


def values(rows: Sequence[Row], metric: Metric) -> list[float]:
    """Return the defined values of a metric."""
    return [float(row[metric.name]) for row in rows if row.get(metric.name) is not None]


def share(rows: Sequence[Row], outcome: str = "reached") -> Estimate:
    """Return the fraction of rows with an outcome, with Wilson's interval and the interval by place."""
    ended = [float(row["outcome"] == outcome) for row in rows]
    if not ended:
        return Estimate(0, None, None, None)
    low, high = wilson(round(sum(ended)), len(ended))
    places = by_place(ended, [row.get(PLACE) for row in rows], low, high)
    return Estimate(len(ended), sum(ended) / len(ended), low, high, by_place=places)


def outcome_names(rows: Sequence[Row]) -> list[str]:
    """Return the outcomes that need a column: the usual outcomes, and all other outcomes that occur."""
    found = sorted({row["outcome"] for row in rows} - set(OUTCOMES))
    return [*OUTCOMES, *found]


def outcome_colours(names: Sequence[str]) -> dict[str, str]:
    """Return the colours of outcomes, by name."""
    return {name: OUTCOME_COLOURS.get(name, OUTCOME_COLOURS["planner_failed"]) for name in names}


def shown_metrics(rows: Sequence[Row], metrics: Sequence[Metric]) -> tuple[list[Metric], list[str]]:
    """Return the metrics that have a value in at least one row, and the names of the metrics whose columns contain no values."""
    columns = {column for row in rows for column in row}
    known = [metric for metric in metrics if metric.name in columns]
    defined = [metric for metric in known if any(row.get(metric.name) is not None for row in rows)]
    names = {metric.name for metric in defined}
    return defined, [metric.name for metric in known if metric.name not in names]


def summaries(rows: Sequence[Row], metrics: Sequence[Metric]) -> dict[tuple[str, str], Summary]:
    """Return the estimates by metric and planner."""
    present, _ = shown_metrics(rows, metrics)
    return {(summary.metric, summary.group[0]): summary for summary in summarise(rows, present)}


def metric_lines(rows: Sequence[Row], metrics: Sequence[Metric], planners: Sequence[str]) -> list[TableRow]:
    """Return one table row per metric, with means, intervals and notes."""
    groups, found = by_planner(rows, planners), summaries(rows, metrics)
    arrived = {planner: [has_reached(row) for row in members] for planner, members in groups.items()}
    reached = {planner: percent(sum(ends) / len(ends)) for planner, ends in arrived.items() if ends}
    lines = []
    for metric in metrics:
        estimates = {planner: found.get((metric.name, planner), Estimate(0, None, None, None)) for planner in planners}
        best, places = _best(metric, estimates, groups), decimals(list(estimates.values()))
        cells = []
        for planner, estimate in estimates.items():
            members = groups[planner]
            flattered = metric.over == "reached" and not all(arrived[planner])
            some = "" if estimate.n == len(members) else f"{estimate.n} of {len(members)}, "
            note = f"{some}{reached[planner]} reached" if some or flattered else ""
            cells.append(cell(estimate, rate=metric.unit == RATE, note=note, best=planner in best, places=places))
        lines.append(TableRow(metric_description(metric), cells))
    return lines


_CLEAN = ("success.socnavbench", "reached", "timeout", "failure_pedestrian_collision", "failure_wall_collision")
"""The counts shown in table 2 of SocNavBench (Biswas et al. 2022), for runs in which contact with pedestrians does not end an
episode.
"""


def clean_lines(rows: Sequence[Row], planners: Sequence[str]) -> list[dict[str, Any]]:
    """Return one line per planner with the number of episodes in each category of `_CLEAN`; empty if no episode continued after a
    contact.
    """
    known = bool(rows) and all(row.get(name) is not None for row in rows for name in _CLEAN)
    if not known or not any(row["reached"] and row["failure_pedestrian_collision"] for row in rows):
        return []
    lines = []
    for planner, members in by_planner(rows, planners).items():
        clean, reached, *failed = (int(sum(row[name] for row in members)) for name in _CLEAN)
        estimate = Estimate(len(members), clean / len(members), *wilson(clean, len(members))) if members else share(members)
        lines.append({"planner": planner, "clean": clean, "cell": cell(estimate, rate=True), "reached": reached, "failed": failed})
    return lines


def difference_lines(rows: Sequence[Row], metrics: Sequence[Metric], others: Sequence[str], baseline: str) -> list[TableRow]:
    """Return one table row per metric, with each planner's paired difference from the baseline.

    For metrics that look better when a robot fails (`Metric.over`), only episodes in which both planners reached the goal are
    paired. The threshold for calling a difference better or worse is chosen so that, in the whole table, at most one in twenty such
    verdicts is expected to be wrong.
    """
    groups = by_planner(rows, [*others, baseline])
    values = {(metric.name, planner): differences(metric, groups, planner, baseline) for metric in metrics for planner in others}
    adjusted = benjamini_hochberg(np.array([paired_p(*some) for some in values.values()]))
    sure = {pair for pair, p in zip(values, adjusted, strict=True) if p < LEVEL}
    lines = []
    for metric in metrics:
        estimates = {planner: over_places(*values[metric.name, planner]) for planner in others}
        places, cells = decimals(list(estimates.values())), []
        for planner, estimate in estimates.items():
            pairs = f"{estimate.n} pairs" if 0 < estimate.n < len(groups[planner]) else ""
            verdict = _verdict(metric, estimate) if (metric.name, planner) in sure else ""
            note = ", ".join(words for words in (verdict, pairs) if words)
            cells.append(cell(estimate, rate=metric.unit == RATE, note=note, signed=True, places=places))
        lines.append(TableRow({**metric_description(metric), "unit": "points" if metric.unit == RATE else metric.unit}, cells))
    return lines


def levels_of(rows: Sequence[Row]) -> list[str]:
    """Return the levels of perception in the rows, from the most to the least informative."""
    told = {row.get("pedestrians") for row in rows}
    return [level for level in LEVELS if level in told]


def price_lines(rows: Sequence[Row], levels: Sequence[str], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return one line per planner, with the success rate at each level of perception and the paired differences from the first
    level.

    Args:
        rows: rows of planners at any level of perception.
        levels: levels of perception, one per column.
        names: names of planners, by label, if rows have a separate label for each level.
    """
    groups: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        if row.get("pedestrians") in levels:
            level = str(row["pedestrians"])
            planner = names.get(str(row["planner"]), str(row["planner"]))
            groups.setdefault(planner, {one: [] for one in levels})[level].append({**row, "planner": level})
    lines = []
    for planner, members in groups.items():
        cells = [cell(share(members[level]), rate=True, note=f"n = {len(members[level])}") for level in levels]
        prices = [over_places(*differences(REACHED, members, level, levels[0])) for level in levels[1:]]
        cells += [cell(price, rate=True, signed=True, note=f"{price.n} pairs" if price.n else "") for price in prices]
        lines.append({"planner": planner, "cells": cells})
    return lines


def planning_lines(seconds: Mapping[str, Array]) -> list[dict[str, Any]]:
    """Return one line per planner, with the number of calls, and the mean, percentiles and maximum of the call times, ms."""
    lines = []
    for planner, times in seconds.items():
        if not len(times):
            continue
        ms = 1000.0 * np.asarray(times, float)
        numbers = [float(ms.mean()), *(float(v) for v in np.percentile(ms, (50, 95, 99))), float(ms.max())]
        lines.append({"planner": planner, "cells": [(len(ms), f"{len(ms):,}"), *((v, f"{v:.3g}") for v in numbers)]})
    return lines


_WALLS = {"": "", "ignored": "; through walls", "respected": "; people behind walls do not count"}


def metric_description(metric: Metric) -> dict[str, Any]:
    """Return the description of a metric; the unit of rates is percent."""
    fields = ("name", "unit", "direction", "source", "version", "group")
    told = {name: getattr(metric, name) for name in fields} | {"formula": metric.formula + _WALLS[metric.walls]}
    return told | ({"unit": "%"} if metric.unit == RATE else {})


def cell(
    estimate: Estimate, *, rate: bool = False, note: str = "", best: bool = False, signed: bool = False, places: int | None = None
) -> Cell:
    """Return a cell with an estimate as text, with ``places`` decimal places; rates are in percent, with one decimal place."""
    if estimate.value is None:
        return Cell(note=note)
    factor, plus, places = (100.0, "+" if signed else "", 1) if rate else (1.0, "+" if signed else "", places)

    def words(number: float) -> str:
        return f"{factor * number:{plus}.3g}" if places is None else f"{factor * number:{plus}.{places}f}"

    interval = "" if estimate.low is None or estimate.high is None else f"[{words(estimate.low)}, {words(estimate.high)}]"
    return Cell(words(estimate.value), estimate.value, interval, note, best, in_words(estimate.by_place, factor, places))


def decimals(estimates: Sequence[Estimate]) -> int | None:
    """Return the number of decimal places at which the narrowest interval's half-width has two digits; None without intervals.

    The result is at most 6, and small enough that the largest number has at most four digits.
    """
    widths = [e.high - e.low for e in estimates if e.low is not None and e.high is not None and e.high > e.low]
    if not widths:
        return None
    largest = max(abs(number) for e in estimates for number in (e.value, e.low, e.high) if number is not None)
    return max(0, min(6, 1 - math.floor(math.log10(min(widths) / 2)), 3 - math.floor(math.log10(largest))))


def percent(value: float | None) -> str:
    """Return a fraction as a percentage, as text."""
    return "none" if value is None else f"{100 * value:.0f} %"


def differences(
    metric: Metric, groups: Mapping[str, Sequence[Row]], planner: str, baseline: str
) -> tuple[list[float], list[object]]:
    """Return the paired differences between two planners and the places of the episodes. For metrics that look better when a robot
    fails, only episodes in which both planners reached the goal are paired.

    The result is empty if either planner has no row, or if no row has the metric.
    """
    both = [*groups[planner], *groups[baseline]]
    if not groups[planner] or not groups[baseline] or not any(metric.name in row for row in both):
        return [], []
    return paired_differences(both, metric.name, planner, baseline, metric.over)


def _best(metric: Metric, estimates: Mapping[str, Estimate], groups: Mapping[str, Sequence[Row]]) -> set[str]:
    """Return the planners with the best mean. The result is empty if any planner lacks a value for one of the same episodes, or if
    all means are equal.

    For metrics that look better when a robot fails, every planner must have reached the goal in all of these episodes. A planner
    that failed in any episode, and therefore stopped controlling its robot, is never the best; nor is a planner with an episode in
    which the simulator failed.
    """
    drove = {name for name, members in groups.items() if FAILURES.isdisjoint(row["outcome"] for row in members)}
    means = {planner: estimate.value for planner, estimate in estimates.items() if estimate.value is not None and planner in drove}
    whole = all(estimate.n == len(groups[planner]) > 0 for planner, estimate in estimates.items())
    flattered = metric.over == "reached" and not all(has_reached(row) for members in groups.values() for row in members)
    if metric.direction == "neutral" or flattered or not whole or len(set(means.values())) < 2 or not same_episodes(groups):
        return set()
    best = max(means.values()) if metric.direction == "higher" else min(means.values())
    return {planner for planner, value in means.items() if value == best}


def _verdict(metric: Metric, difference: Estimate) -> str:
    """Return "better" or "worse", depending on the sign of a difference, or "not sure" if the interval contains 0; empty if the
    metric has no better direction or the difference is 0 or undefined.
    """
    if metric.direction == "neutral" or not difference.value:
        return ""
    if difference.low is not None and difference.high is not None and difference.low <= 0.0 <= difference.high:
        return "not sure"
    return "better" if (difference.value > 0.0) == (metric.direction == "higher") else "worse"
