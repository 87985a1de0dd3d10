"""Counts the instructions per call of each hot kernel with valgrind, which detects slower code without a clock.

python benchmarks/instructions.py            # prints the counts, those stored in instructions.json, and their ratio
python benchmarks/instructions.py --write    # replaces the stored counts

Kernels are compiled for Haswell on every x86-64-v3 processor (docs/decisions/2026-11-28-processors.md), and valgrind shows such a
processor to NumPy and the C library, so the counts depend neither on the machine nor on its load. They depend on the versions of
Python, NumPy and Numba: tests/benchmark/test_instructions.py compares them with those in requirements.lock. A count says nothing
about memory or vector width: `make bench` measures time.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

KEPT = Path(__file__).with_suffix(".json")
LOOSE = {"metrics": 0.25}
"""Larger tolerances. The metrics' count was once 15 % lower while other tests ran; the cause is unknown."""

_REQUESTS = """
#include <valgrind/callgrind.h>
void zero(void) { CALLGRIND_ZERO_STATS; }
void dump(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
"""
_CALLS, _LATER = 20, 40


def count() -> dict[str, int]:
    """Return the number of instructions per call, by name of the work.

    Raises:
        RuntimeError: valgrind or the measured process failed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "requests.c").write_text(_REQUESTS)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "requests.so", folder / "requests.c"], check=True)
        child = [sys.executable, __file__, "--child", str(folder / "requests.so")]
        env = os.environ | _same_code() | {"PYTHONHASHSEED": "0"}
        subprocess.run(child, check=True, env=env, stdout=subprocess.DEVNULL)  # compiles what is not compiled yet
        tool = ["valgrind", "--tool=callgrind", "--smc-check=all-non-file", f"--callgrind-out-file={folder / 'out'}"]
        done = subprocess.run([*tool, *child], env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        counts = {}
        for file in folder.glob("out.*"):
            text = file.read_text()
            name, calls = re.search(r"^desc: Trigger: Client Request: (\S+) (\d+)$", text, re.MULTILINE).groups()
            counts[name] = round(int(re.search(r"^totals: (\d+)$", text, re.MULTILINE)[1]) / int(calls))
        return {name: counts[name] for name in stored() if name in counts} | dict(sorted(counts.items()))


def differences(before: dict[str, int], now: dict[str, int], share: float = 0.05) -> list[str]:
    """Return a line with the old and the new count for each work whose count differs by more than ``share``, or more than its value
    in `LOOSE`, or that only one side has.
    """
    lines = []
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old is None or new is None or abs(new - old) > LOOSE.get(name, share) * old:
            change = "" if old is None or new is None else f" ({new / old - 1:+.0%})"
            lines.append(f"{name}: {'none' if old is None else f'{old:,}'} became {'none' if new is None else f'{new:,}'}{change}")
    return lines


def stored() -> dict[str, int]:
    """Return the stored counts."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def _same_code() -> dict[str, str]:
    """Return the variables that make Numba compile the same code under valgrind, which hides some of the processor's features.
    They also stop libraries from starting threads, whose waiting would be counted.
    """
    from agora.core import jit

    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return alone | {"NUMBA_CPU_NAME": jit._PROCESSOR, "NUMBA_CPU_FEATURES": jit._FEATURES, "MPLBACKEND": "Agg"}


class _Counter:
    """Counts the instructions of calls in this process, if it runs under valgrind.

    Args:
        requests: the compiled requests to valgrind.
    """

    def __init__(self, requests: str) -> None:
        self._requests = ctypes.CDLL(requests)

    def calls(self, name: str, function: Callable[[], object], calls: int = _CALLS) -> None:
        """Count calls of a function, after a first call that fills the caches."""
        function()
        with self.counted(name, calls):
            for _ in range(calls):
                function()

    @contextmanager
    def counted(self, name: str, calls: int) -> Iterator[None]:
        """Count the instructions of a block that makes some calls."""
        self._requests.zero()
        yield
        self._requests.dump(f"{name} {calls}".encode())


def _child(requests: str) -> None:
    """Do the work once, in the process that valgrind watches."""
    gc.disable()
    counter = _Counter(requests)
    _steps(counter)
    _places(counter)
    _planners(counter)


def _steps(counter: _Counter) -> None:
    """Count steps of the benchmark's halls, and a scan."""
    from scene import SOCIAL_FORCE, Worlds, halls

    from agora.pedestrians.models.orca import Orca

    one = Worlds(halls(1, 32), SOCIAL_FORCE, robots=True)
    counter.calls("world-step", one.engine.step)
    counter.calls("scan", one.scanner.scan)
    counter.calls("social-force-300", Worlds(halls(1, 300), SOCIAL_FORCE).engine.step)
    counter.calls("orca-30", Worlds(halls(1, 30), Orca()).engine.step)


def _places(counter: _Counter) -> None:
    """Count world steps in two places of `social`, where people resolve collisions, step back and find their way, and all metrics
    of an episode in the second place.
    """
    import numpy as np

    from agora.engine.conditions import Conditions
    from agora.engine.engine import Engine
    from agora.episode import Episodes
    from agora.metrics.registered import measure
    from agora.planners.local.pure_pursuit import PurePursuit
    from agora.tasks.suite import load_suite

    suite = load_suite("social")
    for name in ("office", "square"):
        start, conditions = suite.start(name, 0), replace(Conditions.of(suite.stage(name)), ends=0)
        engine = Engine.of([start], conditions)
        engine.reset(0, start)
        command = np.zeros((1, len(start.robots), 3), np.float32)
        for _ in range(_LATER):
            engine.step(command)
        counter.calls(f"place-{name}", lambda engine=engine, command=command: engine.step(command))
    [(_, [recording])] = Episodes([start], PurePursuit(), conditions)
    counter.calls("metrics", lambda: measure(replace(recording)), 1)


def _planners(counter: _Counter) -> None:
    """Count calls of planners among 20 pedestrians in a hall."""
    from planning import Fleet, _halls

    from agora.planners.adapters import call
    from agora.planners.local.dwa import Dwa
    from agora.planners.local.mpc import Mpc
    from agora.planners.local.teb import Teb

    scene, goal = _halls(1)
    for name, planner in (("dwa", Dwa()), ("teb", Teb()), ("mpc", Mpc())):
        fleet = Fleet(scene, goal, planner)
        for _ in range(3):
            fleet.period()
        seen = fleet.batch.observer.observe()
        counter.calls(f"plan-{name}", lambda: call(fleet.planner, seen, fleet.memory, fleet.batch.active, None), 5)  # noqa: B023


def main() -> None:
    """Count, and print or store the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace the stored counts")
    parser.add_argument("--child", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        _child(options.child)
        return
    before, now = stored(), count()
    for name, value in now.items():
        old = before.get(name)
        print(f"{name:18} {value:>12,}" + (f" {old:>12,} {value / old:6.3f}" if old else ""))
    if options.write:
        KEPT.write_text(json.dumps(now, indent=1) + "\n")


if __name__ == "__main__":
    main()
