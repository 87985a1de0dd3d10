"""Pedestrians and static obstacles where the world's scenario puts them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agora.errors import InputError, UnknownNameError
from agora.maps.furniture import Furniture, model_of
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.scenario import Obstacles, Pedestrian
from agora.tasks.world import People, Person, Task, World


@dataclass(frozen=True)
class Scenario:
    """The file's static and interactive obstacles as furniture of Agora's catalogue, its dynamic ones as pedestrians,
    and the world's people.
    """

    def place(self, task: Task) -> None:
        """Put them into the task.

        Raises:
            InputError: the world has no scenario, or a static model is not known.
            PlacementError: somebody would start inside an obstacle, or off the map.
        """
        scenario = task.world.scenario
        if scenario is None:
            raise InputError(f"obstacles mode 'scenario': world {task.map.name!r} has no scenario")
        task.map = furnished(task.world, task.map)
        if task.map is not task.world.map:
            for number, (start, _) in enumerate(task.robots):
                task.check_free(f"robot {number}", start, "obstacles")
        for number, pedestrian in enumerate(scenario.obstacles.dynamic):
            person = person_of(pedestrian, task.crowd, task.stream)
            task.check_free("it", person.position, "obstacles", "dynamic", number, "pos")
            task.pedestrians.append(person)
        for number, person in enumerate(task.world.people):
            task.check_free("it", person.position, "people", number)
        task.pedestrians.extend(task.world.people)


def furnished(world: World, map: Map) -> Map:
    """A map with the static and interactive things of the world's scenario as furniture.

    Raises:
        InputError: a model is not known.
    """
    polygons, discs = [*map.polygons], [map.discs]
    obstacles = world.scenario.obstacles if world.scenario is not None else Obstacles()
    for kind, things in (("static", obstacles.static), ("interactive", obstacles.interactive)):
        for number, thing in enumerate(things):
            try:
                model_of(thing.model)
            except UnknownNameError as error:
                raise InputError(f"{world.named('obstacles', kind, number, 'model')}: {error}") from error
            piece = Furniture(thing.model, *thing.pos)
            polygons += piece.polygons()
            discs.append(piece.discs())
    return replace(map, polygons=tuple(polygons), discs=np.vstack(discs)) if len(discs) > 1 else map


def person_of(pedestrian: Pedestrian, crowd: People, stream: Stream) -> Person:
    """A pedestrian of a scenario file; where it gives no speed one is drawn."""
    start = np.asarray(pedestrian.pos[:2], float)
    route = np.array([w[:2] for w in pedestrian.waypoints], float).reshape(-1, 2)
    speed = pedestrian.vmax if pedestrian.vmax is not None else crowd.draw_speed(stream)
    return Person(start, route if len(route) else start[None], speed, crowd.radius, mode=pedestrian.waypoint_mode)
