"""Parameters that a graph has, and that one node may have for itself: ``rosrun ... _model:=burger``."""

from __future__ import annotations

from typing import Any

import rospy


def own_or_graphs(name: str, default: Any) -> Any:
    """The private parameter of a name, else the graph's, else the default."""
    return rospy.get_param(f"~{name}", rospy.get_param(name, default))
