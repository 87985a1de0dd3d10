"""Stands in for flatland_server: its services, topics and parameters, on a world of plain NumPy.

As the real one: models come as YAML files, a laser reads NaN where nothing is in range, topics are under the namespace given at
spawning, time runs at ``update_rate``. With the parameter ``fork`` it is Arena's: the service ``step_world`` moves time on, a
DiffDrive tells the velocity in the map frame although the message says the robot's, and the last beam is missing. With the global
parameter ``train_mode`` too, time moves by the service alone, after steps of its own at the start. With the global parameter
``odometry_every`` it tells its odometry late, that of so many steps at once, as on a busy machine.
"""

from __future__ import annotations

import math
import threading
from pathlib import Path

import numpy as np
import rospy
import yaml
from flatland_msgs.srv import DeleteModel, DeleteModelResponse, MoveModel, MoveModelResponse, SpawnModel, SpawnModelResponse
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from std_srvs.srv import Empty, EmptyResponse

from standins.world import Body, World


class FlatlandServer:
    """One world; every callback and step holds the lock."""

    def __init__(self) -> None:
        self._world, self._lock = World(), threading.Lock()
        self._step, self._rate = rospy.get_param("/step_size", 0.01), rospy.get_param("~update_rate", 200.0)
        self._paused, self._fork = False, rospy.get_param("~fork", False)
        self._own = min(int(5.0 / self._step), 1000) if self._fork and rospy.get_param("/train_mode", False) else None
        self._plugins: dict[str, list] = {}
        self._clock = rospy.Publisher("/clock", Clock, queue_size=1)
        rospy.Service("spawn_model", SpawnModel, self._spawn)
        rospy.Service("delete_model", DeleteModel, self._delete)
        rospy.Service("move_model", MoveModel, self._move)
        rospy.Service("pause", Empty, lambda _: self._pause(True))
        rospy.Service("resume", Empty, lambda _: self._pause(False))
        if self._fork:
            rospy.Service("/step_world", Empty, self._step_once)

    def run(self) -> None:
        """Let time pass until the node is shut down."""
        import time

        due = time.monotonic()
        while not rospy.is_shutdown():
            if not self._paused and self._own != 0:
                with self._lock:
                    self._advance()
                if self._own is not None:
                    self._own -= 1
                    continue
            due += 1.0 / self._rate
            rospy.rostime.wallsleep(max(0.0, due - time.monotonic()))

    def _pause(self, paused: bool) -> EmptyResponse:
        self._paused = paused
        return EmptyResponse()

    def _step_once(self, _: object) -> EmptyResponse:
        with self._lock:
            if not self._paused:
                self._advance()
        return EmptyResponse()

    def _advance(self) -> None:
        self._world.step(self._step)
        now = rospy.Time.from_sec(self._world.time)
        self._clock.publish(Clock(now))
        for plugins in list(self._plugins.values()):
            for plugin in plugins:
                plugin.after_step(now, self._step)

    def _spawn(self, request: object) -> SpawnModelResponse:
        with self._lock:
            if request.name in self._world.bodies:
                return SpawnModelResponse(False, f"Model with name {request.name!r} already exists")
            model = yaml.safe_load(Path(request.yaml_path).read_text())
            body = Body(np.array([request.pose.x, request.pose.y, request.pose.theta]))
            for part in model["bodies"]:
                for footprint in part["footprints"]:
                    if footprint["type"] == "circle":
                        body.discs.append((*footprint.get("center", (0.0, 0.0)), footprint["radius"]))
                    elif not 3 <= len(footprint["points"]) <= 8:
                        return SpawnModelResponse(False, "a polygon needs 3 to 8 points")
                    else:
                        body.polygons.append(np.array(footprint["points"]))
            self._world.bodies[request.name] = body
            kinds = {"DiffDrive": DiffDrive, "Laser": Laser}
            self._plugins[request.name] = [
                kinds[p["type"]](self._world, request.name, request.ns, p, self._fork)
                for p in model.get("plugins", [])
                if p["type"] in kinds
            ]
        return SpawnModelResponse(True, "")

    def _delete(self, request: object) -> DeleteModelResponse:
        with self._lock:
            if self._world.bodies.pop(request.name, None) is None:
                return DeleteModelResponse(False, f"Model with name {request.name!r} does not exist")
            for plugin in self._plugins.pop(request.name):
                plugin.close()
        return DeleteModelResponse(True, "")

    def _move(self, request: object) -> MoveModelResponse:
        with self._lock:
            body = self._world.bodies.get(request.name)
            if body is None:
                return MoveModelResponse(False, f"Model with name {request.name!r} does not exist")
            body.pose[:] = request.pose.x, request.pose.y, request.pose.theta
        return MoveModelResponse(True, "")


def _topic(ns: str, topic: str) -> str:
    return f"{ns}/{topic}" if ns else topic


class DiffDrive:
    """Drives its body by the last twist; tells odometry after every step."""

    def __init__(self, world: World, name: str, ns: str, config: dict, fork: bool) -> None:
        self._fork = fork
        self._body = world.bodies[name]
        prefix = f"{ns}_" if ns else ""
        self._every, self._waiting = rospy.get_param("/odometry_every", 1), []
        self._frames = prefix + config.get("odom_frame_id", "odom"), prefix + config["body"]
        self._odom = rospy.Publisher(_topic(ns, config.get("odom_pub", "odometry/filtered")), Odometry, queue_size=1)
        self._truth = rospy.Publisher(_topic(ns, config.get("ground_truth_pub", "odometry/ground_truth")), Odometry, queue_size=100)
        self._sub = rospy.Subscriber(_topic(ns, config.get("twist_sub", "cmd_vel")), Twist, self._drive, queue_size=1)

    def _drive(self, twist: Twist) -> None:
        self._body.twist[:] = twist.linear.x, 0.0, twist.angular.z

    def after_step(self, now: rospy.Time, step: float) -> None:
        x, y, heading = self._body.pose
        message = Odometry()
        message.header.stamp, message.header.frame_id, message.child_frame_id = now, *self._frames
        message.pose.pose.position.x, message.pose.pose.position.y = x, y
        message.pose.pose.orientation.z, message.pose.pose.orientation.w = math.sin(heading / 2), math.cos(heading / 2)
        speed, direction = self._body.twist[0], heading if self._fork else 0.0
        message.twist.twist.linear.x, message.twist.twist.linear.y = speed * math.cos(direction), speed * math.sin(direction)
        message.twist.twist.angular.z = self._body.twist[2]
        self._waiting.append(message)
        if len(self._waiting) >= self._every:
            for told in self._waiting:
                self._truth.publish(told)
                self._odom.publish(told)
            self._waiting = []

    def close(self) -> None:
        for door in (self._odom, self._truth, self._sub):
            door.unregister()


class Laser:
    """Scans at multiples of its period in simulated time."""

    def __init__(self, world: World, name: str, ns: str, config: dict, fork: bool) -> None:
        self._world, self._name = world, name
        angle, x, y, heading = config["angle"], *config.get("origin", (0.0, 0.0, 0.0))
        beams = round((angle["max"] - angle["min"]) / angle["increment"]) + (0 if fork else 1)
        self._angle, self._range = angle, config["range"]
        world.bodies[name].scanner = {
            "x": x, "y": y, "heading": heading, "lowest": angle["min"], "step": angle["increment"], "beams": beams,
            "range": config["range"],
        }  # fmt: skip
        self._period = 1.0 / config.get("update_rate", 1e9)
        self._frame = (f"{ns}_" if ns else "") + config.get("frame", config["name"])
        self._scan = rospy.Publisher(_topic(ns, config.get("topic", "scan")), LaserScan, queue_size=1)

    def after_step(self, now: rospy.Time, step: float) -> None:
        if (now.to_sec() + step / 2) % self._period >= step or not self._scan.get_num_connections():
            return
        message = LaserScan()
        message.header.stamp, message.header.frame_id = now, self._frame
        message.angle_min, message.angle_max, message.angle_increment = (self._angle[k] for k in ("min", "max", "increment"))
        message.range_max = self._range
        ranges = self._world.scan(self._name)
        message.ranges = np.where(ranges < self._range, ranges, np.nan).tolist()
        self._scan.publish(message)

    def close(self) -> None:
        self._scan.unregister()


if __name__ == "__main__":
    rospy.init_node("flatland_server")
    FlatlandServer().run()
