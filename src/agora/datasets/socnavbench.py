"""SocNavBench: 33 curated episodes, each with a map, the robot's start and goal, a time budget and recorded pedestrians.

A. Biswas, A. Wang, G. Silvera, A. Steinfeld, H. Admoni, "SocNavBench: a grounded simulation testing framework for evaluating social
navigation", ACM THRI 11(3), 2022; the data and the loading rule are from CMU-TBD/SocNavBench (2724ea85).

Read the following before comparing numbers. The shipped frame rates replay hotel and univ at 0.6 times the real speed. The hotel
recording is mirrored, so metrics that depend on left and right change sign. The maps are digitised from figures (accurate to 5 to
10 cm at walls); the HotelSmall map is a guess. ``t_hotel_cross`` is identical to ``t_hotel_follow_diag``. For the three
episodes in DoubleHotel, ``episodes.json`` contains a peak of 24 pedestrians, which is the sum of the peaks of their two recordings
(9 and 15); at most 23 pedestrians are present at the same time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agora.config import load
from agora.core.state import Doubles
from agora.datasets.catalogue import data_folder
from agora.datasets.tables import once_per_file, read_table
from agora.errors import InputError, UnknownNameError
from agora.maps.grid import Map
from agora.maps.io import read_map
from agora.ranges import Checked, Positive
from agora.world.trajectories import Trajectories, joined

REAL_FRAME_RATE = {"eth": 15.0, "hotel": 25.0, "dhotel-top": 25.0, "dhotel-bot": 25.0, "zara01": 25.0, "zara02": 25.0, "univ": 25.0}
"""Frames per second at which the pedestrians were actually filmed; SocNavBench replays hotel and univ at 15 frames per second."""


@dataclass(frozen=True)
class _Recording(Checked):
    """The placement of a recording on a map (``dataset_params.ini``)."""

    knots_file: str
    fps: Positive
    offset: tuple[float, float, float]
    swapxy: bool
    flipxn: bool
    flipyn: bool
    spawn_delay_s: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if Path(self.knots_file).is_absolute() or ".." in Path(self.knots_file).parts:
            raise ValueError("knots_file must be inside the data set")

    def affine(self) -> tuple[Doubles, Doubles]:
        """Return the matrix (2, 2) and the offset (2,) of the transformation from the recording's metres to the map's metres."""
        sx, sy = -1.0 if self.flipxn else 1.0, -1.0 if self.flipyn else 1.0
        placed = np.array([[0.0, sy], [sx, 0.0]]) if self.swapxy else np.diag([sx, sy])
        cosine, sine = math.cos(self.offset[2]), math.sin(self.offset[2])
        return np.array([[cosine, -sine], [sine, cosine]]) @ placed, np.array(self.offset[:2])


@dataclass(frozen=True)
class _Segment:
    """The pedestrians that an episode replays from one recording, and the numbers of pedestrians that must result from loading."""

    dataset: str
    ped_range: tuple[int, int]
    first_ped_id: int
    last_ped_id_loaded: int
    start_frame: int
    start_t: float
    n_loaded: int


@dataclass(frozen=True)
class _EpisodeFile:
    name: str
    map: str
    max_time_s: float
    robot_start: tuple[float, float, float]
    robot_goal: tuple[float, float, float]
    straight_line_m: float
    pedestrians: tuple[_Segment, ...]
    n_pedestrians_active: int
    peak_concurrent: int
    mean_concurrent: float


@dataclass(frozen=True)
class _MapFile:
    file: str
    resolution_m: float
    width_m: float
    height_m: float
    origin: tuple[float, float]
    provenance: str


@dataclass(frozen=True)
class _File:
    """The contents of ``episodes.json``."""

    simulator: dict[str, float]
    datasets: dict[str, _Recording]
    maps: dict[str, _MapFile]
    episodes: tuple[_EpisodeFile, ...]
    datasets_before_2021_09_20: dict[str, Any] = field(default_factory=dict)
    about: str = ""
    transform: str = ""
    counts: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SocnavbenchEpisode:
    """A SocNavBench episode; poses are x, y, heading in the map frame, in m and rad.

    Attributes:
        name: name of the episode in SocNavBench.
        map: map of the episode.
        start: start pose of the robot.
        goal: goal pose of the robot.
        budget: time budget, s.
        trajectories: trajectories of the recorded pedestrians; time 0 is the start of the episode.
        map_name: name of the map in SocNavBench.
        names: names of the pedestrians, in the order of the trajectories, starting with "prerec_0000".
    """

    name: str
    map: Map
    start: tuple[float, float, float]
    goal: tuple[float, float, float]
    budget: float
    trajectories: Trajectories
    map_name: str = ""
    names: tuple[str, ...] = ()


def episode_names(folder: Path | None = None) -> list[str]:
    """Return the names of the 33 episodes in the order of the benchmark.

    Raises:
        InputError: the data set is missing, or ``episodes.json`` is invalid.
    """
    return [episode.name for episode in _file(_root(folder) / "episodes.json").episodes]


def read_episode(name: str, folder: Path | None = None, *, real_speed: bool = False) -> SocnavbenchEpisode:
    """Read an episode.

    Args:
        name: one of `episode_names`.
        folder: folder of the data set; None for its place in the data folder.
        real_speed: whether pedestrians walk at the speed at which they were filmed (`REAL_FRAME_RATE`) instead of the benchmark's
            speed; this also changes which pedestrians are loaded, because a recording is loaded up to the time budget.

    Raises:
        UnknownNameError: the episode is unknown.
        InputError: the data set is missing, or a file is invalid.
    """
    root = _root(folder)
    file = _file(root / "episodes.json")
    known = {episode.name: episode for episode in file.episodes}
    if name not in known:
        raise UnknownNameError("episode of SocNavBench", name, known)
    episode = known[name]
    named = [("map", episode.map, list(file.maps))]
    named += [("data set", segment.dataset, list(file.datasets)) for segment in episode.pedestrians]
    for what, key, there in named:
        if key not in there:
            raise InputError(f"{root / 'episodes.json'}: episode {name!r} names a {what} {key!r}, which is not in the file")
    parts = []
    for segment in episode.pedestrians:
        recording = file.datasets[segment.dataset]
        rate = REAL_FRAME_RATE.get(segment.dataset, recording.fps) if real_speed else recording.fps
        parts.append(_loaded(_knots(root / recording.knots_file), recording, segment, rate, episode.max_time_s))
    return SocnavbenchEpisode(
        name=name,
        map=read_map((root / file.maps[episode.map].file).with_suffix(".yaml")),
        start=_pose(episode.robot_start),
        goal=_pose(episode.robot_goal),
        budget=episode.max_time_s,
        trajectories=joined(parts),
        map_name=episode.map,
        names=_names(episode.pedestrians, parts),
    )


def _names(segments: Sequence[_Segment], parts: Sequence[Trajectories]) -> tuple[str, ...]:
    """Return SocNavBench's names of the pedestrians (``recorded_human.py: generate_humans``): "prerec_" and the id, relative to the
    first id.

    In the original, the numbers restart from 0 for a second recording, so later pedestrians replace earlier pedestrians with the
    same name; in Agora, the numbers continue.
    """
    names: list[str] = []
    begin = 0
    for segment, part in zip(segments, parts, strict=True):
        names += [f"prerec_{begin + int(each) - segment.first_ped_id:04d}" for each in part.id]
        begin += int(part.id[-1]) - segment.first_ped_id + 1 if part.count else 0
    return tuple(names)


def _pose(given: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return a pose with the heading wrapped to (-pi, pi]."""
    x, y, heading = given
    return (x, y, heading if -math.pi < heading <= math.pi else math.pi - (math.pi - heading) % math.tau)


def _loaded(knots: Trajectories, recording: _Recording, segment: _Segment, rate: float, budget: float) -> Trajectories:
    """Return the pedestrians of a segment, selected using SocNavBench's rule.

    The rule selects the ids from the segment's first id up to, but excluding, the first id that appears after the time budget. Time
    0 is the first frame of the first id.
    """
    rows = np.flatnonzero(knots.id >= segment.first_ped_id)
    if not len(rows):
        raise InputError(f"{recording.knots_file}: no pedestrian has an id of {segment.first_ped_id} or more")
    start_frame = knots.start[rows[0]]
    delay = segment.start_t + recording.spawn_delay_s
    late = np.flatnonzero((knots.start[rows] - start_frame) / rate + delay > budget)
    rows = rows[: late[0]] if len(late) else rows
    keep = np.zeros(knots.count, np.bool_)
    keep[rows] = True
    chosen = knots.only(keep)
    seconds = Trajectories(
        (chosen.knot_time - start_frame) / rate + delay, chosen.knot_x, chosen.knot_y, chosen.first, chosen.id, chosen.group
    )
    return seconds.moved(*recording.affine())


@once_per_file
def _knots(path: Path) -> Trajectories:
    """Return the knots of all pedestrians in a recording, with times in frames and positions in the recording's metres."""
    rows = read_table(path, 4, separator=",", header="frame,ped,x,y")
    try:
        return Trajectories.of_rows(*rows.T)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


@once_per_file
def _file(path: Path) -> _File:
    return load(path, _File)


def _root(folder: Path | None) -> Path:
    return data_folder("socnavbench") if folder is None else folder


def check(folder: Path) -> None:
    """Check a folder by reading every episode and comparing the loaded pedestrians with the numbers in ``episodes.json``.

    Raises:
        InputError: a file is invalid.
    """
    for episode in _file(folder / "episodes.json").episodes:
        loaded = read_episode(episode.name, folder).trajectories.count
        expected = sum(segment.n_loaded for segment in episode.pedestrians)
        if loaded != expected:
            raise InputError(f"{folder / 'episodes.json'}: {episode.name!r} loads {loaded} pedestrians, expected {expected}")
