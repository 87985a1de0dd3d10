"""Recordings in Foxglove's format: robots' frames and scans, a scene with robots, pedestrians, goals and contacts, and the map.

The messages are JSON with Foxglove's names and fields: ``foxglove.FrameTransform``, ``foxglove.SceneUpdate``, ``foxglove.Grid``,
``foxglove.LaserScan`` (https://docs.foxglove.dev/docs/sdk/schemas). Units are m and rad; the frame ``map`` is the frame of the
recordings.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.recording import Recording
from agora.core.state import SOCIAL_STATES
from agora.datasets.mcapfile import McapChannel, McapMessage
from agora.datasets.played import PlayedRobot
from agora.robots.model import load_robot, robot_names
from agora.viewer.scene import COLOURS

if TYPE_CHECKING:
    from agora.maps.grid import Map

FRAME = "map"
ROBOT_HEIGHT, PERSON_HEIGHT, GOAL_HEIGHT, THIN = 0.4, 1.7, 0.02, 0.03  # dimensions of the drawn shapes, m
UNSAID = 0.3
"""Radius of the disc drawn for a robot with an unknown model, m."""
FREE, OCCUPIED, UNKNOWN = 0, 100, 255
"""Values of the cells of the grid ``occupancy``."""
_UINT8, _LOOP = 1, 1  # foxglove.PackedElementField, foxglove.LinePrimitive
_PRIMITIVES = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")

_NUMBER, _WHOLE, _TEXT, _FLAG = ({"type": word} for word in ("number", "integer", "string", "boolean"))


def _record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TIME = _record(sec=_WHOLE, nsec=_WHOLE)
_POINT = _record(x=_NUMBER, y=_NUMBER, z=_NUMBER)
_TURN = _record(x=_NUMBER, y=_NUMBER, z=_NUMBER, w=_NUMBER)
_POSE = _record(position=_POINT, orientation=_TURN)
_COLOUR = _record(r=_NUMBER, g=_NUMBER, b=_NUMBER, a=_NUMBER)
_ROUND = {"pose": _POSE, "size": _POINT, "color": _COLOUR}
_SHAPES: dict[str, dict[str, Any]] = {name: {"type": "object"} for name in _PRIMITIVES} | {
    "arrows": _record(
        pose=_POSE, shaft_length=_NUMBER, shaft_diameter=_NUMBER, head_length=_NUMBER, head_diameter=_NUMBER, color=_COLOUR
    ),
    "spheres": _record(**_ROUND),
    "cylinders": _record(**_ROUND, bottom_scale=_NUMBER, top_scale=_NUMBER),
    "lines": _record(
        type=_WHOLE, pose=_POSE, thickness=_NUMBER, scale_invariant=_FLAG, points=_list(_POINT), color=_COLOUR,
        colors=_list(_COLOUR), indices=_list(_WHOLE),
    ),
}  # fmt: skip
_ENTITY = _record(
    timestamp=_TIME, frame_id=_TEXT, id=_TEXT, lifetime=_TIME, frame_locked=_FLAG, metadata=_list(_record(key=_TEXT, value=_TEXT)),
    **{name: _list(shape) for name, shape in _SHAPES.items()},
)  # fmt: skip

FRAMES = McapChannel.json(
    "/agora/frames",
    {"title": "foxglove.FrameTransform"}
    | _record(timestamp=_TIME, parent_frame_id=_TEXT, child_frame_id=_TEXT, translation=_POINT, rotation=_TURN),
)
SCENE = McapChannel.json(
    "/agora/scene",
    {"title": "foxglove.SceneUpdate"}
    | _record(deletions=_list(_record(timestamp=_TIME, type=_WHOLE, id=_TEXT)), entities=_list(_ENTITY)),
)
GRID = McapChannel.json(
    "/agora/map",
    {"title": "foxglove.Grid"}
    | _record(
        timestamp=_TIME, frame_id=_TEXT, pose=_POSE, column_count=_WHOLE, cell_size=_record(x=_NUMBER, y=_NUMBER),
        row_stride=_WHOLE, cell_stride=_WHOLE, fields=_list(_record(name=_TEXT, offset=_WHOLE, type=_WHOLE)),
        data={"type": "string", "contentEncoding": "base64"},
    ),
)  # fmt: skip


LASER = McapChannel.json(
    "/agora/scan",
    {"title": "foxglove.LaserScan"}
    | _record(
        timestamp=_TIME, frame_id=_TEXT, pose=_POSE, start_angle=_NUMBER, end_angle=_NUMBER, ranges=_list(_NUMBER),
        intensities=_list(_NUMBER),
    ),
)  # fmt: skip


def scene_entries(robots: Sequence[PlayedRobot], began: int = 0) -> list[McapMessage]:
    """Return an episode's Foxglove messages, ordered by time.

    Args:
        robots: robots of the episode, ordered by their numbers.
        began: start time of the episode, ns.
    """
    recordings = [robot.recording for robot in robots]
    entries = [entry for n, robot in enumerate(robots) for entry in _of_robot(robot, n, began)]
    entries += [entry for n, robot in enumerate(robots) for entry in _scans(robot, f"robot_{n}", began)]
    entries += _of_people(max(recordings, key=lambda one: len(one.time)), began)
    place = next((one.map for one in recordings if one.map is not None), None)
    if place is not None:
        entries.append(McapMessage.json(GRID, began, _grid(place, began)))
    return sorted(entries, key=lambda entry: entry.nanoseconds)


def _of_robot(robot: PlayedRobot, number: int, began: int) -> Iterator[McapMessage]:
    """Yield the frame of a robot at each sample, and the robot, its goal and its contacts."""
    recording = robot.recording
    frame, start = f"robot_{number}", began + _nanoseconds(recording.time[0])
    for time, (x, y, heading) in zip(recording.time, recording.pose.tolist(), strict=True):
        now = began + _nanoseconds(time)
        place = {"translation": _point(x, y), "rotation": _turn(heading)}
        yield McapMessage.json(FRAMES, now, {"timestamp": _time(now), "parent_frame_id": FRAME, "child_frame_id": frame} | place)
    colour = COLOURS["robot" if number == 0 else "others"]
    outline, radius = _outline(recording), UNSAID if "radius" in robot.missing else recording.radius
    disc = _cylinder(0.0, 0.0, radius, ROBOT_HEIGHT, colour, 0.4 if outline else 1.0)
    yield _scene(start, [_entity(start, frame, frame, cylinders=[disc], lines=outline, arrows=[_arrow(2.0 * radius, colour)])])
    if "goal" not in robot.missing:
        x, y = recording.goal[:2].tolist()
        goal = _cylinder(x, y, recording.goal_tolerance, GOAL_HEIGHT, COLOURS["goal"], 0.7)
        yield _scene(start, [_entity(start, f"goal_{number}", FRAME, cylinders=[goal])])
    for n, contact in enumerate(recording.contacts):
        now = began + _nanoseconds(contact.time)
        told = {"kind": contact.kind.name.lower(), "party": str(contact.party)}
        size = {"x": 0.3, "y": 0.3, "z": 0.3}
        ball = {"pose": _pose(contact.x, contact.y, 0.0, PERSON_HEIGHT), "size": size, "color": _colour(COLOURS["contact"])}
        yield _scene(now, [_entity(now, f"contact_{number}_{n}", FRAME, told, spheres=[ball])])


def _scans(robot: PlayedRobot, frame: str, began: int) -> Iterator[McapMessage]:
    """Yield the scans of a robot whose model is known; beams without a hit have the lidar's maximum range."""
    ranges = robot.recording.sensors.get("scan", {}).get("ranges")
    lidar = load_robot(robot.model).lidar if robot.model in robot_names() else None
    if ranges is None or lidar is None or ranges.shape[1] != lidar.beams:
        return
    place = {"frame_id": frame, "pose": _pose(lidar.x, lidar.y, lidar.heading, ROBOT_HEIGHT)}
    angles = {"start_angle": lidar.angle_min, "end_angle": lidar.angle_min + (lidar.beams - 1) * lidar.increment}
    for time, values in zip(robot.recording.time, np.minimum(ranges, lidar.range_max).tolist(), strict=False):
        now = began + _nanoseconds(time)
        yield McapMessage.json(LASER, now, {"timestamp": _time(now), **place, **angles, "ranges": values, "intensities": []})


def _outline(recording: Recording) -> list[dict[str, Any]]:
    """Return the footprint of a robot in the robot's frame; empty for a disc, or if the footprint was not recorded."""
    if recording.robot is None or recording.robot.vertices[0, 0] == 0:
        return []
    corners = int(recording.robot.vertices[0, 0])
    xs, ys = (values[0, 0, :corners].tolist() for values in (recording.robot.footprint_x, recording.robot.footprint_y))
    points = [_point(x, y, ROBOT_HEIGHT) for x, y in zip(xs, ys, strict=True)]
    style = {
        "type": _LOOP,
        "thickness": THIN,
        "scale_invariant": False,
        "color": _colour(COLOURS["ink"]),
        "colors": [],
        "indices": [],
    }
    return [style | {"pose": _pose(0.0, 0.0), "points": points}]


def _of_people(recording: Recording, began: int) -> Iterator[McapMessage]:
    """Yield the pedestrians of each sample; pedestrians that have left are deleted."""
    before: set[int] = set()
    for t, time in enumerate(recording.time):
        now = began + _nanoseconds(time)
        there = np.flatnonzero(recording.pedestrian_present[t]).tolist()
        gone = [_deleted(now, recording, j) for j in sorted(before - set(there))]
        if there or gone:
            yield _scene(now, [_person(now, recording, t, j) for j in there], gone)
        before = set(there)


def _person(now: int, recording: Recording, t: int, j: int) -> dict[str, Any]:
    x, y = recording.pedestrian_position[t, j].tolist()
    told = {"group": str(recording.pedestrian_group[t, j])}
    if recording.pedestrian_state is not None:
        told["state"] = SOCIAL_STATES[recording.pedestrian_state[t, j]]
    radius, colour = float(recording.pedestrian_radius[j]), COLOURS["pedestrian"]
    arrow = _arrow(2.0 * radius, colour, x, y, float(recording.pedestrian_heading[t, j]))
    cylinder = _cylinder(x, y, radius, PERSON_HEIGHT, colour)
    return _entity(now, f"pedestrian_{recording.pedestrian_id[j]}", FRAME, told, cylinders=[cylinder], arrows=[arrow])


def _deleted(now: int, recording: Recording, j: int) -> dict[str, Any]:
    return {"timestamp": _time(now), "type": 0, "id": f"pedestrian_{recording.pedestrian_id[j]}"}


def _grid(place: Map, now: int) -> dict[str, Any]:
    """Return the cells of a map, including its shapes, row by row from the lowest, with one byte per cell."""
    cells = np.where(place.cells, OCCUPIED, FREE).astype(np.uint8)
    if place.unknown is not None:
        cells[place.unknown & ~place.cells] = UNKNOWN
    return {
        "timestamp": _time(now),
        "frame_id": FRAME,
        "pose": _pose(float(place.origin[0]), float(place.origin[1])),
        "column_count": cells.shape[1],
        "cell_size": {"x": float(place.resolution), "y": float(place.resolution)},
        "row_stride": cells.shape[1],
        "cell_stride": 1,
        "fields": [{"name": "occupancy", "offset": 0, "type": _UINT8}],
        "data": base64.b64encode(cells.tobytes()).decode(),
    }


def _scene(now: int, entities: list[dict[str, Any]], deletions: Sequence[dict[str, Any]] = ()) -> McapMessage:
    return McapMessage.json(SCENE, now, {"deletions": list(deletions), "entities": entities})


def _entity(now: int, name: str, frame: str, told: dict[str, str] | None = None, **shapes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an entity that stays until it is replaced, and moves with its frame."""
    known = {"timestamp": _time(now), "frame_id": frame, "id": name, "lifetime": _time(0), "frame_locked": True}
    metadata = [{"key": key, "value": value} for key, value in (told or {}).items()]
    return known | {"metadata": metadata} | {kind: shapes.get(kind, []) for kind in _PRIMITIVES}


def _cylinder(x: float, y: float, radius: float, height: float, colour: str, alpha: float = 1.0) -> dict[str, Any]:
    size = {"x": 2.0 * radius, "y": 2.0 * radius, "z": height}
    return {
        "pose": _pose(x, y, 0.0, height / 2),
        "size": size,
        "bottom_scale": 1.0,
        "top_scale": 1.0,
        "color": _colour(colour, alpha),
    }


def _arrow(length: float, colour: str, x: float = 0.0, y: float = 0.0, heading: float = 0.0) -> dict[str, Any]:
    shaft = {"shaft_length": 0.7 * length, "shaft_diameter": THIN, "head_length": 0.3 * length, "head_diameter": 3 * THIN}
    return shaft | {"pose": _pose(x, y, heading, ROBOT_HEIGHT), "color": _colour(colour)}


def _colour(text: str, alpha: float = 1.0) -> dict[str, float]:
    """Return a colour, given as ``#RRGGBB``."""
    return {name: int(text[k : k + 2], 16) / 255 for name, k in (("r", 1), ("g", 3), ("b", 5))} | {"a": alpha}


def _pose(x: float, y: float, heading: float = 0.0, z: float = 0.0) -> dict[str, Any]:
    return {"position": _point(x, y, z), "orientation": _turn(heading)}


def _point(x: float, y: float, z: float = 0.0) -> dict[str, float]:
    return {"x": x, "y": y, "z": z}


def _turn(heading: float) -> dict[str, float]:
    """Return the quaternion for a heading."""
    return {"x": 0.0, "y": 0.0, "z": math.sin(heading / 2), "w": math.cos(heading / 2)}


def _nanoseconds(time: float) -> int:
    return round(float(time) * 1e9)


def _time(nanoseconds: int) -> dict[str, int]:
    return {"sec": nanoseconds // 1_000_000_000, "nsec": nanoseconds % 1_000_000_000}
