"""The move_base interface for one robot: the action, the goal topic, and the services that return plans and clear costmaps."""

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

_SAME = 1e-3  # m and rad, maximum difference between two goals that count as the same


class MoveBase:
    """Takes goals and reports their results. The owner calls `poll` often, because this class does not call its owner.

    Args:
        robot: name of the robot, which prefixes its topics.
        make_plan: function that answers ``nav_msgs/GetPlan``.
        clear: function that clears the costmaps.
        in_map: function that transforms a pose (3,) from a given frame to the map frame, or returns None if no transform is known.
        topic: whether goals are also accepted on ``<robot>/move_base_simple/goal``.
    """

    def __init__(
        self,
        robot: str,
        make_plan: Callable[[Any], Any],
        clear: Callable[[], None],
        in_map: Callable[[Array, str], Array | None],
        topic: bool = True,
    ) -> None:
        self._robot, self._in_map = robot, in_map
        self._spoken: deque[Any] = deque(maxlen=1)
        self._pursued: Array | None = None
        self._server = SimpleActionServer(f"{robot}/move_base", MoveBaseAction, auto_start=False)
        self._server.start()
        survive_jumps(self._server.action_server)

        def cleared(_: Any) -> EmptyResponse:
            clear()
            return EmptyResponse()

        self._topics = [
            rospy.Subscriber(name, PoseStamped, self._spoken.append, queue_size=1)
            for name in ([f"{robot}/move_base_simple/goal"] if topic else [])
        ]
        self._services = [
            rospy.Service(f"{robot}/move_base/make_plan", GetPlan, make_plan),
            rospy.Service(f"{robot}/move_base/clear_costmaps", Empty, cleared),
        ]

    @property
    def busy(self) -> bool:
        """True while a goal from the action is being pursued."""
        return bool(self._server.is_active())

    def poll(self) -> tuple[Array | None, bool]:
        """Return a goal (3,) that has arrived since the last call, if there is one, and whether the previous goal was cancelled."""
        goal, cancelled = None, False
        if self._server.is_new_goal_available():
            goal, stamp = self._checked(self._server.accept_new_goal().target_pose), self._server.current_goal.get_goal_id().stamp
            if self._spoken and 0.0 < self._spoken[-1].header.stamp.to_sec() < stamp.to_sec():
                self._spoken.clear()  # reported earlier
            self._pursued = goal
            if goal is None:
                self._server.set_aborted(MoveBaseResult(), "no transform from the goal's frame to map, or its pose is not finite")
        elif self._server.is_active() and self._server.is_preempt_requested():
            self._server.set_preempted(MoveBaseResult(), "cancelled")
            cancelled = True
        if self._spoken:
            spoken = self._checked(self._spoken.pop())
            if spoken is not None and not (self.busy and is_same(spoken, self._pursued)):
                self.abort("replaced by a goal on move_base_simple/goal")
                goal = spoken
        return goal, cancelled

    def _checked(self, target: Any) -> Array | None:
        """Return the pose (3,) of a goal in the map frame; None, with a log line, if the goal is invalid."""
        given, frame = from_pose(target.pose), target.header.frame_id
        pose = self._in_map(given, frame) if all(map(math.isfinite, given)) else None
        if pose is None:
            why = "send finite poses in a frame that tf connects to map"
            rospy.logwarn(f"{self._robot}: a goal in frame {frame!r} at {given} was ignored: {why}")
        return pose

    def feedback(self, pose: Array, stamp: Any) -> None:
        """Publish the robot's pose as feedback."""
        if self._server.is_active():
            message = MoveBaseFeedback()
            message.base_position.header.stamp, message.base_position.header.frame_id = stamp, "map"
            message.base_position.pose = to_pose(pose)
            self._server.publish_feedback(message)

    def succeed(self) -> None:
        """Report that the goal has been reached."""
        if self._server.is_active():
            self._server.set_succeeded(MoveBaseResult(), "Goal reached.")

    def abort(self, reason: str) -> None:
        """Report that the goal has been aborted."""
        if self._server.is_active():
            self._server.set_aborted(MoveBaseResult(), reason)

    def close(self) -> None:
        """Remove the action, topics and services."""
        self.abort("the navigation is shutting down")
        for topic in self._topics:
            topic.unregister()
        for service in self._services:
            service.shutdown("the navigation is shutting down")
        self._server.action_server.stop()


def is_same(goal: Array, other: Array | None) -> bool:
    """Return whether two goals (3,) are the same. The task generator announces every goal in the episode, including goals from this
    interface.
    """
    return (
        other is not None and math.dist(goal[:2], other[:2]) < _SAME and abs(math.remainder(goal[2] - other[2], math.tau)) < _SAME
    )
