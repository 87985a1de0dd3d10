"""The interface of move_base for one robot: action, goal topic, plans on request, clearing costmaps."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import rospy
from actionlib import SimpleActionServer
from agora_ros.conversions import from_pose, to_pose
from geometry_msgs.msg import PoseStamped
from move_base_msgs.msg import MoveBaseAction, MoveBaseFeedback, MoveBaseResult
from nav_msgs.srv import GetPlan
from std_srvs.srv import Empty, EmptyResponse

from agora.core.state import Array
from agora_navigation.actions import survive_jumps


class MoveBase:
    """Takes goals and reports their ends; the owner calls `poll` often, and nothing here calls back by itself.

    Args:
        robot: name of the robot, with which its topics begin.
        make_plan: answers ``nav_msgs/GetPlan``.
        clear: clears the costmaps.
        since: a goal on the topic with an earlier stamp than this, s, is of an episode before: a latched topic repeats its last
            goal to everybody who comes anew.
    """

    def __init__(self, robot: str, make_plan: Callable[[Any], Any], clear: Callable[[], None], since: float = 0.0) -> None:
        self._robot, self._since = robot, since
        self._spoken: deque[Any] = deque(maxlen=1)
        self._server = SimpleActionServer(f"{robot}/move_base", MoveBaseAction, auto_start=False)
        self._server.start()
        survive_jumps(self._server.action_server)

        def cleared(_: Any) -> EmptyResponse:
            clear()
            return EmptyResponse()

        self._ends = [
            rospy.Subscriber(f"{robot}/move_base_simple/goal", PoseStamped, self._spoken.append, queue_size=1),
            rospy.Service(f"{robot}/move_base/make_plan", GetPlan, make_plan),
            rospy.Service(f"{robot}/move_base/clear_costmaps", Empty, cleared),
        ]

    @property
    def busy(self) -> bool:
        """True while a goal of the action is being pursued."""
        return bool(self._server.is_active())

    def poll(self) -> tuple[Array | None, bool]:
        """A goal (3,) that has come since the last call, and whether the one before was cancelled."""
        goal, cancelled = None, False
        if self._server.is_new_goal_available():
            goal = self._checked(self._server.accept_new_goal().target_pose)
            if goal is None:
                self._server.set_aborted(MoveBaseResult(), "the goal's frame is not map, or its pose is not finite")
        elif self._server.is_active() and self._server.is_preempt_requested():
            self._server.set_preempted(MoveBaseResult(), "cancelled")
            cancelled = True
        if self._spoken:
            message = self._spoken.pop()
            repeated = 0.0 < message.header.stamp.to_sec() < self._since
            spoken = None if repeated else self._checked(message)
            if spoken is not None:
                self.abort("a goal on move_base_simple/goal took its place")
                goal = spoken
        return goal, cancelled

    def _checked(self, target: Any) -> Array | None:
        """The pose (3,) of a goal; None, and a line, for one that cannot be."""
        pose = from_pose(target.pose)
        if target.header.frame_id.lstrip("/") in ("map", "") and all(map(math.isfinite, pose)):
            return pose
        rospy.logwarn(
            f"{self._robot}: a goal in frame {target.header.frame_id!r} at {pose} is ignored: give finite poses in frame map"
        )
        return None

    def feedback(self, pose: Array, stamp: Any) -> None:
        """Say where the robot is."""
        if self._server.is_active():
            message = MoveBaseFeedback()
            message.base_position.header.stamp, message.base_position.header.frame_id = stamp, "map"
            message.base_position.pose = to_pose(pose)
            self._server.publish_feedback(message)

    def succeed(self) -> None:
        """Say that the goal is reached."""
        if self._server.is_active():
            self._server.set_succeeded(MoveBaseResult(), "Goal reached.")

    def abort(self, reason: str) -> None:
        """Say that the goal is given up."""
        if self._server.is_active():
            self._server.set_aborted(MoveBaseResult(), reason)

    def close(self) -> None:
        """Take everything away again."""
        self.abort("the navigation ends")
        self._ends[0].unregister()
        for service in self._ends[1:]:
            service.shutdown("the navigation ends")
        self._server.action_server.stop()
