"""Lines of the table, and timing: two callables are timed in alternating blocks, so that noise on the machine affects both
equally.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np


class Effort(Enum):
    """How often a line repeats its measurement."""

    SMOKE = "smoke"
    """Once, without waiting for the machine: the line runs, and both sides agree, but the times mean nothing."""
    QUICK = "quick"
    FULL = "full"

    def times(self, full: int, quick: int) -> int:
        """Return the number of repetitions: ``full`` for `FULL`, ``quick`` for `QUICK`, 1 for `SMOKE`."""
        return {Effort.SMOKE: 1, Effort.QUICK: quick, Effort.FULL: full}[self]

    @property
    def waits(self) -> bool:
        """Whether a line that needs every core waits until no other process uses them."""
        return self is Effort.FULL


@dataclass(frozen=True)
class Pair:
    """The times of two callables.

    Attributes:
        ours: median time of one call of ours, s.
        other: median time of one call of the other, s.
        ratio: median of the paired ratios other / ours; if above 1, ours is faster.
        spread: lower and upper quartile of those ratios.
    """

    ours: float
    other: float
    ratio: float
    spread: tuple[float, float]


def paired(
    ours: Callable[[], object],
    other: Callable[[], object],
    effort: Effort,
    *,
    pairs: tuple[int, int] = (15, 5),
    block: float = 0.06,
    most: int = 10**9,
    before: Callable[[], object] = lambda: None,
) -> Pair:
    """Time two callables in alternating blocks.

    Args:
        ours: callable that is timed repeatedly.
        other: callable to compare with, timed in the same way.
        effort: how often the comparison is repeated.
        pairs: number of pairs of blocks, full and quick.
        block: approximate duration of a block, s.
        most: maximum number of calls in a block.
        before: called before every block, outside the timed part (resets both scenes to their start).
    """
    counts = []
    for function in (ours, other):
        before()
        clock(function, 1)
        counts.append(1 if effort is Effort.SMOKE else min(most, max(1, int(block / clock(function, 1)))))
    seconds = np.zeros((effort.times(*pairs), 2))
    for k in range(len(seconds)):
        for side in (0, 1) if k % 2 == 0 else (1, 0):
            before()
            seconds[k, side] = clock((ours, other)[side], counts[side])
    ratios = seconds[:, 1] / seconds[:, 0]
    low, high = np.percentile(ratios, [25, 75])
    mine, its = np.median(seconds, axis=0)
    return Pair(float(mine), float(its), float(np.median(ratios)), (float(low), float(high)))


def clock(function: Callable[[], object], calls: int) -> float:
    """Return the mean duration of a call over many calls, s, with the garbage collector disabled."""
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - start) / calls
    finally:
        gc.enable()


@dataclass(frozen=True)
class Line:
    """One line of the table.

    Attributes:
        ours, other: measured values, as text.
        value: value that is compared with the target.
        spread: quartiles of the ratio; empty if there are none.
    """

    ours: str
    other: str
    value: float
    spread: str = ""

    @staticmethod
    def of(pair: Pair) -> Line:
        """Return the line for two timings."""
        return Line(duration(pair.ours), duration(pair.other), pair.ratio, f"{pair.spread[0]:.3g} .. {pair.spread[1]:.3g}")


@dataclass(frozen=True)
class Bench:
    """A benchmark: a line of the table that can be measured.

    Attributes:
        name: name of the line.
        against: what it is compared with.
        target: minimum value of the result, or maximum value if ``most``.
        measure: function that returns the line.
        unit: unit of the value, "x" for a ratio.
    """

    name: str
    against: str
    target: float
    measure: Callable[[Effort], Line]
    most: bool = False
    unit: str = "x"

    def met(self, line: Line) -> bool:
        """Return whether the target is met."""
        return line.value <= self.target if self.most else line.value >= self.target


def busy(seconds: float = 0.5) -> float:
    """Return the number of cores that other processes currently use, measured while this process waits; 0 if the system does not
    report it.
    """
    before = _core_seconds()
    time.sleep(seconds)  # noqa: TID251 - the one place that waits for the machine
    return max(0.0, (_core_seconds() - before) / seconds)


def wait_for_cores(most: float = 90.0) -> None:
    """Wait until no other process uses the cores, for at most ``most`` seconds."""
    end = time.perf_counter() + most
    while busy() > 0.1 and time.perf_counter() < end:
        pass


def _core_seconds() -> float:
    """Return the time for which cores have been in use since the system started, summed over the cores, s."""
    try:
        user, nice, system, _, _, *rest = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + sum(rest[:3])) / os.sysconf("SC_CLK_TCK")


def duration(seconds: float) -> str:
    """Return a duration in seconds as text with three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
