"""The threads of a batch, among which the worlds are divided."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

Work = Callable[[int, int], None]
"""A bound kernel: it is called with a range of worlds ``first <= w < last``."""

_PER_THREAD = 16  # minimum number of worlds per thread; with fewer, another thread costs more than it gains
_PARTS = 4  # ranges of worlds per thread; a thread that finishes early takes the next range


class Threads:
    """Runs kernels on all worlds; results do not depend on the number of threads.

    Args:
        worlds: number of worlds, W.
        threads: number of threads, including the calling thread.
    """

    def __init__(self, worlds: int, threads: int = 1) -> None:
        self._worlds = worlds
        self._helpers = threads - 1 if worlds >= threads * _PER_THREAD else 0
        self._pool = ThreadPoolExecutor(self._helpers) if self._helpers > 0 else None
        edges = np.linspace(0, worlds, _PARTS * threads + 1).astype(int)
        self._most = max(int(np.diff(edges).max()), 1)
        self._ranges = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    @property
    def several(self) -> bool:
        """True if there are several threads."""
        return self._pool is not None

    def everywhere(self, *kernels: Work) -> None:
        """Run kernels in sequence on every world, using the calling thread and the helper threads."""
        self._run([(0, self._worlds)] if self._pool is None else self._ranges, kernels)

    def at(self, worlds: Collection[int], *kernels: Work) -> None:
        """Run kernels in sequence on some of the worlds."""
        if len(worlds) == self._worlds:
            self.everywhere(*kernels)
            return
        ranges: list[tuple[int, int]] = []
        for w in sorted(worlds):
            if ranges and ranges[-1][1] == w and w - ranges[-1][0] < self._most:
                ranges[-1] = ranges[-1][0], w + 1
            else:
                ranges.append((w, w + 1))
        self._run(ranges, kernels)

    def _run(self, parts: list[tuple[int, int]], kernels: Sequence[Work]) -> None:
        ranges = iter(parts)

        def take() -> None:
            for first, last in ranges:
                for kernel in kernels:
                    kernel(first, last)

        helpers = [self._pool.submit(take) for _ in range(self._helpers)] if self._pool and len(parts) > 1 else []
        take()
        for helper in helpers:
            helper.result()

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
