"""Pedestrians and static obstacles where the world's scenario puts them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from agora.core.state import Doubles
from agora.draft.pedestrian_types import pedestrian_types
from agora.draft.people import People, Person
from agora.draft.scenario import Pedestrian
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import InputError, UnknownNameError
from agora.maps.furniture import Furniture, model_of
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.population import pedestrian_type
from agora.world.start import Habits, Thing

_BETWEEN = 0.2  # m, between the bodies of several of one entry


@dataclass(frozen=True)
class Scenario:
    """The file's static and interactive obstacles as furniture of Agora's catalogue, its dynamic ones as pedestrians.

    The people whom the world brings besides are there too.

    Pedestrians with social states use the interactive ones.
    """

    def place(self, task: Task) -> None:
        """Put them into the task.

        Raises:
            InputError: the world has no scenario, or a static model or a type of pedestrian is not known.
            PlacementError: somebody would start inside an obstacle, off the map or in somebody else, or has a waypoint off the map.
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
        for number, pedestrian in enumerate(scenario.obstacles.dynamic):
            for person in people_of(pedestrian, task.world, number, task.crowd, task.stream):
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
    """The furniture that the world's scenario names.

    Raises:
        InputError: a model is not known.
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
    """A map with the furniture of the world's scenario.

    Raises:
        InputError: a model is not known.
    """
    pieces = [thing.furniture for thing in things_of(world)]
    if not pieces:
        return map
    polygons = tuple(outline for piece in pieces for outline in piece.polygons())
    return replace(map, polygons=map.polygons + polygons, discs=np.vstack([map.discs, *(piece.discs() for piece in pieces)]))


def people_of(pedestrian: Pedestrian, world: Surroundings, number: int, crowd: People, stream: Stream) -> list[Person]:
    """Return the people of entry ``number`` of the world's scenario, as `people_from`.

    Raises:
        InputError: a type of pedestrian is not known.
    """
    try:
        return people_from(pedestrian, crowd, stream)
    except InputError as error:
        where = world.named("obstacles", "dynamic", number, "type")
        raise InputError(f"{where}: {str(error).removeprefix('type: ')}") from error


def people_from(pedestrian: Pedestrian, crowd: People, stream: Stream) -> list[Person]:
    """Return the people of one entry of a scenario: one pedestrian, or several (``number_of_peds``) with the same waypoints.

    Several are called NAME_0, NAME_1, ..., and stand at `places_of`. Where the entry says no speed one is drawn for each. Who has
    nowhere to go looks where the third number of the place says; the others look to their first waypoint.

    Raises:
        InputError: its type is not known.
    """
    route = np.array([w[:2] for w in pedestrian.waypoints], float).reshape(-1, 2)
    name = pedestrian_type(pedestrian.type)
    like = pedestrian_types()[name]
    shown: dict[str, Any] = {"type": name, "habits": _habits(pedestrian), "look": pedestrian.model}
    radius = crowd.radius * like.radius
    places = places_of(pedestrian, radius)
    people = []
    for k, place in enumerate(places):
        speed = crowd.draw_speed(stream) * like.speed if pedestrian.vmax is None else pedestrian.vmax
        shown["name"] = pedestrian.name if len(places) == 1 else f"{pedestrian.name}_{k}"
        waypoints = route if len(route) else place[None]
        stands = bool((np.hypot(*(waypoints - place).T) <= crowd.tolerance).all())
        heading = pedestrian.pos[2] if stands else None
        people.append(Person(place, waypoints, speed, radius, mode=pedestrian.waypoint_mode, heading=heading, **shown))
    return people


def places_of(pedestrian: Pedestrian, radius: float) -> Doubles:
    """Return the places (N, 2) of one entry's pedestrians: the first at its place, the others in rings about it, a step
    apart, m.
    """
    count, step = max(pedestrian.number_of_peds or 1, 1), 2.0 * radius + _BETWEEN
    ring = [(m, k) for m in range(1, count) for k in range(6 * m)][: count - 1]
    corner = np.exp(1j * np.pi / 3 * np.arange(7))
    about = [m * corner[k // m] + (k % m) * (corner[k // m + 1] - corner[k // m]) for m, k in ring]
    offset = step * np.array([0.0, *about], np.complex128)
    return np.asarray(np.asarray(pedestrian.pos[:2], float) + np.column_stack([offset.real, offset.imag]))


def _habits(pedestrian: Pedestrian) -> Habits:
    """Return the habits of a pedestrian in a file; the keys that mean nothing here are listed in the how-to."""
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
