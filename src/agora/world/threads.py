"""The threads of a batch: they share its worlds among them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

Work = Callable[[int, int], None]
"""A kernel that is bound: it is called with a range of worlds ``first <= w < last``."""

_PER_THREAD = 16  # worlds below which a thread costs more than it brings
_PARTS = 4  # ranges of worlds for each thread: who is done, or has a core for itself, takes the next


class Threads:
    """Runs kernels on all worlds; no result depends on how many threads there are.

    Args:
        worlds: W.
        threads: the calling one counts.
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
        """True where there are several threads."""
        return self._pool is not None

    def everywhere(self, *kernels: Work) -> None:
        """Run kernels, one after another, on every world, on this thread and the helpers."""
        self._run([(0, self._worlds)] if self._pool is None else self._ranges, kernels)

    def at(self, worlds: Collection[int], *kernels: Work) -> None:
        """Run kernels, one after another, on some worlds."""
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
        """Stop them."""
        if self._pool is not None:
            self._pool.shutdown()
