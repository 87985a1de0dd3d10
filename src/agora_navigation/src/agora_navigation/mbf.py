"""The Move Base Flex client for one robot, which repeats get_path, interplanner and exe_path until the goal is reached."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import rospy
from actionlib import ActionClient, CommState
from agora_ros.calls import Call, CallError
from agora_ros.conversions import add_notes, from_pedestrians, from_pose, from_twist, to_pose
from agora_ros.names import ros_name
from dynamic_reconfigure.msg import Config, DoubleParameter
from dynamic_reconfigure.srv import Reconfigure, ReconfigureRequest
from geometry_msgs.msg import PoseStamped
from mbf_msgs.msg import ExePathAction, ExePathGoal, ExePathResult, GetPathAction, GetPathGoal, GetPathResult
from nav_msgs.msg import Odometry, Path
from nav_msgs.srv import GetPlanResponse
from sensor_msgs.msg import LaserScan
from std_msgs.msg import String

from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.node_logic.decision import Led
from agora.node_logic.relay import Relay
from agora_msgs.msg import Notes
from agora_navigation.episode_goal import EpisodeGoals
from agora_navigation.localisation import Localisation
from agora_navigation.messages import to_path
from agora_navigation.move_base import MoveBase, is_same

_LAST_WORD = 0.5  # s of wall time to wait for the controller's answer when the node shuts down
_HINTS = {
    57: "it does not have the robot's pose: set its robot_frame and map_frame, and check tf",
    59: "check tf and its robot_frame and map_frame",
    101: "another client took over the controller",
    110: "the path is blocked",
    111: "the path was empty, or the controller refused it",
    112: "check tf and its robot_frame and map_frame",
}


def explained(kind: type, outcome: int, said: str) -> str:
    """Return one line about the outcome of an action: the outcome's name and code, the server's message and the remedy."""
    names = {getattr(kind, name): name for name in dir(kind) if name.isupper() and "RANGE" not in name}
    name = names.get(outcome, "plug-in failure").replace("_", " ").lower()
    return "; ".join(part for part in (f"{name} ({outcome})", said, _HINTS.get(outcome, "")) if part)


@dataclass(frozen=True)
class MbfSettings:
    """The settings for using an unmodified Move Base Flex.

    Attributes:
        server: name of the Move Base Flex node.
        exe_path_server: name of the node that follows paths, if it is not ``server``.
        planner: name of the planner plug-in; if empty, the first one.
        controller: name of the controller plug-in; if empty, the first one.
        replan_period: time between two path requests, s.
        inter_period: time between two calls of the interplanner, s.
        retries: number of consecutive failures allowed for get_path, and for exe_path on the way to a goal.
        speed_parameters: names of the controller parameters that the interplanner scales, through the dynamic_reconfigure server of
            ``server/controller``.
        answer_in: maximum duration of a call, s.
        notes: whether to publish the interplanner's notes; the library's own controllers publish notes themselves.
    """

    server: str = "move_base_flex"
    exe_path_server: str = ""
    planner: str = ""
    controller: str = ""
    replan_period: float = 1.0
    inter_period: float = 0.2
    retries: int = 3
    speed_parameters: tuple[str, ...] = ("max_vel_x", "max_vel_trans")
    answer_in: float = 5.0
    notes: bool = True


class Speed:
    """Scales a controller's speed limits to a fraction of the initial limits; reading or setting them may take up to ``patience``
    s.
    """

    def __init__(self, place: str, names: tuple[str, ...], patience: float) -> None:
        self._names, self._top, self._share = names, {}, 1.0
        self._place, self._patience, self._began = place, patience, time.monotonic()
        self._listener = rospy.Subscriber(f"{place}/parameter_updates", Config, self._learn, queue_size=1)

    def _learn(self, config: Any) -> None:
        if not self._top:
            self._top = {value.name: value.value for value in config.doubles if value.name in self._names}

    def scale(self, share: float) -> None:
        """Set the controller's speed limits to ``share`` times the initial limits; log parameters that cannot be set from time to
        time.
        """
        if abs(share - self._share) < 0.01:
            return
        if not self._top:
            if time.monotonic() - self._began > self._patience:
                rospy.logwarn_throttle(30.0, f"{self._place} lacks the parameters {', '.join(self._names)}: its speed is unchanged")
            return
        try:
            self._tell(share, self._patience)
            self._share = share
        except CallError as error:
            if not rospy.is_shutdown():  # otherwise nothing waits for the answer any more
                rospy.logwarn_throttle(30.0, str(error))

    def give_back(self) -> None:
        """Restore the controller's initial speed limits at shutdown; a controller that is also shutting down need not answer."""
        if self._top and self._share != 1.0:
            with suppress(CallError):
                self._tell(1.0, _LAST_WORD)

    def _tell(self, share: float, patience: float) -> None:
        """Set the limits over a connection that is used only for this call, because shutdown runs in its own thread."""
        request = ReconfigureRequest()
        request.config.doubles = [DoubleParameter(name, share * value) for name, value in self._top.items()]
        call = Call(f"{self._place}/set_parameters", Reconfigure, patience)
        call.send(request)
        call.answer(lambda: False)
        call.drop()


class MbfRobot:
    """Takes goals for one robot, and pursues them with Move Base Flex. All work is done in one thread, `spin`."""

    def __init__(self, name: str, relay: Relay, settings: MbfSettings, localisation: Localisation) -> None:
        robot = ros_name(name)
        self._name, self._robot, self._relay, self._settings, self._localisation = name, robot, relay, settings, localisation
        self._odometry: Any = None
        self._scan: Any = None
        self.people: Any = None
        server, driver = settings.server, settings.exe_path_server or settings.server
        self._asking, self._telling = (
            threading.Lock(),
            threading.Lock(),
        )  # make_plan and shutdown run in their own threads
        # Not SimpleActionClient: it misses an answer that arrives before its send_goal has returned, and then waits forever.
        self._get_path = ActionClient(f"{server}/get_path", GetPathAction)
        self._exe_path = ActionClient(f"{driver}/exe_path", ExePathAction)
        self._drive: Any = None
        self._ended = False
        self._speed: Speed | None = None
        if settings.controller:
            self._speed = Speed(f"{driver}/{settings.controller}", settings.speed_parameters, settings.answer_in)
        self._danger = rospy.Publisher(f"{robot}/Danger", String, queue_size=1)
        self._plan, self._inter = (rospy.Publisher(f"{robot}/{name}", Path, queue_size=1) for name in ("global_plan", "inter_plan"))
        self._notes = rospy.Publisher("navigation/notes", Notes, queue_size=100)
        rospy.Subscriber(f"{robot}/odom", Odometry, self._store("_odometry"), queue_size=1, tcp_nodelay=True)
        if relay.navigator.beams(0):
            rospy.Subscriber(f"{robot}/scan", LaserScan, self._store("_scan"), queue_size=1, tcp_nodelay=True)
        self._move_base, self._episode = MoveBase(robot, self._make_plan, lambda: None, localisation.in_map), EpisodeGoals()
        rospy.on_shutdown(self.close)

    def _store(self, name: str) -> Any:
        return lambda message: setattr(self, name, message)

    def spin(self) -> None:
        """Pursue goals until the node shuts down."""
        if not self._get_path.wait_for_server(rospy.Duration(self._settings.answer_in)):
            rospy.logwarn(f"{self._robot}: waiting for Move Base Flex at {rospy.resolve_name(self._settings.server)}")
        while not rospy.is_shutdown():
            goal, _ = self._poll()
            while goal is not None:
                goal = self._pursue(goal)
            rospy.rostime.wallsleep(0.05)

    def _poll(self) -> tuple[Array | None, bool]:
        """Return a new goal (3,), if there is one, and whether the previous goal was cancelled; in an episode, the simulator may
        reject a goal.
        """
        goal, cancelled = self._move_base.poll()
        if goal is not None and self._move_base.busy:
            answer = self._episode.set(self._name, goal)
            if answer.asked and not answer.number:
                rospy.logwarn(f"{self._robot}: an action goal was refused: {answer.reason}")
                self._move_base.abort(answer.reason)
                return None, cancelled
        return goal, cancelled

    def _pursue(self, goal: Array) -> Array | None:
        """Drive to a goal; return the next goal if one arrived in the meantime."""
        self._relay.begin(goal)
        path: Floats | None = None
        asked_at, unplanned, undriven = -np.inf, 0, 0
        try:
            while not rospy.is_shutdown():
                other, cancelled = self._poll()
                if cancelled:
                    self._halt()
                if cancelled or not (other is None or is_same(other, goal)):
                    return other
                now, fresh = rospy.get_time(), False
                if not self._see(now):
                    self._wait()
                    continue
                if not 0.0 <= now - asked_at < self._settings.replan_period:
                    made, why = self._path_to(goal)
                    asked_at, fresh = now, made is not None
                    unplanned = 0 if fresh else unplanned + 1
                    if unplanned > self._settings.retries:
                        return self._give_up(f"get_path: {why}")
                    if made is not None:
                        path = made
                        self._plan.publish(to_path(path, rospy.Time.from_sec(now)))
                if path is None:
                    self._wait()
                    continue
                led = self._relay.guide(path, now)
                self._note(led, now)
                leads = self._relay.leads_to_goal(led)
                if self._relay.is_news(led) or (fresh and leads):
                    self._execute(led, now)
                self._slow(led)
                if _over(self._drive):
                    result = self._drive.get_result()
                    outcome = result.outcome if result is not None else ExePathResult.INTERNAL_ERROR
                    if outcome == ExePathResult.SUCCESS and leads:
                        self._move_base.succeed()
                        return None
                    if not leads:
                        self._relay.begin(goal)  # the path back cannot be driven, or has ended: continue along the path
                    elif outcome != ExePathResult.SUCCESS:
                        undriven += 1
                    if undriven > self._settings.retries:
                        return self._give_up(f"exe_path: {explained(ExePathResult, outcome, result.message if result else '')}")
                    self._relay.is_news(Led(np.zeros((0, 2), np.float32), None, 1.0, 0.0))
                    asked_at = -np.inf
                self._wait()
        finally:
            if self._speed is not None:
                self._speed.scale(1.0)
        return None

    def close(self) -> None:
        """Stop the controller and restore its speed limits when the node shuts down."""
        with self._telling:
            self._ended = True
            self._halt()
        for _ in range(25):  # messages still in a queue when the process exits are never sent
            if _over(self._drive):
                break
            rospy.rostime.wallsleep(0.02)
        if self._speed is not None:
            self._speed.give_back()

    def _wait(self) -> None:
        rospy.rostime.wallsleep(0.02)
        begun = rospy.get_time()
        while 0.0 <= rospy.get_time() - begun < self._settings.inter_period and not rospy.is_shutdown():
            rospy.rostime.wallsleep(0.01)

    def _halt(self) -> None:
        if not _over(self._drive):
            self._drive.cancel()

    def _give_up(self, why: str) -> None:
        rospy.logwarn(f"{self._robot}: {why}")
        self._halt()
        self._move_base.abort(why)

    def _see(self, now: float) -> bool:
        """Pass on the new messages; return whether the robot's position is known."""
        navigator, odometry, scan, people = self._relay.navigator, self._odometry, self._scan, self.people
        pose = None if odometry is None else self._localisation.pose(odometry)
        if pose is None:
            rospy.logwarn_throttle(10.0, f"{self._robot}: no odometry on {rospy.resolve_name(self._robot)}/odom: waiting")
            return False
        try:
            navigator.see_robot(0, pose, from_twist(odometry.twist.twist), now)
            if people is not None:
                from_pedestrians(people, *navigator.people(len(people.present)))
            if scan is not None:
                navigator.see_scan(0, scan.ranges, now)
        except InputError as error:
            rospy.logwarn_throttle(10.0, str(error))
        self._move_base.feedback(pose, rospy.Time.from_sec(now))
        return True

    def _path_to(self, goal: Array) -> tuple[Floats | None, str]:
        """Return Move Base Flex's path (K, 2) from the robot's position, m, or the reason why there is none."""
        request = GetPathGoal(target_pose=_stamped(goal), planner=self._settings.planner)
        with self._asking:
            asked, begun = self._get_path.send_goal(request), rospy.get_time()
            while not _over(asked) and not rospy.is_shutdown():
                if not 0.0 <= rospy.get_time() - begun < self._settings.answer_in:
                    asked.cancel()
                    return None, f"no answer in {self._settings.answer_in:g} s"
                rospy.rostime.wallsleep(0.002)
            result = asked.get_result()
        if result is None or result.outcome != GetPathResult.SUCCESS or not result.path.poses:
            outcome = GetPathResult.INTERNAL_ERROR if result is None else result.outcome or GetPathResult.EMPTY_PATH
            return None, explained(GetPathResult, outcome, "" if result is None else result.message)
        return np.array([(p.pose.position.x, p.pose.position.y) for p in result.path.poses]), ""

    def _make_plan(self, request: Any) -> GetPlanResponse:
        path, why = self._path_to(from_pose(request.goal.pose))
        if path is None:
            rospy.logwarn(f"{self._robot}: make_plan: {why}")
        return GetPlanResponse(to_path(np.zeros((0, 2)) if path is None else path, rospy.Time.now()))

    def _execute(self, led: Led, now: float) -> None:
        """Send the interplanner's path, with the goal heading at its end, to the controller."""
        message = to_path(led.path, rospy.Time.from_sec(now))
        if led.goal is not None and message.poses:
            message.poses[-1].pose = to_pose((*led.path[-1], led.goal[2]))
        self._inter.publish(message)
        with self._telling:
            if not self._ended:
                self._drive = self._exe_path.send_goal(ExePathGoal(path=message, controller=self._settings.controller))

    def _note(self, led: Led, now: float) -> None:
        if not self._settings.notes:
            return
        message = Notes()
        message.header.stamp = rospy.Time.from_sec(now)
        add_notes(message, [self._name], {"reason": [led.reason], "speed_limit": [led.speed], "danger": [led.danger]})
        self._notes.publish(message)

    def _slow(self, led: Led) -> None:
        if self._speed is not None:
            self._speed.scale(led.speed)
        if led.danger > self._relay.navigator.danger_threshold:
            self._danger.publish("SIGNAL")


def _over(asked: Any) -> bool:
    """Return whether an action is finished; its result is then available, unless the server is gone."""
    return asked is None or asked.get_comm_state() == CommState.DONE


def _stamped(pose: Array) -> PoseStamped:
    message = PoseStamped(pose=to_pose(pose))
    message.header.frame_id, message.header.stamp = "map", rospy.Time.now()
    return message
