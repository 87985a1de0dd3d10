"""Handles RViz tools, and requests from other nodes that concern the current episode: poses, goals, resets, and stages of a
curriculum.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import rospy
from agora_ros.calls import CallError, RefusedError
from agora_ros.conversions import from_pose, to_pose2d
from agora_ros.frames import MAP, Frames
from geometry_msgs.msg import PointStamped, PoseStamped, PoseWithCovarianceStamped
from std_msgs.msg import Bool, String

from agora.core.state import Array
from agora.errors import InputError
from agora.maps.frame import moved
from agora_msgs.srv import Move, SetGoal
from agora_task_generator.playlist import TaskModes
from agora_task_generator.services import Service

if TYPE_CHECKING:
    from agora_task_generator.server import TaskGeneratorServer

_CONNECT = 2.0  # s of wall time to wait for the first transforms


class Tools:
    """Implements the run-time part of Arena's modules ``rviz_ui``, ``staged`` and ``dynamic_map``; requests are handled between
    resets, in the server's thread.

    Args:
        server: task generator server that runs the episodes.
        patience: maximum time to wait for the simulator's answers, s.
    """

    def __init__(self, server: TaskGeneratorServer, patience: float) -> None:
        self._server = server
        self._move, self._goal = Service("simulator/move", Move, patience), Service("simulator/set_goal", SetGoal, patience)
        self._robots: dict[str, Any] = {}
        self._frames: Frames | None = None
        self._listen("initialpose", PoseWithCovarianceStamped, lambda m: self._on_pose(m, m.pose.pose, self._estimate))
        for topic in ("goalpose", "move_base_simple/goal"):
            self._listen(topic, PoseStamped, lambda m: self._on_pose(m, m.pose, self._everybody_to))
        self._listen("clicked_point", PointStamped, lambda _: server.later(server.reset))
        self._listen("request_new_map", String, lambda m: server.later(lambda: self._new_map(m.data)))
        self._listen("next_stage", Bool, lambda m: m.data and server.later(lambda: self._stage(1)))
        self._listen("previous_stage", Bool, lambda m: m.data and server.later(lambda: self._stage(-1)))

    @staticmethod
    def _listen(topic: str, kind: Any, heard: Callable[[Any], Any]) -> Any:
        return rospy.Subscriber(topic, kind, heard, queue_size=10)

    def begin(self, robots: list[str]) -> None:
        """Subscribe to goals for these robots only, in addition to goals for all robots; publish the stage of the curriculum."""
        for name in set(self._robots) - set(robots):
            self._robots.pop(name).unregister()
        for name in set(robots) - set(self._robots):
            self._robots[name] = self._listen(f"{name}/move_base_simple/goal", PoseStamped, lambda m, n=name: self._on_goal(m, n))
        self._say_stage()

    def _on_goal(self, message: Any, robot: str) -> None:
        if message._connection_header["callerid"] != rospy.get_name():
            self._on_pose(message, message.pose, lambda pose: self._go([robot], pose))

    def _on_pose(self, message: Any, pose: Any, use: Callable[[Array], None]) -> None:
        self._server.later(lambda: self._try(lambda: use(self._in_map(from_pose(pose), message.header.frame_id))))

    def _in_map(self, pose: Array, frame: str) -> Array:
        """Transform a pose (3,) from another frame to the map frame. The node listens to tf only once the first pose in another
        frame has arrived.

        Raises:
            InputError: there is no transform from the frame to the map.
        """
        if frame.strip("/") in (MAP, ""):
            return pose
        self._frames, end = self._frames or Frames(), time.monotonic() + _CONNECT
        while (moved := self._frames.in_map(pose, frame)) is None and time.monotonic() < end and not rospy.is_shutdown():
            rospy.rostime.wallsleep(0.02)
        if moved is None:
            raise InputError(f"no transform from frame {frame!r} to map: set RViz's fixed frame to map")
        return moved

    def _try(self, use: Callable[[], None]) -> None:
        if self._server.episode is None:
            rospy.logwarn("a pose is ignored: no episode is running")
            return
        try:
            use()
        except (InputError, CallError) as error:
            rospy.logwarn(f"a pose is ignored: {error}")

    @property
    def _guided(self) -> TaskModes | None:
        """Return the playlist if it uses task modes and robots are guided; otherwise None."""
        modes = self._server.playlist
        return modes if isinstance(modes, TaskModes) and modes.generator.stage.robots.name == "guided" else None

    def _estimate(self, pose: Array) -> None:
        """Move the first robot to a pose, and delete the waypoints of guided robots."""
        if (modes := self._guided) is not None:
            self._guide(modes, lambda: modes.generator.estimate_pose(self._in_file(pose)), {**self._server.watch.poses, 0: pose})
            return
        self._move.ask([self._server.episode.robots[0].name], [to_pose2d(pose)])

    def _everybody_to(self, pose: Array) -> None:
        if (modes := self._guided) is not None:
            self._guide(modes, lambda: modes.generator.append_waypoint(self._in_file(pose)), self._server.watch.poses)
            return
        self._go([robot.name for robot in self._server.episode.robots], pose)

    def _in_file(self, pose: Array) -> tuple[float, float, float]:
        """Convert a pose from the frame ``map`` to the frame of the map's file, in which waypoints are stored."""
        x, y, heading = moved(pose, self._server.place.offset).tolist()
        return x, y, heading

    def _guide(self, modes: TaskModes, change: Callable[[], None], poses: dict[int, Array]) -> None:
        """Change the list of waypoints, and continue with the new list; a waypoint that cannot be reached is discarded."""
        before = modes.generator.setup.robots
        change()
        try:
            self._server.carry_on(poses)
        except InputError:
            modes.generator.switch(robots=before)
            raise

    def _go(self, robots: list[str], pose: Array) -> None:
        """Give robots another goal, which appears in the status and is then announced by the server. A robot that cannot stand at
        the goal keeps its old goal.
        """
        for name in robots:
            try:
                self._goal.ask(name, to_pose2d(pose))
            except RefusedError as error:
                rospy.logwarn(f"a goal is ignored: {error}")

    def _new_map(self, algorithm: str) -> None:
        """Begin an episode on a new map, using another generator if one is given."""
        try:
            self._server.request_new_map(algorithm)
        except InputError as error:
            rospy.logwarn(f"request_new_map is ignored: {error}")

    def _stage(self, by: int) -> None:
        modes = self._server.playlist
        if not isinstance(modes, TaskModes):
            rospy.logwarn("next_stage and previous_stage are ignored: a suite is running")
            return
        try:
            modes.generator.next_stage(by)
        except InputError as error:
            rospy.logwarn(f"next_stage and previous_stage are ignored: {error}")
            return
        self._server.show(modes.generator.setup.settings)
        self._say_stage()

    def _say_stage(self) -> None:
        modes = self._server.playlist
        if not isinstance(modes, TaskModes) or "staged" not in modes.generator.setup.modules:
            return
        number, last = modes.generator.stage_number
        rospy.set_param("curr_stage", number)
        rospy.set_param("last_stage_reached", last)
