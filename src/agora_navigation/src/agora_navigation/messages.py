"""Paths, costmaps and maps as messages of ROS."""

from __future__ import annotations

from typing import Any

import numpy as np
from agora_ros.conversions import from_pose, to_pose
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid, Path

from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.maps.grid import Map

_OCCUPIED = 65  # of 100, as map_server's occupied_thresh


def to_path(points: Floats, stamp: Any, frame: str = "map") -> Path:
    """The message of a path (K, 2), m; every pose looks along its leg."""
    message = Path()
    message.header.stamp, message.header.frame_id = stamp, frame
    legs = np.diff(points.astype(float), axis=0)
    headings = np.arctan2(legs[:, 1], legs[:, 0])
    for place, heading in zip(points, [*headings, *headings[-1:]] or [0.0] * len(points), strict=True):
        message.poses.append(PoseStamped(header=message.header, pose=to_pose((*place, heading))))
    return message


def to_grid(cost: Array, origin: Array, resolution: float, stamp: Any, frame: str = "map") -> OccupancyGrid:
    """The message of a costmap (rows, columns) uint8, on costmap_2d's scale: 100 lethal, 99 inscribed, -1 unknown."""
    message = OccupancyGrid()
    message.header.stamp, message.header.frame_id = stamp, frame
    message.info.map_load_time, message.info.resolution = stamp, resolution
    message.info.height, message.info.width = cost.shape
    message.info.origin = to_pose((*origin, 0.0))
    message.data = _SHARES[cost].reshape(-1).tolist()
    return message


def _shares() -> Array:
    """Of every cost, what costmap_2d publishes."""
    shares = 1 + 97 * (np.arange(256) - 1) // 251
    shares[0], shares[253], shares[254], shares[255] = 0, 99, 100, -1
    return shares.astype(np.int8)


_SHARES = _shares()


def from_grid(message: Any) -> Map:
    """The map of a ``nav_msgs/OccupancyGrid``.

    Raises:
        InputError: it is turned, or too small.
    """
    info = message.info
    x, y, heading = from_pose(info.origin)
    if heading:
        raise InputError(f"map: its origin is turned by {heading:.3f} rad; give one that is not turned")
    cells = np.asarray(message.data, np.int8).reshape(info.height, info.width)
    unknown = cells < 0
    return Map(
        name="map", resolution=info.resolution, origin=(x, y), occupied=cells >= _OCCUPIED,
        unknown=unknown if unknown.any() else None, segments=np.zeros((0, 4)), discs=np.zeros((0, 3)), polygons=(),
    )  # fmt: skip
