"""Scenario cards, which describe situations among people: their purpose, parameter ranges, and a test of whether the interaction
occurred.

The fields follow the scenario cards of Francis et al., "Principles and guidelines for evaluating social robot navigation
algorithms", ACM Trans. Hum.-Robot Interact. 14(2), 2025; texts, geometry, ranges and predicates are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agora.config import build_component
from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.draft.people import Person
from agora.draft.scenario import Robot, Scenario
from agora.draft.stage import CrowdSettings, Stage
from agora.draft.surroundings import Surroundings
from agora.errors import InputError, nearest
from agora.maps.grid import Map
from agora.registry import Named
from agora.seeds import Stream

__all__ = []

Oracle = Literal["search", "behind", "beside", "ahead"]

ROBOT = "tiago"
"""The robot for which cards are designed and checked: top speed 1.5 m/s, radius 0.27 m."""


@dataclass(frozen=True)
class Range:
    """The range of a parameter.

    Attributes:
        low: lower bound. The value is sampled uniformly between the bounds.
        high: upper bound.
        unit: unit of the value, "" if dimensionless.
        meaning: short description of the parameter.
        whole: whether the value is an integer.
    """

    low: float
    high: float
    unit: str
    meaning: str
    whole: bool = False

    def draw(self, stream: Stream) -> float:
        """Return a random value from the range."""
        drawn = float(stream.uniform())
        if self.whole:
            return int(self.low) + min(int(drawn * (self.high - self.low + 1)), int(self.high - self.low))
        return self.low + drawn * (self.high - self.low)


@dataclass(frozen=True, eq=False)
class Situation:
    """A card with all its parameters set.

    Attributes:
        map: static surroundings.
        start: (3,) pose of the robot at the start.
        goal: (3,) goal pose of the robot.
        people: pedestrians in the situation.
        happened: predicate that returns whether the card's interaction occurred in a recording of the robot.
        area: polygons (V, 2), m, in which the interaction should occur; used in pictures.
        timeout: time limit, s.
    """

    map: Map
    start: Doubles
    goal: Doubles
    people: tuple[Person, ...]
    happened: Callable[[Recording], bool]
    area: tuple[Doubles, ...] = ()
    timeout: float = 60.0

    def world(self) -> Surroundings:
        """The surroundings of an episode that runs the situation with the ``scenario`` task modes."""
        robots = (Robot(tuple(self.start.tolist()), tuple(self.goal.tolist())),)
        return Surroundings(self.map, Scenario(robots), people=self.people, timeout=self.timeout)


@dataclass(frozen=True, eq=False)
class Card:
    """A scenario card.

    Attributes:
        name: unique name.
        title: human-readable title.
        figure: number of the corresponding figure in Francis et al. 2025, such as "7a"; empty if the card is not from that paper.
        origin: source of the situation, if it is not from that paper.
        tests: the quality that the card tests in a robot.
        leaves_out: qualities that the card does not test.
        intended: intended behaviour of the robot and the people.
        happens: description of the condition under which the interaction counts as having occurred.
        measures: names of the relevant metrics.
        parameters: parameters by name, in the order in which they are sampled.
        build: function that returns the situation, given a random stream and the parameters by name; everything that the parameters
            do not determine is drawn from the stream.
        model: name and parameters of the crowd model that moves the people.
        sees_robots: whether the people react to the robot.
        conflict: whether the robot and a person would come close if neither gave way.
        oracle: kind of reference solution (`agora.benchmark.informed.oracle`): a search in space and time that knows everyone's
            future positions, or driving behind, next to or ahead of the pedestrian with id 1.
        family: name of the file that defines the card.
    """

    name: str
    title: str
    figure: str
    origin: str
    tests: str
    leaves_out: str
    intended: str
    happens: str
    measures: tuple[str, ...]
    parameters: Mapping[str, Range]
    build: Callable[..., Situation]
    model: Mapping[str, Any] = field(default_factory=lambda: {"name": "anticipation"})
    sees_robots: bool = True
    conflict: bool = True
    oracle: Oracle = "search"
    family: str = field(default="")

    def draw(self, stream: Stream, values: Mapping[str, float] | None = None) -> Situation:
        """Return a situation whose parameters are sampled from the stream, except for those given in ``values``.

        Raises:
            InputError: the card does not have a parameter, or a value is outside its range.
        """
        return self.build(stream, **self.settings(stream, values))

    def settings(self, stream: Stream, values: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the value of every parameter; setting some of them does not change the sampled values of the others.

        Raises:
            InputError: as for `draw`.
        """
        given = values or {}
        self.check(given)
        drawn = {name: limits.draw(stream) for name, limits in self.parameters.items()}
        return drawn | {name: int(v) if self.parameters[name].whole else float(v) for name, v in given.items()}

    def check(self, values: Mapping[str, float]) -> None:
        """Check that all values belong to parameters of the card and are in their ranges.

        Raises:
            InputError: a parameter does not belong to the card, or a value is out of range.
        """
        for name, value in values.items():
            if name not in self.parameters:
                raise InputError(f"card {self.name!r} has no parameter {name!r}; {nearest(name, self.parameters)}")
            limits = self.parameters[name]
            if not isinstance(value, int | float):
                raise InputError(f"{name} of card {self.name!r}: expected a number, got {value!r}")
            if not limits.low <= value <= limits.high:
                raise InputError(
                    f"{name} of card {self.name!r}: expected a number in [{limits.low:g}, {limits.high:g}], got {value:g}"
                )
            if limits.whole and value != int(value):
                raise InputError(f"{name} of card {self.name!r}: expected an integer, got {value:g}")

    def stage(self, *, episodes: int = 1, robot: str = ROBOT, values: Mapping[str, float] | None = None) -> Stage:
        """Return a suite stage that runs the card with the people that it requires."""
        source = Named.of("worlds", "card", card=self.name, values=dict(values or {}))
        crowd = CrowdSettings(
            build_component("crowd_models", self.model), sees_robots=self.sees_robots, behaviours=self.behaviours, routes=False
        )
        robots, obstacles = (Named.of(kind, "scenario") for kind in ("robots_modes", "obstacles_modes"))
        return Stage(self.name, source, robots, obstacles, crowd, episodes, robot)

    @property
    def behaviours(self) -> tuple[Named, ...]:
        """The behaviours that the card's people need."""
        return (Named.of("behaviours", "cues"),)


def card(
    title: str,
    *,
    tests: str,
    leaves_out: str,
    intended: str,
    happens: str,
    measures: tuple[str, ...],
    figure: str = "",
    origin: str = "Francis et al. 2025",
    parameters: Mapping[str, Range] | None = None,
    **more: Any,
) -> Callable[[Callable[..., Situation]], Card]:
    """Make a `Card` from the decorated function, whose name becomes the card's name."""

    def make(build: Callable[..., Situation]) -> Card:
        name, family = build.__name__, build.__module__.rpartition(".")[2]
        about = (name, title, figure, origin, tests, leaves_out, intended, happens, measures)
        return Card(*about, parameters=parameters or {}, build=build, family=family, **more)

    return make
