"""A situation as files: a world folder as Arena 3.0 reads it."""

from __future__ import annotations

from pathlib import Path

from agora.draft.scenario import Obstacles, Pedestrian, Robot, Scenario, write_scenario
from agora.errors import InputError
from agora.interfaces import Situation
from agora.maps.io import write_map


def write_world(situation: Situation, name: str, folder: Path) -> tuple[Path, list[str]]:
    """Write map and scenario; return the scenario's path, and the parts of the situation that the file cannot hold.

    Args:
        situation: situation to write.
        name: name of the scenario.
        folder: folder of the world, made new.

    Raises:
        InputError: the folder is there, or cannot be made.
    """
    try:
        (folder / "map").mkdir(parents=True)
        (folder / "scenarios").mkdir()
    except FileExistsError as error:
        raise InputError(f"{folder}: is there already") from error
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error}") from error
    write_map(situation.map, folder / "map" / "map.yaml")
    people, lost = [], []
    for number, person in enumerate(situation.people):
        waits = person.waits[:1]
        if any(person.waits[1:]):
            lost.append(f"pedestrian {number} waits on its way, {', '.join(f'{w:g}' for w in person.waits[1:])} s")
        if person.company[0] > 0:
            lost.append(f"pedestrian {number} stays with the robot, at {person.company[0]:g} m until {person.company[2]:g} s")
        people.append(
            Pedestrian(
                name=f"pedestrian {number + 1}",
                pos=(float(person.position[0]), float(person.position[1]), person.facing()),
                waypoints=tuple((float(x), float(y)) for x, y in person.waypoints),
                type=person.type,
                waypoint_mode=person.mode,  # type: ignore[arg-type]
                vmax=person.speed,
                start_up_mode="wait_timer" if any(waits) else "default",
                wait_time=waits[0] if any(waits) else None,
            )
        )
    robot = Robot(tuple(situation.start.tolist()), tuple(situation.goal.tolist()))
    path = folder / "scenarios" / f"{name}.json"
    write_scenario(Scenario((robot,), Obstacles(dynamic=tuple(people)), map=folder.name), path)
    return path, lost
