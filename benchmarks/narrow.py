"""Measures which narrow places each planner gets through, with which robots: the table in docs/reference/planners.md.

python benchmarks/narrow.py dwa teb orca --place door --place corridor
python benchmarks/narrow.py dwa --write     # puts a planner's rows into docs/reference/narrow.csv
"""

from __future__ import annotations

import argparse
import csv
import datetime
from collections import Counter
from pathlib import Path

from agora.benchmark.provenance.machine import Machine
from agora.planners.presets import named_planner
from agora.testing.narrow import PLACES, narrow_places

KEPT = Path(__file__).parents[1] / "docs" / "reference" / "narrow.csv"
COLUMNS = ("planner", "place", "robot", "passed", "asked")
WHEN = ("date", "commit")
"""Columns for the day on which rows were measured and the commit of the measured code."""

STARTS = 3
"""Number of starts for each place and robot in the stored rows."""


def rows_of(planner: str, place: str, starts: int = STARTS) -> list[dict[str, str]]:
    """Return a row for each robot that fits in a place: how many of the starts it passed."""
    runs = narrow_places(named_planner(planner)[1].part, [place], starts=starts)
    asked, passed = Counter(run.robot for run in runs), Counter(run.robot for run in runs if run.passed)
    return [dict(zip(COLUMNS, (planner, place, robot, str(passed[robot]), str(asked[robot])), strict=True)) for robot in asked]


def kept() -> list[dict[str, str]]:
    """Return the rows stored in the manual."""
    with KEPT.open(newline="") as file:
        return list(csv.DictReader(file))


def write(rows: list[dict[str, str]], commit: str) -> None:
    """Replace the rows of the same planners and places, with today's date and the commit of the code."""
    new = {(row["planner"], row["place"]) for row in rows}
    measured = dict(zip(WHEN, (datetime.datetime.now(datetime.UTC).date().isoformat(), commit), strict=True))
    rows = [row | measured for row in rows]
    old = kept() if KEPT.exists() else []
    rows = sorted([*(row for row in old if (row["planner"], row["place"]) not in new), *rows], key=lambda row: row["planner"])
    with KEPT.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS + WHEN, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Print a line per planner and, below it, every robot that does not pass everywhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planners", nargs="+")
    parser.add_argument("--place", action="append", choices=PLACES, help="all where none is given")
    parser.add_argument("--starts", type=int, default=STARTS, help="at most so many of each place and robot, up to 12")
    parser.add_argument("--write", action="store_true", help=f"keep the rows, of {STARTS} starts, in the manual")
    arguments = parser.parse_args()
    if arguments.write and arguments.starts != STARTS:
        parser.error(f"rows that are kept are of {STARTS} starts")
    places, commit = arguments.place or list(PLACES), Machine.here().commit
    print("| planner |", " | ".join(places), "|\n" + "|---" * (len(places) + 1) + "|")
    missed = []
    for name in arguments.planners:
        cells = []
        for place in places:
            rows = rows_of(name, place, arguments.starts)
            passed, asked = (sum(int(row[key]) for row in rows) for key in ("passed", "asked"))
            cells.append(f"{passed} of {asked}")
            missed += [
                f"{name}, {place}: {row['robot']} {row['passed']} of {row['asked']}"
                for row in rows
                if row["passed"] != row["asked"]
            ]
            if arguments.write:
                write(rows, commit)
        print(f"| `{name}` |", " | ".join(cells), "|", flush=True)
    print("\n".join(missed))


if __name__ == "__main__":
    main()
