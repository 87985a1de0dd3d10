"""Pedestrians and static obstacles at the positions given in the world's scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from agora.core.state import Doubles
from agora.draft import scenario as draft
from agora.draft.conversations import WrongConversationError, conversations
from agora.draft.pedestrian_types import pedestrian_types
from agora.draft.people import People, Person
from agora.draft.scenario import MOVES, TALKS, Pedestrian
from agora.draft.stage import LONGEST
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import InputError, UnknownNameError
from agora.maps.furniture import Furniture, model_of
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.population import pedestrian_type
from agora.world.start import Habits, Thing

_BETWEEN = 0.2  # gap between the bodies of several pedestrians in one entry, m


@dataclass(frozen=True)
class Scenario:
    """Adds the static and interactive obstacles in the scenario file as furniture from Agora's catalogue, and the dynamic obstacles
    as pedestrians.

    People who belong to the world itself are added as well.

    Pedestrians with social states use the interactive obstacles. If the scenarios give states, the stage gets the ``given_states``
    behaviour; if they give reactions to robots, it gets ``social_states``.
    """

    uses: ClassVar = frozenset({"scenario", "people"})

    def needs(self, source: Any) -> tuple[str, ...]:
        """Return the behaviours that are required by the people of a world source."""
        return getattr(source, "needs", ())

    def place(self, task: Task) -> None:
        """Add the obstacles and the people to the task.

        Raises:
            InputError: the world has no scenario, or a static model or a pedestrian type is unknown.
            PlacementError: a pedestrian would start inside an obstacle, off the map, or overlapping another body, or has a waypoint
                off the map.
        """
        scenario = task.world.scenario
        if scenario is None:
            raise InputError(f"obstacles mode 'scenario': world {task.map.name!r} has no scenario")
        task.furnish(things_of(task.world))
        if task.things:
            for number, (start, goals) in enumerate(task.robots):
                task.check_free(f"robot {number}", start, "obstacles")
                for goal in np.unique(goals[:, :2], axis=0):
                    task.check_free(f"the goal of robot {number}", goal, "obstacles")
        for number, person in scenario_people(task.world, task.crowd, task.stream):
            pedestrian = scenario.obstacles.dynamic[number]
            key: tuple[str | int, ...] = ("obstacles", "dynamic", number)
            who = "it" if person.name == pedestrian.name else repr(person.name)
            task.check_free(who, person.position, *key, "pos")
            for k, waypoint in enumerate(person.waypoints if pedestrian.waypoints else ()):
                task.check_inside("it", waypoint, *key, "waypoints", k)
            others = [p.position for p in task.pedestrians]
            task.check_apart(f"pedestrian {person.name!r}", person.position, others, 0.5 * person.radius, *key, "pos")
            starts = [start for start, _ in task.robots]
            task.check_apart(f"pedestrian {person.name!r}", person.position, starts, task.inscribed, *key, "pos")
            task.pedestrians.append(person)
        for number, person in enumerate(task.world.people):
            task.check_free("it", person.position, "people", number)
        task.pedestrians.extend(task.world.people)


def things_of(world: Surroundings) -> list[Thing]:
    """Return the furniture in the world's scenario.

    Raises:
        InputError: a model is unknown.
    """
    things: list[Thing] = []
    kinds: tuple[Literal["static", "interactive"], ...] = ("static", "interactive")
    for kind in kinds:
        for number, thing in enumerate(getattr(world.scenario.obstacles, kind) if world.scenario is not None else ()):
            try:
                model_of(thing.model)
            except UnknownNameError as error:
                raise InputError(f"{world.named('obstacles', kind, number, 'model')}: {error}") from error
            things.append(Thing(thing.name, kind, Furniture(thing.model, *thing.pos)))
    return things


def furnished(world: Surroundings, map: Map) -> Map:
    """Return the map with the furniture of the world's scenario.

    Raises:
        InputError: a model is unknown.
    """
    pieces = [thing.furniture for thing in things_of(world)]
    if not pieces:
        return map
    polygons = tuple(outline for piece in pieces for outline in piece.polygons())
    return replace(map, polygons=map.polygons + polygons, discs=np.vstack([map.discs, *(piece.discs() for piece in pieces)]))


def scenario_people(world: Surroundings, crowd: People, stream: Stream) -> list[tuple[int, Person]]:
    """Return all people in the world's scenario, each with the number of its scenario entry; people in a conversation face each
    other.

    Raises:
        InputError: a type is unknown, or pedestrians cannot talk with each other.
    """
    try:
        entries, talks = conversations(() if world.scenario is None else world.scenario.obstacles.dynamic)
    except WrongConversationError as error:
        raise InputError(f"{world.named('obstacles', 'dynamic', error.number, error.key)}: {error}") from error
    found = []
    for number, (entry, talk) in enumerate(zip(entries, talks, strict=True)):
        found += [(number, person) for person in _people_of(entry, world, number, crowd, stream, talk)]
    return [(number, _facing_others(person, [other for _, other in found])) for number, person in found]


def _facing_others(person: Person, everybody: list[Person]) -> Person:
    """Return a person, turned towards the mean position of its conversation partners. A person with a given heading, or without a
    conversation, is returned unchanged.
    """
    if person.talk < 0 or person.heading is not None:
        return person
    middle = np.mean([other.position for other in everybody if other.talk == person.talk and other is not person], axis=0)
    x, y = middle - person.position
    return replace(person, heading=float(np.arctan2(y, x)))


def needs_of(scenario: draft.Scenario) -> tuple[str, ...]:
    """Return the behaviours that are required by the people in a scenario."""
    people = scenario.obstacles.dynamic
    lives = any(person.reaction not in (None, "regular") for person in people)
    return ("social_states",) * lives + ("given_states",) * any(person.state is not None for person in people)


def _people_of(entry: Pedestrian, world: Surroundings, number: int, crowd: People, stream: Stream, talk: int) -> list[Person]:
    """Return the people of entry ``number`` of the world's scenario, like `people_from`."""
    try:
        return people_from(entry, crowd, stream, talk)
    except InputError as error:
        where = world.named("obstacles", "dynamic", number, "type")
        raise InputError(f"{where}: {str(error).removeprefix('type: ')}") from error


def people_from(pedestrian: Pedestrian, crowd: People, stream: Stream, talk: int = -1) -> list[Person]:
    """Return the people of one scenario entry: one pedestrian, or several pedestrians (``number_of_peds``) with the same waypoints.

    Several pedestrians are named NAME_0, NAME_1, ... and start at the positions from `places_of`. If the entry gives no speed, a
    speed is drawn for each pedestrian. All pedestrians have the entry's heading; if the entry gives no heading, they face their
    first waypoint or, if they talk, their partners.

    Args:
        pedestrian: entry of the scenario.
        crowd: settings that supply the values that the entry does not give.
        stream: random stream from which speeds are drawn.
        talk: number of the pedestrians' conversation; -1 if they do not talk.

    Raises:
        InputError: the type is unknown.
    """
    route = np.array([w[:2] for w in pedestrian.waypoints], float).reshape(-1, 2)
    name = pedestrian_type(pedestrian.type)
    like = pedestrian_types()[name]
    shown: dict[str, Any] = {"type": name, "look": pedestrian.model, "reaction": pedestrian.reaction or "regular", "talk": talk}
    shown |= _state(pedestrian)
    radius = crowd.radius * like.radius
    places = places_of(pedestrian, radius)
    people = []
    for k, place in enumerate(places):
        speed = crowd.draw_speed(stream) * like.speed if pedestrian.vmax is None else pedestrian.vmax
        shown["name"] = pedestrian.name if len(places) == 1 else f"{pedestrian.name}_{k}"
        waypoints = route if len(route) else place[None]
        reach = pedestrian.waypoint_radius
        stays = bool((np.hypot(*(waypoints - place).T) <= (crowd.tolerance if reach is None else reach)).all())
        shown |= {"heading": _heading(pedestrian, stays), "tolerance": reach}
        people.append(Person(place, waypoints, speed, radius, mode=pedestrian.waypoint_mode, **shown))
    return people


def _heading(pedestrian: Pedestrian, stays: bool) -> float | None:
    """Return the heading at the start, rad; None if the pedestrian should face its first waypoint or its partners.

    Editors that do not support headings write 0 as the third number of ``pos``, so 0 counts as a heading only for pedestrians who
    stand without talking.
    """
    if pedestrian.heading is not None:
        return pedestrian.heading
    waits = pedestrian.start_up_mode in ("wait_timer", "trigger_zone") or pedestrian.state not in (None, *MOVES)
    talks = pedestrian.state in TALKS
    return pedestrian.pos[2] if (stays or waits) and not talks or pedestrian.pos[2] != 0.0 else None


def _state(pedestrian: Pedestrian) -> dict[str, Any]:
    """Return a person's given state and habits; the state lasts at most as long as the wait at the start."""
    habits = _habits(pedestrian)
    if pedestrian.state is None:
        return {"habits": habits}
    ends = min(pedestrian.state_time or LONGEST, habits.wait_time or LONGEST)
    given = {"state": pedestrian.state, "state_time": ends, "state_radius": habits.trigger_radius}
    return given | {"habits": replace(habits, wait_time=0.0, trigger_radius=0.0)}


def places_of(pedestrian: Pedestrian, radius: float) -> Doubles:
    """Return the positions (N, 2) of one entry's pedestrians, m: the first pedestrian is at the entry's position, the others are on
    hexagonal rings around it with constant spacing.
    """
    count, step = max(pedestrian.number_of_peds or 1, 1), 2.0 * radius + _BETWEEN
    ring = [(m, k) for m in range(1, count) for k in range(6 * m)][: count - 1]
    corner = np.exp(1j * np.pi / 3 * np.arange(7))
    about = [m * corner[k // m] + (k % m) * (corner[k // m + 1] - corner[k // m]) for m, k in ring]
    offset = step * np.array([0.0, *about], np.complex128)
    return np.asarray(np.asarray(pedestrian.pos[:2], float) + np.column_stack([offset.real, offset.imag]))


def _habits(pedestrian: Pedestrian) -> Habits:
    """Return the habits that a file gives to a pedestrian; the how-to guide lists the keys that have no effect."""
    waits = pedestrian.wait_time or 0.0 if pedestrian.start_up_mode == "wait_timer" else 0.0
    zone = pedestrian.trigger_zone_radius or 0.0 if pedestrian.start_up_mode == "trigger_zone" else 0.0
    return Habits(
        chat_probability=pedestrian.chatting_probability,
        story_probability=pedestrian.tell_story_probability,
        group_probability=pedestrian.group_talking_probability,
        stroll_probability=pedestrian.talking_and_walking_probability,
        chat_time=pedestrian.talking_base_time,
        story_time=pedestrian.tell_story_base_time,
        group_time=pedestrian.group_talking_base_time,
        stroll_time=pedestrian.talking_and_walking_base_time,
        talk_distance=pedestrian.max_talking_distance,
        wait_time=waits,
        trigger_radius=zone,
    )
