"""A token by which one thread asks a run in another to stop."""

from __future__ import annotations

import threading

from agora.errors import StoppedError

__all__ = ["StopToken"]


class StopToken:
    """Asks a run to stop, from any thread and at any time; the run looks at it.

    It stays in its process: where it is pickled, its copy is a token that nobody has asked anything of.
    """

    def __init__(self) -> None:
        self._asked = threading.Event()

    def stop(self) -> None:
        """Ask."""
        self._asked.set()

    def check(self) -> None:
        """Go on where nobody has asked.

        Raises:
            StoppedError: somebody has.
        """
        if self._asked.is_set():
            raise StoppedError("stopped")

    def __reduce__(self) -> tuple[type[StopToken], tuple[()]]:
        """A pickle of a token makes a new one, which nobody else can stop."""
        return StopToken, ()
