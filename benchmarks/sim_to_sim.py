"""The gap between simulators: the same episodes of two runs, planner by planner.

agora bench demo -p dwa -p teb -o results/native
agora bench demo -p dwa -p teb -o results/mujoco --simulator mujoco
python benchmarks/sim_to_sim.py results/native results/mujoco

Times and paths are those of the second run over the first, of episodes that reached the goal in both: the median, with the
bootstrap's interval of 95 %. Shares have Wilson's.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agora.benchmark.account import account
from agora.benchmark.statistics import bootstrap, wilson
from agora.core.recording import Outcome

Row = Mapping[str, Any]
_REACHED = Outcome.REACHED.label


def main() -> None:
    """Print a row for each planner, then one for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path, help="folder of a run")
    parser.add_argument("second", type=Path, help="folder of a run of the same suite under another simulator")
    arguments = parser.parse_args()
    pairs = paired(account(arguments.first).rows, account(arguments.second).rows)
    print("| planner | episodes | reached | reached there | the same outcome | time | path |\n|---|---|---|---|---|---|---|")
    for planner in sorted({one["planner"] for one, _ in pairs}):
        print(line(planner, [pair for pair in pairs if pair[0]["planner"] == planner]))
    print(line("all", pairs))


def paired(first: Sequence[Row], second: Sequence[Row]) -> list[tuple[Row, Row]]:
    """The rows of the same planner, stage, episode and seed."""
    there = {_key(row): row for row in second}
    found = [(row, there[_key(row)]) for row in first if _key(row) in there]
    if not found:
        raise SystemExit("the two runs have no episode in common; they must be of the same suite, seed and planners")
    return found


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("planner", "stage", "episode", "seed", "robot"))


def line(name: str, pairs: Sequence[tuple[Row, Row]]) -> str:
    """A row of the table."""
    reached = [sum(pair[k]["outcome"] == _REACHED for pair in pairs) for k in (0, 1)]
    same = sum(one["outcome"] == other["outcome"] for one, other in pairs)
    both = [pair for pair in pairs if pair[0]["outcome"] == pair[1]["outcome"] == _REACHED]
    cells = [name, str(len(pairs)), *(f"{count / len(pairs):.3f}" for count in reached), _share(same, len(pairs))]
    return f"| {' | '.join([*cells, *(_ratio(both, metric) for metric in ('time_to_goal', 'path_length'))])} |"


def _share(count: int, of: int) -> str:
    low, high = wilson(count, of)
    return f"{count / of:.3f} [{low:.3f}, {high:.3f}]"


def _ratio(pairs: Sequence[tuple[Row, Row]], metric: str) -> str:
    if len(pairs) < 2:
        return "-"
    found = bootstrap([other[metric] / one[metric] for one, other in pairs], "median")
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


if __name__ == "__main__":
    main()
