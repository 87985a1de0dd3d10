"""The crowd node, which moves the pedestrians of one world, given the robot states that the simulator publishes."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import rospy
from agora_ros.conversions import from_episode, from_robots, to_pedestrians
from agora_ros.parameters import queue_size
from std_msgs.msg import Header

from agora.draft.periods import Periods
from agora.draft.stage import CrowdSettings, Stage
from agora.errors import InputError
from agora.maps.grid import Map
from agora.node_logic.arena import crowd_model, names_plugin
from agora.node_logic.crowd import Crowd, open_start
from agora.registry import Named
from agora_msgs.msg import Pedestrians, Robots
from agora_msgs.srv import BeginEpisode, BeginEpisodeResponse, StepCrowd, StepCrowdResponse
from agora_pedsim.arena_services import ArenaServices
from agora_pedsim.arena_topics import ArenaTopics
from agora_pedsim.feedback import Feedback
from agora_pedsim.people_topics import PeopleTopics
from agora_pedsim.weights import ForceWeights

_NAME = "pedsim_simulator"
_MOST_AT_ONCE = 1.0  # s, maximum time caught up at once
_NEVER = -(10**18)  # ns: far from every stamp, including the first ones near 0
_SIDE = 50.0  # m from the centre to the border of the map if there is no episode


class CrowdNode:
    """Keeps the crowd of one episode (`agora.node_logic.crowd.Crowd`) and moves it.

    In lock step (``synchronous``), the crowd takes one step per call of ``pedsim_simulator/step``. In free running, it advances to
    the step of every ``simulator/robots`` message that is at least a crowd period ahead. If no node publishes these messages, the
    crowd advances by itself with ROS time (/clock under use_sim_time), at 30 steps per second if there is no episode. Robot
    messages that arrive late, twice or for another episode have no effect; a service call with such robots returns the error. The
    node does not publish any cmd_vel.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._synchronous = bool(rospy.get_param("synchronous", False))
        self._stage = self._default_stage(str(rospy.get_param("sfm", "")))
        self.crowd, self.robot_names = Crowd(open_start(_empty_map()), self._stage), []
        self._begun, self._paused, self._since, self._behind = False, False, _now(), False
        self._told, self._over = _NEVER, _NEVER  # ns, start of the robots' episode and of the previous one
        self.feedback = Feedback(self._synchronous)
        self._pedestrians = rospy.Publisher(f"{_NAME}/pedestrians", Pedestrians, queue_size=queue_size(10), tcp_nodelay=True)
        self._arena, self._people = ArenaTopics(), PeopleTopics()
        self._services, self._weights = ArenaServices(self), ForceWeights(self)
        rospy.Service(f"{_NAME}/begin", BeginEpisode, self._on_begin)
        rospy.Service(f"{_NAME}/step", StepCrowd, self._on_step)
        if not self._synchronous:  # in lock step, robots come with the call
            self._robots = rospy.Subscriber("simulator/robots", Robots, self._on_robots, queue_size=1, tcp_nodelay=True)
            rospy.Timer(rospy.Duration(1 / 30), self._on_timer, reset=True)
        gc.freeze()  # existing objects stay, so that garbage collection only checks episodes
        rospy.loginfo("crowd: ready; waiting for %s", rospy.resolve_name(f"{_NAME}/begin"))

    @staticmethod
    def _default_stage(sfm: str) -> Stage:
        """Return the conditions that apply if no episode provides any."""
        try:
            model = crowd_model("" if names_plugin(sfm) else sfm)
        except InputError as error:
            rospy.logerr("crowd: parameter sfm: %s; using pysocial", error)
            model = Named.of("crowd_models", "pysocial")
        periods = Periods(physics=1 / 30, control=1 / 10, crowd=1 / 30, sensor=1 / 10)
        return Stage(name="open", world=Named.of("worlds", "open"), crowd=CrowdSettings(model=model), periods=periods)

    @property
    def header(self) -> Header:
        """Return the message header for the current generation."""
        nanoseconds = self._since + round(self.crowd.time * 1e9)
        return Header(stamp=rospy.Time(nanoseconds // 1_000_000_000, nanoseconds % 1_000_000_000), frame_id="map")

    @property
    def begun(self) -> bool:
        """True during an episode."""
        return self._begun

    def pause(self, paused: bool) -> None:
        """Pause or resume a free-running crowd."""
        with self._lock:
            self._paused = paused
            if not self._begun:
                self._since = _now() - round(self.crowd.time * 1e9)

    def change(self, what: str, how: Callable[[Crowd], Any]) -> bool:
        """Change the crowd between two steps, log any error, and return whether the change succeeded."""
        with self._lock:
            try:
                how(self.crowd)
            except InputError as error:
                rospy.logwarn("crowd: %s refused: %s", what, error)
                return False
        return True

    def _on_begin(self, request: Any) -> Any:
        episode = request.episode
        try:
            start, stage = from_episode(episode)
            crowd = Crowd(start, stage)
        except (InputError, ValueError) as error:
            rospy.logerr("crowd: episode %d (%s) cannot start: %s", episode.number, episode.entry, error)
            return BeginEpisodeResponse(False, str(error))
        with self._lock:
            self.crowd, self.robot_names = crowd, [robot.name for robot in episode.robots]
            self._begun, self._paused, self._behind = True, False, False
            self._told, self._over = _NEVER, self._told
            self._since = episode.header.stamp.to_nsec() or _now()
            self.feedback.forget()
            self._people.forget()
            self._show()
        gc.collect()  # the previous world is a reference cycle
        rospy.loginfo("crowd: episode %d (%s), %d pedestrians", episode.number, episode.entry, start.crowd_size)
        return BeginEpisodeResponse(True, "")

    def _on_step(self, request: Any) -> Any:
        robots = request.robots
        with self._lock:
            wrong = self._refused(robots)
            if wrong:
                rospy.logwarn("crowd: step %d refused: %s", robots.step, wrong)
                return StepCrowdResponse(False, wrong, Pedestrians())
            self._tell_time(robots)
            if self.feedback.waits:
                self._arena.publish_data(self.crowd, self.robot_names, self.header)
                self.feedback.wait(self.header.stamp)
            try:
                self._move(robots)
            except InputError as error:
                rospy.logwarn("crowd: step %d refused: %s", robots.step, error)
                return StepCrowdResponse(False, str(error), Pedestrians())
            return StepCrowdResponse(True, "", self._show())

    def _refused(self, robots: Any) -> str:
        """Return the reason why a robots message cannot be used for a step; empty if it can be used."""
        if not self._begun:
            return f"there is no episode: call {rospy.resolve_name(_NAME)}/begin first"
        if list(robots.name) != self.robot_names:
            return f"the episode's robots are {self.robot_names}, not {list(robots.name)}"
        if robots.step != self.crowd.step_number:
            return f"the crowd is at step {self.crowd.step_number}, not {robots.step}; call {rospy.resolve_name(_NAME)}/begin"
        return ""

    def _tell_time(self, robots: Any) -> None:
        """Set the start time of the episode from the stamp of the robots message."""
        if robots.header.stamp:
            self._since = self._told = self._beginning_of(robots)

    def _beginning_of(self, robots: Any) -> int:
        return int(robots.header.stamp.to_nsec() - round(robots.step * self.crowd.world.dt * 1e9))

    def _move(self, robots: Any = None) -> None:
        if robots is not None:
            from_robots(robots, self.crowd.robots)
        self.feedback.apply(self.crowd)
        self.crowd.step()

    def _on_robots(self, robots: Any) -> None:
        with self._lock:
            if self._paused or not self._begun or list(robots.name) != self.robot_names:
                return
            if robots.header.stamp and abs(self._beginning_of(robots) - self._over) < self.crowd.world.dt * 5e8:
                return  # a late message about the previous episode
            ahead = robots.step - self.crowd.step_number
            if ahead < 0 and not self._behind:
                rospy.logwarn("crowd: the simulator is at step %d, but the crowd at %d: robots are ignored until it catches up",
                              robots.step, self.crowd.step_number)  # fmt: skip
            self._behind = ahead < 0
            if ahead >= self.crowd.every:
                self._tell_time(robots)
                self._go(min(ahead, round(_MOST_AT_ONCE / self.crowd.world.dt)), robots)

    def _on_timer(self, _: Any) -> None:
        with self._lock:
            if self._paused or self._robots.get_num_connections() > 0:
                return
            dt = round(self.crowd.world.dt * 1e9)
            missing = (_now() - self._since) // dt - self.crowd.step_number
            most = round(_MOST_AT_ONCE * 1e9 / dt)
            if not 0 <= missing <= most:  # the clock jumped, or stopped while other nodes continued
                self._since = _now() - (self.crowd.step_number + 1) * dt
                missing = 1
            self._go(missing)

    def _go(self, steps: int, robots: Any = None) -> None:
        try:
            for _ in range(steps):
                self._move(robots)
        except InputError as error:
            rospy.logwarn_throttle(5.0, f"crowd: {error}; waiting for valid data")
        else:
            if steps:
                self._show()

    def _show(self) -> Any:
        """Publish the current generation and return its message."""
        crowd, header = self.crowd, self.header
        message = to_pedestrians(crowd.pedestrians, crowd.traits, crowd.minds, crowd.step_number)
        message.header = header
        self._pedestrians.publish(message)
        self._arena.publish(crowd, self.robot_names, header, data=not self.feedback.waits)
        self._people.publish(crowd, header)
        return message


def _empty_map() -> Map:
    return Map.open((-_SIDE, -_SIDE), (_SIDE, _SIDE), resolution=0.5)


def _now() -> int:
    return rospy.get_rostime().to_nsec()
