"""Sections of the ETH and UCY recordings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.ndimage import binary_dilation

from agora.datasets.eth_ucy import SOURCES, read_scene, scene_path, scene_sources
from agora.datasets.scenes import Columns, FrameRate, Scale, SceneFile
from agora.draft.surroundings import Surroundings
from agora.errors import InputError, UnknownNameError
from agora.maps.grid import Map
from agora.ranges import Checked, Count, Distance, Length, Period
from agora.seeds import Stream
from agora.world.trajectories import Trajectories


@dataclass(frozen=True)
class EthUcy(Checked):
    """Recorded scenes: each episode replays a section of a scene, and a robots mode places the robots.

    Attributes:
        scenes: names of scenes, i.e. folders of the data set; if empty, the six scenes in `agora.datasets.eth_ucy.SOURCES`.
        length: length of a section, s; the section begins at a random moment of the recording.
        radius: radius of the pedestrians, m.
        least: minimum number of pedestrians in a section; sections with fewer pedestrians are redrawn.
        known: maximum distance from the recorded paths, m; cells farther away count as occupied, because a scene contains the lines
            of some walls but nothing behind them. With 0, these cells are free.
        folder: folder of the scenes, such as "./recordings"; if empty, the folder of the data set.
        frame_rate: frame rate to which the frame numbers in all these scenes refer, 1/s.
        scale: length of one unit of the positions in these scenes, m.
        columns: order of the columns in the tables of these scenes. For each of ``frame_rate``, ``scale`` and ``columns`` that is
            None, the scene's own value is used (`agora.datasets.scenes.SceneFile`).
    """

    scenes: tuple[str, ...] = ()
    length: Period = 60.0
    radius: Length = 0.25
    least: Count = 1
    known: Distance = 1.5
    folder: str = ""
    frame_rate: FrameRate | None = None
    scale: Scale | None = None
    columns: Columns | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.scenes:
            try:
                scene_sources(name, self._folder)
            except UnknownNameError as error:
                raise ValueError(f"scenes: {error}") from error

    @property
    def _folder(self) -> Path | None:
        return Path(self.folder) if self.folder else None

    def names(self) -> list[str]:
        """Return the names of the scenes."""
        return list(self.scenes) or sorted(SOURCES)

    def files(self) -> list[Path]:
        """Return the folders or files of the scenes.

        Raises:
            InputError: the data set is missing.
        """
        return [scene_path(name, self._folder) for name in self.names()]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Read a scene and choose a section.

        Raises:
            InputError: the data set is missing or has no such scene, or the scene has no section with enough pedestrians.
        """
        scene = read_scene(name, folder=self._folder, said=SceneFile(self.frame_rate, self.scale, self.columns))
        people = scene.trajectories
        ground = _known(scene.map, people, self.known) if self.known > 0 else scene.map
        first, last = float(people.start.min()), float(people.end.max())
        for _ in range(1000):
            begin = float(stream.uniform(first, max(last - self.length, first)))
            there = people.overlapping(begin, begin + self.length)
            if int(np.sum(there)) >= self.least:
                return Surroundings(ground, None, people.only(there).moved(delay=-begin), replay_radius=self.radius)
        raise InputError(f"scene {name!r} has no section of {self.length} s with at least {self.least} pedestrians")


def _known(ground: Map, people: Trajectories, reach: float) -> Map:
    """Return the map in which all cells are occupied that cannot be reached from any recorded position along a path around walls of
    at most ``reach`` metres.
    """
    places = np.column_stack((people.knot_x, people.knot_y))
    walked = np.zeros(ground.shape, np.bool_)
    walked[ground.cell_of(places[ground.contains(places)])] = True
    near = binary_dilation(walked, iterations=round(reach / ground.resolution), mask=~ground.cells | walked)
    return replace(ground, occupied=ground.occupied | ~(near | ground.cells))
