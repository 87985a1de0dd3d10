"""The state of a batch of W worlds, without the code that advances it.

Pedestrians and robots have two generations of state: all code reads generation t while generation t + dt is written, and
`World.turn` swaps them. The engine, sensors, recorder, behaviours and rewards depend only on the world.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from agora.core import state
from agora.core.recording import ContactKind, Outcome
from agora.core.state import LOOP, RANDOM, STAY, Bools, Floats, Pedestrians, Robots
from agora.errors import InputError
from agora.maps.store import MapRoom, MapStore
from agora.seeds import key_of
from agora.world import records
from agora.world.doors import Doors
from agora.world.replayed import start_replayed
from agora.world.threads import Threads

if TYPE_CHECKING:
    from agora.world.start import Start

__all__ = ["World"]


@dataclass(frozen=True)
class Layout:
    """Sizes of a batch's arrays.

    Attributes:
        worlds: number of worlds W.
        robots: number of robots R per world.
        pedestrians: maximum number of pedestrians in one world.
        waypoints: maximum number of waypoints of one pedestrian.
        corners: maximum number of corners of a polygon footprint.
        knots: maximum number of knots of the recordings in one world.
        delay: maximum command delay, steps.
        maps: room for the data of maps.
    """

    worlds: int
    robots: int = 1
    pedestrians: int = 0
    waypoints: int = 1
    corners: int = 0
    knots: int = 0
    delay: int = 0
    maps: MapRoom = MapRoom()

    @staticmethod
    def of(starts: Sequence[Start], worlds: int, dt: float) -> Layout:
        """Return the sizes of a batch that can hold any of the starts.

        Raises:
            InputError: the starts differ in their number of robots.
        """
        counts = {len(s.robots) for s in starts}
        if len(counts) > 1:
            raise InputError(f"the batch has starts with {sorted(counts)} robots; all worlds of a batch need the same number")
        models = [r.model for s in starts for r in s.robots]
        return Layout(
            worlds=worlds,
            robots=counts.pop() if counts else 0,
            pedestrians=max((s.crowd_size for s in starts), default=0),
            waypoints=max((s.pedestrians.waypoints.shape[1] for s in starts), default=1),
            corners=max((len(m.footprint) for m in models), default=0),
            knots=max((0 if s.replay is None else len(s.replay.knot_time) for s in starts), default=0),
            delay=max((round(m.command_delay / dt) for m in models), default=0),
            maps=MapRoom.of((s.map for s in starts), worlds),
        )


class World:
    """The state of W worlds of pedestrians and robots: records of arrays, with two generations for pedestrians and robots.

    Args:
        layout: sizes of the records.
        dt: physics step, s.
        slots: pedestrian slots per world, a multiple of `state.PADDING`; by default the minimum for the layout.
        threads: number of threads among which the worlds are divided; results do not depend on it.

    Attributes:
        layout: sizes of the records.
        dt: physics step, s.
        slots: number of pedestrian slots per world.
        tick: number of steps since the world was created.
        now: index of generation t, 0 or 1.
        traits: traits of the pedestrians.
        minds: minds of the pedestrians.
        waypoints: waypoints of the pedestrians.
        replay: recordings of pedestrians.
        robot_traits: traits of the robots.
        commands: (W, R, 3) commanded twists, which apply until they are replaced, m/s and rad/s.
        status: clocks, goals, outcomes and contacts.
        maps: maps of all worlds, and the index of each world's map.
        doors: moving doors; None if no map has any.
        starts: (W,) start of the current episode in each world; None before the first episode.
        lost: messages from the simulator about worlds in which it has lost a robot, keyed by world index.
        threads: threads that run kernels over the worlds.
    """

    def __init__(self, layout: Layout, *, dt: float, slots: int = 0, threads: int = 1) -> None:
        self.layout, self.dt, self.tick, self.now = layout, dt, 0, 0
        self.slots = max(slots, state.padded_slots(layout.pedestrians))
        worlds, count = layout.worlds, layout.robots
        self._store = MapStore(worlds, layout.maps)
        self.maps = self._store.arrays
        self.traits = state.traits(worlds, self.slots)
        self.waypoints = state.waypoints(worlds, self.slots, layout.waypoints)
        self.minds = state.minds(worlds, self.slots)
        self.robot_traits = state.robot_traits(worlds, count, layout.corners)
        self.status = records.status(worlds, count, self.slots, delay=layout.delay)
        self.replay = records.replay(worlds, self.slots, max(layout.knots * worlds, 1))
        self.commands = np.zeros((worlds, count, 3), np.float32)
        self._pedestrians = [state.pedestrians(worlds, self.slots) for _ in range(2)]
        self._robots = [state.robots(worlds, count) for _ in range(2)]
        lasting = (self.traits, self.minds, self.waypoints, self.replay, *self.status)
        self._defaults = [state.of_worlds((*self.generation(number), *lasting)) for number in (0, 1)]
        self.threads = Threads(worlds, threads)
        self.doors = Doors(self) if layout.maps.stages else None
        self.starts: list[Start | None] = [None] * worlds
        self.lost: dict[int, str] = {}

    @staticmethod
    def of(starts: Sequence[Start], *, dt: float, worlds: int = 0, slots: int = 0, threads: int = 1, drawn: bool = False) -> World:
        """Return a batch of ``worlds`` worlds, each with room for any of the starts; if ``worlds`` is 0, there is one world per
        start.

        If ``drawn``, the starts are only examples, and a world may run any start accepted by `holds`.
        """
        count = worlds or len(starts)
        layout = Layout.of(starts, count, dt)
        if drawn:
            layout = replace(layout, maps=replace(layout.maps, maps=count))
        return World(layout, dt=dt, slots=slots, threads=threads)

    @property
    def pedestrians(self) -> Pedestrians:
        """The pedestrians at time t."""
        return self._pedestrians[self.now]

    @property
    def next_pedestrians(self) -> Pedestrians:
        """The pedestrians at time t + dt. The next step writes this state, or reads it if another program moves the pedestrians."""
        return self._pedestrians[1 - self.now]

    @property
    def robots(self) -> Robots:
        """The robots at time t."""
        return self._robots[self.now]

    def generation(self, number: int) -> tuple[Pedestrians, Robots]:
        """Return the pedestrians and robots of generation ``number``, 0 or 1."""
        return self._pedestrians[number], self._robots[number]

    def turn(self, steps: int = 1) -> None:
        """Swap the two generations of pedestrians and robots; the new current generation is ``steps`` steps after the old one."""
        self.now = 1 - self.now
        self.tick += steps

    def take_over(self, before: World, robots: Sequence[int], pedestrians: Sequence[int] | None = None) -> None:
        """Continue from the state of another batch with different array lengths: take over its time, pedestrians, robots and goals.
        Contacts recorded in the other batch are not copied.

        Args:
            before: batch to continue from.
            robots: indices of the robots in ``before`` that become the first robots of this batch.
            pedestrians: slots of the pedestrians in ``before`` that are copied to the same slots of this batch; None for all.
        """
        self.tick, own = before.tick, self.traits.count.copy()
        for name in ("pedestrians", "traits", "minds", "waypoints"):
            state.carry(getattr(before, name), getattr(self, name), pedestrians=pedestrians)
        if pedestrians is not None:
            np.maximum(own, before.traits.count, out=self.traits.count)
        for source, target in ((before.robots, self.robots), *zip(before.status[:-1], self.status[:-1], strict=True)):
            state.carry(source, target, robots)
        self.commands[:, : len(robots)] = before.commands[:, list(robots)]

    def holds(self, start: Start) -> bool:
        """Return whether every world has room for an episode."""
        room, models = self.layout, [robot.model for robot in start.robots]
        return (
            len(models) == room.robots
            and start.crowd_size <= self.slots
            and start.pedestrians.waypoints.shape[1] <= room.waypoints
            and (start.replay is None or len(start.replay.knot_time) <= room.knots)
            and all(len(m.footprint) <= room.corners and round(m.command_delay / self.dt) <= room.delay for m in models)
            and room.maps.holds(start.map)
        )

    def reset(self, world: int, start: Start) -> None:
        """Start an episode in one world; the others continue.

        Args:
            world: index of the world.
            start: start of the episode, which must fit the layout.
        """
        status, w = self.status, world
        self.starts[w] = start
        self.lost.pop(w, None)
        self._store.use(w, start.map)
        if self.doors is not None:
            self.doors.reset(w, start.map)
        for array, default in self._defaults[self.now]:
            array[w] = default
        clock = status.clock
        clock.key[w] = key_of(start.entry, start.seed, "waypoints")
        clock.time_limit[w], clock.done[w] = round(start.timeout / self.dt), False
        self.traits.count[w] = start.pedestrians.at_first if start.replay is None else start.crowd_size
        self._reset_simulated(w, start)
        self._reset_replayed(w, start)
        self._reset_robots(w, start)

    def _reset_simulated(self, w: int, start: Start) -> None:
        crowd, now, goals = start.pedestrians, self.pedestrians, self.waypoints
        n = len(crowd.id)
        now.x[w, :n], now.y[w, :n] = crowd.position.T
        now.vx[w, :n], now.vy[w, :n] = crowd.velocity.T
        now.active[w, :n], goals.enters[w, :n] = crowd.enters <= 0, np.maximum(crowd.enters, 0.0)
        self.traits.radius[w, :n], self.traits.speed[w, :n] = crowd.radius, crowd.speed
        self.traits.group[w, :n], self.traits.id[w, :n] = crowd.group, crowd.id
        length = crowd.waypoints.shape[1]
        goals.list_x[w, :n, :length], goals.list_y[w, :n, :length] = crowd.waypoints[..., 0], crowd.waypoints[..., 1]
        goals.x[w, :n], goals.y[w, :n] = crowd.waypoints[:, 0].T
        goals.count[w, :n], goals.mode[w, :n], goals.tolerance[w, :n] = crowd.waypoint_count, crowd.mode, crowd.tolerance
        stays = ((crowd.mode == LOOP) | (crowd.mode == RANDOM)) & crowd.one_place
        goals.count[w, :n][stays], goals.mode[w, :n][stays] = 1, STAY
        now.heading[w, :n] = crowd.heading
        moving = np.hypot(*crowd.velocity.T) > 0
        now.heading[w, :n][moving] = np.arctan2(crowd.velocity[moving, 1], crowd.velocity[moving, 0])
        minds = self.minds
        minds.type[w, :n], minds.reaction[w, :n], minds.state[w, :n] = crowd.type, crowd.reaction, crowd.state
        minds.speed[w, :n] = crowd.speed

    def _reset_replayed(self, w: int, start: Start) -> None:
        replay, first = self.replay, len(start.pedestrians.id)
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
        self.traits.group[w, slots], self.traits.body[w, slots] = recorded.group, recorded.body
        start_replayed(np.float64(self.dt), self.pedestrians, self.traits, replay, w)

    def _reset_robots(self, w: int, start: Start) -> None:
        robots, status = self.robots, self.status
        for r, robot in enumerate(start.robots):
            robots.x[w, r], robots.y[w, r], robots.heading[w, r] = robot.pose
            robots.active[w, r] = True
            robot.model.fill(self.robot_traits, w, r)
            status.orders.delay[w, r] = round(robot.model.command_delay / self.dt)
            status.goals.left[w, r] = len(robot.goals) - 1
            self.set_goal(w, r, robot.goals[0])
        status.goals.tolerance[w], status.goals.heading_tolerance[w] = start.goal_tolerance, start.heading_tolerance

    def set_goal(self, world: int, robot: int, goal: Floats) -> None:
        """Set a robot's current goal (3,): x, y and heading, m and rad."""
        status = self.status
        status.goals.x[world, robot], status.goals.y[world, robot], status.goals.heading[world, robot] = goal
        status.goals.arrived[world, robot] = False

    def next_goal(self, world: int, robot: int, goal: Floats) -> None:
        """Give a robot that has arrived the next goal (3,) of its episode: x, y and heading, m and rad."""
        self.status.goals.left[world, robot] -= 1
        self.set_goal(world, robot, goal)

    def command(self, twists: Floats, active: Bools, failed: Collection[int]) -> None:
        """Set the commanded twists of the robots.

        Args:
            twists: (N, 3) commanded twists in the robots' frames, m/s and rad/s; row ``w * R + r`` is robot r of world w.
            active: (N,) rows whose episodes are running; all other robots stand still.
            failed: rows whose episodes end as ``planner_failed``.
        """
        status = self.status
        commands = np.where(active[:, None], twists, np.float32(0.0))
        for row in failed:
            w, r = divmod(row, self.layout.robots)
            status.ends.outcome[w, r], status.ends.step[w, r] = int(Outcome.PLANNER_FAILED), status.clock.step[w]
            commands[row] = 0.0
            status.clock.done[w] = bool((status.ends.outcome[w] != records.RUNNING).all())
        self.commands[...] = commands.reshape(self.commands.shape)

    def failure(self, world: int, robot: int, planner: str = "") -> str:
        """Return the message of the planner or simulator that ended a robot's episode by failing; empty if neither failed.

        Args:
            world: index of the world.
            robot: index of the robot in its world.
            planner: message of the planner, if it failed.
        """
        if self.status.ends.outcome[world, robot] != Outcome.SIMULATOR_FAILED:
            return planner
        return self.lost.get(world, "the state of the robot is not finite")

    def note_contact(self, world: int, robot: int, kind: ContactKind, other: int = -1, share: float = 0.0) -> None:
        """Record that a robot begins to touch an object in the physics step from the current generation to the next. Call this
        method before `turn`.

        Args:
            world: index of the world.
            robot: index of the robot in its world.
            kind: kind of the object touched.
            other: slot of the pedestrian or index of the robot that was touched; -1 for a wall.
            share: time of the contact within the step, from 0 to 1.
        """
        w, events, is_person = world, self.status.events, kind is ContactKind.PEDESTRIAN
        k = min(int(events.count[w]), events.step.shape[1] - 1)
        events.count[w] += 1
        party = self.traits.id[w, other] if is_person else other
        events.step[w, k], events.kind[w, k], events.robot[w, k], events.party[w, k] = self.status.clock.step[w], kind, robot, party
        events.fraction[w, k] = share
        for motion, number in ((events.here[w, k], self.now), (events.there[w, k], 1 - self.now)):
            people, robots = self.generation(number)
            if is_person and not people.active[w, other]:
                people = self.next_pedestrians
            motion[:] = 0.0
            motion[:3] = robots.x[w, robot], robots.y[w, robot], robots.heading[w, robot]
            if kind is not ContactKind.WALL:
                met: Pedestrians | Robots = people if is_person else robots
                motion[3:5] = met.x[w, other], met.y[w, other]
        events.x[w, k], events.y[w, k] = (1 - share) * events.here[w, k, :2] + share * events.there[w, k, :2]

    @property
    def under_way(self) -> Bools:
        """(N,) whether the episode of each row's robot is running, in a world that is not done."""
        running: Bools = (self.status.ends.outcome == records.RUNNING) & ~self.status.clock.done[:, None]
        return running.reshape(-1)

    def close(self) -> None:
        """Stop the threads."""
        self.threads.close()
