"""Servers of actions whose goals wait until their owner asks for them."""

from __future__ import annotations

import queue
from typing import Any

import rospy
from actionlib import ActionServer
from actionlib_msgs.msg import GoalStatus

_CANCELLED = (GoalStatus.PREEMPTING, GoalStatus.RECALLING)


def survive_jumps(server: Any) -> None:
    """Let the timer of an action server, which ends with an exception when the clock jumps back, go on instead."""
    server.status_timer.shutdown()
    period = rospy.Duration(1.0 / server.status_frequency)
    server.status_timer = rospy.Timer(period, server.publish_status_async, reset=True)


class Action:
    """An action's server; nothing here calls back.

    Not `actionlib.SimpleActionServer`: that ends a goal in whose place another comes without a result, and an empty result of Move
    Base Flex means success.

    Args:
        name: name of the action.
        kind: its class.
    """

    def __init__(self, name: str, kind: Any) -> None:
        self.goals: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._server = ActionServer(name, kind, self.goals.put, auto_start=False)
        self._server.start()
        survive_jumps(self._server)

    def new(self) -> Any:
        """The handle of a goal that has come, the oldest first; None where there is none."""
        try:
            return self.goals.get_nowait()
        except queue.Empty:
            return None


def is_cancelled(handle: Any) -> bool:
    """Return whether who sent a goal has cancelled it."""
    return handle.get_goal_status().status in _CANCELLED
