"""A planner confined to its own process, which receives observations over a socket and has no other access to the outside."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from agora.config import build_component
from agora.errors import InputError, PlannerError
from agora.interfaces import Answer, Channel, Declaration, Memory, Observation
from agora.planners.contained.child import Child
from agora.wire.question import Hello, Question


class Confined:
    """The base of planners that run in their own process (`agora.planners.contained.child.Child`)."""

    @cached_property
    def _child(self) -> Child:
        raise NotImplementedError

    @cached_property
    def hello(self) -> Hello:
        """Return the first message from the planner's process.

        Raises:
            InputError: the planner cannot be imported, or does not accept its parameters.
        """
        try:
            return self._child.hello()
        except PlannerError as error:
            raise InputError(str(error)) from error

    @cached_property
    def declares(self) -> Declaration:
        """Return the planner's declaration, as reported by its process.

        Raises:
            InputError: as for `hello`.
        """
        hello = self.hello
        return Declaration(
            needs=tuple(_channel(one) for one in hello.needs),
            notes=hello.notes,
            turns_at_goal=hello.turns_at_goal,
            top_speed=math.inf if hello.top_speed is None else hello.top_speed,
            period=hello.period,
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the answer from the planner's process.

        Raises:
            PlannerError: there is no answer.
        """
        return self._child.ask(Question(observation, memory), self.hello)


def _channel(needed: str | dict[str, Any]) -> str | Channel:
    if isinstance(needed, str):
        return needed
    part = build_component("channels", needed, "needs").part
    channel: Channel = getattr(part, "window", part)  # planners hold only the window of rasters
    return channel
