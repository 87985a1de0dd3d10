"""Demonstrations: what a robot saw and what its driver did, out of bags, for behaviour cloning.

One ``.npz`` for each robot of a bag, T samples, one for each scan; arrays are float32 but for the times:

``time`` (T,) s since the first sample · ``scan`` (T, B) m · ``angles`` (B,) of the beams, rad · ``range_max`` m ·
``pose`` (T, 3) x, y, heading · ``twist`` (T, 3) vx, vy, omega · ``goal`` (3,), nan where nobody said one ·
``local_goal`` (T, 2) the goal's x and y in the robot's frame · ``command`` (T, 3) vx, vy, omega.

A sample's command is the one in force when the next scan came: the answer to this scan. What DynaBARN's demonstrations keep
(front/scan, cmd_vel, odometry, the goal) is all there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Array
from agora.datasets.bagfile import Bag
from agora.datasets.messages import from_pose, from_pose2d, from_twist, seconds
from agora.datasets.robot_bag import in_map, shift_of
from agora.errors import InputError, ResultsError

_SCAN, _TWIST, _ODOMETRY = "sensor_msgs/LaserScan", "geometry_msgs/Twist", "nav_msgs/Odometry"
_EPISODE, _GOAL, _TF = "agora_msgs/Episode", "geometry_msgs/PoseStamped", "tf2_msgs/TFMessage"


@dataclass
class _Driver:
    """What one robot has seen and done so far: scans with the commands that answered them, and odometry by its stamps."""

    scan: Any = None
    command: Array | None = None
    goal: Array = field(default_factory=lambda: np.full(3, np.nan))
    samples: list[tuple[float, Array, Array, Array]] = field(default_factory=list)
    odometry: list[tuple[float, Array, Array]] = field(default_factory=list)

    def look(self, scan: Any) -> None:
        """Take a scan, None for the end; the one before has its answer."""
        if self.scan is not None and self.command is not None:
            ranges = np.asarray(self.scan.ranges, np.float32)
            self.samples.append((seconds(self.scan.header.stamp), ranges, self.goal, self.command))
        self.scan = scan or self.scan

    def arrays(self, shift: Array | None) -> dict[str, Array]:
        """The demonstration's arrays by name; ``shift`` is the pose of the odometry's frame in the map."""
        time, scans, goals, commands = (np.array(column) for column in zip(*self.samples, strict=True))
        stamps, poses, twists = (np.array(column) for column in zip(*sorted(self.odometry, key=lambda o: o[0]), strict=True))
        latest = np.maximum(np.searchsorted(stamps, time, side="right") - 1, 0)
        pose = in_map(poses[latest], shift)
        away, cosine, sine = goals[:, :2] - pose[:, :2], np.cos(pose[:, 2]), np.sin(pose[:, 2])
        local = np.stack([cosine * away[:, 0] + sine * away[:, 1], cosine * away[:, 1] - sine * away[:, 0]], -1)
        beams = self.scan.angle_min + self.scan.angle_increment * np.arange(scans.shape[1])
        named = {"scan": scans, "angles": beams, "range_max": np.array(self.scan.range_max), "pose": pose, "twist": twists[latest]}
        named |= {"goal": goals[-1], "local_goal": local, "command": commands}
        return {"time": time - time[0]} | {name: array.astype(np.float32) for name, array in named.items()}


def read_demonstrations(path: Path) -> dict[str, dict[str, Array]]:
    """Return the arrays of each robot of a bag that was driven and saw something, by its name.

    Raises:
        InputError: the file cannot be read, or nobody was driven or saw anything in it; says what it lacks.
    """
    drivers: dict[str, _Driver] = {}
    shift = None
    for message in Bag(path).messages():
        place, _, leaf = message.connection.topic.rpartition("/")
        kind = message.connection.type
        if kind == _EPISODE:
            for robot in message.decode().robots:
                drivers.setdefault(robot.name, _Driver()).goal = from_pose2d(robot.goals[-1])
        elif kind == _TF and shift is None:
            shift = shift_of(message.decode())
        elif kind in (_SCAN, _TWIST, _ODOMETRY) or (kind == _GOAL and leaf == "goal"):
            _hear(drivers.setdefault(_robot(place), _Driver()), kind, message.decode())
    for driver in drivers.values():
        driver.look(None)
    driven = {name: driver.arrays(shift) for name, driver in drivers.items() if driver.samples and driver.odometry}
    if not driven:
        raise InputError(f"{path}: {_lack(list(drivers.values()))}")
    return driven


def _lack(drivers: list[_Driver]) -> str:
    """What keeps robots, none of which saw and did something, from being a demonstration."""
    seeing = [driver for driver in drivers if driver.scan is not None]
    if not seeing:
        return "holds no scans; record with record_scans:=true"
    if all(driver.command is None for driver in seeing):
        return "nobody drives: it holds scans, and no commands (geometry_msgs/Twist)"
    if not any(driver.odometry for driver in seeing):
        return "holds scans, and no odometry (nav_msgs/Odometry)"
    return "no scan is answered by a command with odometry"


def _robot(place: str) -> str:
    return place.removesuffix("/move_base_simple").rpartition("/")[2] or "robot"


def _hear(driver: _Driver, kind: str, content: Any) -> None:
    if kind == _SCAN:
        driver.look(content)
    elif kind == _TWIST:
        driver.command = from_twist(content)
    elif kind == _GOAL:
        driver.goal = from_pose(content.pose)
    else:
        stamp = seconds(content.header.stamp)
        driver.odometry.append((stamp, from_pose(content.pose.pose), from_twist(content.twist.twist)))


def write_demonstrations(bags: Iterable[Path], folder: Path) -> tuple[list[Path], list[str]]:
    """Write the demonstrations of bags to a folder, ``<bag>.<robot>.npz`` each.

    Returns:
        the files, and why a bag was left out, a line for each.

    Raises:
        InputError: no bag holds any; says why of each. ResultsError: the folder cannot be written.
    """
    written: list[Path] = []
    left_out: list[str] = []
    for bag in bags:
        try:
            driven = read_demonstrations(bag)
        except InputError as error:
            left_out.append(str(error))
            continue
        for name, arrays in driven.items():
            path = folder / f"{bag.name.split('.bag')[0]}.{name}.npz"
            try:
                folder.mkdir(parents=True, exist_ok=True)
                np.savez_compressed(path, allow_pickle=False, **arrays)
            except OSError as error:
                raise ResultsError(f"{path}: cannot be written: {error}") from error
            written.append(path)
    if left_out and not written:
        raise InputError("\n".join(left_out))
    return written, left_out
