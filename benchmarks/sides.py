"""The side to which planners keep: two robots meet head-on, and leave each other on the left or on the right.

python benchmarks/sides.py sa_cadrl sarl orca

Two robots drive straight towards each other. They begin 6 to 10 m apart and up to 0.3 m off the line between them, each by a
distance of its own. Every trial is driven in the mirror, too, so that the places give no side. Who keeps right leaves the other on
its left. Shares have Wilson's intervals of 95 %.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from agora.benchmark.statistics import wilson
from agora.core.recording import Outcome, Recording
from agora.episode import Conditions, Episodes
from agora.planners.presets import named_planner
from agora.tasks.suite import load_suite
from agora.world.start import Start

OFFSET, HALVES = 0.3, (3.0, 5.0)
"""The largest distance of a robot from the line, and the least and largest half of the way between both, m."""


def head_on(trials: int = 100, seed: int = 0) -> list[Start]:
    """Two robots of the suite `ga3c` that meet head-on, half of the trials in the mirror."""
    start, random = load_suite("ga3c").start("agents_2", 0), np.random.default_rng(seed)
    starts = []
    for _ in range(trials // 2):
        half, (first, second) = random.uniform(*HALVES), random.uniform(-OFFSET, OFFSET, 2)
        for side in (1.0, -1.0):
            there = np.array([half, side * first, 0.0]), np.array([-half, side * second, np.pi])
            back = np.array([-half, side * first, 0.0]), np.array([half, side * second, np.pi])
            ways = zip(start.robots, back, there, strict=True)
            robots = tuple(replace(robot, pose=pose, goals=goal[None], legs=None, turn=None) for robot, pose, goal in ways)
            starts.append(replace(start, robots=robots, goal_tolerance=0.3))
    return starts


def side(first: Recording, second: Recording) -> str:
    """The side to which both kept, or "neither" where they did not pass each other; the first drives along the x axis."""
    steps = min(len(first.time), len(second.time))
    passed = np.flatnonzero(first.pose[:steps, 0] > second.pose[:steps, 0])
    if not len(passed):
        return "neither"
    return "right" if first.pose[passed[0], 1] < second.pose[passed[0], 1] else "left"


def sides(planner: Any, starts: list[Start]) -> tuple[Counter[str], Counter[str]]:
    """How many pairs kept to which side, and how many robots ended how."""
    conditions = Conditions.of(load_suite("ga3c").stage("agents_2"))
    kept, ends = Counter[str](), Counter[str]()
    for _, both in Episodes(starts, planner, conditions):
        kept[side(*both)] += 1
        ends.update(one.outcome.label for one in both)
    return kept, ends


def main() -> None:
    """Print a line for each planner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planners", nargs="+")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print("| planner | keep right | keep left | do not pass | robots at their goals |\n" + "|---" * 5 + "|")
    for name in arguments.planners:
        kept, ends = sides(named_planner(name)[1].part, head_on(arguments.trials, arguments.seed))
        cells = [shown(kept[which], kept.total()) for which in ("right", "left", "neither")]
        print(f"| `{name}` |", " | ".join([*cells, shown(ends[Outcome.REACHED.label], ends.total())]), "|", flush=True)


def shown(count: int, of: int) -> str:
    """A number with the interval of its share."""
    low, high = wilson(count, of)
    return f"{count} of {of} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()
