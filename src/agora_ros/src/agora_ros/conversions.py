"""Messages to the library's objects and back: pure functions, exact for every float32.

Headings cross as quaternions in float64, which give every float32 heading in (-pi, pi] back; stamps are rounded to nanoseconds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from agora_msgs import msg
from geometry_msgs.msg import Pose, Pose2D, Quaternion, Twist
from rospy import Time

from agora.config import dump, parse
from agora.core import state
from agora.core.state import Array, Floats
from agora.datasets.trajectories import Trajectories
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.robots.model import RobotModel, load_robot
from agora.tasks.start import Habits, PedestrianStarts, RobotStart, Start, Thing
from agora.tasks.suite import Stage

FREE, OCCUPIED, UNKNOWN = 0, 1, 2
"""Values of ``agora_msgs/Map.cells``."""

_HALF_TURN = float(np.float32(math.pi))  # which is a little more than pi
_GENERATION = ("x", "y", "vx", "vy", "heading")
_TRAITS = ("radius", "speed", "group", "id")
_MINDS = ("type", "state", "stress", "energy", "social", "partner")


def stamp_of(step: int, dt: float, since: float = 0.0) -> Time:
    """The stamp of a physics step of an episode that began at ``since`` s, rounded to nanoseconds."""
    return Time.from_sec(0.0) + _duration(since) + _duration(step * dt)


def _duration(seconds: float) -> Any:
    from rospy import Duration

    whole = round(seconds * 1e9)
    return Duration(whole // 1_000_000_000, whole % 1_000_000_000)


def quaternion(heading: float) -> Quaternion:
    """A rotation about z."""
    return Quaternion(0.0, 0.0, math.sin(heading / 2), math.cos(heading / 2))


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


def to_pose(pose: Any) -> Pose:
    """A ``geometry_msgs/Pose`` of x, y, heading."""
    message = Pose()
    message.position.x, message.position.y = float(pose[0]), float(pose[1])
    message.orientation = quaternion(float(pose[2]))
    return message


def from_pose(message: Any) -> Array:
    """x, y, heading (3,) of a ``geometry_msgs/Pose``."""
    return np.array([message.position.x, message.position.y, heading_of(message.orientation)])


def to_pose2d(pose: Any) -> Pose2D:
    """A ``geometry_msgs/Pose2D`` of x, y, heading."""
    return Pose2D(*(float(v) for v in pose))


def from_pose2d(message: Any) -> Array:
    """x, y, heading (3,) of a ``geometry_msgs/Pose2D``."""
    return np.array([message.x, message.y, message.theta])


def to_twist(twist: Any) -> Twist:
    """A ``geometry_msgs/Twist`` of vx, vy, omega."""
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = (float(v) for v in twist)
    return message


def from_twist(message: Any) -> Floats:
    """vx, vy, omega (3,) of a ``geometry_msgs/Twist``."""
    return np.array([message.linear.x, message.linear.y, message.angular.z], np.float32)


def to_map(place: Map) -> msg.Map:
    """The message of a map."""
    cells = place.occupied.astype(np.uint8)
    if place.unknown is not None:
        cells[place.unknown & ~place.occupied] = UNKNOWN
    rows, columns = place.shape
    return msg.Map(
        name=place.name, resolution=place.resolution, origin_x=place.origin[0], origin_y=place.origin[1],
        rows=rows, columns=columns, cells=cells.tobytes(),
        segments=place.segments.reshape(-1).tolist(), discs=place.discs.reshape(-1).tolist(),
        corners=[float(v) for polygon in place.polygons for v in polygon.reshape(-1)], polygons=[len(p) for p in place.polygons],
    )  # fmt: skip


def from_map(message: Any) -> Map:
    """The map of a message.

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
    )  # fmt: skip


def to_pedestrians(people: state.Pedestrians, traits: state.Traits, minds: state.Minds, step: int) -> msg.Pedestrians:
    """The message of one generation of the first world's pedestrians."""
    count = int(traits.count[0])
    message = msg.Pedestrians(step=step, present=people.active[0, :count].astype(np.uint8).tobytes())
    for record, names in ((people, _GENERATION), (traits, _TRAITS), (minds, _MINDS)):
        for name in names:
            setattr(message, name, getattr(record, name)[0, :count].tolist())
    return message


def from_pedestrians(message: Any, people: state.Pedestrians, traits: state.Traits, minds: state.Minds) -> None:
    """Write a message into the first world of records that have room for it."""
    count = len(message.present)
    traits.count[0] = count
    people.active[0] = False
    people.active[0, :count] = np.frombuffer(bytes(message.present), np.uint8) != 0
    for record, names in ((people, _GENERATION), (traits, _TRAITS), (minds, _MINDS)):
        for name in names:
            getattr(record, name)[0, :count] = getattr(message, name)


def to_robots(robots: state.Robots, radius: Floats, names: list[str], step: int) -> msg.Robots:
    """The message of one generation of the first world's robots; ``radius`` (R,) m."""
    message = msg.Robots(step=step, name=names, active=robots.active[0].astype(np.uint8).tobytes(), radius=radius.tolist())
    for name in ("x", "y", "heading", "vx", "vy", "omega", "world_vx", "world_vy", "steering"):
        setattr(message, name, getattr(robots, name)[0].tolist())
    return message


def from_robots(message: Any, robots: state.Robots) -> None:
    """Write a message into the first world of a record with as many robots."""
    robots.active[0] = np.frombuffer(bytes(message.active), np.uint8) != 0
    for name in ("x", "y", "heading", "vx", "vy", "omega", "world_vx", "world_vy", "steering"):
        getattr(robots, name)[0] = getattr(message, name)


def to_episode(start: Start, stage: Stage, robots: list[msg.Robot], number: int) -> msg.Episode:
    """The message of an episode.

    Args:
        start: resolved.
        stage: its conditions.
        robots: name, navigation and planners of each robot; model, pose and goals are filled in here.
        number: of the reset.
    """
    for message, robot in zip(robots, start.robots, strict=True):
        message.model, message.pose = dump(robot.model), to_pose2d(robot.pose)
        message.goals = [to_pose2d(goal) for goal in robot.goals]
    things = [
        msg.Furniture(t.name, t.kind, t.furniture.model, t.furniture.x, t.furniture.y, t.furniture.heading) for t in start.things
    ]
    fixed = [msg.Furniture("", "", f.model, f.x, f.y, f.heading) for f in start.furniture]
    return msg.Episode(
        number=number, entry=start.entry, seed=start.seed, stage=dump(stage), timeout=start.timeout,
        goal_tolerance=start.goal_tolerance, heading_tolerance=start.heading_tolerance, map=to_map(start.map), robots=robots,
        crowd=to_crowd(start), replay=_to_replay(start), furniture=things + fixed,
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
    )  # fmt: skip
    return start, stage


def model_of(text: str) -> RobotModel:
    """The robot of a name, or of the YAML text of one.

    Raises:
        UnknownNameError: no such robot.
        InputError: the text is wrong.
    """
    return parse(text, RobotModel, "robot model") if "\n" in text else load_robot(text)


def to_crowd(start: Start) -> msg.Crowd:
    """The message of an episode's simulated pedestrians."""
    crowd = start.pedestrians
    message = msg.Crowd(waypoints=crowd.waypoints.shape[1], names=list(start.names), looks=list(start.looks))
    message.x, message.y = crowd.position.T.tolist()
    message.vx, message.vy = crowd.velocity.T.tolist()
    for name in ("heading", "speed", "radius", "group", "id", "model", "type", "reaction", "state", "waypoint_count", "tolerance"):
        setattr(message, name, getattr(crowd, name).tolist())
    message.waypoint_mode = crowd.mode.tolist()
    message.waypoint_x, message.waypoint_y = (
        crowd.waypoints[..., 0].reshape(-1).tolist(),
        crowd.waypoints[..., 1].reshape(-1).tolist(),
    )
    message.waits, message.company = crowd.waits.reshape(-1).tolist(), crowd.company.reshape(-1).tolist()
    message.habits = dump(crowd.habits) if crowd.habits else ""
    return message


def from_crowd(message: Any) -> PedestrianStarts:
    """The simulated pedestrians of a message."""
    count = len(message.id)
    shape = (count, int(message.waypoints))

    def whole(name: str) -> Array:
        return np.asarray(getattr(message, name), np.int32)

    def real(name: str) -> Array:
        return np.asarray(getattr(message, name), np.float64)

    return PedestrianStarts(
        position=np.stack([real("x"), real("y")], -1), velocity=np.stack([real("vx"), real("vy")], -1),
        speed=real("speed"), radius=real("radius"), heading=real("heading"), tolerance=real("tolerance"),
        group=whole("group"), id=whole("id"), model=whole("model"), type=whole("type"), reaction=whole("reaction"),
        state=whole("state"), waypoint_count=whole("waypoint_count"), mode=whole("waypoint_mode"),
        waypoints=np.stack([real("waypoint_x").reshape(shape), real("waypoint_y").reshape(shape)], -1),
        waits=real("waits").reshape(shape), company=real("company").reshape(count, 3),
        habits=tuple(parse(message.habits, list[Habits], "habits")) if message.habits else (),
    )  # fmt: skip


def _to_replay(start: Start) -> msg.Replay:
    recorded = start.replay
    if recorded is None:
        return msg.Replay()
    message = msg.Replay(radius=start.replay_radius, phase=start.replay_phase.tolist())
    for name in ("knot_time", "knot_x", "knot_y", "first", "id", "group", "period"):
        setattr(message, name, getattr(recorded, name).tolist())
    return message


def _from_replay(message: Any) -> tuple[Trajectories | None, Array, float]:
    """Recorded pedestrians, by how much each is ahead, and their radius."""
    if len(message.first) == 0:
        return None, np.zeros(0), 0.3
    recorded = Trajectories(
        *(np.asarray(getattr(message, name), np.float64) for name in ("knot_time", "knot_x", "knot_y")),
        *(np.asarray(getattr(message, name), np.int32) for name in ("first", "id", "group")),
        np.asarray(message.period, np.float64),
    )  # fmt: skip
    return recorded, np.asarray(message.phase, np.float64), message.radius
