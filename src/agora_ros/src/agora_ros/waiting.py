"""Parameters that a node refuses: one line, and another look, in place of a node that ends and is started again for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import rospy

from agora.errors import AgoraError

T = TypeVar("T")
_AGAIN = 1.0  # s of the wall's clock between two looks


def until_right(make: Callable[[], T]) -> T:
    """Return the result of ``make``, once it refuses nothing; log the reason of a refusal when it changes.

    A node that roslaunch starts again when it ends would say the same every second.

    Args:
        make: reads parameters; nothing is left of what it began where it raises `AgoraError`.

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
