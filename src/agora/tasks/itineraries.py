"""Creates people's itineraries: where each person enters, where and for how long it stops, where it leaves, and how far along the
itinerary it is at the start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import LEAVE, STAY, Bools, Doubles
from agora.draft.pedestrian_types import pedestrian_types
from agora.draft.people import Person
from agora.draft.task import Task
from agora.errors import PlacementError
from agora.maps.distance import inside_all
from agora.maps.ways import along, length_of, way
from agora.pedestrians.behaviours.groups import Groups
from agora.pedestrians.shared.formations import row_place
from agora.tasks.destinations import Destinations, Stop
from agora.tasks.population import robot_places
from agora.tasks.traffic import CROWDED, Traffic, Walks, walks

if TYPE_CHECKING:
    from agora.tasks.obstacles.itineraries import Stays

_STATES = {"sit": "sitting", "work": "working", "stand": "interacting", "queue": "queueing", "wait": "idle"}
"""Social state of a person who uses a place, by the use of the place."""

_FILE = 0.8  # distance between members of a party that walk in single file, m
_ROUNDS = 600.0  # time for which repeated visits should last, which is longer than an episode, s
_APART = 0.1  # gap between bodies at the start, m
_BESIDE = 0.02  # minimum gap between the bodies of a party at the start, m
_AT_STOP = 0.25  # distance at which a place counts as reached, m
_TRIES = 200
_CROWDS = 50  # number of tries after which a party that is present at the start may overcrowd a square
_TWICE = 2.0  # multiple of the density at the start up to which walking people are always allowed
_ACROSS = 0.6  # fraction of the distance to the farthest entrance beyond which an entrance counts as being on the other side
_ALONE, _TOGETHER = 1.1, 1.35  # measured ratio of the walking time among other people to the unimpeded walking time
_CHOICES = 8  # number of entrances and places that are tried in order to find a reachable one


@dataclass(frozen=True)
class Party:
    """People who walk together.

    Attributes:
        purpose: "passing", "visiting", "working" or "waiting".
        size: number of people.
        group: number of the group; -1 for a person who is alone.
    """

    purpose: str
    size: int
    group: int


@dataclass(frozen=True, eq=False)
class _Visit:
    """A place on an itinerary, with the duration of the stay (s), the activity during the stay, and the heading (rad). A stay of 0
    marks an entry or exit.
    """

    point: Doubles
    stay: float = 0.0
    doing: str = ""
    heading: float = 0.0


@dataclass(frozen=True, eq=False)
class _Moment:
    """A moment within an itinerary.

    Attributes:
        legs: the itinerary's legs, each given as the duration of the stay before the leg, s, and the path (N, 2) of the leg, m.
        leg: number of the current leg.
        stays: whether the party is still at the place before this leg.
        since: time for which the party has been staying at this place or walking along the leg, s.
        walks: the walks from this moment on.
    """

    legs: list[tuple[float, Doubles]]
    leg: int
    stays: bool
    since: float
    walks: Walks


class ItineraryPlanner:
    """Creates the people of one task.

    Args:
        task: task to which people are added.
        places: destinations on the map.
        stays: distributions of the durations of stays.
        visits: minimum and maximum number of places that a visitor visits.
        keep_clear: minimum distance from robots' starts to people at the start, m.
        count: number of people at the start.
        until: time until which people enter, s.
    """

    def __init__(
        self,
        task: Task,
        places: Destinations,
        stays: Stays,
        visits: tuple[int, int],
        keep_clear: float,
        count: int,
        until: float,
    ) -> None:
        self._task, self._places, self._stays, self._visits, self._keep_clear = task, places, stays, visits, keep_clear
        self._traffic = Traffic(task.map, max(CROWDED, _TWICE * count / max(places.area, 1.0)), until)
        goals = robot_places(task, keep_clear, goals=True)
        self._free: dict[str, list[Stop]] = {}
        for n in task.stream.permutation(len(places.stops)):
            stop = places.stops[n]
            if self._allowed(stop.point[None]).all() and (np.hypot(*(goals[:, :2] - stop.point).T) >= goals[:, 2]).all():
                self._free.setdefault(stop.use, []).append(stop)
        away = (
            np.hypot(*(places.standing[:, None] - goals[None, :, :2]).transpose(2, 0, 1))
            if len(goals)
            else np.ones((len(places.standing), 0))
        )
        self._standing = places.standing[self._allowed(places.standing) & (away >= goals[:, 2]).all(axis=1)]
        self._entrances = [points for every in places.entrances if len(points := every[self._allowed(every)])]
        self._across = _across([points.mean(axis=0) for points in self._entrances])
        self._ways: dict[tuple[float, bytes, bytes], Doubles | None] = {}  # paths found so far, by radius and endpoints
        self._taken: list[Doubles] = []
        if not (self._entrances or self._free or len(self._standing)):
            raise PlacementError(f"map {task.map.name!r} has neither entrances nor destinations for people")

    def present(self, party: Party) -> float:
        """Add a party that is present at the start, at a random moment of its itinerary; return the duration of the whole
        itinerary, s.

        The duration is infinite for people who do not leave.

        Raises:
            PlacementError: there is no room.
        """
        people = self._members(party)
        for k in range(_TRIES):
            before = self._stops()
            route = self._route(party, people[0]["radius"])
            if route is None:
                continue
            moment = self._moment(party, people, route)
            if k < _CROWDS and not self._traffic.has_room(moment.walks, party.size):
                self._free, self._taken = before
            elif self._begin(people, route, moment):
                self._traffic.enter(moment.walks, party.size)
                return self._duration(party, people, route)
        raise PlacementError(
            f"no place for a party of {party.size} ({party.purpose}) after {_TRIES} tries: map {self._task.map.name!r} has "
            f"{len(self._task.pedestrians)} people on {self._places.area:.4g} m2"
        )

    def arrive(self, party: Party, time: float) -> None:
        """Add a party whose members enter one after another, the first at ``time``, s.

        The party does not come if no path leads from an entrance to its places, or if all itineraries that were tried would
        overcrowd a square.
        """
        people = self._members(party)
        for _ in range(_CHOICES):
            before = self._stops()
            route = self._route(party, people[0]["radius"])
            if route is None or not self._entrances:
                return
            trip = walks(self._legs(people, route), self._pace(people), time)
            if self._traffic.has_room(trip, party.size):
                break
            self._free, self._taken = before
        else:
            return
        self._traffic.enter(trip, party.size)
        (entry, *rest), gap = route, 1.5 * _FILE / people[0]["speed"]
        for k, person in enumerate(people):
            self._add(person, entry.point, rest, enters=time + k * gap, last=LEAVE)

    def _stops(self) -> tuple[dict[str, list[Stop]], list[Doubles]]:
        """Return copies of the lists of free stops and occupied points."""
        return {use: list(stops) for use, stops in self._free.items()}, list(self._taken)

    def _pace(self, people: list[dict[str, Any]]) -> float:
        """Return the average speed of a party among other people, m/s."""
        return float(people[0]["speed"]) / (_TOGETHER if len(people) > 1 else _ALONE)

    def _legs(self, people: list[dict[str, Any]], route: list[_Visit]) -> list[tuple[float, Doubles]]:
        """Return the legs of an itinerary: for each leg, the duration of the stay before it, s, and its path (N, 2), m."""
        found = [(a.stay, self._way(people[0]["radius"], a.point, b.point)) for a, b in pairwise(route)]
        return [(stay, points) for stay, points in found if points is not None]

    def _members(self, party: Party) -> list[dict[str, Any]]:
        """Return the traits of a party's members, who walk at the pace of the slowest type."""
        task, types = self._task, pedestrian_types()
        kinds = [task.crowd.draw_kind(task.kinds) for _ in range(party.size)]
        speed = task.crowd.draw_speed(task.stream) * min(types[kind].speed for kind, _ in kinds)
        return [
            {
                "speed": speed,
                "radius": task.crowd.radius * types[kind].radius,
                "group": party.group,
                "type": kind,
                "reaction": reaction,
            }
            for kind, reaction in kinds
        ]

    def _route(self, party: Party, radius: float) -> list[_Visit] | None:
        """Draw an itinerary: an entrance (if the map has any), places, and an exit (if the map has any). Return None if no path was
        found.
        """
        entry = self._entrance()
        if party.purpose == "passing" and len(self._entrances) > 1 and entry is not None:
            for _ in range(_CHOICES):
                leave = self._entrance(across=entry[0])
                if leave is not None and self._way(radius, entry[1], leave[1]) is not None:
                    return [_Visit(entry[1]), _Visit(leave[1])]
            return None
        route = [] if entry is None else [_Visit(entry[1])]
        if party.purpose == "working":
            route += self._work()
        else:
            count = 1 if party.purpose == "waiting" else max(1, self._task.stream.integer(*self._visits))
            uses = ("wait", "sit", "queue") if party.purpose == "waiting" else ("stand", "queue", "sit", "wait", "work")
            route += [visit for _ in range(count) if (visit := self._visit(uses, party.size)) is not None]
        leave = self._entrance()
        if leave is not None:
            route.append(_Visit(leave[1]))
        elif route and party.purpose != "working":
            route = self._round(route)
        if not route or any(self._way(radius, a.point, b.point) is None for a, b in pairwise(route)):
            return None
        return route

    def _allowed(self, points: Doubles) -> Bools:
        """Return, for each point (N, 2), whether it is outside all forbidden zones."""
        allowed = np.ones(len(points), np.bool_)
        for polygon in self._task.forbidden:
            allowed &= ~inside_all(polygon, points)
        return allowed

    def _way(self, radius: float, start: Doubles, end: Doubles) -> Doubles | None:
        """Return the path (N, 2) between two points, m; None if there is no path."""
        key = radius, start.tobytes(), end.tobytes()
        if key not in self._ways:
            self._ways[key] = way(self._task.map, radius, start, end)
        return self._ways[key]

    def _entrance(self, across: int = -1) -> tuple[int, Doubles] | None:
        """Draw an entrance, and return its number and a point in it. If ``across`` is given, draw only from entrances on the other
        side of the map from entrance ``across``.
        """
        numbers = [*range(len(self._entrances))] if across < 0 else self._across[across]
        if not numbers:
            return None
        number = numbers[self._task.stream.integer(0, len(numbers) - 1)]
        return number, self._one(self._entrances[number])

    def _one(self, points: Doubles) -> Doubles:
        """Draw one of the points (N, 2)."""
        chosen: Doubles = points[self._task.stream.integer(0, len(points) - 1)]
        return chosen

    def _visit(self, uses: tuple[str, ...], size: int) -> _Visit | None:
        """Draw a place for a party: a free spot at furniture (only for a person who is alone), or a standing point, if possible
        more than 1 m from all occupied standing points.
        """
        kinds = [use for use in uses if use == "wait" and len(self._standing) or self._free.get(use) and size == 1]
        if not kinds:
            kinds = ["wait"] if len(self._standing) else []
        if not kinds:
            return None
        use = kinds[self._task.stream.integer(0, len(kinds) - 1)]
        stay = self._stays.draw(use, self._task.stream)
        if use != "wait":
            stop = self._free[use].pop()
            return _Visit(stop.point, stay, _STATES[use], stop.heading)
        for _ in range(_CHOICES):
            point = self._one(self._standing)
            if all(np.hypot(*(point - other)) > 1.0 for other in self._taken):
                break
        self._taken.append(point)
        return _Visit(point, stay, _STATES[use], float(self._task.stream.uniform(-np.pi, np.pi)))

    def _work(self) -> list[_Visit]:
        """Draw a workplace and repeated errands from it, for longer than an episode lasts."""
        own = self._visit(("work",) if self._free.get("work") else ("stand", "sit", "wait"), 1)
        errand = self._visit(("stand", "wait"), 1)
        if own is None or errand is None:
            return [visit for visit in (own, errand) if visit is not None]
        route, time = [own], own.stay
        while time < _ROUNDS:
            stay = self._stays.draw("work", self._task.stream)
            route += [errand, _Visit(own.point, stay, own.doing, own.heading)]
            time += errand.stay + stay
        return route

    def _round(self, route: list[_Visit]) -> list[_Visit]:
        """Repeat the places for longer than an episode lasts."""
        rounds = 1 + int(_ROUNDS / max(sum(visit.stay for visit in route), 10.0))
        return route * (min(rounds, 8) if len(route) > 1 else 1)

    def _moment(self, party: Party, people: list[dict[str, Any]], route: list[_Visit]) -> _Moment:
        """Draw a moment of an itinerary. All moments are equally likely; for working parties, all moments of one round are."""
        legs, speed = self._legs(people, route), people[0]["speed"]
        if not legs:
            return _Moment(legs, 0, True, 0.0, walks([], speed, 0.0))
        times = np.array([t for stay, points in legs for t in (stay, length_of(points) / speed)])
        if party.purpose == "working":
            own = 2 if self._entrances else 0
            times[:own] = times[own + 4 :] = 0.0  # a round: at work, walking to an errand, at the errand, walking back
        moment = float(self._task.stream.uniform()) * float(times.sum())
        part = min(int(np.searchsorted(np.cumsum(times), moment, side="right")), len(times) - 1)
        since, leg, stays = moment - float(times[:part].sum()), part // 2, part % 2 == 0
        first = (legs[leg][0] - since, legs[leg][1]) if stays else (0.0, legs[leg][1])
        done = 0.0 if stays else since * speed
        return _Moment(legs, leg, stays, since, walks([first, *legs[leg + 1 :]], self._pace(people), 0.0, done))

    def _begin(self, people: list[dict[str, Any]], route: list[_Visit], moment: _Moment) -> bool:
        """Place a party at a moment of its itinerary; return whether there was room."""
        visit, rest = route[moment.leg], route[moment.leg + 1 :]
        if moment.stays:
            return self._stand(people, visit, visit.stay - moment.since, rest)
        return self._walk(people, moment.legs[moment.leg][1], moment.since * people[0]["speed"], rest)

    def _duration(self, party: Party, people: list[dict[str, Any]], route: list[_Visit]) -> float:
        """Return the duration of an itinerary from entering to leaving, s."""
        if party.purpose == "working" or not self._entrances:
            return math.inf
        walk = sum(length_of(points) for _, points in self._legs(people, route))
        return max(walk / self._pace(people) + sum(visit.stay for visit in route), 1.0)

    def _walk(self, people: list[dict[str, Any]], points: Doubles, done: float, rest: list[_Visit]) -> bool:
        """Place a party on its path, abreast if there is room, otherwise in single file; return whether there was room."""
        done = max(done, _FILE * (len(people) - 1))
        file = [along(points, done - _FILE * k) for k in range(len(people))]
        ahead = along(points, done + 0.1) - file[0]
        row = self._row(people, file[0], ahead / max(math.hypot(*ahead), 1e-9))
        between = np.add(row[:-1], row[1:]).reshape(-1, 2) / 2
        abreast = self._task.allows(between, people[0]["radius"]).all() and self._have_room(people, row)
        if not abreast and not self._have_room(people, file):
            return False
        places = row if abreast else file
        for person, place in zip(people, places, strict=True):
            self._add(person, place, rest, heading=math.atan2(ahead[1], ahead[0]))
        return True

    def _row(self, people: list[dict[str, Any]], middle: Doubles, ahead: Doubles) -> list[Doubles]:
        """Return the positions of a party's members side by side, in the formation of the `groups` behaviour."""
        shape = (Groups.abreast, np.float32(Groups.spacing), np.float32(Groups.bend), np.float32(Groups.row_gap))
        places = [row_place(k, len(people), *shape) for k in range(len(people))]
        return [middle + float(front) * ahead + float(left) * np.array([-ahead[1], ahead[0]]) for front, left in places]

    def _stand(self, people: list[dict[str, Any]], visit: _Visit, left: float, rest: list[_Visit]) -> bool:
        """Place a party where it stays for the remaining time, with the other members around the first member; return whether there
        was room.
        """
        angles = visit.heading + math.pi + np.array([0.0, 0.7, -0.7, 1.4, -1.4, 2.1, -2.1, 2.8, -2.8])
        places = [visit.point]
        for k in range(len(people) - 1):
            places.append(visit.point + _FILE * np.array([math.cos(angles[k]), math.sin(angles[k])]))
        if not self._have_room(people, places):
            return False
        for k, (person, place) in enumerate(zip(people, places, strict=True)):
            look = visit.heading if k == 0 else math.atan2(*(visit.point - place)[::-1])
            self._add(person, place, rest, heading=look, stays=left, doing=visit.doing)
        return True

    def _have_room(self, people: list[dict[str, Any]], places: list[Doubles]) -> bool:
        """Return whether there is room for people at the given places: on the map, and clear of walls, robots and each other."""
        task = self._task
        points, radius = np.array(places), max(person["radius"] for person in people)
        others = [[*p.position, p.radius + radius + _APART] for p in task.pedestrians if p.enters <= 0]
        discs = np.vstack([robot_places(task, self._keep_clear, goals=False), np.reshape(others, (-1, 3))])
        apart = np.hypot(*(points[:, None] - discs[None, :, :2]).transpose(2, 0, 1)) >= discs[:, 2]
        each = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + 9.0 * np.eye(len(points))
        return bool(apart.all() and (each >= 2 * radius + _BESIDE).all() and task.allows(points, radius).all())

    def _add(
        self,
        person: dict[str, Any],
        place: Doubles,
        rest: list[_Visit],
        *,
        heading: float | None = None,
        enters: float = 0.0,
        stays: float = 0.0,
        doing: str = "",
        last: int | None = None,
    ) -> None:
        """Add one person at a place, with the duration and activity of the stay there, and with the rest of the itinerary."""
        leaves = bool(self._entrances) and bool(rest) and rest[-1].stay == 0.0
        rest = rest or [_Visit(place)]
        look = math.atan2(*(rest[0].point - place)[::-1]) if heading is None else heading
        self._task.pedestrians.append(
            Person(
                place,
                np.array([visit.point for visit in rest]),
                mode=(LEAVE if leaves else STAY) if last is None else last,
                tolerance=_AT_STOP,
                heading=look,
                state=doing or "walking",
                waits=(stays, *(visit.stay for visit in rest[:-1])),
                doing=(doing or ("idle" if stays else ""), *(visit.doing for visit in rest[:-1])),
                faces=(look, *(visit.heading for visit in rest[:-1])),
                enters=enters,
                name=self._task.name("D", "actor1"),
                **person,
            )
        )


def _across(middles: list[Doubles]) -> list[list[int]]:
    """Return, for each entrance, the numbers of the entrances on the other side of the map, given the midpoints (2,) of all
    entrances, m.
    """
    found = []
    for number, here in enumerate(middles):
        away = [float(np.hypot(*(middle - here))) for middle in middles]
        found.append([k for k, distance in enumerate(away) if k != number and distance >= _ACROSS * max(away)])
    return found
