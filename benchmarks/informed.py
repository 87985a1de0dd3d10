"""The bound of a suite: in how many episodes a robot arrives that knows the future.

python benchmarks/informed.py social
python benchmarks/informed.py social --stage square
"""

from __future__ import annotations

import argparse

from agora.benchmark.statistics import wilson
from agora.core.recording import Outcome
from agora.episode import Conditions
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
    reached, asked = 0, 0
    print("| stage | reached | of | the others |\n|---|---|---|---|")
    for stage in stages:
        outcomes = [foresee(suite.start(stage.name, k), Conditions.of(stage)).outcome for k in range(stage.count)]
        missed = [f"{k}: {Outcome(outcome).name.lower()}" for k, outcome in enumerate(outcomes) if outcome != Outcome.REACHED]
        print(f"| {stage.name} | {stage.count - len(missed)} | {stage.count} | {', '.join(missed)} |", flush=True)
        reached, asked = reached + stage.count - len(missed), asked + stage.count
    low, high = wilson(reached, asked)
    print(f"| all | {reached} | {asked} | {reached / asked:.2f} [{low:.2f}, {high:.2f}] |")


if __name__ == "__main__":
    main()
