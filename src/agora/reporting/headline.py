"""The top of the report: the most important metrics of each planner with intervals and small charts, and the power of
comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agora.benchmark.results.store import Row
from agora.core.recording import Closer
from agora.core.state import Array
from agora.interfaces import Metric
from agora.metrics.registered import HEADLINE
from agora.reporting import _charts, tables
from agora.reporting.clean_arrivals import CLEAN, clean_line
from agora.reporting.statistics import RATE, Estimate, detectable

ARENA = (
    "path_length",
    "time_to_goal",
    "collisions",
    "time_in_private_zone",
    "time_seen_by_pedestrians",
    "time_facing_pedestrians",
)
"""The metrics by which Arena 3.0's benchmark compares planners (Kästner et al. 2024, section VII-B and Figure 6)."""

PLANNING = Metric("planning_time", "ms", "lower", "mean wall time of a planner call, per episode", "Agora", 1, lambda _: None)
"""The ``planning_time`` metric in ms; its values come from the timing, not from the rows."""


def headline(
    part: Sequence[Row], metrics: Sequence[Metric], planners: Sequence[str], colours: Mapping[str, str], calls: Mapping[str, Array]
) -> dict[str, Any]:
    """Return the columns and lines of the table for one stage.

    Args:
        part: rows of the stage.
        metrics: metrics that have a value in at least one row.
        planners: labels of the planners, in order.
        colours: colours of outcomes.
        calls: wall time of each control call, s, by key of the row.
    """
    timed = [{**row, PLANNING.name: _mean_ms(calls.get(row["key"]))} for row in part]
    chosen = [metric for name in HEADLINE for metric in metrics if metric.name == name != CLEAN.name]
    chosen += [PLANNING] if any(row[PLANNING.name] is not None for row in timed) else []
    groups, lines = tables.by_planner(timed, planners), tables.metric_lines(timed, chosen, planners)
    found = tables.summaries(timed, chosen)
    columns: list[dict[str, Any]] = []
    for metric, line in zip(chosen, lines, strict=True):
        values = {planner: tables.values(members, metric) for planner, members in groups.items()}
        every = [value for some in values.values() for value in some]
        low, high = (min(every), max(every)) if every else (0.0, 1.0)
        margin = 0.5 if low == high else 0.0
        cells = [
            {
                "cell": cell,
                "chart": _charts.small(values[planner], found.get((metric.name, planner), _NONE), low - margin, high + margin),
            }
            for planner, cell in zip(planners, line.cells, strict=True)
        ]
        words = HEADLINE.get(metric.name, "Planning time")
        columns.append({"words": words, "metric": line.metric, "low": f"{low:.3g}", "high": f"{high:.3g}", "cells": cells})
    each = []
    for number, (planner, members) in enumerate(groups.items()):
        counts = {name: sum(row["outcome"] == name for row in members) for name in colours}
        ends = [(name.replace("_", " "), count) for name, count in counts.items() if count and name != "reached"]
        each.append(
            {
                "planner": planner,
                "n": len(members),
                "reached": tables.cell(tables.share(members), rate=True),
                "clean": clean_line(members),
                "bar": _charts.small_outcomes(counts, colours),
                "ends": ends,
                "blame": blame(members),
                "cells": [column["cells"][number] for column in columns],
            }
        )
    return {"columns": columns, "lines": each}


_NONE = Estimate(0, None, None, None)


def _mean_ms(calls: Array | None) -> float | None:
    return None if calls is None or not len(calls) else 1000.0 * float(np.mean(calls))


def blame(rows: Sequence[Row]) -> str:
    """Return a text that says who closed the gap in episodes that ended with a pedestrian collision; empty if there are none."""
    ended = [row for row in rows if row["outcome"] == "pedestrian_collision"]
    if not ended:
        return ""
    counts = {closer.value: sum(int(row.get(f"collisions_by_{closer.value}") or 0) for row in ended) for closer in Closer}
    known = [f"{closer} {count}" for closer, count in counts.items() if count]
    could = sum(int(row.get("collisions_avoidable") or 0) for row in ended)
    return f"gap closed by {', '.join(known)}; {could} avoidable" if known else "who closed the gap was not recorded"


def comparisons(rows: Sequence[Row], metrics: Sequence[Metric], others: Sequence[str], baseline: str) -> list[str]:
    """Return one sentence per comparison, with the number of pairs and the smallest difference that these pairs can detect."""
    groups = tables.by_planner(rows, [*others, baseline])
    chosen = [tables.REACHED, *(metric for name in HEADLINE for metric in metrics if metric.name == name)]
    said = []
    for planner in others:
        both = [{**row, "reached": float(row["outcome"] == "reached")} for row in [*groups[planner], *groups[baseline]]]
        if not groups[planner] or not groups[baseline]:
            said.append(f"{planner} and {baseline} have no episodes in common.")
            continue
        pair = tables.by_planner(both, [planner, baseline])
        pairs, words = len(tables.differences(tables.REACHED, pair, planner, baseline)[0]), []
        for metric in chosen:
            if not any(metric.name in row for row in both):
                continue
            differences, places = tables.differences(metric, pair, planner, baseline)
            least = detectable(differences, places=places)
            name = "the share that reached the goal" if metric is tables.REACHED else HEADLINE[metric.name].lower()
            if least is not None:
                size = f"{100 * least:.0f} points" if metric.unit == RATE else f"{least:.2g} {metric.unit}".rstrip()
                of = "" if len(differences) == pairs else f" ({len(differences)} pairs)"
                words.append(f"{name} {size}{of}")
            elif len(differences) > 1:
                words.append(f"{name} nothing, because no pair differs")
        counted = f"{pairs} pair{'' if pairs == 1 else 's'}"
        said.append(f"{planner} against {baseline}: {counted}. Detectable in 8 of 10 such runs: {'; '.join(words) or 'nothing'}.")
    return said
