"""The caller's side of a confined process: starts the process when there is a question, and kills it if no answer arrives."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from agora.core.compiling import record_compiling
from agora.core.jit import cache_root
from agora.errors import PlannerError
from agora.interfaces import Answer
from agora.planners.contained import _bubble as bubble
from agora.planners.contained._files import readable_paths
from agora.planners.contained.program import REFUSAL
from agora.wire.address import Address
from agora.wire.line import Line, RefusedError
from agora.wire.question import Hello, Question
from agora.wire.waits import Patience

T = TypeVar("T")

PATIENCE = 20.0
"""Maximum time until a process has imported its planner, s."""

FIRST = 20.0
"""Maximum time for a process's first answer, which includes compilation, s."""

_ONE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_KEPT = ("LANG", "LC_ALL", "TZ")
_MOST_WORDS = 2000
"""Maximum length of the reason why a planner has no answer, bytes."""
_BY_SIGNAL = 128
"""bubblewrap's exit code is this value plus the number of the signal that ended the command."""


@dataclass(frozen=True)
class Process:
    """A process that confines itself.

    Attributes:
        pid: ID of the process.
        first: process that was started directly: the confined process itself, or bubblewrap, which ends together with it.
    """

    pid: int
    first: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End the process."""
        self.first.kill()

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended, and return its exit code, which is negative if it was ended by a signal.

        Raises:
            subprocess.TimeoutExpired: the process has not ended after ``timeout`` s.
        """
        code = self.first.wait(timeout)
        return _BY_SIGNAL - code if self.pid != self.first.pid and code > _BY_SIGNAL else code


def start_process(module: str, words: Sequence[str], output: IO[bytes], *handles: int, files: Iterable[Path] = ()) -> Process:
    """Start an Agora module that confines itself. The new process does not get this process's environment variables, and runs in
    its own namespaces if the system allows that.

    Args:
        module: name of the module.
        words: arguments of the module.
        output: file for the module's error output; all other output is discarded.
        handles: file descriptors that the process inherits.
        files: files and folders that the process may read in addition to Python, its packages and Agora's data.
    """
    command = [sys.executable, "-I", "-m", module, *words]
    if not bubble.is_available():
        alone = _start_command(command, output, handles)
        return Process(alone.pid, alone)
    mine, its = os.pipe()
    with os.fdopen(mine, "rb", buffering=0) as told:
        try:
            outer = _start_command([*bubble.command_prefix(readable_paths(files), told=its), *command], output, (*handles, its))
        finally:
            os.close(its)
        said = b""
        while not said.rstrip().endswith(b"}") and (part := told.read(4096)):
            said += part
    return Process(json.loads(said)["child-pid"] if said else outer.pid, outer)


def _start_command(command: Sequence[str], output: IO[bytes], handles: Collection[int]) -> subprocess.Popen[bytes]:
    """Start a command without this process's environment variables."""
    environment = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("NUMBA_")}
    environment |= {"PATH": os.defpath, "HOME": "/", "NUMBA_CACHE_DIR": str(cache_root()), **dict.fromkeys(_ONE, "1")}
    return subprocess.Popen(
        command,
        cwd="/",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=output,
        pass_fds=handles,
    )


class Child(Line):
    """Sends questions to a planner in a confined process; every process that asks has its own confined process.

    Time that the confined process spends waiting for a processor does not count towards its deadline.

    Args:
        name: name of the planner in messages.
        module: name of the module that the process runs; its first argument is the number of its socket.
        words: the remaining arguments.
        files: files and folders that the process may read in addition to Python, its packages and Agora's data.
    """

    def __init__(self, name: str, module: str, words: Sequence[str], files: Iterable[Path] = ()) -> None:
        super().__init__(Address(path=name))
        self._module, self._words, self._files = module, list(words), tuple(files)
        self._child: Process | None = None
        self._output: IO[bytes] | None = None
        self._fresh, self._patience = True, Patience(0, 0.0)

    def __getstate__(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("_module", "_words", "_files")}
        fresh = {"_child": None, "_output": None, "_fresh": True, "_patience": Patience(0, 0.0)}
        return {**super().__getstate__(), **own, **fresh}

    def ask(self, question: Question, known: Hello) -> Answer:
        """Return the answer to a question; start-up and the first answer of a process are recorded as compile time.

        Raises:
            PlannerError: the process refuses to answer, ends, or answers too late.
        """
        running = self._connection is not None and self._process == os.getpid() and not self._fresh
        first: AbstractContextManager[None] = nullcontext() if running else record_compiling()
        with first:
            answer = super().ask(question, known)
        self._fresh = False
        return answer

    def close(self) -> None:
        """End the process, if it is running."""
        super().close()
        child, self._child = self._child, None
        if child is not None and self._process == os.getpid():
            child.kill()
            child.wait()
            assert self._output is not None
            self._output.close()

    @property
    def _patiences(self) -> tuple[float, float]:
        """Return the maximum time until the process has imported its planner, s, and the maximum time for its first answer, s,
        which includes compilation.
        """
        return PATIENCE, FIRST

    @property
    def _name(self) -> str:
        return f"planner {self.address.path}"

    def _until(self, known: Hello) -> float:
        return self._begin(max(self._patiences[1], known.deadline) if self._fresh else known.deadline)

    def _begin(self, most: float) -> float:
        """Start waiting for an answer that may take up to ``most`` seconds, and return the first deadline."""
        assert self._child is not None
        self._patience = Patience(self._child.pid, most)
        return self._patience.until

    def _later(self, until: float) -> float:
        return self._patience.later()

    def _opened(self) -> Hello:
        """Start the process, and return its hello message."""
        self.close()
        self._process, self._number, self._fresh = os.getpid(), 0, True
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._connection, its = socket.socketpair()
        with its:
            words = [str(its.fileno()), *self._words]
            self._child = start_process(self._module, words, self._output, its.fileno(), files=self._files)
        try:
            return self._message(self._begin(self._patiences[0]), Hello, "hello")
        except TimeoutError as error:
            raise PlannerError(f"{self._name}: it was not imported within {self._patiences[0]:g} s") from error

    def _bytes(self, count: int, until: float, what: str) -> bytes:
        try:
            return super()._bytes(count, until, what)
        except PlannerError as error:
            raise PlannerError(f"{self._name}: {self._describe_end()}") from error

    def _read(self, data: bytes, kind: type[T], what: str) -> T:
        if data[:1] == REFUSAL:
            raise RefusedError(_printable(data[1:]))
        return super()._read(data, kind, what)

    def _describe_end(self) -> str:
        """Return a description of how the process ended."""
        assert self._child is not None and self._output is not None
        try:
            code = self._child.wait(2.0)
        except subprocess.TimeoutExpired:
            return "it closed its connection"
        return describe_end(code, self._output)


def describe_end(code: int, output: IO[bytes]) -> str:
    """Return a description of how a process ended, with the last line of its error output.

    Args:
        code: exit code, negative if the process was ended by a signal.
        output: file with the process's error output.
    """
    output.seek(max(0, output.seek(0, os.SEEK_END) - 4000))
    lines = output.read().strip().splitlines()
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"its process {how}{f': {_printable(lines[-1][:300])}' if lines else ''}"


def _printable(said: bytes) -> str:
    """Return untrusted text in a form that is safe for messages: shortened, and without terminal control characters."""
    return "".join(one if one.isprintable() else " " for one in said[:_MOST_WORDS].decode("utf-8", "replace"))
