"""A connection to a program that answers questions: Agora connects, the program sends a hello message, then questions and answers
alternate.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace
from typing import Any, TypeVar

from agora.errors import AgoraError, PlannerError
from agora.interfaces import Answer
from agora.wire.address import Address, connect
from agora.wire.message import decode
from agora.wire.question import Hello, Question, Reply
from agora.wire.stream import frame

T = TypeVar("T")

LONGEST = 1 << 26
"""Maximum size of a message from a program, bytes."""
PATIENCE = 10.0
"""Maximum time until a program has sent its hello message, s."""
MOST_WAITED = 10.0
"""Maximum total time of unanswered questions, as a multiple of the program's deadline; after that, the program is not asked
again.
"""
_CHUNK = 1 << 20


class RefusedError(PlannerError):
    """Raised if the program gives a reason for not answering; the connection stays open."""


class Line:
    """Questions to the program at an address, over one connection per process.

    The connection is opened for the first question. Questions are numbered, and an answer repeats the number of its question. After
    an error, the connection is closed and opened again for the next question, so that a late or repeated answer is never mistaken
    for another one. A copy in another process, forked or unpickled, has its own connection.

    Args:
        address: address of the program.

    Attributes:
        unanswered: number of questions without an answer.
        waited: total time spent on unanswered questions, s.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._connection: socket.socket | None = None
        self._process = self._number = self.unanswered = 0
        self.waited = 0.0

    def __getstate__(self) -> dict[str, Any]:
        return {"address": self.address, "_connection": None, "_process": 0, "_number": 0, "unanswered": 0, "waited": 0.0}

    def __del__(self) -> None:
        self.close()

    def hello(self) -> Hello:
        """Return the program's hello message, using a connection that is closed afterwards.

        Raises:
            PlannerError: nothing is listening, or no hello message arrives.
        """
        try:
            return self._opened()
        finally:
            self.close()

    def ask(self, question: Question, known: Hello) -> Answer:
        """Return the answer to a question.

        Args:
            question: the question.
            known: hello message that the program sent when the planner was created.

        Raises:
            PlannerError: nothing is listening; or the program closes the connection, answers too late, does not answer with
                exactly one message that belongs to this question, sends a different hello message than before, or has left too
                many questions unanswered.
        """
        if self.waited > MOST_WAITED * known.deadline:
            raise PlannerError(
                f"{self._name}: is no longer queried: {self.unanswered} unanswered questions took {self.waited:.0f} s, "
                f"more than {MOST_WAITED:g} times its deadline of {known.deadline:g} s"
            )
        began = time.monotonic()
        try:
            return self._asked(question, known)
        except RefusedError:
            raise
        except BaseException:
            self.close()
            self.unanswered += 1
            self.waited += time.monotonic() - began
            raise

    def _asked(self, question: Question, known: Hello) -> Answer:
        """Return the answer to a question, opening a connection if there is none."""
        if (self._connection is None or self._process != os.getpid()) and self._opened() != known:
            raise PlannerError(f"{self._name}: sent a different hello than before; restart the run")
        self._refuse_more()
        self._number += 1
        data, until = frame(replace(question, number=self._number)), self._until(known)
        try:
            self._wait_until(until).sendall(data)
            reply = self._message(until, Reply, "answer")
        except TimeoutError as error:
            raise PlannerError(f"{self._name}: no answer within its deadline of {known.deadline:g} s") from error
        if reply.number != self._number:
            raise PlannerError(f"{self._name}: answered question {reply.number}, expected an answer to question {self._number}")
        return Answer(reply.twists, reply.memory, reply.notes)

    def _refuse_more(self) -> None:
        """Check that no bytes have arrived since the last answer."""
        assert self._connection is not None
        self._connection.settimeout(0.0)
        try:
            more = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            raise PlannerError(f"{self._name}: {error.strerror or error}; expected an open connection") from error
        last = f"one answer to question {self._number}" if self._number else "its hello"
        said = f"sent {len(more)} bytes after {last}" if more else "closed the connection"
        raise PlannerError(f"{self._name}: {said} before the next question")

    def close(self) -> None:
        """Close the connection, if one is open."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @property
    def _name(self) -> str:
        return f"program at {self.address}"

    def _until(self, known: Hello) -> float:
        """Return the deadline for an answer."""
        return time.monotonic() + known.deadline

    def _later(self, until: float) -> float:
        """Return the extended deadline once the given deadline has passed.

        Raises:
            TimeoutError: the deadline is not extended.
        """
        raise TimeoutError

    def _opened(self) -> Hello:
        """Open a connection and return the hello message that arrives over it."""
        self.close()
        self._number = 0
        try:
            self._connection, self._process = connect(self.address, PATIENCE), os.getpid()
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise PlannerError(f"{self._name}: nothing is listening ({reason}); start the program first") from error
        if not self.address.path:
            self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            return self._message(time.monotonic() + PATIENCE, Hello, "hello")
        except TimeoutError as error:
            several = "every worker has its own connection, and the program must serve all of them at the same time"
            raise PlannerError(f"{self._name}: no hello within {PATIENCE:g} s; {several}") from error

    def _message(self, until: float, kind: type[T], what: str) -> T:
        """Receive one message; ``what`` names it in errors."""
        length = int.from_bytes(self._bytes(4, until, what), "little")
        if length > LONGEST:
            raise PlannerError(f"{self._name}: its {what} has {length} bytes, expected a message of at most {LONGEST}")
        return self._read(self._bytes(length, until, what), kind, what)

    def _read(self, data: bytes, kind: type[T], what: str) -> T:
        """Return the record in a message."""
        try:
            return decode(data, kind, what)
        except AgoraError as error:
            raise PlannerError(f"{self._name}: {error}") from error

    def _bytes(self, count: int, until: float, what: str) -> bytes:
        """Receive ``count`` bytes."""
        data = bytearray()
        while len(data) < count:
            try:
                part = self._wait_until(until).recv(min(count - len(data), _CHUNK))
            except TimeoutError:
                until = self._later(until)
                continue
            except OSError as error:
                raise PlannerError(f"{self._name}: {error.strerror or error}; expected its {what}") from error
            if not part:
                raise PlannerError(f"{self._name}: closed the connection after {len(data)} bytes of its {what}")
            data += part
        return bytes(data)

    def _wait_until(self, until: float) -> socket.socket:
        """Return the connection, with its time-out set to the deadline.

        Raises:
            TimeoutError: the deadline has passed.
        """
        assert self._connection is not None
        left = until - time.monotonic()
        if left <= 0.0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection
