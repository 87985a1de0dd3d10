"""People with itineraries: they enter, use places, and leave."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, ClassVar

import numpy as np

from agora.draft.task import Task
from agora.errors import PlacementError
from agora.ranges import Checked, Distance, Duration, NotNegative, Period, Within
from agora.seeds import Stream
from agora.tasks.destinations import Destinations, destinations_of
from agora.tasks.itineraries import ItineraryPlanner, Party
from agora.tasks.population import MOST

__all__ = ["Itineraries", "Purposes", "Stays"]

_DENSEST = 1.5  # maximum density of people at the start, 1/m2


@dataclass(frozen=True)
class Purposes(Checked):
    """Weights of people's purposes; only the ratios of the weights matter.

    Attributes:
        passing: people who walk from one entrance to another.
        visiting: people who walk from an entrance to some places, and leave again.
        working: people who have a workplace and make errands to other places.
        waiting: people who wait at one place and then leave.
    """

    passing: NotNegative = 0.3
    visiting: NotNegative = 0.4
    working: NotNegative = 0.15
    waiting: NotNegative = 0.15

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(getattr(self, name) for name in self.names()) <= 0:
            raise ValueError("at least one of the shares must be above 0")

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the purposes, in the order of the fields."""
        return [each.name for each in fields(cls)]

    def draw(self, stream: Stream) -> str:
        """Draw a purpose with a probability proportional to its weight."""
        return self.names()[_one_of([getattr(self, name) for name in self.names()], stream)]


@dataclass(frozen=True)
class Stays(Checked):
    """The durations of stays: the medians of log-normal distributions, by activity, s.

    We chose the medians ourselves; their order of magnitude is realistic.

    Attributes:
        sit: median time on a chair, a bench or a sofa, s.
        work: median time at a desk or a machine, s.
        stand: median time at a shelf, a printer or a bed, s.
        queue: median time at a counter, s.
        wait: median time at a standing point in a room, s.
        spread: standard deviation of the logarithm of each duration.
    """

    sit: Period = 180.0
    work: Period = 300.0
    stand: Period = 20.0
    queue: Period = 40.0
    wait: Period = 45.0
    spread: Annotated[float, Within(0.0, 2.0)] = 0.6

    def draw(self, use: str, stream: Stream) -> float:
        """Draw the duration of a stay, s."""
        return float(getattr(self, use) * math.exp(self.spread * float(stream.normal())))


@dataclass(frozen=True)
class Itineraries(Checked):
    """People with itineraries: they enter, go to places, stay there for some time, and leave.

    Places are spots at furniture, each for one person, and points in rooms. Entrances are zones or the map's edges
    (`agora.tasks.destinations`). An episode begins in the middle of the day: everyone who is present at the start is at a random
    moment of an itinerary, and more people arrive later. If a map has no entrance, no one enters or leaves; people go to another
    place instead of leaving.

    Attributes:
        people: minimum and maximum number of people at the start; replaces ``density``.
        density: number of people at the start per m2 of walkable area.
        arrivals: mean number of people who enter per minute; parties arrive at random (a Poisson process). If not given, the
            arriving parties resemble the parties at the start, and arrive at rates inversely proportional to the durations of their
            itineraries, so that as many people arrive as leave (J. D. C. Little, "A proof for the queuing formula L = lambda W",
            Operations Research 9, 1961). Fewer people arrive if the paths are crowded (`agora.tasks.traffic`).
        until: time until which people enter, s.
        purposes: weights of the purposes, both for people at the start and for people who enter.
        groups: weights of parties of one, two, three, ... people; only their ratios matter. People who work are always alone. The
            default values are the counts of groups of up to four pedestrians in J. S. Coleman and J. James, "The equilibrium size
            distribution of freely-forming groups", Sociometry 24, 1961.
        stays: distributions of the durations of stays at places.
        visits: minimum and maximum number of places that a visitor visits.
        keep_clear: distance between robots' starts and people at the start, and between robots' goals and places to stay, m.
    """

    uses: ClassVar = frozenset({"random places", "people"})
    keeps_map: ClassVar = True
    needs: ClassVar[tuple[str, ...]] = ("groups", "cues")

    people: tuple[int, int] | None = None
    density: Annotated[float, Within(0.0, _DENSEST)] = 0.05
    arrivals: NotNegative | None = None
    until: Duration = 120.0
    purposes: Purposes = field(default_factory=Purposes)
    groups: tuple[NotNegative, ...] = (1486.0, 694.0, 195.0, 37.0)
    stays: Stays = field(default_factory=Stays)
    visits: tuple[int, int] = (1, 3)
    keep_clear: Distance = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.people is not None and not 0 <= self.people[0] <= self.people[1] <= MOST:
            raise ValueError(f"people must be [min, max], at most {MOST}, got {list(self.people)}")
        if self.arrivals is not None and not self.arrivals * self.until / 60.0 <= MOST:
            raise ValueError(f"arrivals must give at most {MOST} people in until = {self.until} s, got {self.arrivals} per minute")
        if not 0 < sum(self.groups) < math.inf or len(self.groups) > 10:
            raise ValueError(f"groups must be 1 to 10 shares, for parties of 1, 2, ... people, not all 0, got {list(self.groups)}")
        if not 0 <= self.visits[0] <= self.visits[1] <= 10:
            raise ValueError(f"visits must be [min, max] in [0, 10], got {list(self.visits)}")

    def unread(self) -> dict[str, str]:
        """Return the parameters that have no effect given the other parameters, and the reasons."""
        found = {} if self.people is None else {"density": f"with people: {list(self.people)}"}
        return found if self.arrivals != 0 else found | {"until": "with arrivals: 0"}

    def place(self, task: Task) -> None:
        """Add people to the task.

        Raises:
            PlacementError: there is no room for that many people, or they have nowhere to go.
        """
        furniture = (*task.world.furniture, *(thing.furniture for thing in task.things))
        found = destinations_of(task.map, furniture, task.world.zones, task.crowd.radius, task.radius)
        wanted, group = self._count(task, found), 1 + max((person.group for person in task.pedestrians), default=-1)
        errands = ItineraryPlanner(task, found, self.stays, self.visits, self.keep_clear, wanted, self.until)
        there: list[tuple[Party, float]] = []
        while wanted > 0:
            party = self._party(task, wanted, group)
            there.append((party, errands.present(party)))
            wanted, group = wanted - party.size, group + (party.size > 1)
        rates = [1.0 / time for _, time in there] if self.arrivals is None else [1.0]
        often = sum(rates) if self.arrivals is None else self.arrivals / 60.0 / self._mean_size
        time = _next(often, task.stream)
        while found.entrances and time < self.until:
            if self.arrivals is None:
                like = there[_one_of(rates, task.stream)][0]
                party = replace(like, group=group if like.size > 1 else -1)
            else:
                party = self._party(task, len(self.groups), group)
            errands.arrive(party, time)
            group += party.size > 1
            time += _next(often, task.stream)
        task.pedestrians.sort(key=lambda person: person.enters)

    @property
    def _mean_size(self) -> float:
        """Return the mean number of people in a party."""
        return sum(size * share for size, share in enumerate(self.groups, 1)) / sum(self.groups)

    def _count(self, task: Task, found: Destinations) -> int:
        if self.people is not None:
            return task.stream.integer(*self.people)
        whole, part = divmod(self.density * found.area, 1.0)
        count = int(whole) + int(float(task.stream.uniform()) < part)
        if count > MOST:
            raise PlacementError(f"density {self.density:g} on {found.area:.0f} m2 gives {count} people; expected at most {MOST}")
        return count

    def _party(self, task: Task, most: int, group: int) -> Party:
        """Draw the purpose and the size of a party."""
        purpose, drawn = self.purposes.draw(task.stream), 1 + _one_of(self.groups, task.stream)
        size = 1 if purpose == "working" else min(drawn, most)
        return Party(purpose, size, group if size > 1 else -1)


def _next(often: float, stream: Stream) -> float:
    """Draw the time to the next event, s, for events that occur ``often`` times per second."""
    return -math.log1p(-float(stream.uniform())) / often if often > 0 else math.inf


def _one_of(shares: tuple[float, ...] | list[float], stream: Stream) -> int:
    """Draw an index with a probability proportional to its weight in ``shares``."""
    steps = np.cumsum(shares)
    return int(min(np.searchsorted(steps, float(stream.uniform()) * steps[-1], side="right"), np.flatnonzero(shares)[-1]))
