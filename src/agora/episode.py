"""The one episode loop: benchmark, training, replay and the ROS simulator node run it or are tested against it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.compiling import seconds_compiling
from agora.core.recording import Outcome, Recording
from agora.core.state import Array, Bools, Floats, one_robot
from agora.engine.observe import Observer
from agora.engine.recorder import Recorder
from agora.engine.records import END_OUT_OF_MAP, END_PEDESTRIAN, END_ROBOT, END_WALL, RUNNING
from agora.engine.world import EVERY_CONTACT, Engine, Layout
from agora.errors import InputError
from agora.perception.perception import Perception
from agora.planners.global_.astar import AStar
from agora.planners.lift import Unmade, call, note_contact, notes_of, reset_memory
from agora.tasks.budget import way_length
from agora.tasks.periods import Periods

if TYPE_CHECKING:
    from agora.costmap.window import Window
    from agora.interfaces import Behaviour, CostmapLayer, GlobalPlanner, Memory, SemanticWindow
    from agora.maps.grid import Map
    from agora.sensors.lidar import Lidar
    from agora.tasks.start import RobotStart, Start
    from agora.tasks.suite import Stage

PLANNER, WORLD = "a call of the planner", "a step of the world"
"""What a watchdog is told of."""

_ENDS = {"pedestrian": END_PEDESTRIAN, "wall": END_WALL, "robot": END_ROBOT, "out_of_map": END_OUT_OF_MAP}


@dataclass(frozen=True)
class Conditions:
    """What is the same for every episode of a batch.

    Attributes:
        periods: how often things happen.
        crowd: what moves simulated pedestrians: a crowd model, or several.
        behaviours: what decides where they want to go and how fast, one after the other.
        sees_pedestrians, sees_robots: whom simulated pedestrians react to.
        ends: sum of END bits (`agora.engine.records`): which contacts end an episode; the others are counted.
        remove: robots that have ended leave the world.
        lidar: of every robot; the one of the first robot's model where None.
        global_planner: makes the path. replan: s between two paths, a multiple of the control period; 0 for one to every goal.
        layers: put costs about pedestrians on the global planner's map and on local costmaps.
        outside: pedestrians come from outside (`agora.engine.world.Engine`); crowd and behaviours are not called.
        perception: what robots know of pedestrians.
        routes: pedestrians find their way round walls (`agora.engine.routes`). careful: nobody steps into a wall, a robot or a
            pedestrian whom they see (`agora.engine.careful`).
    """

    periods: Periods = field(default_factory=Periods)
    crowd: Any = None
    behaviours: tuple[Behaviour, ...] = ()
    sees_pedestrians: bool = True
    sees_robots: bool = True
    ends: int = EVERY_CONTACT
    remove: bool = False
    lidar: Lidar | None = None
    global_planner: GlobalPlanner = field(default_factory=AStar)
    replan: float = 0.0
    layers: tuple[CostmapLayer, ...] = ()
    outside: bool = False
    perception: Perception = field(default_factory=lambda: Perception("truth"))
    routes: bool = False
    careful: bool = False

    @staticmethod
    def of(stage: Stage) -> Conditions:
        """What the episodes of a stage have in common."""
        return Conditions(
            periods=stage.periods,
            crowd=tuple(named.part for named in stage.crowd.parts),
            behaviours=tuple(behaviour.part for behaviour in stage.crowd.behaviours),
            sees_pedestrians=stage.crowd.sees_pedestrians,
            sees_robots=stage.crowd.sees_robots,
            ends=sum(_ENDS[name] for name in stage.ends),
            remove=stage.after_end == "remove",
            global_planner=stage.navigation.global_planner.part,
            replan=stage.navigation.replan,
            layers=tuple(layer.part for layer in stage.navigation.layers),
            perception=stage.perception,
            routes=stage.crowd.routes,
            careful=not stage.crowd.faithful,
        )


class Batch:
    """W worlds side by side, what their robots know, and which episode each world is in: what a loop over control periods needs.

    A control period is `look`, `command`, `advance`; episodes `begin` before `look`, at multiples of `Periods.common`.

    Args:
        starts: the episodes.
        conditions: what they have in common.
        needs: what the robots know (`agora.interfaces.Need`).
        worlds: W.
        window: local costmap, where "costmap" is needed. semantics: semantic maps, where "semantics" is needed.
        threads: threads over worlds.
        slots: pedestrian slots a world; the least where 0.

    Attributes:
        engine: the worlds. observer: what their robots know.
        lidar: of every robot, None where there are no robots.
        running: (W,) number of the start that each world is in, -1 for none.
        goals: (W, R) number of the goal that each robot is on its way to.
    """

    def __init__(
        self,
        starts: Sequence[Start],
        conditions: Conditions,
        needs: Collection[str],
        worlds: int,
        *,
        window: Window | None = None,
        semantics: SemanticWindow | None = None,
        threads: int = 1,
        slots: int = 0,
    ) -> None:
        if not starts:
            raise InputError("there is no episode to run")
        self.starts, self.conditions = list(starts), conditions
        self.needs = frozenset(needs) | (frozenset() if window is None else window.needs)
        periods = conditions.periods
        self.engine = Engine(
            Layout.of(starts, worlds, periods.physics),
            [s.map for s in starts],
            dt=periods.physics,
            crowd=conditions.crowd,
            behaviours=conditions.behaviours,
            crowd_every=periods.steps("crowd"),
            sees_pedestrians=conditions.sees_pedestrians,
            sees_robots=conditions.sees_robots,
            ends=conditions.ends,
            remove=conditions.remove,
            threads=threads,
            slots=slots,
            outside=conditions.outside,
            routes=self.starts if conditions.routes else None,
            careful=conditions.careful,
        )
        self.lidar = conditions.lidar or (starts[0].robots[0].model.lidar if starts[0].robots else None)
        seen = (conditions.layers, conditions.perception)
        self.observer = Observer(self.engine, self.needs, periods.control, self.lidar, window, semantics, *seen)
        self._replan = round(conditions.replan / periods.physics) if "path" in self.needs else 0
        self.running = np.full(worlds, -1, np.int64)
        self._control, self._sensor = periods.steps("control"), periods.steps("sensor")
        self.goals = np.zeros((worlds, self.engine.layout.robots), np.int64)

    def begin(self, w: int, index: int) -> None:
        """Begin the episode of a start in world ``w``."""
        start = self.starts[index]
        self.engine.reset(w, start)
        self.running[w] = index
        self.goals[w] = 0
        for r, robot in enumerate(start.robots):
            self.observer.place(w, r, robot.model)
            self.plan_path(w, r, robot.pose, robot.goals[0])

    def look(self, worlds: Collection[int] | None = None) -> None:
        """Take the scans that are due, everywhere or in some worlds, and set the next goal of robots that arrived."""
        if self.engine.tick % self._sensor == 0:
            self.observer.scan(worlds)
        self.next_goals()

    def next_goals(self) -> None:
        """Set the next goal of robots that arrived, and the paths that are due."""
        status = self.engine.status
        for w, r in np.argwhere(status.arrived & ~status.done[:, None]):
            self.goals[w, r] += 1
            goal = self.starts[self.running[w]].robots[r].goals[self.goals[w, r]]
            status.goals_left[w, r] -= 1
            self.engine.set_goal(w, r, goal)
            self.plan_path(w, r, self.place(w, r), goal)
        if self._replan:
            due = (status.step > 0) & (status.step % self._replan == 0) & (self.running >= 0)
            for w, r in np.argwhere(due[:, None] & (status.outcome == RUNNING) & ~status.done[:, None]):
                self.plan_path(w, r, self.place(w, r), np.array([status.goal_x[w, r], status.goal_y[w, r]], float))

    def place(self, w: int, r: int) -> Array:
        """Where a robot is, (2,) m."""
        robots = self.engine.robots
        return np.array([robots.x[w, r], robots.y[w, r]], float)

    def plan_path(self, w: int, r: int, here: Array, goal: Array) -> None:
        """Give a robot, where paths are needed, the path from a place to a goal, (2,) or more, m; none where there is none."""
        if "path" in self.needs:
            self.observer.set_path(w, r, self.find_path(w, r, here, goal))

    def find_path(self, w: int, r: int, here: Array, goal: Array) -> Floats:
        """The path (K, 2) of the global planner from a place to a goal, (2,) or more, m; (0, 2) where there is none."""
        start = self.starts[self.running[w]]
        place, radius = start.map, start.robots[r].model.radius
        origin = np.asarray(place.origin, np.float32)
        scene = (place.clearance, place.resolution, origin, here[:2], goal[:2], radius)
        costs = (self.observer.layer_costs(w, r, place),) if self.conditions.layers else ()
        path = self.conditions.global_planner.path(*scene, *costs)
        return np.zeros((0, 2), np.float32) if path is None else np.asarray(path)

    @property
    def active(self) -> Bools:
        """(N,) rows that are under way."""
        status = self.engine.status
        under_way: Bools = (status.outcome == RUNNING) & ~status.done[:, None] & (self.running >= 0)[:, None]
        return under_way.reshape(-1)

    def command(self, twists: Floats, active: Bools, failed: Collection[int]) -> None:
        """Give the rows that are under way their twists (N, 3); rows that failed end as ``planner_failed``."""
        status = self.engine.status
        commands = np.where(active[:, None], twists, np.float32(0.0))
        for row in failed:
            w, r = divmod(row, self.engine.layout.robots)
            status.outcome[w, r], status.end_step[w, r] = int(Outcome.PLANNER_FAILED), status.step[w]
            commands[row] = 0.0
            status.done[w] = bool((status.outcome[w] != RUNNING).all())
        self.engine.commands[...] = commands.reshape(self.engine.commands.shape)

    def advance(self, after_step: Callable[[], None] = lambda: None) -> None:
        """Let one control period pass; ``after_step`` is called after every physics step."""
        for _ in range(self._control):
            self.engine.step()
            after_step()


class Episodes:
    """Runs starts through W worlds, refilling each world as it is done.

    The result of an episode depends on its start, the planner and the conditions alone: not on W, threads, slots or order.

    Args:
        starts: the episodes.
        planner: drives every robot.
        conditions: what they have in common.
        worlds: W; as many as there are starts where 0.
        threads: threads over worlds.
        slots: pedestrian slots a world; the least where 0.
        before, after: called around each call of the planner and each step of the world, with their name (a watchdog's heartbeat).
        unmade: number of the first call of the planner that is not made, from 1, and why; rows that are under way then fail.
    """

    def __init__(
        self,
        starts: Sequence[Start],
        planner: Any,
        conditions: Conditions,
        *,
        worlds: int = 0,
        threads: int = 1,
        slots: int = 0,
        before: Callable[[str], None] = lambda what: None,
        after: Callable[[], None] = lambda: None,
        unmade: tuple[int, str] | None = None,
    ) -> None:
        self.planner, self.conditions = planner, conditions
        self._calls, self._unmade = 0, unmade
        worlds = min(worlds or len(starts), len(starts))
        parts = {"window": getattr(planner, "window", None), "semantics": getattr(planner, "semantics", None)}
        self._batch = Batch(starts, conditions, planner.needs, worlds, **parts, threads=threads, slots=slots)
        self.engine, self.observer, self.starts = self._batch.engine, self._batch.observer, self._batch.starts
        longest = max(s.timeout for s in starts)
        length = math.ceil(longest / conditions.periods.control) + 3
        self._recorder = Recorder(self.engine, length, notes_of(planner))
        self._pending = list(range(len(starts)))[::-1]
        self._memory: Memory = {}
        self._planning: list[list[float]] = [[] for _ in range(worlds)]
        self._failure: list[dict[int, str]] = [{} for _ in range(worlds)]
        self._shortest: list[list[float]] = [[] for _ in range(worlds)]
        self._touching = np.zeros((worlds, self.engine.layout.robots), np.bool_)
        self._before, self._after = before, after

    def __iter__(self) -> Iterator[tuple[int, list[Recording]]]:
        """Yield, as each episode is done, its index among the starts and a recording of each of its robots."""
        common = self.conditions.periods.common
        self._refill()
        try:
            while self._pending or (self._batch.running >= 0).any():
                self._recorder.sample()
                yield from self._collect()
                if self.engine.tick % common == 0:
                    self._refill()
                if self.engine.status.done.all() and not self._pending:
                    continue
                self._batch.look()
                self._control()
                self._before(WORLD)
                self._batch.advance()
                self._after()
        finally:
            self.engine.close()

    def _refill(self) -> None:
        began = False
        for w in np.flatnonzero(self._batch.running < 0):
            if self._pending:
                self._begin(int(w), self._pending.pop())
                began = True
        if began:
            self._recorder.sample()

    def _begin(self, w: int, index: int) -> None:
        start = self.starts[index]
        self._batch.begin(w, index)
        self._recorder.start(w)
        self._touching[w] = self.engine.touching(w)
        self._planning[w], self._failure[w] = [], {}
        rows = np.zeros(self.observer.rows, np.bool_)
        rows[w * len(start.robots) : (w + 1) * len(start.robots)] = True
        self._memory = reset_memory(self._memory, rows)
        self._shortest[w] = [_way(start.map, robot) for robot in start.robots]

    def _control(self) -> None:
        """Ask the planner for the twists of all rows that are under way."""
        active, robots = self._batch.active, self.engine.layout.robots
        if not active.any():
            return
        observation = self.observer.observe()
        self._before(PLANNER)
        self._calls += 1
        planner = self.planner
        if self._unmade is not None and self._calls >= self._unmade[0]:
            planner = Unmade(frozenset(planner.needs), self._unmade[1])
        began, compiled = time.perf_counter(), seconds_compiling()
        ranges = self.observer.everywhere if self.engine.is_threaded else None
        twists, self._memory, failures = call(planner, observation, self._memory, active, ranges)
        share = (time.perf_counter() - began - (seconds_compiling() - compiled)) / int(active.sum())
        self._after()
        for w in np.flatnonzero(active.reshape(-1, robots).any(1)):
            self._planning[w].append(share)
        note_contact(self._memory, np.repeat(self.engine.status.step == 0, robots) & self._touching.reshape(-1))
        self._recorder.note(self._memory, active)
        self._batch.command(twists, active, failures)
        for row, reason in failures.items():
            self._failure[row // robots][row % robots] = reason

    def _collect(self) -> Iterator[tuple[int, list[Recording]]]:
        for w in np.flatnonzero((self._batch.running >= 0) & self.engine.status.done):
            index = int(self._batch.running[w])
            yield index, [self._recording(int(w), r) for r in range(self.engine.layout.robots)]
            self._batch.running[w] = -1
            self._recorder.cursor[w] = -1

    def _recording(self, w: int, r: int) -> Recording:
        engine, recorder = self.engine, self._recorder
        start = self.starts[self._batch.running[w]]
        status, model = engine.status, start.robots[r].model
        kept, times = recorder.samples_until(w, int(status.end_step[w, r]))
        samples = recorder.robots[w, kept, r].astype(np.float64)
        people = recorder.pedestrians[w, kept, :, : start.crowd_size].astype(np.float64)
        slots = slice(0, start.crowd_size)
        return Recording(
            time=times,
            pose=samples[:, :3],
            twist=samples[:, 3:],
            goal=np.array([status.goal_x[w, r], status.goal_y[w, r], status.goal_heading[w, r]], np.float64),
            goal_tolerance=start.goal_tolerance,
            radius=model.radius,
            max_speed=float(model.limits(1).max_vx[0]),
            pedestrian_position=np.stack([people[:, 0], people[:, 1]], -1),
            pedestrian_velocity=np.stack([people[:, 2], people[:, 3]], -1),
            pedestrian_heading=people[:, 4],
            pedestrian_present=recorder.present[w, kept, slots].copy(),
            pedestrian_radius=engine.traits.radius[w, slots].astype(np.float64),
            pedestrian_id=engine.traits.id[w, slots].copy(),
            pedestrian_group=recorder.group[w, kept, slots].copy(),
            contacts=recorder.contacts(w, r),
            outcome=Outcome(status.outcome[w, r]),
            timeout=start.timeout,
            shortest_path=self._shortest[w][r],
            reference_path=start.reference_path,
            map=start.map,
            planning_time=np.asarray(self._planning[w][: len(times) - 1]),
            clipped=int(status.clipped[w, r]),
            failure=self._failure[w].get(r, ""),
            pedestrian_state=recorder.states[w, kept, slots].astype(np.int32) if engine.has_behaviours else None,
            robot=one_robot(engine.robot_traits, w, r),
            command_delay=model.command_delay,
            door=recorder.door[w, kept].astype(np.float64) if start.map.door is not None else None,
            **recorder.noted(w, r, kept),
        )


def _way(place: Map, robot: RobotStart) -> float:
    """The length of a shortest way from a robot's start to its first goal, m."""
    if robot.legs is not None:
        return float(robot.legs[0])
    return way_length(place, robot.pose[:2], robot.goals[0, :2], robot.model)
