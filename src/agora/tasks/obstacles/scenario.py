"""Pedestrians and static obstacles where the world's scenario puts them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agora.errors import InputError, nearest
from agora.tasks.world import Person, Task

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
        discs = []
        for kind, things in (("static", scenario.obstacles.static), ("interactive", scenario.obstacles.interactive)):
            for number, thing in enumerate(things):
                if thing.model not in STATIC_RADIUS:
                    where = task.world.named("obstacles", kind, number, "model")
                    raise InputError(f"{where}: no model called {thing.model!r}; {nearest(thing.model, STATIC_RADIUS)}")
                discs.append((*thing.pos[:2], STATIC_RADIUS[thing.model]))
        if discs:
            task.map = replace(task.map, discs=np.vstack([task.map.discs, np.array(discs, float)]))
            for number, (start, _) in enumerate(task.robots):
                task.check_free(f"robot {number}", start, "obstacles")
        for number, pedestrian in enumerate(scenario.obstacles.dynamic):
            start = np.asarray(pedestrian.pos[:2], float)
            task.check_free("it", start, "obstacles", "dynamic", number, "pos")
            route = np.array([w[:2] for w in pedestrian.waypoints], float).reshape(-1, 2)
            speed = pedestrian.vmax if pedestrian.vmax is not None else task.crowd.draw_speed(task.stream)
            waypoints = route if len(route) else start[None]
            task.pedestrians.append(Person(start, waypoints, speed, task.crowd.radius, mode=pedestrian.waypoint_mode))
        for number, person in enumerate(task.world.people):
            task.check_free("it", person.position, "people", number)
        task.pedestrians.extend(task.world.people)
