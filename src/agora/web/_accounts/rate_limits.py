"""Rate limits: each request takes a token from a bucket, which refills at a constant rate."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable

_MOST = 20_000  # maximum number of buckets in memory


class Buckets:
    """Token buckets, one per key; a new bucket is full.

    Args:
        rate: rate at which a bucket refills, tokens/s.
        size: maximum number of tokens in a bucket.
        clock: function that returns the time, s.
    """

    def __init__(self, rate: float, size: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._size, self._clock = rate, size, clock
        self._levels: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> float:
        """Take a token; return 0 if a token was available, otherwise the time until the next token, s."""
        now = self._clock()
        level, since = self._levels.pop(key, (self._size, now))
        level = min(self._size, level + (now - since) * self._rate)
        if len(self._levels) >= _MOST:  # most of the oldest buckets are full again
            for old in list(self._levels)[: _MOST // 10]:
                del self._levels[old]
        taken = level >= 1.0
        self._levels[key] = (level - 1.0 if taken else level, now)
        return 0.0 if taken else (1.0 - level) / self._rate

    def refill(self, key: str) -> None:
        """Fill a bucket."""
        self._levels.pop(key, None)


def network_of(address: str) -> str:
    """Return the key of the bucket for an address. For an IPv6 address, the key is the household's network, because a household has
    very many addresses.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
