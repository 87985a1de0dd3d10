"""The simulator node: services and topics around one `agora.node_logic.driver.Driver`.

Service handlers and subscribers only queue work or store data; only the thread in `SimulatorNode.run` uses the driver. Stale data:
a `cmd_vel` is valid for ``cmd_vel_timeout`` s of simulated time, after which the robot stops; pedestrians continue at their
velocities for 1 s and then stop; data from another episode is ignored. Nothing in this node waits for simulated time, because the
node itself produces it.
"""

from __future__ import annotations

import gc
import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
import rospy
from agora_ros.calls import CallError
from agora_ros.conversions import from_episode, from_map, from_pedestrians, from_pose2d, model_of
from agora_ros.names import ros_name
from agora_ros.parameters import own_or_graphs
from std_srvs.srv import Trigger

from agora.errors import AgoraError, InputError
from agora.node_logic.driver import Entity, PeopleAtStep, SimulatorLostError
from agora_msgs import srv
from agora_msgs.msg import Episode, Pedestrians
from agora_simulators.display import Display
from agora_simulators.drivers import make_driver
from agora_simulators.lockstep import LockStep

_IDLE = 0.1  # s of wall time between two checks for requests
_BEHIND = 0.25  # s of wall time beyond which a delay is not caught up


def parameter(name: str, default: Any) -> Any:
    """Return a private parameter, or the graph's parameter with the same name.

    Raises:
        InputError: the value has a different type from the default, or is a number that is not positive.
    """
    value = own_or_graphs(name, default)
    if isinstance(default, bool) != isinstance(value, bool) or not isinstance(value, type(default) | int):
        raise InputError(f"parameter {name}: expected a value of the same type as {default!r}, got {value!r}")
    if isinstance(default, float) and not (math.isfinite(value) and value > 0):
        raise InputError(f"parameter {name}: expected a number above 0, got {value!r}")
    return value


class SimulatorNode:
    """Connects a driver to the graph.

    Raises:
        InputError: a parameter is invalid, the simulator cannot be reached, or it cannot run in lock step.
    """

    def __init__(self) -> None:
        self._synchronous = parameter("synchronous", False)
        self._time_scale, self._watchdog = parameter("time_scale", 1.0), parameter("cmd_vel_timeout", 0.5)
        patience, command_patience = parameter("step_timeout", 10.0), parameter("command_timeout", 1.0)
        self._driver = make_driver(str(rospy.get_param("~driver", rospy.get_param("simulator", "native"))))
        self._steps = "step" in self._driver.can
        if self._synchronous and not self._steps:
            self._driver.close()
            raise InputError(
                f"synchronous: {self._driver.name} cannot take single steps; use simulator:=native or synchronous:=false"
            )
        self._work: queue.Queue[tuple[Callable[[], Any], Future[Any]]] = queue.Queue()
        self._news, self._beginning = threading.Condition(), 0
        self._said: dict[str, tuple[int, int]] = {}
        self._people: Pedestrians | None = None
        self._room = PeopleAtStep.room(0)
        self._episode, self._control = Episode(), 1
        self._paused, self._interrupted, self._due = True, "", 0.0
        self._display = Display(self._driver, self._news)
        self._lockstep = LockStep(patience, command_patience, self._news, lambda: self._beginning > 0)
        self._advertise()

    def _advertise(self) -> None:
        if not self._synchronous:  # in lock step, the crowd returns them in its answer
            rospy.Subscriber("pedsim_simulator/pedestrians", Pedestrians, self._receive_people, queue_size=1, tcp_nodelay=True)
        self._display.tell_status(self._episode, self._interrupted)
        for name, kind, handler in (
            ("begin", srv.BeginEpisode, self._begin),
            ("set_map", srv.SetMap, self._set_map),
            ("spawn", srv.Spawn, self._spawn),
            ("move", srv.Move, self._move),
            ("delete", srv.Delete, self._delete),
            ("set_pedestrians", srv.SetPedestrians, lambda r: self._set_people(r.pedestrians)),
            ("set_goal", srv.SetGoal, self._set_goal),
            ("pause", Trigger, lambda r: self._pause()),
            ("resume", Trigger, lambda r: self._resume()),
        ):
            self._serve(name, kind, handler)
        rospy.Service("simulator/step", srv.Step, lambda request: self._ask(lambda: self._step(request.steps)))
        rospy.Service("simulator/info", srv.GetSimulator, lambda _: self._ask(self._info))

    def _serve(self, name: str, kind: Any, handler: Callable[[Any], dict[str, Any] | None]) -> None:
        """Offer a service whose response contains either success and the fields that the handler returns, or the error."""

        def answer(request: Any) -> Any:
            self._beginning += name == "begin"
            try:
                fields = self._ask(lambda: handler(request)) or {}
            except (AgoraError, ValueError) as error:
                rospy.logerr(f"simulator/{name}: {error}")
                return kind._response_class(success=False, message=str(error))
            finally:
                self._beginning -= name == "begin"
            return kind._response_class(success=True, message="", **fields)

        rospy.Service(f"simulator/{name}", kind, answer)

    def _ask(self, task: Callable[[], Any]) -> Any:
        """Have a task run between two steps, and return its result; called in service threads."""
        future: Future[Any] = Future()
        self._work.put((task, future))
        return future.result()

    def run(self) -> None:
        """Work until the node shuts down."""
        gc.freeze()  # existing objects stay, so that garbage collection only checks episodes
        while not rospy.is_shutdown():
            if self._paused:
                self._work_for(_IDLE)
            elif not self._steps:
                self._work_for(0.0)
                self._follow()
            elif self._synchronous:
                self._work_for(0.0)
                if not self._paused:
                    self._tick()
            else:
                self._work_for(self._due - time.monotonic())
                if not self._paused and time.monotonic() >= self._due:
                    self._tick()
        self._driver.close()
        self._lockstep.close()

    def _work_for(self, seconds: float) -> None:
        """Run the next task in the queue, waiting for it up to ``seconds``."""
        try:
            task, future = self._work.get(timeout=seconds) if seconds > 0 else self._work.get_nowait()
        except queue.Empty:
            return
        try:
            future.set_result(task())
        except Exception as error:  # noqa: BLE001 the thread that asked raises it
            future.set_exception(error)

    def _tick(self) -> None:
        """Advance the world by one physics step."""
        try:
            self._tick_together() if self._synchronous else self._tick_freely()
        except SimulatorLostError as error:
            self._lose(str(error))

    def _tick_freely(self) -> None:
        driver, now = self._driver, time.monotonic()
        self._due = max(self._due + driver.dt / self._time_scale, now - _BEHIND)
        self._show()
        if driver.done:
            self._paused = True
            return
        if (people := self._people) is not None and people.step > self._room.step:
            self._set_people(people)
        driver.command(self._twists(), {})
        driver.advance()
        self._show()

    def _tick_together(self) -> None:
        driver = self._driver
        self._show()
        if driver.done:
            self._paused = True
            return
        plans = driver.step % self._control == 0
        try:
            people, answer = self._lockstep.exchange(driver, self._display.robots, plans, self._display.topics)
        except CallError as error:
            self._lockstep.close()
            if not self._beginning:
                self._interrupt(str(error))
            return
        if people is not None:
            self._set_people(people)
        if answer is not None:
            driver.command(*answer)
        driver.advance()
        self._show()

    def _follow(self) -> None:
        """Publish the state of a simulator that runs in real time."""
        if self._paused:
            return
        self._show()
        try:
            if not self._driver.wait(0.05):
                return
            if (people := self._people) is not None and people.step > self._room.step:
                self._set_people(people)
            self._driver.command(self._twists(), {})
            self._show()
            if self._driver.done:
                self._pause()
        except SimulatorLostError as error:
            self._lose(str(error))

    def _twists(self) -> np.ndarray:
        """Return the latest command of every robot (R, 3); robots whose last command is too old stop."""
        driver, limit = self._driver, self._watchdog / self._driver.dt
        twists = np.zeros((len(driver.names), 3), np.float32)
        for r, name in enumerate(driver.names):
            twist, received = self._display.topics[name].command()
            before, since = self._said.get(name, (0, 0))
            if received != before:
                self._said[name] = received, driver.step
            elif driver.step - since > limit and twist.any():
                rospy.logwarn(
                    f"robot {name!r}: no cmd_vel for {self._watchdog:g} s; it stops until the next command. Is its planner running?"
                )
                self._display.topics[name].forget()
                continue
            twists[r] = twist
        return twists

    def _receive_people(self, message: Pedestrians) -> None:
        self._people = message

    def _set_people(self, message: Pedestrians) -> None:
        driver, count = self._driver, len(message.present)
        if message.step > driver.step + 1 or (message.header.stamp and message.header.stamp.to_sec() < driver.began - 1e-9):
            return  # from another episode
        if count > self._room.slots:
            self._room = PeopleAtStep.room(count)
        self._room = replace(self._room, step=message.step)
        from_pedestrians(message, self._room.now, self._room.traits, self._room.minds)
        driver.set_pedestrians(self._room)

    def _begin(self, request: Any) -> None:
        episode = request.episode
        start, stage = from_episode(episode)
        names = [robot.name for robot in episode.robots]
        self._check_names(names)
        self._paused, self._interrupted, self._people = True, "", None
        self._driver.begin(start, stage, names, self._display.clock.next())
        gc.collect()  # the previous world is a reference cycle
        self._episode, self._control = episode, stage.periods.steps("control")
        self._room = replace(self._room, step=-1)
        driven = {robot.name: robot.navigation in ("", "agora") for robot in episode.robots}
        self._lockstep.begin(driven, start.crowd_size > 0)
        self._adopt_robots()
        self._display.begin()
        self._display.tell_status(self._episode, self._interrupted)

    def _check_names(self, names: Sequence[str]) -> None:
        spaces = [ros_name(name) for name in names]
        if len(set(spaces)) < len(names):
            raise InputError(
                f"robots {list(names)} share topics {sorted(spaces)}: give them names that differ in letters and digits"
            )

    def _adopt_robots(self) -> None:
        self._said = {name: (received, 0) for name, received in self._display.adopt_robots().items()}

    def _set_map(self, request: Any) -> None:
        if self._plays:
            raise InputError("the map comes with the episode: set map_file and call reset_task, or publish on request_new_map")
        self._driver.set_map(from_map(request.map))

    @property
    def _plays(self) -> bool:
        """True once an episode has begun; from then on, all nodes of the graph share the episode's robots and map."""
        return bool(self._episode.entry)

    def _spawn(self, request: Any) -> None:
        coming = [e.name for e in request.entities if e.kind == "robot"]
        if coming and self._plays:
            raise InputError(
                f"robots {coming}: robots only come with the episode; list them in robot_setup_file and call reset_task"
            )
        self._check_names([*coming, *(name for name in self._driver.names if name not in coming)])
        for entity in request.entities:
            if entity.kind not in ("robot", "obstacle"):
                raise InputError(f"{entity.name!r}: no kind of entity called {entity.kind!r}; expected obstacle or robot")
            is_robot, pose = entity.kind == "robot", from_pose2d(entity.pose)
            model = model_of(entity.model) if is_robot else None
            furniture = "" if is_robot else entity.model
            self._driver.spawn(Entity(entity.name, entity.kind, pose, model, furniture, entity.description))
        self._adopt_robots()

    def _move(self, request: Any) -> None:
        if len(request.names) != len(request.poses):
            raise InputError(f"got {len(request.names)} names and {len(request.poses)} poses; give one pose per name")
        for name, pose in zip(request.names, request.poses, strict=True):
            self._driver.move(name, from_pose2d(pose))

    def _delete(self, request: Any) -> None:
        if "delete" not in self._driver.can:
            raise InputError(f"{self._driver.name} cannot remove entities")
        if self._plays and (needed := [name for name in request.names if name in self._driver.names]):
            raise InputError(
                f"robots {needed}: robots cannot be removed during an episode; change robot_setup_file and call reset_task"
            )
        for name in request.names:
            self._driver.delete(name)
        self._adopt_robots()

    def _set_goal(self, request: Any) -> dict[str, Any]:
        """Give a robot a goal, and resume time if it had stopped because all robots' episodes had ended."""
        stood = self._driver.done and not self._interrupted
        number = self._driver.set_goal(request.robot, from_pose2d(request.goal))
        self._display.tell_status(self._episode, self._interrupted)
        if stood:
            self._resume()
        return {"goal": number}

    def _pause(self) -> None:
        self._paused = True
        self._driver.pause()

    def _resume(self) -> None:
        if self._interrupted:
            raise InputError(f"the episode was interrupted ({self._interrupted}); start an episode")
        self._driver.resume()
        self._paused, self._due = False, time.monotonic()

    def _step(self, steps: int) -> Any:
        if not self._paused or not self._steps:
            why = "pause the simulator first" if not self._paused else f"{self._driver.name} cannot take single steps"
            return srv.StepResponse(False, why, self._display.stamp())
        for _ in range(steps):
            self._tick()
        self._paused = True
        return srv.StepResponse(not self._interrupted, self._interrupted, self._display.stamp())

    def _info(self) -> Any:
        driver = self._driver
        return srv.GetSimulatorResponse(driver.name, sorted(driver.can), driver.dt, self._synchronous, "")

    def _lose(self, reason: str) -> None:
        """Close the episode of a simulator that is gone and can no longer be paused."""
        rospy.logerr(f"episode {self._episode.number} is interrupted: {reason}")
        self._interrupted, self._paused = reason, True
        self._display.tell_status(self._episode, self._interrupted)

    def _interrupt(self, reason: str) -> None:
        """Close the episode without a result."""
        rospy.logerr(f"episode {self._episode.number} is interrupted: {reason}")
        self._interrupted = reason
        self._pause()
        self._display.tell_status(self._episode, self._interrupted)

    def _show(self) -> None:
        """Publish the messages that are due at the current step, once, and the status of the episode if it has changed."""
        acts = self._driver.step % self._control == 0
        if acts and not self._display.is_shown:
            self._lockstep.observe(self._display.topics)
        self._display.show(ticks=acts or self._driver.done or not self._synchronous)
        self._display.tell_status(self._episode, self._interrupted)
