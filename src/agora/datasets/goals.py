"""Reads the goals in a bag, and divides a drive into episodes by its goals.

An episode begins at the stamp of its goal. It ends when the robot arrives, when the goal's action is completed or cancelled, at the
next goal, or at the end of the record. The robot has arrived when it is within `TOLERANCE` of the goal and gets at most another 2
cm closer before it leaves again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agora.core.state import Array
from agora.datasets.clock import moments
from agora.datasets.drive import TOLERANCE
from agora.datasets.messages import seconds
from agora.datasets.transforms import Transforms, frame_name

_LEAVES = ("goal", "current_goal", "goal_pose")
_SETTLED = 0.02  # m, how much closer a robot may still get after it has arrived
_SAME = 0.1  # m, maximum distance at which two goals count as equal
_SOON = 1.0  # s, time within which a goal on a topic becomes the goal of the action
_ROUNDING = 1e-4  # s, rounding error of stamps given as float seconds
_CANCELLED = "cancelled"
_STATUS = {
    2: "preempted",
    3: "succeeded",
    4: "aborted",
    5: "rejected",
    8: "recalled",
    9: "lost",
}  # actionlib_msgs/GoalStatus


class StampedPose(NamedTuple):
    """A published pose: a goal, or a pose estimate from localisation.

    Attributes:
        number: chronological rank of the message.
        topic: topic of the message.
        recorded: record time, s.
        stamp: stamp of the message, s.
        frame: frame of the pose, empty if unknown.
        pose: position (1, 3), m, and quaternion (1, 4).
        name: name of the action's goal; empty if it has no name.
    """

    number: int
    topic: str
    recorded: float
    stamp: float
    frame: str
    pose: Transforms
    name: str = ""

    @staticmethod
    def of(number: int, topic: str, recorded: float, header: Any, pose: Any) -> StampedPose:
        """Return the pose in a ``std_msgs/Header`` and a ``geometry_msgs/Pose``; a zero quaternion counts as no rotation."""
        at, turned = pose.position, pose.orientation
        rotation = np.array([[turned.x, turned.y, turned.z, turned.w]])
        length = float(np.linalg.norm(rotation))
        rotation = rotation / length if length > 0.0 else np.array([[0.0, 0.0, 0.0, 1.0]])
        there = Transforms(np.array([[at.x, at.y, at.z]]), rotation, np.ones(1, np.bool_))
        return StampedPose(number, topic, recorded, seconds(header.stamp), frame_name(header.frame_id), there)

    def time(self, shift: float) -> float:
        """Return the time at which the pose was sent, s, on the robot's clock, which is ``shift`` seconds ahead of the record
        clock. This is the stamp, if the stamp is from the robot's clock.
        """
        return float(moments(np.array(self.stamp), np.array(self.recorded + shift)))


class GoalDone(NamedTuple):
    """A message that ends an action goal: a result or a cancellation.

    Attributes:
        number: chronological rank of the message.
        topic: topic of the message.
        recorded: record time, s.
        stamp: stamp of the message, s.
        says: how the goal ended, as one word.
        name: name of the goal; empty if the message ends all goals.
        sent: time at which the goal was sent, on the sender's clock, s; 0 if unknown.
    """

    number: int
    topic: str
    recorded: float
    stamp: float
    says: str
    name: str
    sent: float

    def time(self, shift: float) -> float:
        """Return the time of the message, s, on the robot's clock (`StampedPose.time`)."""
        return float(moments(np.array(self.stamp), np.array(self.recorded + shift)))


def is_goal(topic: str, kind: str) -> bool:
    """Return whether a topic contains goals, judging by its name and type: poses on ``.../goal``, or action goals of move_base or
    Move Base Flex.
    """
    return kind.endswith("/MoveBaseActionGoal") or (kind == "geometry_msgs/PoseStamped" and topic.rpartition("/")[2] in _LEAVES)


def goal_of(number: int, topic: str, recorded: float, message: Any) -> StampedPose:
    """Return the goal in a message from a goal topic."""
    posed = message.goal.target_pose if hasattr(message, "goal") else message
    name = message.goal_id.id if hasattr(message, "goal_id") else ""
    return StampedPose.of(number, topic, recorded, posed.header, posed.pose)._replace(name=name)


def is_word(topic: str, kind: str) -> bool:
    """Return whether the messages on a topic end goals, judging by its name and type: results or cancellations of move_base or Move
    Base Flex.
    """
    return kind.endswith("/MoveBaseActionResult") or (kind == "actionlib_msgs/GoalID" and topic.endswith("move_base/cancel"))


def word_of(number: int, topic: str, recorded: float, message: Any) -> GoalDone | None:
    """Return the end of a goal from a message on a topic accepted by `is_word`; None if the message's status does not end a
    goal.
    """
    if not hasattr(message, "status"):
        return GoalDone(number, topic, recorded, recorded, _CANCELLED, message.id, seconds(message.stamp))
    goal, said = message.status.goal_id, _STATUS.get(message.status.status)
    if said is None:
        return None
    return GoalDone(number, topic, recorded, seconds(message.header.stamp), said, goal.id, seconds(goal.stamp))


class Aim(NamedTuple):
    """A goal: pose (3,) in the frame of a drive, time at which it was sent (s), and name."""

    time: float
    goal: Array
    name: str = ""


class End(NamedTuple):
    """The end of a goal: time (s), one word for how the goal ended, name of the goal, and time at which the goal was sent
    (`GoalDone`).
    """

    time: float
    says: str
    name: str
    sent: float


class GoalSpan(NamedTuple):
    """An episode: goal (3,) or None, start and end on the robot's clock (s), and the word for how the goal ended, if it did."""

    goal: Array | None
    begin: float
    end: float
    says: str = ""


@dataclass
class _Chosen:
    """A goal that defines an episode, and all names under which it was sent."""

    time: float
    goal: Array
    names: set[str] = field(default_factory=set)


def spans(time: Array, pose: Array, goals: Iterable[Aim], ends: Sequence[End] = ()) -> Iterator[GoalSpan]:
    """Divide a drive into episodes by its goals, and yield the episodes.

    A goal that is sent again, on any topic, counts as the same goal while the robot is driving to it or standing at it.

    Args:
        time: (T,) times of the samples, s.
        pose: (T, 3) poses of the robot, m and rad.
        goals: goals in the frame of the poses, in chronological order.
        ends: ends of goals, in chronological order.
    """
    chosen: list[_Chosen] = []
    for aim in goals:
        if aim.time >= time[-1]:
            break
        if not (chosen and _is_again(time, pose, aim, chosen, ends)):
            chosen.append(_Chosen(aim.time, aim.goal))
        chosen[-1].names |= {aim.name} - {""}
    for k, one in enumerate(chosen):
        begin = max(one.time, float(time[0]))
        end, says = float(time[-1]) if k + 1 == len(chosen) else chosen[k + 1].time, ""
        ended = _end_of(k, chosen, ends)
        if ended is not None and ended.time < end:
            end, says = min(end, float(time[np.searchsorted(time, max(ended.time, begin) - _ROUNDING)])), ended.says
        within = np.flatnonzero((time >= begin) & (time <= end))
        if len(within):
            arrived = arrival(pose[within], one.goal)
            if arrived is not None:
                end, says = float(time[within[max(arrived, min(1, len(within) - 1))]]), ""
            yield GoalSpan(one.goal, begin, end, says)


def _is_again(time: Array, pose: Array, aim: Aim, chosen: Sequence[_Chosen], ends: Sequence[End]) -> bool:
    """Return whether a goal repeats the last chosen goal while the robot is driving to that goal or standing at it."""
    last = chosen[-1]
    if np.hypot(*(aim.goal[:2] - last.goal[:2])) >= _SAME:
        return False
    ended = _end_of(len(chosen) - 1, chosen, ends)
    if ended is not None and ended.time < aim.time:
        return False
    way = (time >= last.time) & (time <= aim.time)
    away = way.any() and np.hypot(*(pose[way][-1, :2] - last.goal[:2])) >= TOLERANCE
    return not (away and arrival(pose[way], last.goal) is not None)


def _end_of(k: int, chosen: Sequence[_Chosen], ends: Sequence[End]) -> End | None:
    """Return the end of goal number ``k``; None if the goal did not end.

    A result contains the name of its goal. If the name is unknown, the result belongs to the last goal that had been sent by the
    time that `_sent_by` returns.
    """
    known = set().union(*(one.names for one in chosen))
    for end in ends:
        if end.time < chosen[k].time:
            continue
        if end.name in known:
            whose = end.name in chosen[k].names
        else:
            begun = [j for j, one in enumerate(chosen) if one.time <= _sent_by(end)]
            whose = bool(begun) and k == begun[-1]
        if whose:
            return end
    return None


def _sent_by(end: End) -> float:
    """Return the time, s, at or before which the ended goal was sent."""
    return min(end.sent + _SOON if end.sent > 0.0 else math.inf, end.time)


def without_goal(goals: Iterable[Aim], ends: Sequence[End]) -> list[End]:
    """Return the ends whose goals are not in ``goals``, because they were sent before the record began or on a topic that was not
    recorded.

    Args:
        goals: goals of a drive.
        ends: ends of goals.
    """
    sent = list(goals)
    names, first = {one.name for one in sent} - {""}, min((one.time for one in sent), default=math.inf)
    return [end for end in ends if end.says != _CANCELLED and end.name not in names and _sent_by(end) < first]


def arrival(pose: Array, goal: Array) -> int | None:
    """Return the index of the sample at which a robot arrives; None if it does not arrive.

    A robot that starts within the tolerance, leaves and returns arrives when it returns.

    Args:
        pose: (T, 2 or more) poses or positions of the robot, m.
        goal: (2 or more,) pose or position of the goal, m.
    """
    distance = np.hypot(*(pose[:, :2] - goal[:2]).T)
    near = np.flatnonzero(distance < TOLERANCE)
    if not len(near):
        return None
    visits: Sequence[Array] = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1)
    visit = visits[1] if visits[0][0] == 0 and len(visits) > 1 else visits[0]
    return int(visit[np.argmax(distance[visit] <= distance[visit].min() + _SETTLED)])
