"""Reads episodes from recordings: bags and MCAP files from Agora's recorder or from a robot, and folders from Arena's recorder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agora.core.state import Array
from agora.datasets import arena_csv, robot_bag, rosbag
from agora.datasets.mcap_recording import EPISODE, read_recording
from agora.datasets.mcapfile import McapFile
from agora.datasets.parts import Source, joined
from agora.datasets.played import PlayedEpisode
from agora.datasets.tables import numbers
from agora.errors import InputError, reading
from agora.ranges import LARGEST
from agora.robots.model import RobotModel, load_robot

ENDINGS = (".bag", ".bag.active", ".mcap")


@dataclass(frozen=True, eq=False)
class Unsaid:
    """Information given by the user, because a recording may lack it.

    Attributes:
        robot: model of the robot; None if it is not given.
        goal: (2,) goal, m; None if it is not given.
        planner: label of the robot's planner.
        odometry: odometry topic to read, if a bag has several.
        people: people topic to read, if a bag has several.
    """

    robot: RobotModel | None = None
    goal: Array | None = None
    planner: str = ""
    odometry: str = ""
    people: str = ""

    @staticmethod
    def of(robot: str, goal: str, planner: str, odometry: str = "", people: str = "") -> Unsaid:
        """Parse the information from command-line strings; empty strings are ignored.

        Raises:
            InputError: the robot is unknown, or the goal is not of the form x,y.
        """
        if "/" in planner:
            raise InputError(f"--planner {planner!r}: expected a name without '/'")
        place = np.array(numbers(goal, 2, "--goal", ",")) if goal else None
        return Unsaid(load_robot(robot) if robot else None, place, planner, odometry, people)


def read_all(paths: Sequence[Path], unsaid: Unsaid, left_out: list[str] | None = None) -> list[PlayedEpisode]:
    """Return the episodes of files and folders, in the given order; within a folder, files are ordered by name.

    The parts of a split bag form a single recording (`agora.datasets.parts`).

    Args:
        paths: bags, MCAP files, folders that contain them, or folders from Arena's recorder.
        unsaid: information that the recordings may lack, given by the user.
        left_out: list to which, for each recording that cannot be read, the reason is appended. If None, the first such recording
            raises an error.

    Raises:
        InputError: there is nothing to read, or a recording cannot be read; if ``left_out`` is given, only if no recording can be
            read.
    """
    reasons: list[str] = []
    episodes: list[PlayedEpisode] = []
    for source in sources_of(paths, None if left_out is None else reasons):
        try:
            episodes += list(read_source(source, unsaid))
        except InputError as error:
            if left_out is None:
                raise
            reasons.append(str(error))
    if reasons and not episodes:
        raise InputError("\n".join(dict.fromkeys(reasons)))
    if left_out is not None:
        left_out += reasons
    if not unsaid.planner:
        return episodes
    return [replace(p, robots=tuple(replace(r, planner=unsaid.planner) for r in p.robots)) for p in episodes]


def sources_of(paths: Sequence[Path], left_out: list[str] | None = None) -> list[Source | Path]:
    """Return the recordings at some paths: bags and MCAP files, single or split, and folders from Arena's recorder.

    Args:
        paths: as in `read_all`.
        left_out: list to which, for each file that cannot be opened, the reason is appended. If None, the first such file raises
            an error.

    Raises:
        InputError: a folder does not contain a recording, or a file cannot be opened.
    """
    found = [file for path in paths for file in files_of(path)]
    folders = [path for path in found if path.is_dir()]
    return [*folders, *joined((path for path in found if not path.is_dir()), left_out)]


def files_of(path: Path) -> list[Path]:
    """Return the bags, MCAP files and folders from Arena's recorder at a path: the path itself, or the contents of the folder.

    Raises:
        InputError: the folder does not contain any of these.
    """
    if not path.is_dir() or (path / "odom.csv").is_file():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.name.endswith(ENDINGS) or p.name == "odom.csv")
    if not found:
        raise InputError(f"{path}: contains no bag (.bag, .bag.active), .mcap file, or odom.csv from Arena's recorder")
    return [file.parent if file.name == "odom.csv" else file for file in found]


def read_source(source: Source | Path, unsaid: Unsaid) -> Iterator[PlayedEpisode]:
    """Yield the episodes of a recording.

    Raises:
        InputError: the recording cannot be read, or contains invalid numbers.
    """
    if isinstance(source, Path):
        with reading(source, "a folder of Arena's recorder"):
            played = arena_csv.read_folder(source, unsaid.robot)
    else:
        with reading(source.path, "a bag of an episode"):
            played = _messages(source, unsaid)
    yield from map(_sound, played)


def _sound(played: PlayedEpisode) -> PlayedEpisode:
    """Check the numbers in an episode, and return the episode.

    Raises:
        InputError: a pose, a velocity, a time or a goal is non-finite, or exceeds `agora.ranges.LARGEST`.
    """
    for robot in played.robots:
        known, there = robot.recording, robot.recording.pedestrian_present
        values = {name: getattr(known, name) for name in ("time", "pose", "twist", "goal")}
        values |= {
            f"pedestrian_{name}": getattr(known, f"pedestrian_{name}")[there] for name in ("position", "velocity", "heading")
        }
        for name, found in values.items():
            if not (np.abs(found) <= LARGEST).all():
                raise InputError(f"{played.source}: episode {played.entry}: its {name} contains invalid numbers")
    return played


def _messages(source: Source, unsaid: Unsaid) -> list[PlayedEpisode]:
    if isinstance(source, McapFile):
        if (played := read_recording(source)) is not None:
            return [played]
        _refuse_strange(source)
    if rosbag.is_episode(source):
        return rosbag.read_episodes(source)
    return robot_bag.read_drives(source, unsaid.robot, unsaid.goal, unsaid.odometry, unsaid.people)


def _refuse_strange(file: McapFile) -> None:
    """Check that an MCAP file contains ROS 1 messages.

    Raises:
        InputError: the file does not contain any; the message states what the file contains.
    """
    if not file.connections:
        topics = sorted({f"{c.topic} ({c.type or 'no type'}, {c.encoding or 'no encoding'})" for c in file.channels.values()})
        raise InputError(
            f"{file.path}: this MCAP file contains neither Agora's {EPISODE} nor ROS 1 messages (encoding ros1); it "
            f"contains {', '.join(topics) or 'no messages'}"
        )
