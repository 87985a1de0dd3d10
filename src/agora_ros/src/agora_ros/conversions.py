"""Conversions between ROS messages and the library's objects: pure functions that are exact for every float32.

`agora.datasets.messages` decodes the messages, so bags can also be read without ROS. Stamps are rounded to nanoseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, Pose2D, Quaternion, Twist
from numpy.typing import ArrayLike
from rospy import Time

from agora.config import dump, parse
from agora.core import state
from agora.core.declared import declared_arrays
from agora.core.state import Floats
from agora.datasets.messages import (
    from_episode,
    from_pose,
    from_pose2d,
    from_twist,
    heading_of,
)
from agora.draft.stage import Stage
from agora.interfaces import NOTES
from agora.maps.grid import Map
from agora.robots.model import RobotModel, load_robot
from agora.wire.episode import Episode
from agora.wire.message import encode
from agora.wire.snapshot import PEDESTRIANS, ROBOTS, PedestriansNow, RobotsNow
from agora.world.start import Start
from agora_msgs import msg

__all__ = [
    "add_notes", "from_episode", "from_map", "from_pedestrians", "from_pose", "from_pose2d", "from_robots",
    "from_twist", "heading_of", "model_of", "quaternion", "stamp_of", "to_episode", "to_map", "to_pedestrians",
    "to_pose", "to_pose2d", "to_robots", "to_twist",
]  # fmt: skip


COMMAND = ("command_vx", "command_vy", "command_omega")
"""Fields of ``agora_msgs/Robots`` with the commanded twists of the robots."""
FREE, OCCUPIED, UNKNOWN = 0, 1, 2
"""Values of ``agora_msgs/Map.cells``."""


def stamp_of(step: int, dt: float, since: float = 0.0) -> Time:
    """Return the stamp of a physics step in an episode that began at ``since``, s, rounded to nanoseconds."""
    return Time.from_sec(0.0) + _duration(since) + _duration(step * dt)


def _duration(seconds: float) -> Any:
    from rospy import Duration

    whole = round(seconds * 1e9)
    return Duration(whole // 1_000_000_000, whole % 1_000_000_000)


def quaternion(heading: float, pitch: float = 0.0, roll: float = 0.0) -> Quaternion:
    """Return the quaternion of rotations about x, y and z, in this order."""
    (sy, cy), (sp, cp), (sr, cr) = ((math.sin(a / 2), math.cos(a / 2)) for a in (heading, pitch, roll))
    return Quaternion(
        sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
    )


def to_pose(pose: Any) -> Pose:
    """Return a ``geometry_msgs/Pose`` for x, y and heading, m and rad."""
    message = Pose()
    message.position.x, message.position.y = float(pose[0]), float(pose[1])
    message.orientation = quaternion(float(pose[2]))
    return message


def to_pose2d(pose: Any) -> Pose2D:
    """Return a ``geometry_msgs/Pose2D`` for x, y and heading, m and rad."""
    return Pose2D(*(float(v) for v in pose))


def to_twist(twist: Any) -> Twist:
    """Return a ``geometry_msgs/Twist`` for vx, vy and omega, m/s and rad/s."""
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = (float(v) for v in twist)
    return message


def to_map(place: Map) -> msg.Map:
    """Return the message for a map."""
    cells = place.occupied.astype(np.uint8)
    if place.unknown is not None:
        cells[place.unknown & ~place.occupied] = UNKNOWN
    rows, columns = place.shape
    return msg.Map(
        name=place.name, resolution=place.resolution, origin_x=place.origin[0], origin_y=place.origin[1],
        rows=rows, columns=columns, cells=cells.tobytes(),
        segments=place.segments.reshape(-1).tolist(), discs=place.discs.reshape(-1).tolist(),
        corners=[float(v) for polygon in place.polygons for v in polygon.reshape(-1)], polygons=[len(p) for p in place.polygons],
        offset_x=place.offset[0], offset_y=place.offset[1],
    )  # fmt: skip


def from_map(message: Any) -> Map:
    """Return the map in a message.

    Raises:
        InputError: the values do not form a valid map.
    """
    cells = np.frombuffer(bytes(message.cells), np.uint8).reshape(message.rows, message.columns)
    corners, ends = np.asarray(message.corners, float).reshape(-1, 2), np.cumsum(message.polygons, dtype=int)
    unknown = cells == UNKNOWN
    return Map(
        name=message.name, resolution=message.resolution, origin=(message.origin_x, message.origin_y),
        occupied=cells == OCCUPIED, unknown=unknown if unknown.any() else None,
        segments=np.asarray(message.segments, float).reshape(-1, 4), discs=np.asarray(message.discs, float).reshape(-1, 3),
        polygons=tuple(np.split(corners, ends[:-1])) if len(ends) else (),
        offset=(message.offset_x, message.offset_y),
    )  # fmt: skip


def model_of(text: str) -> RobotModel:
    """Return the robot with a given name, or the robot described by a YAML text.

    Raises:
        UnknownNameError: no robot has this name.
        InputError: the text is invalid.
    """
    return parse(text, RobotModel, "robot model") if "\n" in text else load_robot(text)


def to_pedestrians(people: state.Pedestrians, traits: state.Traits, minds: state.Minds, step: int) -> msg.Pedestrians:
    """Return the message with one generation of the first world's pedestrians."""
    now = PedestriansNow.of(people, traits, minds)
    numbers = {name: getattr(now, name).tolist() for name in PEDESTRIANS}
    return msg.Pedestrians(step=step, present=now.present.astype(np.uint8).tobytes(), **numbers)


def from_pedestrians(message: Any, people: state.Pedestrians, traits: state.Traits, minds: state.Minds) -> None:
    """Write the pedestrians in a message into the first world of records that have enough slots."""
    present = np.frombuffer(bytes(message.present), np.uint8) != 0
    PedestriansNow(present=present, **_numbers(PedestriansNow, PEDESTRIANS, message)).put(people, traits, minds)


def _numbers(record: type, names: Iterable[str], message: Any) -> dict[str, Any]:
    """Return the values of a record's fields from the message fields of the same names, with the types that the record declares."""
    arrays = declared_arrays(record)
    return {name: np.asarray(getattr(message, name), arrays[name].kind) for name in names}


def to_robots(robots: state.Robots, radius: Floats, names: list[str], step: int, commands: Floats | None = None) -> msg.Robots:
    """Return the message with one generation of the first world's robots.

    Args:
        robots: state of the robots.
        radius: (R,) radii of the robots, m.
        names: names of the robots.
        step: number of physics steps since the episode began.
        commands: (R, 3) commanded twists in the robots' frames, m/s and rad/s; by default zeros.
    """
    now, told = RobotsNow.of(robots), np.zeros((len(names), 3), np.float32) if commands is None else commands
    numbers = {field: getattr(now, field).tolist() for field in ROBOTS}
    numbers |= dict(zip(COMMAND, told.T.tolist(), strict=True))
    return msg.Robots(step=step, name=names, active=now.active.astype(np.uint8).tobytes(), radius=radius.tolist(), **numbers)


def from_robots(message: Any, robots: state.Robots) -> None:
    """Write the robots in a message into the first world of a record with the same number of robots."""
    active = np.frombuffer(bytes(message.active), np.uint8) != 0
    RobotsNow(active=active, **_numbers(RobotsNow, ROBOTS, message)).put(robots)


def add_notes(message: msg.Notes, names: list[str], noted: Mapping[str, ArrayLike], planning_time: float = math.nan) -> None:
    """Append to a message the robots' notes (`agora.interfaces.NOTES`) and, per robot, the wall time of the planner's call, s.

    Missing notes are set to 0 or NaN.
    """
    message.name.extend(names)
    message.planning_time.extend([planning_time] * len(names))
    for name, kind in NOTES.items():
        nothing = np.full(len(names), np.nan if issubclass(kind, np.floating) else 0)
        getattr(message, name).extend(np.asarray(noted.get(name, nothing)).tolist())


def to_episode(start: Start, stage: Stage, robots: list[msg.Robot], number: int) -> msg.Episode:
    """Return the message for an episode.

    Args:
        start: start of the episode.
        stage: conditions of the episode.
        robots: name, navigation and planners of each robot; this function fills in model, pose and goals, for human readers and
            other nodes.
        number: number of the reset.
    """
    for message, robot in zip(robots, start.robots, strict=True):
        message.model, message.pose = dump(robot.model), to_pose2d(robot.pose)
        message.goals = [to_pose2d(goal) for goal in robot.goals]
    resolved = encode(Episode(number, start, stage))
    return msg.Episode(number=number, entry=start.entry, seed=start.seed, robots=robots, resolved=resolved)
