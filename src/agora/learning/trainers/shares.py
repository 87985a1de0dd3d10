"""Batches in shares, which threads compute side by side.

PyTorch's own threads spin while they wait. Together with the threads of the worlds, or with other programs, they cost more than
they bring. Here each thread computes whole shares, and PyTorch uses one thread for each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch
from torch import Tensor

Answer = TypeVar("Answer")

_MOST = 16  # shares of a batch
_STEPS = 2048  # of a share of sequences, at least


def ranges(count: int, least: int) -> list[tuple[int, int]]:
    """Return the first number of each share of ``count`` rows, and the number after its last.

    They depend on the numbers alone, so that no result depends on the number of threads.

    Args:
        count: rows.
        least: rows of a share, at least; of a batch that is smaller there is one share.
    """
    shares = max(1, min(_MOST, count // least))
    edges = [count * k // shares for k in range(shares + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


def ranges_of_sequences(count: int, steps: int) -> list[tuple[int, int]]:
    """Return the shares of ``count`` sequences, each of so many steps (`ranges`)."""
    return ranges(count, -(-_STEPS // steps))


class Shares:
    """Threads that compute shares; from now on PyTorch uses one thread wherever it is called.

    Args:
        threads: number of threads.
    """

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def each(self, work: Callable[[int, int], Answer], shares: Sequence[tuple[int, int]]) -> list[Answer]:
        """Return the answers of ``work(first, last)`` for all shares, in their order."""
        if self._pool is None or len(shares) == 1:
            return [work(first, last) for first, last in shares]
        return list(self._pool.map(work, *zip(*shares, strict=True)))

    def slope(
        self, weights: Sequence[Tensor], work: Callable[[int, int], tuple[Tensor, Tensor]], shares: Sequence[tuple[int, int]]
    ) -> Tensor:
        """Write the gradient of a loss that is a sum over shares into the weights, and add up what each share tells.

        Args:
            weights: that the loss depends on; those that it does not depend on get no gradient.
            work: gives of a share numbers to tell (K,) and its part of the loss, a scalar.
            shares: of the batch.

        Returns:
            Sums of the numbers to tell (K,).
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
