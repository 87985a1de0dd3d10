"""The navigation stack for the robots of one externally simulated world: global planner, interplanner and local planner.

It keeps the records of one world without simulating it: the poses of robots and pedestrians, and lidar scans, come from outside. In
lock step with a simulator, it returns the same twists as `agora.episode.Episodes`, bit for bit.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agora.channels.costmap import Costmaps, LocalCostmap
from agora.channels.path import GlobalPath
from agora.channels.pedestrians import KnownPedestrians
from agora.channels.robots import OtherRobots
from agora.channels.scan import HeldScans, Scan, received
from agora.core import state
from agora.core.state import Array, Bools, Doubles, Floats, Minds, Pedestrians, Robots, Traits
from agora.costmap.inflation import INSCRIBED, inflate
from agora.engine.conditions import Conditions
from agora.engine.observe import Observer
from agora.engine.observers import Observers
from agora.engine.paths import Paths
from agora.engine.rules import touching_robots
from agora.engine.standing import Standing
from agora.engine.wiring import Wiring
from agora.errors import InputError
from agora.interfaces import Answer, Memory, Observation, Setting
from agora.maps.grid import Map
from agora.node_logic.background_planning import BackgroundPlanner
from agora.node_logic.decision import Decision, Led
from agora.planners.adapters import declaration_of, record_contact
from agora.planners.guided import GuidedPlanner
from agora.planners.memory import reset, without_seen
from agora.robots.model import RobotModel
from agora.world.start import GOAL_TOLERANCE, PedestrianStarts, RobotStart, Start
from agora.world.world import World

__all__ = ["Navigator"]

_BROUGHT = (GlobalPath, LocalCostmap, OtherRobots, KnownPedestrians, Scan)
"""Channels whose data comes from outside or from the map. Channels derived from them are also available."""

_NEVER = -math.inf
_ENDLESS = 1e6  # s


class _People(NamedTuple):
    """The records of a navigator's pedestrians (W = 1), which callers may write."""

    now: Pedestrians
    traits: Traits
    minds: Minds


class Navigator:
    """Drives the robots of one world, based on messages about their state.

    Args:
        start: start of the episode; its robots and pedestrians stay at their start positions until the first observations arrive.
        conditions: conditions of the stage.
        planner: planner that drives every robot.
        names: names of the robots, for messages.
        room: minimum number of slots for pedestrians.
        patience: maximum age of a pose or scan, s, beyond which the robot stops; infinite in lock step.
        has_goals: whether the robots start towards the episode's first goals.
        background: executor that replans paths periodically while the robots follow their current paths; without an executor,
            planning blocks.

    Attributes:
        names: names of the robots, as given, or derived from the models.
        needs: channels that the planner reads, and the sources of the planner's costmap.
    """

    def __init__(
        self,
        start: Start,
        conditions: Conditions,
        planner: Any,
        *,
        names: Sequence[str] = (),
        room: int = 0,
        patience: float = math.inf,
        has_goals: bool = True,
        background: Executor | None = None,
    ) -> None:
        self._start, self._planner, self._patience = start, planner, patience
        count = len(start.robots)
        self.names = tuple(names) or tuple(f"{robot.model.name}_{r}" for r, robot in enumerate(start.robots))
        self.needs = declaration_of(planner).channels
        periods, slots = conditions.periods, state.padded_slots(max(room, start.crowd_size))
        self._conditions, self._world = conditions, World.of([start], dt=periods.physics, slots=slots)
        self._world.reset(0, start)
        models = [robot.model for robot in start.robots]
        self._observers = Observers(self._world, planner.declares.needs, conditions, models, offers={Scan.channel: received})
        for provider, needs in (one for kind in self._observers.kinds for one in kind.order):
            if not needs and not isinstance(provider, _BROUGHT):
                raise InputError(f"channel {provider.channel}: no topic provides it for a robot in another simulator")
        self._watch = Standing(self._world, periods.control)
        self._place()
        self._paths = Paths(self._world, self._observers, conditions)
        self._paths.begin(0, start)
        self._background = BackgroundPlanner(self._paths, self.goal, background)
        self._goal, self._has_goal = np.zeros(count, np.int64), np.full(count, has_goals)
        self._placed, self._scanned = (np.full(count, _NEVER) for _ in range(2))
        self._memory: Memory = {}
        self._before: Memory = {}
        self._seen: tuple[Observation, ...] = ()
        self._time = _NEVER
        self._reach = np.array([[robot.model.top_speed, robot.model.radius] for robot in start.robots])
        self._stood = self._places()
        self._led = np.zeros(len(start.robots), np.bool_)
        self._window: Observer | None = None

    @staticmethod
    def on_map(
        place: Map,
        models: Sequence[RobotModel],
        planner: Any,
        conditions: Conditions | None = None,
        *,
        names: Sequence[str] = (),
        room: int = 64,
        patience: float = 0.5,
        background: Executor | None = None,
        goal_tolerance: float = GOAL_TOLERANCE,
        heading_tolerance: float = math.pi,
    ) -> Navigator:
        """Return a navigator for real robots, without an episode; the robots stand still until they receive goals (`set_goal`)."""
        here = np.array([*(np.asarray(place.origin) + 0.5 * place.resolution), 0.0])
        robots = tuple(RobotStart(model, here, here[None]) for model in models)
        start = Start("navigation", 0, place, robots, PedestrianStarts.none(), _ENDLESS, goal_tolerance, heading_tolerance)
        how = conditions or Conditions()
        return Navigator(start, how, planner, names=names, room=room, patience=patience, has_goals=False, background=background)

    @property
    def map(self) -> Map:
        """The map of the world."""
        return self._start.map

    @property
    def robots(self) -> Robots:
        """The robots of the world; callers that know the exact state of all robots may write it directly (`observed`)."""
        return self._world.robots

    @property
    def control(self) -> float:
        """Control period, s."""
        return self._conditions.periods.control

    @property
    def sensor(self) -> float:
        """Sensor period, the time between two scans, s."""
        return self._conditions.periods.sensor

    def beams(self, robot: int) -> int:
        """Return the number of beams in a robot's scan; 0 if the planner does not read scans."""
        scans = self._scans(robot)
        return 0 if scans is None or scans.lidar is None else scans.lidar.beams

    def _scans(self, robot: int) -> HeldScans | None:
        """Return the scans of the robots with the same lidar as this robot; None if the planner does not read scans."""
        return self._observers.of(robot).scans

    def _place(self) -> None:
        """Place the robots at their starts, without memory of earlier robots."""
        self._watch.begin(0, self._start.map)
        for r, robot in enumerate(self._start.robots):
            self._observers.place(0, r, robot.model)

    @property
    def danger_threshold(self) -> float:
        """Level of danger above which the interplanner warns."""
        return float(self._planner.declares.danger_threshold)

    @property
    def reads_pedestrians(self) -> bool:
        """True if the planner's channels depend on pedestrians."""
        return any(isinstance(one, KnownPedestrians) for kind in self._observers.kinds for one, _ in kind.order)

    def people(self, count: int) -> _People:
        """Return the pedestrians' records, to which ``count`` pedestrians can be written.

        Raises:
            InputError: there are too few slots.
        """
        if count > self._world.slots:
            raise InputError(f"pedestrians: expected at most {self._world.slots}, got {count}; raise max_pedestrians")
        return _People(self._world.pedestrians, self._world.traits, self._world.minds)

    def see_robot(self, robot: int, pose: ArrayLike, twist: ArrayLike, time: float) -> None:
        """Record a robot's pose (3,) in the map frame and its twist (3,) in the robot's frame at ``time``, in seconds.

        Raises:
            InputError: a number is non-finite.
        """
        x, y, heading = np.asarray(pose, np.float32)
        vx, vy, omega = np.asarray(twist, np.float32)
        if not np.isfinite((x, y, heading, vx, vy, omega)).all():
            raise InputError(f"odometry of {self.names[robot]}: contains a non-finite value")
        robots, cosine, sine = self.robots, np.cos(heading), np.sin(heading)
        values = {"x": x, "y": y, "heading": heading, "vx": vx, "vy": vy, "omega": omega}
        values |= {"world_vx": cosine * vx - sine * vy, "world_vy": sine * vx + cosine * vy, "active": True}
        for name, value in values.items():
            getattr(robots, name)[0, robot] = value
        self._placed[robot] = time

    def observed(self, time: float) -> None:
        """Declare that `robots` holds the exact state at ``time``, in seconds."""
        self._placed[:] = time

    def see_scan(self, robot: int, ranges: ArrayLike, time: float) -> None:
        """Record the ranges (B,) of a scan, m; +inf and NaN mean no return, -inf means too close to measure (REP 117).

        Raises:
            InputError: the number of beams differs from the robot's lidar, or more than half of the values are NaN.
        """
        scans = self._scans(robot)
        if scans is None or (lidar := scans.lidar) is None:
            return
        measured = np.asarray(ranges, np.float32)
        if measured.shape != (lidar.beams,):
            raise InputError(f"scan of {self.names[robot]}: expected {lidar.beams} beams, got {measured.size}")
        lost = np.isnan(measured)
        if 2 * int(lost.sum()) > lidar.beams:
            raise InputError(f"scan of {self.names[robot]}: {int(lost.sum())} of {lidar.beams} beams are NaN")
        near = np.where(np.isneginf(measured), np.float32(lidar.range_min), measured)
        self._observers.of(robot).receive_scan(0, robot, np.where(np.isfinite(near), near, np.float32(lidar.range_max)), time)
        self._scanned[robot] = time

    def set_goal(self, robot: int, goal: ArrayLike) -> None:
        """Give a robot a goal (3,), and plan a path to it."""
        self._world.set_goal(0, robot, np.asarray(goal, np.float64))
        self._has_goal[robot] = True
        self.replan(robot)

    def tolerate(self, robot: int, distance: float, heading: float) -> None:
        """Set the tolerances of a robot's goal: distance in metres, and heading in radians (pi accepts any heading)."""
        goals = self._world.status.goals
        goals.tolerance[0, robot], goals.heading_tolerance[0, robot] = distance, heading

    def drop_goal(self, robot: int) -> None:
        """Remove a robot's goal, so that the robot stops."""
        self._has_goal[robot] = False

    def goal(self, robot: int) -> Array | None:
        """Return the goal (3,) of a robot."""
        goals = self._world.status.goals
        place = np.array([goals.x[0, robot], goals.y[0, robot], goals.heading[0, robot]], np.float64)
        return place if self._has_goal[robot] else None

    def follow(self, robot: int, number: int, goal: ArrayLike) -> None:
        """Send a robot to its exact goal (3,) in the episode; a goal is new only if its number is higher than the last goal's."""
        if number > self._goal[robot]:
            self._goal[robot], self._has_goal[robot], pose = number, True, np.asarray(goal, np.float64)
            self._world.set_goal(0, robot, pose.astype(np.float32))
            self._paths.plan(0, robot, self._paths.pose(0, robot), pose)

    def replan(self, robot: int) -> None:
        """Replan a robot's path from its current position."""
        self._background.cancel(robot)
        self._paths.replan(0, robot)

    def arrived(self, robot: int) -> bool:
        """Return whether a robot is at its goal, within the tolerances."""
        away, turned = self.left(robot)
        goals = self._world.status.goals
        near, straight = float(goals.tolerance[0, robot]), float(goals.heading_tolerance[0, robot])
        return away <= near and (straight >= math.pi or turned <= straight)

    def left(self, robot: int) -> tuple[float, float]:
        """Return a robot's distance to its goal, m, and its deviation from the goal heading, rad; infinite without a goal."""
        goal = self.goal(robot)
        if goal is None:
            return math.inf, math.inf
        x, y, heading = self._paths.pose(0, robot)
        return math.dist(goal[:2], (x, y)), abs(math.remainder(goal[2] - heading, math.tau))

    def forget(self) -> None:
        """Reset the planners' memories, the observed obstacles, the tracks, and the ages of poses and scans."""
        self._memory, self._before = {}, {}
        self._place()
        self._paths.forget(0)
        self._placed[:], self._scanned[:], self._time = _NEVER, _NEVER, _NEVER

    def forget_obstacles(self, robot: int) -> None:
        """Clear the obstacles that a robot's lidar has added to its costmap, and the planner's memory of these obstacles."""
        if (costmaps := self._observers.of(robot).part(Costmaps)) is not None:
            costmaps.clear(0, robot)
        self._memory = without_seen(self._memory, np.arange(len(self.names)) == robot)

    def prepare(self) -> None:
        """Compile all kernels that a decision needs, by making a decision in the current state and discarding it.

        Otherwise, the first decision with a new planner on a machine takes half a minute, in the middle of an episode.
        """
        self._observers.clear_scans()
        everybody, answer = np.ones(len(self.names), np.bool_), Answer(np.zeros((len(self.names), 3), np.float32))
        for _ in range(2):
            answer, _ = self._observers.ask(self._planner, self._observers.observe(), answer.memory, everybody)

    def decide(self, time: float, step: int, active: Bools) -> Decision:
        """Plan for the robots that have a goal.

        Args:
            time: current time, s, on the clock of `see_robot`.
            step: number of physics steps since the episode began.
            active: (R,) whether the robot's episode has not ended.
        """
        notes: tuple[str, ...] = ()
        if time < self._time:
            notes = (f"the clock jumped back from {self._time:.3f} s to {time:.3f} s: the planners' memory is cleared",)
            fresh = self._placed <= time, self._scanned <= time
            placed, scanned = (np.where(f, t, _NEVER) for f, t in zip(fresh, (self._placed, self._scanned), strict=True))
            self.forget()
            self._placed, self._scanned = placed, scanned
        set_down, self._time = self._set_down(time), time
        self._observers.read_at(time)
        standing = self.standing(time, active)
        going = active & self._has_goal
        going[list(standing)] = False
        late = self._paths.due_worlds(np.array([step]))
        away = set_down & ~self._led
        for robot in map(int, np.flatnonzero(going & (late | away))):
            (self.replan if away[robot] else self._background.request)(robot)
        for robot, path in self._background.take_paths():
            self._observers.set_path(0, robot, path)
        if set_down.any():
            self._memory = reset(self._memory, set_down)
        if not going.any():
            return Decision(np.zeros((len(active), 3), np.float32), {}, standing, 0.0, notes)
        self._seen, self._before = self._observers.observe(), self._memory
        began = clock.perf_counter()
        answer, failures = self._observers.ask(self._planner, self._seen, self._memory, going)
        share = (clock.perf_counter() - began) / int(going.sum())
        self._memory = answer.memory
        record_contact(answer, touching_robots(self._world, 0) & (step == 0))
        self._watch.record_reasons(answer, going)
        if "path" in self.needs:
            lost = [int(r) for r in np.flatnonzero(going) if not len(self.path(int(r)))]
            standing |= {r: self.why_no_path(r) for r in lost}
        return Decision(answer.twists, failures, standing, share, notes, dict(answer.notes))

    def _places(self) -> Doubles:
        """Return the positions of the robots, (R, 2) m."""
        return np.array([self._paths.pose(0, robot)[:2] for robot in range(len(self.names))]).reshape(-1, 2)

    def _set_down(self, time: float) -> Bools:
        """Return whether each robot (R,) must have been moved externally, because it cannot have driven to its position since the
        last decision.

        The paths and the planner's memory of such robots still belong to their old positions.
        """
        elapsed, before = 0.0 if self._time == _NEVER else time - self._time, self._stood
        self._stood = self._places()
        moved: Bools = np.hypot(*(self._stood - before).T) > self._reach[:, 0] * elapsed + self._reach[:, 1]
        return moved

    def standing(self, time: float, active: Bools) -> dict[int, str]:
        """Return the reasons why robots with a goal must stop regardless of their planner, keyed by robot index."""
        going = np.flatnonzero(active & self._has_goal)
        return {int(r): reason for r in going if (reason := self._not_ready(int(r), time))}

    def _not_ready(self, robot: int, time: float) -> str:
        """Return the reason why a robot must stop regardless of its planner; empty if there is none."""
        checks = {"odometry": self._placed[robot]}
        if self.beams(robot):
            checks["the last scan"] = self._scanned[robot]
        for what, seen in checks.items():
            if time - seen > self._patience:
                age = "has not arrived" if seen == _NEVER else f"is {time - seen:.2f} s old (limit: {self._patience:g} s)"
                return f"{what} of {self.names[robot]} {age}: the robot stops"
        return ""

    def why_no_path(self, robot: int) -> str:
        """Return the reason why there is no path to a robot's goal."""
        goal, place, model = self.goal(robot), self._start.map, self._start.robots[robot].model
        if goal is None:
            return f"{self.names[robot]} has no goal"
        there = place.place(goal)
        if not place.contains(goal[:2]):
            return f"{self.names[robot]} has no path: its goal {there} is outside the map"
        room, margin = float(place.clearance_at(goal[:2])), float(place.margin(goal[:2]))
        if min(room, margin) <= model.radius:
            near = f"{room:.2f} m from an obstacle" if room <= margin else f"{margin:.2f} m from the border of the map"
            return f"{self.names[robot]} has no path: its goal {there} is {near}, but the robot needs {model.radius:.2f} m"
        here = place.place(self._paths.pose(0, robot)[:2])
        return f"{self.names[robot]} has no path from {here} to {there}: no path is wide enough"

    def path(self, robot: int) -> Floats:
        """Return the global path (K, 2) of a robot, m; (0, 2) without a path."""
        return self._observers.path(0, robot)

    def path_between(self, robot: int, start: ArrayLike, goal: ArrayLike) -> Floats:
        """Plan a path for a robot from one position (2,) to another, and return it as (K, 2), m; (0, 2) if there is no path."""
        return self._paths.find(0, robot, np.asarray(start, float), np.asarray(goal, float))

    def local_costmap(self, robot: int) -> tuple[Array, Array, float]:
        """Return the local costmap (H, H) uint8 around a robot, as used for planning, its lower-left corner (2,), m, and its
        resolution, m.

        If the planner does not read a costmap, one with the default window is computed.
        """
        if self._seen and (planned := self._seen[self._observers.number(robot)].costmap) is not None:
            seen = planned
        else:
            if self._window is None:
                kind = Wiring.of((LocalCostmap.channel,), Setting(layers=self._conditions.layers))
                self._window = Observer(self._world, kind, self.control)
                for r, one in enumerate(self._start.robots):
                    self._window.place(0, r, one.model)
            made = self._window.observe().costmap
            assert made is not None
            seen = made
        return seen.cost[robot].copy(), seen.origin[robot].copy(), seen.resolution

    def global_costmap(self, robot: int) -> tuple[Array, Array, float]:
        """Return the costs of the whole map (rows, columns) for a robot, including layers, in the same form as `local_costmap`."""
        place = self._start.map
        cost = inflate(place, self._start.robots[robot].model.inscribed_radius)
        if self._conditions.layers:
            cost = np.where(cost >= INSCRIBED, cost, np.maximum(cost, self._observers.layer_costs(0, robot, place)))
        return cost, np.asarray(place.origin, float), place.resolution

    def lead(self, robot: int, path: ArrayLike, goal: ArrayLike | None = None) -> None:
        """Give a robot an external path (K, 2), m, and optionally its goal (3,).

        The navigator does not replan this path; it waits for the next external path.
        """
        if goal is not None:
            self._world.set_goal(0, robot, np.asarray(goal, np.float64))
            self._has_goal[robot] = True
        self._led[robot] = True
        self._observers.set_path(0, robot, np.asarray(path, np.float64).reshape(-1, 2))

    def guidance(self, robot: int) -> Led:
        """Return the interplanner's guidance from the last decision; without an interplanner, the unchanged path at full speed."""
        if not self._seen or not isinstance(self._planner, GuidedPlanner):
            return Led(self.path(robot), self.goal(robot), 1.0, 0.0)
        seen, before = self._observers.of_robot(robot, self._seen, self._before)
        found = self._planner.guidance(seen, before)[0]
        path, goal = found.path[robot, : found.path_count[robot]].copy(), found.goal[robot].astype(np.float64)
        reason = 0 if found.reason is None else int(found.reason[robot])
        return Led(path, goal, float(found.speed[robot]), float(found.danger[robot]), reason)
