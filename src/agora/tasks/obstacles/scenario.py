"""Pedestrians and static obstacles where the world's scenario puts them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agora.errors import InputError, nearest
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.scenario import Obstacles, Pedestrian
from agora.tasks.world import People, Person, Task, World

STATIC_RADIUS = {
    "chair": 0.3, "office_chair": 0.35, "cleaner": 0.4, "cuboid": 0.5, "cylinder": 0.25, "shelf": 0.6, "long_shelf": 1.0,
    "office_desk": 0.7, "table": 0.6, "pallet": 0.6, "pallet2": 0.6, "pallet_jack_1": 0.6, "pallet_jack_2": 0.6,
    "pallet_jack_3": 0.6, "random": 0.4, "tree": 0.4,
}  # fmt: skip
"""Radius of the disc that stands for an Arena model, m: a choice of ours, the models' licence lets nobody ship them."""


@dataclass(frozen=True)
class Scenario:
    """The file's static and interactive obstacles as discs, its dynamic ones as pedestrians, and the world's people."""

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
    """A map with the static and interactive things of the world's scenario as discs.

    Raises:
        InputError: a model is not known.
    """
    discs = []
    obstacles = world.scenario.obstacles if world.scenario is not None else Obstacles()
    for kind, things in (("static", obstacles.static), ("interactive", obstacles.interactive)):
        for number, thing in enumerate(things):
            if thing.model not in STATIC_RADIUS:
                where = world.named("obstacles", kind, number, "model")
                raise InputError(f"{where}: no model called {thing.model!r}; {nearest(thing.model, STATIC_RADIUS)}")
            discs.append((*thing.pos[:2], STATIC_RADIUS[thing.model]))
    return replace(map, discs=np.vstack([map.discs, np.array(discs, float)])) if discs else map


def person_of(pedestrian: Pedestrian, crowd: People, stream: Stream) -> Person:
    """A pedestrian of a scenario file; where it gives no speed one is drawn."""
    start = np.asarray(pedestrian.pos[:2], float)
    route = np.array([w[:2] for w in pedestrian.waypoints], float).reshape(-1, 2)
    speed = pedestrian.vmax if pedestrian.vmax is not None else crowd.draw_speed(stream)
    return Person(start, route if len(route) else start[None], speed, crowd.radius, mode=pedestrian.waypoint_mode)
