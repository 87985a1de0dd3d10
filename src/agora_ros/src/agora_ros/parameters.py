"""Parameters that a graph has, and that one node may have for itself: ``rosrun ... _model:=burger``."""

from __future__ import annotations

from typing import Any

import rospy


def own_or_graphs(name: str, default: Any) -> Any:
    """The private parameter of a name, else the graph's, else the default; an empty text says nothing, as in a launch file."""
    found = rospy.get_param(f"~{name}", rospy.get_param(name, ""))
    return default if found == "" else found


def queue_size(free: int) -> int:
    """Return the number of a topic's messages that wait for a slow listener; the oldest are lost when there are more.

    ``free`` of them, so that it hears what is new; in lock step, where a run's messages are the same each time, as good as all.
    """
    return 10_000 if own_or_graphs("synchronous", False) else free
