"""The gap between simulators: the same episodes under two of them, planner by planner.

python benchmarks/sim_to_sim.py run results/gap              # every planner on `GROUNDS`, each policy on its own test, too
python benchmarks/sim_to_sim.py table results/gap            # a row for each
python benchmarks/sim_to_sim.py run results/gap --of mujoco --simulator mujoco:timestep=0.004     # how much chance is in it
python benchmarks/sim_to_sim.py pair results/native results/mujoco      # two runs of `agora bench`, the second with --simulator

`run` continues where it was stopped, and keeps what is finished. Times and path lengths are ratios of the second simulator to the
first, over episodes that reached the goal in both: the median, with a 95 % bootstrap interval. Shares have Wilson intervals.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agora.benchmark.bench import run_all
from agora.benchmark.request_form import RequestForm
from agora.benchmark.results.audit import audit_run
from agora.core.recording import Outcome
from agora.errors import AgoraError
from agora.planners.presets import runnable_planners
from agora.reporting.statistics import bootstrap, wilson
from agora.tasks.suite import load_suite

Row = Mapping[str, Any]
_REACHED = Outcome.REACHED.label
GROUNDS = ("planners", "demo")
"""Suites that all planners drive."""
OWN = {
    "ag_rl": "attngraph",
    "applr": "barn_once",
    "bc": "dynabarn_generated",
    "cadrl": "crowdnav",
    "ds_rnn": "dsrnn",
    "ga3c_cadrl": "ga3c",
    "iplanner": "iplanner",
    "learned_dwa": "social",
    "lflh": "lflh",
    "lstm_rl": "crowdnav",
    "rlca": "rlca",
    "rosnav_rl": "rosnav",
    "sa_cadrl": "ga3c",
    "sarl": "crowdnav",
    "td3": "dynabarn_generated",
    "trail": "drl_vo",
}
"""The suites in which learned planners are tested: their robots and worlds are those for which each planner was trained."""
SLOW = ("artplanner", "brne", "cohan", "mpc", "mppi")
"""Planners that are run on only a quarter of the episodes."""


def main() -> None:
    """Run the missing episodes, or print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run", help="play what has not been played")
    runs.add_argument("folder", type=Path, help="folder of all runs")
    runs.add_argument("-p", "--planner", action="append", help="a planner; repeat it. All that can run here by default")
    runs.add_argument("--suite", action="append", help="a suite; repeat it. `GROUNDS`, and the policies' own, by default")
    runs.add_argument("--episodes", type=int, default=24, help="episodes of a suite, spread over its stages; 24 by default")
    runs.set_defaults(command=run)
    table = commands.add_parser("table", help="print a row for each planner and suite that were run")
    table.add_argument("folder", type=Path, help="folder of all runs")
    table.set_defaults(command=every)
    for command in (runs, table):
        command.add_argument("--of", default="native", help="the first simulator: native by default")
        command.add_argument("--simulator", default="mujoco", help="the second: mujoco by default")
    two = commands.add_parser("pair", help="compare two folders of agora bench")
    two.add_argument("first", type=Path, help="folder of a run")
    two.add_argument("second", type=Path, help="folder of a run of the same suite under another simulator")
    two.set_defaults(command=pair)
    arguments = parser.parse_args()
    arguments.command(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Run every planner on its suites with both simulators."""
    names = arguments.planner or sorted(runnable_planners()[0], key=lambda name: (name in SLOW, name))
    cells = [(name, suite) for name in names for suite in grounds(name) if suite in (arguments.suite or [suite])]
    for done, (name, suite) in enumerate(cells):
        for simulator in (arguments.of, arguments.simulator):
            since = time.monotonic()
            try:
                rows = play(arguments.folder, name, suite, simulator, arguments.episodes)
            except AgoraError as error:
                print(f"{done + 1} of {len(cells)}: {name}, {suite}, {simulator}: left out: {error}", file=sys.stderr, flush=True)
                break
            reached = sum(row["outcome"] == _REACHED for row in rows)
            said = f"{done + 1} of {len(cells)}: {name}, {suite}, {simulator}: {reached} of {len(rows)} reached"
            print(f"{said}, {time.monotonic() - since:.0f} s", file=sys.stderr, flush=True)


def grounds(planner: str) -> Iterator[str]:
    """Yield the suites on which a planner is run."""
    yield from GROUNDS
    if planner in OWN:
        yield OWN[planner]


def folder_of(folder: Path, planner: str, suite: str, simulator: str) -> Path:
    """Return the folder of a run."""
    return folder / suite / planner / simulator.replace(":", "_")


def play(folder: Path, planner: str, suite: str, simulator: str, episodes: int) -> Sequence[Row]:
    """Return the rows of a run; existing rows are not run again."""
    own = folder_of(folder, planner, suite, simulator)
    each = math.ceil(episodes / (4 if planner in SLOW else 1) / len(load_suite(suite).stages))
    form = RequestForm(
        suite, (planner,), output=own, resume=own.is_dir(), episodes=each, simulator=simulator, control=False, workers=0
    )
    return run_all(form.request())


HEAD = "| suite | planner | episodes | reached, {} | there | the same outcome | time | path |\n|---|---|---|---|---|---|---|---|"


def every(arguments: argparse.Namespace) -> None:
    """Print a row for each planner and suite whose runs are complete with both simulators, then one row for all planners of a
    suite.
    """
    print(HEAD.format(arguments.of))
    for suite in sorted({path.name for path in arguments.folder.iterdir()}, key=lambda name: ((*GROUNDS, name).index(name), name)):
        together: list[tuple[Row, Row]] = []
        rows = 0
        for own in sorted((arguments.folder / suite).iterdir()):
            first, second = (folder_of(arguments.folder, own.name, suite, name) for name in (arguments.of, arguments.simulator))
            if all((one / "episodes").is_dir() for one in (first, second)) and not unfinished(first, second):
                pairs = paired(audit_run(first).rows, audit_run(second).rows)
                print(line((f"`{suite}`", f"`{own.name}`"), pairs))
                together += pairs
                rows += 1
        if rows > 1:
            print(line((f"`{suite}`", "all"), together))


def unfinished(*folders: Path) -> bool:
    """Return whether a run is incomplete."""
    return any(audit_run(folder).problems() for folder in folders)


def pair(arguments: argparse.Namespace) -> None:
    """Print a row for each planner of two runs, then one for all planners."""
    pairs = paired(audit_run(arguments.first).rows, audit_run(arguments.second).rows)
    suite = f"`{pairs[0][0]['suite']}`"
    print(HEAD.format("first"))
    for planner in sorted({one["planner"] for one, _ in pairs}):
        print(line((suite, f"`{planner}`"), [pair for pair in pairs if pair[0]["planner"] == planner]))
    print(line((suite, "all"), pairs))


def paired(first: Sequence[Row], second: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Return pairs of rows with the same planner, stage, episode and seed."""
    there = {_key(row): row for row in second}
    found = [(row, there[_key(row)]) for row in first if _key(row) in there]
    if not found:
        raise SystemExit("the two runs have no episode in common; they must be of the same suite, seed and planners")
    return found


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("planner", "stage", "episode", "seed", "robot"))


def line(names: tuple[str, str], pairs: Sequence[tuple[Row, Row]]) -> str:
    """Return a row of the table."""
    reached = [sum(pair[k]["outcome"] == _REACHED for pair in pairs) for k in (0, 1)]
    same = sum(one["outcome"] == other["outcome"] for one, other in pairs)
    both = [pair for pair in pairs if pair[0]["outcome"] == pair[1]["outcome"] == _REACHED]
    cells = [*names, str(len(pairs)), *(_share(count, len(pairs)) for count in (*reached, same))]
    return f"| {' | '.join([*cells, *(_ratio(both, metric) for metric in ('time_to_goal', 'path_length'))])} |"


def _share(count: int, of: int) -> str:
    low, high = wilson(count, of)
    return f"{count / of:.2f} [{low:.2f}, {high:.2f}]"


def _ratio(pairs: Sequence[tuple[Row, Row]], metric: str) -> str:
    if len(pairs) < 2:
        return "-"
    found = bootstrap([other[metric] / one[metric] for one, other in pairs], "median")
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


if __name__ == "__main__":
    main()
