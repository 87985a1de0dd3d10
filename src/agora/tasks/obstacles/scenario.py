"""Pedestrians and static obstacles where the world's scenario puts them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agora.errors import InputError, UnknownNameError
from agora.maps.furniture import Furniture, model_of
from agora.tasks.world import Person, Task


@dataclass(frozen=True)
class Scenario:
    """The file's static and interactive obstacles as furniture of Agora's catalogue, its dynamic ones as pedestrians."""

    def place(self, task: Task) -> None:
        """Put them into the task.

        Raises:
            InputError: the world has no scenario, or a static model is not known.
            PlacementError: somebody would start inside an obstacle, or off the map.
        """
        scenario = task.world.scenario
        if scenario is None:
            raise InputError(f"obstacles mode 'scenario': world {task.map.name!r} has no scenario")
        polygons, discs = [*task.map.polygons], [task.map.discs]
        for kind, things in (("static", scenario.obstacles.static), ("interactive", scenario.obstacles.interactive)):
            for number, thing in enumerate(things):
                try:
                    model_of(thing.model)
                except UnknownNameError as error:
                    raise InputError(f"{task.world.named('obstacles', kind, number, 'model')}: {error}") from error
                piece = Furniture(thing.model, *thing.pos)
                polygons += piece.polygons()
                discs.append(piece.discs())
        if len(discs) > 1:
            task.map = replace(task.map, polygons=tuple(polygons), discs=np.vstack(discs))
            for number, (start, _) in enumerate(task.robots):
                task.check_free(f"robot {number}", start, "obstacles")
        for number, pedestrian in enumerate(scenario.obstacles.dynamic):
            start = np.asarray(pedestrian.pos[:2], float)
            task.check_free("it", start, "obstacles", "dynamic", number, "pos")
            route = np.array([w[:2] for w in pedestrian.waypoints], float).reshape(-1, 2)
            speed = pedestrian.vmax if pedestrian.vmax is not None else task.crowd.draw_speed(task.stream)
            waypoints = route if len(route) else start[None]
            task.pedestrians.append(Person(start, waypoints, speed, task.crowd.radius, mode=pedestrian.waypoint_mode))
