"""Runs one world in one of the library's simulators, with exact steps and externally moved pedestrians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from agora.channels.camera import Camera, Cameras
from agora.channels.scan import Scanner
from agora.core import state
from agora.core.recording import Contact
from agora.core.state import Array, Bools, Doubles, Floats, Robots, carry
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.engine.recorder import take_events
from agora.errors import InputError, UnknownNameError
from agora.interfaces import WholeSimulator
from agora.maps.furniture import Furniture, model_of
from agora.maps.grid import Map
from agora.node_logic.driver import Entity, PeopleAtStep, Reading, RobotStanding
from agora.registry import Named
from agora.world.records import RUNNING
from agora.world.start import PedestrianStarts, RobotStart, Start
from agora.world.world import World

if TYPE_CHECKING:
    from agora.draft.stage import Stage
    from agora.interfaces import Ability, Backend, Bodies
    from agora.robots.model import RobotModel

__all__ = ["OneWorld"]

_PATIENCE = 1.0  # s for which pedestrians keep their velocity without new data; then they stop
_NO_LIMIT = 1e8  # s


@dataclass
class _Robot:
    """The data about a robot that is not in the engine's records."""

    name: str
    start: RobotStart
    target: Doubles
    goal: int = 0
    by_hand: int = 0
    contacts: int = 0
    failure: str = ""

    def send(self, target: Doubles) -> None:
        """Record a new goal (3,)."""
        self.goal, self.target = self.goal + 1, target


class OneWorld:
    """One world whose robots are moved by one of the library's simulators.

    If a crowd and a navigation stack exchange robot and pedestrian states with the world at every step, the trajectories are those
    of `agora.episode.Episodes`, bit for bit. Before the first `begin`, the world is an empty plane without robots.
    """

    def __init__(self, simulator: Named | None = None) -> None:
        self._simulator = simulator or Named.of("simulators", "native")
        self.name: str = self._simulator.name
        self.can: frozenset[Ability] = frozenset({"pause", "delete", "rgbd"}) | self._simulator.part.can
        self._people = PeopleAtStep.room(0)
        plane = Map.open((-10.0, -10.0), (10.0, 10.0))
        start = Start("native/plane/0", 0, plane, (), PedestrianStarts.none(), timeout=_NO_LIMIT)
        self._adopt(start, Conditions(), (), 0.0)

    @property
    def dt(self) -> float:
        """Physics step, s."""
        return self._world.dt

    @property
    def step(self) -> int:
        """Number of physics steps since the episode began."""
        return int(self._world.status.clock.step[0])

    @property
    def began(self) -> float:
        """Time stamp of the start of the episode, s."""
        return self._began

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the robots."""
        return tuple(robot.name for robot in self._fleet)

    @property
    def models(self) -> tuple[RobotModel, ...]:
        """The models of the robots."""
        return tuple(robot.start.model for robot in self._fleet)

    @property
    def robots(self) -> Robots:
        """The robots of the world, (1, R)."""
        return self._world.robots

    @property
    def commands(self) -> Floats:
        """The twists (R, 3) from the last `command`, before limits and delay."""
        commands: Floats = self._world.commands[0]
        return commands

    @property
    def done(self) -> bool:
        """True if the episodes of all robots have ended."""
        return bool(self._world.status.clock.done[0])

    def begin(self, start: Start, stage: Stage, names: Sequence[str], since: float) -> None:
        """Load an episode."""
        self._adopt(start, Conditions.of(stage), names, since)

    def _adopt(self, start: Start, conditions: Conditions, names: Sequence[str], since: float) -> None:
        self._fleet = [_Robot(name, robot, robot.goals[0]) for name, robot in zip(names, start.robots, strict=True)]
        self._start, self._place, self._began = start, start.map, since
        self._conditions, self._obstacles = conditions, dict[str, Furniture]()
        self._contacts: list[tuple[int, Contact]] = []
        self._make(start.crowd_size)
        world = self._world
        self._keep(PeopleAtStep(0, world.pedestrians, world.traits, world.minds))
        self._see()

    def _make(self, pedestrians: int) -> None:
        """Create a world at the beginning of the episode, with the current robots and furniture."""
        pieces = self._obstacles.values()
        polygons = tuple(outline for piece in pieces for outline in piece.polygons())
        discs = np.vstack([self._place.discs, *(piece.discs() for piece in pieces)])
        place = replace(self._place, discs=discs, polygons=self._place.polygons + polygons) if pieces else self._place
        start = replace(self._start, map=place, robots=tuple(robot.start for robot in self._fleet))
        self._surroundings = place
        given, conditions = start.robots, self._conditions
        self._world = World.of([start], dt=conditions.periods.physics, slots=state.padded_slots(pedestrians))
        self._engine = self._backend(conditions)
        self._engine.reset(0, start)
        self._lidars = [conditions.lidar or robot.model.lidar for robot in given]
        self._scanners = {lidar: Scanner(self._world, lidar) for lidar in self._lidars if lidar is not None}
        self._cameras = dict[Camera, Cameras]()

    def _backend(self, conditions: Conditions) -> Backend:
        """Return the simulator's own engine, or the library's engine with the simulator's robots."""
        simulator = self._simulator.part
        if isinstance(simulator, WholeSimulator):
            return simulator.backend(self._world, conditions, led=True)
        return self._led_engine(simulator.bodies(self._world), conditions)

    def _led_engine(self, bodies: Bodies, conditions: Conditions) -> Engine:
        """Return the library's engine with externally moved pedestrians."""
        return Engine(self._world, bodies=bodies, ends=conditions.ends, remove=conditions.remove)

    def _remake(self, kept: Sequence[int], pedestrians: int = 0) -> None:
        """Create the world again with the current robots and furniture; ``kept`` holds the old indices of the remaining robots."""
        before = self._world
        self._make(max(pedestrians, before.slots))
        world = self._world
        world.take_over(before, list(kept))
        outcomes = world.status.ends.outcome
        world.status.clock.done[0] = bool(outcomes.size) and bool((outcomes != RUNNING).all())
        self._engine.adopt(0)
        self._see()

    def set_map(self, place: Map) -> None:
        """Change the static surroundings."""
        self._place = place
        self._remake(range(len(self._fleet)))

    def spawn(self, entity: Entity) -> None:
        """Add an obstacle, or a robot without a goal, to the world."""
        if entity.name in self.names or entity.name in self._obstacles:
            raise InputError(f"{entity.name!r} already exists; delete it first or use another name")
        old = range(len(self._fleet))
        if entity.kind == "obstacle":
            model_of(entity.furniture)
            self._obstacles[entity.name] = Furniture(entity.furniture, *(float(v) for v in entity.pose))
            self._remake(old)
            return
        if entity.model is None:
            raise InputError(f"robot {entity.name!r} has no model")
        self._fleet.append(_Robot(entity.name, RobotStart(entity.model, entity.pose, entity.pose[None]), entity.pose))
        self._remake(old)
        self._world.status.goals.tolerance[0, -1] = 0.0  # with a tolerance of 0, the goal is never reached
        self._engine.adopt(0)

    def move(self, name: str, pose: Doubles) -> None:
        """Move a robot or obstacle to a pose, at which it is at rest."""
        if name in self._obstacles:
            self._obstacles[name] = Furniture(self._obstacles[name].model, *(float(v) for v in pose))
            self._remake(range(len(self._fleet)))
            return
        r, world = self._number(name), self._world
        for field in world.robots[:-1]:
            field[0, r] = 0.0
        world.robots.x[0, r], world.robots.y[0, r], world.robots.heading[0, r] = pose
        world.status.orders.queue[0, r], world.commands[0, r] = 0.0, 0.0
        world.status.touching.pedestrian[0, r], world.status.touching.wall[0, r] = False, False
        world.status.touching.robot[0, r], world.status.touching.robot[0, :, r] = False, False
        self._engine.adopt(0)
        self._see()

    def delete(self, name: str) -> None:
        """Remove a robot or an obstacle."""
        kept = list(range(len(self._fleet)))
        if name in self._obstacles:
            del self._obstacles[name]
        else:
            del self._fleet[kept.pop(self._number(name))]
        self._remake(kept)

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError("robot or obstacle", name, [*self.names, *self._obstacles])
        return self.names.index(name)

    def set_goal(self, name: str, goal: Doubles) -> int:
        """Give a robot another goal, which becomes the last goal of its episode; see `agora.node_logic.driver.Driver`."""
        r, world, target = self._number(name), self._world, np.array(goal, np.float64)
        self._check_goal(name, self.models[r], target)
        status, robot = world.status, self._fleet[r]
        world.set_goal(0, r, target.astype(np.float32))
        status.goals.left[0, r], status.goals.tolerance[0, r] = 0, self._start.goal_tolerance
        status.clock.time_limit[0] = status.clock.step[0] + round(self._start.timeout / world.dt)
        robot.send(target)
        robot.by_hand += 1
        if status.ends.outcome[0, r] != RUNNING:
            status.ends.outcome[0, r], status.clock.done[0], world.robots.active[0, r] = RUNNING, False, True
            robot.failure = ""
        self._engine.adopt(0)
        return robot.goal

    def _check_goal(self, name: str, model: RobotModel, goal: Doubles) -> None:
        """Raise an error for a goal (3,) that the robot cannot occupy."""
        place, text = self._surroundings, f"goal of {name}"
        if goal.shape != (3,) or not np.isfinite(goal).all():
            raise InputError(f"{text}: expected three finite numbers, got {goal.tolist()}")
        if not place.contains(goal[:2]):
            raise InputError(f"{text}: {place.place(goal)} is outside the map")
        room = float(place.clearance_at(goal[:2]))
        if room <= model.inscribed_radius:
            needed = f"the robot needs {model.inscribed_radius:.2f} m"
            raise InputError(f"{text}: {place.place(goal)} is {room:.2f} m from an obstacle, but {needed}")

    def set_pedestrians(self, people: PeopleAtStep) -> None:
        """Set the externally moved pedestrians."""
        count = int(people.traits.count[0])
        if count > self._world.slots:
            self._remake(range(len(self._fleet)), count)
        self._keep(people)
        world = self._world
        carry(self._people.traits, world.traits)
        carry(self._people.minds, world.minds)
        if people.step == self.step:
            carry(self._people.now, world.pedestrians)
        self._engine.adopt(0)

    def _keep(self, people: PeopleAtStep) -> None:
        fits = self._people.slots == people.slots == self._world.slots
        self._people = replace(self._people, step=people.step) if fits else PeopleAtStep.room(self._world.slots, people.step)
        carry(people.now, self._people.now)
        carry(people.traits, self._people.traits)
        carry(people.minds, self._people.minds)

    def command(self, twists: Floats, failures: Mapping[int, str]) -> None:
        """Set the twists (R, 3) until the next call."""
        for r, reason in failures.items():
            self._fleet[r].failure = reason
        self._world.command(twists, self._world.under_way, list(failures))
        if failures:
            self._engine.adopt(0)

    def advance(self) -> None:
        """Advance by one physics step; once all robots are done, nothing changes."""
        if self.done:
            return
        self._move_pedestrians()
        self._engine.advance(1, self._collect_contacts)
        if self.step % self._conditions.periods.steps("control") == 0:
            self._send_on()
        self._see()

    def _collect_contacts(self) -> None:
        """Collect the contacts that began in the last step."""
        for _, r, contact in take_events(self._world):
            self._fleet[r].contacts += 1
            self._contacts.append((r, contact))

    def _send_on(self) -> None:
        """Set the next goal of robots that have arrived."""
        for r in map(int, np.flatnonzero(self._world.status.goals.arrived[0] & ~self._world.status.clock.done[0])):
            robot = self._fleet[r]
            robot.send(robot.start.goals[robot.goal + 1])
            self._world.next_goal(0, r, robot.target.astype(np.float32))
            self._engine.adopt(0)

    def _move_pedestrians(self) -> None:
        """Write the external pedestrians to the next generation, extrapolated with their velocities if the data is older."""
        world, now = self._world, self._people.now
        after = world.next_pedestrians
        carry(now, after)
        if late := self.step + 1 - self._people.step:
            since = np.float32(min(late * world.dt, _PATIENCE))
            after.x[...] += after.vx * since
            after.y[...] += after.vy * since
            if late * world.dt > _PATIENCE:
                after.vx[...], after.vy[...] = 0.0, 0.0

    def _see(self) -> None:
        """Take the scans that are due now."""
        self._readings = list[Reading]()
        if self.step % self._conditions.periods.steps("sensor"):
            return
        time = self.step * self.dt
        scans = {lidar: scanner.scan() for lidar, scanner in self._scanners.items()}
        for r in map(int, np.flatnonzero(self._world.robots.active[0])):
            if (own := self._lidars[r]) is not None:
                self._readings.append(Reading(r, time, scans[own][0, r].copy(), own))

    def wait(self, seconds: float) -> bool:
        """Do nothing: time advances only in `advance`."""
        return False

    def pause(self) -> None:
        """Do nothing: time never advances between two steps."""

    def resume(self) -> None:
        """Do nothing: time advances only in `advance`."""

    def readings(self) -> Sequence[Reading]:
        """Return the scans taken since the last call."""
        taken, self._readings = self._readings, []
        return taken

    def look(self, robot: int, camera: Camera) -> Mapping[str, Array]:
        """Return the current images of a robot's camera, keyed by the channel's field names; empty if no image is due."""
        world = self._world
        if self.step % self._conditions.periods.steps("sensor"):
            return {}
        if camera not in self._cameras:
            shape, fields = (1, world.layout.robots), camera.fields.items()
            room = {name: np.zeros((*shape, *field.sized()), field.kind) for name, field in fields}
            self._cameras[camera] = Cameras(world, replace(camera, latency=0.0), room)
        cameras = self._cameras[camera]
        if cameras.taken[0, robot] != self.step:  # otherwise, the images were already taken in this step, for another robot
            cameras.measure(0, 1)
        due = cameras.taken[0, robot] == self.step
        return {name: images[0, robot] for name, images in cameras.reading.items()} if due else {}

    def standing(self) -> Sequence[RobotStanding]:
        """Return the state of every robot's episode."""
        status = self._world.status
        return [
            RobotStanding(
                ended=bool(status.ends.outcome[0, r] != RUNNING),
                goal=robot.goal,
                outcome=int(status.ends.outcome[0, r]),
                end_time=float(status.ends.step[0, r]) * self.dt,
                clipped=int(status.orders.clipped[0, r]),
                contacts=robot.contacts,
                failure=self._world.failure(0, r, robot.failure),
                target=(float(robot.target[0]), float(robot.target[1]), float(robot.target[2])),
                by_hand=robot.by_hand,
            )
            for r, robot in enumerate(self._fleet)
        ]

    def contacts(self) -> Sequence[tuple[int, Contact]]:
        """Return the robots that have begun to touch an object since the last call."""
        taken, self._contacts = self._contacts, []
        return taken

    def touching(self) -> Bools:
        """Return whether each robot (R,) is currently touching an object."""
        status = self._world.status
        touched: Bools = status.touching.pedestrian[0].any(-1) | status.touching.wall[0] | status.touching.robot[0].any(-1)
        return touched

    def close(self) -> None:
        """Stop the engine's threads."""
        self._engine.close()
