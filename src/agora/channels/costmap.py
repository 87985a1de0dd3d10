"""The "costmap" channel: the local costmap around each robot."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from agora.channels.attributes import Attributes, rows_of
from agora.channels.rows import flat, tracks_of
from agora.core.jit import bind
from agora.core.state import Doubles, Floats, read_only
from agora.costmap.layers import attributes_of, bind_layers
from agora.costmap.obstacles import Seen, TrustedBeams, put_obstacles
from agora.costmap.window import Window, fill_windows, repeat_corners
from agora.errors import InputError
from agora.interfaces import Bound, Channel, Costmap, CostmapLayer, Field, Setting, Source
from agora.optics.lidar import Lidar
from agora.perception.tracker import empty_tracks

if TYPE_CHECKING:
    from agora.robots.model import RobotModel


@dataclass(frozen=True)
class LocalCostmap:
    """Local costmaps with one kind of window.

    Attributes:
        window: size and sources of the window.
        layers: layers that add costs around pedestrians, from the stage.
        attributes: attributes that the layers read.
        lidar: lidar of the robot, if its scans are used to fill the window.
    """

    channel: ClassVar[str] = Window.channel

    window: Window = field(default_factory=Window)
    layers: tuple[CostmapLayer, ...] = ()
    attributes: Attributes | None = None
    lidar: Lidar | None = None

    @staticmethod
    def from_setting(given: Any, setting: Setting) -> LocalCostmap:
        """Return the requested window, with the layers of the stage."""
        window = given.window if isinstance(given, LocalCostmap) else given or Window()
        layers = tuple(setting.layers)
        attributes = Attributes.under(setting, attributes_of(layers)) if layers else None
        return LocalCostmap(window, layers, attributes, setting.lidar if window.needs else None)

    @property
    def shows_walls(self) -> bool:
        """True if the window shows the walls of the map."""
        return bool(self.window.filling.walls)

    @property
    def needs(self) -> Collection[str | Channel]:
        """Return the channels that fill the window, besides the map."""
        people = ("pedestrians", "robots") if self.window.filling.people else ()
        return (*self.window.needs, *people, *(() if self.attributes is None else ("pedestrians", self.attributes)))

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields: costs (H, H) and the lower-left corner (2,), m."""
        cells = self.window.cells
        return {"cost": Field((cells, cells), low=0.0, high=255.0, kind=np.uint8), "origin": Field((2,), "m", "map")}

    def check_lidar(self) -> None:
        """Check that the robots have a lidar if lidar scans fill the window.

        Raises:
            InputError: the robots do not have a lidar.
        """
        if self.window.needs and self.lidar is None:
            raise InputError("sources: the local costmap is built from the scan, but the robots have no lidar")

    def bind(self, source: Source) -> Bound:
        """Return the costmaps of a batch.

        Raises:
            InputError: scans fill the window, but the robots do not have a lidar.
        """
        self.check_lidar()
        maps = Costmaps(self, source)
        measure = None if maps.seen is None else maps.measure
        return Bound(maps.reading, measure, maps.read, maps.begin, lambda: maps.shown, maps, heavy=True)


class Costmaps:
    """The local costmaps of a batch. Other robots are marked in the same way as pedestrians.

    Args:
        channel: settings of the costmaps.
        source: the worlds and the channels that the costmaps need.

    Attributes:
        reading: (W, R, ...) arrays of the fields.
        shown: costmaps that observations expose.
        seen: obstacles seen by lidars; None if the window does not use scans.
    """

    def __init__(self, channel: LocalCostmap, source: Source) -> None:
        world, window, told = source.world, channel.window, source.readings
        self._world, self._source, self._window, self._count = world, source, window, world.layout.robots
        rows, corners = world.layout.worlds * self._count, world.layout.corners
        self.reading = source.room(channel.fields)
        cost, origin = (flat(array) for array in self.reading.values())
        self.shown = {"costmap": Costmap(read_only(cost), read_only(origin), window.resolution)}
        self._map_index, self._inscribed = np.zeros(rows, np.int32), np.zeros(rows, np.float32)
        pose = flat(source.pose)
        nobody = empty_tracks(rows, 0)
        self._people = tracks_of(told["pedestrians"]) if window.filling.people else nobody
        self._others = tracks_of(told["robots"]) if window.filling.people else nobody
        slots, others = self._people.radius.shape[1], self._others.radius.shape[1]
        self._moving = empty_tracks(rows, slots + others) if others else self._people
        moving = (self._moving.position, self._moving.radius, self._moving.present)
        self._calls = [
            bind(fill_windows, world.maps, self._map_index, window.filling, pose, self._inscribed, *moving, cost, origin)
        ]
        self.seen: Seen | None = None
        if channel.lidar is not None:
            self._when: Doubles = np.full(rows, np.nan)
            self.seen = Seen.of(rows, window.cells, flat(told["scan"]["ranges"]))
            self._corners = window.corners(np.zeros((rows, corners, 2), np.float32), np.zeros(rows, np.float32)).copy()
            outlines = (self._corners[..., 0], self._corners[..., 1])
            robots = (world.maps, self._map_index, pose, self._inscribed, *outlines)
            self._calls.append(bind(put_obstacles, window.filling, *robots, _beams(channel.lidar, window), self.seen, cost, origin))
        if channel.attributes is not None:
            t, (heading, evidence) = tracks_of(told["pedestrians"]), rows_of(told[Attributes.channel])
            about = (t.position, t.velocity, heading, evidence, t.present)
            self._calls += bind_layers(channel.layers, *about, cost, origin, window.resolution)

    def begin(self, world: int, robot: int, model: RobotModel) -> None:
        """Set the outline of the robot in a new episode, and clear the obstacles seen so far."""
        n = world * self._count + robot
        self._inscribed[n] = self._window.inscribed(model.inscribed_radius)
        if self.seen is not None:
            outline = np.zeros((1, self._world.layout.corners, 2), np.float32)
            if model.footprint:
                outline[0] = repeat_corners(np.array(model.footprint), outline.shape[1])
            own = self._window.corners(outline, np.full(1, model.radius, np.float32))[0]
            self._corners[n] = repeat_corners(own, self._corners.shape[1])
            self._when[n] = np.nan
            self.clear(world, robot)

    def clear(self, world: int, robot: int) -> None:
        """Clear the obstacles that a robot's lidar has added to its costmap."""
        if self.seen is not None:
            n = world * self._count + robot
            self.seen.begun[n] = self.seen.fresh[n] = self.seen.blind[n] = False

    def measure(self, first: int, last: int) -> None:
        """Store the new scans and the robots' poses in worlds ``first <= w < last``."""
        assert self.seen is not None
        rows = slice(first * self._count, last * self._count)
        time = flat(self._source.measured[first:last])
        fresh = np.isfinite(time) & (time != self._when[rows])
        pose: Floats = flat(self._source.pose[first:last])
        self.seen.pose[rows][fresh] = pose[fresh]
        self.seen.fresh[rows] |= fresh
        self._when[rows] = time

    def read(self, first: int, last: int) -> None:
        """Fill the windows in worlds ``first <= w < last``."""
        begin, end = first * self._count, last * self._count
        self._map_index[begin:end] = np.repeat(self._world.maps.index[first:last], self._count)
        if self._moving is not self._people:
            slots = self._people.radius.shape[1]
            for name in ("position", "radius", "present"):
                moving = getattr(self._moving, name)[begin:end]
                moving[:, :slots] = getattr(self._people, name)[begin:end]
                moving[:, slots:] = getattr(self._others, name)[begin:end]
        for call in self._calls:
            call(begin, end)


def _beams(lidar: Lidar, window: Window) -> TrustedBeams:
    """Return the lidar in the form that the obstacle layer uses."""
    f = np.float32
    angles = lidar.angles.astype(np.float64) + lidar.heading
    return TrustedBeams(
        *(np.cos(angles).astype(f), np.sin(angles).astype(f), f(lidar.x), f(lidar.y), f(lidar.range_min), f(lidar.range_max)),
        *(f(window.obstacle_range), f(window.raytrace_range), np.bool_(window.inf_is_valid)),
    )
