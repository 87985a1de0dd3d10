"""Handles invalid parameters: the node logs one line and checks again, instead of exiting and being restarted endlessly."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import rospy

from agora.errors import AgoraError

T = TypeVar("T")
_AGAIN = 1.0  # s of wall time between two checks


def until_right(make: Callable[[], T]) -> T:
    """Call ``make`` until it succeeds, and return its result; log the reason for a failure whenever the reason changes.

    Otherwise, a node that roslaunch restarts whenever it exits would repeat the same message every second.

    Args:
        make: function that reads parameters; if it raises `AgoraError`, it must leave nothing behind.

    Raises:
        rospy.ROSInterruptException: the node is shutting down.
    """
    said = ""
    while not rospy.is_shutdown():
        try:
            return make()
        except AgoraError as error:
            if str(error) != said:
                said = str(error)
                rospy.logerr(f"{said}; this node waits until it is corrected: set the parameter with rosparam set, or restart")
        threading.Event().wait(_AGAIN)
    raise rospy.ROSInterruptException("the node is shutting down")
