"""Unity, through ROS-TCP-Endpoint, with a player that implements the contract in docs/reference/unity.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
import rospy
from agora_ros.conversions import to_pedestrians, to_pose
from gazebo_msgs.msg import ModelState
from gazebo_msgs.srv import DeleteModel, SetModelState, SpawnModel
from std_srvs.srv import Trigger

from agora.core.state import Array
from agora.maps.world3d.sdf import model_sdf
from agora.maps.world3d.solids import SolidGroup
from agora.node_logic.driver import PeopleAtStep
from agora.robots.body import body
from agora.robots.model import RobotModel
from agora.robots.urdf import urdf
from agora_msgs.msg import Pedestrians
from agora_simulators.drivers.foreign import Foreign


class Unity(Foreign):
    """The driver of a Unity player, which receives all pedestrians on one topic."""

    name: ClassVar[str] = "unity"
    services: ClassVar[tuple[str, ...]] = tuple(
        f"unity/{what}" for what in ("spawn_model", "delete_model", "set_model_state", "pause", "resume")
    )
    start_it: ClassVar[str] = "start ROS-TCP-Endpoint with /clock:=unity/clock, and a player that follows docs/reference/unity.md"

    def __init__(self, patience: float = 30.0) -> None:
        super().__init__(patience)
        self._tell_people = rospy.Publisher("unity/pedestrians", Pedestrians, queue_size=1, latch=True)
        self._spawn_model = self._service("unity/spawn_model", SpawnModel)
        self._delete_model = self._service("unity/delete_model", DeleteModel)
        self._set_state = self._service("unity/set_model_state", SetModelState)
        self._pause, self._resume = self._service("unity/pause", Trigger), self._service("unity/resume", Trigger)

    def _spawn(self, name: str, text: str, pose: Array) -> str:
        answer = self._spawn_model(name, text, "", to_pose(pose), "map")
        return "" if answer.success else answer.status_message or "no reason given"

    def _show_robot(self, name: str, model: RobotModel, pose: Array, scan_period: float) -> None:
        root = ElementTree.fromstring(urdf(model))
        if (lidar := model.lidar) is not None:
            place = {"x": lidar.x, "y": lidar.y, "z": body(model).scan_height, "heading": lidar.heading}
            beams = {"lowest": lidar.angle_min, "step": lidar.increment, "beams": lidar.beams, "range": lidar.range_max}
            ElementTree.SubElement(root, "agora_lidar", {key: f"{value:.9g}" for key, value in (place | beams).items()})
        self._put(name, ElementTree.tostring(root, encoding="unicode"), pose)

    def _show_bodies(self, name: str, bodies: Sequence[SolidGroup]) -> None:
        self._put(name, model_sdf(name, bodies), np.zeros(3))

    def _show_people(self, people: PeopleAtStep) -> None:
        self._tell_people.publish(to_pedestrians(people.now, people.traits, people.minds, people.step))

    def _show_pedestrian(self, name: str, radius: float, pose: Array) -> None:
        """Do nothing, because one message contains all pedestrians."""

    def _place(self, name: str, pose: Array) -> None:
        self._set_state(ModelState(model_name=name, pose=to_pose(pose)))

    def _remove(self, name: str) -> None:
        self._delete_model(name)
