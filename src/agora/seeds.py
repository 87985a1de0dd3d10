"""Random streams, each named after its use.

A stream's key is computed from the episode's name (suite entry), the seed and the use. Each draw from the stream is addressed by
(id, step, index), so it does not depend on slots, workers, the order of calls or other draws. Philox4x32-10: Salmon et al.,
"Parallel random numbers: as easy as 1, 2, 3", SC 2011. Host code and kernels use the same implementation.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from agora.core.jit import kernel, part

__all__ = ["Stream"]

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
_TO_UNIT = 1.0 / 9007199254740992.0  # 2**-53


@part
def philox(key, a, b, c, d):
    """Return four random 32-bit words (as uint64) for the counter (a, b, c, d) and a 64-bit key."""
    k0, k1 = np.uint64(key) & _LOW, np.uint64(key) >> _SHIFT
    x0, x1, x2, x3 = np.uint64(a) & _LOW, np.uint64(b) & _LOW, np.uint64(c) & _LOW, np.uint64(d) & _LOW
    for _ in range(10):
        p0, p1 = _M0 * x0, _M1 * x2
        x0, x1, x2, x3 = (p1 >> _SHIFT) ^ x1 ^ k0, p1 & _LOW, (p0 >> _SHIFT) ^ x3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return x0, x1, x2, x3


@part
def uniform_at(key, identity, step, index):
    """Return the uniformly distributed number in [0, 1), with 53 random bits, for (id, step, index) and a key."""
    x0, x1, _, _ = philox(key, identity, step, index, 0)
    return np.float64(((x0 << np.uint64(21)) ^ (x1 >> np.uint64(11))) & np.uint64(0x1FFFFFFFFFFFFF)) * _TO_UNIT


@part
def normal_at(key, identity, step, index):
    """Return the normally distributed number with mean 0 and variance 1 for (id, step, index) and a key (Box and Muller 1958)."""
    x0, x1, x2, x3 = philox(key, identity, step, index, 1)
    u = (np.float64(((x0 << np.uint64(21)) ^ (x1 >> np.uint64(11))) & np.uint64(0x1FFFFFFFFFFFFF)) + 1.0) * _TO_UNIT
    v = np.float64(((x2 << np.uint64(21)) ^ (x3 >> np.uint64(11))) & np.uint64(0x1FFFFFFFFFFFFF)) * _TO_UNIT
    return math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)


@kernel
def _fill(key, identity, step, first, normal, out):
    for i in range(out.size):
        out[i] = normal_at(key, identity, step, first + i) if normal else uniform_at(key, identity, step, first + i)


def key_of(entry: str, seed: int, use: str) -> np.uint64:
    """Return the 64-bit key of an episode's stream for a given use, e.g. ``key_of("demo/corridor/3", 7, "crowd")``."""
    text = "\x1f".join((entry, str(int(seed)), use)).encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))


def derived(*texts: str) -> int:
    """Return a seed computed from texts: the first 32 bits, big-endian, of the SHA-256 hash of the texts joined by newlines."""
    return int.from_bytes(hashlib.sha256("\n".join(texts).encode()).digest()[:4], "big")


class Stream:
    """A stream for one use, from which numbers are drawn in sequence; used to place objects before an episode.

    The numbers are those of `uniform_at` and `normal_at` for consecutive values of ``index``.
    """

    def __init__(self, entry: str, seed: int, use: str, identity: int = 0, step: int = 0) -> None:
        self.key = key_of(entry, seed, use)
        self._address = (np.uint64(identity), np.uint64(step))
        self._next = 0

    def branch(self, use: str) -> Stream:
        """Return a substream for a use within this stream's use. The substream does not depend on earlier draws from this stream,
        and does not affect later draws.
        """
        return Stream(f"{int(self.key):016x}", 0, use)

    def _draw(self, shape: int | tuple[int, ...], normal: bool) -> np.ndarray:
        out = np.empty(shape, np.float64)
        _fill(self.key, *self._address, self._next, normal, out.reshape(-1))
        self._next += out.size
        return out

    def uniform(self, low: float = 0.0, high: float = 1.0, shape: int | tuple[int, ...] = ()) -> np.ndarray:
        """Return uniform random numbers in [low, high), float64, of a given shape."""
        return low + (high - low) * self._draw(shape, False)

    def normal(self, mean: float = 0.0, deviation: float = 1.0, shape: int | tuple[int, ...] = ()) -> np.ndarray:
        """Return normally distributed numbers, float64, of a given shape."""
        return mean + deviation * self._draw(shape, True)

    def integer(self, low: int, high: int) -> int:
        """Return a random integer in low..high, both inclusive."""
        return low + min(int(self._draw((), False) * (high - low + 1)), high - low)

    def permutation(self, count: int) -> np.ndarray:
        """Return the integers 0..count-1 in random order."""
        return np.argsort(self._draw(count, False), kind="stable")
