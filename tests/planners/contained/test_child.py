"""The process of a planner may send any bytes instead of an answer: its row fails in words, and nothing else happens."""

from __future__ import annotations

import os
import pickle
import struct
from dataclasses import replace

import numpy as np
import pytest

from agora.errors import InputError, PlannerError
from agora.planners.contained.confine import lack
from agora.planners.contained.planner import Contained
from agora.testing import observation
from agora.testing.planners import needed

pytestmark = pytest.mark.skipif(bool(lack()), reason=lack())

SPEAKER = """
import sys, time
from dataclasses import dataclass
from agora.interfaces import Declaration

SAID = {said}

def say(number):
    start, filling, count = SAID[number]
    with open(int(sys.argv[1]), "wb", closefd=False) as line:
        line.write(start), line.write(filling * count)
    time.sleep(100)

{early}
@dataclass(frozen=True)
class Speaker:
    declares = Declaration(needs=())

    def plan(self, observation, memory):
        say(int(observation.goal[0]))
"""


class Thrower:
    """Removes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.remove, (self.path,)


def length(count: int) -> bytes:
    """The bytes before a message of so many bytes."""
    return count.to_bytes(4, "little")


def header(count: int) -> bytes:
    """The first bytes of a message that is a header of so many bytes and nothing else."""
    return length(8 + count) + struct.pack("<Q", count)


NO_MESSAGE = "answer: expected an Agora message"
LATE = "no answer within its deadline of 1 s"
MESSAGES = {
    "longer than allowed": (b"\xff" * 4, b"", 1, "has 4294967295 bytes, expected a message of at most 67108864"),
    "as long as allowed, of zeros": (length(1 << 26), bytes(1 << 20), 64, NO_MESSAGE),
    "nonsense": (length(800), b"nonsense", 100, "header has [0-9]+ bytes, expected at most 1048576"),
    "a header that is cut": (length(8) + struct.pack("<Q", 1 << 10), b"", 1, NO_MESSAGE),
    "a header of 2**60 bytes": (length(8) + struct.pack("<Q", 1 << 60), b"", 1, "header has 1152921504606846976 bytes"),
    "a header of deep lists": (header(1 << 20), b"[", 1 << 20, NO_MESSAGE),
    "a wide header": (header(3 << 20), b"[],", 1 << 20, "header has 3145728 bytes, expected at most 1048576"),
    "empty": (length(0), b"", 1, NO_MESSAGE),
    "a refusal of 64 MiB": (length(1 << 26) + b"!" + bytes((1 << 20) - 1), bytes(1 << 20), 63, "^ {2000}$"),
    "a refusal that steers a terminal": (length(9) + b"!\x1b[2Jx\ny", b"z", 1, r"^ \[2Jx yz$"),
    "half a message": (length(100), b"x", 50, LATE),
    "half a length": (b"\x01\x00", b"", 1, LATE),
}


def speaker(folder, said, early="", deadline=20.0):
    file = folder / "mine.py"
    file.write_text(SPEAKER.format(said=said, early=early))
    return Contained(str(file), deadline=deadline)


def ask(planner, number=0):
    seen = needed(observation(rows=1, seed=3), ())
    return planner.act(replace(seen, goal=np.full((1, 3), number, np.float32)), {})


@pytest.fixture(scope="module")
def speakers(tmp_path_factory):
    """A planner that says what has a number, by the longest time of an answer, s."""
    said = [message[:3] for message in MESSAGES.values()]
    made = {deadline: speaker(tmp_path_factory.mktemp("speaker"), said, deadline=deadline) for deadline in (1.0, 20.0)}
    yield made
    for one in made.values():
        one._child.close()


@pytest.mark.parametrize("name", MESSAGES)
def test_bytes_that_are_no_answer_are_refused_in_words(speakers, monkeypatch, name):
    words = MESSAGES[name][-1]
    deadline = 1.0 if words is LATE else 20.0
    assert speakers[deadline].declares
    monkeypatch.setattr("agora.planners.contained.child.FIRST", deadline)
    with pytest.raises(PlannerError, match=words) as failed:
        ask(speakers[deadline], list(MESSAGES).index(name))
    speakers[deadline]._child.close()
    assert len(str(failed.value)) < 5000


@pytest.mark.parametrize(("name", "words"), [("nonsense", "header has"), ("half a message", "not imported within 1 s")])
def test_bytes_that_are_no_hello_are_refused_in_words(tmp_path, monkeypatch, name, words):
    monkeypatch.setattr("agora.planners.contained.child.PATIENCE", 1.0 if "1 s" in words else 20.0)
    with pytest.raises(InputError, match=words):
        _ = speaker(tmp_path, [MESSAGES[name][:3]], "say(0)").declares


def test_no_message_is_unpickled(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("kept")
    data = pickle.dumps(Thrower(str(kept)))
    planner = speaker(tmp_path, [(length(len(data)), data, 1)])
    with pytest.raises(PlannerError, match="its header has"):
        ask(planner)
    planner._child.close()
    assert kept.exists()
