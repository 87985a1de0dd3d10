"""The program that runs a planner's file. It confines itself, sends a hello message, and answers questions over a socket.

Its arguments are the socket's number, the file, the planner's parameters as JSON, the deadline for an answer and the memory limit.
A reply that starts with `REFUSAL` is a text that states why there is no answer.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import math
import os
import socket
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from agora.config import build_component, plain
from agora.core.jit import cache_root, only_read_cache
from agora.errors import AgoraError, FieldError, InputError, placed
from agora.interfaces import Channel, Declaration
from agora.planners.adapters import as_batch_planner, declaration_of
from agora.planners.contained.confine import confine, die_with_parent
from agora.ranges import check
from agora.registry import Named, load
from agora.wire.message import decode
from agora.wire.question import Hello, Question, Reply
from agora.wire.stream import frame

REFUSAL = b"!"
"""Prefix of a reply that states why there is no answer."""
MAY = (
    "a planner from a file may not start processes or threads, open connections, write files, "
    "or read files other than Python's and Agora's"
)
"""The reason why the system refuses a confined process something."""
_REFUSED = (
    *("Permission denied", "Operation not permitted", "No such file or directory", "Read-only file system"),
    "can't start new thread",
)


def begin(files: Iterable[Path], memory: float) -> None:
    """Confine this process to a planner's files and to compiled functions, with a memory limit in GiB."""
    die_with_parent()
    only_read_cache()
    confine([*files, cache_root()], memory)


def planner_class(file: Path) -> type:
    """Return the planner class in a file: the only dataclass with ``declares``, and ``plan`` or ``act``.

    Raises:
        InputError: the file cannot be imported, or does not contain exactly one planner.
    """
    module = _import_file(file)
    kinds = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
    drives = [one for one in kinds if hasattr(one, "declares") and (hasattr(one, "plan") or hasattr(one, "act"))]
    last = [one for one in drives if not any(one in other.__mro__[1:] for other in drives)]
    if len(last) != 1:
        told = f"several planner classes, {', '.join(one.__name__ for one in last)}" if last else "no planner class"
        there = "" if last or not kinds else f" (its classes are {', '.join(one.__name__ for one in kinds)})"
        raise InputError(f"{file.name}: it has {told}{there}; expected one, a dataclass with declares, and plan or act")
    if not dataclasses.is_dataclass(last[0]):
        raise InputError(f"{file.name}: {last[0].__name__} is not a dataclass; put @dataclass(frozen=True) above it")
    return last[0]


def _import_file(file: Path) -> ModuleType:
    """Import a file, and return the module."""
    spec = importlib.util.spec_from_file_location(f"planner_{file.stem.replace('-', '_')}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except AgoraError:
        raise
    except BaseException as error:  # noqa: BLE001 - a stranger's code may raise anything
        raise InputError(f"{file.name}: cannot be imported: {describe_error(error)}".replace(str(file), file.name)) from error
    return module


def make_planner(file: Path, values: dict[str, Any]) -> Any:
    """Create the planner in a file with the given parameters.

    Raises:
        InputError: there is no planner in the file, or it does not accept the parameters.
    """
    kind: Any = planner_class(file)
    try:
        check(kind, values)
        return kind(**values)
    except FieldError as error:
        raise InputError(f"{file.name}: {error}") from error
    except AgoraError:
        raise
    except BaseException as error:  # noqa: BLE001 - likewise
        raise InputError(f"{file.name}: {describe_error(error)}".replace(str(file), file.name)) from error


def describe_error(error: BaseException) -> str:
    """Return a description of an error in untrusted code."""
    said = str(error) if isinstance(error, AgoraError) else placed(error, __file__)
    return f"{said}; {MAY}" if any(sign in said for sign in _REFUSED) and MAY not in said else said


def hello_of(said: Declaration, deadline: float) -> Hello:
    """Return a planner's declaration as a message.

    Raises:
        InputError: the planner needs a channel that is not registered.
    """
    top = said.top_speed
    needs = sorted(map(_plain_channel, said.needs), key=repr)  # the order of elements in a set differs between processes
    return Hello(
        tuple(needs), tuple(sorted(said.notes)), said.turns_at_goal, None if math.isinf(top) else top, said.period, deadline
    )


def _plain_channel(channel: str | Channel) -> str | dict[str, Any]:
    """Return a channel as plain data; for rasters, planners only hold the window."""
    if isinstance(channel, str):
        return channel
    name = getattr(channel, "channel", "")
    made = isinstance(channel, load("channels", name))
    needed: dict[str, Any] = plain(Named(name, channel)) if made else {"name": name, "window": plain(channel)}
    build_component("channels", needed, "needs")
    return needed


def _answer_question(connection: socket.socket, planner: Any, data: bytes) -> None:
    """Answer one question."""
    try:
        question = decode(data, Question, "question")
        answer = planner.act(question.observation, question.memory)
        connection.sendall(frame(Reply(answer.twists, answer.memory, answer.notes, number=question.number)))
    except BaseException as error:  # noqa: BLE001 - likewise
        _refuse(connection, describe_error(error))


def _refuse(connection: socket.socket, reason: str) -> None:
    data = REFUSAL + reason.encode("utf-8", "replace")[:2000]
    connection.sendall(len(data).to_bytes(4, "little") + data)


def answer_all(connection: socket.socket, make: Callable[[], Any], deadline: float, more: Callable[[Any], bytes]) -> None:
    """Create a planner, send its hello message, and answer questions until the socket closes.

    Args:
        connection: the socket.
        make: creates the planner.
        deadline: maximum time for an answer, s.
        more: returns additional content for the planner's hello message.
    """
    try:
        planner = make()
        said = frame(hello_of(declaration_of(planner), deadline)) + more(planner)
    except BaseException as error:  # noqa: BLE001 - likewise
        _refuse(connection, describe_error(error))
        return
    connection.sendall(said)
    batch = as_batch_planner(planner)
    with connection.makefile("rb") as source:
        while len(head := source.read(4)) == 4:
            _answer_question(connection, batch, source.read(int.from_bytes(head, "little")))


def main() -> None:
    """Run the planner in a file until the socket closes."""
    connection, file = socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2])
    begin([file], float(sys.argv[5]))
    answer_all(connection, lambda: make_planner(file, json.loads(sys.argv[3])), float(sys.argv[4]), lambda planner: b"")


if __name__ == "__main__":
    main()
    os._exit(0)  # end even if threads of the planner are still running
