"""Converts an episode to the ROS 1 messages that Agora's graph would publish, for writing bags without ROS.

Agora's own messages contain the episode, the robots and pedestrians at each control step, contacts, notes and the end;
`agora.datasets.rosbag` reconstructs the episode from these messages. For other tools, there are also messages with odometry,
transforms, commands, scans (if recorded), goals, paths, the map, and pedestrians as RViz markers. Time begins at 1 s, as in the
graph.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agora.config import dump
from agora.core.recording import Recording
from agora.core.state import Array
from agora.datasets.episode_messages import EPISODE, ROBOTS
from agora.datasets.played import PlayedEpisode
from agora.draft.stage import Stage
from agora.errors import InputError
from agora.extras import missing
from agora.interfaces import NOTES
from agora.maps.grid import Map
from agora.share import folder
from agora.wire.episode import Episode
from agora.wire.message import encode
from agora.world.start import Start

BEGAN = 1.0
"""Stamp of the beginning of an episode, s; not 0, because in ROS a stamp of 0 means that there is no time."""

_OWN = ("Contact", "Episode", "EpisodeStatus", "Notes", "Pedestrians", "Robot", "RobotStatus", "Robots")
_OTHERS = {"tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms"}
_MAP, _FREE, _OCCUPIED, _UNKNOWN = "map", 0, 100, -1
_CYLINDER, _HEIGHT = 3, 1.7  # type of the cylinder in visualization_msgs/Marker, and height of cylinders, m


class Written(NamedTuple):
    """A message to write: topic, whether the topic is latched, record time (ns), type, and bytes."""

    topic: str
    latched: bool
    nanoseconds: int
    type: str
    data: bytes


@functools.cache
def store() -> Any:
    """Return the message types, which the package rosbags provides.

    Raises:
        InputError: the package is missing.
    """
    try:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    except ImportError as error:
        raise missing("writing bags needs", "rosbags", "ros") from error
    known = get_typestore(Stores.ROS1_NOETIC)
    texts = {f"agora_msgs/msg/{name}": (folder("agora_msgs") / f"{name}.msg").read_text(encoding="utf-8") for name in _OWN}
    types: dict[str, Any] = {}
    for name, text in (texts | _OTHERS).items():
        types |= get_types_from_msg(text, name)
    known.register(types)
    return known


def messages_of(played: PlayedEpisode, start: Start, stage: Stage) -> list[Written]:
    """Return the messages of an episode, ordered by time.

    Args:
        played: episode, with a recording of each robot.
        start: start of the episode.
        stage: conditions of the episode.

    Raises:
        InputError: the package rosbags is missing, or the recordings and the start have different robots.
    """
    if len(played.robots) != len(start.robots):
        raise InputError(
            f"{played.source}: {played.entry} has recordings of {len(played.robots)} robots, but starts with {len(start.robots)}"
        )
    said = _Said(played, start, stage)
    parts = (said.fixed(), said.paths(), said.steps(), said.contacts(), said.end())
    return sorted((one for part in parts for one in part), key=lambda one: one.nanoseconds)


@dataclass(frozen=True, eq=False)
class _Said:
    """Creates the messages of an episode.

    Attributes:
        played: episode to convert.
        start: start of the episode.
        stage: conditions of the episode.
    """

    played: PlayedEpisode
    start: Start
    stage: Stage

    @property
    def recordings(self) -> list[Recording]:
        """The recordings of the robots."""
        return [robot.recording for robot in self.played.robots]

    @property
    def names(self) -> list[str]:
        """The robots' names, which are also the namespaces of their topics."""
        return [f"robot_{r}" for r in range(len(self.played.robots))]

    @functools.cached_property
    def final(self) -> int:
        """The physics step at which the last robot finished the episode."""
        return max(round(float(one.time[-1]) / self.stage.periods.physics) for one in self.recordings)

    def step(self, sample: int) -> int:
        """Return the physics step that corresponds to a sample of the recordings."""
        return min(sample * self.stage.periods.steps("control"), self.final)

    def fixed(self) -> Iterator[Written]:
        """Yield the messages at the start of the episode: the episode, the map, goals and static transforms."""
        robots = [
            _new("agora_msgs/Robot", name=name, navigation="agora", planner=robot.planner, interplanner="", model=dump(begun.model),
                 pose=_pose2d(begun.pose), goals=[_pose2d(goal) for goal in begun.goals])
            for name, robot, begun in zip(self.names, self.played.robots, self.start.robots, strict=True)
        ]  # fmt: skip
        resolved = np.frombuffer(encode(Episode(1, self.start, self.stage)), np.uint8)
        numbers = {"number": 1, "entry": self.start.entry, "seed": self.start.seed}
        told = _new("agora_msgs/Episode", header=_header(BEGAN), robots=robots, resolved=resolved, **numbers)
        yield _written(f"/{EPISODE}", told, BEGAN, latched=True)
        yield _written("/map", _grid(self.start.map), BEGAN, latched=True)
        still = []
        for name, begun in zip(self.names, self.start.robots, strict=True):
            still.append(_frame(_MAP, f"{name}/odom", (0.0, 0.0, 0.0), BEGAN))
            if (lidar := begun.model.lidar) is not None:
                place = (lidar.x, lidar.y, lidar.heading)
                still.append(_frame(f"{name}/{begun.model.base_frame}", f"{name}/{begun.model.sensor_frame}", place, BEGAN))
            goal = _new("geometry_msgs/PoseStamped", header=_header(BEGAN), pose=_pose(begun.goals[-1]))
            yield _written(f"/{name}/move_base_simple/goal", goal, BEGAN)
        yield _written("/tf_static", _new("tf2_msgs/TFMessage", transforms=still), BEGAN, latched=True)

    def steps(self) -> Iterator[Written]:
        """Yield the messages of each control step: robots, pedestrians, odometry, transforms, commands, scans and notes."""
        longest = max(self.recordings, key=lambda one: len(one.time))
        for t in range(len(longest.time)):
            step = self.step(t)
            stamp = BEGAN + step * self.stage.periods.physics
            yield _written(f"/{ROBOTS}", self._robots(t, step, stamp), stamp)
            yield _written("/pedsim_simulator/pedestrians", _pedestrians(longest, t, step, stamp), stamp)
            yield _written("/pedestrians", _markers(longest, t, stamp), stamp)
            for r, one in enumerate(self.recordings):
                if t < len(one.time):
                    yield from self._robot(r, t, stamp)
            if notes := [r for r, one in enumerate(self.recordings) if one.reason is not None and t < len(one.reason)]:
                yield _written("/navigation/notes", self._notes(notes, t, stamp), stamp)

    def paths(self) -> Iterator[Written]:
        """Yield the robots' global paths, each at the time of its planning; a missing path is sent as an empty path."""
        for name, one in zip(self.names, self.recordings, strict=True):
            if one.planned_path is None:
                continue
            for moment in np.unique(one.planned_path[:, 0]):
                points = one.planned_path[one.planned_path[:, 0] == moment, 1:]
                stamp = BEGAN + float(moment)
                poses = [
                    _new("geometry_msgs/PoseStamped", header=_header(stamp), pose=_pose((x, y, 0.0)))
                    for x, y in (points if len(points) > 1 else ())
                ]
                yield _written(f"/{name}/global_plan", _new("nav_msgs/Path", header=_header(stamp), poses=poses), stamp)

    def _robots(self, t: int, step: int, stamp: float) -> Any:
        last = [min(t, len(one.time) - 1) for one in self.recordings]
        pose = np.array([one.pose[k] for one, k in zip(self.recordings, last, strict=True)], np.float32)
        twist = np.array([one.twist[k] for one, k in zip(self.recordings, last, strict=True)], np.float32)
        told = np.array([_told(one, t) for one in self.recordings], np.float32)
        cos, sin = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        return _new("agora_msgs/Robots", header=_header(stamp), step=step, name=self.names,
            active=np.array([t < len(one.time) for one in self.recordings], np.uint8),
            x=pose[:, 0], y=pose[:, 1], heading=pose[:, 2], vx=twist[:, 0], vy=twist[:, 1], omega=twist[:, 2],
            world_vx=cos * twist[:, 0] - sin * twist[:, 1], world_vy=sin * twist[:, 0] + cos * twist[:, 1],
            steering=np.zeros(len(pose), np.float32), radius=np.array([one.radius for one in self.recordings], np.float32),
            command_vx=told[:, 0], command_vy=told[:, 1], command_omega=told[:, 2],
        )  # fmt: skip

    def _robot(self, r: int, t: int, stamp: float) -> Iterator[Written]:
        one, name, model = self.recordings[r], self.names[r], self.start.robots[r].model
        base = f"{name}/{model.base_frame}"
        known = _new("geometry_msgs/PoseWithCovariance", pose=_pose(one.pose[t]), covariance=np.zeros(36))
        speed = _new("geometry_msgs/TwistWithCovariance", twist=_twist(one.twist[t]), covariance=np.zeros(36))
        odometry = _new("nav_msgs/Odometry", header=_header(stamp, f"{name}/odom"), child_frame_id=base, pose=known, twist=speed)
        yield _written(f"/{name}/odom", odometry, stamp)
        frame = _frame(f"{name}/odom", base, one.pose[t], stamp)
        yield _written("/tf", _new("tf2_msgs/TFMessage", transforms=[frame]), stamp)
        if one.command is not None and t < len(one.command):
            yield _written(f"/{name}/cmd_vel", _twist(one.command[t]), stamp)
        ranges = one.sensors.get("scan", {}).get("ranges")
        if ranges is not None and t < len(ranges) and (lidar := model.lidar) is not None and len(ranges[t]) == lidar.beams:
            scan = _new("sensor_msgs/LaserScan", header=_header(stamp, f"{name}/{model.sensor_frame}"), angle_min=lidar.angle_min,
                angle_max=lidar.angle_min + lidar.increment * (lidar.beams - 1), angle_increment=lidar.increment,
                time_increment=0.0, scan_time=1.0 / lidar.rate, range_min=lidar.range_min, range_max=lidar.range_max,
                ranges=np.asarray(ranges[t], np.float32), intensities=np.zeros(0, np.float32),
            )  # fmt: skip
            yield _written(f"/{name}/scan", scan, stamp)

    def _notes(self, robots: list[int], t: int, stamp: float) -> Any:
        columns = {}
        for field, kind in NOTES.items():
            noted = [getattr(self.recordings[r], field) for r in robots]
            nothing = math.nan if issubclass(kind, np.floating) else 0
            numbers = [nothing if one is None else one[t] for one in noted]
            columns[field] = np.array(numbers, np.float32 if issubclass(kind, np.floating) else np.int8)
        times = [self.recordings[r].planning_time for r in robots]
        columns["planning_time"] = np.array([one[t] if t < len(one) else math.nan for one in times], np.float32)
        return _new("agora_msgs/Notes", header=_header(stamp), name=[self.names[r] for r in robots], **columns)

    def contacts(self) -> Iterator[Written]:
        """Yield the contacts of the robots, each at the time of the contact."""
        for name, one in zip(self.names, self.recordings, strict=True):
            for contact in one.contacts:
                where = {"time": contact.time, "x": contact.x, "y": contact.y}
                stamp = BEGAN + contact.time
                told = _new("agora_msgs/Contact", header=_header(stamp), robot=name, kind=int(contact.kind),
                            party=contact.party, **where)  # fmt: skip
                yield _written("/simulator/contacts", told, stamp)

    def end(self) -> Iterator[Written]:
        """Yield the message that ends the episode."""
        stamp = BEGAN + self.final * self.stage.periods.physics
        robots = [
            _new("agora_msgs/RobotStatus", name=name, ended=True, goal=len(begun.goals) - 1, outcome=int(one.outcome),
                 end_time=float(one.time[-1]), clipped=int(one.clipped), contacts=len(one.contacts), failure=one.failure,
                 target=_pose2d(one.goal), by_hand=0)
            for name, one, begun in zip(self.names, self.recordings, self.start.robots, strict=True)
        ]  # fmt: skip
        told = _new("agora_msgs/EpisodeStatus", header=_header(stamp), number=1, entry=self.start.entry, seed=self.start.seed,
            step=self.final, running=False, done=True, interrupted=False, reason="", robots=robots,
        )  # fmt: skip
        yield _written("/simulator/status", told, stamp, latched=True)


def _told(recording: Recording, t: int) -> Array:
    """Return the twist (3,) of the command that was in effect before sample ``t``; zeros at the first sample, or if commands were
    not recorded.
    """
    commands = recording.command
    return np.zeros(3) if commands is None or not 0 < t <= len(commands) else np.asarray(commands[t - 1])


def _new(kind: str, /, **fields: Any) -> Any:
    """Return a message of the type ``kind``, given as ``package/Name``."""
    whole = {name: np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value for name, value in fields.items()}
    return store().types[kind.replace("/", "/msg/")](**whole)


def _written(topic: str, message: Any, stamp: float, *, latched: bool = False) -> Written:
    name = message.__msgtype__
    return Written(topic, latched, round(stamp * 1e9), name, bytes(store().serialize_ros1(message, name)))


def _header(stamp: float, frame: str = _MAP) -> Any:
    return _new("std_msgs/Header", seq=0, stamp=_time(stamp), frame_id=frame)


def _time(stamp: float) -> Any:
    seconds, rest = divmod(round(stamp * 1e9), 1_000_000_000)
    return store().types["builtin_interfaces/msg/Time"](seconds, rest)


def _pose2d(pose: Array) -> Any:
    return _new("geometry_msgs/Pose2D", x=float(pose[0]), y=float(pose[1]), theta=float(pose[2]))


def _turn(heading: float) -> Any:
    return _new("geometry_msgs/Quaternion", x=0.0, y=0.0, z=math.sin(heading / 2), w=math.cos(heading / 2))


def _pose(pose: Array | tuple[float, ...], z: float = 0.0) -> Any:
    heading = float(pose[2]) if math.isfinite(pose[2]) else 0.0  # a goal's heading may be arbitrary
    place = _new("geometry_msgs/Point", x=float(pose[0]), y=float(pose[1]), z=z)
    return _new("geometry_msgs/Pose", position=place, orientation=_turn(heading))


def _vector(x: float, y: float, z: float) -> Any:
    return _new("geometry_msgs/Vector3", x=float(x), y=float(y), z=float(z))


def _twist(twist: Array) -> Any:
    return _new("geometry_msgs/Twist", linear=_vector(twist[0], twist[1], 0.0), angular=_vector(0.0, 0.0, twist[2]))


def _frame(parent: str, child: str, pose: Array | tuple[float, ...], stamp: float) -> Any:
    moved = _new("geometry_msgs/Transform", translation=_vector(pose[0], pose[1], 0.0), rotation=_turn(float(pose[2])))
    return _new("geometry_msgs/TransformStamped", header=_header(stamp, parent), child_frame_id=child, transform=moved)


def _grid(place: Map) -> Any:
    cells = np.where(place.cells, _OCCUPIED, _FREE).astype(np.int8)
    if place.unknown is not None:
        cells[place.unknown & ~place.cells] = _UNKNOWN
    rows, columns = place.shape
    info = _new("nav_msgs/MapMetaData", map_load_time=_time(BEGAN), resolution=float(place.resolution), width=columns,
                height=rows, origin=_pose((*place.origin, 0.0)))  # fmt: skip
    return _new("nav_msgs/OccupancyGrid", header=_header(BEGAN), info=info, data=cells.ravel())


def _pedestrians(recording: Recording, t: int, step: int, stamp: float) -> Any:
    count = len(recording.pedestrian_id)
    place, velocity = (getattr(recording, f"pedestrian_{name}")[t].astype(np.float32) for name in ("position", "velocity"))
    state = np.zeros(count, np.int32) if recording.pedestrian_state is None else recording.pedestrian_state[t].astype(np.int32)
    present, nothing = (
        recording.pedestrian_present[t].astype(np.uint8),
        {name: np.zeros(count, np.float32) for name in ("stress", "energy", "social")},
    )
    return _new("agora_msgs/Pedestrians", header=_header(stamp), step=step, present=present,
        id=recording.pedestrian_id.astype(np.int32), x=place[:, 0], y=place[:, 1], vx=velocity[:, 0], vy=velocity[:, 1],
        heading=recording.pedestrian_heading[t].astype(np.float32), radius=recording.pedestrian_radius.astype(np.float32),
        speed=np.hypot(*velocity.T).astype(np.float32), group=recording.pedestrian_group[t].astype(np.int32),
        type=np.zeros(count, np.int32), state=state, partner=np.full(count, -1, np.int32), **nothing,
    )  # fmt: skip


def _markers(recording: Recording, t: int, stamp: float) -> Any:
    """Return markers that show the pedestrians at sample ``t`` as cylinders and delete the markers of absent pedestrians."""
    duration, colour = store().types["builtin_interfaces/msg/Duration"](0, 0), (0.84, 0.37, 0.0, 1.0)
    markers = []
    for slot, number in enumerate(recording.pedestrian_id):
        width = 2.0 * float(recording.pedestrian_radius[slot])
        x, y = (float(v) for v in recording.pedestrian_position[t, slot])
        pose = _pose((x, y, float(recording.pedestrian_heading[t, slot])), _HEIGHT / 2)
        markers.append(
            _new("visualization_msgs/Marker", header=_header(stamp), ns="pedestrians", id=int(number), type=_CYLINDER,
                action=0 if recording.pedestrian_present[t, slot] else 2, pose=pose, scale=_vector(width, width, _HEIGHT),
                color=_new("std_msgs/ColorRGBA", **dict(zip("rgba", colour, strict=True))), lifetime=duration,
                frame_locked=False, points=[], colors=[], text="", mesh_resource="", mesh_use_embedded_materials=False,
            )
        )  # fmt: skip
    return _new("visualization_msgs/MarkerArray", markers=markers)
