"""Writes a situation as a world folder that Arena 3.0 can read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agora.draft.people import Person
from agora.draft.scenario import GIVEN, MOVES, TALKS, Obstacles, Pedestrian, Robot, Scenario, write_scenario
from agora.errors import InputError
from agora.interfaces import Situation
from agora.maps.io import write_map


def write_world(situation: Situation, name: str, folder: Path) -> tuple[Path, list[str]]:
    """Write the map and the scenario; return the scenario's path, and the parts of the situation that the file format cannot
    represent.

    Args:
        situation: situation to write.
        name: name of the scenario.
        folder: folder of the world, which this function creates.

    Raises:
        InputError: the folder exists, or cannot be created.
    """
    try:
        (folder / "map").mkdir(parents=True)
        (folder / "scenarios").mkdir()
    except FileExistsError as error:
        raise InputError(f"{folder}: already exists") from error
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error}") from error
    write_map(situation.map, folder / "map" / "map.yaml")
    people, lost = [], []
    for number, person in enumerate(situation.people):
        waits = person.waits[:1] if any(person.waits[:1]) else ()
        if any(person.waits[1:]):
            lost.append(f"pedestrian {number} waits along its path for {', '.join(f'{w:g}' for w in person.waits[1:])} s")
        if person.company[0] > 0:
            lost.append(f"pedestrian {number} stays {person.company[0]:g} m from the robot until {person.company[2]:g} s")
        people.append(
            Pedestrian(
                name=_name(number),
                pos=(float(person.position[0]), float(person.position[1]), person.facing()),
                waypoints=tuple((float(x), float(y)) for x, y in person.waypoints),
                type=person.type,
                waypoint_mode=person.mode,  # type: ignore[arg-type]
                vmax=person.speed,
                start_up_mode="wait_timer" if waits else "default",
                wait_time=waits[0] if waits else None,
                heading=0.0 if person.heading == 0.0 else None,
                **(_activity(person, situation.people) if waits else {}),
            )
        )
    robot = Robot(tuple(situation.start.tolist()), tuple(situation.goal.tolist()))
    path = folder / "scenarios" / f"{name}.json"
    write_scenario(Scenario((robot,), Obstacles(dynamic=tuple(people)), map=folder.name), path)
    return path, lost


def _name(number: int) -> str:
    """Return the name of pedestrian ``number`` in the file."""
    return f"pedestrian {number + 1}"


def _activity(person: Person, everybody: Sequence[Person]) -> dict[str, Any]:
    """Return the keys that describe what a waiting pedestrian does: its state and its conversation partners. A pedestrian without
    partners is idle.
    """
    if person.state in TALKS:
        others = tuple(
            _name(k) for k, p in enumerate(everybody) if p is not person and p.state in TALKS and p.group == person.group
        )
        return {"state": person.state, "partners": others} if others else {"state": "idle"}
    return {"state": person.state if person.state in GIVEN and person.state not in MOVES else "idle"}
