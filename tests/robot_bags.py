"""Bags of robots that know nothing of Agora, written without ROS."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

DEFINITIONS = {
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "move_base_msgs/msg/MoveBaseGoal": "geometry_msgs/PoseStamped target_pose",
    "move_base_msgs/msg/MoveBaseActionGoal": "Header header\nactionlib_msgs/GoalID goal_id\nmove_base_msgs/MoveBaseGoal goal",
    "move_base_msgs/msg/MoveBaseResult": "",
    "actionlib_msgs/msg/GoalID": "time stamp\nstring id",
    "actionlib_msgs/msg/GoalStatus": "actionlib_msgs/GoalID goal_id\nuint8 status\nstring text",
    "move_base_msgs/msg/MoveBaseActionResult": (
        "Header header\nactionlib_msgs/GoalStatus status\nmove_base_msgs/MoveBaseResult result"
    ),
}


@functools.cache
def store() -> Any:
    """The types of the messages."""
    known = get_typestore(Stores.ROS1_NOETIC)
    for name, definition in DEFINITIONS.items():
        known.register(get_types_from_msg(definition, name))
    return known


@functools.cache
def of() -> SimpleNamespace:
    """The classes of the messages by their bare names."""
    known = store().types.items()
    return SimpleNamespace(**{n.rpartition("/")[2]: t for n, t in known if not n.startswith("std_msgs") or n.endswith("Header")})


def stamp(time: float) -> Any:
    seconds, rest = divmod(round(time * 1e9), 10**9)
    return of().Time(seconds, rest)


def header(time: float, frame: str) -> Any:
    return of().Header(0, stamp(time), frame)


def turn(heading: float, roll: float = 0.0, pitch: float = 0.0) -> Any:
    """A quaternion of headings, pitch and roll, in the order of ROS: about z, y, x."""
    (a, b, c), (x, y, z) = np.cos(np.array((roll, pitch, heading)) / 2), np.sin(np.array((roll, pitch, heading)) / 2)
    return of().Quaternion(x * b * c - a * y * z, a * y * c + x * b * z, a * b * z - x * y * c, a * b * c + x * y * z)


def pose(x: float, y: float, heading: float = 0.0, z: float = 0.0, rotation: Any = None) -> Any:
    return of().Pose(of().Point(x, y, z), turn(heading) if rotation is None else rotation)


def twist(v: float, omega: float = 0.0) -> Any:
    return of().Twist(of().Vector3(v, 0.0, 0.0), of().Vector3(0.0, 0.0, omega))


class BagOf:
    """A bag that is being written; ``recorded`` is the time of the record, where it is not the stamp."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._topics: dict[str, Any] = {}

    def write(self, topic: str, message: Any, time: float) -> None:
        if topic not in self._topics:
            self._topics[topic] = self._writer.add_connection(topic, message.__msgtype__, typestore=store())
        self._writer.write(self._topics[topic], round(time * 1e9), store().serialize_ros1(message, message.__msgtype__))

    def odometry(
        self, time: float, x: float, y: float, heading: float = 0.0, v: float = 0.0, omega: float = 0.0, *,
        topic: str = "/odom", frame: str = "odom", child: str = "base_link", recorded: float | None = None, rotation: Any = None,
        z: float = 0.0, covariance: float = 0.0,
    ) -> None:  # fmt: skip
        spread = np.full(36, covariance)
        there = of().PoseWithCovariance(pose(x, y, heading, z, rotation), spread)
        message = of().Odometry(header(time, frame), child, there, of().TwistWithCovariance(twist(v, omega), spread))
        self.write(topic, message, time if recorded is None else recorded)

    def goal(
        self, time: float, x: float, y: float, heading: float = 0.0, *,
        topic: str = "/move_base_simple/goal", frame: str = "map", recorded: float | None = None,
    ) -> None:  # fmt: skip
        message = of().PoseStamped(header(time, frame), pose(x, y, heading))
        self.write(topic, message, time if recorded is None else recorded)

    def action(
        self, time: float, x: float, y: float, *, topic: str = "/move_base/goal", frame: str = "map", name: str = "1"
    ) -> None:  # fmt: skip
        inner = of().MoveBaseGoal(of().PoseStamped(header(time, frame), pose(x, y)))
        self.write(topic, of().MoveBaseActionGoal(header(time, ""), of().GoalID(stamp(time), name), inner), time)

    def result(self, time: float, status: int, name: str, sent: float, *, topic: str = "/move_base/result") -> None:
        there = of().GoalStatus(of().GoalID(stamp(sent), name), status, "")
        self.write(topic, of().MoveBaseActionResult(header(time, ""), there, of().MoveBaseResult()), time)

    def cancel(self, time: float, name: str = "", sent: float = 0.0, *, topic: str = "/move_base/cancel") -> None:
        self.write(topic, of().GoalID(stamp(sent), name), time)

    def transform(
        self, time: float, parent: str, child: str, x: float, y: float, heading: float = 0.0, *,
        z: float = 0.0, rotation: Any = None, topic: str = "/tf", recorded: float | None = None,
    ) -> None:  # fmt: skip
        move = of().Transform(of().Vector3(x, y, z), turn(heading) if rotation is None else rotation)
        message = of().TFMessage([of().TransformStamped(header(time, parent), child, move)])
        self.write(topic, message, time if recorded is None else recorded)

    def fixed(self, parent: str, child: str, x: float, y: float, heading: float = 0.0, *, time: float = 1.0, **more: Any) -> None:
        self.transform(time, parent, child, x, y, heading, topic="/tf_static", **more)

    def estimate(self, time: float, x: float, y: float, heading: float = 0.0) -> None:
        there = of().PoseWithCovariance(pose(x, y, heading), np.zeros(36))
        self.write("/amcl_pose", of().PoseWithCovarianceStamped(header(time, "map"), there), time)

    def grid(self, time: float, cells: Any, size: float, corner: tuple[float, float], *, frame: str = "map") -> None:
        info = of().MapMetaData(stamp(0), size, cells.shape[1], cells.shape[0], pose(*corner))
        self.write("/map", of().OccupancyGrid(header(time, frame), info, np.asarray(cells, np.int8).ravel()), time)


@contextmanager
def bag_at(path: Path, compression: str = "") -> Iterator[BagOf]:
    """Write a bag; ``compression`` is none, ``bz2`` or ``lz4``."""
    writer = Writer(path)
    if compression:
        writer.set_compression(Writer.CompressionFormat[compression.upper()])
    with writer:
        yield BagOf(writer)
