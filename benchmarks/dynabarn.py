"""Prints DynaBARN's table from results folders of one suite: `python benchmarks/dynabarn.py results/dynabarn ...`.

There is one line per stage, and one per difficulty that several stages share. It gives the success rate with Wilson's interval, and
the difference from a robot that drives straight on, paired by episode, with a bootstrap interval (`agora.reporting.statistics`).
Both intervals cover other phases of the same cylinders, not other worlds. If the stages use the random streams of another suite and
a folder of that suite is given too, a last table shows the difference: `python benchmarks/dynabarn.py results/dynabarn_shapes
results/dynabarn_tree`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.store import Row, read_rows
from agora.reporting.statistics import Estimate, paired_difference
from agora.reporting.tables import by_planner, share

BLIND = "go_to_goal"
ENDS = ("reached", "pedestrian_collision", "wall_collision", "timeout")


def words(estimate: Estimate, sign: str = "") -> str:
    """Return an estimate with its interval and the number of episodes behind it."""
    return f"{estimate.value:{sign}.3f} [{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}] of {estimate.n}"


def parts(rows: Sequence[Row], stages: Sequence[str]) -> dict[str, list[Row]]:
    """Return the rows of each stage, then of each difficulty that several stages share."""
    members = {stage: [stage] for stage in stages}
    shared: dict[str, list[str]] = {}
    for stage in stages:
        shared.setdefault(stage.partition("_")[2], []).append(stage)
    members |= {name: among for name, among in shared.items() if name and len(among) > 1}
    return {name: [row for row in rows if row["stage"] in among] for name, among in members.items()}


def print_origins(suite: dict[str, Any], rows: Sequence[Row], everything: Sequence[Row], planners: Sequence[str]) -> None:
    """Print how much more often planners succeed than in the stages whose random streams a suite's stages use."""
    print("\n| more than there | as drawn |", " | ".join(planners), "|\n" + "|" + " --- |" * (len(planners) + 2))
    for stage in suite["stages"]:
        here = [row for row in rows if row["stage"] == stage["name"]]
        there = [
            {**row, "suite": suite["name"], "stage": stage["name"], "planner": f"{row['planner']} there"}
            for row in everything
            if f"{row['suite']}/{row['stage']}" == stage.get("drawn_as")
        ]
        if there:
            pairs = [paired_difference([*here, *there], "success", planner, f"{planner} there") for planner in planners]
            print(f"| {stage['name']} | {stage['drawn_as']} |", " | ".join(words(pair, "+") for pair in pairs), "|")


def main() -> None:
    """Print the tables."""
    folders = [Path(folder) for folder in sys.argv[1:]]
    suite = RunFolder.read(folders[0]).record.suite
    stages = [stage["name"] for stage in suite["stages"]]
    everything = [row for folder in folders for row in read_rows(folder / "episodes")]
    rows = [row for row in everything if row["suite"] == suite["name"]]
    ran = {row["planner"] for row in rows}
    planners = [
        name for name in dict.fromkeys(p for folder in folders for p in RunFolder.read(folder).record.labels) if name in ran
    ]
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
    if any(row["suite"] != suite["name"] for row in everything):
        print_origins(suite, rows, everything, planners)


if __name__ == "__main__":
    main()
