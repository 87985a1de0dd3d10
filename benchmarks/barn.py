"""Computes the BARN challenge's published measures of planners from results folders: `python benchmarks/barn.py results/barn ...`.

Rates, the time of the successes and the score are means of the worlds' means; intervals are percentile bootstraps over worlds,
because runs in the same world resemble each other. Time is measured from the first 0.1 m driven, and the optimal time is that of
the challenge's reference path. The published runs of its DWA baseline, which are in the data, are evaluated in the same way.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from agora.benchmark.results.recordings import recordings
from agora.benchmark.results.store import read_rows
from agora.core.recording import Outcome
from agora.datasets.barn import read_world, world_numbers
from agora.datasets.catalogue import data_folder
from agora.metrics.efficiency import barn_run_score

DEPARTURE = 0.1  # m
COLUMNS = ("success", "collision", "time-out", "time (s)", "score, a = 4", "score, a = 2")


def kept_runs(folder: Path) -> dict[str, list[tuple[int, str, float]]]:
    """Return the world, outcome and time of every run in a results folder, by planner."""
    rows = read_rows(folder / "episodes")
    seen = recordings(folder, [row["key"] for row in rows])
    runs = defaultdict(list)
    for row in rows:
        one = seen[row["key"]]
        left = np.hypot(*(one.pose[:, :2] - one.pose[0, :2]).T) >= DEPARTURE
        time = float(one.time[-1] - (one.time[left.argmax()] if left.any() else 0.0))
        reached = one.outcome == Outcome.REACHED and not len(one.contacts)
        end = "success" if reached else "time-out" if one.outcome == Outcome.TIMEOUT else "collision"
        runs[row["planner"]].append((int(one.map.name.removeprefix("barn_")), end, time))
    return dict(runs)


def published_runs() -> list[tuple[int, str, float]]:
    """Return the world, outcome and time of every published run of the challenge's baseline."""
    with (data_folder("barn") / "dwa_reference_runs.csv").open() as file:
        return [
            (
                int(r["world"]),
                "success" if r["success"] == "1" else "collision" if r["collision"] == "1" else "time-out",
                float(r["time_s"]),
            )
            for r in csv.DictReader(file)
        ]


def table(runs: list[tuple[int, str, float]]) -> list[str]:
    """Return the columns for one planner, each with its interval."""
    worlds = defaultdict(list)
    for world, end, time in runs:
        worlds[world].append((end, time))
    values = np.full((len(worlds), len(COLUMNS)), np.nan)
    for k, (world, ends) in enumerate(sorted(worlds.items())):
        optimal = read_world(world).optimal_time
        values[k, :3] = [np.mean([end == name for end, _ in ends]) for name in COLUMNS[:3]]
        times = [time for end, time in ends if end == "success"]
        values[k, 3] = np.mean(times) if times else np.nan
        for column, factor in ((4, 4.0), (5, 2.0)):
            values[k, column] = np.mean([barn_run_score(end == "success", optimal, time, factor) for end, time in ends])
    rng = np.random.default_rng(0)
    drawn = np.nanmean(values[rng.integers(0, len(values), (4000, len(values)))], axis=1)
    low, high = np.nanquantile(drawn, (0.025, 0.975), axis=0)
    digits = (3, 3, 3, 1, 4, 4)
    return [f"{m:.{d}f} ({a:.{d}f} to {b:.{d}f})" for m, a, b, d in zip(np.nanmean(values, axis=0), low, high, digits, strict=True)]


def at_hand(runs: list[tuple[int, str, float]], whose: str) -> list[tuple[int, str, float]]:
    """Return the runs in worlds that are in the data, and print how many other runs there are."""
    known = set(world_numbers())
    kept = [run for run in runs if run[0] in known]
    if len(kept) < len(runs):
        others = len({run[0] for run in runs} - known)
        print(
            f"{whose}: {len(runs) - len(kept)} of {len(runs)} runs are left out: the data lacks their {others} worlds",
            file=sys.stderr,
        )
    return kept


def main() -> None:
    """Print a row for the published runs and for every planner in the folders."""
    print("| | runs |", " | ".join(COLUMNS), "|")
    print("|" + "---|" * (len(COLUMNS) + 2))
    named = [("published", published_runs()), *(run for folder in sys.argv[1:] for run in kept_runs(Path(folder)).items())]
    for name, all_runs in named:
        if runs := at_hand(all_runs, name):
            print(f"| {name} |", len(runs), "|", " | ".join(table(runs)), "|")


if __name__ == "__main__":
    main()
