"""The static worlds of BARN."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agora.datasets.barn import CHALLENGE_WORLDS, TOP_SPEED, read_world, world_numbers
from agora.datasets.catalogue import data_folder
from agora.draft.scenario import Robot, Scenario
from agora.draft.surroundings import Surroundings
from agora.ranges import Checked
from agora.seeds import Stream


@dataclass(frozen=True)
class Barn(Checked):
    """Worlds of BARN; each world's scenario consists of the start and goal.

    Attributes:
        worlds: numbers of the worlds; if empty, all worlds of the challenge that are in the data set.
        obstacles: whether the cylinders are represented by exact discs or by cells of 0.15 m.
    """

    worlds: tuple[int, ...] = ()
    obstacles: Literal["discs", "cells"] = "discs"

    def names(self) -> list[str]:
        """Return the numbers of the worlds."""
        there = self.worlds or [n for n in CHALLENGE_WORLDS if n in world_numbers()]
        return [str(n) for n in there]

    def files(self) -> list[Path]:
        """Return the folder of the data set.

        Raises:
            InputError: the data set is missing.
        """
        return [data_folder("barn")]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Read a world.

        Raises:
            InputError: the data set is missing, or has no such world.
        """
        read = read_world(int(name), obstacles=self.obstacles)
        return Surroundings(
            read.map, Scenario(robots=(Robot(read.start, read.goal),)), reference_path=read.optimal_time * TOP_SPEED
        )
