"""Converts places to ROS messages: occupancy grids, distances in cells, and furniture."""

from __future__ import annotations

from typing import Any

import numpy as np
from agora_ros.conversions import to_pose
from nav_msgs.msg import MapMetaData, OccupancyGrid

from agora.core.state import Array
from agora.maps.distance import steps_to
from agora.maps.grid import Map
from agora.maps.place import Place
from agora_msgs.msg import MapObstacle, MapObstacles
from agora_msgs.srv import GetDistanceMapResponse

_FREE, _OCCUPIED, _UNKNOWN = 0, 100, -1  # of nav_msgs/OccupancyGrid


def occupancy(place: Map) -> Array:
    """Return the occupancy (rows, columns) int8, with the values of nav_msgs/OccupancyGrid; shapes are rasterised into cells."""
    cells = np.where(place.cells, np.int8(_OCCUPIED), np.int8(_FREE))
    if place.unknown is not None:
        cells[place.unknown & ~place.cells] = _UNKNOWN
    return cells


def to_metadata(place: Map, stamp: Any) -> MapMetaData:
    """Return a message with size, resolution and origin of a map. The shortest decimal representation of the resolution, which is
    sent as float32, is the map's resolution.
    """
    rows, columns = place.shape
    origin = to_pose((*place.origin, 0.0))
    return MapMetaData(map_load_time=stamp, resolution=place.resolution, width=columns, height=rows, origin=origin)


def to_grid(place: Map, stamp: Any) -> OccupancyGrid:
    """Return a message with the cells of a map."""
    grid = OccupancyGrid(info=to_metadata(place, stamp), data=occupancy(place).ravel().tolist())
    grid.header.stamp, grid.header.frame_id = stamp, "map"
    return grid


def to_distance_map(place: Map, stamp: Any) -> GetDistanceMapResponse:
    """Return a message with the distance of each cell from the nearest cell that is not free, in cells, counted as in Arena 3.0."""
    steps = steps_to(occupancy(place) != _FREE)
    answer = GetDistanceMapResponse(info=to_metadata(place, stamp), data=steps.ravel().tolist())
    answer.header.stamp, answer.header.frame_id = stamp, "map"
    return answer


def to_obstacles(place: Place) -> MapObstacles:
    """Return a message with the furniture of a place."""
    pieces = [MapObstacle(f.model, to_pose((f.x, f.y, f.heading))) for f in place.furniture]
    return MapObstacles(data=occupancy(place.map).ravel().tolist(), obstacles=pieces)
