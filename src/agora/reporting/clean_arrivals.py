"""The second result of a planner, after the success rate: the fraction of clean arrivals, and the causes that spoilt the other
arrivals.

If a run is older than the ``clean_arrival`` metric, its rows do not contain this metric.
`agora.benchmark.results.recordings.complete_rows` then computes the metric from the recordings; without recordings it is not
measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agora.benchmark.results.store import Row
from agora.metrics.clean import CAUSES, clean_arrival
from agora.reporting import tables
from agora.reporting._charts import small_outcomes
from agora.reporting.statistics import Estimate, has_reached, wilson

__all__ = ["CLEAN", "NOT_MEASURED", "cause_counts", "causes_of", "clean_share", "clean_words", "is_spoilt", "most_often"]

CLEAN = clean_arrival
"""The metric by which planners are ranked, in addition to `agora.reporting.tables.REACHED`."""

NOT_MEASURED = "not measured"

COLOURS = {"clean": "#009e73", "spoilt": "#f0e442", "not reached": "#d0d0d0"}
"""Colours of episodes in the small bar of clean arrivals, by kind of episode."""


def causes_of(row: Row) -> list[str]:
    """Return descriptions of the causes that spoilt the arrival of a row."""
    return [words for name, words in CAUSES.items() if row.get(name)]


def is_spoilt(row: Row) -> bool:
    """Return whether the robot of a row reached its goal, but the arrival was spoilt."""
    return has_reached(row) and row.get(CLEAN.name) == 0.0


def without_delays(row: Row) -> dict[str, Any]:
    """Return a row in which delays of people do not spoil the arrival, as if the episode had not been run without robots."""
    others = [row.get(name) for name in CAUSES if name != "spoilt_by_delay"]
    if not row.get("spoilt_by_delay") or None in others:
        return dict(row)
    return {**row, "spoilt_by_delay": 0.0, CLEAN.name: float(not any(others))}


def clean_share(rows: Sequence[Row]) -> Estimate:
    """Return the fraction of clean arrivals among the rows that have the metric, with Wilson's interval."""
    known = tables.values(rows, CLEAN)
    clean = int(sum(known))
    return Estimate(len(known), clean / len(known), *wilson(clean, len(known))) if known else Estimate(0, None, None, None)


def cause_counts(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """Return the causes that spoilt arrivals and the number of rows per cause, most frequent cause first."""
    counts = {words: sum(bool(row.get(name)) for row in rows) for name, words in CAUSES.items()}
    return sorted(((words, count) for words, count in counts.items() if count), key=lambda pair: -pair[1])


def most_often(rows: Sequence[Row]) -> str:
    """Return the cause that spoilt most arrivals, or all causes that are tied for most; empty if no arrival was spoilt."""
    causes = cause_counts(rows)
    return " and ".join(words for words, count in causes if count == causes[0][1])


def clean_words(rows: Sequence[Row]) -> str:
    """Return a text with the fraction of clean arrivals, its interval, and the cause that most often spoilt the other arrivals."""
    share = tables.cell(clean_share(rows), rate=True)
    if share.value is None:
        return NOT_MEASURED
    cause = most_often(rows)
    return f"{share.value} % {share.interval}{f'; most often spoilt by: {cause}' if cause else ''}"


def clean_line(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the contents of a planner's cell at the top of the report: the fraction of clean arrivals, a small bar, and all causes
    with their counts.
    """
    share = clean_share(rows)
    if share.value is None:
        return {"cell": tables.Cell(), "bar": "", "causes": [], "cause": ""}
    clean, spoilt = sum(row.get(CLEAN.name) == 1.0 for row in rows), sum(map(is_spoilt, rows))
    counts = {"clean": clean, "spoilt": spoilt, "not reached": len(rows) - clean - spoilt}
    note = "" if share.n == len(rows) else f"{share.n} of {len(rows)}"
    return {
        "cell": tables.cell(share, rate=True, note=note),
        "bar": small_outcomes(counts, COLOURS),
        "causes": cause_counts(rows),
        "cause": most_often(rows),
    }
