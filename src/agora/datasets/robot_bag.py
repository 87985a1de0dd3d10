"""Bags of a robot, real or not, that know nothing of Agora: odometry, and what else there is of scan, commands, goal and map.

A whole bag is one episode. What can be computed is computed; what nobody recorded (pedestrians, contacts) is missing, and metrics
that look at it are undefined. Poses are in the odometry's frame, moved by the first ``map`` -> odometry transform of the bag where
it has one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.recording import Outcome, Recording
from agora.core.state import Array
from agora.datasets.bagfile import Bag, stem
from agora.datasets.mcapfile import McapFile, opened
from agora.datasets.messages import from_pose, heading_of, seconds
from agora.datasets.played import Played, PlayedRobot
from agora.datasets.rosbag import nobody
from agora.errors import InputError
from agora.maps.frame import moved, offset_of
from agora.maps.grid import Map
from agora.ranges import LARGEST
from agora.robots.model import RobotModel
from agora.tasks.budget import Way, shortest_way

_ODOMETRY, _GRID, _POSE, _TF = "nav_msgs/Odometry", "nav_msgs/OccupancyGrid", "geometry_msgs/PoseStamped", "tf2_msgs/TFMessage"
_GOALS = ("move_base_simple/goal", "/goal")
_OCCUPIED = 65  # per cent, as map_server draws the line
_GAP = 60.0  # s between two messages of odometry: more is a jump of the clock, or another drive
_OF_THE_WAY = frozenset({"shortest_path", "shortest_turn"})
TOLERANCE = 0.3
"""How near to the goal counts as reached, m."""
NOBODY_SAID = frozenset(
    {"contacts", "clipped", "failure", "planning_time", "pedestrian_position", "pedestrian_velocity", "pedestrian_heading"}
    | {"pedestrian_present", "pedestrian_radius", "pedestrian_id", "pedestrian_group", "pedestrian_state"}
)
"""Fields of a recording that odometry says nothing about."""


def read_drive(path: Path, robot: RobotModel | None = None, goal: Array | None = None) -> Played:
    """Return what a bag with odometry says of a robot's drive.

    Args:
        path: of the bag. robot: its model, where it is known. goal: (2,) m, instead of the last one in the bag.

    Raises:
        InputError: the file cannot be read, or has no odometry of one robot.
    """
    bag = opened(path)
    odometry, place, there, shift = _read(bag)
    samples = np.array([_row(message) for message in odometry]).reshape(-1, 7)
    finite = (np.abs(samples[:, 1:]) <= LARGEST).all(1)
    samples, jumps = _longest(samples[finite])
    if len(samples) < 2:
        kinds = sorted({connection.type for connection in bag.connections.values()})
        raise InputError(f"{path}: expected at least two messages of {_ODOMETRY}, got topics of {', '.join(kinds) or 'nothing'}")
    time, pose, twist = samples[:, 0], in_map(samples[:, 1:4], shift), samples[:, 4:]
    end = _goal(goal, there)
    notes = [f"{path.name}: {np.sum(~finite)} of {len(finite)} messages of odometry hold no numbers; they are left out"] * (
        not finite.all()
    )
    notes += [f"{path.name}: the clock jumps {jumps} times by more than {_GAP:g} s; the longest stretch is read"] * (jumps > 0)
    notes += [f"{path.name}: no word of pedestrians and contacts; metrics about them are missing"]
    notes += [
        f"{path.name}: no {what}; metrics about it are missing" for what, known in (("goal", end), ("map", place)) if known is None
    ]
    notes += [f"{path.name}: {bag.cut}; what was written before is read"] if bag.cut else []
    played = drive(robot, time - time[0], pose, twist, end, place)
    name = re.sub(r"[^\w.-]+", "_", stem(path))
    return Played(path, "recorded", name, 0, 0, (played,), notes=tuple(notes))


def _row(message: Any) -> list[float]:
    """Time, pose and twist of a message of odometry."""
    twist = message.twist.twist
    return [seconds(message.header.stamp), *from_pose(message.pose.pose), twist.linear.x, twist.linear.y, twist.angular.z]


def _longest(samples: Array) -> tuple[Array, int]:
    """The longest stretch of samples (T, 7) without a jump of the clock, in the order of time, and how many jumps there are."""
    jumps = np.flatnonzero(np.abs(np.diff(samples[:, 0])) > _GAP) + 1
    stretch = max(np.split(samples, jumps), key=len)
    later = np.diff(np.maximum.accumulate(stretch[:, 0]), prepend=-np.inf) > 0
    return stretch[later], len(jumps)


def drive(
    robot: RobotModel | None, time: Array, pose: Array, twist: Array, goal: Array | None, place: Map | None, **known: Any
) -> PlayedRobot:
    """What is known of a drive; ``known`` are fields of the recording that are, too.

    Places are in the frame of the files; the recording's are in the map frame (`agora.maps.frame`). The end of the recording is its
    time limit: it was reached if the robot was within `TOLERANCE` of the goal then.
    """
    missing = set(NOBODY_SAID) - set(known)
    missing |= {"radius", "max_speed"} if robot is None else set()
    missing |= {"goal", "goal_tolerance", "outcome", "timeout", *_OF_THE_WAY} if goal is None else set()
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


def _read(bag: Bag | McapFile) -> tuple[list[Any], Map | None, Any, Array | None]:
    """The odometry, the map, the last goal and the pose of the odometry's frame in the map, as far as they are there."""
    odometry: list[Any] = []
    place, goal, shift, topic = None, None, None, ""
    for message in bag.messages():
        kind, name = message.connection.type, message.connection.topic
        if kind == _ODOMETRY:
            topic = topic or name
            if name != topic:
                raise InputError(f"{bag.path}: odometry on {topic} and on {name}; expected one robot in a bag")
            odometry.append(message.decode())
        elif kind == _GRID and name.endswith("/map") or name == "map":
            place = map_of(message.decode(), bag.path.stem)
        elif kind == _POSE and name.endswith(_GOALS):
            goal = message.decode()
        elif kind == _TF and shift is None:
            shift = shift_of(message.decode())
    return odometry, place, goal, shift


def shift_of(message: Any) -> Array | None:
    """x, y, heading of the odometry's frame in the map, where a ``tf2_msgs/TFMessage`` says it."""
    for transform in message.transforms:
        if transform.header.frame_id.strip("/") == "map":
            there = transform.transform
            return np.array([there.translation.x, there.translation.y, heading_of(there.rotation)])
    return None


def in_map(pose: Array, shift: Array | None) -> Array:
    """Poses (T, 3) of a frame whose own pose is ``shift``; headings in (-pi, pi]."""
    if shift is None:
        return pose
    cosine, sine = np.cos(shift[2]), np.sin(shift[2])
    x, y, heading = pose[:, 0], pose[:, 1], pose[:, 2] + shift[2]
    turned = np.arctan2(np.sin(heading), np.cos(heading))
    return np.stack([shift[0] + cosine * x - sine * y, shift[1] + sine * x + cosine * y, turned], -1)


def _goal(given: Array | None, message: Any) -> Array | None:
    if given is not None:
        return np.array([given[0], given[1], 0.0])
    return None if message is None else from_pose(message.pose)


def map_of(message: Any, name: str) -> Map:
    """The map of a ``nav_msgs/OccupancyGrid``, whose origin must not be turned.

    Raises:
        InputError: numbers that make no map.
    """
    info = message.info
    if abs(heading_of(info.origin.orientation)) > 1e-6:
        raise InputError(f"{name}: the origin of its map is turned; expected a heading of 0")
    cells = np.asarray(message.data, np.int16).reshape(info.height, info.width)
    corner = (info.origin.position.x, info.origin.position.y)
    offset = offset_of(corner)
    x, y = moved(corner, (-offset[0], -offset[1]))
    return Map(
        name=name,
        resolution=float(info.resolution),
        origin=(float(x), float(y)),
        occupied=cells >= _OCCUPIED,
        unknown=cells < 0,
        offset=offset,
    )
