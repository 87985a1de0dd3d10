"""Measures on which side planners keep when all robots use the same planner.

python benchmarks/sides.py sa_cadrl cadrl orca

First, two robots drive straight towards each other. They start 6 to 10 m apart and up to 0.3 m off the line between them, each with
its own offset. A robot that keeps right passes the other on its left.

Then two, three and four robots swap positions across a circle, as in the `ga3c` suite. A robot breaks a rule (keep right or keep
left) if it is on the wrong side of the nearest other robot for more than 0.5 s (`agora.policies.look_ahead.wrong_side`). A planner
that breaks the keep-left rule more often keeps right (Y. F. Chen, M. Everett, M. Liu, J. P. How, IROS 2017, section IV B).

Every trial is also run mirrored, so that the positions do not favour a side. Shares have 95 % Wilson intervals.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from agora.core.recording import Outcome, Recording
from agora.core.state import Floats
from agora.episode import Conditions, Episodes
from agora.planners.presets import named_planner
from agora.policies.look_ahead import SIDES, wrong_side
from agora.reporting.statistics import wilson
from agora.tasks.suite import load_suite
from agora.world.start import Start

OFFSET, HALVES = 0.3, (3.0, 5.0)
"""Maximum distance of a robot from the line, and minimum and maximum half distance between both robots, m."""
LONG, PREFERRED = 0.5, 1.0
"""Time on the wrong side after which a rule counts as broken, s, and speed of the robots, m/s."""
SUITE, MIRROR = "ga3c", np.array([1.0, -1.0, -1.0])


def head_on(trials: int = 100, seed: int = 0) -> list[Start]:
    """Return starts with two robots that meet head-on; half of the trials are mirrored."""
    start, random = load_suite(SUITE).start("agents_2", 0), np.random.default_rng(seed)
    starts = []
    for _ in range(trials // 2):
        half, offsets = random.uniform(*HALVES), random.uniform(-OFFSET, OFFSET, 2)
        begins = np.array([[-half, offsets[0], 0.0], [half, offsets[1], np.pi]])
        goals = begins * (-1.0, 1.0, 1.0)
        robots = zip(start.robots, begins, goals, strict=True)
        there = tuple(replace(robot, pose=pose, goals=goal[None], legs=None, turn=None) for robot, pose, goal in robots)
        starts += both_ways(replace(start, robots=there, goal_tolerance=0.3))
    return starts


def swaps(count: int, trials: int = 100) -> list[Start]:
    """Return starts with robots that swap positions across a circle; half of the trials are mirrored."""
    suite, name = load_suite(SUITE), f"agents_{count}"
    stage = suite.stage(name)
    circle = replace(stage.robots, part=replace(stage.robots.part, scattered=0.0))
    suite = replace(suite, stages=(replace(stage, robots=circle),))
    return [one for k in range(trials // 2) for one in both_ways(suite.start(name, k))]


def both_ways(start: Start) -> list[Start]:
    """Return a start in an open plane, and its reflection in the x axis."""
    robots = tuple(replace(one, pose=one.pose * MIRROR, goals=one.goals * MIRROR, turn=None) for one in start.robots)
    return [start, replace(start, robots=robots)]


def driven(planner: Any, starts: Sequence[Start]) -> Iterator[list[Recording]]:
    """Yield the recordings of the robots in each start, in no particular order."""
    for _, robots in Episodes(starts, planner, Conditions.of(load_suite(SUITE).stage("agents_2"))):
        yield robots


def side(first: Recording, second: Recording) -> str:
    """Return the side on which both robots kept, or "neither" if they did not pass each other; the first robot drives along the x
    axis.
    """
    steps = min(len(first.time), len(second.time))
    passed = np.flatnonzero(first.pose[:steps, 0] > second.pose[:steps, 0])
    if not len(passed):
        return "neither"
    return "right" if first.pose[passed[0], 1] < second.pose[passed[0], 1] else "left"


def sides(planner: Any, starts: Sequence[Start]) -> tuple[Counter[str], Counter[str]]:
    """Count the pairs by the side on which they kept, and the robots by outcome."""
    kept, ends = Counter[str](), Counter[str]()
    for both in driven(planner, starts):
        kept[side(*both)] += 1
        ends.update(one.outcome.label for one in both)
    return kept, ends


def broken(robots: Sequence[Recording]) -> Counter[str]:
    """Count the robots that broke the rule for each side."""
    found = Counter[str]()
    for k, one in enumerate(robots):
        pairs = nearest(one, [other for j, other in enumerate(robots) if j != k])
        period = float(one.time[1] - one.time[0])
        found.update(which for which in SIDES if wrong_side(pairs, which).sum() * period > LONG)
    return found


def nearest(one: Recording, others: Sequence[Recording]) -> Floats:
    """Return the pairs (T, 13) of a robot and the nearest other robot, as in `agora.policies.look_ahead.pairs_of`."""
    steps = len(one.time)
    place, velocity = moved(one, steps)
    there, theirs = (np.stack(each) for each in zip(*(moved(other, steps) for other in others), strict=True))
    chosen = np.hypot(*np.moveaxis(there - place, 2, 0)).argmin(0)
    away, theirs = (there - place)[chosen, np.arange(steps)], theirs[chosen, np.arange(steps)]
    radius = np.array([other.radius for other in others])[chosen]
    goal = one.goal[:2] - place
    ex, ey = goal.T / np.maximum(np.hypot(*goal.T), 1e-6)
    velocity, away, theirs = (np.stack([ex * x + ey * y, ex * y - ey * x], 1) for x, y in (velocity.T, away.T, theirs.T))
    same = np.broadcast_to([PREFERRED, 0.0, one.radius], (steps, 3))
    columns = (np.hypot(*goal.T), same, velocity, away, theirs, radius, np.hypot(*away.T), one.radius + radius)
    return np.column_stack(columns).astype(np.float32)


def moved(one: Recording, steps: int) -> tuple[Floats, Floats]:
    """Return the positions and velocities (T, 2) of a robot in the map frame; after its end it stands still."""
    place = one.pose[np.minimum(np.arange(steps), len(one.time) - 1), :2]
    velocity = np.gradient(place, float(one.time[1] - one.time[0]), axis=0)
    return place, velocity


def main() -> None:
    """Print two tables with a line per planner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planners", nargs="+")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the trials in which two robots meet")
    arguments = parser.parse_args()
    planners = {name: named_planner(name)[1].part for name in arguments.planners}
    print("| planner | keep right | keep left | do not pass | robots at their goals |\n" + "|---" * 5 + "|")
    for name, planner in planners.items():
        kept, ends = sides(planner, head_on(arguments.trials, arguments.seed))
        cells = [shown(kept[which], kept.total()) for which in ("right", "left", "neither")]
        print(f"| `{name}` |", " | ".join([*cells, shown(ends[Outcome.REACHED.label], ends.total())]), "|", flush=True)
    print("\n| planner | robots | robots at their goals | of broken rules, that to keep left |\n" + "|---" * 4 + "|")
    for name, planner in planners.items():
        for count in (2, 3, 4):
            ends, found = Counter[str](), Counter[str]()
            for robots in driven(planner, swaps(count, arguments.trials)):
                ends.update(one.outcome.label for one in robots)
                found.update(broken(robots))
            cells = shown(ends[Outcome.REACHED.label], ends.total()), shown(found["left"], found.total())
            print(f"| `{name}` | {count} |", " | ".join(cells), "|", flush=True)


def shown(count: int, of: int) -> str:
    """Return a count with the interval of its share."""
    low, high = wilson(count, of)
    return f"{count} of {of} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()
