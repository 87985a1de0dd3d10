"""Calls of untrusted code in this process: a boundary distinguishes the code's exceptions from the user's signals.

Code that calls ``os._exit`` fails like code that raises; otherwise, a silent end of the command would hide the culprit.
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
    """A signal that ends the work. Any other `KeyboardInterrupt` was raised by untrusted code.

    Attributes:
        number: number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class ProcessExit(BaseException):
    """Untrusted code called ``os._exit``."""


_came: list[Signalled] = []
"""Signals that have not been handled yet; an ``except:`` of untrusted code may have caught them."""


def interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """A handler of signals that raises `Signalled`."""
    _came.append(Signalled(number))
    raise _came[-1]


def tell_crashes() -> None:
    """Print, on the error stream, the line of Python that called machine code which crashes this process."""
    with suppress(OSError, ValueError, RuntimeError):  # the stream may be closed, or not a file
        faulthandler.enable()


def forget_signals() -> None:
    """Mark the signals so far as handled."""
    _came.clear()


def raise_caught() -> None:
    """Raise a signal that an ``except:`` of untrusted code has caught, if any. Call this in the main thread."""
    if _came:
        raise _came.pop()


_RESERVE = 64
"""Number of open files reserved for the process when untrusted code has used up its share."""


class CallBoundary:
    """Distinguishes signals from exceptions, and ends processes forked within it; a nested boundary needs no handler. Within it,
    ``os._exit`` raises `ProcessExit` in this thread, and ends the process elsewhere, as in a process that was forked.
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
    """Call untrusted code within this context, and catch its exceptions outside: all except `Signalled` come from the code.

    A signal that the code caught is raised again when the call has ended. A process that the code forked ends there; otherwise, it
    would continue as a duplicate of this process. The code may open fewer files than the process, so that code that leaks files
    fails first. A changed floating-point mode is restored.

    Raises:
        Signalled: Ctrl-C, or another signal whose handler is `interrupt`.
        FloatModeError: the code changed the floating-point mode, and raised nothing itself.
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
