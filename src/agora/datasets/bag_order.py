"""The order of time of the messages of a bag.

A file may hold its messages in another order: scripts merge two bags one after another, or write one topic after the other. `ranks`
gives each message its place in the order of its record time, so that readers need no payload to sort.

If a simulation is reset, or a wall clock is set back, record times repeat. Then the order of the file is the order of publication,
and `ranks` keeps it. The clock topics (odometry) distinguish such a bag from a merged one: their own record times overlap.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection

import numpy as np

from agora.core.state import Array, Ints
from agora.datasets.bagfile import Connection
from agora.datasets.parts import Source

_JITTER = 50_000_000
"""Largest overlap of a topic's record times that counts as jitter of the recorder, ns."""


def ranks(bag: Source, clock: Callable[[Connection], bool], topics: Collection[str] | None = None) -> Ints:
    """Return the rank of each message of ``bag.messages(topics)`` in the order of time; simultaneous messages keep their order.

    Args:
        bag: bag to read.
        clock: returns whether a connection is a clock topic, which is published all the time.
        topics: topics to read; all by default.

    Raises:
        InputError: the file cannot be read, or is not a bag.
    """
    times = array("q")
    ticks: dict[str, array[int]] = {}
    for message in bag.messages(topics):
        times.append(message.nanoseconds)
        if clock(message.connection):
            ticks.setdefault(message.connection.topic, array("q")).append(message.nanoseconds)
    order = np.arange(len(times), dtype=np.int32)
    if not any(_repeats(np.array(told)) for told in ticks.values()):
        order[np.argsort(np.array(times, np.int64), kind="stable")] = np.arange(len(times), dtype=np.int32)
    return order


def _repeats(times: Array) -> bool:
    """Return whether times (N,), ns, go back to an interval that they have already covered."""
    back = np.flatnonzero(np.diff(times) < 0) + 1
    first, last = times[np.append(0, back)], times[np.append(back, len(times)) - 1]
    by_begin = np.argsort(first, kind="stable")
    covered = np.maximum.accumulate(last[by_begin])
    return bool((covered[:-1] - first[by_begin][1:] > _JITTER).any())
