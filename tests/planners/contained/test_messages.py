"""The process of a planner may send any bytes instead of an answer: its row fails in words, and nothing else happens."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path

import pytest

from agora.errors import InputError, PlannerError
from agora.planners.contained.confine import lack
from agora.planners.contained.planner import Contained
from agora.testing import observation
from agora.testing.planners import needed

pytestmark = pytest.mark.skipif(bool(lack()), reason=lack())

SPEAKER = """
import os, sys, time
from dataclasses import dataclass
from agora.interfaces import Declaration

def say():
    with open(int(sys.argv[1]), "wb", closefd=False) as line:
        line.write({start}), line.write({filling} * {count})
    {then}

{early}
@dataclass(frozen=True)
class Speaker:
    declares = Declaration(needs=())

    def plan(self, observation, memory):
        say()
"""


class Thrower:
    """Removes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.remove, (str(self.path),)


def length(count: int) -> bytes:
    """The bytes before a message of so many bytes."""
    return count.to_bytes(4, "little")


MESSAGES = {
    "longer than allowed": (b"\xff" * 4, b"", 1, "has 4294967295 bytes, expected a message of at most 67108864"),
    "as long as allowed, of zeros": (length(1 << 26), bytes(1 << 20), 64, "answer|hello"),
    "nonsense": (length(800), b"nonsense", 100, "answer|hello"),
    "a header of 2**60 bytes": (length(8) + struct.pack("<Q", 1 << 60), b"", 1, "answer|hello"),
    "a header of deep lists": (length(8 + (1 << 20)) + struct.pack("<Q", 1 << 20), b"[", 1 << 20, "answer|hello"),
    "a wide header": (
        length(8 + (3 << 20)) + struct.pack("<Q", 3 << 20),
        b"[],",
        1 << 20,
        "header has 3145728 bytes, expected at most",
    ),
    "empty": (length(0), b"", 1, "answer|hello"),
    "half a message": (length(100), b"x", 50, "no answer within its deadline of 1 s|not imported within 1 s"),
    "half a length": (b"\x01\x00", b"", 1, "no answer within its deadline of 1 s|not imported within 1 s"),
    "a refusal of 64 MiB": (length(1 << 26) + b"!" + bytes((1 << 20) - 1), bytes(1 << 20), 63, "^ {2000}$"),
    "a refusal that steers a terminal": (length(9) + b"!\x1b[2Jx\ny", b"z", 1, "^ \\[2Jx yz$"),
    "without end": (length((1 << 26) - 1), b"x" * 100, 1, "no answer within its deadline of 1 s|not imported within 1 s"),
}


@pytest.fixture
def one_second(monkeypatch):
    """A process has one second to say hello, and one for its first answer."""
    monkeypatch.setattr("agora.planners.contained.child.FIRST", 1.0)


def speaker(folder, start, filling, count, then="time.sleep(100)", early=""):
    file = folder / "mine.py"
    file.write_text(SPEAKER.format(start=start, filling=filling, count=count, then=then, early=early))
    return Contained(str(file), deadline=1.0)


def ask(planner):
    return planner.act(needed(observation(rows=1, seed=3), ()), {})


@pytest.mark.parametrize("name", MESSAGES)
def test_bytes_that_are_no_answer_are_refused_in_words(tmp_path, one_second, name):
    start, filling, count, words = MESSAGES[name]
    planner = speaker(tmp_path, start, filling, count)
    with pytest.raises(PlannerError, match=words) as failed:
        ask(planner)
    assert len(str(failed.value)) < 5000
    planner._child.close()


@pytest.mark.parametrize("name", ["longer than allowed", "nonsense", "a header of deep lists", "half a message"])
def test_bytes_that_are_no_hello_are_refused_in_words(tmp_path, monkeypatch, name):
    monkeypatch.setattr("agora.planners.contained.child.PATIENCE", 1.0)
    start, filling, count, words = MESSAGES[name]
    with pytest.raises(InputError, match=words):
        _ = speaker(tmp_path, start, filling, count, early="say()").declares


def test_no_message_is_unpickled(tmp_path, one_second):
    kept = tmp_path / "kept"
    kept.write_text("kept")
    data = pickle.dumps(Thrower(kept))
    planner = speaker(tmp_path, length(len(data)) + data, b"", 1)
    with pytest.raises(PlannerError, match="answer"):
        ask(planner)
    planner._child.close()
    assert kept.exists()
