"""Topics about pedestrians for costmaps and RViz: semantic points, a point cloud, grids and markers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import rospy
from crowdsim_msgs.msg import SemanticData, SemanticDatum
from geometry_msgs.msg import Point
from nav_msgs.msg import OccupancyGrid
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header
from visualization_msgs.msg import MarkerArray

from agora.config import build_component, parse_parameters
from agora.core.semantics import ATTRIBUTES
from agora.core.state import Array
from agora.engine.semantics import layer_costs, semantic_points
from agora.errors import InputError
from agora.node_logic.crowd import Crowd
from agora_pedsim.markers import cleared, markers

_NAME = "pedsim_simulator"
_SEMANTIC = tuple(name for name in ATTRIBUTES if "." not in name)
_LETHAL = 254.0  # lethal cost on costmap_2d's scale, published as 100 in an OccupancyGrid
_LAYERS = ("personal_space", "visibility", "semantic(attribute=pedestrian)")


class PeopleTopics:
    """Publishes the topics that have subscribers: the semantic points at every step, all others ``~people_rate`` times per second
    (default 10).

    ``~layers`` names the costmap layers, with parameters in brackets; one grid is published per layer. Grids cover the episode's
    map.
    """

    def __init__(self) -> None:
        self._period = 1.0 / max(0.1, float(rospy.get_param("~people_rate", 10.0)))
        self._spacing = float(rospy.get_param("~cloud_spacing", 0.05))
        self._height = float(rospy.get_param("~cloud_height", 0.5))
        self._next = 0.0
        self._semantic = SemanticTopics()
        self._slow: list[tuple[Any, Callable[[Crowd, Header], Any]]] = [
            (self._publisher("people_cloud", PointCloud2), self._cloud),
            (self._publisher("people_grid", OccupancyGrid), lambda crowd, header: grid(crowd, header, _discs(crowd))),
            (self._publisher("people_markers", MarkerArray), markers),
        ]
        self._markers = self._slow[-1][0]
        for text in rospy.get_param("~layers", list(_LAYERS)):
            self._add_layer(text)

    @staticmethod
    def _publisher(topic: str, kind: Any) -> Any:
        return rospy.Publisher(f"{_NAME}/{topic}", kind, queue_size=1)

    def _add_layer(self, text: str) -> None:
        name, _, rest = str(text).partition("(")
        try:
            layer = build_component("costmap_layers", {"name": name, **parse_parameters(rest.rstrip(")"), text)}, text).part
        except InputError as error:
            rospy.logerr("crowd: parameter ~layers: %s; left out", error)
            return

        def make(crowd: Crowd, header: Header) -> OccupancyGrid:
            costs = layer_costs(crowd.world, 0, (layer,), crowd.start.map)
            return grid(crowd, header, np.rint(costs * (100.0 / _LETHAL)).astype(np.int8))

        self._slow.append((self._publisher(f"{name}_grid", OccupancyGrid), make))

    def forget(self) -> None:
        """Remove the markers from RViz before another episode."""
        self._next = 0.0
        if self._markers.get_num_connections():
            self._markers.publish(cleared())

    def publish(self, crowd: Crowd, header: Header) -> None:
        """Publish the current generation."""
        self._semantic.publish(crowd, header)
        if crowd.time + 1e-9 < self._next:
            return
        self._next = crowd.time + self._period
        for publisher, make in self._slow:
            if publisher.get_num_connections():
                publisher.publish(make(crowd, header))

    def _cloud(self, crowd: Crowd, header: Header) -> PointCloud2:
        """Return points on each pedestrian's disc, at a height that an obstacle layer accepts."""
        now, radius = crowd.pedestrians, crowd.traits.radius[0]
        pieces = [np.zeros((0, 3), np.float32)]
        for k in crowd.slots.tolist():
            ticks = np.arange(-np.ceil(radius[k] / self._spacing), np.ceil(radius[k] / self._spacing) + 1) * self._spacing
            x, y = (axis.ravel() for axis in np.meshgrid(ticks, ticks))
            inside = x * x + y * y <= radius[k] ** 2
            place = np.column_stack([now.x[0, k] + x[inside], now.y[0, k] + y[inside]])
            pieces.append(np.column_stack([place, np.full(len(place), self._height)]).astype(np.float32))
        points = np.concatenate(pieces)
        fields = [PointField(name, 4 * n, PointField.FLOAT32, 1) for n, name in enumerate("xyz")]
        return PointCloud2(
            header=header, height=1, width=len(points), fields=fields, is_bigendian=False, point_step=12, row_step=12 * len(points),
            data=points.astype("<f4").tobytes(), is_dense=True,
        )  # fmt: skip


class SemanticTopics:
    """Publishes ``crowdsim_agents/semantic/<attribute>``: the library's semantic points, in the map frame."""

    def __init__(self) -> None:
        self._publishers = {
            name: rospy.Publisher(f"crowdsim_agents/semantic/{name}", SemanticData, queue_size=1, tcp_nodelay=True)
            for name in _SEMANTIC
        }

    def publish(self, crowd: Crowd, header: Header) -> None:
        """Publish the attributes that have subscribers."""
        for name, publisher in self._publishers.items():
            if publisher.get_num_connections():
                found = semantic_points(crowd.world, 0, name)
                rows = zip(found.location.tolist(), found.evidence.tolist(), strict=True)
                publisher.publish(header, [SemanticDatum(Point(x, y, 0.0), evidence) for (x, y), evidence in rows], name)


def grid(crowd: Crowd, header: Header, values: Array) -> OccupancyGrid:
    """Return an OccupancyGrid over the crowd's map with values (rows, columns) from 0 to 100."""
    place = crowd.start.map
    message = OccupancyGrid(header=header, data=values.ravel().tolist())
    info = message.info
    info.resolution, info.map_load_time = place.resolution, header.stamp
    info.height, info.width = place.shape
    info.origin.position.x, info.origin.position.y = place.origin
    info.origin.orientation.w = 1.0
    return message


def _discs(crowd: Crowd) -> Array:
    """Return a grid with 100 in the cells that pedestrians cover (at least the cell of their centre), and 0 elsewhere."""
    place, now = crowd.start.map, crowd.pedestrians
    values = np.zeros(place.shape, np.int8)
    for k in crowd.slots.tolist():
        centre, radius = np.array([now.x[0, k], now.y[0, k]], float), float(crowd.traits.radius[0, k])
        rows, columns = place.cell_of(np.array([centre - radius, centre + radius]))
        rows, columns = np.clip(rows, 0, place.shape[0] - 1), np.clip(columns, 0, place.shape[1] - 1)
        near = np.ogrid[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1]
        places = place.centre_of(*np.broadcast_arrays(*near))
        inside = np.hypot(*np.moveaxis(places - centre, -1, 0)) <= radius
        values[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1][inside] = 100
        row, column = (int(n) for n in place.cell_of(centre))
        if 0 <= row < place.shape[0] and 0 <= column < place.shape[1]:
            values[row, column] = 100
    return values
