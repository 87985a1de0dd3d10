"""Reads Arena 3.0's robot setup files unchanged: the robots and their planners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agora.config import load
from agora.errors import InputError
from agora.ranges import Checked, Robots
from agora.robots.mbf import CONTROLLERS
from agora.robots.model import load_robot
from agora.yaml_tree import location_of

__all__ = ["Driver", "RobotEntry", "read_robot_setup", "robot_names"]

Driver = Literal["agora", "mbf", "external"]


@dataclass(frozen=True)
class RobotEntry(Checked):
    """A set of identical robots.

    Attributes:
        model: model of the robots.
        amount: number of robots.
        local_planner: name of the local planner, optionally with parameters, as in ``dwa(vx_samples=12)``; if empty, the planner in
            the launch file is used.
        planner: alias of ``local_planner``, used in the files that come with Arena.
        inter_planner: name of the interplanner, in the same format.
        agent: name of a learned agent; if empty, the agent of the robot model is used.
        navigation: source of the robots' velocity commands: the library's planner, Move Base Flex, or any publisher of ``cmd_vel``;
            None to use the setting in the launch file.
    """

    model: str
    amount: Robots = 1
    local_planner: str = ""
    planner: str = ""
    inter_planner: str = ""
    agent: str = ""
    navigation: Driver | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.local_planner and self.planner and self.local_planner != self.planner:
            raise ValueError(f"planner and local_planner are one setting, but differ: {self.planner!r} and {self.local_planner!r}")
        object.__setattr__(self, "local_planner", self.local_planner or self.planner)
        try:
            load_robot(self.model)
        except InputError as error:
            raise ValueError(f"model: {error}") from error

    @property
    def planned_here(self) -> bool:
        """True if one of the library's planners drives the robots. With Move Base Flex, this is the case if the local planner is
        not one of Move Base Flex's own controllers.
        """
        return self.navigation == "agora" or (self.navigation == "mbf" and self.local_planner not in CONTROLLERS)


@dataclass(frozen=True)
class RobotSetup:
    """The keys of a robot setup file.

    Attributes:
        robots: entries; at least one is required.
    """

    robots: tuple[RobotEntry, ...]

    def each(self) -> list[RobotEntry]:
        """Return one entry per robot."""
        return [replace(entry, amount=1) for entry in self.robots for _ in range(entry.amount)]


def read_robot_setup(path: str | Path) -> list[RobotEntry]:
    """Read a robot setup file; return one entry per robot.

    Raises:
        InputError: the file cannot be read, does not have this format or contains no robot; the message names the file, the line
            and the key.
    """
    robots = load(path, RobotSetup).each()
    if not robots:
        raise InputError(f"{location_of(path, 'robots')}: expected at least one robot, got none")
    return robots


def robot_names(models: Sequence[str]) -> list[str]:
    """Return the names of robots, given their models: the model's name, with a number if several robots have the same model."""
    return [model if models.count(model) == 1 else f"{model}_{models[:k].count(model)}" for k, model in enumerate(models)]
