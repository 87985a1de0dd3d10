"""Parts that do what they must not do, in those episodes that lie beyond a line."""

from __future__ import annotations

import ctypes
import locale
import os
import resource
import signal
import struct
import sys
import time
import warnings
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

    def rounds_up(self, twists, guilty):
        ctypes.CDLL(None).fesetround(0x800)
        return twists

    def flushes(self, twists, guilty):
        """Take denormal numbers for zero, as code does that was compiled with -ffast-math."""
        environment = ctypes.create_string_buffer(64)
        ctypes.CDLL(None).fegetenv(environment)
        (control,) = struct.unpack_from("=I", environment, 28)
        struct.pack_into("=I", environment, 28, control | 0x8040)
        ctypes.CDLL(None).fesetenv(environment)
        return twists

    def leaves_a_mess(self, twists, guilty):
        np.hypot = lambda x, y: np.add(x, y)
        np.seterr(all="raise")
        sys.setrecursionlimit(140)
        warnings.simplefilter("error")
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
        os.environ["OMP_NUM_THREADS"] = "0"
        os.umask(0o777)
        os.chdir("/")
        locale.setlocale(locale.LC_ALL, "C")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return twists


@dataclass(frozen=True)
class Witness(Naughty):
    """Drives likewise, and fails where its process is not as a process begins."""

    def act(self, observation, memory):
        state = {
            "hypot": type(np.hypot).__name__,
            "errors": np.geterr()["over"],
            "recursion": sys.getrecursionlimit(),
            "warnings": any(kind == "error" for kind, *_ in warnings.filters),
            "files": resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 40,
            "threads": os.environ.get("OMP_NUM_THREADS", ""),
            "handler": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
            "folder": os.getcwd() != "/",
            "mess": "mess" in sys.modules,
        }
        usual = {"hypot": "ufunc", "errors": "warn", "recursion": 1000, "warnings": False, "files": True, "threads": ""}
        usual |= {"handler": True, "folder": True, "mess": False}
        if strange := {name: value for name, value in state.items() if value != usual[name]}:
            raise RuntimeError(f"not as a process begins: {strange}")
        return super().act(observation, memory)


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

    def rounds_up(self, velocity, guilty):
        ctypes.CDLL(None).fesetround(0x800)
        return velocity


@dataclass(frozen=True)
class Fickle(Random):
    """Robots at random places, with no room for those who would start beyond x = ``beyond``, m."""

    beyond: float = 0.0

    def place(self, task):
        placed = super().place(task)
        if placed[0][0][0] > self.beyond:
            raise PlacementError("no room")
        return placed
