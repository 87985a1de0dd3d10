"""Names that ROS accepts."""

from __future__ import annotations

import re


def ros_name(name: str) -> str:
    """Return a name that can be part of a topic, node or frame: letters, digits and underscores, starting with a letter.

    For example, "robot with spaces" becomes "robot_with_spaces". Different names may become equal, so callers that create several
    names must check for duplicates.
    """
    cleaned = re.sub(r"\W", "_", name, flags=re.ASCII)
    return cleaned if re.match(r"[A-Za-z]", cleaned) else f"r_{cleaned}"
