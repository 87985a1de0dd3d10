"""Messages between a planner that stands for a program in any language (`agora.planners.remote`) and that program.

The program listens. Over each connection it says a `Hello`; then each `Question` is followed by one `Reply`, which repeats the
number of the question.
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
        needs: channels that it reads. Each is a name, or a mapping of ``name`` and the channel's parameters.
        notes: notes that it returns at every call.
        turns_at_goal: whether it turns to the goal's heading itself; else the library does.
        top_speed: its largest speed if the robot may be faster, m/s; None for the robot's.
        period: control period that it was made for, s; 0 for any.
        deadline: longest time from a question to its answer, s. A call that takes longer has failed.
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
        observation: of the rows.
        memory: memory of the previous answer, with zeros in the rows in which an episode begins; empty at the very first call.
        number: number of the question on its connection, from 1.
    """

    observation: Observation
    memory: Memory = field(default_factory=dict)
    number: int = 0


@dataclass(frozen=True, eq=False)
class Reply(Answer):
    """The answer to a question.

    Attributes:
        number: number of the question.
    """

    number: int = field(kw_only=True)
