"""A confined planner knows its channels, and nothing of the seed from which its episodes follow."""

from __future__ import annotations

import dataclasses
import struct

import numpy as np
import pytest

from agora.benchmark.bench import run_all
from agora.benchmark.request_form import RequestForm
from agora.interfaces.observation import VIEWS, Observation
from agora.planners.contained.confine import lack
from agora.seeds import key_of
from agora.testing import observation
from agora.testing.planners import needed
from agora.wire.message import encode, unpack
from agora.wire.question import Question

pytestmark = pytest.mark.skipif(bool(lack()), reason=lack())

SEED, MARK = 7318349394477056131, 6842904170395217873

SEEKER = """
import ctypes, sys
from dataclasses import dataclass
from agora.interfaces import Declaration

@dataclass(frozen=True)
class Seeker:
    halves: tuple = ()
    mark: int = 0
    declares = Declaration(needs=("path", "pedestrians", "robots", "scan", "costmap"))

    def plan(self, observation, memory):
        places = [line.split()[:2] for line in open("/proc/self/maps") if "[v" not in line]
        ranges = [[int(end, 16) for end in place.split("-")] for place, rights in places if rights.startswith("rw")]
        found = sorted({name for first, last in ranges for name in self.seek(ctypes.string_at(first, last - first))})
        raise RuntimeError(f"found {found}")

    def seek(self, memory):
        "Each number is given by its halves, so that this process holds it nowhere in one piece."
        for name, first, second in self.halves:
            first, second = bytes(first), bytes(one ^ 255 for one in second)
            at = memory.find(first)
            while at >= 0:
                if memory[at + len(first) : at + len(first) + len(second)] == second:
                    yield name
                at = memory.find(first, at + 1)
"""


def halves(name, data):
    """A number's bytes in two halves, the second one inverted, as plain data."""
    middle = len(data) // 2
    return [name, list(data[:middle]), [one ^ 255 for one in data[middle:]]]


def sought(name, number):
    """The ways in which a process may hold a number: as text, and as eight bytes."""
    return [halves(f"{name} as text", str(number).encode()), halves(f"{name} as a number", struct.pack("<Q", number))]


def test_the_memory_of_its_process_holds_neither_the_seed_nor_a_key_of_its_episode(tmp_path):
    (tmp_path / "seeker.py").write_text(SEEKER)
    uses = ("place", "task", "crowd_models", "teleport", "waypoints", "social_states")
    numbers = {use: int(key_of("demo/doorway/0", SEED, use)) for use in uses} | {"seed": SEED, "mark": MARK}
    values = {"halves": [one for name, number in numbers.items() for one in sought(name, number)], "mark": MARK}
    text = f"contained:file={tmp_path}/seeker.py,values={values}".replace("'", '"')
    form = RequestForm(
        "demo", (text,), output=tmp_path / "out", stages=("doorway",), episodes=1, seed=SEED, control=False, workers=1
    )
    (row,) = run_all(form.request())
    assert "found ['mark as text']" in row["failure"], row["failure"]


def test_a_planner_without_needs_is_told_its_own_state_its_goal_and_its_limits_alone():
    own = {"pose", "twist", "goal", "radius", "footprint", "limits", "dt", "goal_tolerance", "heading_tolerance"}
    assert {one.name for one in dataclasses.fields(Observation)} - VIEWS.keys() == own | {"sensors"}
    seen = needed(observation(rows=2, seed=3), ())
    _, _, content = unpack(encode(Question(seen)))
    empty = (type(None), dict)
    assert {name for name, value in content["observation"].items() if not isinstance(value, empty) or value} <= own
    arrays = [value for value in dataclasses.astuple(seen) if isinstance(value, np.ndarray)]
    assert {array.dtype for array in arrays} == {np.dtype(np.float32)}, "no key of 64 bits fits"
