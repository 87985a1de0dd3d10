"""The batched world: W worlds side by side, advanced by kernels, refilled one by one.

One step, the same everywhere: everybody reads generation t; crowd and robots are advanced to t + dt; contacts are swept; the
generations are swapped. Sensors are computed when somebody reads them (`Engine.scan`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from agora.core import state
from agora.core.jit import bind
from agora.core.state import Bools, Floats, Pedestrians, Robots, Waypoints
from agora.engine import records
from agora.engine.crowd import EngineCrowd, Part, Work
from agora.engine.doors import Doors
from agora.engine.pedestrian_kernels import settle, start_replayed
from agora.engine.records import END_OUT_OF_MAP, END_PEDESTRIAN, END_ROBOT, END_WALL
from agora.engine.robot_kernels import advance_robots, find_touching
from agora.engine.routes import Routing
from agora.engine.scene import CrowdReader
from agora.errors import InputError
from agora.maps.store import build_store
from agora.seeds import key_of

if TYPE_CHECKING:
    from agora.interfaces import AnyCrowdModel, Behaviour
    from agora.maps.grid import Map
    from agora.sensors.lidar import Lidar
    from agora.tasks.start import Start

_Scanner = tuple[Floats, list[Work]]
EVERY_CONTACT = END_PEDESTRIAN | END_WALL | END_ROBOT | END_OUT_OF_MAP
_WALKING = state.SOCIAL_STATES.index("walking")
_PER_THREAD = 16  # worlds below which a thread costs more than it brings
_PARTS = 4  # ranges of worlds for each thread: who is done, or has a core for itself, takes the next


@dataclass(frozen=True)
class Layout:
    """Sizes of a batch's arrays.

    Attributes:
        worlds: W. robots: R in each. pedestrians: most in one world. waypoints: most of one pedestrian.
        corners: most of a polygon footprint. knots: most of the recordings of one world. delay: longest command delay, steps.
    """

    worlds: int
    robots: int = 1
    pedestrians: int = 0
    waypoints: int = 1
    corners: int = 0
    knots: int = 0
    delay: int = 0

    @staticmethod
    def of(starts: Sequence[Start], worlds: int, dt: float) -> Layout:
        """The sizes that hold any of the starts.

        Raises:
            InputError: the starts differ in their number of robots.
        """
        counts = {len(s.robots) for s in starts}
        if len(counts) > 1:
            raise InputError(f"one batch holds starts with {sorted(counts)} robots; a batch has the same number in every world")
        models = [r.model for s in starts for r in s.robots]
        return Layout(
            worlds=worlds,
            robots=counts.pop() if counts else 0,
            pedestrians=max((s.crowd_size for s in starts), default=0),
            waypoints=max((s.pedestrians.waypoints.shape[1] for s in starts), default=1),
            corners=max((len(m.footprint) for m in models), default=0),
            knots=max((0 if s.replay is None else len(s.replay.knot_time) for s in starts), default=0),
            delay=max((round(m.command_delay / dt) for m in models), default=0),
        )


class Engine:
    """W worlds of pedestrians and robots.

    Args:
        layout: sizes.
        maps: every map that a world may be given.
        dt: physics step, s.
        crowd: what moves simulated pedestrians: a model, or several, of which a start says by number whom each of them moves
            (`agora.engine.crowd`); None leaves them where they are.
        behaviours: what decides where they want to go and how fast, one after the other, before the crowd model is called.
        crowd_every: physics steps between two calls of the crowd model.
        sees_pedestrians, sees_robots: whom simulated pedestrians react to.
        ends: sum of END bits, what ends a robot's episode.
        remove: robots that have ended leave the world.
        threads: threads over worlds; results do not depend on it.
        slots: pedestrian slots a world, a multiple of `state.PADDING`; the least that hold the layout where not given.
        outside: pedestrians come from outside: before every `step` somebody writes `next_pedestrians`, and neither crowd models nor
            behaviours are called.
        is_fed: forces from outside may act on simulated pedestrians (``fed``).
        routes: every episode that a world may be given, where pedestrians find their way round walls (`agora.engine.routes`); None
            where they walk straight to their waypoints.
        careful: nobody steps into a wall, a robot or a pedestrian whom they see (`agora.engine.careful`).
    """

    def __init__(
        self,
        layout: Layout,
        maps: Sequence[Map],
        *,
        dt: float,
        crowd: AnyCrowdModel | Sequence[AnyCrowdModel] | None = None,
        behaviours: Sequence[Behaviour] = (),
        crowd_every: int = 1,
        sees_pedestrians: bool = True,
        sees_robots: bool = True,
        ends: int = EVERY_CONTACT,
        remove: bool = False,
        threads: int = 1,
        slots: int = 0,
        outside: bool = False,
        is_fed: bool = False,
        routes: Sequence[Start] | None = None,
        careful: bool = False,
    ) -> None:
        self.layout, self.dt, self.crowd_every, self.tick = layout, dt, crowd_every, 0
        self.slots = max(slots, state.padded(layout.pedestrians))
        worlds, count = layout.worlds, layout.robots
        different = list({id(m): m for m in maps}.values())
        self._map_index = {id(m): k for k, m in enumerate(different)}
        self._kept_maps = different
        self.maps = build_store([*different, *Doors.stages(different)], [0] * worlds)
        self.traits = state.traits(worlds, self.slots)
        self.waypoints = state.waypoints(worlds, self.slots, layout.waypoints)
        self.minds = state.minds(worlds, self.slots)
        self.robot_traits = state.robot_traits(worlds, count, layout.corners)
        self.status = records.status(worlds, count, self.slots, delay=layout.delay)
        self.replay = records.replay(worlds, self.slots, max(layout.knots * worlds, 1))
        self.rules = records.Rules(np.array([ends], np.int32), np.array([int(remove)], np.int32))
        self.commands = np.zeros((worlds, count, 3), np.float32)
        self._generations = [state.pedestrians(worlds, self.slots) for _ in range(2)]
        self._robots = [state.robots(worlds, count) for _ in range(2)]
        self._now = 0
        self.sees_pedestrians, self.sees_robots = sees_pedestrians, sees_robots
        self._outside = outside
        self.routing = None if routes is None or outside else Routing(self, routes, crowd_every)
        self.doors = Doors(self, different) if any(m.door is not None for m in different) else None
        self._behaviours = [] if outside else [behaviour.attach(self) for behaviour in behaviours]
        self._helpers = threads - 1 if worlds >= threads * _PER_THREAD else 0
        self._pool = ThreadPoolExecutor(self._helpers) if self._helpers > 0 else None
        edges = np.linspace(0, worlds, _PARTS * threads + 1).astype(int)
        self._ranges = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        models = () if crowd is None else tuple(crowd) if isinstance(crowd, Sequence) else (crowd,)
        self._crowd = EngineCrowd(models, self, crowd_every, sees_pedestrians, sees_robots, is_fed, careful)
        self._bind()
        self._scanners: dict[Lidar, _Scanner] = {}
        self._scanner: tuple[Lidar, Floats, list[Work]] | None = None

    @property
    def pedestrians(self) -> Pedestrians:
        """Generation t of the pedestrians."""
        return self._generations[self._now]

    @property
    def next_pedestrians(self) -> Pedestrians:
        """Generation t + dt of the pedestrians: what the next step writes, or reads where they come from outside."""
        return self._generations[1 - self._now]

    @property
    def goals(self) -> Waypoints:
        """The waypoints as crowd models read them: with routes, the current one is where somebody walks to now."""
        return self.waypoints if self.routing is None else self.routing.goals

    @property
    def has_behaviours(self) -> bool:
        """Whether anything decides what pedestrians want."""
        return bool(self._behaviours)

    @property
    def fed(self) -> records.Fed | None:
        """Forces from outside on the pedestrians; None where there cannot be any."""
        return self._crowd.fed

    @property
    def robots(self) -> Robots:
        """Generation t of the robots."""
        return self._robots[self._now]

    def generation(self, number: int) -> tuple[Pedestrians, Robots]:
        """One of the two generations, 0 or 1, of pedestrians and robots: what a behaviour reads."""
        return self._generations[number], self._robots[number]

    def _bind(self) -> None:
        """Fix what a step does, for both directions of the swap: where the crowd models are not due, and where they are."""
        walls = np.zeros((self.layout.worlds, self.layout.robots), np.float32)
        self._plans: list[tuple[list[Callable[[], None]], list[Callable[[], None]]]] = []
        for now in (0, 1):
            think: list[Part] = [behaviour.think(now) for behaviour in self._behaviours]
            if self._behaviours:
                think.insert(0, bind(settle, self.traits, self.waypoints, self.minds, self.status))
            if self.routing is not None:
                think.append(self.routing.part(now, int(self.sees_pedestrians) + 2 * int(self.sees_robots)))
            people, robots = self._generations[now], self._robots[now]
            robots_move = bind(
                advance_robots, np.float32(self.dt), robots, self._robots[1 - now], self.robot_traits, self.maps, people,
                self._generations[1 - now], self.traits, self.status, self.rules, self.commands, walls,
            )  # fmt: skip
            compute, move = ([], []) if self._outside else (self._crowd.compute(now), self._crowd.move(now))
            self._plans.append((self._plan([*move, robots_move]), self._plan([*think, *compute, *move, robots_move])))

    def _plan(self, parts: list[Part]) -> list[Callable[[], None]]:
        """Parts of a step as calls: kernels that follow each other in one, which runs them world by world."""
        calls: list[Callable[[], None]] = []
        for is_reader, some in itertools.groupby(parts, lambda part: isinstance(part, CrowdReader)):
            if is_reader:
                calls += [cast(CrowdReader, reader).compute for reader in some]
            else:
                calls.append(functools.partial(self.everywhere, *cast(Iterator[Work], some)))
        return calls

    def step(self, commands: Floats | None = None) -> None:
        """Advance every world that is not done by one physics step.

        Args:
            commands: (W, R, 3) twists in the robots' frames, m/s and rad/s; the last ones where not given.
        """
        if commands is not None:
            self.commands[...] = commands
        if self.doors is not None:
            self.doors.step()
        for call in self._plans[self._now][self.tick % self.crowd_every == 0]:
            call()
        self._now = 1 - self._now
        self.tick += 1

    @property
    def is_threaded(self) -> bool:
        """Whether `everywhere` uses several threads."""
        return self._pool is not None

    def everywhere(self, *kernels: Work) -> None:
        """Run kernels, one after the other, on every world, on this thread and the helpers."""
        if self._pool is None:
            for kernel in kernels:
                kernel(0, self.layout.worlds)
            return
        ranges = iter(self._ranges)

        def take() -> None:
            for first, last in ranges:
                for kernel in kernels:
                    kernel(first, last)

        helpers = [self._pool.submit(take) for _ in range(self._helpers)]
        take()
        for helper in helpers:
            helper.result()

    def scan(self, lidar: Lidar, worlds: Iterable[int] | None = None) -> Floats:
        """Return the ranges (W, R, B) that a lidar on every robot measures now, m, without noise; overwritten by the next call.

        Args:
            lidar: on every robot.
            worlds: which are scanned; the ranges of the others stay as they are. All where None.
        """
        if self._scanner is None or self._scanner[0] is not lidar:
            self._scanner = lidar, *self._scanner_of(lidar)
        _, out, bound = self._scanner
        scanner = bound[self._now]
        if worlds is not None:
            for w in worlds:
                scanner(w, w + 1)
        else:
            self.everywhere(scanner)
        return out

    def _scanner_of(self, lidar: Lidar) -> _Scanner:
        """Where a lidar's ranges go, and its kernel for either generation."""
        if lidar not in self._scanners:
            out = np.zeros((self.layout.worlds, self.layout.robots, lidar.beams), np.float32)
            bound = [
                lidar.bind(self._generations[g], self.traits, self._robots[g], self.robot_traits, self.maps, out) for g in (0, 1)
            ]
            self._scanners[lidar] = out, bound
        return self._scanners[lidar]

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world; the others go on.

        Args:
            world: number of the world.
            start: the episode; its map is one of the engine's.
        """
        now, status, w = self.pedestrians, self.status, world
        self.maps.index[w] = self._map_index[id(start.map)]
        if self.doors is not None:
            self.doors.reset(w, start.map)
        status.key[w] = key_of(start.entry, start.seed, "waypoints")
        status.step[w], status.time_limit[w] = 0, round(start.timeout / self.dt)
        status.done[w], status.outcome[w], status.end_step[w] = False, records.RUNNING, 0
        for cleared in (status.clipped, status.queue, status.arrived, status.touching_pedestrian, status.touching_wall):
            cleared[w] = 0
        status.touching_robot[w], status.events[w] = False, 0
        for field in (*now, *(self.fed or ())):
            field[w] = 0
        self.traits.radius[w], self.traits.speed[w], self.traits.group[w], self.traits.id[w] = 0.3, 1.0, -1, -1
        self.traits.count[w] = start.crowd_size
        self._reset_simulated(w, start)
        self._reset_replayed(w, start)
        self._reset_robots(w, start)
        for behaviour in self._behaviours:
            behaviour.reset(w, start)
        if self.routing is not None:
            self.routing.reset(w, start)

    def _reset_simulated(self, w: int, start: Start) -> None:
        crowd, now, goals = start.pedestrians, self.pedestrians, self.waypoints
        n = len(crowd.id)
        now.x[w, :n], now.y[w, :n] = crowd.position.T
        now.vx[w, :n], now.vy[w, :n] = crowd.velocity.T
        now.active[w, :n] = True
        self._crowd.assign(w, crowd)
        self.traits.radius[w, :n], self.traits.speed[w, :n] = crowd.radius, crowd.speed
        self.traits.group[w, :n], self.traits.id[w, :n] = crowd.group, crowd.id
        goals.count[w], goals.index[w] = 0, 0
        length = crowd.waypoints.shape[1]
        goals.list_x[w, :n, :length], goals.list_y[w, :n, :length] = crowd.waypoints[..., 0], crowd.waypoints[..., 1]
        goals.x[w, :n], goals.y[w, :n] = crowd.waypoints[:, 0].T
        goals.count[w, :n], goals.mode[w, :n], goals.tolerance[w, :n] = crowd.waypoint_count, crowd.mode, crowd.tolerance
        now.heading[w, :n] = crowd.heading
        moving = np.hypot(*crowd.velocity.T) > 0
        now.heading[w, :n][moving] = np.arctan2(crowd.velocity[moving, 1], crowd.velocity[moving, 0])
        minds = self.minds
        minds.type[w], minds.reaction[w], minds.state[w], minds.speed[w] = 0, 0, _WALKING, 1.0
        minds.type[w, :n], minds.reaction[w, :n], minds.state[w, :n] = crowd.type, crowd.reaction, crowd.state
        minds.stress[w], minds.energy[w], minds.social[w], minds.partner[w] = 0.0, 0.5, 0.5, -1
        minds.speed[w, :n] = crowd.speed
        minds.taken[w] = False

    def _reset_replayed(self, w: int, start: Start) -> None:
        replay, first = self.replay, len(start.pedestrians.id)
        replay.first[w], replay.last[w], replay.cursor[w], replay.period[w], replay.phase[w] = 0, -1, 0, 0.0, 0.0
        if start.replay is None:
            return
        recorded = start.replay
        n, offset, knots = len(recorded.id), w * self.layout.knots, len(recorded.knot_time)
        replay.time[offset : offset + knots] = recorded.knot_time
        replay.x[offset : offset + knots], replay.y[offset : offset + knots] = recorded.knot_x, recorded.knot_y
        slots = slice(first, first + n)
        replay.first[w, slots], replay.last[w, slots] = recorded.first[:-1] + offset, recorded.first[1:] + offset - 1
        replay.cursor[w, slots], replay.period[w, slots] = replay.first[w, slots], recorded.period
        if start.replay_phase.size:
            replay.phase[w, slots] = start.replay_phase
        self.traits.radius[w, slots], self.traits.id[w, slots] = start.replay_radius, recorded.id
        self.traits.group[w, slots] = recorded.group
        start_replayed(np.float64(self.dt), self.pedestrians, self.traits, replay, w)

    def _reset_robots(self, w: int, start: Start) -> None:
        robots, status = self.robots, self.status
        for field in robots:
            field[w] = 0
        for r, robot in enumerate(start.robots):
            robots.x[w, r], robots.y[w, r], robots.heading[w, r] = robot.pose
            robots.active[w, r] = True
            robot.model.fill(self.robot_traits, w, r)
            status.delay[w, r] = round(robot.model.command_delay / self.dt)
            status.goals_left[w, r] = len(robot.goals) - 1
            self.set_goal(w, r, robot.goals[0])
        status.tolerance[w], status.heading_tolerance[w] = start.goal_tolerance, start.heading_tolerance

    def set_goal(self, world: int, robot: int, goal: Floats) -> None:
        """Give a robot its current goal (3,): x, y, heading."""
        status = self.status
        status.goal_x[world, robot], status.goal_y[world, robot], status.goal_heading[world, robot] = goal
        status.arrived[world, robot] = False

    def touching(self, world: int) -> Bools:
        """Which robots (R,) of a world touch a wall, a pedestrian or another robot now."""
        found = np.zeros((self.layout.worlds, self.layout.robots), np.bool_)
        find_touching(self.robots, self.robot_traits, self.maps, self.pedestrians, self.traits, found, world, world + 1)
        row: Bools = found[world]
        return row

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
