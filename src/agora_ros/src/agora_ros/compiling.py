"""Says every few seconds that kernels are compiled, which on a machine happens once and takes up to a minute."""

from __future__ import annotations

import threading
import time
from typing import Any

import rospy
from numba.core import event

_EVERY = 5.0  # s of the wall's clock between two lines


class Compiling(event.Listener):  # type: ignore[misc]
    """Follows Numba's compiling; functions from its cache do not count."""

    def __init__(self) -> None:
        self._depth, self._count, self._spent, self._began = 0, 0, 0.0, 0.0
        event.register("numba:compile", self)
        threading.Thread(target=self._tell, daemon=True).start()

    def on_start(self, _: Any) -> None:
        """One function begins, perhaps inside another."""
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, ended: Any) -> None:
        """Count a function that is compiled; nothing that is made ready from a cache."""
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
