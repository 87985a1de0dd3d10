"""The child processes that `whole.py` starts: `python child.py start|memory` or `python child.py episodes PLANNER [COUNT]`."""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path


def start() -> None:
    """Run the first step and scan of a world."""
    from scene import SOCIAL_FORCE, Worlds, halls

    worlds = Worlds(halls(1, 32), SOCIAL_FORCE, robots=True)
    worlds.engine.step()
    worlds.scanner.scan()


def memory() -> None:
    """Run 1,024 worlds with 32 pedestrians, a robot and a scan in 256 different halls, and print the peak memory, bytes."""
    from scene import SOCIAL_FORCE, Worlds, halls

    worlds = Worlds(halls(1024, 32, 256), SOCIAL_FORCE, robots=True)
    for _ in range(10):
        worlds.engine.step()
        worlds.scanner.scan()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def episodes(planner: str, count: str = "100") -> None:
    """Run the first episodes of the suite with a planner on two workers, with recordings and metrics, and print the simulated
    seconds.
    """
    from agora.benchmark.bench import run_all
    from agora.benchmark.request import Options, Request
    from agora.registry import Named
    from agora.tasks.suite import load_suite

    suite = load_suite(Path(__file__).parent / "continuous.yaml").part(episodes=int(count))
    with tempfile.TemporaryDirectory() as folder:
        rows = run_all(Request(suite, {planner: Named.of("planners", planner)}, Path(folder) / "run", Options(workers=2)))
    print(sum(float(row["duration"]) for row in rows))


if __name__ == "__main__":
    {"start": start, "memory": memory, "episodes": episodes}[sys.argv[1]](*sys.argv[2:])
