"""The rows of a run on a terminal: a line for each planner, and the reasons of planners that failed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agora.benchmark.statistics import Row, wilson

_COUNTED = ("collisions_pedestrian", "collisions_wall", "timeout")


def print_rows(rows: Sequence[Row]) -> None:
    """Print a table with a line for each planner, and why planners failed."""
    console, reasons = Console(width=112), dict[str, str]()
    table = Table("planner", "n", "success", "95 %", "hit person", "hit wall", "time-out", "failed", "time")
    for planner in sorted({row["planner"] for row in rows}):
        mine = [row for row in rows if row["planner"] == planner]
        won = sum(row["success"] == 1 for row in mine)
        low, high = wilson(won, len(mine))
        times = [row["time_to_goal"] for row in mine if row["time_to_goal"] is not None]
        failures = [row["failure"] for row in mine if row["outcome"] == "planner_failed"]
        counts = [*(sum(bool(row[name]) for row in mine) for name in _COUNTED), len(failures)]
        mean = f"{sum(times) / len(times):.1f} s" if times else "-"
        table.add_row(escape(planner), str(len(mine)), f"{won / len(mine):.2f}", f"{low:.2f} - {high:.2f}", *map(str, counts), mean)
        reasons |= {planner: failures[0]} if failures else {}
    console.print(table)
    for planner, reason in reasons.items():
        console.print(f"{planner} failed: {reason}", markup=False, soft_wrap=True)
