"""Flatland: avidbots' flatland_server, or Arena's fork, which can be stepped.

The server is started with a world without a map (`EMPTY_WORLD`). Walls and furniture are one static model, so a new map does not
require a new server. Models are passed to the server as files, so the server must run on this machine or share the folder.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import rospy
import rosservice
from agora_ros.calls import Call
from agora_ros.conversions import to_pose2d
from flatland_msgs.srv import DeleteModel, MoveModel, MoveModelRequest, SpawnModel
from geometry_msgs.msg import Twist
from std_srvs.srv import Empty

from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.maps.world3d.flatland import model_yaml
from agora.maps.world3d.solids import SolidGroup
from agora.robots.flatland import disc_yaml, robot_yaml
from agora.robots.model import RobotModel
from agora_simulators.drivers.foreign import Foreign

EMPTY_WORLD = "properties: {velocity_iterations: 10, position_iterations: 10}\nlayers: []\n"
"""An empty Flatland world; the flatland_server parameter ``world_path`` gives the path of a file with this content."""
_PATIENCE, _STANDS = 10.0, 0.2  # s of wall time: to wait for a message that is due; without a tick, after which a clock has stopped


class Flatland(Foreign):
    """Drives a flatland_server, with robots that can turn in place and do not move sideways.

    Arena's fork is recognised by its ``/step_world`` service, offered by the process that spawns models. If its parameter
    ``/train_mode`` is set, the fork waits to be stepped, as lock step requires. This driver corrects the differences in the fork's
    laser and DiffDrive messages (see `agora.robots.flatland`), but not the missing acceleration limits.
    """

    name: ClassVar[str] = "flatland"
    services: ClassVar[tuple[str, ...]] = ("spawn_model", "delete_model", "move_model", "pause", "resume")
    start_it: ClassVar[str] = (
        "start flatland_server with /clock:=flatland/clock, or use start_arena.launch, which starts it if its package is installed"
    )

    def __init__(self, patience: float = 30.0) -> None:
        super().__init__(patience)
        self._fork = rosservice.get_service_uri("/step_world") == rosservice.get_service_uri(rospy.resolve_name("spawn_model"))
        self._stepped = self._fork and bool(rospy.get_param("/train_mode", False))
        self._step_size = float(rospy.get_param("/step_size", 0.005))
        if self._stepped:
            self.can = self.can | {"step"}
        self._step_world = self._service("/step_world", Empty)
        self._movers: list[Call] = []
        self._folder = tempfile.TemporaryDirectory(prefix="agora_flatland_")
        self._spawn_model = self._service("spawn_model", SpawnModel)
        self._delete_model = self._service("delete_model", DeleteModel)
        self._pause, self._resume = self._service("pause", Empty), self._service("resume", Empty)

    def pause(self) -> None:
        """Pause time. A stepped fork waits between two steps anyway, and would ignore steps while it is paused."""
        if not self._stepped:
            super().pause()

    def resume(self) -> None:
        """Resume time."""
        if not self._stepped:
            super().resume()

    def advance(self) -> None:
        """Advance a stepped fork by one physics step; pedestrians are moved first, because the scan at the end of the step sees
        them.
        """
        if not self._stepped:
            super().advance()
        with self._noticing():
            self._show_people(self._referee.coming)
            self._settle_messages()
            for _ in range(round(self.dt / self._step_size)):
                self._step_world()
            self._arrive(self.step + 1)
            self._judge(self.step + 1)

    def _arrive(self, step: int) -> None:
        """Wait for the robots' odometry at a step, and for their scans if scans are due."""
        due = self._moment(step) - self._step_size / 2

        def told() -> bool:
            seen = {number for number, stamp, _ in self._scans if stamp > due}
            return all(
                robot.track.last.time > due
                and (step % round(robot.scan_period / self.dt) > 0 or robot.model.lidar is None or number in seen)
                for number, robot in enumerate(self._watched)
            )

        with self._news:
            if not self._news.wait_for(told, _PATIENCE):
                self._lost = f"no odometry or no scan within {_PATIENCE:g} s of a step"
                raise self._give_up()

    def _settle_messages(self) -> None:
        """Wait until earlier messages have been processed: the server handles messages that arrived before a service call before it
        answers the call.
        """
        self._resume()

    def _learn_time(self) -> None:
        if not self._stepped:
            super()._learn_time()

    def _halt(self) -> None:
        """Do nothing for the fork, whose robots have no inertia; `_set_off` commands robots to stop before the first step."""
        if not self._stepped:
            super()._halt()

    def _set_off(self) -> None:
        """Advance until the fork's own initial steps are over and scans are due, at a multiple of the scan period."""
        if not self._stepped:
            return
        if abs(self.dt / self._step_size - round(self.dt / self._step_size)) > 1e-3:
            raise InputError(f"flatland: /step_size {self._step_size:g} s does not divide the physics period of {self.dt:g} s")
        for robot in self._watched:
            self._wait_for(
                lambda robot=robot: all(topic.get_num_connections() for topic in robot.topics), "ears for a robot's topics"
            )
            robot.topics[0].publish(Twist())
        self._settle_messages()
        self._step_once()
        if self._now < (own := min(5.0, 1000 * self._step_size)) + 1.5 * self._step_size:
            self._wait_for(lambda: self._now > own - self._step_size / 2, "the end of the fork's own first steps")
            rospy.rostime.wallsleep(_STANDS)
        period = max((robot.scan_period for robot in self._watched), default=self.dt)
        while (self._now + self._step_size / 2) % period >= self._step_size:
            self._step_once()

    def _step_once(self) -> None:
        before = self._alive
        self._step_world()
        self._wait_for(lambda: self._alive > before, "the clock after a step")

    def _wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition that the server fulfils by itself, checking 1,000 times per second."""
        end = time.monotonic() + _PATIENCE
        while not condition():
            if time.monotonic() > end:
                self._lost = f"waited {_PATIENCE:g} s for {what}"
                raise self._give_up()
            rospy.rostime.wallsleep(0.001)

    def _spawn(self, name: str, text: str, pose: Array) -> str:
        path = Path(self._folder.name) / f"{name}.model.yaml"
        path.write_text(text)
        answer = self._spawn_model(str(path), name, "", to_pose2d(pose))
        return "" if answer.success else answer.message or "no reason given"

    def _show_robot(self, name: str, model: RobotModel, pose: Array, scan_period: float) -> None:
        self._put(name, robot_yaml(model, name, scan_period, fork=self._fork), pose)

    def _show_pedestrian(self, name: str, radius: float, pose: Array) -> None:
        self._put(name, disc_yaml(radius), pose)

    def _show_bodies(self, name: str, bodies: Sequence[SolidGroup]) -> None:
        self._put(name, model_yaml(bodies), np.zeros(3))

    def _place(self, name: str, pose: Array) -> None:
        self._place_all({name: pose})

    def _place_all(self, poses: Mapping[str, Array]) -> None:
        """Move all models concurrently, each over its own connection: the server handles all pending calls once per cycle."""
        while len(self._movers) < len(poses):
            self._movers.append(Call("move_model", MoveModel, self._patience))
            self._calls.append(self._movers[-1])
        for mover, (name, pose) in zip(self._movers, poses.items(), strict=False):
            mover.send(MoveModelRequest(name, to_pose2d(pose)))
        for mover in self._movers[: len(poses)]:
            mover.answer(rospy.is_shutdown)

    def _remove(self, name: str) -> None:
        self._delete_model(name)

    def _commands(self, topic: str) -> rospy.Publisher:
        """Return the publisher of a robot's twists. It has no queue, because with a queue, a thread would send the twists only some
        time after `command`.
        """
        if not self._stepped:
            return super()._commands(topic)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return rospy.Publisher(topic, Twist, tcp_nodelay=True)

    def _in_robot_frame(self, twist: Floats, heading: float) -> Floats:
        if not self._fork:
            return twist
        c, s = np.cos(heading), np.sin(heading)
        return np.array([c * twist[0] + s * twist[1], c * twist[1] - s * twist[0], twist[2]], np.float32)

    def close(self) -> None:
        """Leave the world as it is, with all robots stopped."""
        super().close()
        self._folder.cleanup()
