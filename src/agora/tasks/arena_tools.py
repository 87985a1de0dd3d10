"""Converts scenario files of arena-tools, the editor from 2021 and 2022, to the current format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from agora.config import load
from agora.draft.scenario import Obstacle, Obstacles, Pedestrian, Pose, Robot, Scenario
from agora.errors import InputError
from agora.ranges import Turns


@dataclass(frozen=True)
class StaticObject:
    """A static obstacle in an arena-tools file.

    Attributes:
        name: name of the obstacle.
        pos: position (x, y) of the obstacle, m.
        angle: heading of the obstacle, rad.
        model_path: path of the obstacle's Flatland model file; the name of the model is derived from the file name.
    """

    name: str
    pos: tuple[float, float]
    angle: Turns = 0.0
    model_path: str = ""


@dataclass(frozen=True)
class ArenaToolsFile:
    """The keys of an arena-tools file. Agents have the current format, except that their models are given as paths of Flatland
    files.

    Attributes:
        robot_position: start of the single robot.
        robot_goal: goal of the single robot.
        pedsim_agents: pedestrians.
        static_obstacles: static obstacles.
        interactive_obstacles: obstacles that pedestrians use.
        map_path: path of the map on its author's machine; the name of the world is derived from the folder.
        resets: number of resets, which is kept in the converted scenario.
        format: "arena-tools"; may be omitted.
    """

    robot_position: Pose
    robot_goal: Pose
    pedsim_agents: tuple[Pedestrian, ...] = ()
    static_obstacles: tuple[StaticObject, ...] = ()
    interactive_obstacles: tuple[StaticObject, ...] = ()
    map_path: str = ""
    resets: int | None = None
    format: Literal["arena-tools"] = "arena-tools"


def convert(path: str | Path) -> Scenario:
    """Read an arena-tools scenario file, JSON or YAML, and return the scenario in the current format.

    The names of models and of the world are derived from the paths in the file. Agent numbers, which were not unique, are dropped.
    If a name occurs twice, a number is appended.

    Raises:
        InputError: the file cannot be read or does not have this format; the message names the file, the line and the key.
    """
    return renewed(load(path, ArenaToolsFile), str(path))


def renewed(file: ArenaToolsFile, where: str) -> Scenario:
    """Return an arena-tools file as a scenario, like `convert`; ``where`` names the file in messages.

    Raises:
        InputError: two objects or people have the same name, or a pose is invalid.
    """
    taken: Counter[str] = Counter()

    def own(name: str) -> str:
        taken[name] += 1
        return name if taken[name] == 1 else own(f"{name} ({taken[name]})")

    def things(objects: Iterable[StaticObject]) -> tuple[Obstacle, ...]:
        return tuple(Obstacle(own(o.name), _model(o.model_path) or o.name, (*o.pos, o.angle)) for o in objects)

    try:
        people = [replace(a, name=own(a.name), model=_model(a.yaml_file or "") or a.model) for a in file.pedsim_agents]
        return Scenario(
            robots=(Robot(file.robot_position, file.robot_goal),),
            obstacles=Obstacles(
                static=things(file.static_obstacles),
                interactive=things(file.interactive_obstacles),
                dynamic=tuple(replace(person, id=None, yaml_file=None) for person in people),
            ),
            map=_world(file.map_path),
            resets=file.resets,
        )
    except ValueError as error:
        raise InputError(f"{where}: {error}") from error


def _model(path: str) -> str:
    """Return the model name of a Flatland file, such as "shelf" for ``shelf.model.yaml``; empty for an empty path."""
    return PurePosixPath(path.replace("\\", "/")).name.partition(".")[0]


def _world(path: str) -> str | None:
    """Return ``NAME`` from ``maps/NAME/map.yaml`` or ``worlds/NAME/map/map.yaml``; None if the path has no folder."""
    folders = [part for part in PurePosixPath(path.replace("\\", "/")).parts[:-1] if part != "/"]
    while folders and folders[-1] == "map":
        folders.pop()
    return folders[-1] if folders else None
