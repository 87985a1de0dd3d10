"""The common base of drivers for external simulators, which set up an episode, observe it, and let the referee apply the rules.

The simulator has its own time, which it publishes on ``<driver>/clock`` and which restarts at 0 when the simulator is restarted.
Stamps in the graph are the stamp of the start of the episode plus the time that has elapsed since. A driver stores the last clock
message, the odometry of every robot and the received scans. `wait` converts this data to physics steps of the episode: a step is
reached when the clock and the odometry of every robot have reached its time, and the poses are those at that time. Pedestrians are
placed at the positions given by the crowd, and keep their velocities between updates.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import rospy
from agora_ros.calls import Call, CallError
from agora_ros.conversions import from_pose, from_twist, to_twist
from agora_ros.names import ros_name
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan

from agora.core.recording import Contact
from agora.core.state import Array, Bools, Floats, Robots
from agora.draft.stage import Stage
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Ability
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.world3d.solids import SolidGroup, solids
from agora.node_logic.driver import Entity, PeopleAtStep, Reading, RobotStanding, SimulatorLostError
from agora.node_logic.referee import Referee
from agora.node_logic.track import Sighting, Track
from agora.robots.model import RobotModel
from agora.world.start import Start
from agora_simulators.drivers.models import Models
from agora_simulators.drivers.watched import Watched

_BACK, _SILENCE = 0.5, 5.0  # s of simulated time by which the clock may go back, s of wall time without messages
_RESTS, _COMES_TO_REST = 0.01, 3.0  # m/s and rad/s; s of wall time after which a robot starts in its current state
WALLS, PERSON = "agora_walls_", "pedestrian_"  # prefixes of the names of these models
_AT_ONCE = 1e-6  # s; data from the very start may have been published before all models were in place


class Foreign(Models):
    """A simulator in another process.

    Args:
        patience: time to wait for the simulator's services and for the first odometry of a robot, s.

    Raises:
        InputError: the simulator's services do not appear.
    """

    services: ClassVar[tuple[str, ...]]
    start_it: ClassVar[str]
    _pause: Callable[[], Any]
    _resume: Callable[[], Any]
    can: frozenset[Ability] = frozenset({"pause", "delete"})

    def __init__(self, patience: float = 30.0) -> None:
        super().__init__()
        self._patience, self._news = patience, threading.Condition()
        self.began, self.step, self.dt = 0.0, 0, 1 / 30
        self._now, self._zero = -1.0, 0.0  # s of simulator time: now, and the start of the episode
        self.names: tuple[str, ...] = ()
        self.models: tuple[RobotModel, ...] = ()
        self._watched: list[Watched] = []
        self._calls: list[Call] = []
        self._scans: list[tuple[int, float, Floats]] = []
        self._told, self._maps, self._commanded = "", 0, np.zeros((0, 3), np.float32)
        self._referee, self._lost, self._alive = Referee(), "", time.monotonic()
        for service in self.services:
            try:
                rospy.wait_for_service(service, patience)
            except rospy.ROSException as error:
                raise InputError(f"{self.name}: the service {service} is not available; {self.start_it}") from error
        self._clock = rospy.Subscriber(f"{self.name}/clock", Clock, self._tick, queue_size=1, tcp_nodelay=True)

    def _service(self, name: str, kind: Any) -> Callable[..., Any]:
        """Return a function that calls a service with the given request fields and raises `CallError` if the service is gone."""
        call = Call(name, kind, self._patience)
        self._calls.append(call)

        def ask(*fields: Any) -> Any:
            call.send(kind._request_class(*fields))
            return call.answer(rospy.is_shutdown)

        return ask

    @abstractmethod
    def _show_bodies(self, name: str, bodies: Sequence[SolidGroup]) -> None:
        """Add a static model to the world: the walls of a map, or an obstacle."""

    @abstractmethod
    def _show_robot(self, name: str, model: RobotModel, pose: Array, scan_period: float) -> None:
        """Add a robot to the world, with the topics given by `_topic`."""

    @abstractmethod
    def _show_pedestrian(self, name: str, radius: float, pose: Array) -> None:
        """Add a pedestrian to the world."""

    @abstractmethod
    def _place(self, name: str, pose: Array) -> None:
        """Move a model."""

    def _place_all(self, poses: Mapping[str, Array]) -> None:
        """Move several models."""
        for name, pose in poses.items():
            self._place(name, pose)

    def pause(self) -> None:
        """Pause time."""
        with self._noticing():
            self._pause()

    def resume(self) -> None:
        """Resume time; no clock was published while it was paused."""
        with self._noticing():
            self._resume()
        self._alive = time.monotonic()
        for robot in self._watched:
            robot.alive = self._alive

    def _in_robot_frame(self, twist: Floats, heading: float) -> Floats:
        """Convert the twist in a robot's odometry to the robot's frame."""
        return twist

    def _topic(self, robot: str, what: str) -> str:
        """Return the name of a robot's topic in the simulator; the topics of the graph's contract belong to the node."""
        return f"{robot}/{self.name}/{what}"

    @property
    def robots(self) -> Robots:
        """The robots of the world, (1, R)."""
        return self._referee.robots

    @property
    def commands(self) -> Floats:
        """The twists (R, 3) from the last `command`, before limits and delay."""
        return self._commanded

    @property
    def done(self) -> bool:
        """True if the episodes of all robots have ended."""
        return self._referee.done

    def begin(self, start: Start, stage: Stage, names: Sequence[str], since: float) -> None:
        """Load an episode; see `agora.node_logic.driver.Driver`.

        Existing robots and walls are reused, because gzserver 11.1 aborts when a robot with planar_move is deleted.
        """
        self._lost, self._alive = "", time.monotonic()
        with self._noticing():
            self._begin(start, stage, names, since)

    def _begin(self, start: Start, stage: Stage, names: Sequence[str], since: float) -> None:
        if not self._walls:
            self._clear()
        self._learn_time()
        self._halt()
        models = tuple(robot.model for robot in start.robots)
        spelled = [ros_name(name) for name in names]
        if [(robot.name, robot.model, robot.scan_period) for robot in self._watched] != [
            (name, model, stage.periods.sensor) for name, model in zip(spelled, models, strict=True)
        ]:
            self._forget_robots()
        self.names, self.models = tuple(names), models
        self.dt, self.step, self._commanded = stage.periods.physics, 0, np.zeros((len(names), 3), np.float32)
        self._referee.begin(start, stage, names, since)
        self._furniture = start.furniture + tuple(thing.furniture for thing in start.things)
        self.set_map(start.map)
        for name in [n for n in self._shown if n not in spelled and not n.startswith(PERSON)]:
            self._take_away(name)
        for number, (name, robot) in enumerate(zip(spelled, start.robots, strict=True)):
            if number < len(self._watched):
                self._place(name, robot.pose)
            else:
                self._watch(name, robot.model, robot.pose, stage.periods.sensor)
        self._show_people(self._referee.people)
        self._set_off()
        with self._news:
            self._scans, self._zero, self.began = [], self._now, since
            for watched, robot in zip(self._watched, start.robots, strict=True):
                watched.track = Track(self._zero, robot.pose)

    def _halt(self) -> None:
        """Pause time once the robots have stopped, which would otherwise begin an episode with their last command."""
        for robot in self._watched:
            assert robot.command is not None
            robot.command.publish(Twist())
        self.resume()
        with self._news:
            self._news.wait_for(
                lambda: all(np.abs(robot.track.last.twist).max() < _RESTS for robot in self._watched), _COMES_TO_REST
            )
        self.pause()

    def _set_off(self) -> None:  # noqa: B027 most have nothing to do
        """Advance to the start of the episode, once all models are in place."""

    def _learn_time(self) -> None:
        """Wait for the clock of a newly connected simulator, which does not publish its clock while time is paused.

        Raises:
            InputError: the simulator does not publish a clock.
        """
        if self._now < 0.0:
            self.resume()
            with self._news:
                if not self._news.wait_for(lambda: self._now >= 0.0, self._patience):
                    raise InputError(f"{self.name}: no node publishes the time on {self._clock.resolved_name}; {self.start_it}")

    def _forget_robots(self) -> None:
        for robot in self._watched:
            robot.close()
            self._take_away(robot.name)
        self._watched = []

    def set_map(self, place: Map) -> None:
        """Change the static surroundings.

        Every map is a model with a new name, because gzserver 11.1 may lose a model whose name was just deleted.
        """
        bodies = solids(Place(place, self._furniture)).bodies
        if (told := repr(bodies)) == self._told:
            return
        if self._walls:
            self._remove(self._walls)
        self._maps += 1
        self._walls, self._told = f"{WALLS}{self._maps}", told
        self._show_bodies(self._walls, bodies)

    def _watch(self, name: str, model: RobotModel, pose: Array, scan_period: float) -> None:
        """Add a robot to the world and subscribe to its topics."""
        robot = Watched(name, model, scan_period, Track(self._now, pose))
        number = len(self._watched)
        self._show_robot(name, model, pose, scan_period)
        self._watched.append(robot)
        self._shown.add(name)
        robot.command = self._commands(self._topic(name, "cmd_vel"))
        odometry = rospy.Subscriber(
            self._topic(name, "odom"), Odometry, lambda m: self._receive_odometry(robot, m), tcp_nodelay=True
        )
        scans = rospy.Subscriber(self._topic(name, "scan"), LaserScan, lambda m: self._receive_scan(number, m), queue_size=4)
        robot.topics = (robot.command, odometry, scans)

    def _commands(self, topic: str) -> rospy.Publisher:
        """Return the publisher of a robot's twists."""
        return rospy.Publisher(topic, Twist, queue_size=1, tcp_nodelay=True)

    def _tick(self, message: Any) -> None:
        now = message.clock.to_sec()
        with self._news:
            if now < self._now - _BACK:
                self._lost = f"its clock jumped back from {self._now:.2f} to {now:.2f} s: it was restarted"
            self._now, self._alive = now, time.monotonic()
            self._news.notify_all()

    def _receive_odometry(self, robot: Watched, message: Any) -> None:
        pose, stamp = from_pose(message.pose.pose), message.header.stamp.to_sec()
        with self._news:
            if stamp < self._zero + _AT_ONCE:
                return  # late message from the previous episode
            robot.see(Sighting(stamp, pose, self._in_robot_frame(from_twist(message.twist.twist), float(pose[2]))))
            self._news.notify_all()

    def _receive_scan(self, number: int, message: Any) -> None:
        ranges = np.asarray(message.ranges, np.float32)
        with self._news:
            self._scans.append((number, message.header.stamp.to_sec(), ranges))
            self._news.notify_all()

    def spawn(self, entity: Entity) -> None:
        """Add an obstacle to the world; robots are only added with an episode."""
        name = ros_name(entity.name)
        if name in self._shown:
            raise InputError(f"{self.name}: {entity.name!r} already exists")
        if entity.kind == "robot":
            raise InputError(f"{self.name}: robots can only be added with an episode; add {entity.name!r} to the robot setup")
        piece = Furniture(entity.furniture, *(float(v) for v in entity.pose))
        self._show_bodies(name, solids(Place(Map.open((-1.0, -1.0), (1.0, 1.0)), (piece,))).furniture)
        self._shown.add(name)
        self._referee.spawn(entity)

    def _known(self, name: str) -> str:
        spelled = ros_name(name)
        if spelled not in self._shown:
            raise UnknownNameError("robot or obstacle", name, sorted(self._shown))
        return spelled

    def move(self, name: str, pose: Array) -> None:
        """Move a robot or obstacle."""
        spelled = self._known(name)
        self._place(spelled, np.asarray(pose, float))
        with self._news:
            for robot in self._watched:
                if robot.name == spelled:
                    robot.track = Track(self._now, pose)
        self._referee.move(name, pose)

    def delete(self, name: str) -> None:
        """Delete an obstacle."""
        spelled = self._known(name)
        if name in self.names:
            raise InputError(f"{self.name}: {name!r} is a robot of the episode; start an episode without it")
        self._take_away(spelled)
        self._referee.delete(name)

    def set_goal(self, name: str, goal: Array) -> int:
        """Give a robot another goal."""
        return self._referee.set_goal(name, goal)

    def set_pedestrians(self, people: PeopleAtStep) -> None:
        """Receive external pedestrians and show them."""
        self._referee.set_pedestrians(people)

    def _show_people(self, people: PeopleAtStep) -> None:
        """Show all pedestrians at their current positions."""
        now, traits = people.now, people.traits
        here = {f"{PERSON}{traits.id[0, i]}": i for i in np.flatnonzero(now.active[0])}
        for name in [n for n in self._shown if n.startswith(PERSON) and n not in here]:
            self._take_away(name)
        poses = {name: np.array([now.x[0, i], now.y[0, i], now.heading[0, i]], float) for name, i in here.items()}
        self._place_all({name: pose for name, pose in poses.items() if name in self._shown})
        for name in [name for name in here if name not in self._shown]:
            self._show_pedestrian(name, float(traits.radius[0, here[name]]), poses[name])
            self._shown.add(name)

    def command(self, twists: Floats, failures: Mapping[int, str]) -> None:
        """Send twists to the robots, within their limits; stop robots whose planner failed or whose episode has ended."""
        judge, self._commanded = self._referee, twists
        for number, reason in failures.items():
            judge.fail(number, reason)
        for number, (robot, standing) in enumerate(zip(self._watched, judge.standing(), strict=True)):
            assert robot.command is not None
            robot.command.publish(to_twist(np.zeros(3) if standing.ended else judge.allowed(number, twists[number])))

    def advance(self) -> None:
        """Do nothing: time passes by itself."""
        raise InputError(f"{self.name} cannot take single steps; start without synchronous:=true")

    def wait(self, seconds: float) -> bool:
        """Wait until the world has advanced by a physics step, apply the rules to that step, and move the pedestrians.

        Raises:
            SimulatorLostError: the simulator is gone or was restarted; the next `begin` sets up everything again.
        """
        with self._noticing():
            return self._wait(seconds)

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        """Treat a service that does not answer in this context as the loss of the simulator."""
        try:
            yield
        except CallError as error:
            self._lost = str(error)
            raise self._give_up() from error

    def _give_up(self) -> SimulatorLostError:
        """Return the error for a simulator that is gone, and forget the models that were added to it."""
        self._shown.clear()
        self._walls = self._told = ""
        for call in self._calls:
            call.drop()
        for robot in self._watched:
            robot.close()
        self._watched, self._now, reason = [], -1.0, self._lost
        return SimulatorLostError(f"{self.name}: {reason}; {self.start_it}")

    def _wait(self, seconds: float) -> bool:
        with self._news:
            due = self._moment(self.step + 1) - _AT_ONCE
            self._news.wait_for(lambda: self._seen_until() >= due, seconds)
            if not self._lost:
                self._lost = self._silence()
            if self._lost:
                raise self._give_up()
            if self._seen_until() < due:
                return False
            reached = int((self._seen_until() - self._zero + _AT_ONCE) / self.dt)
        self._judge(reached)
        self._show_people(self._referee.people)
        return True

    def _moment(self, step: int) -> float:
        """Return the time of a physics step on the simulator's clock, s."""
        return self._zero + step * self.dt

    def _seen_until(self) -> float:
        """Return the time up to which all data is available, on the simulator's clock, s."""
        return min([self._now, *(robot.track.last.time for robot in self._watched)])

    def _silence(self) -> str:
        """Return a description of the silent topics that show that the simulator is lost; empty if there are none."""
        now = time.monotonic()
        if now - self._alive > _SILENCE:
            return f"no message on {self._clock.resolved_name} for {_SILENCE:g} s"
        silent = [robot.name for robot in self._watched if now - robot.alive > _SILENCE]
        return f"no odometry of {', '.join(silent)} for {_SILENCE:g} s" if silent else ""

    def _judge(self, reached: int) -> None:
        """Pass the robots' poses at every physics step up to ``reached`` to the referee."""
        for step in range(self.step + 1, reached + 1):
            with self._news:
                seen = [robot.track.at(self._moment(step)) for robot in self._watched]
            poses = np.array([one.pose for one in seen]).reshape(-1, 3)
            self._referee.observe(step, poses, np.array([one.twist for one in seen], np.float32).reshape(-1, 3))
        self.step = reached

    def readings(self) -> Sequence[Reading]:
        """Return the scans up to the current step that have arrived since the last call.

        A scan from the very start of the episode is left out, because it may have been taken while the world was being set up.
        """
        with self._news:
            now = self._moment(self.step) + _AT_ONCE
            scans, self._scans = [s for s in self._scans if s[1] <= now], [s for s in self._scans if s[1] > now]
        read = [
            self._watched[number].reading(number, stamp - self._zero, ranges)
            for number, stamp, ranges in scans
            if stamp >= self._zero + _AT_ONCE
        ]
        return [reading for reading in read if reading is not None]

    def standing(self) -> Sequence[RobotStanding]:
        """Return the state of every robot's episode."""
        return self._referee.standing()

    def contacts(self) -> Sequence[tuple[int, Contact]]:
        """Return the robots that have been observed to begin touching an object since the last call."""
        return self._referee.contacts()

    def touching(self) -> Bools:
        """Return whether each robot is currently touching an object."""
        return self._referee.touching()

    def close(self) -> None:
        """Release all resources, and leave the world as it is."""
        self._clock.unregister()
        for robot in self._watched:
            robot.close()
