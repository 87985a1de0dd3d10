"""Texts sent between two processes on one machine, with one connection per text: connect, send, close. The end of the stream marks
the end of the text.

The framing is SocNavBench's (CMU-TBD/SocNavBench 2724ea85, ``agents/robot_utils.py`` and ``utils/utils.py: conn_recv``): UTF-8
without a length prefix.
"""

from __future__ import annotations

import math
import os
import selectors
import socket
import stat
import struct
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agora.errors import AgoraError, InputError
from agora.wire.address import Address, connect

LONGEST = 1 << 20
"""Maximum size of an accepted text, bytes."""
_OPEN = 16  # maximum number of open connections; the oldest is closed to make room for a new one
_CHUNK = 1 << 16


class SenderGoneError(AgoraError):
    """Raised if the process at the other end has exited."""


@dataclass(frozen=True)
class Letter:
    """A text received over one connection.

    Attributes:
        text: the text.
        sender: process id of the sender, 0 if unknown.
        problem: reason why the text is missing, or "".
    """

    text: str
    sender: int
    problem: str = ""


def peer(connection: socket.socket) -> int:
    """Return the process id at the other end of a Unix socket; 0 if unknown."""
    if connection.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return 0
    number: int = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    return number


def deliver(address: Address, text: str, patience: float, to: int = 0) -> None:
    """Send a text to the listener at an address; if ``to`` is not 0, the listener must be the process with this id.

    Raises:
        OSError: the text was not accepted within ``patience`` seconds. InputError: another process is listening at the address.
    """
    with connect(address, patience) as connection:
        if to and (found := peer(connection)) not in (0, to):
            raise InputError(f"{address}: process {found} listens there now, expected process {to}; only one joystick may connect")
        connection.sendall(text.encode())


@dataclass(eq=False)
class _Arriving:
    """A connection and the bytes received over it."""

    socket: socket.socket
    sender: int
    chunks: list[bytes] = field(default_factory=list)
    length: int = 0


class Mailbox:
    """Receives texts at an address, ordered by when their connections were opened.

    Args:
        address: address to listen on. A stale Unix socket file is removed.

    Raises:
        InputError: the address is in use or invalid.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._visitors: deque[int] = deque()
        self._letters: deque[Letter] = deque()
        self._arriving: list[_Arriving] = []
        self._watched = -1
        self._listener = _listener(address)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)

    def watch(self, process: int) -> None:
        """Make `wait` report when a process (0 for no process) has exited, if the system can detect this."""
        if process and hasattr(os, "pidfd_open"):
            with suppress(OSError):
                self._watched = os.pidfd_open(process)
                self._selector.register(self._watched, selectors.EVENT_READ)

    def visitor(self, until: float) -> int | None:
        """Return the process id of the next connection that is opened, 0 if unknown; None if no connection is opened by
        ``until``.
        """
        while not self._visitors:
            if not self._pass(until):
                return None
        return self._visitors.popleft()

    def wait(self, until: float) -> Letter | None:
        """Return the next text; None if none arrives by ``until``, a time on the clock of `time.monotonic`.

        Raises:
            SenderGoneError: the watched process has exited, and everything that it sent has been received.
        """
        while not self._letters:
            if not self._pass(until):
                return None
        return self._letters.popleft()

    def _pass(self, until: float) -> bool:
        """Receive the data that arrive by ``until``; return False if no data have arrived."""
        seconds = None if math.isinf(until) else max(0.0, until - time.monotonic())
        ready = {key.fd for key, _ in self._selector.select(seconds)}
        if self._listener.fileno() in ready:
            self._accept()
        elif ready == {self._watched}:
            raise SenderGoneError("its process has ended")
        for one in list(self._arriving):  # in the order in which they were opened, so that texts stay in order
            self._read(one)
            if one in self._arriving and one.socket not in self._selector.get_map():
                self._selector.register(one.socket, selectors.EVENT_READ)
        return bool(ready)

    def _accept(self) -> None:
        with suppress(OSError):  # already disconnected
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            one = _Arriving(connection, peer(connection))
            self._arriving.append(one)
            self._visitors.append(one.sender)
        if len(self._arriving) > _OPEN:
            self._close(oldest := self._arriving[0])
            self._letters.append(Letter("", oldest.sender, f"a connection with {oldest.length} bytes was never closed"))

    def _read(self, one: _Arriving) -> None:
        """Read the available bytes of a connection, or up to its end if it was closed."""
        with suppress(BlockingIOError):
            while one.length <= LONGEST:
                try:
                    chunk = one.socket.recv(_CHUNK)
                except BlockingIOError:
                    raise
                except OSError:
                    chunk = b""
                one.chunks.append(chunk)
                one.length += len(chunk)
                if not chunk:
                    break
            self._close(one)
            self._finish(one)

    def _finish(self, one: _Arriving) -> None:
        problem, text = "", ""
        if one.length > LONGEST:
            problem = f"a message is longer than {LONGEST} bytes"
        else:
            try:
                text = b"".join(one.chunks).decode()
            except UnicodeDecodeError:
                problem = f"a message of {one.length} bytes is not UTF-8"
        if text or problem:
            self._letters.append(Letter(text, one.sender, problem))

    def _close(self, one: _Arriving) -> None:
        if one.socket in self._selector.get_map():
            self._selector.unregister(one.socket)
        self._arriving.remove(one)
        one.socket.close()

    @property
    def begun(self) -> int:
        """Number of texts that have begun but not ended."""
        return sum(one.length > 0 for one in self._arriving)

    def close(self) -> None:
        """Stop listening, and remove the file of a Unix socket."""
        for one in list(self._arriving):
            self._close(one)
        self._selector.close()
        if self._watched >= 0:
            os.close(self._watched)
        if self.address.path:
            Path(self.address.path).unlink(missing_ok=True)
        self._listener.close()


def _listener(address: Address) -> socket.socket:
    """Return a socket that listens on an address."""
    if address.path:
        _make_way(address)
    listener = address.socket()
    try:
        if not address.path:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address.target)
        listener.listen()
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise InputError(f"{address}: cannot listen: {error.strerror or error}") from error
    return listener


def _make_way(address: Address) -> None:
    """Remove the file of a socket on which no process is listening any more.

    Raises:
        InputError: a process is listening on the socket, or the file is not a socket.
    """
    path = Path(address.path)
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise InputError(f"{path}: exists and is not a socket; choose another address")
        connect(address, 1.0).close()
    except FileNotFoundError:
        return
    except ConnectionRefusedError:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot listen: {error.strerror or error}") from error
    else:
        raise InputError(f"{path}: another process already listens there; end that process, or choose another address")
