"""Stands in for gzserver with gazebo_ros: the services and topics that the driver uses, on a world of plain NumPy.

It reads of an SDF model: collision boxes, cylinders and spheres of every link at their poses, a ray sensor, and the plugins
planar_move, diff_drive and laser by the names of their libraries, with the topics that these tell.
"""

from __future__ import annotations

import math
import threading
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import rospy
from gazebo_msgs.msg import ModelState, ModelStates
from gazebo_msgs.srv import (
    DeleteModel,
    DeleteModelResponse,
    GetModelState,
    GetModelStateResponse,
    GetWorldProperties,
    GetWorldPropertiesResponse,
    SetModelState,
    SetModelStateResponse,
    SpawnModel,
    SpawnModelResponse,
)
from geometry_msgs.msg import Pose, Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from std_srvs.srv import Empty, EmptyResponse

from standins.sdf import add_shape, numbers
from standins.world import Body, World

_STEP = 0.005


def _planar(pose: Pose) -> np.ndarray:
    return np.array([pose.position.x, pose.position.y, 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)])


def _pose(planar: np.ndarray) -> Pose:
    pose = Pose()
    pose.position.x, pose.position.y = planar[:2]
    pose.orientation.z, pose.orientation.w = math.sin(planar[2] / 2), math.cos(planar[2] / 2)
    return pose


class GazeboServer:
    """One world; every callback and step holds the lock."""

    def __init__(self) -> None:
        self._world, self._lock, self._paused = World(), threading.Lock(), False
        self._world.time = float(rospy.get_param("~time", 0.0))  # s for which it has been up
        self._plugins: dict[str, list] = {}
        self._clock = rospy.Publisher("/clock", Clock, queue_size=10)
        self._states = rospy.Publisher("/gazebo/model_states", ModelStates, queue_size=10)
        rospy.Subscriber("/gazebo/set_model_state", ModelState, self._set, queue_size=100)
        rospy.Service("/gazebo/spawn_sdf_model", SpawnModel, self._spawn)
        rospy.Service("/gazebo/get_world_properties", GetWorldProperties, lambda _: self._properties())
        rospy.Service("/gazebo/delete_model", DeleteModel, self._delete)
        rospy.Service("/gazebo/get_model_state", GetModelState, self._get)
        rospy.Service("/gazebo/set_model_state", SetModelState, lambda r: SetModelStateResponse(self._set(r.model_state), ""))
        rospy.Service("/gazebo/pause_physics", Empty, lambda _: self._pause(True))
        rospy.Service("/gazebo/unpause_physics", Empty, lambda _: self._pause(False))

    def run(self) -> None:
        """Let time pass until the node is shut down."""
        due = time.monotonic()
        while not rospy.is_shutdown():
            if not self._paused:
                with self._lock:
                    self._world.step(_STEP)
                    self._publish()
            due += _STEP
            rospy.rostime.wallsleep(max(0.0, due - time.monotonic()))

    def _publish(self) -> None:
        now = rospy.Time.from_sec(self._world.time)
        self._clock.publish(Clock(now))
        states = ModelStates()
        for name, body in self._world.bodies.items():
            states.name.append(name)
            states.pose.append(_pose(body.pose))
            twist, (c, s) = Twist(), (math.cos(body.pose[2]), math.sin(body.pose[2]))
            twist.linear.x, twist.linear.y = body.twist[0] * c - body.twist[1] * s, body.twist[0] * s + body.twist[1] * c
            twist.angular.z = body.twist[2]
            states.twist.append(twist)
        self._states.publish(states)
        for plugins in list(self._plugins.values()):
            for plugin in plugins:
                plugin.after_step(now)

    def _pause(self, paused: bool) -> EmptyResponse:
        self._paused = paused
        return EmptyResponse()

    def _spawn(self, request: object) -> SpawnModelResponse:
        with self._lock:
            if request.model_name in self._world.bodies:
                return SpawnModelResponse(False, "SpawnModel: Failure - entity already exists.")
            model = ElementTree.fromstring(request.model_xml).find("model")
            if model is None:
                return SpawnModelResponse(False, "SpawnModel: Failure - model format error.")
            body = Body(_planar(request.initial_pose))
            for collision in model.iter("collision"):
                add_shape(body, collision)
            self._world.bodies[request.model_name] = body
            self._plugins[request.model_name] = self._plugins_of(model, request.model_name)
        return SpawnModelResponse(True, "SpawnModel: Successfully spawned entity")

    def _plugins_of(self, model: ElementTree.Element, name: str) -> list:
        plugins: list = []
        for sensor in model.iter("sensor"):
            for plugin in sensor.findall("plugin"):
                if "laser" in plugin.get("filename", ""):
                    plugins.append(Laser(self._world, name, sensor, plugin))
        for plugin in model.findall("plugin"):
            file = plugin.get("filename", "")
            if "planar_move" in file or "diff_drive" in file:
                plugins.append(Drive(self._world, name, plugin, planar="planar_move" in file))
        return plugins

    def _delete(self, request: object) -> DeleteModelResponse:
        with self._lock:
            if self._world.bodies.pop(request.model_name, None) is None:
                return DeleteModelResponse(False, "DeleteModel: Model does not exist")
            for plugin in self._plugins.pop(request.model_name):
                plugin.close()
        return DeleteModelResponse(True, "DeleteModel: successfully deleted model")

    def _properties(self) -> GetWorldPropertiesResponse:
        with self._lock:
            return GetWorldPropertiesResponse(sim_time=self._world.time, model_names=list(self._world.bodies), success=True)

    def _get(self, request: object) -> GetModelStateResponse:
        body = self._world.bodies.get(request.model_name)
        response = GetModelStateResponse(success=body is not None)
        if body is not None:
            response.pose = _pose(body.pose)
        return response

    def _set(self, state: ModelState) -> bool:
        with self._lock:
            body = self._world.bodies.get(state.model_name)
            if body is None:
                return False
            body.pose[:] = _planar(state.pose)
            if state.model_name not in self._plugins or not self._plugins[state.model_name]:
                body.twist[:] = 0.0
        return True


class Drive:
    """planar_move or diff_drive: follows the last twist, tells odometry."""

    def __init__(self, world: World, name: str, plugin: ElementTree.Element, *, planar: bool) -> None:
        self._body, self._planar_move, self._last = world.bodies[name], planar, -1.0

        def text(tag: str, default: str) -> str:
            found = plugin.findtext(tag)
            return default if found is None else found.strip()

        # Without a namespace diff_drive is under the model's name, planar_move is not.
        prefix = text("robotNamespace", "" if planar else name).strip("/")
        topic = f"/{prefix}/" if prefix else "/"
        self._frames = text("odometryFrame", "odom"), text("robotBaseFrame", "base_footprint")
        self._period = 1.0 / float(text("odometryRate" if planar else "updateRate", "20"))
        self._odom = rospy.Publisher(f"{topic}{text('odometryTopic', 'odom')}", Odometry, queue_size=1)
        self._sub = rospy.Subscriber(f"{topic}{text('commandTopic', 'cmd_vel')}", Twist, self._drive, queue_size=1)

    def _drive(self, twist: Twist) -> None:
        self._body.twist[:] = twist.linear.x, twist.linear.y if self._planar_move else 0.0, twist.angular.z

    def after_step(self, now: rospy.Time) -> None:
        if now.to_sec() - self._last < self._period - 1e-6:
            return
        self._last = now.to_sec()
        message = Odometry()
        message.header.stamp, message.header.frame_id, message.child_frame_id = now, *self._frames
        message.pose.pose = _pose(self._body.pose)
        message.twist.twist.linear.x, message.twist.twist.linear.y, message.twist.twist.angular.z = self._body.twist
        self._odom.publish(message)

    def close(self) -> None:
        self._odom.unregister()
        self._sub.unregister()


class Laser:
    """A ray sensor with the laser plugin."""

    def __init__(self, world: World, name: str, sensor: ElementTree.Element, plugin: ElementTree.Element) -> None:
        self._world, self._name, self._last = world, name, -1.0
        horizontal, scope = sensor.find("ray/scan/horizontal"), sensor.find("ray/range")
        beams = int(horizontal.findtext("samples"))
        low, high = float(horizontal.findtext("min_angle")), float(horizontal.findtext("max_angle"))
        self._low, self._high, self._step = low, high, (high - low) / (beams - 1)
        self._nearest, self._range = float(scope.findtext("min")), float(scope.findtext("max"))
        x, y, _, _, _, heading = numbers(sensor.find("pose"), 6)
        world.bodies[name].scanner = {
            "x": x, "y": y, "heading": heading, "lowest": low, "step": self._step, "beams": beams, "range": self._range,
        }  # fmt: skip
        self._period = 1.0 / float(sensor.findtext("update_rate", "10"))
        prefix = plugin.findtext("robotNamespace", "").strip("/ ")
        topic = plugin.findtext("topicName", "scan").strip()
        self._frame = plugin.findtext("frameName", "laser").strip()
        self._scan = rospy.Publisher(f"/{prefix}/{topic}" if prefix else f"/{topic}", LaserScan, queue_size=1)

    def after_step(self, now: rospy.Time) -> None:
        if now.to_sec() - self._last < self._period - 1e-6 or not self._scan.get_num_connections():
            return
        self._last = now.to_sec()
        message = LaserScan()
        message.header.stamp, message.header.frame_id = now, self._frame
        message.angle_min, message.angle_max, message.angle_increment = self._low, self._high, self._step
        message.range_min, message.range_max = self._nearest, self._range
        ranges = self._world.scan(self._name)
        message.ranges = np.where(ranges < self._range, ranges, np.inf).tolist()
        self._scan.publish(message)

    def close(self) -> None:
        self._scan.unregister()


if __name__ == "__main__":
    rospy.init_node("gazebo")
    GazeboServer().run()
