"""Action servers that keep new goals until their owner takes them."""

from __future__ import annotations

import queue
from typing import Any

import rospy
from actionlib import ActionServer
from actionlib_msgs.msg import GoalStatus

_CANCELLED = (GoalStatus.PREEMPTING, GoalStatus.RECALLING)


def survive_jumps(server: Any) -> None:
    """Keep the timer of an action server running when the clock jumps back, which would otherwise end it with an exception."""
    server.status_timer.shutdown()
    period = rospy.Duration(1.0 / server.status_frequency)
    server.status_timer = rospy.Timer(period, server.publish_status_async, reset=True)


class Action:
    """An action server without callbacks to its owner.

    `actionlib.SimpleActionServer` is not used because it ends a goal that is replaced without setting a result, and an empty Move
    Base Flex result means success.

    Args:
        name: name of the action.
        kind: class of the action.
    """

    def __init__(self, name: str, kind: Any) -> None:
        self.goals: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._server = ActionServer(name, kind, self.goals.put, auto_start=False)
        self._server.start()
        survive_jumps(self._server)

    def new(self) -> Any:
        """Return the handle of the oldest new goal; None if there is none."""
        try:
            return self.goals.get_nowait()
        except queue.Empty:
            return None


def is_cancelled(handle: Any) -> bool:
    """Return whether the sender of a goal has cancelled it."""
    return handle.get_goal_status().status in _CANCELLED
