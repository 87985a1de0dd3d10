"""Converts paths, costmaps, maps and images to and from ROS messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from agora_ros.conversions import from_pose, to_pose
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid, Path

from agora.core.state import Array, Doubles, Floats
from agora.errors import InputError
from agora.maps.grid import Map

_OCCUPIED = 65  # out of 100, like map_server's occupied_thresh


def to_path(points: Floats, stamp: Any, frame: str = "map") -> Path:
    """Return a message with a path, given as poses (K, 3), m and rad, or as points (K, 2), m, which become poses that face along
    the path.
    """
    message = Path()
    message.header.stamp, message.header.frame_id = stamp, frame
    poses = points
    if points.shape[1] == 2:
        legs = np.diff(points.astype(float), axis=0)
        headings = np.arctan2(legs[:, 1], legs[:, 0])
        poses = np.column_stack([points, np.append(headings, headings[-1:]) if len(legs) else np.zeros(len(points))])
    message.poses = [PoseStamped(header=message.header, pose=to_pose(pose)) for pose in poses]
    return message


def from_path(message: Any, frame: str = "map") -> Doubles:
    """Return the poses (K, 3), m and rad, of a path message.

    Raises:
        InputError: the path is in another frame.
    """
    frames = {message.header.frame_id, *(pose.header.frame_id for pose in message.poses)}
    if strange := [name for name in sorted(frames) if name.lstrip("/") not in (frame, "")]:
        raise InputError(f"expected a path in frame {frame}, got {strange[0]!r}")
    return np.array([from_pose(pose.pose) for pose in message.poses], np.float64).reshape(-1, 3)


def to_grid(cost: Array, origin: Array, resolution: float, stamp: Any, frame: str = "map") -> OccupancyGrid:
    """Return a message with a costmap (rows, columns) uint8, in the values that costmap_2d publishes: 100 lethal, 99 inscribed, -1
    unknown.
    """
    message = OccupancyGrid()
    message.header.stamp, message.header.frame_id = stamp, frame
    message.info.map_load_time, message.info.resolution = stamp, resolution
    message.info.height, message.info.width = cost.shape
    message.info.origin = to_pose((*origin, 0.0))
    message.data = _SHARES[cost].reshape(-1).tolist()
    return message


def on_map(cost: Array, origin: Array, resolution: float, place: Map) -> tuple[Array, Array, float]:
    """Return the part of a costmap whose cell centres are on the map, or the whole costmap if no cell centre is on the map.

    Cells outside the map are unknown, and RViz would show them in grey.
    """
    keep = []
    for axis, count in enumerate(cost.shape[::-1]):
        centres = origin[axis] + (np.arange(count) + 0.5) * resolution - place.origin[axis]
        inside = np.flatnonzero((centres >= 0.0) & (centres < place.size[axis]))
        if not len(inside):
            return cost, origin, resolution
        keep.append(slice(int(inside[0]), int(inside[-1]) + 1))
    columns, rows = keep
    return cost[rows, columns], np.asarray(origin) + resolution * np.array([columns.start, rows.start]), resolution


def _shares() -> Array:
    """Return the value that costmap_2d publishes for each cost."""
    shares = 1 + 97 * (np.arange(256) - 1) // 251
    shares[0], shares[253], shares[254], shares[255] = 0, 99, 100, -1
    return shares.astype(np.int8)


_SHARES = _shares()


def from_grid(message: Any) -> Map:
    """Return the map from a ``nav_msgs/OccupancyGrid``.

    Raises:
        InputError: the grid is rotated or too small.
    """
    info = message.info
    x, y, heading = from_pose(info.origin)
    if heading:
        raise InputError(f"map: its origin is rotated by {heading:.3f} rad; expected 0")
    cells = np.asarray(message.data, np.int8).reshape(info.height, info.width)
    unknown = cells < 0
    return Map(
        name="map", resolution=info.resolution, origin=(x, y), occupied=cells >= _OCCUPIED,
        unknown=unknown if unknown.any() else None, segments=np.zeros((0, 4)), discs=np.zeros((0, 3)), polygons=(),
    )  # fmt: skip


_COLOURS = {"rgb8": (0, 1, 2), "bgr8": (2, 1, 0), "rgba8": (0, 1, 2), "bgra8": (2, 1, 0), "mono8": (0, 0, 0)}
_DEPTHS = {"32FC1": (np.float32, 1.0), "16UC1": (np.uint16, 1e-3), "mono16": (np.uint16, 1e-3)}


def from_image(message: Any) -> Array:
    """Return the image from a ``sensor_msgs/Image`` as (rows, columns, 3) uint8: red, green and blue.

    Raises:
        InputError: the encoding is not supported, or the number of bytes does not match.
    """
    if message.encoding not in _COLOURS:
        raise InputError(f"image: expected the encoding {', '.join(_COLOURS)}, got {message.encoding!r}")
    channels = {"mono8": 1, "rgb8": 3, "bgr8": 3}.get(message.encoding, 4)
    pixels = _pixels(message, np.dtype(np.uint8), channels)
    return np.ascontiguousarray(pixels[..., _COLOURS[message.encoding]])


def from_depth(message: Any) -> Floats:
    """Return the depths (rows, columns), m, from a ``sensor_msgs/Image`` that follows REP 118 (metres or millimetres); NaN and 0
    mean unknown.

    Raises:
        InputError: as for `from_image`.
    """
    if message.encoding not in _DEPTHS:
        raise InputError(f"depth: expected the encoding {', '.join(_DEPTHS)}, got {message.encoding!r}")
    kind, unit = _DEPTHS[message.encoding]
    pixels = _pixels(message, np.dtype(kind).newbyteorder(">" if message.is_bigendian else "<"), 1)
    return np.asarray(pixels[..., 0].astype(np.float32) * np.float32(unit))


def _pixels(message: Any, kind: np.dtype[Any], channels: int) -> Array:
    """Return the pixels (rows, columns, channels) of an image whose rows may be padded."""
    data, width = np.frombuffer(bytes(message.data), np.uint8), message.width * channels * kind.itemsize
    if message.step < width or len(data) != message.step * message.height or not width * message.height:
        said = f"{message.height} rows of {message.width} px of {message.encoding} in {message.step} bytes"
        raise InputError(f"image: expected {said}, got {len(data)} bytes")
    rows = np.ascontiguousarray(data.reshape(message.height, message.step)[:, :width])
    return rows.view(kind).reshape(message.height, message.width, channels)
