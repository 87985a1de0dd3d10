"""Messages of the ROS graph, read into the library's objects by whatever decoded them: rospy, or a bag reader without ROS.

Functions read attributes of the names in ``src/agora_msgs``; sequences may be lists, tuples, bytes or arrays. Every float32 comes
back exactly: headings cross as quaternions in float64, which give every float32 heading in (-pi, pi] back.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agora.config import parse
from agora.core.declared import declared
from agora.core.state import Array, Floats
from agora.draft.stage import Stage
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.robots.model import RobotModel, load_robot
from agora.world.start import Habits, PedestrianStarts, RobotStart, Start, Thing
from agora.world.trajectories import Trajectories

__all__ = [
    "OF_EACH",
    "UNKNOWN",
    "from_crowd",
    "from_episode",
    "from_map",
    "from_pose",
    "from_pose2d",
    "from_twist",
    "heading_of",
    "model_of",
]

FREE, OCCUPIED, UNKNOWN = 0, 1, 2
"""Values of ``agora_msgs/Map.cells``."""

_NAMES = {"mode": "waypoint_mode"}
OF_EACH = {name: _NAMES.get(name, name) for name, one in declared(PedestrianStarts).items() if one.names == ("P",)}
"""Numbers of each simulated pedestrian: the field of ``agora_msgs/Crowd`` by that of `PedestrianStarts`."""

_HALF_TURN = float(np.float32(math.pi))  # which is a little more than pi


def seconds(stamp: Any) -> float:
    """A stamp as a bag reader without ROS has it, s."""
    return float(stamp.sec + stamp.nanosec * 1e-9)


def heading_of(rotation: Any) -> float:
    """The heading of a quaternion, rad in (-pi, pi].

    Of a pure rotation about z every float32 heading comes back exactly, once rounded to float32.
    """
    if rotation.x == 0.0 and rotation.y == 0.0:
        heading = 2.0 * math.atan2(rotation.z, rotation.w)
    else:
        x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w
        heading = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return heading - math.copysign(math.tau, heading) if abs(heading) > _HALF_TURN else heading


def from_pose(message: Any) -> Array:
    """x, y, heading (3,) of a ``geometry_msgs/Pose``."""
    return np.array([message.position.x, message.position.y, heading_of(message.orientation)])


def from_pose2d(message: Any) -> Array:
    """x, y, heading (3,) of a ``geometry_msgs/Pose2D``."""
    return np.array([message.x, message.y, message.theta])


def from_twist(message: Any) -> Floats:
    """vx, vy, omega (3,) of a ``geometry_msgs/Twist``."""
    return np.array([message.linear.x, message.linear.y, message.angular.z], np.float32)


def from_map(message: Any) -> Map:
    """The map of a message; those of older bags have no offset.

    Raises:
        InputError: numbers that make no map.
    """
    cells = np.frombuffer(bytes(message.cells), np.uint8).reshape(message.rows, message.columns)
    corners, ends = np.asarray(message.corners, float).reshape(-1, 2), np.cumsum(message.polygons, dtype=int)
    unknown = cells == UNKNOWN
    return Map(
        name=message.name, resolution=message.resolution, origin=(message.origin_x, message.origin_y),
        occupied=cells == OCCUPIED, unknown=unknown if unknown.any() else None,
        segments=np.asarray(message.segments, float).reshape(-1, 4), discs=np.asarray(message.discs, float).reshape(-1, 3),
        polygons=tuple(np.split(corners, ends[:-1])) if len(ends) else (),
        offset=(getattr(message, "offset_x", 0.0), getattr(message, "offset_y", 0.0)),
    )  # fmt: skip


def from_episode(message: Any) -> tuple[Start, Stage]:
    """The episode of a message, and its conditions.

    Raises:
        InputError: something that makes no episode.
    """
    stage = parse(message.stage, Stage, f"stage of {message.entry}")
    replay, phase, radius = _from_replay(message.replay)
    pieces = [(f, Furniture(f.model, f.x, f.y, f.heading)) for f in message.furniture]
    start = Start(
        entry=message.entry, seed=message.seed, map=from_map(message.map),
        robots=tuple(
            RobotStart(model_of(r.model), from_pose2d(r.pose), np.array([from_pose2d(g) for g in r.goals])) for r in message.robots
        ),
        pedestrians=from_crowd(message.crowd), timeout=message.timeout, goal_tolerance=message.goal_tolerance,
        heading_tolerance=message.heading_tolerance, replay=replay, replay_radius=radius, replay_phase=phase,
        things=tuple(Thing(f.name, f.kind, piece) for f, piece in pieces if f.kind),
        names=tuple(message.crowd.names), looks=tuple(message.crowd.looks),
        furniture=tuple(piece for f, piece in pieces if not f.kind),
        reference_path=getattr(message, "reference_path", 0.0) or None,
    )  # fmt: skip
    return start, stage


def model_of(text: str) -> RobotModel:
    """The robot of a name, or of the YAML text of one.

    Raises:
        UnknownNameError: no such robot.
        InputError: the text is wrong.
    """
    return parse(text, RobotModel, "robot model") if "\n" in text else load_robot(text)


def from_crowd(message: Any) -> PedestrianStarts:
    """The simulated pedestrians of a message; those of older bags have no itineraries."""
    count = len(message.id)
    shape = (count, int(message.waypoints))
    arrays = declared(PedestrianStarts)

    def real(name: str) -> Array:
        return np.asarray(getattr(message, name, ()), np.float64)

    def listed(name: str) -> Array:
        return real(name).reshape(shape) if len(getattr(message, name, ())) else np.zeros((0, 0))

    return PedestrianStarts(
        **{name: np.asarray(getattr(message, told, ()), arrays[name].kind) for name, told in OF_EACH.items()},
        position=np.stack([real("x"), real("y")], -1), velocity=np.stack([real("vx"), real("vy")], -1),
        waypoints=np.stack([real("waypoint_x").reshape(shape), real("waypoint_y").reshape(shape)], -1),
        waits=real("waits").reshape(shape), company=real("company").reshape(count, 3),
        doing=listed("doing").astype(np.int32), facing=listed("facing"),
        habits=tuple(parse(message.habits, list[Habits], "habits")) if message.habits else (),
    )  # fmt: skip


def _from_replay(message: Any) -> tuple[Trajectories | None, Array, float]:
    """Recorded pedestrians, by how much each is ahead, and their radius; those of older bags have no bodies."""
    if len(message.first) == 0:
        return None, np.zeros(0), 0.3
    knots = {name: np.asarray(getattr(message, name, ()), one.kind) for name, one in declared(Trajectories).items()}
    recorded = Trajectories(**knots)
    return recorded, np.asarray(message.phase, np.float64), message.radius
