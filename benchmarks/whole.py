"""Lines about the whole system: threads, memory, start-up, and episodes run by the benchmark. They are limits, not comparisons."""

from __future__ import annotations

import functools
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from measure import Bench, Effort, Line, Pair, duration, paired, wait_for_cores
from scene import SOCIAL_FORCE, Worlds, companies, halls

from agora.pedestrians.models.helbing import Helbing
from agora.registry import make

_CHILD = Path(__file__).parent / "child.py"
_HELP = "import sys; sys.argv = ['agora', '--help']; from agora.cli.app import main; main()"


def _threads_once(worlds: int, effort: Effort, pairs: tuple[int, int]) -> Pair:
    """Time the world step with two threads (ours) and with one (other)."""
    scene = halls(worlds, 32)
    two, one = (Worlds(scene, SOCIAL_FORCE, robots=True, threads=n) for n in (2, 1))

    def step(side: Worlds) -> None:
        side.engine.step()
        side.scanner.scan()

    def before() -> None:
        two.restart()
        one.restart()

    before()
    step(two)
    step(one)
    if any((a != b).any() for a, b in zip(two.world.pedestrians, one.world.pedestrians, strict=True)):
        raise RuntimeError("a step with two threads differs from a step with one")
    pair = paired(lambda: step(two), lambda: step(one), effort, pairs=pairs, before=before)
    two.engine.close()
    return pair


def two_threads(effort: Effort) -> Line:
    """Time 1,024 worlds: the best of four tries, each made, if possible, when no other process uses the cores."""
    tries = []
    for _ in range(effort.times(4, 1)):
        if effort.waits:
            wait_for_cores()
        tries.append(_threads_once(1024, effort, (15, 7)))
    return Line.of(max(tries, key=lambda p: p.ratio))


def one_world(effort: Effort) -> Line:
    """Time one world: both sides run the same code, so this shows the effect of chance. The value is the median over several
    engines, whose arrays lie differently in memory.
    """
    tries = sorted((_threads_once(1, effort, (5, 5)) for _ in range(effort.times(11, 3))), key=lambda p: p.ratio)
    middle = tries[len(tries) // 2]
    return Line.of(replace(middle, spread=(tries[0].ratio, tries[-1].ratio)))


def behaviours(names: tuple[str, ...], effort: Effort) -> Line:
    """Time 1,024 worlds with 30 pedestrians and a robot at 20 steps per second: the step with behaviours relative to the step
    without.
    """
    scene = companies(1024, 10) if "groups" in names else halls(1024, 30)
    parts = tuple(make("behaviours", name) for name in names)
    thinking, plain = (Worlds(scene, Helbing(), robots=True, dt=0.05, behaviours=some, sees_robots=True) for some in (parts, ()))
    for _ in range(100):
        thinking.engine.step()
        plain.engine.step()
    line = Line.of(paired(plain.engine.step, thinking.engine.step, effort))
    return replace(line, ours=line.other, other=line.ours)


def _run(*command: str) -> tuple[float, str]:
    """Return the wall time of a Python process, s, and its output."""
    began = time.perf_counter()
    answer = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)
    return time.perf_counter() - began, answer.stdout


def started(command: tuple[str, ...], effort: Effort) -> Line:
    """Measure the median wall time of a process, once everything is compiled."""
    _run(*command)
    seconds = sorted(_run(*command)[0] for _ in range(effort.times(7, 3)))
    middle = statistics.median(seconds)
    return Line(duration(middle), "", middle, f"{seconds[0]:.3g} .. {seconds[-1]:.3g}")


def memory(effort: Effort) -> Line:
    """Measure the peak memory of a process with 1,024 worlds, once everything is compiled; compiling needs as much again."""
    if effort is not Effort.SMOKE:
        _run(str(_CHILD), "memory")
    size = int(_run(str(_CHILD), "memory")[1])
    return Line(f"{size / 2**20:.0f} MiB", "", size / 2**30)


def episodes(planner: str, tries: int, effort: Effort) -> Line:
    """Measure simulated seconds per wall second for a whole run, including the start of its process and workers.

    The run needs both cores, so on a busy machine the result depends more on other processes than on Agora. The measurement
    therefore waits for a quiet moment and takes the best of a few runs; the slowest and fastest are shown.
    """
    if effort is Effort.SMOKE:
        seconds, printed = _run(str(_CHILD), "episodes", planner, "2")
        return Line(duration(seconds), "", float(printed) / seconds)
    command = (str(_CHILD), "episodes", planner)
    _run(*command)
    runs = []
    for _ in range(effort.times(tries, 1)):
        if effort.waits:
            wait_for_cores()
        seconds, printed = _run(*command)
        runs.append((float(printed) / seconds, seconds))
    value, seconds = max(runs)
    return Line(duration(seconds), "", value, f"{min(runs)[0]:.3g} .. {value:.3g}")


def benches() -> list[Bench]:
    """Return the lines of the table."""
    start = functools.partial(started, (str(_CHILD), "start"))
    shown = functools.partial(started, ("-c", _HELP))
    return [
        Bench("threads-1024", "one thread", 1.7, two_threads),
        Bench("threads-1", "one thread", 0.95, one_world),
        Bench("social-states", "without", 1.5, functools.partial(behaviours, ("social_states",)), most=True),
        Bench("groups", "without", 1.5, functools.partial(behaviours, ("groups",)), most=True),
        Bench("groups+states", "without", 2.0, functools.partial(behaviours, ("groups", "social_states")), most=True),
        Bench("memory-1024", "", 1.0, memory, most=True, unit="GiB"),
        Bench("start-engine", "", 1.0, start, most=True, unit="s"),
        Bench("start-help", "", 0.5, shown, most=True, unit="s"),
        Bench("episodes-orca", "real time", 1000.0, functools.partial(episodes, "orca", 4)),
        Bench("episodes-dwa", "real time", 100.0, functools.partial(episodes, "dwa", 2)),
    ]
