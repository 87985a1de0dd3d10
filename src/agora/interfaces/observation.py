"""Observations: what planners and interplanners know, for N robots at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from agora.core.semantics import ATTRIBUTES
from agora.core.state import Array, Floats, Ints
from agora.errors import nearest
from agora.interfaces.channel import Reading
from agora.robots.limits import Limits
from agora.world.tracks import Tracks


@dataclass(frozen=True, eq=False)
class Costmap:
    """Costs of the cells around each robot (costmap_2d's scale: 254 lethal, 253 inscribed, 255 unknown, 0 free).

    Attributes:
        cost: (N, H, W) uint8, costs of the cells.
        origin: (N, 2) lower-left corner, m.
        resolution: side length of a cell, m.
    """

    cost: Array
    origin: Floats
    resolution: float


@dataclass(frozen=True)
class SemanticWindow:
    """The semantic maps that a planner needs, as parameters of the "semantics" channel.

    Attributes:
        attributes: names of the attributes, from `agora.core.semantics.ATTRIBUTES`.
        size: side length of the maps, m.
        resolution: side length of a cell, m.
    """

    channel: ClassVar[str] = "semantics"

    attributes: tuple[str, ...] = ("pedestrian", "pedestrian_moving", "pedestrian_vel_x", "pedestrian_vel_y", "pedestrian_type")
    size: float = 20.0
    resolution: float = 0.25

    def __post_init__(self) -> None:
        for name in self.attributes:
            if name not in ATTRIBUTES:
                raise ValueError(f"attributes: no semantic attribute called {name!r}; {nearest(name, ATTRIBUTES)}")
        if not (0 < self.resolution <= self.size and self.cells <= 1024):
            raise ValueError(f"size and resolution must give 1 to 1024 cells a side, got {self.size} and {self.resolution}")

    @property
    def cells(self) -> int:
        """Number of cells along a side."""
        return round(self.size / self.resolution)


@dataclass(frozen=True, eq=False)
class SemanticMaps:
    """Semantic attributes of the pedestrians around each robot; 0 in cells without pedestrians.

    Attributes:
        evidence: (N, A, H, W): for each cell, the evidence with the largest absolute value among the pedestrians in the cell.
        attributes: names of the A attributes.
        origin: (N, 2) lower-left corner, m; the cells are aligned with a lattice through (0, 0).
        resolution: side length of a cell, m.
    """

    evidence: Floats
    attributes: tuple[str, ...]
    origin: Floats
    resolution: float


def _view(channel: str, shared: bool = False) -> Any:
    """Return a dataclass field that holds a channel, or None if the channel is not needed. If ``shared``, all rows have the same
    value, and the array has no axis N.
    """
    return field(default=None, metadata={"channel": channel, "shared": shared})


@dataclass(frozen=True, eq=False)
class Observation:
    """The knowledge of N robots at a given instant.

    A planner declares the channels that it needs; the fields of all other channels are None.

    Attributes:
        pose: (N, 3) x, y and heading in the map frame, m and rad.
        twist: (N, 3) vx, vy and omega in the robot's frame, m/s and rad/s.
        goal: (N, 3) pose to reach, map frame, m and rad.
        radius: (N,) radius of the disc around the footprint, m.
        footprint: (N, V, 2) corners of the robot's outline in the robot's frame, m. Rows with fewer corners repeat the last corner;
            all values are zero for a disc, and V = 0 if all robots are discs.
        limits: velocity and acceleration limits of the robots, (N,) each.
        dt: control period, s.
        goal_tolerance: (N,) distance to the goal within which it counts as reached, m.
        heading_tolerance: (N,) tolerance on the goal heading, rad; any heading is accepted if it is None, or pi or more.
        path: (N, K, 2) global path, m; after ``path_count`` points, the last point is repeated.
        path_count: (N,) number of points of the path.
        pedestrians: nearby pedestrians (the "pedestrians" channel).
        robots: nearby robots (the "robots" channel).
        scan: (N, B) measured ranges, m.
        scan_angles: (B,) angles of the beams in the sensor's frame, rad.
        scan_pose: (3,) pose of the sensor in the robot's frame, m and rad.
        scan_range: maximum range, m.
        costmap: local costmap around the robot.
        semantics: semantic maps around the robot.
        sensors: readings of other channels, keyed by channel name: ``observation.sensors["depth_row"]["depth"]``.
    """

    pose: Floats
    twist: Floats
    goal: Floats
    radius: Floats
    footprint: Floats
    limits: Limits
    dt: float
    goal_tolerance: Floats | None = None
    heading_tolerance: Floats | None = None
    path: Floats | None = _view("path")
    path_count: Ints | None = _view("path")
    pedestrians: Tracks | None = _view("pedestrians")
    robots: Tracks | None = _view("robots")
    scan: Floats | None = _view("scan")
    scan_angles: Floats | None = _view("scan", shared=True)
    scan_pose: Floats | None = _view("scan", shared=True)
    scan_range: float | None = _view("scan")
    costmap: Costmap | None = _view("costmap")
    semantics: SemanticMaps | None = _view("semantics")
    sensors: Mapping[str, Reading] = field(default_factory=dict)


VIEWS: dict[str, str] = {one.name: one.metadata["channel"] for one in fields(Observation) if "channel" in one.metadata}
"""The channel shown by each field of an `Observation`; fields that are not listed do not need a channel."""
