"""Gazebo 11 with gazebo_ros: models are spawned, moved and deleted through gazebo_ros's services, and planar_move drives the
robots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import rospy
from agora_ros.conversions import to_pose
from gazebo_msgs.msg import ModelState
from gazebo_msgs.srv import DeleteModel, GetWorldProperties, SetModelState, SpawnModel
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Empty

from agora.core.state import Array
from agora.maps.furniture import ORANGE, Cylinder
from agora.maps.world3d.sdf import model_sdf
from agora.maps.world3d.solids import SolidGroup
from agora.robots.model import RobotModel
from agora.robots.sdf import sdf
from agora_simulators.drivers.foreign import Foreign

_HEIGHT = 1.75


class Gazebo(Foreign):
    """The driver of a gzserver started by gazebo_ros; pedestrians are upright massless cylinders that are moved to their positions.

    gazebo_ros publishes its clock at 10 Hz unless its ``pub_clock_frequency`` parameter is set higher, as the launch file does.
    """

    name: ClassVar[str] = "gazebo"
    services: ClassVar[tuple[str, ...]] = tuple(
        f"/gazebo/{what}"
        for what in (
            "spawn_sdf_model", "delete_model", "set_model_state", "pause_physics", "unpause_physics", "get_world_properties",
        )
    )  # fmt: skip
    start_it: ClassVar[str] = (
        "start gazebo_ros on this roscore with /clock remapped to gazebo/clock; start_arena.launch does so if it is installed"
    )

    def __init__(self, patience: float = 30.0) -> None:
        super().__init__(patience)
        self._spawn_model = self._service("/gazebo/spawn_sdf_model", SpawnModel)
        self._delete_model = self._service("/gazebo/delete_model", DeleteModel)
        self._set_state = self._service("/gazebo/set_model_state", SetModelState)
        self._world = self._service("/gazebo/get_world_properties", GetWorldProperties)
        self._pause = self._service("/gazebo/pause_physics", Empty)
        self._resume = self._service("/gazebo/unpause_physics", Empty)

    def _set_off(self) -> None:
        """Request the current time, which is slightly later than the last published clock."""
        self._tick(Clock(rospy.Time.from_sec(self._world().sim_time)))

    def _spawn(self, name: str, text: str, pose: Array) -> str:
        answer = self._spawn_model(name, text, "", to_pose(pose), "world")
        return "" if answer.success else answer.status_message or "no reason given"

    def _show_robot(self, name: str, model: RobotModel, pose: Array, scan_period: float) -> None:
        self._put(name, sdf(model, name, topics=rospy.resolve_name(self._topic(name, ""))), pose)

    def _show_pedestrian(self, name: str, radius: float, pose: Array) -> None:
        person = SolidGroup(name, 0.0, 0.0, 0.0, (Cylinder(0.0, 0.0, 0.0, radius, _HEIGHT, ORANGE),))
        self._put(name, model_sdf(name, (person,)), pose)

    def _show_bodies(self, name: str, bodies: Sequence[SolidGroup]) -> None:
        self._put(name, model_sdf(name, bodies), np.zeros(3))

    def _place(self, name: str, pose: Array) -> None:
        self._set_state(ModelState(model_name=name, pose=to_pose(pose), reference_frame="world"))

    def _remove(self, name: str) -> None:
        self._delete_model(name)
