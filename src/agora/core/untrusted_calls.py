"""Calls to untrusted code in this process: a boundary distinguishes exceptions raised by the code from signals sent by the user.

Code that calls ``os._exit`` fails like code that raises an exception; otherwise, the command would end silently and hide the
culprit.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import NoReturn, TypeVar

from agora.core import float_mode

_Item = TypeVar("_Item")


class Signalled(KeyboardInterrupt):
    """A signal that stops the program. Any other `KeyboardInterrupt` was raised by untrusted code.

    Attributes:
        number: number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class ProcessExit(BaseException):
    """Untrusted code called ``os._exit``."""


_came: list[Signalled] = []
"""Signals not handled yet, which an ``except:`` in untrusted code may have swallowed."""


def interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Signal handler that raises `Signalled`."""
    _came.append(Signalled(number))
    raise _came[-1]


def tell_crashes() -> None:
    """From now on, if machine code crashes this process, print the Python line that called the machine code to the error stream."""
    with suppress(OSError, ValueError, RuntimeError):  # the stream may be closed, or may not be a file
        faulthandler.enable()


def forget_signals() -> None:
    """Mark all signals received so far as handled."""
    _came.clear()


def raise_caught() -> None:
    """If an ``except:`` in untrusted code has caught a signal, raise it again. Call this in the main thread."""
    if _came:
        raise _came.pop()


_RESERVE = 64
"""Number of open files reserved for the process when untrusted code has used up its share."""


class CallBoundary:
    """Distinguishes signals from exceptions, and ends processes forked within it; a nested boundary installs no signal handler.
    Inside the boundary, ``os._exit`` raises `ProcessExit` in this thread. Elsewhere, for instance in a forked process, it ends the
    process.
    """

    _outermost = True
    _end = staticmethod(os._exit)

    def __enter__(self) -> None:
        self._process, self._thread = os.getpid(), threading.get_ident()
        self._main = threading.current_thread() is threading.main_thread()
        self._first = self._main and CallBoundary._outermost
        self._usual = self._first and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._first:
            CallBoundary._outermost = False
            os._exit = self._exit
        if self._usual:
            signal.signal(signal.SIGINT, interrupt)

    def _exit(self, status: int) -> NoReturn:
        """Replacement for ``os._exit``."""
        if os.getpid() != self._process or threading.get_ident() != self._thread:
            CallBoundary._end(status)
        raise ProcessExit(f"os._exit({status})")

    def __exit__(self, *raised: object) -> None:
        if os.getpid() != self._process:
            CallBoundary._end(1)
        if self._first:
            CallBoundary._outermost = True
            os._exit = CallBoundary._end
        if self._usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._main:
            raise_caught()


class untrusted_call(CallBoundary):  # noqa: N801 - used like a function
    """Context in which to call untrusted code. Catch its exceptions outside the context: all except `Signalled` come from the code.

    A signal that the code caught is raised again when the call has ended. A process that the code forked ends with the context;
    otherwise, it would continue as a duplicate of this process. The code may open fewer files than the process, so that code that
    leaks files is the first to fail. A changed floating-point mode is restored.

    Raises:
        Signalled: Ctrl-C, or another signal whose handler is `interrupt`.
        FloatModeError: the code changed the floating-point mode and did not raise an exception itself.
    """

    def __enter__(self) -> None:
        super().__enter__()
        if self._main:
            self._limit = resource.getrlimit(resource.RLIMIT_NOFILE)
            soft, hard = self._limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft - min(_RESERVE, soft // 4), hard))

    def __exit__(self, *raised: object) -> None:
        if self._main:
            with suppress(ValueError):  # the code has lowered the limit permanently
                resource.setrlimit(resource.RLIMIT_NOFILE, self._limit)
        super().__exit__(*raised)
        if raised[0] is None:
            float_mode.check("the call")
        elif not float_mode.is_usual():
            float_mode.set_usual()


def guard_items(items: Iterator[_Item]) -> Iterator[_Item]:
    """Yield the items of a generator that calls untrusted code, each computed inside a `CallBoundary`."""
    while True:
        with CallBoundary():
            try:
                item = next(items)
            except StopIteration:
                return
        yield item
