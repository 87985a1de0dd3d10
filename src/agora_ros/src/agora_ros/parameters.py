"""Parameters of a graph that a single node can override: ``rosrun ... _model:=burger``."""

from __future__ import annotations

from typing import Any

import rospy


def own_or_graphs(name: str, default: Any) -> Any:
    """Return the node's private parameter with the given name or, if there is none, the graph's parameter or else the default. As
    in a launch file, an empty string counts as not given.
    """
    found = rospy.get_param(f"~{name}", rospy.get_param(name, ""))
    return default if found == "" else found


def queue_size(free: int) -> int:
    """Return the queue size of a topic, i.e. the number of messages that wait for a slow subscriber before the oldest are dropped.

    In free running, the size is ``free``, so that the subscriber gets recent messages. In lock step, in which a run must produce
    the same messages every time, the queue is practically unlimited.
    """
    return 10_000 if own_or_graphs("synchronous", False) else free
