"""The curated episodes of SocNavBench, and random episodes among their people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agora.datasets.catalogue import data_folder
from agora.datasets.socnavbench import episode_names, read_episode
from agora.draft.scenario import Robot, Scenario
from agora.draft.surroundings import Surroundings
from agora.seeds import Stream

RADIUS = 0.2
"""Radius of SocNavBench's pedestrians, m."""


@dataclass(frozen=True)
class SocNavBench:
    """Episodes of SocNavBench: a map, a scenario that consists of the start and goal, recorded pedestrians, and a time budget.

    Attributes:
        episodes: names of the episodes; if empty, all 33 episodes.
        real_speed: whether hotel and univ are replayed at their recorded speed; SocNavBench uses 0.6 times that speed.
        random: whether each episode uses the map, people and time budget of a randomly drawn SocNavBench episode, while a robots
            mode defines the robot's task (``random_eps/random_eps_sampler.py`` in CMU-TBD/SocNavBench).
    """

    episodes: tuple[str, ...] = ()
    real_speed: bool = False
    random: bool = False

    def names(self) -> list[str]:
        """Return the names of the episodes."""
        return list(self.episodes) or episode_names()

    def files(self) -> list[Path]:
        """Return the folder of the data set.

        Raises:
            InputError: the data set is missing.
        """
        return [data_folder("socnavbench")]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Read an episode; with ``random``, read a randomly drawn episode.

        Raises:
            InputError: the data set is missing, or has no such episode.
        """
        if self.random:
            names = self.names()
            read = read_episode(names[stream.integer(0, len(names) - 1)], real_speed=self.real_speed)
            return Surroundings(read.map, None, read.trajectories, replay_radius=RADIUS, timeout=read.budget)
        read = read_episode(name, real_speed=self.real_speed)
        task = Scenario(robots=(Robot(read.start, read.goal),))
        return Surroundings(read.map, task, read.trajectories, replay_radius=RADIUS, timeout=read.budget)
