"""Batches in shares, which threads compute side by side.

PyTorch's own threads spin while they wait. Beside the threads of the worlds, or beside other programs, they cost more than they
bring. Here each thread computes whole shares, and PyTorch uses one thread for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Answer = TypeVar("Answer")

_MOST = 16  # shares of a batch


def ranges(count: int, least: int) -> list[tuple[int, int]]:
    """Return the first and last number of each share of ``count`` rows.

    They depend on the numbers alone, so that no result depends on the number of threads.

    Args:
        count: rows.
        least: rows of a share, at least; of a batch that is smaller there is one share.
    """
    shares = max(1, min(_MOST, count // least))
    edges = [count * k // shares for k in range(shares + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


class Shares:
    """Threads that compute shares; from now on PyTorch uses one thread wherever it is called.

    Args:
        threads: how many.
    """

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def each(self, work: Callable[[int, int], Answer], shares: Sequence[tuple[int, int]]) -> list[Answer]:
        """Return the answers of ``work(first, last)`` for all shares, in their order."""
        if self._pool is None or len(shares) == 1:
            return [work(first, last) for first, last in shares]
        return list(self._pool.map(work, *zip(*shares, strict=True)))

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
