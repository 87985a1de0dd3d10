"""Who gets through narrow places with which robots: the table of docs/reference/planners.md.

python benchmarks/narrow.py dwa teb orca --place door --place corridor
"""

from __future__ import annotations

import argparse
from collections import Counter

from agora.planners.presets import named_planner
from agora.testing.narrow import PLACES, narrow_places


def main() -> None:
    """Print a line for each planner and, below it, each robot that does not pass everywhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planners", nargs="+")
    parser.add_argument("--place", action="append", choices=PLACES, help="all where none is given")
    parser.add_argument("--starts", type=int, default=12, help="at most so many of each place and robot")
    arguments = parser.parse_args()
    places = arguments.place or list(PLACES)
    print("| planner |", " | ".join(places), "|\n" + "|---" * (len(places) + 1) + "|")
    missed = []
    for name in arguments.planners:
        cells = []
        for place in places:
            runs = narrow_places(named_planner(name)[1].part, [place], starts=arguments.starts)
            asked, passed = Counter(run.robot for run in runs), Counter(run.robot for run in runs if run.passed)
            cells.append(f"{passed.total()} of {asked.total()}")
            missed += [
                f"{name}, {place}: {robot} {passed[robot]} of {most}" for robot, most in asked.items() if passed[robot] < most
            ]
        print(f"| `{name}` |", " | ".join(cells), "|", flush=True)
    print("\n".join(missed))


if __name__ == "__main__":
    main()
