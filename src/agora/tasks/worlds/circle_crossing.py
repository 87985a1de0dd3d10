"""CrowdNav's environment: a robot and people who change places across a circle.

C. Chen, Y. Liu, S. Kreiss, A. Alahi, "Crowd-robot interaction: crowd-aware robot navigation with attention-based deep reinforcement
learning", ICRA 2019, and its code (vita-epfl/CrowdNav, crowd_sim/envs/crowd_sim.py), whose cases this draws number by number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agora.core.state import STAY, Doubles
from agora.draft.people import Person
from agora.draft.scenario import Robot, Scenario
from agora.draft.surroundings import Surroundings
from agora.errors import PlacementError
from agora.maps.grid import Map
from agora.ranges import Distance, Number
from agora.seeds import Stream

_TRIES = 10_000
_LARGEST_SEED = 2**32 - 1

Draw = Callable[[], float]
"""A number in [0, 1), another with every call."""


@dataclass(frozen=True)
class CircleCrossing:
    """A plane about (0, 0) where the robot goes from (0, -radius) to (0, radius) and people to the opposite point of the circle.

    A person's start is a random point of the circle plus uniform noise of half the preferred speed (times 1 s) either way along
    each axis; its goal is the start mirrored at (0, 0). Starts that are nearer than ``gap`` to anybody's start or goal are drawn
    again.

    With ``cases`` the worlds are those of the original code: case k draws from NumPy's legacy generator seeded with ``first_seed``
    plus k, in the code's order. The code's test cases begin at 1000, its validation cases at 0, its training cases at 2000.

    Attributes:
        people: how many.
        radius: of the circle, m.
        cases: how many of the original cases there are; 0 to draw anew for every episode.
        first_seed: of the original case 0.
        body: least and most radius of people, m. speed: least and most preferred speed, m/s. They are drawn where they differ; the
            code's people have [0.3, 0.5] and [0.5, 1.5] where its attributes are randomised.
        top_speed: a higher preferred speed counts as this, as for the code's ORCA, m/s.
        robot_radius: m.
        gap: between outlines at the start, m.
    """

    people: int = 5
    radius: float = 4.0
    cases: Number = 0
    first_seed: int = 1000
    body: tuple[float, float] = (0.3, 0.3)
    speed: tuple[float, float] = (1.0, 1.0)
    top_speed: float = 1.0
    robot_radius: Distance = 0.3
    gap: Distance = 0.2

    def __post_init__(self) -> None:
        if not 0 <= self.people <= 1000:
            raise ValueError(f"people must be in [0, 1000], got {self.people}")
        if not 0.5 <= self.radius <= 100.0:
            raise ValueError(f"radius must be in [0.5, 100], got {self.radius}")
        if not 0 <= self.first_seed <= _LARGEST_SEED - self.cases:
            raise ValueError(f"first_seed must be in [0, 2^32 - 1 - cases], got {self.first_seed}")
        if not 0.01 <= self.top_speed < math.inf:
            raise ValueError(f"top_speed must be at least 0.01, got {self.top_speed}")
        for name in ("body", "speed"):
            low, high = getattr(self, name)
            if not 0.01 <= low <= high < math.inf:
                raise ValueError(f"{name} must be [least, most] from 0.01, got {[low, high]}")

    def names(self) -> list[str]:
        """Return the cases, or one name where worlds are drawn anew."""
        return [f"case_{k}" for k in range(self.cases)] or ["circle_crossing"]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Return a case, or a drawn world.

        Raises:
            PlacementError: there is no room.
        """
        draw: Draw = lambda: float(stream.uniform())  # noqa: E731
        if self.cases:
            original = np.random.RandomState(self.first_seed + int(name.removeprefix("case_")))  # noqa: NPY002 - as in CrowdNav
            draw = original.random_sample
        start, goal = np.array([0.0, -self.radius]), np.array([0.0, self.radius])
        people: list[Person] = []
        taken = [(start, goal, self.robot_radius)]
        for _ in range(self.people):
            person = self._person(draw, taken)
            people.append(person)
            taken.append((person.position, person.waypoints[0], person.radius))
        half = self.radius + self.speed[1] + 3.0
        robot = Robot((0.0, -self.radius, math.pi / 2), (0.0, self.radius, math.pi / 2))
        return Surroundings(Map.open((-half, -half), (half, half)), Scenario((robot,)), people=tuple(people))

    def _person(self, draw: Draw, taken: list[tuple[Doubles, Doubles, float]]) -> Person:
        speed, body = (low if low == high else low + (high - low) * draw() for low, high in (self.speed, self.body))
        for _ in range(_TRIES):
            angle = draw() * math.pi * 2
            noise = (draw() - 0.5) * speed, (draw() - 0.5) * speed
            place = np.array([self.radius * math.cos(angle) + noise[0], self.radius * math.sin(angle) + noise[1]])
            if all(min(math.dist(place, start), math.dist(place, goal)) >= body + other + self.gap for start, goal, other in taken):
                return Person(place, -place[None], min(speed, self.top_speed), body, STAY, tolerance=body)
        raise PlacementError(f"no place on the circle in {_TRIES} tries")
