"""Observations of robots at time t, in rows: row ``w * R + r`` is robot r of world w. The arrays are reused at every call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from agora.channels.rows import flat
from agora.channels.scan import HeldScans
from agora.core.jit import bind, lean_kernel
from agora.core.state import Array, Doubles, Floats, read_only
from agora.costmap.window import repeat_corners
from agora.interfaces import Bound, Limits, Observation, Provider, Reading, Source

if TYPE_CHECKING:
    from agora.engine.wiring import Wiring
    from agora.interfaces.channel import Offer
    from agora.maps.grid import Map
    from agora.robots.model import RobotModel
    from agora.world.threads import Work
    from agora.world.world import World

_Part = TypeVar("_Part")


@lean_kernel
def _gather(robots, status, pose, twist, goal, first, last):
    count = robots.x.shape[1]
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            pose[n, 0], pose[n, 1], pose[n, 2] = robots.x[w, r], robots.y[w, r], robots.heading[w, r]
            twist[n, 0], twist[n, 1], twist[n, 2] = robots.vx[w, r], robots.vy[w, r], robots.omega[w, r]
            goal[n, 0], goal[n, 1], goal[n, 2] = status.goals.x[w, r], status.goals.y[w, r], status.goals.heading[w, r]


class Observer:
    """Produces the observations of a batch's robots for one planner.

    Args:
        world: state of the worlds.
        wiring: channels of the robots.
        control: control period, s.
        offers: channels that the simulator measures, keyed by channel name.

    Attributes:
        rows: number of rows, N.
        limits: limits of the robots.
        wiring: channels of the robots.
        bound: channels bound to the batch, each after the channels that it needs.
        now: current time on the clock of the external scans (`receive_scan`), s; None if scans are computed from the world.
    """

    def __init__(self, world: World, wiring: Wiring, control: float, offers: Mapping[str, Offer] | None = None) -> None:
        self._world, self._control, self.wiring = world, control, wiring
        worlds, count = world.layout.worlds, world.layout.robots
        self.rows = rows = worlds * count
        self.now: float | None = None
        self._pose, self._twist, self._goal = (np.zeros((rows, 3), np.float32) for _ in range(3))
        self._models: list[RobotModel | None] = [None] * rows
        self._radius = np.zeros(rows, np.float32)
        self._footprint = np.zeros((rows, world.layout.corners, 2), np.float32)
        self.limits = Limits(np.zeros(rows, np.bool_), *(np.zeros(rows, np.float32) for _ in range(8)))
        own = (world.status, self._pose, self._twist, self._goal)
        self._gather = [bind(_gather, world.generation(g)[1], *own) for g in (0, 1)]
        self._measured: Doubles = np.full((worlds, count), np.nan)
        self._moment: Doubles = np.zeros((worlds, count))
        self.bound: dict[Provider, Bound] = {}
        pose = self._pose.reshape(worlds, count, 3)
        for provider, needs in wiring.order:
            readings = {name: self.bound[need].reading for name, need in needs}
            parts = {name: self.bound[need].part for name, need in needs}
            self.bound[provider] = provider.bind(Source(world, readings, pose, self._time, self._measured, offers or {}, parts))
        self._measures = self._measuring_work()
        self._reads = [bound.read for bound in self.bound.values() if bound.read is not None]
        self._heavy = any(bound.heavy for bound in self.bound.values())
        self._shown = [(name, self.bound[provider]) for name, provider in wiring.shown]

    def _measuring_work(self) -> list[Work]:
        """Return the work to do once per sensor period: the channels that measure, each after the non-measuring channels that it
        needs.
        """
        measuring = [provider for provider, bound in self.bound.items() if bound.measure is not None]
        wanted = {one for provider in measuring for one in self.wiring.with_needs(provider)}
        works = [bound.measure or bound.read for provider, bound in self.bound.items() if provider in wanted]
        return [work for work in works if work is not None]

    def part(self, kind: type[_Part]) -> _Part | None:
        """Return the object of a given class that implements a channel; None if no such channel is needed."""
        return next((bound.part for bound in self.bound.values() if isinstance(bound.part, kind)), None)

    def everywhere(self, work: Callable[[int, int], Any]) -> None:
        """Divide the worlds among the threads, and call a function with each range of rows, as (first, last)."""
        count = self._world.layout.robots
        self._world.threads.everywhere(lambda first, last: work(first * count, last * count))

    def layer_costs(self, world: int, robot: int, place: Map) -> Array:
        """Return the costs (rows, columns) uint8 that the layers add to the whole map for the pedestrians that a robot knows of."""
        layered = self.wiring.layered
        assert layered is not None
        for provider in self.wiring.with_needs(layered):
            if (read := self.bound[provider].read) is not None:
                read(0, self._world.layout.worlds)
        costs: Array = self.bound[layered].part(world * self._world.layout.robots + robot, self.wiring.layers, place)
        return costs

    def _time(self) -> Doubles:
        """Return the time (W, R) of each robot, s: the episode's time, or ``now``."""
        if self.now is not None:
            self._moment[...] = self.now
        else:
            np.multiply(self._world.status.clock.step[:, None], self._world.dt, out=self._moment)
        return self._moment

    def place(self, world: int, robot: int, model: RobotModel) -> None:
        """Set the robot model in a robot's row at the start of an episode, and reset the row's measurements and channels."""
        n = world * self._world.layout.robots + robot
        if self._models[n] is not model:
            self._models[n], self._radius[n] = model, model.radius
            self._footprint[n] = repeat_corners(np.array(model.footprint), self._footprint.shape[1]) if model.footprint else 0.0
            for mine, its in zip(vars(self.limits).values(), vars(model.limits(1)).values(), strict=True):
                mine[n] = its[0]
        self._measured[world, robot] = np.nan
        for bound in self.bound.values():
            if bound.begin is not None:
                bound.begin(world, robot, model)

    def measure(self, worlds: Collection[int] | None = None) -> None:
        """Measure the channels that are due at the sensor period, in all or some worlds; readings remain valid until the next
        measurement.
        """
        if not self._measures:
            return
        self._gather_present_poses()
        if worlds is None:
            self._measured[...] = self._time()
            self._world.threads.everywhere(*self._measures)
        else:
            some = sorted(worlds)
            self._measured[some] = self._time()[some]
            self._world.threads.at(worlds, *self._measures)

    @property
    def scans(self) -> HeldScans | None:
        """Return the robots' scans; None if no planner reads them."""
        return self.part(HeldScans)

    def receive_scan(self, world: int, robot: int, ranges: Floats, time: float) -> None:
        """Set a robot's scan to the ranges (B,) of an external scan taken at ``time``, in seconds; the scan is used until the next
        one arrives.
        """
        assert self.scans is not None
        self.scans.reading["ranges"][world, robot] = ranges
        self._gather_present_poses()
        self._measured[world, robot] = time
        for work in self._measures:
            work(world, world + 1)

    def recorded_readings(self, world: int, robot: int) -> dict[str, Reading]:
        """Return copies of the latest readings of a robot's recorded channels, keyed by channel name."""
        found = {name: self.bound[provider].reading for name, provider in self.wiring.recorded}
        return {name: {key: array[world, robot].copy() for key, array in reading.items()} for name, reading in found.items()}

    def _gather_present_poses(self) -> None:
        """Read the current poses of the robots."""
        self._gather[self._world.now](0, self._world.layout.worlds)

    def observe(self) -> Observation:
        """Return the observation: everything that the robot of each row currently knows."""
        self._gather_present_poses()
        if self._heavy:
            self._world.threads.everywhere(*self._reads)
        else:
            for read in self._reads:
                read(0, self._world.layout.worlds)
        shown: dict[str, Any] = {}
        sensors: dict[str, Reading] = {}
        for name, bound in self._shown:
            if bound.views is not None:
                shown |= bound.views()
            else:
                sensors[name] = {key: read_only(flat(array)) for key, array in bound.reading.items()}
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
            sensors=sensors,
            **shown,
        )
