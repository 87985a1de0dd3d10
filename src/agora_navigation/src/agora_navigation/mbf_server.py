"""The server of Move Base Flex's actions for one robot, with the library's planners: local planners for exe_path, global planners
for get_path.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import rospy
from agora_ros.conversions import add_notes, from_pedestrians, to_pose, to_twist
from agora_ros.names import ros_name
from agora_ros.parameters import own_or_graphs, queue_size
from mbf_msgs.msg import ExePathAction, ExePathFeedback, ExePathResult
from nav_msgs.msg import OccupancyGrid, Odometry

from agora.core.state import Array
from agora.draft.periods import Periods
from agora.engine.conditions import Conditions
from agora.errors import InputError, nearest
from agora.maps.grid import Map
from agora.node_logic.move_base_flex import Driven, Execution, ExePath, FlexError, Terms
from agora.node_logic.navigator import Navigator
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.robots.model import load_robot
from agora_msgs.msg import Notes, Pedestrians
from agora_navigation.actions import Action, is_cancelled
from agora_navigation.localisation import Localisation
from agora_navigation.mbf_paths import GetPathServer
from agora_navigation.messages import from_grid, from_path
from agora_navigation.node import perception_of
from agora_navigation.port import Port

_EARLY = 0.95  # fraction of a control period after which odometry counts as due, because stamps of real robots are irregular
_LATE = 0.015  # s of wall time by which the arrivals of messages with the same stamp may differ
_WAKE = 0.05  # s between two checks for goals and overdue messages


@dataclass
class Controller:
    """A planner that an exe_path request can select.

    Attributes:
        navigator: navigator whose planner drives the robot.
        execution: execution of the paths that the planner follows.
        port: topics of the robot.
    """

    navigator: Navigator
    execution: Execution
    port: Port


@dataclass
class Drive:
    """A path that is being followed.

    Attributes:
        handle: handle of the action's goal.
        controller: controller that follows the path.
        planned: stamp of the last step, s.
    """

    handle: Any
    controller: Controller
    planned: float = -np.inf


class MbfServer:
    """The server node, which offers the actions once there is a map. Callbacks only store messages; `spin` drives the robot, and
    another thread plans paths.
    """

    def __init__(self) -> None:
        get = rospy.get_param
        self._model = load_robot(str(own_or_graphs("model", "jackal")))
        self._robot = ros_name(str(get("~robot", self._model.name)))
        self._server = str(get("~server", f"{self._robot}/move_base_flex"))
        inter, agent = str(own_or_graphs("inter_planner", "bypass")), str(own_or_graphs("agent_name", ""))
        drivers = [str(text) for text in get("~controllers", [own_or_graphs("local_planner", "dwa")])]
        makers = [str(text) for text in get("~planners", [own_or_graphs("global_planner", "a_star")])]
        if not drivers or not makers:
            raise InputError("~controllers and ~planners: expected at least one name each, got none")
        self._drivers = {text: named_planner(text, inter, agent)[1].part for text in drivers}
        self._makers = {text: Named.of("global_planners", text).part for text in makers}
        usual = {field.name: getattr(Terms(), field.name) for field in fields(Terms)}
        self._terms = Terms(**{name: type(value)(get(f"~{name}", value)) for name, value in usual.items()})
        period = float(get("~control_period", 0.1))
        perception = perception_of(str(get("~pedestrians", "topic")), bool(get("~legs", False)))
        periods = Periods(physics=period, control=period, crowd=period, sensor=period)
        self._conditions = Conditions(periods=periods, perception=perception)
        self._patience, self._room = float(get("~stale_after", 0.5)), int(get("~max_pedestrians", 64))
        self._changed = threading.Condition()
        self._grid: Any = None
        self._people: Any = None
        self._odometry: Any = None
        self._map: Map | None = None
        self._controllers: dict[str, Controller] = {}
        self._drive: Drive | None = None
        self._action: Action | None = None
        self._localisation = Localisation(trusting=False)
        self._notes = rospy.Publisher("navigation/notes", Notes, queue_size=queue_size(10), tcp_nodelay=True)
        for topic, kind, name in (
            ("map", OccupancyGrid, "_grid"),
            ("pedsim_simulator/pedestrians", Pedestrians, "_people"),
            (f"{self._robot}/odom", Odometry, "_odometry"),
        ):
            rospy.Subscriber(topic, kind, self._store(name), queue_size=1, tcp_nodelay=True, buff_size=2**22)
        rospy.on_shutdown(self._close)

    def _store(self, name: str) -> Any:
        def store(message: Any) -> None:
            with self._changed:
                setattr(self, name, message)
                self._changed.notify_all()

        return store

    def spin(self) -> None:
        """Drive until the node shuts down."""
        rospy.loginfo(f"{self._robot} waits for a map on {rospy.resolve_name('map')}")
        while not rospy.is_shutdown():
            with self._changed:
                self._changed.wait(_WAKE)
                if self._grid is not None:
                    self._adopt()
                while self._action is not None and (handle := self._action.new()) is not None:
                    self._take(handle)
                if self._drive is not None:
                    self._serve(self._drive)

    def _adopt(self) -> None:
        """Use a new map: create a navigator for each planner and, the first time, offer the actions."""
        message, self._grid = self._grid, None
        try:
            place = from_grid(message)
        except InputError as error:
            rospy.logerr(f"{rospy.resolve_name('map')}: {error}")
            return
        if self._map is not None and _same(self._map, place):
            return
        if self._drive is not None:
            self._end(self._drive, ExePath.STOPPED, "the map has changed")
        for controller in self._controllers.values():
            controller.port.close()
        self._map, first = place, not self._controllers
        for name, planner in self._drivers.items():
            navigator = Navigator.on_map(
                place, [self._model], planner, self._conditions, names=[self._robot], room=self._room, patience=self._patience
            )
            navigator.prepare()
            port = Port(self._robot, 0, navigator, self._changed, self._localisation, takes_goals=False)
            self._controllers[name] = Controller(navigator, Execution(navigator, self._terms), port)
        if first:
            self._action = Action(f"{self._server}/exe_path", ExePathAction)
            GetPathServer(self._server, self._makers, self._model, lambda: self._map or place, self._here)
            server = rospy.resolve_name(self._server)
            rospy.loginfo(f"{server}: controllers {', '.join(self._drivers)}; planners {', '.join(self._makers)}")

    def _here(self) -> Array | None:
        """Return the robot's pose (3,) in the map frame; None while the pose is unknown."""
        odometry = self._odometry
        return None if odometry is None else self._localisation.pose(odometry)

    def _take(self, handle: Any) -> None:
        """Follow the path in a new goal, which replaces the previous goal."""
        goal = handle.get_goal()
        name = goal.controller or next(iter(self._controllers))
        if name not in self._controllers:
            text = f"no controller called {name!r}; {nearest(name, self._controllers)}"
            handle.set_rejected(ExePathResult(outcome=ExePath.INVALID_PLUGIN, message=text), text)
            return
        handle.set_accepted()
        before, after = self._drive, Drive(handle, self._controllers[name])
        goes_on = before is not None and before.controller is after.controller
        if before is not None:
            self._end(before, ExePath.CANCELED, "replaced by another path", goes_on)
        self._drive, here = after, self._here()
        try:
            if here is None:
                raise FlexError(ExePath.TF_ERROR, "the robot's position is unknown: it needs odometry and tf to map")
            if goes_on and before is not None:
                after.planned = before.planned
            else:
                after.controller.execution.begin(rospy.get_time())
            tolerances = (goal.dist_tolerance, goal.angle_tolerance) if goal.tolerance_from_action else None
            after.controller.execution.follow(from_path(goal.path), here, tolerances)
        except FlexError as error:
            self._end(after, error.outcome, str(error))
        except InputError as error:
            self._end(after, ExePath.INVALID_PATH, str(error))

    def _serve(self, drive: Drive) -> None:
        """Plan when the odometry has advanced by a control period or is overdue, and check whether the goal has been cancelled."""
        if is_cancelled(drive.handle):
            self._end(drive, ExePath.CANCELED, "cancelled")
            return
        nav, port = drive.controller.navigator, drive.controller.port
        stamp = -np.inf if port.odometry is None else port.odometry.header.stamp.to_sec()
        if port.odometry is not None and not 0.0 <= stamp - drive.planned < _EARLY * nav.control:
            self._changed.wait_for(lambda: port.has_come(stamp), _LATE)
        elif rospy.get_time() - max(drive.planned, drive.controller.execution.began) > self._patience:
            stamp = rospy.get_time()
        else:
            return
        drive.planned = stamp
        port.take_odometry()
        port.take_scan()
        if self._people is not None and nav.reads_pedestrians:
            try:
                from_pedestrians(self._people, *nav.people(len(self._people.present)))
            except InputError as error:
                rospy.logwarn_throttle(10.0, str(error))
        driven = drive.controller.execution.step(stamp)
        port.drive(driven.twist)
        self._tell(drive, driven, rospy.Time.from_sec(stamp))
        if driven.over:
            self._end(drive, driven.outcome, driven.message)

    def _tell(self, drive: Drive, driven: Driven, stamp: Any) -> None:
        """Publish the results of a step: feedback, the planner's notes, paths and costmaps."""
        message = ExePathFeedback(outcome=driven.outcome, message=driven.message)
        self._place(drive, message, message.current_pose)
        message.last_cmd_vel.header.stamp, message.last_cmd_vel.twist = stamp, to_twist(driven.twist)
        message.last_cmd_vel.header.frame_id = f"{self._robot}/{self._model.base_frame}"
        drive.handle.publish_feedback(message)
        if driven.noted and self._notes.get_num_connections():
            notes = Notes()
            notes.header.stamp = stamp
            add_notes(notes, [self._robot], driven.noted)
            self._notes.publish(notes)
        drive.controller.port.show(stamp)

    def _end(self, drive: Drive, outcome: Any, text: str, goes_on: bool = False) -> None:
        """Report the result of a goal, and stop the robot unless it continues on another path."""
        result = ExePathResult(outcome=outcome, message=text)
        self._place(drive, result, result.final_pose)
        if outcome == ExePath.SUCCESS:
            drive.handle.set_succeeded(result, text)
        elif outcome == ExePath.CANCELED:
            drive.handle.set_canceled(result, text)
        else:
            if not rospy.is_shutdown():
                rospy.logwarn(f"{self._robot}: exe_path: {text} ({outcome:d})")
            drive.handle.set_aborted(result, text)
        if not goes_on:
            drive.controller.port.stand()
        self._drive = None

    @staticmethod
    def _place(drive: Drive, message: Any, pose: Any) -> None:
        """Write the robot's pose and its distance from the end of the path into a feedback or result message."""
        nav = drive.controller.navigator
        x, y, heading = (float(getattr(nav.robots, name)[0, 0]) for name in ("x", "y", "heading"))
        message.dist_to_goal, message.angle_to_goal = nav.left(0)
        pose.header.frame_id, pose.header.stamp, pose.pose = "map", rospy.Time.now(), to_pose((x, y, heading))

    def _close(self) -> None:
        with self._changed:
            if self._drive is not None:
                self._end(self._drive, ExePath.STOPPED, "the node is shutting down")
            for controller in self._controllers.values():
                controller.port.close()


def _same(one: Map, other: Map) -> bool:
    """Return whether two grid maps are the same."""
    placed = (one.origin, one.resolution, one.shape) == (other.origin, other.resolution, other.shape)
    unknown = (one.unknown is None) == (other.unknown is None)
    return placed and unknown and bool((one.occupied == other.occupied).all())
