"""DynaBARN's table from folders of results of one suite: `python benchmarks/dynabarn.py results/dynabarn ...`.

A line for each stage, and for each difficulty in both sets; success with Wilson's interval, and the difference from the robot that
drives straight on, paired by episode, with the bootstrap's (`agora.benchmark.statistics`). Both say how far other phases of the
same cylinders would lead, not other worlds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from agora.benchmark.account import described
from agora.benchmark.statistics import Estimate, Row, paired_difference
from agora.benchmark.store import read_rows
from agora.benchmark.tables import by_planner, share

BLIND = "go_to_goal"
ENDS = ("reached", "pedestrian_collision", "wall_collision", "timeout")


def words(estimate: Estimate, sign: str = "") -> str:
    """An estimate with its interval, and what it stands on."""
    return f"{estimate.value:{sign}.3f} [{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}] of {estimate.n}"


def parts(rows: Sequence[Row], stages: Sequence[str]) -> dict[str, list[Row]]:
    """Rows of each stage, then of each difficulty."""
    members = {stage: [stage] for stage in stages}
    for stage in stages:
        members.setdefault(stage.partition("_")[2], []).append(stage)
    return {name: [row for row in rows if row["stage"] in among] for name, among in members.items()}


def main() -> None:
    """Print the three tables."""
    folders = [Path(folder) for folder in sys.argv[1:]]
    stages = [stage["name"] for stage in described(folders[0])["suite"]["stages"]]
    rows = [row for folder in folders for row in read_rows(folder / "episodes")]
    ran = {row["planner"] for row in rows}
    planners = [name for name in dict.fromkeys(p for folder in folders for p in described(folder)["planners"]) if name in ran]
    groups = {name: by_planner(members, planners) for name, members in parts(rows, stages).items()}
    print("| success |", " | ".join(planners), "|\n" + "|" + " --- |" * (len(planners) + 1))
    for name, group in groups.items():
        print(f"| {name} |", " | ".join(words(share(group[planner])) for planner in planners), "|")
    others = [planner for planner in planners if planner != BLIND]
    print("\n| more than the blind robot |", " | ".join(others), "|\n" + "|" + " --- |" * (len(others) + 1))
    for name, group in groups.items():
        pairs = [paired_difference([*group[planner], *group[BLIND]], "success", planner, BLIND) for planner in others]
        print(f"| {name} |", " | ".join(words(pair, "+") for pair in pairs), "|")
    print("\n| ends | planner |", " | ".join(ENDS), "| time of the successes, s |\n" + "|" + " --- |" * (len(ENDS) + 3))
    for name, group in groups.items():
        for planner, members in group.items():
            times = [row["time_to_goal"] for row in members if row["outcome"] == "reached"]
            cells = [f"{share(members, end).value:.3f}" for end in ENDS] + [f"{sum(times) / len(times):.1f}" if times else ""]
            print(f"| {name} | {planner} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
