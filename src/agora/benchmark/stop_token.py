"""A token with which one thread asks a run in another thread to stop."""

from __future__ import annotations

import threading

from agora.errors import StoppedError

__all__ = ["StopToken"]


class StopToken:
    """Asks a run to stop, from any thread and at any time; the run checks the token.

    A token works only within its process. A pickled copy is a new token through which no stop has been requested.
    """

    def __init__(self) -> None:
        self._asked = threading.Event()

    def stop(self) -> None:
        """Request the stop."""
        self._asked.set()

    def check(self) -> None:
        """Raise an error if a stop was requested.

        Raises:
            StoppedError: a stop was requested.
        """
        if self._asked.is_set():
            raise StoppedError("stopped")

    def __reduce__(self) -> tuple[type[StopToken], tuple[()]]:
        """Pickle the token as a new, independent token."""
        return StopToken, ()
