"""Simulated pedestrians, before an episode begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from agora.core.state import LOOP, REACTIONS, TYPES, Doubles
from agora.errors import nearest
from agora.ranges import Checked, Length, NotNegative, PersonRadius, WalkingSpeed, Within
from agora.seeds import Stream
from agora.world.start import Habits


@dataclass(frozen=True)
class People(Checked):
    """The sizes and speeds of simulated pedestrians.

    Attributes:
        speed: mean preferred speed, m/s (1.34: Weidmann 1993).
        speed_deviation: standard deviation of the speed, m/s; the normal distribution is truncated at two standard deviations.
        radius: body radius, m.
        tolerance: distance at which a waypoint counts as reached, m.
        types: fractions of `agora.core.state.TYPES` among randomly placed pedestrians.
        reactions: fractions of `agora.core.state.REACTIONS` among randomly placed pedestrians.
    """

    speed: Annotated[float, Within(0.0, 15.0, above=True)] = 1.34
    speed_deviation: WalkingSpeed = 0.26
    radius: PersonRadius = 0.3
    tolerance: Length = 0.5
    types: dict[str, NotNegative] = field(default_factory=lambda: {"adult": 1.0})
    reactions: dict[str, NotNegative] = field(default_factory=lambda: {"regular": 1.0})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.speed_deviation < self.speed / 2:
            raise ValueError(f"speed_deviation must be in [0, speed / 2), got {self.speed_deviation}")
        for name, known in {"types": TYPES, "reactions": REACTIONS}.items():
            shares = getattr(self, name)
            for key in shares:
                if key not in known:
                    raise ValueError(f"{name}: unknown key {key!r}; {nearest(key, known)}")
            if abs(sum(shares.values()) - 1.0) > 1e-6:
                raise ValueError(f"{name} must have shares that add up to 1, got {sum(shares.values()):g}")

    def draw_kind(self, stream: Stream) -> tuple[str, str]:
        """Draw one type and one reaction, with the fractions as probabilities."""
        return _one_of(self.types, TYPES, stream), _one_of(self.reactions, REACTIONS, stream)

    def draw_speed(self, stream: Stream) -> float:
        """Draw one preferred speed, m/s."""
        while True:
            offset = float(stream.normal())
            if abs(offset) <= 2.0:
                return self.speed + offset * self.speed_deviation


def _one_of(shares: dict[str, float], order: tuple[str, ...], stream: Stream) -> str:
    """Draw a name, with the shares as probabilities; the result does not depend on the order of the shares in a file."""
    mark = float(stream.uniform())
    given = [name for name in order if shares.get(name, 0.0) > 0]
    for name in given:
        mark -= shares[name]
        if mark < 0:
            return name
    return given[-1]


@dataclass(frozen=True, eq=False)
class Person:
    """A simulated pedestrian while a task is being created.

    Attributes:
        position: (2,) position at the start, m.
        waypoints: (K, 2) waypoints, m.
        speed: preferred speed, m/s.
        radius: body radius, m.
        mode: number of the waypoint mode: 0 loop, 1 random order, 2 stay at the last waypoint, 3 leave the world at the last
            waypoint.
        group: number of the group, -1 if none.
        tolerance: distance at which a waypoint counts as reached, m; None for the crowd's default.
        heading: heading at the start, rad; None to face the first waypoint.
        model: index of the crowd model in the stage's list; None to draw one according to the models' shares.
        type: type of the pedestrian, a name in `agora.core.state.TYPES`.
        reaction: reaction to robots, a name in `agora.core.state.REACTIONS`.
        state: social state at the start, a name in `agora.core.state.SOCIAL_STATES`.
        state_time: time at which the initial state ends, s; nothing else changes the state before that. 0 if behaviours may change
            the state at any time. ``state_time``, ``state_radius`` and ``talk`` need the ``given_states`` behaviour.
        state_radius: distance to a robot at which the initial state also ends, m; 0 to disable.
        talk: number of the pedestrian's conversation, -1 if there is none.
        waits: time for which the pedestrian waits before setting out for each waypoint, s; missing entries are 0.
        company: distance at which the pedestrian accompanies the nearest robot, m, and the start and end time, s; 0 for pedestrians
            who do not accompany a robot. ``company`` and ``waits`` need the ``cues`` behaviour.
        doing: activity while the pedestrian waits before each waypoint, a name in `agora.core.state.SOCIAL_STATES`; empty to
            continue the previous activity.
        faces: heading during each of these activities, rad.
        enters: time at which the pedestrian enters the world, s.
        name: unique name.
        look: appearance in simulators.
        habits: the scenario's settings for the pedestrian's social states.
    """

    position: Doubles
    waypoints: Doubles
    speed: float
    radius: float
    mode: int = LOOP
    group: int = -1
    tolerance: float | None = None
    heading: float | None = None
    model: int | None = None
    type: str = "adult"
    reaction: str = "regular"
    state: str = "walking"
    state_time: float = 0.0
    state_radius: float = 0.0
    talk: int = -1
    waits: tuple[float, ...] = ()
    company: tuple[float, float, float] = (0.0, 0.0, 0.0)
    doing: tuple[str, ...] = ()
    faces: tuple[float, ...] = ()
    enters: float = 0.0
    name: str = ""
    look: str = "actor1"
    habits: Habits = field(default_factory=Habits)

    def facing(self) -> float:
        """Heading at the start, rad; towards the first waypoint if ``heading`` is None."""
        if self.heading is not None:
            return self.heading
        ahead = self.waypoints[0] - self.position
        return float(np.arctan2(ahead[1], ahead[0]))
