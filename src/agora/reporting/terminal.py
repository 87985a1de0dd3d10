"""Prints the results of a run on a terminal: one line per planner, and the reasons why planners failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from agora.benchmark.results.copies import PLACE, copy_notes, distinct
from agora.benchmark.results.store import Row
from agora.reporting._answers import Answer
from agora.reporting.clean_arrivals import clean_share, most_often
from agora.reporting.clusters import by_place
from agora.reporting.limits.measurement import OUTCOMES, Limits
from agora.reporting.limits.words import better_than, limit_text, ranked_limits, relative_area_text
from agora.reporting.statistics import wilson
from agora.reporting.tables import by_planner

_ENDS = {
    "pedestrian_collision": "hit person",
    "wall_collision": "hit wall",
    "robot_collision": "hit robot",
    "timeout": "time-out",
    "out_of_map": "out of map",
    "planner_failed": "failed",
    "simulator_failed": "simulator failed",
}
"""Column headings for outcomes other than reaching the goal, by outcome."""

_RARE = ("robot_collision", "simulator_failed")
"""Outcomes that get a column only if they occur."""

_FAILED = {"planner_failed": "{planner} failed", "simulator_failed": "the simulator failed in {count} episodes of {planner}"}
"""Texts that introduce the first failure of a planner, and the first failure of the simulator with that planner, by outcome."""

_LABEL, _WIDE = 40, 1000
"""Maximum number of characters per line of a planner's label, which may wrap, and the console width at which no column is
squeezed.
"""

_TOUCHED = "touched"
"""Heading of the column for episodes in which the robot reached the goal after a contact; shown only if there are such episodes."""


def print_rows(
    rows: Sequence[Row], planners: Sequence[str], again: Callable[[Row], str] = lambda row: "", answers: Sequence[Answer] = ()
) -> None:
    """Print a table with one line per planner, the reasons why planners or the simulator failed, and the first answers.

    Each episode is counted either as a success or in one of the columns after it, so that the counts in a line add up to the number
    of episodes.

    Args:
        rows: rows of the run.
        planners: labels of the planners, in order; planners without rows have no line.
        again: function that returns the command that repeats the episode of a row, or "" if there is no such command.
        answers: answers from the beginning of the report (`agora.reporting._answers`).
    """
    console, failed, notes, rows = Console(width=_WIDE), list[tuple[str, Row]](), copy_notes(rows), distinct(rows)
    ends = {name: head for name, head in _ENDS.items() if name not in _RARE or any(row["outcome"] == name for row in rows)}
    touched = any(_reached_without_success(row) for row in rows)
    heads = [*ends.values(), *([_TOUCHED] if touched else [])]
    clean = ("clean", "95 %", "most often spoilt by")
    wide = {planner: _by_place(mine) for planner, mine in by_planner(rows, planners).items()}
    placed = ["by place"] if any(wide.values()) else []
    table = Table(Column("planner", overflow="fold", max_width=_LABEL), "n", "success", "95 %", *placed, *clean, *heads, "time")
    for planner, mine in by_planner(rows, planners).items():
        if not mine:
            continue
        won = sum(row["success"] == 1 for row in mine)
        low, high = wilson(won, len(mine))
        times = [row["time_to_goal"] for row in mine if row["time_to_goal"] is not None]
        counts = [sum(row["outcome"] == name for row in mine) for name in ends]
        counts += [sum(map(_reached_without_success, mine))] if touched else []
        mean = f"{sum(times) / len(times):.1f} s" if times else "-"
        success = (f"{won / len(mine):.2f}", f"{low:.2f} - {high:.2f}", *([wide[planner]] if placed else []))
        table.add_row(escape(planner), str(len(mine)), *success, *_clean(mine), *map(str, counts), mean)
        for outcome, words in _FAILED.items():
            failures = [row for row in mine if row["outcome"] == outcome]
            failed += [(words.format(planner=planner, count=len(failures)), failures[0])] if failures else []
    console.print(table)
    for note in notes:
        console.print(note, markup=False, soft_wrap=True, highlight=False)
    for words, row in failed:
        said = [f"{words}: {row['failure']}"]
        said += [f"  to repeat that episode: {command}"] if (command := again(row)) else []
        console.print("\n".join(said), markup=False, soft_wrap=True)
    for one in answers:
        console.print(f"{one.question}\n  {one.words} {one.sure}".rstrip(), markup=False, soft_wrap=True, highlight=False)


def _by_place(rows: Sequence[Row]) -> str:
    """Return the interval by place of the success rate, as text; empty if no two rows share a place, or if there are too few
    places.
    """
    places = [row.get(PLACE) for row in rows]
    found = by_place([float(row["success"] == 1) for row in rows], places, None, None) if len(set(places)) < len(places) else None
    return "" if found is None or found.low is None else f"{found.low:.2f} - {found.high:.2f}"


def _clean(rows: Sequence[Row]) -> tuple[str, str, str]:
    """Return three texts: the fraction of clean arrivals, its interval, and the cause that most often spoilt the other arrivals."""
    share = clean_share(rows)
    if share.value is None or share.low is None or share.high is None:
        return "-", "", "not measured"
    return f"{share.value:.2f}", f"{share.low:.2f} - {share.high:.2f}", most_often(rows) or "-"


def print_limits(found: Sequence[Limits]) -> None:
    """Print a table of limits for each axis: one line per planner, from best to worst, followed by the reference planners."""
    console = Console(width=_WIDE)
    for limits in found:
        for outcome in limits.outcomes:
            head = f"{limits.axis.axis}: half {OUTCOMES[outcome]} up to"
            table = Table(Column("planner", overflow="fold", max_width=_LABEL), head, "score", "better than")
            ranked = ranked_limits(limits, outcome)
            for limit in [*ranked, *(one for one in limits.of(outcome) if one not in ranked)]:
                unit = f" {limits.axis.unit}" if limits.axis.unit else ""
                known = (
                    f"{limit_text(limits, limit)}{unit}",
                    relative_area_text(limit) if limit in ranked else "",
                    ", ".join(better_than(limits, limit)),
                )
                table.add_row(escape(limit.planner), *map(escape, known))
            console.print(table)


def _reached_without_success(row: Row) -> bool:
    """Return whether the robot of a row reached its goal although the episode does not count as a success."""
    return bool(row["outcome"] == "reached" and row["success"] != 1)
