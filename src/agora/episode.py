"""The episode loop, which the benchmark, training, replay and the ROS simulator node run or are tested against."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core import float_mode
from agora.core.compiling import seconds_compiling
from agora.core.recording import Contact, Outcome, Recording
from agora.core.state import Bools, Doubles, Floats, one_robot
from agora.engine.backends import backend_of
from agora.engine.conditions import Conditions as Conditions
from agora.engine.observers import Observers
from agora.engine.paths import Paths
from agora.engine.recorder import Recorder
from agora.engine.rules import touching_robots
from agora.engine.standing import Standing
from agora.errors import InputError
from agora.planners.adapters import ASKED_AGAIN, Unmade, declaration_of, notes_of, record_contact
from agora.planners.memory import reset
from agora.tasks.budget import Way, shortest_way
from agora.world.records import RUNNING

if TYPE_CHECKING:
    from agora.engine.observe import Observer
    from agora.interfaces import Channel, Memory
    from agora.maps.grid import Map
    from agora.world.start import RobotStart, Start

__all__ = ["Conditions", "Episodes"]

PLANNER, WORLD = "a call of the planner", "a step of the world"
"""Names of the kinds of work that the loop reports to a watchdog."""


class Batch:
    """The state of a loop over control periods: W worlds, what their robots know, and the current episode of each world.

    A control period consists of calls to `look`, `command` and `advance`, after which some episodes may have `ended`. Episodes
    `begin` before `look`, at multiples of `Periods.common`. The conditions select the engine that advances the worlds
    (`agora.interfaces.Backend`).

    Args:
        starts: starts of the episodes.
        conditions: conditions shared by all episodes.
        needs: channels that the robots' planners read.
        worlds: number of worlds, W.
        threads: number of threads; the worlds are divided among them.
        slots: number of pedestrian slots per world; 0 for the minimum number needed.
        record: names of the channels to record.
        examples: sample of starts that determines array sizes, for batches with too many starts to inspect in advance; worlds then
            accept any start accepted by the engine's ``holds``.

    Attributes:
        engine: engine that advances the worlds.
        world: state of the worlds.
        observers: observers of the robots.
        running: (W,) index of the start whose episode is running in each world, -1 if none.
        goals: (W, R) index of each robot's current goal.
    """

    def __init__(
        self,
        starts: Sequence[Start],
        conditions: Conditions,
        needs: Collection[str | Channel],
        worlds: int,
        *,
        threads: int = 1,
        slots: int = 0,
        record: Collection[str] = (),
        examples: Sequence[Start] = (),
    ) -> None:
        if not starts:
            raise InputError("there is no episode to run")
        self.starts, self.conditions = starts, conditions
        periods, some = conditions.periods, examples or starts
        self.engine = backend_of(some, conditions, worlds=worlds, threads=threads, slots=slots, drawn=bool(examples))
        self.world = self.engine.world
        models = [robot.model for robot in some[0].robots]
        self.observers = Observers(self.world, needs, conditions, models, record, self.engine.offers)
        self._paths = Paths(self.world, self.observers, conditions, keep=True)
        self.running = np.full(worlds, -1, np.int64)
        self._control, self._sensor = periods.steps("control"), periods.steps("sensor")
        self.goals = np.zeros((worlds, self.world.layout.robots), np.int64)
        self._robots: list[tuple[RobotStart, ...]] = [()] * worlds

    def begin(self, w: int, index: int, start: Start | None = None) -> None:
        """Begin the episode of start number ``index`` in world ``w``. The start itself may be passed as ``start``."""
        start = start or self.starts[index]
        self.engine.reset(w, start)
        self.running[w], self._robots[w] = index, start.robots
        self.goals[w] = 0
        for r, robot in enumerate(start.robots):
            self.observers.place(w, r, robot.model)
        self._paths.begin(w, start)

    def look(self, worlds: Collection[int] | None = None) -> None:
        """Take the measurements that are due in all or some worlds, and set the next goals of robots that have arrived."""
        if self.world.tick % self._sensor == 0:
            self.observers.measure(worlds)
        self.next_goals()

    def next_goals(self) -> None:
        """Set the next goals of robots that have arrived, and replan the paths that are due."""
        status = self.world.status
        for w, r in np.argwhere(status.goals.arrived & ~status.clock.done[:, None]):
            self.goals[w, r] += 1
            goal = self._robots[w][r].goals[self.goals[w, r]]
            self.world.next_goal(w, r, goal)
            self.engine.adopt(int(w))
            self._paths.plan(w, r, self._paths.pose(w, r), goal)
        due = self._paths.due_worlds(status.clock.step) & (self.running >= 0) & ~status.clock.done
        for w, r in np.argwhere(due[:, None] & (status.ends.outcome == RUNNING)) if due.any() else ():
            self._paths.replan(w, r)

    @property
    def observer(self) -> Observer:
        """The observer of all robots, provided that they have the same sensors."""
        return self.observers.one

    @property
    def active(self) -> Bools:
        """(N,) whether the episode of each row is running."""
        return self.world.under_way & np.repeat(self.running >= 0, self.world.layout.robots)

    @property
    def ended(self) -> Bools:
        """(W,) whether the episode of each world has ended."""
        over: Bools = (self.running >= 0) & self.world.status.clock.done
        return over

    def given_path(self, w: int, r: int) -> Doubles | None:
        """Return the paths that a robot has received since its episode began; None if no paths are read."""
        return self._paths.stored_paths(w, r)

    def command(self, twists: Floats, active: Bools, failed: Collection[int] = ()) -> None:
        """Set the commanded twists of the running rows (`World.command`)."""
        self.world.command(twists, active, failed)
        for w in {row // self.world.layout.robots for row in failed}:
            self.engine.adopt(w)

    def advance(self, after_step: Callable[[], None] = lambda: None) -> None:
        """Advance by one control period; ``after_step`` is called whenever the world has advanced."""
        self.engine.advance(self._control, after_step)

    def leave(self, w: int) -> None:
        """Abandon the episode in a world: nothing moves in the world until the next episode begins."""
        self.running[w], self.world.status.clock.done[w] = -1, True
        self.engine.adopt(w)

    def close(self) -> None:
        """Stop the engine."""
        self.engine.close()


class Episodes:
    """Runs the episodes of many starts in W worlds: when an episode is done, its world takes the next start.

    The result of an episode depends only on its start, the planner and the conditions, not on the number of worlds, threads or
    slots, or on the order of episodes.

    Args:
        starts: starts of the episodes.
        planner: planner that drives every robot.
        conditions: conditions shared by all episodes.
        worlds: number of worlds, W; 0 for one world per start.
        threads: number of threads; the worlds are divided among them.
        slots: number of pedestrian slots per world; 0 for the minimum number needed.
        record: names of channels whose readings are stored in recordings; planners do not get them.
        before: function called with the name of the work before each planner call and each step of the world, such as a watchdog's
            heartbeat.
        after: function called after each planner call and each step.
        unmade: number of the first planner call to skip, counted from 1, and the reason; the rows that are running at that call
            fail.
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
        record: Collection[str] = (),
        before: Callable[[str], None] = lambda what: None,
        after: Callable[[], None] = lambda: None,
        unmade: tuple[int, str] | None = None,
    ) -> None:
        self.planner, self.conditions = planner, conditions
        self._calls, self._unmade = 0, unmade
        worlds = min(worlds or len(starts), len(starts))
        needs = declaration_of(planner).needs
        float_mode.set_usual()  # undo what third-party modules changed on import, before threads are started that would inherit it
        self.batch = Batch(starts, conditions, needs, worlds, threads=threads, slots=slots, record=record)
        self.engine, self.starts = self.batch.engine, starts
        self.world = self.batch.world
        longest = max(s.timeout for s in starts)
        length = math.ceil(longest / conditions.periods.control) + 3
        self._recorder = Recorder(self.world, length, notes_of(planner), bool(conditions.behaviours))
        self._pending = list(range(len(starts)))[::-1]
        self._memory: Memory = {}
        self._planning: list[list[float]] = [[] for _ in range(worlds)]
        self._failure: list[dict[int, str]] = [{} for _ in range(worlds)]
        self._asked_again = np.zeros((worlds, self.world.layout.robots), np.int64)
        self._shortest: list[list[Way]] = [[] for _ in range(worlds)]
        self._touching = np.zeros((worlds, self.world.layout.robots), np.bool_)
        self._standing = Standing(self.world, conditions.periods.control)
        self._before, self._after = before, after

    def __iter__(self) -> Iterator[tuple[int, list[Recording]]]:
        """Yield, whenever an episode is done, its index among the starts and one recording per robot."""
        common = self.conditions.periods.common
        self._refill()
        try:
            while self._pending or (self.batch.running >= 0).any():
                self._recorder.sample()
                yield from self._collect()
                if self.world.tick % common == 0:
                    self._refill()
                if self.world.status.clock.done.all() and not self._pending:
                    continue
                self.batch.look()
                float_mode.check(WORLD)
                self._control()
                self._before(WORLD)
                self.batch.advance()
                self._after()
                float_mode.check(WORLD)
        finally:
            self.batch.close()

    def contacts(self, world: int, robot: int) -> tuple[Contact, ...]:
        """Return the contacts of a robot so far, ordered by time."""
        return self._recorder.contacts(world, robot)

    def _refill(self) -> None:
        began = False
        for w in np.flatnonzero(self.batch.running < 0):
            if self._pending:
                self._begin(int(w), self._pending.pop())
                began = True
        if began:
            self._recorder.sample()

    def _begin(self, w: int, index: int) -> None:
        start = self.starts[index]
        self.batch.begin(w, index)
        self._recorder.start(w)
        self._touching[w] = touching_robots(self.world, w)
        self._planning[w], self._failure[w], self._asked_again[w] = [], {}, 0
        rows = np.zeros(self.world.layout.worlds * len(start.robots), np.bool_)
        rows[w * len(start.robots) : (w + 1) * len(start.robots)] = True
        self._memory = reset(self._memory, rows)
        self._shortest[w] = [_way(start.map, robot) for robot in start.robots]
        self._standing.begin(w, start.map, np.array([way.length == math.inf for way in self._shortest[w]], np.bool_))

    def _control(self) -> None:
        """Ask the planner for the twists of all running rows."""
        active, robots = self.batch.active, self.world.layout.robots
        if not active.any():
            return
        observers = self.batch.observers
        seen = observers.observe()
        self._before(PLANNER)
        self._calls += 1
        planner = self.planner
        if self._unmade is not None and self._calls >= self._unmade[0]:
            planner = Unmade(planner.declares, self._unmade[1])
        began, compiled = time.perf_counter(), seconds_compiling()
        answer, failures = observers.ask(planner, seen, self._memory, active)
        share = (time.perf_counter() - began - (seconds_compiling() - compiled)) / int(active.sum())
        self._after()
        for w in np.flatnonzero(active.reshape(-1, robots).any(1)):
            self._planning[w].append(share)
        self._memory = answer.memory
        record_contact(answer, np.repeat(self.world.status.clock.step == 0, robots) & self._touching.reshape(-1))
        self._standing.record_reasons(answer, active)
        self.batch.command(answer.twists, active, failures)
        self._recorder.record_notes(answer.notes, active)
        self._asked_again += answer.notes.get(ASKED_AGAIN, np.zeros(len(active), np.bool_)).reshape(-1, robots)
        if observers.record:
            self._recorder.read(observers, active)
        for row, reason in failures.items():
            self._failure[row // robots][row % robots] = reason

    def _collect(self) -> Iterator[tuple[int, list[Recording]]]:
        for w in np.flatnonzero(self.batch.ended):
            index = int(self.batch.running[w])
            yield index, [self._recording(int(w), r) for r in range(self.world.layout.robots)]
            self.batch.running[w] = -1
            self._recorder.cursor[w] = -1

    def _recording(self, w: int, r: int) -> Recording:
        start, status = self.starts[self.batch.running[w]], self.world.status
        kept = recorded(self.batch, self._recorder, w, r, start, int(status.ends.step[w, r]), Outcome(status.ends.outcome[w, r]))
        calls = len(kept.time) - 1
        return replace(
            kept,
            shortest_path=self._shortest[w][r].length,
            shortest_turn=self._shortest[w][r].turn,
            planning_time=np.asarray(self._planning[w][:calls]),
            asked_again=int(self._asked_again[w, r]),
            failure=self.world.failure(w, r, self._failure[w].get(r, "")),
            sensors=self._recorder.readings(w, r, calls),
        )


def recorded(batch: Batch, recorder: Recorder, w: int, r: int, start: Start, last: int, outcome: Outcome) -> Recording:
    """Return the recording of a robot's episode, without the shortest path.

    Args:
        batch: state of the worlds. recorder: recorder of these worlds.
        w: index of the world. r: index of the robot in the world.
        start: start of the episode.
        last: index of the recording's last step.
        outcome: outcome of the episode.
    """
    world = batch.world
    status, model = world.status, start.robots[r].model
    kept, times = recorder.samples_until(w, last)
    noted: dict[str, Any] = recorder.recorded_notes(w, r, kept)
    samples = recorder.robots[w, kept, r].astype(np.float64)
    people = recorder.pedestrians[w, kept, :, : start.crowd_size].astype(np.float64)
    slots = slice(0, start.crowd_size)
    return Recording(
        time=times,
        pose=samples[:, :3],
        twist=samples[:, 3:],
        goal=np.array([status.goals.x[w, r], status.goals.y[w, r], status.goals.heading[w, r]], np.float64),
        goal_tolerance=start.goal_tolerance,
        radius=model.radius,
        max_speed=float(model.limits(1).max_vx[0]),
        pedestrian_position=np.stack([people[:, 0], people[:, 1]], -1),
        pedestrian_velocity=np.stack([people[:, 2], people[:, 3]], -1),
        pedestrian_heading=people[:, 4],
        pedestrian_present=recorder.present[w, kept, slots].copy(),
        pedestrian_radius=world.traits.radius[w, slots].astype(np.float64),
        pedestrian_id=world.traits.id[w, slots].copy(),
        pedestrian_group=recorder.group[w, kept, slots].copy(),
        contacts=recorder.contacts(w, r),
        outcome=outcome,
        timeout=start.timeout,
        shortest_path=math.inf,
        reference_path=start.reference_path,
        map=start.map,
        clipped=int(status.orders.clipped[w, r]),
        pedestrian_state=recorder.states[w, kept, slots].astype(np.int32) if batch.conditions.behaviours else None,
        robot=one_robot(world.robot_traits, w, r),
        command_delay=model.command_delay,
        planned_path=batch.given_path(w, r),
        door=recorder.door[w, kept].astype(np.float64) if start.map.door is not None else None,
        **noted,
    )


def _way(place: Map, robot: RobotStart) -> Way:
    """Return a shortest path from a robot's start to its first goal."""
    if robot.legs is not None:
        return Way(float(robot.legs[0]), robot.turn)
    return shortest_way(place, robot.pose, robot.goals[0], robot.model)
