"""The measured rows of planners stored in the manual, and how tables show them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from measurements.freshness import freshness

from agora.tasks.suite import load_suite, suite_names

MEASURED = Path(__file__).resolve().parent / "reference" / "measured"
OUTCOMES = ("pedestrian_collision", "wall_collision", "out_of_map", "timeout")
STALE = "stale"
"""Mark for a row whose planner, suite or engine has changed since it was measured (`measurements.freshness`)."""

MEASURED_HEAD = (
    *(
        "planner",
        "episodes",
        "success",
        "reached clean",
        "hit a pedestrian",
        "hit a wall",
        "left the map",
        "out of time",
        "`barn_score`",
        "time to the goal (s)",
    ),
    "Agora, date, suite",
)


def measured_suites() -> list[str]:
    """Return the suites, or stages of suites, that have measured rows."""
    return sorted(path.stem for path in MEASURED.glob("*.csv"))


def measured(suite: str) -> list[dict[str, str]]:
    """Return the rows of a suite that `docs/measure.py` wrote; ``stale`` marks those whose dependencies have changed since."""
    stale = stale_in(suite)
    return [row | {"stale": STALE if row["planner"] in stale else ""} for row in read_rows(MEASURED / f"{suite}.csv")]


def stale_in(table: str) -> set[str]:
    """Return the planners whose values in a table of the catalogue (`measurements.catalogue`) are stale."""
    return {one.measurement.key for one in freshness().values() if one.measurement.table == table and one.state == "stale"}


def marked(planner: str, *marks: str) -> str:
    """Return the name of a planner as code, followed by marks."""
    shown = ", ".join(filter(None, marks))
    return f"`{planner}`" + (f" ({shown})" if shown else "")


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file; empty if there is no file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measured_line(row: dict[str, str]) -> list[str]:
    """Return a row of a table, with rates in percent."""
    counted = [f"{100 * float(row[outcome]):.0f} %" for outcome in OUTCOMES]
    shares = [share(row, name) for name in ("success", "clean_arrival")]
    numbers = [*shares, *counted, interval(row, "barn_score"), interval(row, "time_to_goal")]
    return [labelled(row), row["episodes"], *numbers, f"{row['agora']}, {row['date']}, version {row['suite_version']}"]


def labelled(row: dict[str, str]) -> str:
    """Return the planner of a row with its marks: changed after the draw of an edition, stale."""
    return marked(row["planner"], row.get("after_draw") or "", row.get("stale") or "")


def age(suite: str) -> str:
    """Return a sentence about the rows that were measured on an older version of a suite, or "" if there are none."""
    name = suite if suite in suite_names() else suite.partition("_")[0]
    if name not in suite_names():
        return ""
    now, rows = load_suite(name).version, measured(suite)
    older = sorted({row["suite_version"] for row in rows if row["suite_version"] != str(now)})
    if not older:
        return ""
    count = sum(row["suite_version"] in older for row in rows)
    versions = " and ".join(older)
    return f"{count} of these {len(rows)} rows were measured on version {versions} of `{name}`, which is now at version {now}.\n"


def share(row: dict[str, str], name: str) -> str:
    """Return a rate with its intervals, in percent, or "not measured" if the row does not have the rate."""
    if not row.get(name):
        return "not measured"
    keys = (f"{name}_low", name, f"{name}_high", f"{name}_low_by_place", f"{name}_high_by_place")
    low, value, high, *wide = (f"{100 * float(row[key]):.0f}" for key in keys if row.get(key))
    return f"{value} % [{low}, {high}]" + (f"; by place [{', '.join(wide)}]" if wide else "")


def interval(row: dict[str, str], name: str) -> str:
    """Return a mean with its interval."""
    if not row[name]:
        return "none"
    return f"{row[name]} [{row[f'{name}_low']}, {row[f'{name}_high']}]" if row[f"{name}_low"] else row[name]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in line) + " |" for line in lines) + "\n"
