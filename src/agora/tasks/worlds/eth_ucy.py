"""Stretches of the ETH and UCY recordings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agora.datasets.eth_ucy import SOURCES, read_scene, scene_sources, scenes_folder
from agora.datasets.scenes import FrameRate, Scale, SceneFile
from agora.draft.surroundings import Surroundings
from agora.errors import InputError, UnknownNameError
from agora.ranges import Count, Distance, Duration
from agora.seeds import Stream


@dataclass(frozen=True)
class EthUcy:
    """Recorded scenes from which each episode plays a stretch; robots are placed by a robots mode.

    Attributes:
        scenes: names of scenes, folders of the data set; the six of `agora.datasets.eth_ucy.SOURCES` where empty.
        length: of a stretch, s; it begins at a random moment of the recording.
        radius: of the pedestrians, m.
        least: pedestrians that a stretch must show; one with fewer is drawn again.
        folder: in which the scenes are, "./recordings"; that of the data set where empty.
        frame_rate: frames per second in the numbering of all these scenes; scale: m of a unit of their places. Both are what the
            scenes say where None (`agora.datasets.scenes.SceneFile`).
    """

    scenes: tuple[str, ...] = ()
    length: Duration = 60.0
    radius: Distance = 0.25
    least: Count = 1
    folder: str = ""
    frame_rate: FrameRate | None = None
    scale: Scale | None = None

    def __post_init__(self) -> None:
        for name in self.scenes:
            try:
                scene_sources(name, self._folder)
            except UnknownNameError as error:
                raise ValueError(f"scenes: {error}") from error
        if self.length <= 0 or self.radius <= 0 or self.least < 0:
            raise ValueError("length and radius must be above 0, least at least 0")

    @property
    def _folder(self) -> Path | None:
        return Path(self.folder) if self.folder else None

    def names(self) -> list[str]:
        """The scenes' names."""
        return list(self.scenes) or sorted(SOURCES)

    def files(self) -> list[Path]:
        """The folders of the scenes.

        Raises:
            InputError: the data set is not there.
        """
        return [(self._folder or scenes_folder(name)) / name for name in self.names()]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Read a scene and choose a stretch.

        Raises:
            InputError: the data set is not there, has no such scene, or no stretch with so many pedestrians.
        """
        scene = read_scene(name, folder=self._folder, said=SceneFile(self.frame_rate, self.scale))
        people = scene.trajectories
        first, last = float(people.start.min()), float(people.end.max())
        for _ in range(1000):
            begin = float(stream.uniform(first, max(last - self.length, first)))
            there = people.overlapping(begin, begin + self.length)
            if int(np.sum(there)) >= self.least:
                return Surroundings(scene.map, None, people.only(there).moved(delay=-begin), replay_radius=self.radius)
        raise InputError(f"scene {name!r} has no {self.length} s with {self.least} pedestrians")
