"""The informed robot: a reference that knows the future and gives an upper bound for planners.

The informed robot is not a planner: it drives an episode several times and returns the recording of one attempt
(`agora.benchmark.informed.oracle.foresee`). A run lists it among the planners under the label `INFORMED`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from agora.benchmark.informed.oracle import foresee
from agora.core.recording import Recording
from agora.engine.conditions import Conditions
from agora.errors import InputError
from agora.interfaces import Declaration, Watch
from agora.registry import Named

if TYPE_CHECKING:
    from agora.world.start import Start

INFORMED = "informed"
"""Name of the informed robot among the planners of a run."""


@dataclass(frozen=True)
class Informed:
    """A robot that knows where everyone will be, including people's reactions to it.

    Attributes:
        drives: maximum number of attempts per episode.
    """

    declares: ClassVar[Declaration] = Declaration()

    drives: int = 24

    def episodes(self, starts: Sequence[Start], conditions: Conditions, watch: Watch) -> Foreseen:
        """Return an iterable that drives the informed robot through the given episodes.

        Args:
            starts: starts of the episodes; each episode must have exactly one robot.
            conditions: conditions of the episodes' stage.
            watch: watch that is called at every step of the world and for every search.

        Raises:
            InputError: an episode has several robots.
        """
        if any(len(start.robots) != 1 for start in starts):
            raise InputError("the informed robot drives alone; expected episodes with one robot")
        return Foreseen(starts, self.drives, conditions, watch)


@dataclass(frozen=True)
class Foreseen:
    """Runs the informed robot through episodes; has the interface of `agora.episode.Episodes`.

    Attributes:
        starts: starts of the episodes.
        drives: maximum number of attempts per episode.
        conditions: conditions of the episodes' stage.
        watch: watch that is called at every step of the world and for every search.
    """

    starts: Sequence[Start]
    drives: int
    conditions: Conditions
    watch: Watch

    def __iter__(self) -> Iterator[tuple[int, list[Recording]]]:
        """Yield the number of each episode and the recording of its robot."""
        for number, start in enumerate(self.starts):
            yield number, [foresee(start, self.conditions, self.drives, self.watch)]


def refuse_informed(planner: str) -> None:
    """Raise an error if a string names the informed robot, for commands that need a planner.

    Args:
        planner: string that names a planner.

    Raises:
        InputError: the string names the informed robot.
    """
    if planner == INFORMED:
        raise InputError(
            f"{INFORMED} is not a planner: it drives each episode several times and knows the future motion of people. "
            "`agora bench` and `agora run` can run it; give the name of a planner instead (agora list planners)"
        )


def informed() -> Named:
    """Return the informed robot as a named planner."""
    return Named(INFORMED, Informed())
