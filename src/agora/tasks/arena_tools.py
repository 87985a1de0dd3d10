"""Scenario files of arena-tools, the editor of 2021 and 2022, into the present format."""

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
    """An obstacle of the file.

    Attributes:
        name: name of the obstacle.
        pos: x and y, m.
        angle: heading, rad.
        model_path: path of its flatland model, whose name names the model.
    """

    name: str
    pos: tuple[float, float]
    angle: Turns = 0.0
    model_path: str = ""


@dataclass(frozen=True)
class ArenaToolsFile:
    """The keys of the file; its agents are the present ones, but that a model is named by the path of its flatland file.

    Attributes:
        robot_position: start of the one robot.
        robot_goal: goal of the one robot.
        pedsim_agents: pedestrians.
        static_obstacles: static obstacles.
        interactive_obstacles: obstacles that pedestrians use.
        map_path: path of the map on the machine of its author; the folder names the world.
        resets: number of resets, kept.
        format: "arena-tools", or left out.
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
    """Read a scenario file of arena-tools, JSON or YAML, as a scenario of the present format.

    Models and the world are named after the files that paths name; numbers of agents, which were not of their own, are left out;
    a name that occurs twice gets a number.

    Raises:
        InputError: the file cannot be read or holds something else; names file, line and key.
    """
    return renewed(load(path, ArenaToolsFile), str(path))


def renewed(file: ArenaToolsFile, where: str) -> Scenario:
    """Return a file of arena-tools as a scenario, as `convert` does; ``where`` names the file in messages.

    Raises:
        InputError: two objects or people have the same name, or a pose is wrong.
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
    """The name of a flatland file ``shelf.model.yaml``, "shelf"; empty for none."""
    return PurePosixPath(path.replace("\\", "/")).name.partition(".")[0]


def _world(path: str) -> str | None:
    """The folder of ``maps/NAME/map.yaml`` or ``worlds/NAME/map/map.yaml``."""
    folders = [part for part in PurePosixPath(path.replace("\\", "/")).parts[:-1] if part != "/"]
    while folders and folders[-1] == "map":
        folders.pop()
    return folders[-1] if folders else None
