"""Observations of robots at time t, as rows: row ``w * R + r`` is robot r of world w. Every call reuses the arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from agora.core.jit import bind, lean_kernel
from agora.core.state import Array, Doubles, Floats, read_only
from agora.costmap.layers import attributes_of, bind_layers
from agora.costmap.obstacles import Beams, Seen, put
from agora.costmap.window import Window, corners_again, fill
from agora.engine.perceive import Perceiver
from agora.engine.scanner import Scanner
from agora.engine.semantics import SemanticReader, put_layers
from agora.engine.sensing import Sensing
from agora.errors import InputError
from agora.interfaces import Channel, Costmap, CostmapLayer, Limits, Observation, SemanticWindow
from agora.interfaces.channel import Reading, Sensor, channels_of
from agora.perception.perception import Perception
from agora.perception.tracker import empty_tracks

if TYPE_CHECKING:
    from agora.maps.grid import Map
    from agora.robots.model import RobotModel
    from agora.sensors.lidar import Lidar
    from agora.world.world import World


@lean_kernel
def _gather(robots, status, pose, twist, goal, first, last):
    count = robots.x.shape[1]
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            pose[n, 0], pose[n, 1], pose[n, 2] = robots.x[w, r], robots.y[w, r], robots.heading[w, r]
            twist[n, 0], twist[n, 1], twist[n, 2] = robots.vx[w, r], robots.vy[w, r], robots.omega[w, r]
            goal[n, 0], goal[n, 1], goal[n, 2] = status.goals.x[w, r], status.goals.y[w, r], status.goals.heading[w, r]


@lean_kernel
def _gather_robots(robots, traits, position, velocity, radius, present, identity, first, last):
    count = robots.x.shape[1]
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            q = 0
            for other in range(count):
                if other == r:
                    continue
                position[n, q, 0], position[n, q, 1] = robots.x[w, other], robots.y[w, other]
                velocity[n, q, 0], velocity[n, q, 1] = robots.world_vx[w, other], robots.world_vy[w, other]
                radius[n, q], present[n, q] = traits.radius[w, other], robots.active[w, other]
                identity[n, q] = other
                q += 1


_Part = TypeVar("_Part", Window, SemanticWindow)


def _parameters(channels: Mapping[str, Channel | None], kind: type[_Part]) -> _Part | None:
    """A channel with its parameters, the default ones where it is only named; None where it is not needed."""
    if kind.channel not in channels:
        return None
    given = channels[kind.channel]
    return given if isinstance(given, kind) else kind()


BUILT_IN = frozenset({"path", "pedestrians", "robots", "scan", "costmap", "semantics"})
"""Channels that the library itself knows; the others are sensors."""


class Observer:
    """Makes the observations of a batch's robots for one planner.

    Args:
        world: the worlds.
        needs: the channels that the planner reads; sensors with their parameters.
        control: control period, s.
        lidar: sensor of every robot, where "scan" is needed.
        layers: put costs about pedestrians on the local costmap, and on the maps of `layer_costs`.
        perception: the robots' knowledge of pedestrians.
        record: channels that are measured for a recording; planners are not told of them.

    Attributes:
        rows: N. limits: of the robots. lidar: as given. ranges: (N, B) the last scan, m.
        now: s, on the clock of `receive_scan`; None where scans are those of the world.
    """

    def __init__(
        self,
        world: World,
        needs: Collection[str | Channel],
        control: float,
        lidar: Lidar | None = None,
        layers: Sequence[CostmapLayer] = (),
        perception: Perception | None = None,
        record: Collection[str | Channel] = (),
    ) -> None:
        self._channels, self._recorded = channels_of(needs), channels_of(record)
        channels = self._channels
        window = _parameters(channels, Window)
        semantics = _parameters(channels, SemanticWindow)
        self._world, self._control, self.lidar = world, control, lidar
        worlds, count = world.layout.worlds, world.layout.robots
        rows, corners = worlds * count, world.layout.corners
        self.rows = rows
        self.now: float | None = None
        self._pose, self._twist, self._goal = (np.zeros((rows, 3), np.float32) for _ in range(3))
        self._radius = np.zeros(rows, np.float32)
        self._footprint = np.zeros((rows, corners, 2), np.float32)
        self.limits = Limits(np.zeros(rows, np.bool_), *(np.zeros(rows, np.float32) for _ in range(8)))
        self._path, self._path_count = np.zeros((rows, 1, 2), np.float32), np.zeros(rows, np.int32)
        chosen, others = perception or Perception("truth"), max(count - 1, 0)
        about_people = "pedestrians" in channels or window is not None or semantics is not None or bool(layers)
        tracked = about_people and chosen.source == "tracked"
        self._robots = empty_tracks(rows, others) if "robots" in channels or window is not None or tracked else None
        self._people = Perceiver(world, chosen, lidar, self._pose, self._robots) if about_people else None
        self.ranges = np.zeros((rows, 0 if lidar is None else lidar.beams), np.float32)
        self._scan_angles = np.zeros(0, np.float32) if lidar is None else lidar.angles
        self._scan_pose = np.zeros(3, np.float32) if lidar is None else np.array([lidar.x, lidar.y, lidar.heading], np.float32)
        self._scanner: Scanner | None = None
        self._bound = [self._bind(g) for g in (0, 1)]
        self._window = window
        self._seen = self._see(window) if window is not None and "scan" in window.sources else None
        measured = self._recorded | channels
        self._sensing = {name: Sensing(world, one) for name, one in measured.items() if isinstance(one, Sensor)}
        self._layers = tuple(layers)
        self._layer_reader = self._read(attributes_of(layers)) if layers else None
        self._semantics = None if semantics is None else self._read(semantics.attributes, semantics)
        self._costmap = None if window is None else self._bind_window(window)

    def _bind(self, generation: int) -> list[Any]:
        world = self._world
        robots = world.generation(generation)[1]
        calls = [bind(_gather, robots, world.status, self._pose, self._twist, self._goal)]
        if (t := self._robots) is not None:
            calls.append(bind(_gather_robots, robots, world.robot_traits, t.position, t.velocity, t.radius, t.present, t.id))
        return calls

    def _read(self, attributes: tuple[str, ...], window: SemanticWindow | None = None) -> SemanticReader:
        """What reads attributes of the pedestrians that the robots know of."""
        people = self._people
        assert people is not None
        return SemanticReader(self._world, attributes, people.tracks, window, people.names_slots)

    def _bind_window(self, window: Window) -> Costmap:
        """Make the local costmaps and fix the arguments of what fills them; other robots are marked as pedestrians are."""
        world, others = self._world, self._robots
        assert self._people is not None and others is not None
        people = self._people.tracks
        self._map_index = np.zeros(self.rows, np.int32)
        self._inscribed = np.zeros(self.rows, np.float32)
        self._moving = (
            empty_tracks(self.rows, people.radius.shape[1] + others.radius.shape[1]) if others.radius.shape[1] else people
        )
        cost = np.zeros((self.rows, window.cells, window.cells), np.uint8)
        origin = np.zeros((self.rows, 2), np.float32)
        moving = (self._moving.position, self._moving.radius, self._moving.present)
        self._put_layers: list[Any] = []
        if (reader := self._layer_reader) is not None:
            told = (people.position, people.velocity, reader.heading, reader.evidence, people.present)
            self._put_layers = bind_layers(self._layers, *told, cost, origin, window.resolution)
        self._fill = bind(fill, world.maps, self._map_index, window.filling, self._pose, self._inscribed, *moving, cost, origin)
        if self._seen is not None:
            corners = (self._corners[..., 0], self._corners[..., 1])
            robots = (world.maps, self._map_index, self._pose, self._inscribed, *corners)
            self._put = bind(put, window.filling, *robots, self._beams, self._seen, cost, origin)
        return Costmap(read_only(cost), read_only(origin), window.resolution)

    def _see(self, window: Window) -> Seen:
        """Make the memory of what lidars have seen."""
        lidar = self.lidar
        if lidar is None:
            raise InputError("sources: the local costmap is made from the scan, and the robots have no lidar")
        f = np.float32
        angles = self._scan_angles.astype(np.float64) + lidar.heading
        self._beams = Beams(
            *(np.cos(angles).astype(f), np.sin(angles).astype(f), f(lidar.x), f(lidar.y), f(lidar.range_min), f(lidar.range_max)),
            *(f(window.obstacle_range), f(window.raytrace_range), np.bool_(window.inf_is_valid)),
        )
        self._corners = window.corners(self._footprint, self._radius).copy()
        return Seen.of(self.rows, window.cells, self.ranges)

    def _fill_window(self) -> None:
        others = self._robots
        assert self._people is not None and others is not None
        people = self._people.tracks
        self._map_index.reshape(-1, self._world.layout.robots)[...] = self._world.maps.index[:, None]
        if self._moving is not people:
            for name in ("position", "radius", "present"):
                getattr(self._moving, name)[...] = np.concatenate([getattr(people, name), getattr(others, name)], axis=1)
        self.everywhere(self._fill)
        if self._seen is not None:
            self.everywhere(self._put)
        if self._layer_reader is not None:
            self._layer_reader.read()
            for put in self._put_layers:
                put(0, self.rows)

    def everywhere(self, work: Callable[[int, int], Any]) -> None:
        """Call a function for ranges of rows, on the world's threads."""
        count = self._world.layout.robots
        self._world.threads.everywhere(lambda first, last: work(first * count, last * count))

    def layer_costs(self, world: int, robot: int, place: Map) -> Array:
        """Return the costs (rows, columns) uint8 that layers put on the whole map, by what a robot knows of pedestrians now."""
        assert self._people is not None and self._layer_reader is not None
        row = slice(n := world * self._world.layout.robots + robot, n + 1)
        t, reader = self._people.read(self._time), self._layer_reader
        reader.read()
        seen = (t.position[row], t.velocity[row], reader.heading[row], reader.evidence[:, row], t.present[row])
        return put_layers(self._layers, *seen, place)

    @property
    def _time(self) -> Doubles:
        """The moment (N,) of each row, s: of the episode, or ``now``."""
        if self.now is not None:
            return np.full(self.rows, self.now)
        step = self._world.status.clock.step.astype(np.float64)
        return np.repeat(step * self._world.dt, self._world.layout.robots)

    def place(self, world: int, robot: int, model: RobotModel) -> None:
        """Say which robot a row is."""
        n = world * self._world.layout.robots + robot
        self._radius[n] = model.radius
        if self._people is not None:
            self._people.forget(n)
        self._footprint[n] = corners_again(np.array(model.footprint), self._footprint.shape[1]) if model.footprint else 0.0
        if self._window is not None:
            self._inscribed[n] = self._window.inscribed(model.inscribed_radius)
        if self._window is not None and self._seen is not None:
            own = self._window.corners(self._footprint[n : n + 1], self._radius[n : n + 1])[0]
            self._corners[n] = corners_again(own, self._corners.shape[1])
        self.forget_obstacles(world, robot)
        for mine, its in zip(vars(self.limits).values(), vars(model.limits(1)).values(), strict=True):
            mine[n] = its[0]

    def forget(self) -> None:
        """Know of no pedestrian but by what is scanned from now on."""
        if self._people is not None:
            for row in range(self.rows):
                self._people.forget(row)

    def forget_obstacles(self, world: int, robot: int) -> None:
        """Clear what a row's lidar has put on its costmap."""
        if self._seen is not None:
            n = world * self._world.layout.robots + robot
            self._seen.begun[n] = self._seen.fresh[n] = self._seen.blind[n] = False

    def set_path(self, world: int, robot: int, path: Floats | Doubles) -> None:
        """Give a row its global path (K, 2); (0, 2) for none."""
        n = world * self._world.layout.robots + robot
        k = len(path)
        if k > self._path.shape[1]:
            grown = np.zeros((self.rows, 2 * k, 2), np.float32)
            grown[:, : self._path.shape[1]] = self._path
            grown[:, self._path.shape[1] :] = self._path[:, -1:]
            self._path = grown
        self._path_count[n] = k
        self._path[n, :k] = path
        self._path[n, k:] = path[-1] if k else 0

    def path(self, world: int, robot: int) -> Floats:
        """The global path (K, 2) of a row, m; (0, 2) for none."""
        n = world * self._world.layout.robots + robot
        return self._path[n, : self._path_count[n]].copy()

    def receive_scan(self, world: int, robot: int, ranges: Floats, time: float) -> None:
        """Give a row the ranges (B,) of a scan that was taken elsewhere at ``time``, s; it stays until the next."""
        n = world * self._world.layout.robots + robot
        self.ranges[n] = ranges
        self._scanned(slice(n, n + 1), time)

    def scan(self, worlds: Collection[int] | None = None) -> None:
        """Measure now what sensors measure, everywhere or in some worlds; it stays until the next time."""
        for sensing in self._sensing.values():
            sensing.take(worlds)
        if self.lidar is None or not self.reads_scans:
            return
        if self._scanner is None:
            layout = self._world.layout
            self._scanner = Scanner(self._world, self.lidar, self.ranges.reshape(layout.worlds, layout.robots, -1))
        self._scanner.scan(worlds)
        if self._seen is not None or (self._people is not None and self._people.reads_scans):
            count = self._world.layout.robots
            for rows in [slice(0, self.rows)] if worlds is None else [slice(w * count, (w + 1) * count) for w in worlds]:
                self._scanned(rows, self._time)

    @property
    def reads_pedestrians(self) -> bool:
        """Whether it matters where pedestrians are: to the planner, to a local costmap that marks them, or to layers."""
        marked = self._window is not None and "people" in self._window.sources
        return bool(marked or {"pedestrians", "semantics"} & self._channels.keys() or self._layers)

    @property
    def reads_scans(self) -> bool:
        """Whether scans are needed: by the planner, or to know of pedestrians."""
        return (
            "scan" in self._recorded | self._channels
            or self._seen is not None
            or (self._people is not None and self._people.reads_scans)
        )

    def recorded(self, name: str) -> Reading:
        """Return the last readings of a recorded channel, arrays (N, ...); the next measurement overwrites them."""
        return {"ranges": self.ranges} if name == "scan" else self._sensing[name].reading

    def _scanned(self, rows: slice, time: Doubles | float) -> None:
        """Note where the robots of some rows are at their new scan, for the obstacle layer, and what it shows of pedestrians."""
        if self._seen is not None:
            robots = self._world.robots
            for axis, name in enumerate(("x", "y", "heading")):
                self._seen.pose[rows, axis] = getattr(robots, name).reshape(-1)[rows]
            self._seen.fresh[rows] = True
        if self._people is not None and self._people.reads_scans:
            self._gather()
            self._people.scanned(rows, self.ranges, time)

    def _gather(self) -> None:
        """Read where the robots are."""
        for call in self._bound[self._world.now]:
            call(0, self._world.layout.worlds)

    def observe(self) -> Observation:
        """Return what every row knows now."""
        self._gather()
        if self._people is not None:
            self._people.read(self._time)
        if self._costmap is not None:
            self._fill_window()
        if self._semantics is not None:
            self._semantics.read()
        seen = self._channels
        lidar = self.lidar if "scan" in seen else None
        return Observation(
            pose=read_only(self._pose),
            twist=read_only(self._twist),
            goal=read_only(self._goal),
            radius=read_only(self._radius),
            footprint=read_only(self._footprint),
            limits=self.limits,
            dt=self._control,
            goal_tolerance=read_only(self._world.status.goals.tolerance.reshape(-1)),
            heading_tolerance=read_only(self._world.status.goals.heading_tolerance.reshape(-1)),
            path=read_only(self._path) if "path" in seen else None,
            path_count=read_only(self._path_count) if "path" in seen else None,
            pedestrians=self._people.tracks if self._people is not None and "pedestrians" in seen else None,
            robots=self._robots if "robots" in seen else None,
            scan=read_only(self.ranges) if lidar is not None else None,
            scan_angles=read_only(self._scan_angles) if lidar is not None else None,
            scan_pose=read_only(self._scan_pose) if lidar is not None else None,
            scan_range=lidar.range_max if lidar is not None else None,
            costmap=self._costmap if "costmap" in seen else None,
            semantics=None if self._semantics is None else self._semantics.maps(),
            sensors={name: sensing.reading for name, sensing in self._sensing.items() if name in seen},
        )
