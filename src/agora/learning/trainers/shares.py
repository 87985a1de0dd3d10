"""Splits batches into shares that threads compute in parallel.

PyTorch's own threads spin while they wait. In combination with the threads of the worlds, or with other programs, this costs more
time than the threads save. Here, each thread computes whole shares, and PyTorch uses a single thread for each share.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch
from torch import Tensor

Answer = TypeVar("Answer")

_MOST = 16  # maximum number of shares in a batch
_STEPS = 2048  # minimum number of steps in a share of sequences


def ranges(count: int, least: int) -> list[tuple[int, int]]:
    """Divide ``count`` rows into shares; return the first row of each share, and one more than the share's last row.

    The shares depend only on the arguments, so results do not depend on the number of threads.

    Args:
        count: number of rows.
        least: minimum number of rows in a share; a smaller batch is a single share.
    """
    shares = max(1, min(_MOST, count // least))
    edges = [count * k // shares for k in range(shares + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


def ranges_of_sequences(count: int, steps: int) -> list[tuple[int, int]]:
    """Return the shares (see `ranges`) of ``count`` sequences of ``steps`` steps each."""
    return ranges(count, -(-_STEPS // steps))


class Shares:
    """Threads that compute shares. Creating an instance limits PyTorch to one thread in the whole process.

    Args:
        threads: number of threads.
    """

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def each(self, work: Callable[[int, int], Answer], shares: Sequence[tuple[int, int]]) -> list[Answer]:
        """Return the results of ``work(first, last)`` for all shares, in order."""
        if self._pool is None or len(shares) == 1:
            return [work(first, last) for first, last in shares]
        return list(self._pool.map(work, *zip(*shares, strict=True)))

    def slope(
        self, weights: Sequence[Tensor], work: Callable[[int, int], tuple[Tensor, Tensor]], shares: Sequence[tuple[int, int]]
    ) -> Tensor:
        """Write the gradient of a loss that is a sum over shares into the weights, and sum the statistics of the shares.

        Args:
            weights: weights with respect to which the loss is differentiated; weights that do not affect the loss get no gradient.
            work: function that computes, for a share, statistics (K,) and the share's part of the loss, a scalar.
            shares: shares of the batch.

        Returns:
            Sums of the statistics (K,).
        """

        def one(first: int, last: int) -> tuple[Tensor, tuple[Tensor | None, ...]]:
            told, loss = work(first, last)
            return told.detach(), torch.autograd.grad(loss, weights, allow_unused=True)

        told, slopes = zip(*self.each(one, shares), strict=True)
        for weight, parts in zip(weights, zip(*slopes, strict=True), strict=True):
            weight.grad = None if parts[0] is None else functools.reduce(torch.add, parts)
        return torch.stack(told).sum(0)

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
