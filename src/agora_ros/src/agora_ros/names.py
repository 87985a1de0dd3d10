"""Names that ROS accepts."""

from __future__ import annotations

import re


def ros_name(name: str) -> str:
    """A name as a piece of a topic, a node or a frame: letters, digits and underscores, a letter first.

    "robot with spaces" becomes "robot_with_spaces"; two names may become one, which whoever makes several must look at.
    """
    cleaned = re.sub(r"\W", "_", name, flags=re.ASCII)
    return cleaned if re.match(r"[A-Za-z]", cleaned) else f"r_{cleaned}"


def is_plugin(sfm: str) -> bool:
    """Whether the launch argument ``sfm`` names a plugin, ``module:Name``, which has a node of its own."""
    return re.fullmatch(r"[\w.]+:\w+", sfm.strip()) is not None
