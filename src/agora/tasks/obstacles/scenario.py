"""Pedestrians and static obstacles where the world's scenario puts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agora.core.state import TYPES
from agora.errors import InputError, UnknownNameError, nearest
from agora.maps.furniture import Furniture, model_of
from agora.pedestrians.types import pedestrian_types
from agora.tasks.scenario import Pedestrian
from agora.tasks.start import Habits, Thing
from agora.tasks.world import Person, Task


@dataclass(frozen=True)
class Scenario:
    """The file's static and interactive obstacles as furniture of Agora's catalogue, its dynamic ones as pedestrians.

    Pedestrians with social states use the interactive ones.
    """

    def place(self, task: Task) -> None:
        """Put them into the task.

        Raises:
            InputError: the world has no scenario, or a static model or a type of pedestrian is not known.
            PlacementError: somebody would start inside an obstacle, or off the map.
        """
        scenario = task.world.scenario
        if scenario is None:
            raise InputError(f"obstacles mode 'scenario': world {task.map.name!r} has no scenario")
        task.furnish([*self._things(task, "static"), *self._things(task, "interactive")])
        if task.things:
            for number, (start, _) in enumerate(task.robots):
                task.check_free(f"robot {number}", start, "obstacles")
        for number, pedestrian in enumerate(scenario.obstacles.dynamic):
            start = np.asarray(pedestrian.pos[:2], float)
            task.check_free("it", start, "obstacles", "dynamic", number, "pos")
            route = np.array([w[:2] for w in pedestrian.waypoints], float).reshape(-1, 2)
            name = _type_of(task, number, pedestrian.type)
            like = pedestrian_types()[name]
            speed = task.crowd.draw_speed(task.stream) * like.speed if pedestrian.vmax is None else pedestrian.vmax
            waypoints = route if len(route) else start[None]
            shown: dict[str, Any] = {"type": name, "habits": _habits(pedestrian), "name": pedestrian.name, "look": pedestrian.model}
            radius = task.crowd.radius * like.radius
            task.pedestrians.append(Person(start, waypoints, speed, radius, mode=pedestrian.waypoint_mode, **shown))

    def _things(self, task: Task, kind: Literal["static", "interactive"]) -> list[Thing]:
        """The file's furniture of a kind."""
        assert task.world.scenario is not None
        things = []
        for number, thing in enumerate(getattr(task.world.scenario.obstacles, kind)):
            try:
                model_of(thing.model)
            except UnknownNameError as error:
                raise InputError(f"{task.world.named('obstacles', kind, number, 'model')}: {error}") from error
            things.append(Thing(thing.name, kind, Furniture(thing.model, *thing.pos)))
        return things


def _type_of(task: Task, number: int, written: str) -> str:
    """The type of a pedestrian as a file writes it: "adult" or "human/adult"."""
    name = written.rsplit("/", 1)[-1]
    if name not in TYPES:
        where = task.world.named("obstacles", "dynamic", number, "type")
        raise InputError(f"{where}: no type of pedestrian called {written!r}; {nearest(name, TYPES)}")
    return name


def _habits(pedestrian: Pedestrian) -> Habits:
    """What a file says of a pedestrian's social states; the keys that mean nothing here are listed in the how-to."""
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
