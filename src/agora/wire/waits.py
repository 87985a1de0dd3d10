"""The time that processes wait for a processor, which is excluded from deadlines so that a busy machine does not cause
time-outs.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path


class Waits:
    """The duration of a call in another process, excluding the time that the process waited for a processor.

    Linux reports how long each thread waited for a processor. If several threads waited at the same time, the longest wait counts.
    Other systems use wall-clock time. A call is measured from the first check.

    Args:
        process: process id.
    """

    def __init__(self, process: int | None) -> None:
        self._threads = Path(f"/proc/{process}/task")
        self._call = 0.0
        self._since, self._before = 0.0, dict[str, float]()

    def of(self, call: float) -> float:
        """Return the time that a call has taken since it was first checked, s; the call is identified by its start time."""
        if call != self._call:
            self._call, self._since, self._before = call, time.monotonic(), self._waited()
        longest = max((now - self._before.get(thread, 0.0) for thread, now in self._waited().items()), default=0.0)
        return time.monotonic() - self._since - longest

    def _waited(self) -> dict[str, float]:
        """Return the time that each thread has waited for a processor since the thread started, s."""
        found = {}
        with suppress(OSError):
            for thread in self._threads.iterdir():
                with suppress(OSError, IndexError, ValueError):  # the thread has ended, or the kernel does not record waiting times
                    found[thread.name] = int((thread / "schedstat").read_text().split()[1]) * 1e-9
        return found


class Patience:
    """A deadline for an answer from another process, which excludes the time that the process waits for a processor.

    Args:
        process: process id.
        most: maximum time from now until the answer, s.

    Attributes:
        until: initial deadline, on the clock of `time.monotonic`, s.
    """

    def __init__(self, process: int, most: float) -> None:
        self._waits, self._most, self._began = Waits(process), most, time.monotonic()
        self._waits.of(self._began)
        self.until = self._began + most

    def later(self) -> float:
        """Return the extended deadline, on the clock of `time.monotonic`, s.

        Raises:
            TimeoutError: the answer has taken too long.
        """
        left = self._most - self._waits.of(self._began)
        if left <= 1e-3:
            raise TimeoutError
        return time.monotonic() + left
