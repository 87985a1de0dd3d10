"""The planner of a file of Python, in a process of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from agora.config import build_component
from agora.errors import InputError, PlannerError
from agora.interfaces import Answer, Channel, Declaration, Memory, Observation
from agora.planners.contained.child import Child
from agora.planners.contained.confine import lack
from agora.ranges import Within
from agora.wire.question import Hello, Question

MEMORY = 2.0
"""Most memory of the process by default, GiB."""


@dataclass(frozen=True)
class Contained:
    """Drive as the planner class in a file of Python does, which runs in a process of its own with limits.

    The process starts no other process and no thread, opens no connection, writes no file, and reads no file but Python's and
    Agora's (`agora.planners.contained.confine`). It needs Linux with Landlock and libseccomp.

    Attributes:
        file: path of the file; it has one dataclass with ``declares``, and ``plan`` or ``act``.
        values: parameters of that planner, by name.
        deadline: longest time of an answer, s; a call that takes longer has failed. The first may take 20 s, for it compiles.
        memory: most memory of the process, GiB.
    """

    file: str
    values: dict[str, Any] = field(default_factory=dict)
    deadline: Annotated[float, Within(0.0, 20.0, above=True)] = 5.0
    memory: Annotated[float, Within(1.0, 64.0)] = MEMORY

    def __post_init__(self) -> None:
        if Path(self.file).suffix != ".py" or not Path(self.file).is_file():
            raise ValueError(f"file: expected a file of Python, whose name ends in .py; got {self.file!r}")
        if lacking := lack():
            raise ValueError(f"file: {lacking}")

    @cached_property
    def declares(self) -> Declaration:
        """Declaration of the planner in the file.

        Raises:
            InputError: it cannot be imported, or does not take the parameters.
        """
        hello = self._hello
        return Declaration(
            needs=tuple(_channel(one) for one in hello.needs),
            notes=hello.notes,
            turns_at_goal=hello.turns_at_goal,
            top_speed=math.inf if hello.top_speed is None else hello.top_speed,
            period=hello.period,
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the answer of the planner in the file.

        Raises:
            PlannerError: there is none.
        """
        return self._child.ask(Question(observation, memory), self._hello)

    @cached_property
    def _child(self) -> Child:
        return Child(self)

    @cached_property
    def _hello(self) -> Hello:
        try:
            return self._child.hello()
        except PlannerError as error:
            raise InputError(str(error)) from error


def _channel(needed: str | dict[str, Any]) -> str | Channel:
    if isinstance(needed, str):
        return needed
    part = build_component("channels", needed, "needs").part
    channel: Channel = getattr(part, "window", part)  # of rasters, planners hold the window alone
    return channel
