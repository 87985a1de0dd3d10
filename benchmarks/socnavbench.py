"""Prints SocNavBench's tables from results folders: `python benchmarks/socnavbench.py results/socnavbench_positions ...`.

There is one line per suite and planner, with the columns of Tables 2 to 4 in the paper. Success is defined as in the paper: the
goal is reached without touching a pedestrian. Means and standard deviations are over all episodes; those in the paper are over the
episodes that all of its planners completed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.store import Row, read_rows
from agora.reporting.statistics import wilson
from agora.reporting.tables import by_planner

COLUMNS = {
    "path_length": "length, m",
    "path_length_ratio": "ratio",
    "path_irregularity.socnavbench_code": "irregularity, rad",
    "path_traversal_time": "time, s",
    "velocity_average": "speed, m/s",
    "energy.socnavbench_code": "energy",
    "acceleration_average.socnavbench_code": "acceleration, m/s2",
    "jerk_average.socnavbench_code": "jerk, m/s3",
}


def spread(rows: Sequence[Row], metric: str) -> str:
    """Return the mean and standard deviation over the episodes in which a metric is defined."""
    values = [row[metric] for row in rows if row[metric] is not None]
    mean = sum(values) / len(values)
    return f"{mean:.2f} ± {math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)):.2f}"


def main() -> None:
    """Print the two tables."""
    counts = "| suite | planner | success | 95 % | reached | T/PC/EC | contacts | contacts, as coded |"
    widths = "| suite | planner | " + " | ".join(COLUMNS.values()) + " |"
    first, second = [counts, "| --- " * counts.count(" | ") + "| --- |"], [widths, "| --- " * widths.count(" | ") + "| --- |"]
    for folder in map(Path, sys.argv[1:]):
        run = RunFolder.read(folder).record
        for planner, rows in by_planner(read_rows(folder / "episodes"), run.labels).items():
            total = {
                name: int(sum(row[name] for row in rows))
                for name in ("success.socnavbench", "reached", "timeout", "failure_pedestrian_collision", "failure_wall_collision")
            }
            low, high = wilson(total["success.socnavbench"], len(rows))
            failed = "/".join(str(total[name]) for name in list(total)[2:])
            contacts = [int(sum(row[f"collisions_pedestrian{tail}"] for row in rows)) for tail in ("", ".socnavbench_code")]
            suite = run.outline.name
            won = f"{total['success.socnavbench']}/{len(rows)} | [{low:.2f}, {high:.2f}] | {total['reached']}"
            first.append(f"| {suite} | `{planner}` | {won} | {failed} | {contacts[0]} | {contacts[1]} |")
            second.append(f"| {suite} | `{planner}` | " + " | ".join(spread(rows, name) for name in COLUMNS) + " |")
    print("\n".join([*first, "", *second]))


if __name__ == "__main__":
    main()
