"""The table of planners in the README, made from the measured rows of the manual."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent / "reference"
SUITE = "social"
FIRST = 10
"""Number of planners in the table, if their rows have clean arrivals and limits."""

Row = dict[str, str]


def standings(place: Path = REFERENCE) -> list[str]:
    """Return the lines of the table, sorted by goals reached, most first.

    If the first ten planners have all three measures, the table shows these ten with goals reached, goals reached clean and D50,
    the density at which a planner still reaches half of its goals. Otherwise it shows all planners with goals reached and outcomes.

    Args:
        place: folder with ``measured/social.csv`` and ``limits.csv``, both written by docs/measure.py.
    """
    rows = sorted(_read(place / "measured" / f"{SUITE}.csv"), key=lambda row: -float(row["success"]))
    limits = {row["planner"]: row for row in _read(place / "limits.csv") if (row["axis"], row["outcome"]) == ("density", "success")}
    first = rows[:FIRST]
    if all(row.get("clean_arrival") and row["planner"] in limits for row in first):
        head = ["planner", "reached [95 %]", "reached clean [95 %]", "most often spoilt by", "half reached up to (people per m2)"]
        return _table(head, [_three(row, limits[row["planner"]]) for row in first])
    return _table(["planner", "success [95 %]", "hit a person", "hit a wall", "time"], [_outcomes(row) for row in rows])


def _three(row: Row, limit: Row) -> list[str]:
    value, low, high = (f"{float(limit[name]):.2f}" for name in ("d50", "d50_low", "d50_high"))
    sign = {"above": "> ", "below": "< "}.get(limit["bound"], "")
    cause = row["clean_arrival_spoilt_by"] or "nothing"
    return [f"`{row['planner']}`", _share(row, "success"), _share(row, "clean_arrival"), cause, f"{sign}{value} [{low}, {high}]"]


def _outcomes(row: Row) -> list[str]:
    person, wall = (f"{100 * float(row[name]):.0f} %" for name in ("pedestrian_collision", "wall_collision"))
    return [f"`{row['planner']}`", _share(row, "success"), person, wall, f"{float(row['time_to_goal']):.1f} s"]


def _share(row: Row, name: str) -> str:
    value, low, high = (f"{100 * float(row[key]):.0f}" for key in (name, f"{name}_low", f"{name}_high"))
    return f"{value} % [{low}, {high}]"


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines)]


def _read(path: Path) -> list[Row]:
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
