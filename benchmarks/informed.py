"""The bound of a suite: in how many episodes a robot arrives that knows the future, and in how many it arrives clean.

python benchmarks/informed.py social
python benchmarks/informed.py social --stage square
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from agora.benchmark.statistics import wilson
from agora.core.recording import Outcome, Recording
from agora.episode import Conditions
from agora.metrics.clean import CAUSES, clean_arrival
from agora.registry import load
from agora.tasks.suite import load_suite
from agora.testing.oracle import foresee


def main() -> None:
    """Print a row for each stage, then one for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--stage", action="append", help="all where none is given")
    arguments = parser.parse_args()
    suite = load_suite(arguments.suite)
    stages = [suite.stage(name) for name in arguments.stage or [stage.name for stage in suite.stages]]
    reached, clean, asked = 0, 0, 0
    print("| stage | reached | clean | of | spoilt by | not reached |\n|---|---|---|---|---|---|")
    for stage in stages:
        drives = [foresee(suite.start(stage.name, k), Conditions.of(stage)) for k in range(stage.count)]
        missed = [f"{k}: {Outcome(one.outcome).label}" for k, one in enumerate(drives) if one.outcome != Outcome.REACHED]
        arrived, tidy = len(drives) - len(missed), sum(clean_arrival(one) == 1.0 for one in drives)
        print(f"| {stage.name} | {arrived} | {tidy} | {len(drives)} | {_spoilt(drives)} | {', '.join(missed)} |", flush=True)
        reached, clean, asked = reached + arrived, clean + tidy, asked + len(drives)
    for words, count in (("reached", reached), ("reached clean", clean)):
        low, high = wilson(count, asked)
        print(f"\n{words}: {count} of {asked}, {count / asked:.2f} [{low:.2f}, {high:.2f}]")


def _spoilt(drives: Sequence[Recording]) -> str:
    """Return the causes that spoilt arrivals with their counts, in words."""
    counts = {words: sum(load("metrics", name)(one) == 1.0 for one in drives) for name, words in CAUSES.items()}
    return ", ".join(f"{words} {count}" for words, count in counts.items() if count)


if __name__ == "__main__":
    main()
