"""A planner that is a separate program in any language: the program listens at an address and receives all rows of a call in one
message.

Messages use the wire format (`agora.wire.message`) of the records `Hello`, `Question` and `agora.interfaces.Answer`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agora.config import build_component
from agora.errors import InputError, PlannerError
from agora.interfaces import Answer, Channel, Declaration, Memory, Observation
from agora.registry import load
from agora.wire.address import Address
from agora.wire.line import Line
from agora.wire.question import Hello, Question


@dataclass(frozen=True)
class Remote:
    """Gets its commands from a program, in any language, that is already running on this machine or another one.

    Between calls, the program keeps no per-row state except the memory that it returns, so results do not depend on batches or
    workers. A call fails if nothing is listening, the connection is closed, the answer is invalid, or the answer arrives after the
    program's deadline.

    Attributes:
        address: address of the program: HOST:PORT, or the path of a Unix socket, which contains a "/".
    """

    address: str

    def __post_init__(self) -> None:
        Address.of(self.address, anywhere=True)

    @cached_property
    def declares(self) -> Declaration:
        """Return the declaration from the program's hello message.

        Raises:
            InputError: nothing is listening, or the hello message is invalid.
        """
        hello = self._hello
        try:
            return Declaration(
                needs=tuple(self._channel(one) for one in hello.needs),
                notes=hello.notes,
                turns_at_goal=hello.turns_at_goal,
                top_speed=math.inf if hello.top_speed is None else hello.top_speed,
                period=hello.period,
            )
        except ValueError as error:
            raise InputError(f"handshake with {self.address}: {error}") from error

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the program's answer.

        Raises:
            PlannerError: there is no answer.
        """
        return self._line.ask(Question(observation, memory), self._hello)

    @cached_property
    def _line(self) -> Line:
        return Line(Address.of(self.address, anywhere=True))

    @cached_property
    def _hello(self) -> Hello:
        try:
            return self._line.hello()
        except PlannerError as error:
            raise InputError(str(error)) from error

    def _channel(self, needed: str | dict[str, Any]) -> str | Channel:
        """Return a channel that the program needs, given by name or with parameters."""
        if isinstance(needed, str):
            load("channels", needed)
            return needed
        part = build_component("channels", needed, f"handshake with {self.address}: needs").part
        channel: Channel = getattr(part, "window", part)  # planners hold only the window of rasters
        return channel
