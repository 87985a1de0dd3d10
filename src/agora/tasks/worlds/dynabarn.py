"""The dynamic worlds of DynaBARN."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agora.datasets.catalogue import data_folder
from agora.datasets.dynabarn import read_world, world_names
from agora.draft.scenario import Robot, Scenario
from agora.draft.surroundings import Surroundings
from agora.ranges import Checked
from agora.seeds import Stream


@dataclass(frozen=True)
class DynaBarn(Checked):
    """Worlds of DynaBARN; a world's scenario consists of the start and goal, and the moving cylinders are recorded pedestrians.

    Attributes:
        worlds: names of the worlds, such as ``challenge_07``; if empty, all worlds of ``part`` and ``difficulty``.
        part: challenge or demo, or all.
        difficulty: easy, medium or hard, or all.
    """

    worlds: tuple[str, ...] = ()
    part: Literal["challenge", "demo", "all"] = "all"
    difficulty: Literal["easy", "medium", "hard", "all"] = "all"

    def unread(self) -> dict[str, str]:
        """Return the parameters that have no effect given the other parameters, and the reasons."""
        return dict.fromkeys(("part", "difficulty"), "with worlds") if self.worlds else {}

    def names(self) -> list[str]:
        """Return the names of the worlds."""
        if self.worlds:
            return list(self.worlds)
        names = world_names(difficulty=None if self.difficulty == "all" else self.difficulty)
        return [n for n in names if self.part == "all" or n.startswith(self.part)]

    def files(self) -> list[Path]:
        """Return the folder of the data set.

        Raises:
            InputError: the data set is missing.
        """
        return [data_folder("dynabarn")]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Read a world.

        Raises:
            InputError: the data set is missing, or has no such world.
        """
        read = read_world(name)
        task = Scenario(robots=(Robot(read.start, read.goal),))
        return Surroundings(read.map, task, read.obstacles, replay_radius=read.radius)
