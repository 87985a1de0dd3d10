"""Goals in a bag, and the episodes that they make of a drive.

An episode begins at the stamp of its goal. It ends at the arrival, or at the next goal, or where the record ends. The robot arrives
when it is within `TOLERANCE` of the goal and comes no nearer than by another 2 cm, before it leaves again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from agora.core.state import Array
from agora.datasets.drive import TOLERANCE
from agora.datasets.messages import seconds
from agora.datasets.transforms import Transforms, frame_name

__all__ = ["Span", "StampedPose", "goal_of", "is_goal", "spans"]

_LEAVES = ("goal", "current_goal", "goal_pose")
_LATE = 1.0  # s: a stamp that is farther from the record's is of another clock
_SETTLED = 0.02  # m that a robot may still come nearer once it has arrived
_SAME = 0.1  # m between two goals that are one


class StampedPose(NamedTuple):
    """A pose as somebody sent it: a goal, or a localisation's estimate.

    Attributes:
        number: of its message in the bag. topic: it came on. recorded, stamp: s. frame: of the pose, empty where nobody says.
        pose: (1, 3) and (1, 4).
    """

    number: int
    topic: str
    recorded: float
    stamp: float
    frame: str
    pose: Transforms

    @staticmethod
    def of(number: int, topic: str, recorded: float, header: Any, pose: Any) -> StampedPose:
        """That of a ``std_msgs/Header`` and a ``geometry_msgs/Pose``; a rotation of zeros is none."""
        at, turned = pose.position, pose.orientation
        rotation = np.array([[turned.x, turned.y, turned.z, turned.w]])
        length = float(np.linalg.norm(rotation))
        rotation = rotation / length if length > 0.0 else np.array([[0.0, 0.0, 0.0, 1.0]])
        there = Transforms(np.array([[at.x, at.y, at.z]]), rotation, np.ones(1, np.bool_))
        return StampedPose(number, topic, recorded, seconds(header.stamp), frame_name(header.frame_id), there)

    def time(self, shift: float) -> float:
        """When it was sent on the robot's clock, which is ``shift`` ahead of the record's: its stamp, if that is of this clock."""
        there = self.recorded + shift
        return self.stamp if abs(self.stamp - there) <= _LATE else there


def is_goal(topic: str, kind: str) -> bool:
    """Whether a topic of a type is one of goals: poses on ``.../goal``, and the actions of move_base and Move Base Flex."""
    return kind.endswith("/MoveBaseActionGoal") or (kind == "geometry_msgs/PoseStamped" and topic.rpartition("/")[2] in _LEAVES)


def goal_of(number: int, topic: str, recorded: float, message: Any) -> StampedPose:
    """The goal of a message of a topic of goals."""
    posed = message.goal.target_pose if hasattr(message, "goal") else message
    return StampedPose.of(number, topic, recorded, posed.header, posed.pose)


class Span(NamedTuple):
    """An episode: its goal (3,), None for none, and its times on the robot's clock, s."""

    goal: Array | None
    begin: float
    end: float


def spans(time: Array, pose: Array, goals: Iterable[tuple[float, Array]]) -> Iterator[Span]:
    """Yield the episodes that goals make of a drive.

    A goal that is sent again, on the same topic or on another, is the same while the robot is on its way to it or stands on it.

    Args:
        time: (T,) s. pose: (T, 3). goals: times and poses in the same frame, in the order of time.
    """
    chosen: list[tuple[float, Array]] = []
    for moment, goal in goals:
        if moment >= time[-1]:
            break
        if chosen:
            since, last = chosen[-1]
            same = np.hypot(*(goal[:2] - last[:2])) < _SAME
            way = (time >= since) & (time <= moment)
            away = way.any() and np.hypot(*(pose[way][-1, :2] - last[:2])) >= TOLERANCE
            if same and not (away and arrival(pose[way], last) is not None):
                continue
        chosen.append((moment, goal))
    for k, (moment, goal) in enumerate(chosen):
        begin = max(moment, float(time[0]))
        end = float(time[-1]) if k + 1 == len(chosen) else chosen[k + 1][0]
        within = np.flatnonzero((time >= begin) & (time <= end))
        if len(within):
            arrived = arrival(pose[within], goal)
            yield Span(goal, begin, end if arrived is None else float(time[within[max(arrived, min(1, len(within) - 1))]]))


def arrival(pose: Array, goal: Array) -> int | None:
    """Return the number of the sample at which a robot arrives; None where it does not.

    A robot that begins within the tolerance and comes back to it later has arrived when it comes back.

    Args:
        pose: (T, 2 or more) m. goal: (2 or more,) m.
    """
    distance = np.hypot(*(pose[:, :2] - goal[:2]).T)
    near = np.flatnonzero(distance < TOLERANCE)
    if not len(near):
        return None
    visits: Sequence[Array] = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1)
    visit = visits[1] if visits[0][0] == 0 and len(visits) > 1 else visits[0]
    return int(visit[np.argmax(distance[visit] <= distance[visit].min() + _SETTLED)])
