"""Creates the recording of a robot that was driven without Agora; fields that cannot be computed are missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from agora.core.recording import Outcome, Recording
from agora.core.state import Array
from agora.datasets.played import PlayedRobot
from agora.datasets.rosbag import nobody
from agora.maps.frame import moved, offset_of
from agora.maps.grid import Map
from agora.robots.model import RobotModel
from agora.tasks.budget import Way, shortest_way

TOLERANCE = 0.3
"""Distance from the goal at which the goal counts as reached, m."""
_OF_THE_WAY = frozenset({"shortest_path", "shortest_turn"})
_NOBODY_SAID = frozenset(
    {
        "contacts",
        "clipped",
        "failure",
        "planning_time",
        "timeout",
        "pedestrian_position",
        "pedestrian_velocity",
        "pedestrian_heading",
    }
    | {"pedestrian_present", "pedestrian_radius", "pedestrian_id", "pedestrian_group", "pedestrian_state"}
)
"""Fields of a recording that cannot be derived from odometry."""


def drive(
    robot: RobotModel | None, time: Array, pose: Array, twist: Array, goal: Array | None, place: Map | None, **known: Any
) -> PlayedRobot:
    """Return a drive as a recording, with all fields that are known; ``known`` contains further fields of the recording.

    The given positions are in the frame of the files; positions in the recording are in the map frame (`agora.maps.frame`). The
    goal counts as reached if the robot was within `TOLERANCE` of the goal at the end. The time limit is unknown and replaced by the
    end time; values that depend on the time limit are empty.
    """
    missing = set(_NOBODY_SAID) - set(known)
    missing |= {"radius", "max_speed"} if robot is None else set()
    missing |= {"goal", "goal_tolerance", "outcome", *_OF_THE_WAY} if goal is None else set()
    missing |= {"map", *_OF_THE_WAY} if place is None else set()
    missing |= _OF_THE_WAY if robot is None else set()
    offset = offset_of(pose[0]) if place is None else place.offset
    if any(offset):
        x, y = -offset[0], -offset[1]
        pose, goal = moved(pose, (x, y)), None if goal is None else moved(goal, (x, y))
        known |= {name: moved(known[name], (x, y)) for name in ("pedestrian_position",) if name in known}
    end = np.zeros(3) if goal is None else goal
    near = goal is not None and float(np.hypot(*(pose[-1, :2] - end[:2]))) < TOLERANCE
    way = Way(float("inf"), None)
    if goal is not None and place is not None and robot is not None:
        way = shortest_way(place, pose[0], end, robot)
    fields: dict[str, Any] = nobody(len(time)) | {
        "contacts": (),
        "goal": end,
        "goal_tolerance": TOLERANCE,
        "radius": 0.0 if robot is None else robot.radius,
        "max_speed": 0.0 if robot is None else robot.top_speed,
        "outcome": Outcome.REACHED if near else Outcome.TIMEOUT,
        "timeout": float(time[-1]),
        "shortest_path": way.length,
        "shortest_turn": way.turn,
        "map": place,
    }
    recording = Recording(time=time, pose=pose, twist=twist, **(fields | known))
    return PlayedRobot("unknown", "unknown" if robot is None else robot.name, recording, frozenset(missing))
