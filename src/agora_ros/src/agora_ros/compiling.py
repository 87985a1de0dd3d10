"""Logs every few seconds that kernels are being compiled. Compilation happens once per machine and takes up to a minute."""

from __future__ import annotations

import threading
import time
from typing import Any

import rospy
from numba.core import event

_EVERY = 5.0  # s of wall time between two lines


class Compiling(event.Listener):  # type: ignore[misc]
    """Observes Numba's compilation; functions loaded from its cache do not count."""

    def __init__(self) -> None:
        self._depth, self._count, self._spent, self._began = 0, 0, 0.0, 0.0
        event.register("numba:compile", self)
        threading.Thread(target=self._tell, daemon=True).start()

    def on_start(self, _: Any) -> None:
        """Record that the compilation of a function has started, possibly while another function is being compiled."""
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, ended: Any) -> None:
        """Count a compiled function, unless it was loaded from the cache."""
        self._depth -= 1
        self._count += "dispatcher" in ended.data or bool(ended.data["what"])
        if self._depth == 0:
            self._spent += time.monotonic() - self._began

    def _tell(self) -> None:
        told = 0
        while not rospy.is_shutdown():
            rospy.rostime.wallsleep(_EVERY)
            now, count = self._began, self._count
            if count > told or self._depth:
                spent = self._spent + (time.monotonic() - now if self._depth else 0.0)
                rospy.loginfo(f"compiling (first start on this machine): {count} functions in {spent:.0f} s so far")
            told = count
