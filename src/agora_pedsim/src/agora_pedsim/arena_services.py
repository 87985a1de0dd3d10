"""The services of Arena's fork of pedsim_ros, applied to a crowd."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import rospy
from agora_ros.conversions import heading_of
from nav_msgs.msg import Odometry
from pedsim_srvs import srv
from std_srvs.srv import Empty, EmptyResponse, SetBool, SetBoolResponse, Trigger, TriggerResponse

from agora.draft.scenario import Pedestrian
from agora.errors import InputError
from agora.maps.furniture import MODELS, Furniture, model_of
from agora.node_logic.arena import newcomers
from agora.node_logic.crowd import Crowd
from agora.robots.model import RobotModel
from agora.seeds import Stream
from agora.world.start import RobotStart, Thing

if TYPE_CHECKING:
    from agora_pedsim.crowd_node import CrowdNode

_NAME = "pedsim_simulator"
_GIVEN_ABOVE_ZERO = (
    "vmax", "wait_time", "trigger_zone_radius", "max_talking_distance", "talking_base_time", "tell_story_base_time",
    "group_talking_base_time", "talking_and_walking_base_time",
)  # fmt: skip
_PROBABILITIES = {
    "chatting_probability": "talking_base_time",
    "tell_story_probability": "tell_story_base_time",
    "group_talking_probability": "group_talking_base_time",
    "talking_and_walking_probability": "talking_and_walking_base_time",
}
_INTERACTIVE = 0.1  # m, interaction radius above which pedestrians use an obstacle
_DISC = RobotModel(name="robot", kinematics="holonomic", radius=0.3, vx=(-2.0, 2.0), vy=2.0, omega=3.0)


class ArenaServices:
    """Offers the services, which spawn, move and remove pedestrians, walls and obstacles between two steps.

    ``success`` in a response says whether the request was carried out; if not, the reason is logged.
    """

    def __init__(self, node: CrowdNode) -> None:
        self._node, self._next_id, self._odometry = node, 1000, list[Any]()
        self._stream = Stream("pedsim_simulator", int(rospy.get_param("seed", 0) or 0), "spawn")
        offered = {
            "spawn_peds": (srv.SpawnPeds, self._spawn), "respawn_peds": (srv.SpawnPeds, self._respawn),
            "move_peds": (srv.MovePeds, self._move), "remove_all_peds": (SetBool, self._remove_all),
            "reset_all_peds": (Trigger, self._restart), "reset": (Trigger, self._reset),
            "add_walls": (srv.SpawnWalls, self._add_walls), "clear_walls": (Trigger, self._clear_walls),
            "spawn_obstacles": (srv.SpawnObstacles, self._spawn_obstacles),
            "respawn_obstacles": (srv.SpawnObstacles, self._respawn_obstacles),
            "remove_all_obstacles": (Trigger, self._remove_obstacles), "register_robot": (srv.RegisterRobot, self._register),
            "pause_simulation": (Empty, lambda _: self._pause(True)), "unpause_simulation": (Empty, lambda _: self._pause(False)),
        }  # fmt: skip
        for name, (kind, handler) in offered.items():
            rospy.Service(f"{_NAME}/{name}", kind, handler)

    def _spawn(self, request: Any) -> Any:
        return srv.SpawnPedsResponse(self._node.change("spawn_peds", lambda crowd: self._add(crowd, request.peds)))

    def _respawn(self, request: Any) -> Any:
        def anew(crowd: Crowd) -> None:
            crowd.remove(crowd.slots)
            self._add(crowd, request.peds)

        return srv.SpawnPedsResponse(self._node.change("respawn_peds", anew))

    def _add(self, crowd: Crowd, peds: Any) -> None:
        if not peds:
            return
        self._next_id = max(self._next_id, int(crowd.traits.id[0].max(initial=0)) + 1)
        people, names = newcomers([_pedestrian(ped) for ped in peds], crowd.stage.crowd.people, self._stream, self._next_id)
        crowd.spawn(people, names)
        self._next_id += len(names)

    def _move(self, request: Any) -> Any:
        return srv.MovePedsResponse(self._node.change("move_peds", Crowd.restart))

    def _remove_all(self, request: Any) -> Any:
        return SetBoolResponse(self._node.change("remove_all_peds", lambda crowd: crowd.remove(crowd.slots)), "")

    def _restart(self, request: Any) -> Any:
        return TriggerResponse(self._node.change("reset_all_peds", Crowd.restart), "")

    def _reset(self, request: Any) -> Any:
        def empty(crowd: Crowd) -> None:
            crowd.remove(crowd.slots)
            crowd.clear_things()
            crowd.clear_walls()

        return TriggerResponse(self._node.change("reset", empty), "")

    def _add_walls(self, request: Any) -> Any:
        walls = np.array([[w.start.x, w.start.y, w.end.x, w.end.y] for w in request.walls])
        return srv.SpawnWallsResponse(self._node.change("add_walls", lambda crowd: crowd.add_walls(walls)))

    def _clear_walls(self, request: Any) -> Any:
        return TriggerResponse(self._node.change("clear_walls", Crowd.clear_walls), "")

    def _spawn_obstacles(self, request: Any) -> Any:
        return srv.SpawnObstaclesResponse(
            self._node.change("spawn_obstacles", lambda crowd: crowd.add_things([_thing(o) for o in request.obstacles]))
        )

    def _respawn_obstacles(self, request: Any) -> Any:
        def anew(crowd: Crowd) -> None:
            things = [_thing(obstacle) for obstacle in request.obstacles]
            crowd.clear_things()
            crowd.add_things(things)

        return srv.SpawnObstaclesResponse(self._node.change("respawn_obstacles", anew))

    def _remove_obstacles(self, request: Any) -> Any:
        return TriggerResponse(self._node.change("remove_all_obstacles", Crowd.clear_things), "")

    def _register(self, request: Any) -> Any:
        """Register a robot whose odometry the crowd follows; the robots of an episode are received with ``simulator/robots``
        instead.
        """
        node, name = self._node, request.name
        if name in node.robot_names:
            return srv.RegisterRobotResponse(True)
        if node.begun:
            rospy.logwarn("crowd: register_robot refused: the episode has no robot %r; it has %s", name, node.robot_names)
            return srv.RegisterRobotResponse(False)
        number = len(node.robot_names)
        pose = np.zeros(3)
        done = node.change("register_robot", lambda crowd: crowd.add_robot(RobotStart(_DISC, pose, pose[None])))
        node.robot_names.append(name)

        def heard(message: Any) -> None:
            node.change("odometry", lambda crowd: _place(crowd, name, number, message))

        self._odometry.append(rospy.Subscriber(request.odom_topic, Odometry, heard, queue_size=1, tcp_nodelay=True))
        return srv.RegisterRobotResponse(done)

    def _pause(self, paused: bool) -> Any:
        self._node.pause(paused)
        return EmptyResponse()


def _place(crowd: Crowd, name: str, number: int, message: Any) -> None:
    """Move a robot to the pose in its odometry message, whose frame is treated as the map frame."""
    robots = crowd.robots
    if number >= robots.x.shape[1]:
        return
    pose, twist = message.pose.pose, message.twist.twist
    values = np.array([pose.position.x, pose.position.y, heading_of(pose.orientation), twist.linear.x, twist.linear.y])
    if not np.isfinite(values).all():
        raise InputError(f"the odometry of {name!r} is not finite")
    x, y, heading, vx, vy = values
    robots.x[0, number], robots.y[0, number], robots.heading[0, number] = x, y, heading
    robots.world_vx[0, number] = np.cos(heading) * vx - np.sin(heading) * vy
    robots.world_vy[0, number] = np.sin(heading) * vx + np.cos(heading) * vy


def _pedestrian(ped: Any) -> Pedestrian:
    """Return the pedestrian described by a message; fields that are 0 where 0 has no meaning count as not given."""
    given = {name: getattr(ped, name) for name in _GIVEN_ABOVE_ZERO if getattr(ped, name) > 0}
    given |= {name: getattr(ped, name) for name, time in _PROBABILITIES.items() if getattr(ped, time) > 0}
    try:
        return Pedestrian(
            name=ped.id, pos=(ped.pos.x, ped.pos.y, ped.pos.z), waypoints=tuple((p.x, p.y) for p in ped.waypoints),
            type=ped.type or "adult", waypoint_mode=ped.waypoint_mode, number_of_peds=max(1, ped.number_of_peds),
            start_up_mode=ped.start_up_mode or None, **given,
        )  # fmt: skip
    except ValueError as error:
        raise InputError(f"pedestrian {ped.id!r}: {error}") from error


def _thing(obstacle: Any) -> Thing:
    """Return the piece of furniture described by a message, whose type or file is named after the furniture model."""
    stem = Path(obstacle.yaml_path).name.partition(".")[0]
    model = next((name for name in (obstacle.type, stem) if name in MODELS), obstacle.type or stem)
    model_of(model)
    pose = obstacle.pose
    piece = Furniture(model, pose.position.x, pose.position.y, heading_of(pose.orientation))
    return Thing(obstacle.name, "interactive" if obstacle.interaction_radius >= _INTERACTIVE else "static", piece)
