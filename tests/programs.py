"""Programs that planners ask over sockets: those of the examples as processes, and threads of this one that do as a test says."""

from __future__ import annotations

import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agora.interfaces import Answer
from agora.wire.address import Address, connect
from agora.wire.message import decode
from agora.wire.question import Hello, Question, Reply
from agora.wire.stream import frame

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@contextmanager
def running(words: Sequence[str], address: str, folder: Path) -> Iterator[None]:
    """A program that listens at an address."""
    with subprocess.Popen(words, cwd=folder) as process:
        try:
            place = Address.of(str(folder / address))
            while True:
                assert process.poll() is None, f"{words} ended"
                try:
                    with connect(place, 5.0) as line:
                        assert line.recv(4)
                except OSError:
                    threading.Event().wait(0.01)
                else:
                    break
            yield
        finally:
            process.terminate()


@contextmanager
def python_program(folder: Path) -> Iterator[str]:
    """The address of the program in Python."""
    with running([sys.executable, str(EXAMPLES / "remote_planner.py"), "python.socket"], "python.socket", folder):
        yield str(folder / "python.socket")


@contextmanager
def cpp_program(folder: Path) -> Iterator[str]:
    """The address of the program in C++, compiled; docker/install-ros installs the compiler where it is not here."""
    compiler = ["c++", "-O2", "-std=c++17"]
    subprocess.run([*compiler, str(EXAMPLES / "remote_planner.cpp"), "-o", "remote_planner"], cwd=folder, check=True)
    with running([str(folder / "remote_planner"), "cpp.socket"], "cpp.socket", folder):
        yield str(folder / "cpp.socket")


class Last(bytes):
    """Bytes after which the connection is closed."""


@contextmanager
def talking(answer: Callable[[Question], Any], hello: Any = Hello()) -> Iterator[str]:  # noqa: B008 - frozen
    """The address of a thread that says a hello, and answers questions.

    Args:
        answer: returns a record, or bytes with their length; None closes the connection. An answer gets the number of its question.
        hello: the same, or a function that returns it.
    """

    class Talk(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            said: Any = hello() if callable(hello) else hello
            file = self.request.makefile("rb")
            while said is not None:
                self.request.sendall(said if isinstance(said, bytes) else frame(said))
                if isinstance(said, Last):
                    return
                if len(head := file.read(4)) < 4:
                    return
                question = decode(file.read(int.from_bytes(head, "little")), Question)
                said = answer(question)
                said = reply(said, question) if type(said) is Answer else said

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads, block_on_close = True, False

        def handle_error(self, *arguments: Any) -> None:
            """Nothing is printed where the other side has gone."""

    with Server(("127.0.0.1", 0), Talk) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def reply(answer: Answer, question: Question) -> Reply:
    """The answer to a question as it is sent."""
    return Reply(answer.twists, answer.memory, answer.notes, number=question.number)


def framed(data: bytes) -> bytes:
    """Bytes with their length before them."""
    return len(data).to_bytes(4, "little") + data
