"""The chronological order of the messages in a bag.

The messages in a file may be in a different order, because scripts concatenate bags or write one topic after another. `ranks` gives
each message a rank by record time, so readers can sort messages without decoding them.

If a simulation is reset or a wall clock is set back, record times repeat. In this case, the order in the file is the order of
publication, and `ranks` keeps this order. Clock topics (odometry) distinguish such a bag from a merged bag, because the record
times then overlap even within a single clock topic.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection

import numpy as np

from agora.core.state import Array, Ints
from agora.datasets.bagfile import Connection
from agora.datasets.parts import Source

_JITTER = 50_000_000
"""Maximum overlap between the record times of a topic that still counts as jitter of the recorder, ns."""


def ranks(bag: Source, clock: Callable[[Connection], bool], topics: Collection[str] | None = None) -> Ints:
    """Return the chronological rank of each message in ``bag.messages(topics)``; simultaneous messages keep the order of the file.

    Args:
        bag: bag to read.
        clock: function that returns whether a connection belongs to a clock topic, i.e. a topic that is published continuously.
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
    """Return whether times (N,), ns, jump back into an interval that they have already covered."""
    back = np.flatnonzero(np.diff(times) < 0) + 1
    first, last = times[np.append(0, back)], times[np.append(back, len(times)) - 1]
    by_begin = np.argsort(first, kind="stable")
    covered = np.maximum.accumulate(last[by_begin])
    return bool((covered[:-1] - first[by_begin][1:] > _JITTER).any())
