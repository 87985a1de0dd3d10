"""The task generator node, which runs one episode after another, announces each to all nodes, and does not lose any.

Callbacks put work into one queue, which one thread processes, so a reset is never interrupted by another; the main thread is free
to handle signals. Waiting times are measured by the wall clock, because simulated time stands still during a reset. Stale data: a
status that does not belong to the current episode is ignored, unless the simulator has no episode at all. The node does not publish
any ``cmd_vel``. Invalid parameters are reported in one line, and episodes continue with the last valid parameters.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import rospy
from agora_ros.calls import CallError, RefusedError
from agora_ros.conversions import to_map
from std_srvs.srv import Empty, EmptyResponse, Trigger

from agora.core.recording import Outcome
from agora.core.state import Array
from agora.errors import InputError, PlacementError
from agora.maps.grid import Map
from agora.node_logic.arena import names_plugin
from agora.tasks.settings import Settings
from agora_msgs.msg import Episode, EpisodeStatus
from agora_msgs.srv import BeginEpisode, PlayEpisode, PlayEpisodeResponse, SetMap
from agora_task_generator.announcements import Announcements
from agora_task_generator.outcomes import Outcomes
from agora_task_generator.parameters import Parameters
from agora_task_generator.playlist import Playlist, SuiteEntries, TaskModes, Turn, playlist_of
from agora_task_generator.present import LatestMessages
from agora_task_generator.reconfigure import Reconfigure
from agora_task_generator.services import Service
from agora_task_generator.tools import Tools

PARTS = ("map_generator", "simulator", "navigation", "pedsim_simulator", "crowdsim_agents", "recorder")
"""The nodes in the order in which they begin an episode: a node that listens to another node's first messages precedes it."""
_TICK = 0.25  # s between two checks of the nodes
_GLANCE = 0.02  # s between two checks for the status of a simulator that is already running
_ARRIVED = 0.1  # s after which an earlier status message has arrived
_PARTING = 0.5  # s to wait after a node has disappeared, because the whole graph may be shutting down
_SETTLED = 1.0  # s after a reset; later, a simulator without an episode must have been restarted


class TaskGeneratorServer:
    """The ``task_generator_server`` node.

    Private parameters: ``config`` (path of a ``task_generator.yaml``), ``parts`` (the nodes to which episodes are announced),
    ``manual`` (whether to begin episodes only on `PlayEpisode`), ``patience`` (time to wait for an answer, s), and Arena's
    parameters (`Reconfigure`). The node stores its position in ``progress``: after it has been killed and restarted, it repeats the
    current episode and continues from there.

    Attributes:
        playlist: episodes to run; None as long as the parameters are invalid.
        episode: current episode, None between episodes.
        say: publishers of the announcements.
        watch: current positions of pedestrians and robots, in modes that continue an episode.
    """

    def __init__(self) -> None:
        self.playlist: Playlist | None = None
        self.episode: Episode | None = None
        self._number, self._interruptions, self._begun = 0, 0, 0.0
        self._manual, self._idle = bool(rospy.get_param("~manual", False)), False
        patience = float(rospy.get_param("~patience", 120.0))
        self._parts = set(rospy.get_param("~parts", PARTS))
        self._status: EpisodeStatus | None = None
        self._goals: dict[str, int] = {}
        self._seen: Any = None
        self._tree: dict[str, Any] = {}
        self._renamed: dict[str, str] = {}
        self._waits = False
        self._asked: list[Any] = []
        self._memory: tuple[dict[str, Any], bool] | None = None
        self._work: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self.say, self._outcomes = Announcements(), Outcomes()
        self._begin = {part: Service(f"{part}/begin", BeginEpisode, patience) for part in PARTS[1:]}
        self._set_map = Service("map_generator/set_map", SetMap, patience)
        self._pause, self._resume = (Service(f"simulator/{verb}", Trigger, patience) for verb in ("pause", "resume"))
        self._reconfigure = self._read_settings()
        self._turn: Turn | None = None
        self.watch, self._tools = LatestMessages(), Tools(self, patience)
        rospy.Subscriber("simulator/status", EpisodeStatus, self._on_status, queue_size=100, tcp_nodelay=True)
        rospy.Service("reset_task", Empty, self._on_reset)
        rospy.Service("task_generator_server/play", PlayEpisode, self._on_play)

    def spin(self) -> None:
        """Run episodes until the node shuts down."""
        threading.Thread(target=self._run, daemon=True).start()
        rospy.spin()

    def _run(self) -> None:
        try:
            self._recall()
            while not rospy.is_shutdown():
                try:
                    work = self._work.get(timeout=_TICK)
                except queue.Empty:
                    work = None
                if work is not None:
                    work()
                self._look()
        except rospy.ROSInterruptException:
            return
        finally:  # a node that no longer runs episodes exits, even after an internal error
            rospy.signal_shutdown("the task generator has ended")

    def _recall(self) -> None:
        """Continue from the position of a node that was killed."""
        progress = rospy.get_param("~progress", "")
        if not progress:
            return
        if "simulator" in self._parts:
            with contextlib.suppress(CallError):
                self._pause.ask()  # the episode it is running will not end any more
            rospy.rostime.wallsleep(_ARRIVED)
        end = time.monotonic() + _SETTLED
        while self._status is None and time.monotonic() < end and not rospy.is_shutdown():
            rospy.rostime.wallsleep(_GLANCE)
        number, status = progress["number"], self._status
        again = status is None or status.number != number or not status.done or status.interrupted
        self._number = number - again
        rospy.logwarn(f"restarted: episode {number} {'is repeated' if again else 'had ended; continuing with the next one'}")
        self._memory = (progress["playlist"], again) if progress["playlist"] else None
        self._manual = bool(progress["asked"])
        if again and self._manual:
            self.later(lambda: self._play(*progress["asked"], PlayEpisodeResponse()))

    def later(self, work: Callable[[], None] | None) -> None:
        """Queue a task for the reset thread; without a task, the thread checks the episode."""
        self._work.put(work)

    def reset(self) -> None:
        """Abandon the current episode and begin the next one."""
        self._idle, self._asked = False, []
        self._next()

    def request_new_map(self, algorithm: str) -> None:
        """Begin the next episode on a new map, using another generator if one is given.

        Raises:
            InputError: the generator is unknown, or episodes do not use generated maps.
        """
        if not isinstance(self.playlist, TaskModes) or self._asked:
            raise InputError("a suite is running")
        self.playlist.new_map(algorithm)
        self.reset()

    @property
    def place(self) -> Map:
        """The map of the current episode."""
        return self._turn.start.map

    def carry_on(self, poses: dict[int, Array]) -> None:
        """Continue the episode with new goals for the robots; guided robots start from ``poses``, and pedestrians and obstacles
        stay.

        Raises:
            InputError: there is not enough room.
        """
        turn = self.playlist.carry_on(self._turn.start, self.watch.people, poses)
        self.episode = None
        self._begin_turn(turn)

    def show(self, settings: Settings) -> None:
        """Use these settings from now on."""
        self._reconfigure.show(settings)

    def _read_settings(self) -> Reconfigure:
        """Return the settings, waiting until the file and the parameters are valid."""
        while not rospy.is_shutdown():
            try:
                parameters, _, self._tree = Parameters.read()
                return Reconfigure(rospy.get_param("~config", ""), parameters.over_settings())
            except (InputError, OSError) as error:
                rospy.logerr_throttle_identical(30, f"{error}; correct it, and it will be checked again")
                threading.Event().wait(1.0)
        raise rospy.ROSInterruptException("shutdown")

    def _on_status(self, status: EpisodeStatus) -> None:
        self._status = status
        self.later(None)

    def _on_reset(self, _request: Any) -> EmptyResponse:
        self._do(self.reset)
        return EmptyResponse()

    def _on_play(self, request: Any) -> PlayEpisodeResponse:
        answer = PlayEpisodeResponse()
        self._do(lambda: self._play(request.suite, request.stage, request.episode, answer))
        return answer

    def _do(self, work: Callable[[], None]) -> None:
        """Let the reset thread run a task, and wait until it is done."""
        done = threading.Event()

        def whole() -> None:
            try:
                work()
            finally:
                done.set()

        self.later(whole)
        while not done.wait(1.0) and not rospy.is_shutdown():
            continue

    def _play(self, suite: str, stage: str, episode: int, answer: PlayEpisodeResponse) -> None:
        self._manual = True
        try:
            parameters, _, _ = Parameters.read(self._tree)
            turn = SuiteEntries(parameters, suite).entry(stage, episode)
        except InputError as error:
            answer.message = str(error)
            return
        self._asked = [suite, stage, episode]
        answer.success = self._begin_turn(turn)
        answer.number, answer.robots = self._number, turn.names()
        answer.message = "" if answer.success else "cancelled: see the log of task_generator_server"

    def _look(self) -> None:
        """Check the current episode, or begin one."""
        if self.episode is None:
            if not self._manual and (not self._idle or self._adopt()):
                self.reset()
            return
        status = self._status
        if reason := self._interrupted(status):
            self._repeat(reason)
        elif status is not None and status.number == self.episode.number:
            self._follow_goals(status)
            if status.done:
                self._after(status)

    def _after(self, status: EpisodeStatus) -> None:
        """Continue after the end of an episode: begin the next one or, at a time-out in modes that continue an episode, move only
        the robots.
        """
        rospy.loginfo(self._outcomes.add(status, self.episode, self._goes_on))
        late = all(robot.outcome == Outcome.TIMEOUT for robot in status.robots)
        if late and not self._manual and self._goes_on and not self.playlist.finished:
            try:
                self.carry_on(self.watch.poses)
                return
            except InputError as error:
                rospy.logwarn(f"{error}; starting a new episode instead")
        self.episode = None
        self._look()

    @property
    def _goes_on(self) -> bool:
        return isinstance(self.playlist, TaskModes) and self.playlist.goes_on

    def _interrupted(self, status: EpisodeStatus | None) -> str:
        """Return the reason why the current episode was interrupted; empty if it was not."""
        for part, begin in self._told():
            if not begin.standing:
                return f"lost the connection to {part}"
        if status is None:
            return ""
        if status.number == self.episode.number and status.interrupted:
            return status.reason or "the simulator reported an interruption"
        idle = not status.entry and time.monotonic() - self._begun > _SETTLED
        return "the simulator was restarted" if idle else ""

    def _follow_goals(self, status: EpisodeStatus) -> None:
        """Announce the robots' new goals, including goals that were set by hand."""
        first = self.episode.robots[0].name
        for robot in status.robots:
            if robot.goal > self._goals.get(robot.name, robot.goal):
                self._goals[robot.name] = robot.goal
                self.say.goal(robot.name, robot.target, first=robot.name == first)

    def _adopt(self) -> bool:
        """Apply parameters and settings, and return whether any have changed or are used for the first time."""
        try:
            parameters, private, tree = Parameters.read(self._tree)
        except InputError as error:
            rospy.logerr_throttle_identical(30, str(error))
            return False
        self._reconfigure.look(private, parameters.over_settings())
        settings = self._reconfigure.settings
        if self._seen == (parameters, settings):
            return False
        self._seen, self._tree = (parameters, settings), tree
        try:
            if self.playlist is None:
                self.playlist = playlist_of(parameters, settings)
                if self._memory is not None:
                    self.playlist.recall(*self._memory)
            else:
                self.playlist.adopt(parameters, settings)
        except InputError as error:
            kept = "the previous settings stay in use" if self.playlist else "correct the parameter, and it will be checked again"
            rospy.logerr(f"{error}; {kept}")
            if isinstance(self.playlist, TaskModes):
                self._reconfigure.show(self.playlist.generator.setup.settings)
                self._seen = (parameters, self._reconfigure.settings)
        return True

    def _next(self) -> None:
        """Begin the next episode; if it cannot be placed, try the episodes after it."""
        self.episode = None
        self._adopt()
        for _ in range(self._most):
            if self.playlist is None:
                self._idle = True
                return
            if self.playlist.finished:
                self._finish()
                return
            try:
                turn = self.playlist.next()
            except PlacementError as error:
                rospy.logwarn(f"{error}; trying the next episode")
                continue
            except InputError as error:
                rospy.logerr(f"{error}; correct the parameters, and they will be checked again")
                break
            self._begin_turn(turn)
            return
        self._idle = True

    @property
    def _most(self) -> int:
        return max(1, self._reconfigure.settings.max_reset_fail_times)

    def _finish(self) -> None:
        self._idle = True
        rospy.loginfo(f"all episodes have run, {self._number} resets in total: {self._outcomes.all()}")
        self.say.finished()
        rospy.set_param("~progress", "")
        if "simulator" in self._parts:
            self._pause.ask()

    def _begin_turn(self, turn: Turn) -> bool:
        """Begin an episode as the next reset; return whether all nodes have loaded it."""
        self._number, self._interruptions, self._turn = self._number + 1, 0, turn
        memory = {} if self.playlist is None else self.playlist.memory()
        rospy.set_param("~progress", {"number": self._number, "asked": self._asked, "playlist": memory})
        self.watch.switch(self._goes_on)
        self._say_names(turn)
        return self._deliver(turn.message(self._number))

    def _say_waiting(self) -> None:
        """Log once that guided robots have no waypoints."""
        waits = isinstance(self.playlist, TaskModes) and self.playlist.lacks_waypoints
        if waits and not self._waits:
            goal = rospy.resolve_name("move_base_simple/goal")
            rospy.loginfo(
                f"tm_robots guided: robots await waypoints; set one with 2D Nav Goal in RViz, which publishes it on {goal}"
            )
        self._waits = waits

    def _say_names(self, turn: Turn) -> None:
        """Log which robots have a different name in ROS, unless these names have already been logged."""
        others = {given: name for given, name in zip(turn.given_names(), turn.names(), strict=True) if given != name}
        for given in others.keys() - self._renamed.keys():
            rospy.loginfo(
                f"robot {given!r} is {others[given]!r} in ROS, whose names only have letters, digits and underscores: "
                f"{others[given]}/cmd_vel"
            )
        self._renamed = others

    def _repeat(self, reason: str) -> None:
        """Restart the current episode, or give it up."""
        rospy.rostime.wallsleep(_PARTING)
        if rospy.is_shutdown():
            return
        episode = self.episode
        self.episode, self._interruptions = None, self._interruptions + 1
        if self._interruptions >= self._most:
            self._give_up(episode, reason)
            return
        rospy.logwarn(
            f"episode {episode.number} ({episode.entry}) was interrupted: {reason}; it is repeated when all nodes are running again"
        )
        self._deliver(episode)

    def _give_up(self, episode: Episode, reason: str) -> None:
        rospy.logerr(f"episode {episode.number} ({episode.entry}) is abandoned after {self._interruptions} interruptions: {reason}")
        self.say.given_up(episode, reason)

    def _deliver(self, episode: Episode) -> bool:
        """Deliver an episode to all nodes; if a node is lost in the meantime, start again from the beginning."""
        while True:
            try:
                self._hand_out(episode)
                self.episode, self._begun = episode, time.monotonic()
                rospy.loginfo(f"episode {episode.number}: {episode.entry}, seed {episode.seed}, map {self.place.name}")
                self._say_waiting()
                return True
            except RefusedError as error:
                self._interruptions, self._idle = self._interruptions + 1, True
                self._give_up(episode, f"{error}; no more episodes run until a parameter is changed or reset_task is called")
                return False
            except CallError as error:
                self._interruptions += 1
                if self._interruptions >= self._most:
                    self._give_up(episode, str(error))
                    return False
                rospy.logwarn(f"{error} while sending episode {episode.number}; sending it again")

    def _told(self) -> list[tuple[str, Service]]:
        """Return the nodes that load the current episode, with their services."""
        return [(part, begin) for part, begin in self._begin.items() if part in self._wanted]

    def _hand_out(self, episode: Episode) -> None:
        """Perform one reset, in the order defined by the contract."""
        agora = any(robot.navigation == "agora" for robot in episode.robots)
        recorded = bool(rospy.get_param("record_data", False))
        absent = {
            "navigation": not agora,
            "recorder": not recorded,
            "crowdsim_agents": not names_plugin(str(rospy.get_param("sfm", ""))),
        }
        self._wanted = self._parts - {part for part, is_absent in absent.items() if is_absent}
        if "simulator" in self._parts:
            self._pause.ask()
        self.say.begin()
        if "map_generator" in self._parts:
            self._set_map.ask(to_map(self.place))
        self._status, self._goals = None, {robot.name: 0 for robot in episode.robots}
        for _, begin in self._told():
            begin.ask(episode)
        self.say.end(episode, self.place)
        self._tools.begin([robot.name for robot in episode.robots])
        gone = [part for part, begin in self._told() if not begin.standing]
        if gone:
            raise CallError(f"lost the connection to {', '.join(gone)}")
        if "simulator" in self._parts:
            self._resume.ask()
