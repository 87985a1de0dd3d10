"""The table of planners in the README, generated from the measured rows in the manual."""

from __future__ import annotations

from pathlib import Path

from episodes import ranked, read_episodes
from rows import STALE, labelled, measured, read_rows, stale_in, table

from agora.benchmark.informed import INFORMED
from agora.tasks.modules.axis import axis_of
from agora.tasks.suite import load_suite

REFERENCE = Path(__file__).resolve().parent / "reference"
EDITION = "social@2026.12"
SUITE, AXIS = "limits", "density"
FIRST = 10
"""Number of planners in the table."""

Row = dict[str, str]


def standings(place: Path | None = None) -> list[str]:
    """Return the lines of the table: the first ten planners of the edition by goals reached.

    Each line gives the rank with its interval, the goals reached, the goals reached cleanly and, if measured, D50, the density at
    which the planner still reaches half of its goals.

    Args:
        place: folder to which docs/measure.py writes the rows and episodes of the edition (``measured``) and ``limits.csv``; if
            None, the folder of the manual, in which case stale rows are marked.
    """
    kept = measured(EDITION) if place is None else read_rows(place / "measured" / f"{EDITION}.csv")
    stale = stale_in(f"{SUITE}, {AXIS}") if place is None else set()
    place, rows = place or REFERENCE, {row["planner"]: row for row in kept}
    limits = {row["planner"]: row for row in read_rows(place / "limits.csv") if (row["axis"], row["outcome"]) == (AXIS, "success")}
    ends = [row for row in read_episodes(EDITION, place / "measured" / "episodes") if row["planner"] != INFORMED]
    lines = []
    for number, one in enumerate(ranked(ends, "success")[0][:FIRST], 1):
        row, limit = rows[one.planner], limits.get(one.planner)
        shares = [_share(row, name) for name in ("success", "clean_arrival")]
        rank, cause = f"{number} [{one.low}, {one.high}]", row["clean_arrival_spoilt_by"] or "nothing"
        reached = " ".join([_limit(limit), *([f"({STALE})"] if one.planner in stale else [])]) if limit else "not measured"
        lines.append([rank, labelled(row), *shares, cause, reached])
    head = [
        "rank [95 %]",
        "planner",
        "reached [95 %]",
        "reached clean [95 %]",
        "most often spoilt by",
        "50 % success up to (people per m²)",
    ]
    return table(head, lines).splitlines()


def _limit(limit: Row) -> str:
    """Return a limit with its interval, with a sign if the limit or an end of the interval lies beyond the hard end of the axis."""
    [hard, *_] = (axis.hard for stage in load_suite(SUITE).stages if (axis := axis_of(stage)) and axis.axis == AXIS)
    low, high = (f"{'> ' if float(limit[name]) >= hard else ''}{float(limit[name]):.2f}" for name in ("d50_low", "d50_high"))
    return {"above": "> ", "below": "< "}.get(limit["bound"], "") + f"{float(limit['d50']):.2f} [{low}, {high}]"


def _share(row: Row, name: str) -> str:
    value, low, high = (f"{100 * float(row[key]):.0f}" for key in (name, f"{name}_low", f"{name}_high"))
    return f"{value} % [{low}, {high}]"
