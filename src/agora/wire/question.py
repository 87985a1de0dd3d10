"""Messages between a program in any language and the planner that represents it (`agora.planners.remote`).

The program listens for connections. Over each connection it sends a `Hello`; then each `Question` is followed by one `Reply`, which
repeats the number of the question.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from agora.interfaces import Answer, Memory, Observation
from agora.ranges import Duration, Speed, Within


@dataclass(frozen=True)
class Hello:
    """A program's first message: its planner's declaration (`agora.interfaces.Declaration`), as plain data.

    Attributes:
        needs: channels that the planner reads. Each is a name, or a mapping with ``name`` and the channel's parameters.
        notes: notes that the planner returns at every call.
        turns_at_goal: whether the planner itself turns the robot to the goal heading; otherwise, the library does this.
        top_speed: maximum speed of the planner, m/s, if the robot can be faster; None for the robot's top speed.
        period: control period for which the planner was designed, s; 0 for any.
        deadline: maximum time from a question to its answer, s. A call that takes longer fails.
    """

    needs: tuple[str | dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    turns_at_goal: bool = False
    top_speed: Speed | None = None
    period: Duration = 0.0
    deadline: Annotated[float, Within(0.0, 36_000.0, above=True)] = 10.0


@dataclass(frozen=True, eq=False)
class Question:
    """One call of a planner for N rows.

    Attributes:
        observation: observation of the rows.
        memory: memory returned with the previous answer, with zeros in rows in which an episode begins; empty at the very first
            call.
        number: number of the question on its connection, from 1.
    """

    observation: Observation
    memory: Memory = field(default_factory=dict)
    number: int = 0


@dataclass(frozen=True, eq=False)
class Reply(Answer):
    """The answer to a question.

    Attributes:
        number: number of the question that this reply answers.
    """

    number: int = field(kw_only=True)
