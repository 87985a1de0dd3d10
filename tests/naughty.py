"""Parts that do what they must not do, in those episodes that lie beyond a line."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from dataclasses import dataclass
from threading import Event
from typing import ClassVar

import numba
import numpy as np

from agora.errors import PlacementError
from agora.interfaces import Answer, CrowdDeclaration, Declaration
from agora.tasks.robots.random import Random

_LINES = 200
_LEAKED: list[int] = []


class Wordless(Exception):
    """An exception that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@dataclass(frozen=True)
class Naughty:
    """Drives in a circle.

    Attributes:
        mischief: name of a method below, or nothing.
        after: calls before it.
        beyond: goals with a larger x are concerned, m.
        seconds: that ``compiles`` takes at least.
    """

    mischief: str = ""
    after: int = 3
    beyond: float = 0.0
    seconds: float = 2.0
    declares: ClassVar[Declaration] = Declaration()

    def act(self, observation, memory):
        calls = memory["calls"] if memory else np.zeros(len(observation.goal), np.int32)
        twists = np.tile(np.array([0.4, 0.0, 0.2], np.float32), (len(calls), 1))
        guilty = (calls == self.after) & (observation.goal[:, 0] > self.beyond)
        if guilty.any() and self.mischief:
            twists = getattr(self, self.mischief)(twists, guilty)
        return Answer(twists, {"calls": calls + np.int32(1)})

    def raises(self, twists, guilty):
        raise ZeroDivisionError("on purpose")

    def raises_what_has_no_text(self, twists, guilty):
        raise Wordless

    def raises_what_no_file_takes(self, twists, guilty):
        raise ValueError("no\nfile takes \udc80")

    def is_not_finite(self, twists, guilty):
        twists[guilty, 1] = np.nan
        return twists

    def has_another_shape(self, twists, guilty):
        return twists[:, :2]

    def hangs(self, twists, guilty):
        Event().wait()

    def dies(self, twists, guilty):
        os._exit(7)

    def is_ended(self, twists, guilty):
        ctypes.CDLL(None)._exit(7)

    def is_killed(self, twists, guilty):
        os.kill(os.getpid(), signal.SIGKILL)

    def crashes(self, twists, guilty):
        os.abort()

    def compiles(self, twists, guilty):
        began = time.monotonic()
        while time.monotonic() - began < self.seconds:
            scope: dict = {}
            lines = "\n".join(f"    x = x * {k}.5 + {k} if x > {k} else x - {k}" for k in range(_LINES))
            exec(f"def f(x):\n{lines}\n    return x\ndef g(x):\n    return f(x) + 1.0", scope)
            scope["f"] = numba.njit(scope["f"])
            numba.njit(scope["g"])(1.0)
        return twists

    def exits(self, twists, guilty):
        sys.exit("on purpose")

    def interrupts(self, twists, guilty):
        raise KeyboardInterrupt("on purpose")

    def closes(self, twists, guilty):
        raise GeneratorExit("on purpose")

    def forks(self, twists, guilty):
        os.fork()
        return twists

    def forks_and_is_ended(self, twists, guilty):
        if os.fork() == 0:
            Event().wait()
        self.is_ended(twists, guilty)

    def forks_one_that_dies(self, twists, guilty):
        other = os.fork()
        if other == 0:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == 7
        return twists

    def leaks(self, twists, guilty):
        while True:
            _LEAKED.append(os.open(os.devnull, os.O_RDONLY))

    def moves(self, twists, guilty):
        os.chdir("/")
        return twists


@dataclass(frozen=True)
class Rude:
    """A crowd model that does what crowd models must not do, in worlds where somebody wants to go beyond a line.

    Attributes:
        mischief: name of a method below, or nothing.
        beyond: waypoints with a larger x are concerned, m.
    """

    mischief: str = ""
    beyond: float = 0.0
    declares: ClassVar[CrowdDeclaration] = CrowdDeclaration("velocity")

    def compute(self, scene):
        velocity = 0.1 * (scene.waypoint - scene.position)
        guilty = scene.active & (scene.waypoint[..., 0] > self.beyond)
        return getattr(self, self.mischief)(velocity, guilty) if guilty.any() and self.mischief else velocity

    def raises(self, velocity, guilty):
        raise ZeroDivisionError("on\npurpose \udc80")

    def is_not_finite(self, velocity, guilty):
        return np.where(guilty[..., None], np.nan, velocity)

    def hangs(self, velocity, guilty):
        Event().wait()


@dataclass(frozen=True)
class Fickle(Random):
    """Robots at random places, with no room for those who would start beyond x = ``beyond``, m."""

    beyond: float = 0.0

    def place(self, task):
        placed = super().place(task)
        if placed[0][0][0] > self.beyond:
            raise PlacementError("no room")
        return placed
