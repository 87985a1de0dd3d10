"""Reads the odometry in a bag: chooses each robot's topic, and divides it into stretches over which the clock advances."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agora.core.state import Array, Doubles
from agora.datasets.clock import stretches
from agora.datasets.messages import seconds
from agora.datasets.transforms import Transforms, frame_name
from agora.ranges import LARGEST

_COLUMNS = 13
_FUSED = re.compile("filter|ekf|ukf|fused|combined")
_OF_A_ROBOT = frozenset({"geometry_msgs/Twist", "geometry_msgs/PoseStamped", "sensor_msgs/LaserScan", "tf2_msgs/TFMessage"})
"""Message types that show that a namespace belongs to a separate robot if the namespace contains a topic of such a type."""


@dataclass(frozen=True, eq=False)
class OdometryStretch:
    """The T samples of odometry in a stretch over which the clock advances.

    Attributes:
        begin: rank of the first message after the previous stretch; 0 if there is no previous stretch.
        end: rank of the first message after this stretch; infinity if there is none.
        time: (T,) stamps of the samples, s.
        shift: time by which the stamps are ahead of the record times, s.
        body: poses of the robot in the frame of the odometry.
        twist: (T, 3) vx, vy, omega in the robot's frame.
    """

    begin: float
    end: float
    time: Doubles
    shift: float
    body: Transforms
    twist: Doubles


@dataclass
class Odometry:
    """The messages on a topic of type ``nav_msgs/Odometry``.

    Attributes:
        topic: name of the topic.
        frame: frame of the poses.
        child: name of the robot's frame; empty if unknown.
    """

    topic: str
    frame: str
    child: str
    _rows: array[float] = field(default_factory=lambda: array("d"))

    @staticmethod
    def of(topic: str, message: Any) -> Odometry:
        """Return the odometry of a topic, without samples, given the topic's first message, which must also be passed to `add`."""
        return Odometry(topic, frame_name(message.header.frame_id) or "odom", frame_name(message.child_frame_id))

    def __len__(self) -> int:
        return len(self._rows) // _COLUMNS

    def add(self, place: int, recorded: float, message: Any) -> None:
        """Add a message, given its chronological rank, its record time (s), and its contents."""
        at, turned, twist = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist
        self._rows.extend((place, recorded, seconds(message.header.stamp), at.x, at.y, at.z))
        self._rows.extend((turned.x, turned.y, turned.z, turned.w, twist.linear.x, twist.linear.y, twist.angular.z))

    def stretches(self) -> tuple[list[OdometryStretch], list[str]]:
        """Return the stretches that have at least two samples, and notes on the messages."""
        rows = np.frombuffer(self._rows).reshape(-1, _COLUMNS)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        finite = (np.abs(rows[:, 3:]) <= LARGEST).all(1)
        notes = [f"{np.sum(~finite)} of {len(rows)} messages of {self.topic} contain NaN or infinite values; they are left out"] * (
            not finite.all()
        )
        rows = rows[finite]
        unstamped = not rows[:, 2].any()
        notes += [f"the stamps of {self.topic} are 0; the recording time is used"] * (unstamped and len(rows) > 0)
        stamps = rows[:, 1] if unstamped else rows[:, 2]
        length = np.linalg.norm(rows[:, 6:10], axis=1, keepdims=True)
        turned = length[:, 0] > 0.0
        notes += [f"{np.sum(~turned)} rotations of {self.topic} are zero; a heading of 0 is used"] * (not turned.all())
        rotation = np.where(turned[:, None], rows[:, 6:10] / np.where(length > 0.0, length, 1.0), (0.0, 0.0, 0.0, 1.0))
        kept = stretches(stamps, rows[:, 3:5])
        edges = [0.0, *(rows[numbers[-1], 0] + 1.0 for numbers in kept[:-1]), np.inf]
        made = [
            OdometryStretch(
                begin=begin,
                end=end,
                time=stamps[n],
                shift=float(np.median(stamps[n] - rows[n, 1])),
                body=Transforms(rows[n, 3:6], rotation[n], np.ones(len(n), np.bool_)),
                twist=rows[n, 10:],
            )
            for n, begin, end in zip(kept, edges[:-1], edges[1:], strict=True)
            if len(n) > 1
        ]
        return made, notes


def robots_of(odometry: Mapping[str, Odometry], topics: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the odometry topics of each robot, by name of the robot; the name is empty if the bag contains a single robot.

    Robots are distinguished by frames such as ``name/base_link``, or by topics with the same name in separate namespaces that also
    contain commands, scans, goals or transforms, or are numbered. All other odometry belongs to a single robot.

    Args:
        odometry: odometry by topic.
        topics: message types of all topics in the bag, by topic.
    """
    by_frame = {topic: one.child.rpartition("/")[0] for topic, one in odometry.items()}
    split = {topic: topic.strip("/").partition("/")[::2] for topic in odometry}
    by_space = {topic: space for topic, (space, _) in split.items()}
    alike = len({rest for _, rest in split.values()}) == 1 and all(rest for _, rest in split.values())
    numbered = len({re.sub(r"\d+", "0", space) for space in by_space.values()}) == 1
    own = all(_is_robots(space, topics) for space in by_space.values())
    named = by_frame if len(set(by_frame.values())) > 1 else by_space if alike and (numbered or own) else {}
    if len(set(named.values())) < 2:
        return {"": sorted(odometry)}
    found: dict[str, list[str]] = {}
    for topic in sorted(odometry):
        found.setdefault(named[topic] or "robot", []).append(topic)
    return found


def _is_robots(space: str, topics: Mapping[str, str]) -> bool:
    return any(kind in _OF_A_ROBOT and topic.strip("/").startswith(f"{space}/") for topic, kind in topics.items())


def preferred(odometry: Sequence[Odometry], connected: Collection[str]) -> tuple[Odometry, str]:
    """Return the odometry to read for a robot, and a text with the reason.

    Odometry whose frame is connected to the map by transforms is preferred, then the output of a filter, then the topic with the
    shortest name.

    Args:
        odometry: odometry of one robot.
        connected: frames that are connected to the map.
    """

    def rank(one: Odometry) -> tuple[bool, bool, bool, int, str]:
        fused = _FUSED.search(one.topic) is not None
        return len(one) < 2, one.frame not in connected, not fused, len(one.topic), one.topic

    best, *others = sorted(odometry, key=rank)
    why = ["has messages", "has a frame that is connected to the map", "has a name that suggests a filter", "has the shortest name"]
    differs = next((k for k in range(3) if any(rank(best)[k] != rank(one)[k] for one in others)), 3)
    return best, why[differs]


def derived(time: Array, pose: Array) -> Doubles:
    """Return the twists (T, 3), i.e. vx, vy and omega in the robot's frame, derived from the robot's poses (T, 3) at times (T,)."""
    x, y, turn = (np.gradient(column, time) for column in (pose[:, 0], pose[:, 1], np.unwrap(pose[:, 2])))
    cosine, sine = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    return np.column_stack((cosine * x + sine * y, cosine * y - sine * x, turn))
