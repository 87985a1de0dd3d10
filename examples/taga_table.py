"""The rates of TAGA's Table I from a run of the suite taga: there an episode ends where the robot enters a group's circle.

A run of the suite goes on after that, so an episode in which it happened counts as a group collision whatever came later, and its
path is cut there. Run: python examples/taga_table.py RESULTS
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from agora.benchmark import tracks
from agora.benchmark.statistics import wilson
from agora.core.recording import Recording
from agora.metrics.groups import inside_groups
from agora.metrics.quantities import path_metres

COLUMNS = {"SR": "reached", "CR": "pedestrian_collision", "GCR": "group", "TR": "timeout"}


def rated(recording: Recording) -> tuple[str, float, float]:
    """How the paper would have had an episode end, after how long, s, and how long its path is, m."""
    inside = inside_groups(recording)
    if not inside.any():
        return recording.outcome.label, float(recording.time[-1]), path_metres(recording)
    end = int(np.argmax(inside))
    steps = np.hypot(*np.diff(recording.pose[: end + 1, :2], axis=0).T)
    return "group", float(recording.time[end]), float(steps.sum())


def mean(values: list[float]) -> str:
    """The mean, with the 95 % interval of a normal distribution."""
    return "none" if len(values) < 2 else f"{np.mean(values):.2f} ± {1.96 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f}"


def table(folder: Path) -> list[str]:
    """Lines of the table in Markdown: rates with Wilson's intervals, time of the successes, path of all."""
    rated_by: dict[str, list[tuple[str, float, float]]] = {}
    for shard in sorted((folder / "trajectories").glob("*.parquet")):
        for key, recording in tracks.read_recordings(shard).items():
            rated_by.setdefault(key.split("/")[3], []).append(rated(recording))
    lines = ["| planner | n | SR | CR | GCR | TR | NT, s | PL, m |", "|" + " --- |" * 8]
    for planner, ends in rated_by.items():
        cells = [planner, str(len(ends))]
        for label in COLUMNS.values():
            count = sum(end[0] == label for end in ends)
            low, high = wilson(count, len(ends))
            cells.append(f"{count / len(ends):.3f} [{low:.3f}, {high:.3f}]")
        cells += [mean([time for label, time, _ in ends if label == "reached"]), mean([length for *_, length in ends])]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    print("\n".join(table(Path(sys.argv[-1]))))
