"""The port of one robot: its topics, whose messages are stored until the node processes them.

In an episode, the simulator owns the robot's goal: the simulator's status announces every goal (`Port.follow`), and goals from the
``move_base`` action are set in the simulator. On a map without an episode, the port uses its own goals.
"""

from __future__ import annotations

import re
import threading
from typing import Any

import rospy
from agora_ros.conversions import from_pose, from_pose2d, from_twist, to_twist
from agora_ros.names import ros_name
from geometry_msgs.msg import Twist
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from nav_msgs.srv import GetPlanResponse
from sensor_msgs.msg import LaserScan
from std_msgs.msg import String

from agora.core.recording import Outcome
from agora.core.state import Array
from agora.errors import InputError
from agora.node_logic.navigator import Navigator
from agora_navigation.episode_goal import EpisodeGoals
from agora_navigation.localisation import Localisation
from agora_navigation.messages import on_map, to_grid, to_path
from agora_navigation.move_base import MoveBase

_STAND = (0.0, 0.0, 0.0)
_GLOBAL_EVERY = 1.0  # s between two global costmaps


class Port:
    """Stores a robot's odometry and scans, and publishes its twists, paths and costmaps.

    Args:
        name: name of the robot.
        number: index of the robot in the navigator.
        navigator: navigator that drives the robot.
        changed: condition that is notified when a message arrives; it also guards the stored data.
        localisation: transforms odometry and goals to the map frame; None in lock step, which needs neither.
        takes_goals: whether the port itself accepts goals, in free running.
        episode: sets goals in the episode; None on a map, where the port's own goals are used.
    """

    def __init__(
        self,
        name: str,
        number: int,
        navigator: Navigator,
        changed: threading.Condition,
        localisation: Localisation | None,
        takes_goals: bool = True,
        episode: EpisodeGoals | None = None,
    ) -> None:
        self.name, self.number, self.navigator = name, number, navigator
        self.odometry: Any = None
        self.scan: Any = None
        self._localisation, self._episode, self._number = localisation, episode, 0
        self._taken = -float("inf")
        self._changed, self._said, self._driven, self._grid_at = changed, {}, False, -_GLOBAL_EVERY
        base = ros_name(name)
        self._ends = []
        if navigator.beams(number):
            self._listen(f"{base}/scan", LaserScan, "scan")
        self._twist = self._offer(f"{base}/cmd_vel", Twist)
        self._path, self._inter = (self._offer(f"{base}/{topic}", Path) for topic in ("global_plan", "inter_plan"))
        self._local, self._global = (
            self._offer(f"{base}/{topic}/costmap", OccupancyGrid) for topic in ("local_costmap", "global_costmap")
        )
        self._danger = self._offer(f"{base}/Danger", String)
        self.move_base: MoveBase | None = None
        if localisation is not None:
            self._listen(f"{base}/odom", Odometry, "odometry")
            if takes_goals:
                self.move_base = MoveBase(base, self._make_plan, self._clear, localisation.in_map, topic=episode is None)

    def _listen(self, topic: str, kind: Any, field: str) -> None:
        def store(message: Any) -> None:
            with self._changed:
                setattr(self, field, message)
                self._changed.notify_all()

        self._ends.append(rospy.Subscriber(topic, kind, store, queue_size=1, tcp_nodelay=True))

    def _offer(self, topic: str, kind: Any) -> Any:
        self._ends.append(rospy.Publisher(topic, kind, queue_size=1, tcp_nodelay=True))
        return self._ends[-1]

    def _make_plan(self, request: Any) -> GetPlanResponse:
        with self._changed:
            points = self.navigator.path_between(self.number, from_pose(request.start.pose)[:2], from_pose(request.goal.pose)[:2])
        return GetPlanResponse(to_path(points, rospy.Time.now()))

    def _clear(self) -> None:
        """Clear the memory between decisions: the observed obstacles and the path."""
        with self._changed:
            self.navigator.forget_obstacles(self.number)
            if self.navigator.goal(self.number) is not None:
                self.navigator.replan(self.number)

    def take_scan(self) -> None:
        """Pass the last scan on to the navigator; a scan that cannot be read is dropped with a log line."""
        if self.scan is None:
            return
        try:
            self.navigator.see_scan(self.number, self.scan.ranges, self.scan.header.stamp.to_sec())
            self.well("scan")
        except InputError as error:
            self.say("scan", f"{error}; the scan is dropped: set the number of lidar beams in the robot's model (configs/robots)")
        self._taken, self.scan = self.scan.header.stamp.to_sec(), None

    def lacks_scan(self, since: float) -> bool:
        """Return whether a scan is missing: the planner reads scans, but none with the stamp ``since``, s, or a later one has
        arrived.
        """
        seen = self._taken if self.scan is None else self.scan.header.stamp.to_sec()
        return self.navigator.beams(self.number) > 0 and seen < since

    def has_come(self, stamp: float) -> bool:
        """Return whether odometry with this stamp has arrived and, if a scan was due, a scan since the last decision."""
        scanned = (
            self.navigator.beams(self.number) == 0 or self.scan is not None or self._taken + self.navigator.sensor > stamp + 1e-6
        )
        return scanned and self.odometry is not None and self.odometry.header.stamp.to_sec() >= stamp - 1e-6

    def take_odometry(self) -> None:
        """Pass the last odometry on to the navigator."""
        odometry, self.odometry = self.odometry, None
        pose = None if odometry is None or self._localisation is None else self._localisation.pose(odometry)
        if pose is None:
            return
        try:
            self.navigator.see_robot(self.number, pose, from_twist(odometry.twist.twist), odometry.header.stamp.to_sec())
        except InputError as error:
            self.say("odometry", f"{error}; it is dropped")

    def poll_goals(self) -> None:
        """Handle new goals and cancellations."""
        if self.move_base is None:
            return
        goal, cancelled = self.move_base.poll()
        if goal is not None and self._episode is not None:
            self._set_in_episode(self._episode, goal)
        elif goal is not None:
            self.navigator.set_goal(self.number, goal)
        elif cancelled:
            self._leave()

    def _set_in_episode(self, episode: EpisodeGoals, goal: Array) -> None:
        """Set a goal (3,) from the action as the robot's goal in the episode, or reject it."""
        assert self.move_base is not None
        answer = episode.set(self.name, goal)
        if answer.number:
            self._number = answer.number
            self.navigator.follow(self.number, answer.number, goal)
        else:
            rospy.logwarn(f"{self.name}: an action goal was refused: {answer.reason}")
            self.move_base.abort(answer.reason)

    def follow(self, robot: Any) -> None:
        """Follow the robot's ``agora_msgs/RobotStatus``: its current goal and the end of its episode."""
        if not robot.ended:
            self.navigator.follow(self.number, robot.goal, from_pose2d(robot.target))
        if self.move_base is None or not self.move_base.busy or robot.goal < self._number:
            return  # no one is waiting, or the status is older than the action's goal
        if robot.goal > self._number:
            self.move_base.abort("replaced by another goal")
        elif robot.ended and robot.outcome == Outcome.REACHED:
            self.move_base.succeed()
        elif robot.ended:
            self.move_base.abort(f"the robot's episode has ended: {Outcome(robot.outcome).label.replace('_', ' ')}")

    def _leave(self) -> None:
        """Drop the goal; the robot stops."""
        self.navigator.drop_goal(self.number)
        self.stand()

    def report(self, stamp: Any) -> None:
        """Report the robot's progress to the action."""
        if self.move_base is None or not self.move_base.busy:
            return
        robots, n = self.navigator.robots, self.number
        self.move_base.feedback((robots.x[0, n], robots.y[0, n], robots.heading[0, n]), stamp)
        if self.navigator.arrived(n):
            self.move_base.succeed()
            self._leave()
        elif "path" in self.navigator.needs and not len(self.navigator.path(n)):
            self.move_base.abort(self.navigator.why_no_path(n))
            self._leave()

    def drive(self, twist: Any) -> None:
        """Publish a twist."""
        self._twist.publish(to_twist(twist))
        self._driven = True

    def stand(self) -> None:
        """Publish a zero twist, once after driving."""
        if self._driven:
            self._twist.publish(to_twist(_STAND))
            self._driven = False

    def show(self, stamp: Any) -> None:
        """Publish paths, danger and costmaps if anyone is subscribed."""
        nav, n, now = self.navigator, self.number, stamp.to_sec()
        if self._path.get_num_connections():
            self._path.publish(to_path(nav.path(n), stamp))
        if self._inter.get_num_connections() or self._danger.get_num_connections():
            led = nav.guidance(n)
            self._inter.publish(to_path(led.path, stamp))
            if led.danger > nav.danger_threshold:
                self._danger.publish("SIGNAL")
        if self._local.get_num_connections():
            self._local.publish(to_grid(*on_map(*nav.local_costmap(n), nav.map), stamp))
        if self._global.get_num_connections() and not 0.0 <= now - self._grid_at < _GLOBAL_EVERY:
            self._grid_at = now
            self._global.publish(to_grid(*nav.global_costmap(n), stamp))

    def say(self, what: str, text: str) -> None:
        """Warn about a problem only once until it is resolved; changed numbers in the text do not cause another warning."""
        gist = re.sub(r"[-\d.]+", "", text)
        if gist != self._said.get(what):
            self._said[what] = gist
            rospy.logwarn(text)

    def well(self, what: str) -> None:
        """Forget the last warning about a problem that is resolved."""
        self._said.pop(what, None)

    def close(self) -> None:
        """Stop the robot, and remove topics and subscriptions."""
        self.stand()
        for end in self._ends:
            end.unregister()
        if self.move_base is not None:
            self.move_base.close()
