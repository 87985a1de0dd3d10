"""The navigation node, which drives all robots in an episode that use Agora's planners, or one robot on a map."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rospy
from agora_ros.conversions import add_notes, from_episode, from_pedestrians, from_pose2d, from_robots, to_twist
from agora_ros.names import ros_name
from agora_ros.parameters import own_or_graphs, queue_size
from nav_msgs.msg import OccupancyGrid

from agora.core.state import Bools
from agora.draft.periods import Periods
from agora.episode import Conditions
from agora.errors import AgoraError, InputError
from agora.node_logic.decision import Decision
from agora.node_logic.navigator import Navigator
from agora.perception.detector import Detector
from agora.perception.perception import Perception
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.robots.model import load_robot
from agora.world.start import Start
from agora_msgs.msg import EpisodeStatus, Notes, Pedestrians, Robots
from agora_msgs.srv import BeginEpisode, BeginEpisodeResponse, Plan, PlanResponse
from agora_navigation.episode_goal import EpisodeGoals
from agora_navigation.localisation import Localisation
from agora_navigation.messages import from_grid
from agora_navigation.port import Port

_SAME = 1e-6  # s, maximum difference between two stamps that count as equal
_EARLY = 0.95  # fraction of a control period after which odometry counts as due, because stamps of real robots are irregular
_LATE = 0.015  # s of wall time by which the arrivals of messages with the same stamp may differ
_WAKE = 0.05  # s between two checks for goals and overdue messages


@dataclass
class Crew:
    """Robots with the same planners.

    Attributes:
        navigator: navigator with the states of all robots.
        ports: ports of the robots that the navigator drives (`Port`).
        planned: time stamp of the last decision, s.
    """

    navigator: Navigator
    ports: list[Port]
    planned: float = -np.inf


@dataclass
class Assignment:
    """The robots to drive: the robots in an episode, or robots on a map.

    Attributes:
        number: number of the episode, -1 if there is no episode.
        names: names of all robots.
        crews: crews of the robots that this node drives.
        dt: physics step, s.
        active: robots whose episodes have not ended.
        began: time stamp of the first decision, s.
        adopted: ROS time at which the node took over the assignment, s.
    """

    number: int
    names: list[str]
    crews: list[Crew]
    dt: float
    active: Bools
    began: float = np.nan
    adopted: float = field(default_factory=rospy.get_time)


def perception_of(source: str, legs: bool) -> Perception:
    """Return the perception settings of a robot on a map: pedestrians come from the topic, or from its scans, which show bodies or
    legs.
    """
    if source not in ("topic", "scan"):
        raise InputError(f"~pedestrians: expected topic or scan, got {source!r}")
    return Perception("tracked", Detector(legs=legs or None)) if source == "scan" else Perception("truth")


class NavigationNode:
    """The navigation node. Callbacks only store messages; the work is done by `spin` or, in lock step, by the ``navigation/plan``
    service.
    """

    def __init__(self) -> None:
        get = rospy.get_param
        names = (("local_planner", "dwa"), ("inter_planner", "bypass"), ("agent_name", ""))
        self._planners = tuple(str(own_or_graphs(*name)) for name in names)
        self._patience, self._answer_in = float(get("~stale_after", 0.5)), float(get("~answer_in", 5.0))
        self._control, self._room = float(get("~control_period", 0.1)), int(get("~max_pedestrians", 64))
        self._model = str(own_or_graphs("model", "jackal")) if get("~real_robot", False) else ""
        self._lock_step = bool(get("synchronous", False)) and not self._model
        self._background = None if self._lock_step else ThreadPoolExecutor(1)  # plans paths while the robots keep driving
        self._perception = perception_of(str(get("~pedestrians", "topic")), bool(get("~legs", False)))
        self._compiled: set[str] = set()
        self._changed = threading.Condition()
        self._played: Assignment | None = None
        self._robots: Any = None
        self._people: Any = None
        self._status: Any = None
        self._map: Any = None
        named_planner(*self._planners)  # a wrong name is reported before any waiting begins
        self._global = Named.of("global_planners", str(own_or_graphs("global_planner", "a_star"))).part
        exact = not self._model and int(get("complexity", 1)) == 1
        self._localisation = None if self._lock_step else Localisation(trusting=exact)
        self._episode_goals = EpisodeGoals()
        moment = (  # in lock step these come with the call
            ("simulator/robots", Robots, "_robots"),
            ("pedsim_simulator/pedestrians", Pedestrians, "_people"),
            ("simulator/status", EpisodeStatus, "_status"),
        )
        for topic, kind, name in (
            *(() if self._lock_step else moment),
            *([("/map", OccupancyGrid, "_map")] if self._model else ()),
        ):
            rospy.Subscriber(topic, kind, self._store(name), queue_size=1, tcp_nodelay=True, buff_size=2**22)
        self._notes = rospy.Publisher("navigation/notes", Notes, queue_size=queue_size(10), tcp_nodelay=True)
        rospy.Service("navigation/begin", BeginEpisode, self._begin)
        rospy.Service("navigation/plan", Plan, self._plan)
        rospy.on_shutdown(self._close)

    def _store(self, name: str) -> Callable[[Any], None]:
        def store(message: Any) -> None:
            with self._changed:
                setattr(self, name, message)
                self._changed.notify_all()

        return store

    def spin(self) -> None:
        """Work until the node shuts down."""
        gc.freeze()  # existing objects stay, so that garbage collection only checks episodes
        if self._lock_step:
            rospy.spin()
        waits = bool(self._model)
        while not rospy.is_shutdown():
            with self._changed:
                self._changed.wait(_WAKE)
                if self._map is not None:
                    self._adopt_map()
                elif waits:
                    rospy.loginfo(
                        f"{self._model} waits for a map on {rospy.resolve_name('/map')}: start map_server, or a SLAM node"
                    )
                waits = False
                if self._played is not None:
                    self._follow_status(self._played)
                    for crew in self._played.crews:
                        self._serve_crew(self._played, crew)

    def _close(self) -> None:
        with self._changed:
            played, self._played = self._played, None
            if played is not None:
                self._follow_status(played)  # a robot may be waiting for a goal in an episode that has just ended
            for crew in played.crews if played else ():
                for port in crew.ports:
                    port.close()

    def _begin(self, request: Any) -> BeginEpisodeResponse:
        """Create a navigator for each combination of planners in the episode, and the topics of the robots."""
        episode = request.episode
        try:
            start, stage = from_episode(episode)
            planner, interplanner, agent = self._planners
            chosen = [named_planner(r.planner or planner, r.interplanner or interplanner, agent) for r in episode.robots]
            names = [r.name for r in episode.robots]
            made: dict[str, Navigator] = {}
            for (label, planner), robot in zip(chosen, episode.robots, strict=True):
                if robot.navigation in ("", "agora") and label not in made:
                    if label not in self._compiled:
                        self._compile(start, Conditions.of(stage), planner.part)
                        self._compiled.add(label)
                    patience = np.inf if self._lock_step else self._patience
                    how = {"names": names, "patience": patience, "background": self._background}
                    made[label] = Navigator(start, Conditions.of(stage), planner.part, **how)
        except AgoraError as error:
            rospy.logerr(f"episode {episode.entry!r} cannot be driven: {error}")
            return BeginEpisodeResponse(False, str(error))
        for navigator in made.values():
            navigator.prepare()
        driven = [label if r.navigation in ("", "agora") else "" for (label, _), r in zip(chosen, episode.robots, strict=True)]
        self._close()
        with self._changed:
            crews = [
                Crew(nav, [self._port(names[k], k, nav, self._episode_goals) for k, own in enumerate(driven) if own == label])
                for label, nav in made.items()
            ]
            active = np.ones(len(names), np.bool_)
            self._robots = self._people = None
            self._played = Assignment(episode.number, names, crews, stage.periods.physics, active)
        gc.collect()  # the previous batch is a reference cycle
        return BeginEpisodeResponse(True, "")

    @staticmethod
    def _compile(start: Start, conditions: Conditions, planner: Any) -> None:
        """Compile kernels now rather than in the first moments of the episode, and exclude them from garbage collection."""
        first = Navigator(start, conditions, planner)
        first.prepare()
        first.decide(0.0, 0, np.ones(len(start.robots), np.bool_))
        del first
        gc.collect()
        gc.freeze()

    def _port(self, name: str, number: int, navigator: Navigator, episode: EpisodeGoals | None = None) -> Port:
        return Port(name, number, navigator, self._changed, self._localisation, episode=episode)

    def _adopt_map(self) -> None:
        """Take over a new map, on which the robot is driven without an episode."""
        message, self._map = self._map, None
        try:
            periods = Periods(physics=self._control, control=self._control, crowd=self._control, sensor=self._control)
            conditions = Conditions(periods=periods, global_planner=self._global, replan=1.0, perception=self._perception)
            label, planner = named_planner(*self._planners)
            model = load_robot(self._model)
            how = {"names": [model.name], "room": self._room, "patience": self._patience, "background": self._background}
            nav = Navigator.on_map(from_grid(message), [model], planner.part, conditions, **how)
        except AgoraError as error:
            rospy.logerr(f"/map: {error}")
            return
        nav.prepare()
        self._close()
        ones = np.ones(1, np.bool_)
        self._played = Assignment(-1, [model.name], [Crew(nav, [self._port(model.name, 0, nav)])], self._control, ones)
        goal = rospy.resolve_name(f"{ros_name(model.name)}/move_base_simple/goal")
        size = f"{message.info.width} x {message.info.height} cells"
        rospy.loginfo(f"{model.name} is driven by {label} on a map of {size}; goals come from {goal}")

    def _follow_status(self, played: Assignment) -> None:
        """Take over from the simulator's status each robot's current goal, and which robots' episodes have ended; newer goals may
        have arrived since.
        """
        status, self._status = self._status, None
        if status is None or status.number != played.number:
            return
        robots = {robot.name: robot for robot in status.robots if robot.name in played.names}
        for name, robot in robots.items():
            played.active[played.names.index(name)] = not robot.ended
        for crew in played.crews:
            for port in crew.ports:
                if port.name in robots:
                    port.follow(robots[port.name])

    def _serve_crew(self, played: Assignment, crew: Crew) -> None:
        """Plan for a crew when its odometry has advanced by a control period, and stop the crew if no odometry arrives."""
        nav = crew.navigator
        for port in crew.ports:
            port.poll_goals()
        stamps = [port.odometry.header.stamp.to_sec() for port in crew.ports if port.odometry is not None]
        newest = max(stamps, default=-np.inf)
        if stamps and not 0.0 <= newest - crew.planned < _EARLY * nav.control:
            self._changed.wait_for(lambda: self._complete(crew, newest), _LATE)
            self._advance(played, crew, newest)
            return
        now = rospy.get_time()
        played.adopted = min(played.adopted, now)
        overdue = nav.standing(now, played.active) if now - played.adopted > self._patience else {}
        for port in crew.ports:
            if port.number in overdue:
                port.stand()
                port.say("drive", overdue[port.number])

    def _complete(self, crew: Crew, stamp: float) -> bool:
        """Return whether all of the crew's messages with this time stamp have arrived."""
        return all(port.has_come(stamp) for port in crew.ports)

    def _advance(self, played: Assignment, crew: Crew, stamp: float) -> None:
        """Plan from the messages up to ``stamp``, and drive the robots."""
        nav = crew.navigator
        if np.isnan(played.began) or stamp < crew.planned:
            played.began = stamp
        crew.planned = stamp
        self._see(played, nav, self._robots, self._people)
        for port in crew.ports:
            port.take_odometry()
            port.take_scan()
        own = np.zeros(len(played.names), np.bool_)
        own[[port.number for port in crew.ports]] = True
        decision = nav.decide(stamp, round((stamp - played.began) / played.dt), own & played.active)
        for note in decision.notes:
            rospy.logwarn(note)
        now = rospy.Time.from_sec(stamp)
        self._note(now, [(crew, decision)])
        for port in crew.ports:
            self._drive(played, port, decision)
            port.show(now)
            port.report(now)

    def _drive(self, played: Assignment, port: Port, decision: Decision) -> None:
        """Publish a robot's twist, and log the reason that keeps it from moving."""
        n = port.number
        reason = decision.failures.get(n) or decision.standing.get(n)
        if reason:
            port.say("drive", f"{port.name}: its planner failed: {reason}" if n in decision.failures else reason)
        else:
            port.well("drive")
        if port.navigator.goal(n) is not None and played.active[n]:
            port.drive(decision.twists[n])
        else:
            port.stand()

    def _note(self, stamp: Any, decided: list[tuple[Crew, Decision]]) -> None:
        """Publish the planners' notes, in one message for all robots whose decisions have the same stamp."""
        if not self._notes.get_num_connections():
            return
        message = Notes()
        message.header.stamp = stamp
        for crew, decision in decided:
            numbers = [port.number for port in crew.ports]
            noted = {name: a[numbers] for name, a in decision.noted.items()}
            add_notes(message, [port.name for port in crew.ports], noted, decision.planning_time)
        self._notes.publish(message)

    def _see(self, played: Assignment, nav: Navigator, robots: Any, people: Any) -> None:
        """Overwrite the navigator's robots and pedestrians with the given messages, if any."""
        if robots is not None and list(robots.name) == played.names:
            from_robots(robots, nav.robots)
        if people is not None and nav.reads_pedestrians:
            try:
                from_pedestrians(people, *nav.people(len(people.present)))
            except AgoraError as error:
                rospy.logwarn_throttle(10.0, str(error))

    def _plan(self, request: Any) -> PlanResponse:
        """In lock step, plan for the time of the request once the scans from that time have arrived."""
        with self._changed:
            played = self._played
            if played is None or not self._lock_step:
                why = "no episode has started" if played is None else "it is not in lock step: start it with synchronous:=true"
                return PlanResponse(success=False, message=f"navigation: {why}")
            stamp, step = request.robots.header.stamp, request.robots.step
            if list(request.robots.name) != played.names:
                return PlanResponse(
                    success=False, message=f"navigation: the robots of the episode are {played.names}, not those requested"
                )
            active = np.frombuffer(bytes(request.active), np.uint8) != 0
            if not self._changed.wait_for(lambda: not self._missing(played, stamp.to_sec(), step, active), self._answer_in):
                missing = ", ".join(self._missing(played, stamp.to_sec(), step, active))
                why = f"waited {self._answer_in:g} s for {missing} with timestamp {stamp.to_sec():.3f} s"
                return PlanResponse(success=False, message=f"navigation: {why}")
            if self._played is not played:
                return PlanResponse(success=False, message="navigation: that episode is over")
            response = PlanResponse(success=True)
            self._note(stamp, [(crew, self._plan_crew(played, crew, request, active, response)) for crew in played.crews])
            return response

    def _plan_crew(self, played: Assignment, crew: Crew, request: Any, active: Bools, response: PlanResponse) -> Decision:
        nav, step = crew.navigator, request.robots.step
        time = step * played.dt
        self._see(played, nav, request.robots, request.pedestrians if request.pedestrians.present else None)
        nav.observed(time)
        for port in crew.ports:
            port.take_scan()
        for robot in range(len(played.names)):
            nav.follow(robot, request.goals[robot], from_pose2d(request.targets[robot]))
        decision = nav.decide(time, step, active)
        for port in crew.ports:
            n = port.number
            response.robots.append(port.name)
            response.twists.append(to_twist(decision.twists[n]))
            response.failures.append(decision.failures.get(n, ""))
            port.show(request.robots.header.stamp)
            if reason := decision.standing.get(n):
                port.say("drive", reason)
        response.planning_time = max(response.planning_time, decision.planning_time)
        return decision

    def _missing(self, played: Assignment, stamp: float, step: int, active: Bools) -> list[str]:
        """Return the scans that planning needs for this step and that have not arrived."""
        missing = []
        for crew in played.crews:
            sensor = round(crew.navigator.sensor / played.dt)
            taken = stamp - step % sensor * played.dt
            missing += [f"scan of {p.name}" for p in crew.ports if active[p.number] and p.lacks_scan(taken - _SAME)]
        return missing
