"""Detects workers that have gone silent, using the observer's clock.

Clocks are adjusted and laptops sleep, so times of day are not compared. If a heartbeat does not change for too long, as measured by
the observer's own clock, its worker is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta


class HeartbeatMonitor:
    """Heartbeats as seen by one observer.

    Args:
        clock: clock of the observer, s; it stops while the machine sleeps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[datetime, float]] = {}

    def silent_names(self, beats: Mapping[str, datetime], patience: timedelta) -> set[str]:
        """Return the names whose heartbeat has not changed for longer than ``patience``.

        Args:
            beats: the newest heartbeat of each worker from which heartbeats are still expected, by name.
            patience: maximum time between two heartbeats.
        """
        now = self._clock()
        new = {name: (beat, now) for name, beat in beats.items() if self._seen.get(name, (None,))[0] != beat}
        self._seen = {name: self._seen[name] for name in beats if name not in new} | new
        return {name for name, (_, since) in self._seen.items() if now - since > patience.total_seconds()}
