"""A live episode in the format used by the front end: its surroundings, sent once as JSON, and its frames, as `agora.wire`
messages.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agora.core.state import SOCIAL_STATES
from agora.episode import Episodes
from agora.maps.doors import Door
from agora.optics.lidar import Lidar
from agora.viewer.replay import encode_map
from agora.viewer.scene import COLOURS, DARK, mark_of, reach
from agora.wire.message import pack
from agora.wire.plain import to_plain
from agora.wire.snapshot import Snapshot
from agora.world.start import RobotStart, Start

FORMAT, VERSION = "agora.moment", 1


def describe_scene(start: Start, title: str, control: float, *, drive: bool) -> dict[str, Any]:
    """Return the surroundings of an episode.

    Args:
        start: start of the episode.
        title: title to show.
        control: control period, s.
        drive: whether a watcher drives the robot.
    """
    first, *others = start.robots
    people = start.pedestrians
    places = [*(robot.pose[None, :2] for robot in start.robots), *(robot.goals[:, :2] for robot in start.robots), people.position]
    return {
        "title": title,
        "map": encode_map(start.map),
        "extent": [round(value, 3) for value in reach(start.map, places, first.model.radius + 0.5)],
        **_body(first),
        "others": [_body(robot) for robot in others],
        "lidar": _lidar(first.model.lidar),
        "door": _door(start.map.door),
        "tolerance": start.goal_tolerance,
        "colours": {"light": COLOURS, "dark": DARK},
        "states": [mark_of(number) for number in range(len(SOCIAL_STATES))],
        "names": list(SOCIAL_STATES),
        "control": control,
        "drive": drive,
    }


def _body(robot: RobotStart) -> dict[str, Any]:
    """Return the shape of a robot, and its last goal."""
    return {
        "radius": robot.model.radius,
        "outline": np.round(np.reshape(robot.model.footprint, (-1, 2)), 3).tolist(),
        "goal": robot.goals[-1].round(3).tolist(),
    }


def _lidar(lidar: Lidar | None) -> dict[str, Any] | None:
    """Return the pose of a lidar in the robot's frame, the angle of the first beam, the angular step, and the maximum range."""
    if lidar is None:
        return None
    angles = lidar.angles
    step = float(angles[1] - angles[0]) if len(angles) > 1 else 0.0
    return {"pose": [lidar.x, lidar.y, lidar.heading], "angles": [float(angles[0]), step], "range": lidar.range_max}


def _door(door: Door | None) -> dict[str, Any] | None:
    """Return the ends and the thickness of a moving door."""
    return None if door is None else {"ends": door.ends.round(3).tolist(), "thickness": door.thickness}


class FrameEncoder:
    """Encodes the frames of a single episode.

    Args:
        episodes: object that runs the episode.
        start: start of the episode.
    """

    def __init__(self, episodes: Episodes, start: Start) -> None:
        self._episodes, self._batch = episodes, episodes.batch
        self._names = [f"robot_{k}" for k in range(len(start.robots))]

    def encode(self) -> bytes:
        """Return the message for the current frame; each message is self-contained, because watchers may miss some."""
        batch, world = self._batch, self._batch.world
        step = int(world.status.clock.step[0])
        people, robots = world.pedestrians, world.robots
        moment = Snapshot.of(people, world.traits, world.minds, robots, self._names, step, step * world.dt)
        read = batch.observers.recorded_readings(0, 0).get("scan", {}) if batch.observers.record else {}
        content = {
            "snapshot": to_plain(moment),
            "path": np.asarray(batch.observers.path(0, 0), np.float32),
            "scan": read.get("ranges"),
            "command": np.asarray(world.commands[0, 0], np.float32),
            "door": None if world.doors is None else float(world.doors.share[0]),
            "contacts": [[float(c.time), int(c.kind), c.party, float(c.x), float(c.y), ""] for c in self._episodes.contacts(0, 0)],
        }
        return pack(FORMAT, VERSION, content)
