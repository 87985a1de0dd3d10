"""The common part of CrowdNav's worlds: the robot's task, and the people of the original cases, which are drawn with the same
sequence of random numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from agora.core.state import STAY, Doubles
from agora.draft.people import Person
from agora.draft.scenario import Robot, Scenario
from agora.draft.surroundings import Surroundings
from agora.errors import PlacementError
from agora.maps.grid import Map
from agora.ranges import LARGEST, Checked, Distance, Number, Whole, Within
from agora.seeds import Stream

__all__ = ["Crossing"]

_TRIES = 10_000
_LARGEST_SEED = 2**32 - 1

Draw = Callable[[], float]
"""Returns a new random number in [0, 1) on every call."""

Taken = list[tuple[Doubles, Doubles, float]]
"""Starts, goals and radii of the robot and of people, m."""


@dataclass(frozen=True)
class Crossing(Checked, ABC):
    """A plane around (0, 0) in which the robot drives from (0, -radius) to (0, radius), and people cross its path.

    With ``cases``, the worlds are the same as in CrowdNav's code: case k draws from NumPy's legacy generator, seeded with
    ``first_seed`` plus k, in the same order as the code. In the code, the seeds of the test cases begin at 1000, the seeds of the
    validation cases at 0, and the seeds of the training cases at 2000.

    Attributes:
        people: number of people.
        radius: half the length of the robot's path, m.
        cases: number of original cases to use; 0 for a new draw in every episode.
        first_seed: seed of the original case 0.
        body: minimum and maximum radius of people, m.
        speed: minimum and maximum preferred speed, m/s. Radius and speed are drawn if their minimum and maximum differ; for
            randomised people, the code uses radii in [0.3, 0.5] and speeds in [0.5, 1.5].
        top_speed: maximum preferred speed, as in the code's ORCA, m/s; higher speeds are reduced to it.
        robot_radius: radius of the robot, m.
        gap: minimum gap between outlines at the start, m.
    """

    people: Annotated[int, Within(0, 1000)] = 5
    radius: Annotated[float, Within(0.5, 100.0)] = 4.0
    cases: Number = 0
    first_seed: Whole = 1000
    body: tuple[float, float] = (0.3, 0.3)
    speed: tuple[float, float] = (1.0, 1.0)
    top_speed: Annotated[float, Within(0.01, LARGEST)] = 1.0
    robot_radius: Distance = 0.3
    gap: Distance = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.first_seed <= _LARGEST_SEED - self.cases:
            raise ValueError(f"first_seed must be in [0, 2^32 - 1 - cases], got {self.first_seed}")
        for name in ("body", "speed"):
            low, high = getattr(self, name)
            if not 0.01 <= low <= high:
                raise ValueError(f"{name} must be [min, max] with min at least 0.01, got {[low, high]}")

    @property
    @abstractmethod
    def called(self) -> str:
        """The name of the world, if it is drawn for every episode."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """Half the side of the square that contains everyone's centre, m."""

    @abstractmethod
    def way(self, draw: Draw, taken: Taken, speed: float, body: float) -> tuple[Doubles, Doubles]:
        """Return the start (2,) and goal (2,) of a person with the given preferred speed and radius, clear of the people placed so
        far.

        Raises:
            PlacementError: there is no room.
        """

    def unread(self) -> dict[str, str]:
        """Return the parameters that have no effect given the other parameters, and the reasons."""
        return {} if self.cases else {"first_seed": "with cases: 0"}

    def names(self) -> list[str]:
        """Return the names of the cases, or a single name if worlds are drawn for every episode."""
        return [f"case_{k}" for k in range(self.cases)] or [self.called]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Return an original case, or a newly drawn world.

        Raises:
            PlacementError: there is no room.
        """
        draw: Draw = lambda: float(stream.uniform())  # noqa: E731
        if self.cases:
            original = np.random.RandomState(self.first_seed + int(name.removeprefix("case_")))  # noqa: NPY002 - as in CrowdNav
            draw = original.random_sample
        people: list[Person] = []
        taken: Taken = [(np.array([0.0, -self.radius]), np.array([0.0, self.radius]), self.robot_radius)]
        for _ in range(self.people):
            speed, body = (low if low == high else low + (high - low) * draw() for low, high in (self.speed, self.body))
            start, goal = self.way(draw, taken, speed, body)
            people.append(Person(start, goal[None], min(speed, self.top_speed), body, STAY, tolerance=body))
            taken.append((start, goal, body))
        half = max(self.reach, self.radius) + 3.0
        robot = Robot((0.0, -self.radius, math.pi / 2), (0.0, self.radius, math.pi / 2))
        return Surroundings(Map.open((-half, -half), (half, half)), Scenario((robot,)), people=tuple(people))


def clear(place: Callable[[], Doubles], taken: list[tuple[Doubles, float]], body: float, gap: float, where: str) -> Doubles:
    """Return the first drawn position (2,) at which a disc with the radius ``body`` keeps the gap to all other discs, which are
    given as centres (2,) and radii, m.

    Raises:
        PlacementError: no such position was found in 10,000 tries; ``where`` names the area that was searched.
    """
    for _ in range(_TRIES):
        point = place()
        if all(math.dist(point, other) >= body + radius + gap for other, radius in taken):
            return point
    raise PlacementError(f"no place {where} in {_TRIES} tries")
