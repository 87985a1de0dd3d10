"""Lines of the table, and the clock: two callables in alternating blocks, so that a noisy machine spoils both alike."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Pair:
    """The times of two callables.

    Attributes:
        ours: median of one call of ours, s.
        other: median of one call of the other, s.
        ratio: median of the paired ratios other / ours; above 1 ours is faster.
        spread: lower and upper quartile of those ratios.
    """

    ours: float
    other: float
    ratio: float
    spread: tuple[float, float]


def paired(
    ours: Callable[[], object],
    other: Callable[[], object],
    *,
    pairs: int,
    block: float = 0.06,
    most: int = 10**9,
    before: Callable[[], object] = lambda: None,
) -> Pair:
    """Time two callables in alternating blocks.

    Args:
        ours: called again and again.
        other: likewise.
        pairs: how many pairs of blocks.
        block: about how long one is, s.
        most: calls in one.
        before: called before every block, outside the clock (puts both scenes back to where they begin).
    """
    counts = []
    for function in (ours, other):
        before()
        clock(function, 1)
        counts.append(min(most, max(1, int(block / clock(function, 1)))))
    seconds = np.zeros((pairs, 2))
    for k in range(pairs):
        for side in (0, 1) if k % 2 == 0 else (1, 0):
            before()
            seconds[k, side] = clock((ours, other)[side], counts[side])
    ratios = seconds[:, 1] / seconds[:, 0]
    low, high = np.percentile(ratios, [25, 75])
    mine, its = np.median(seconds, axis=0)
    return Pair(float(mine), float(its), float(np.median(ratios)), (float(low), float(high)))


def clock(function: Callable[[], object], calls: int) -> float:
    """Seconds of one call, as the mean of many; the garbage collector waits."""
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
        ours, other: what was measured, as text.
        value: what the target is compared with.
        spread: quartiles of the ratio; empty where there are none.
    """

    ours: str
    other: str
    value: float
    spread: str = ""

    @staticmethod
    def of(pair: Pair) -> Line:
        """The line of two timings."""
        return Line(duration(pair.ours), duration(pair.other), pair.ratio, f"{pair.spread[0]:.3g} .. {pair.spread[1]:.3g}")


@dataclass(frozen=True)
class Bench:
    """A line that can be measured.

    Attributes:
        name: of the line.
        against: whom.
        target: least value; most where ``most``.
        measure: makes the line; its argument says whether to be quick.
        unit: of the value, "x" for a ratio.
    """

    name: str
    against: str
    target: float
    measure: Callable[[bool], Line]
    most: bool = False
    unit: str = "x"

    def met(self, line: Line) -> bool:
        """Return whether the target is met."""
        return line.value <= self.target if self.most else line.value >= self.target


def busy(seconds: float = 0.5) -> float:
    """Return the number of cores that others use at the moment, while this process waits; 0 where the system does not say."""
    before = _core_seconds()
    time.sleep(seconds)  # noqa: TID251 - the one place that waits for the machine
    return max(0.0, (_core_seconds() - before) / seconds)


def wait_for_cores(most: float = 90.0) -> None:
    """Wait until nobody else uses the cores, at most so many seconds."""
    end = time.perf_counter() + most
    while busy() > 0.1 and time.perf_counter() < end:
        pass


def _core_seconds() -> float:
    """Seconds for which cores have been in use since the system started, summed over them."""
    try:
        user, nice, system, _, _, *rest = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + sum(rest[:3])) / os.sysconf("SC_CLK_TCK")


def duration(seconds: float) -> str:
    """Seconds with three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
