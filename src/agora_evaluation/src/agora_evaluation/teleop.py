"""Drives a robot by keyboard or joystick, within the limits of its model, while a key or button is held.

Keys: ``w``/``s`` or up/down drive, ``a``/``d`` or left/right turn, ``q``/``e`` drive sideways (if the robot can), ``+``/``-`` set
the fraction of the limits, space stops the robot, ``Q`` or Ctrl-C quits. Joystick (``joy``, ``sensor_msgs/Joy``): two axes, and a
dead-man button.

Dead-man function: a key has an effect for ``~hold`` s after it was last seen (a terminal repeats a held key after up to half a
second). A joystick has an effect while its button is held and its last message is younger than ``~hold``. After that, the node
commands the robot to stop for one second, and then publishes nothing, so that other nodes may drive. While a person is driving,
this node publishes ``cmd_vel``; start the graph with ``navigation:=external``. The node uses the wall clock, because a person is
driving.

Demonstrations: start the graph with ``record_data:=true`` and the recorder with ``record_scans``; ``agora bag --demonstrations``
converts the bags (one per episode) to arrays for learning.

Parameters: ``~robot`` (default: the first robot of the episode), ``~model`` (default: the robot's model in the episode), ``~hold``
(0.6), ``~share`` (0.5), ``~rate`` (20), ``~axis_linear`` (1), ``~axis_angular`` (0), ``~button`` (4).
"""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO

import rospy
from agora_ros.conversions import model_of, to_twist
from agora_ros.names import ros_name
from geometry_msgs.msg import Twist
from sensor_msgs.msg import Joy

from agora.errors import AgoraError
from agora.robots.model import RobotModel
from agora_msgs.msg import Episode

KEYS = {
    "w": (0, 1.0), "s": (0, -1.0), "q": (1, 1.0), "e": (1, -1.0), "a": (2, 1.0), "d": (2, -1.0),
    "\x1b[A": (0, 1.0), "\x1b[B": (0, -1.0), "\x1b[D": (2, 1.0), "\x1b[C": (2, -1.0),
}  # fmt: skip
"""The component of the twist (vx, vy, omega) that each key changes, and its sign."""
_STOP = 1.0  # s during which a released robot is commanded to stop
HELP = "w/s: drive, a/d: turn, q/e: sideways, +/-: faster/slower, space: stop, Q: quit"


@dataclass
class Held:
    """The keys or joystick axes that are currently held, converted to a twist.

    Attributes:
        model: model of the robot, with its limits.
        hold: time for which a key or a joystick message has an effect, s.
        share: fraction of the robot's limits that is used, in (0, 1].
    """

    model: RobotModel
    hold: float = 0.6
    share: float = 0.5
    _axes: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, float("-inf"))] * 3)
    _stick: tuple[float, float, float] = (float("-inf"), 0.0, 0.0)
    _last: float = float("-inf")

    def press(self, key: str, now: float) -> None:
        """Register a key seen at ``now``, s."""
        if key in KEYS:
            axis, side = KEYS[key]
            self._axes[axis] = (side, now)
        elif key in "+=-_":
            self.share = min(max(self.share + (0.1 if key in "+=" else -0.1), 0.1), 1.0)
        elif key == " ":
            self._axes = [(0.0, now)] * 3
            self._stick = (float("-inf"), 0.0, 0.0)
            self._last = now

    def push(self, linear: float, angular: float, held: bool, now: float) -> None:
        """Register a joystick's axes in [-1, 1] at ``now``, s; they have no effect unless its button is held."""
        self._stick = (now, linear, angular) if held else (float("-inf"), 0.0, 0.0)

    def twist(self, now: float) -> tuple[float, float, float] | None:
        """Return vx, vy and omega at ``now``; zeros for one second after all keys and buttons are released, then None."""
        sides = [side if now - since < self.hold else 0.0 for side, since in self._axes]
        if now - self._stick[0] < self.hold:
            sides = [self._stick[1], 0.0, self._stick[2]]
        if any(sides):
            self._last = now
            return self._within(sides)
        return (0.0, 0.0, 0.0) if now - self._last < _STOP else None

    def _within(self, sides: list[float]) -> tuple[float, float, float]:
        """Return a twist from fractions of the model's limits."""
        forward, sideways, turn = (max(-1.0, min(1.0, side)) * self.share for side in sides)
        low, high = self.model.vx
        vx = forward * high if forward > 0 else forward * -low
        return vx, sideways * self.model.vy, turn * self.model.omega


class TeleopNode:
    """The teleoperation node, which publishes ``<robot>/cmd_vel``; see the module's docstring."""

    def __init__(self) -> None:
        self._robot = str(rospy.get_param("~robot", ""))
        self._model = str(rospy.get_param("~model", ""))
        self._settings = {name: float(rospy.get_param(f"~{name}", value)) for name, value in (("hold", 0.6), ("share", 0.5))}
        self._period = 1.0 / float(rospy.get_param("~rate", 20.0))
        self._stick = [int(rospy.get_param(f"~{n}", v)) for n, v in (("axis_linear", 1), ("axis_angular", 0), ("button", 4))]
        self._held: Held | None = None
        self._publisher: Any = None
        if self._robot and self._model:
            self._take(self._robot, self._model)
        else:
            rospy.loginfo("teleop: waiting for an episode with a robot; to skip this, set ~robot and ~model")
        rospy.Subscriber("task_generator_server/episode", Episode, self._on_episode, queue_size=1)
        rospy.Subscriber("joy", Joy, self._on_joy, queue_size=1)

    def _take(self, robot: str, model: str) -> None:
        try:
            self._held = Held(model_of(model), **self._settings)
        except AgoraError as error:
            rospy.logerr("teleop: %s", error)
            return
        with warnings.catch_warnings():  # rospy recommends a queue, but at exit the stop command in it would never be sent
            warnings.simplefilter("ignore", SyntaxWarning)
            self._publisher = rospy.Publisher(f"{ros_name(robot)}/cmd_vel", Twist, tcp_nodelay=True)
        self._robot = robot
        rospy.loginfo("teleop: driving %s. %s", robot, HELP)

    def _on_episode(self, episode: Episode) -> None:
        """Select the named robot, or the first one; done only once."""
        robots = {robot.name: robot.model for robot in episode.robots}
        if self._held is not None or not robots:
            return
        name = self._robot or next(iter(robots))
        if name not in robots:
            rospy.logerr("teleop: no robot %r in the episode; expected one of %s", name, ", ".join(robots))
            return
        self._take(name, self._model or robots[name])

    def _on_joy(self, joy: Joy) -> None:
        linear, angular, button = self._stick
        if self._held is None:
            return
        if max(linear, angular) >= len(joy.axes) or button >= len(joy.buttons):
            rospy.logwarn_throttle(
                5.0, f"teleop: joy has {len(joy.axes)} axes and {len(joy.buttons)} buttons; set ~axis_*, ~button"
            )
            return
        self._held.push(joy.axes[linear], joy.axes[angular], bool(joy.buttons[button]), time.monotonic())

    def run(self, keys: Callable[[float], str | None]) -> None:
        """Read keys and publish commands until the user quits."""
        rospy.on_shutdown(self.stop)
        while not rospy.is_shutdown():
            end = time.monotonic() + self._period
            while (left := end - time.monotonic()) > 0:
                key = keys(left)
                if key == "Q":
                    rospy.signal_shutdown("quit by key")
                    break
                if key and self._held is not None:
                    self._held.press(key, time.monotonic())
            held = None if self._held is None else self._held.twist(time.monotonic())
            if held is not None and not rospy.is_shutdown():
                self._publisher.publish(to_twist(held))

    def stop(self) -> None:
        """Stop the robot that is being driven."""
        if self._held is not None and self._held.twist(time.monotonic()) is not None:
            self._publisher.publish(to_twist((0.0, 0.0, 0.0)))


@contextmanager
def keyboard(stream: TextIO) -> Iterator[Callable[[float], str | None]]:
    """Yield a function that waits a given number of seconds for a key from a terminal; if the stream is not a terminal, there are
    no keys.

    The terminal's settings are restored at the end of the context.
    """
    if not stream.isatty():
        rospy.loginfo("teleop: no terminal for keyboard input; use a joystick on topic joy")
        yield _no_key
        return
    file = stream.fileno()
    before = termios.tcgetattr(file)
    tty.setcbreak(file)
    try:
        yield lambda wait: _key(file, wait)
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)
        sys.stdout.flush()


def _no_key(wait: float) -> None:
    rospy.rostime.wallsleep(wait)


def _key(file: int, wait: float) -> str | None:
    """Return a key (an arrow key as its three characters), or None after ``wait`` s."""
    if not select.select([file], [], [], wait)[0]:
        return None
    key = os.read(file, 1).decode(errors="replace")
    if key == "\x1b" and select.select([file], [], [], 0.01)[0]:
        key += os.read(file, 2).decode(errors="replace")
    return key
