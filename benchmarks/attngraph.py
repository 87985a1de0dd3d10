"""Computes path lengths from results in the way that AG-RL's code does: `python benchmarks/attngraph.py results/attngraph
results/taga`.

Its rl/evaluation.py adds up the robot's motion between observations. The observation after an episode's last step is the first one
of the next episode, so the sum omits the last step and includes the jump to the next start. TAGA's code is derived from it. In the
taga* suites, an episode ends when the robot enters a group's circle, as in TAGA's table.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from agora.benchmark.results import recording_shards
from agora.benchmark.results.run_folder import RunFolder
from agora.metrics.quantities.groups import inside_groups
from agora.reporting.statistics import bootstrap


def ways(folder: Path) -> dict[tuple[str, str], list[np.ndarray]]:
    """Return the positions (T, 2) in every episode, in suite order, by stage and planner; the stages of taga are treated as one."""
    suite = RunFolder.read(folder).record.outline.name
    found: dict[tuple[str, str], dict[tuple[str, int], np.ndarray]] = {}
    for shard in sorted((folder / "trajectories").glob("*.parquet")):
        for key, recording in recording_shards.read_recordings(shard).items():
            _, stage, episode, planner, _ = key.split("/")
            inside = inside_groups(recording) if suite.startswith("taga") else np.zeros(1, np.bool_)
            end = int(np.argmax(inside)) + 1 if inside.any() else len(recording.time)
            group = found.setdefault(("all" if suite.startswith("taga") else stage, planner), {})
            group[stage, int(episode)] = recording.pose[:end, :2]
    return {group: [way for _, way in sorted(episodes.items())] for group, episodes in sorted(found.items())}


def length(way: np.ndarray) -> float:
    """Return the length of a polyline (T, 2), m."""
    return float(np.hypot(*np.diff(way, axis=0).T).sum())


def main() -> None:
    """Print a line per stage and planner: the path length, and the length as computed by AG-RL's code."""
    print("| suite | stage | planner | path, m | as coded, m |\n| --- | --- | --- | --- | --- |")
    for folder in map(Path, sys.argv[1:]):
        for (stage, planner), every in ways(folder).items():
            true = bootstrap([length(way) for way in every])
            coded = bootstrap([length(np.concatenate((way[:-1], following[:1]))) for way, following in pairwise(every)])
            cells = [f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in (true, coded)]
            print(f"| {folder.name} | {stage} | `{planner}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
