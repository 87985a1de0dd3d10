"""Stands in for a Unity player of Agora: speaks ROS-TCP-Connector's protocol, holds a world of plain NumPy, knows no ROS master.

    python unity_player.py HOST PORT [time scale]

What it offers is the contract that docs/reference/unity.md states.
"""

from __future__ import annotations

import json
import math
import socket
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from typing import Any

import genpy
import numpy as np
from gazebo_msgs.srv import DeleteModel, DeleteModelResponse, SetModelState, SetModelStateResponse, SpawnModel, SpawnModelResponse
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from std_srvs.srv import Trigger, TriggerResponse

from agora_msgs.msg import Pedestrians
from standins.sdf import add_shape
from standins.wire import frame, receive
from standins.world import Body, World

_STEP = 1.0 / 60.0
_SCAN_EVERY = 6
_AGAIN = 0.2  # s between two attempts to connect


def connected(host: str, port: int) -> socket.socket:
    """Return a connection to the endpoint, once it listens: roslaunch starts the endpoint and the player at the same time."""
    while True:
        try:
            return socket.create_connection((host, port))
        except ConnectionRefusedError:
            threading.Event().wait(_AGAIN)


class Player:
    """Robots come as URDF with a lidar in the element ``agora_lidar``, walls and furniture as SDF, pedestrians as a topic."""

    def __init__(self, host: str, port: int, scale: float) -> None:
        self._connection, self._gone = connected(host, port), threading.Event()
        self._world, self._lock, self._paused, self._scale, self._tick = World(), threading.Lock(), False, scale, 0
        self._robots: set[str] = set()
        self._services: dict[str, tuple[Any, Any]] = {
            "unity/spawn_model": (SpawnModel, self._spawn),
            "unity/delete_model": (DeleteModel, self._delete),
            "unity/set_model_state": (SetModelState, self._set),
            "unity/pause": (Trigger, lambda _: self._pause(True)),
            "unity/resume": (Trigger, lambda _: self._pause(False)),
        }
        destination, _ = receive(self._connection)
        assert destination == "__handshake", destination
        for name, (kind, _) in self._services.items():
            self._command("__unity_service", topic=name, message_name=f"{kind.__module__.split('.')[0]}/{kind.__name__}")
        self._command("__publish", topic="/clock", message_name="rosgraph_msgs/Clock", queue_size=10, latch=False)
        self._command("__subscribe", topic="unity/pedestrians", message_name="agora_msgs/Pedestrians")
        threading.Thread(target=self._listen, daemon=True).start()

    def _command(self, command: str, **values: Any) -> None:
        self._connection.sendall(frame(command, values))

    def run(self) -> None:
        """Let time pass until the endpoint closes the connection.

        Raises:
            ConnectionError: the endpoint has closed the connection.
        """
        due = time.monotonic()
        while True:
            if not self._paused:
                with self._lock:
                    self._world.step(_STEP)
                    self._tick += 1
                    self._publish()
            due += _STEP / self._scale
            if self._gone.wait(max(0.0, due - time.monotonic())):
                raise ConnectionError

    def _publish(self) -> None:
        now = genpy.Time.from_sec(self._world.time)
        frames = [frame("/clock", Clock(now))]
        for name in self._robots:
            body = self._world.bodies[name]
            odometry = Odometry()
            odometry.header.stamp, odometry.header.frame_id, odometry.child_frame_id = now, f"{name}/odom", f"{name}/base_link"
            odometry.pose.pose.position.x, odometry.pose.pose.position.y = body.pose[:2]
            turn = odometry.pose.pose.orientation
            turn.z, turn.w = math.sin(body.pose[2] / 2), math.cos(body.pose[2] / 2)
            odometry.twist.twist.linear.x, odometry.twist.twist.linear.y, odometry.twist.twist.angular.z = body.twist
            frames.append(frame(f"{name}/unity/odom", odometry))
            if body.scanner is not None and self._tick % _SCAN_EVERY == 0:
                scanner = body.scanner
                scan = LaserScan(angle_min=scanner["lowest"], angle_increment=scanner["step"], range_max=scanner["range"])
                scan.header.stamp, scan.header.frame_id = now, f"{name}/laser"
                scan.angle_max = scanner["lowest"] + scanner["step"] * (scanner["beams"] - 1)
                ranges = self._world.scan(name)
                scan.ranges = np.where(ranges < scanner["range"], ranges, np.inf).tolist()
                frames.append(frame(f"{name}/unity/scan", scan))
        self._connection.sendall(b"".join(frames))

    def _listen(self) -> None:
        try:
            while True:
                self._take(*receive(self._connection))
        except ConnectionError:
            self._gone.set()

    def _take(self, destination: str, payload: bytes) -> None:
        if destination == "__request":
            number = json.loads(payload)["srv_id"]
            name, data = receive(self._connection)
            kind, answer = self._services[name]
            with self._lock:
                response = answer(kind._request_class().deserialize(data))
                self._connection.sendall(frame("__response", {"srv_id": number}) + frame(name, response))
        elif destination == "unity/pedestrians":
            with self._lock:
                self._people(Pedestrians().deserialize(payload))
        elif destination.endswith("/unity/cmd_vel"):
            twist = Twist().deserialize(payload)
            self._world.bodies[destination.split("/")[0]].twist[:] = twist.linear.x, twist.linear.y, twist.angular.z

    def _spawn(self, request: Any) -> SpawnModelResponse:
        name, pose = request.model_name, request.initial_pose
        if name in self._world.bodies:
            return SpawnModelResponse(False, f"{name} already exists")
        heading = 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)
        body = Body(np.array([pose.position.x, pose.position.y, heading]))
        root = ElementTree.fromstring(request.model_xml)
        for collision in root.iter("collision"):
            add_shape(body, collision)
        for cylinder in root.findall("link/collision/geometry/cylinder"):
            body.discs.append((0.0, 0.0, float(cylinder.get("radius"))))
        lidar = root.find(".//agora_lidar")
        if lidar is not None:
            body.scanner = {key: float(value) for key, value in lidar.attrib.items()} | {"beams": int(lidar.get("beams"))}
        self._world.bodies[name] = body
        if root.tag == "robot":
            self._robots.add(name)
            for topic, kind in (("odom", "nav_msgs/Odometry"), ("scan", "sensor_msgs/LaserScan")):
                self._command("__publish", topic=f"{name}/unity/{topic}", message_name=kind, queue_size=10, latch=False)
            self._command("__subscribe", topic=f"{name}/unity/cmd_vel", message_name="geometry_msgs/Twist")
        return SpawnModelResponse(True, "")

    def _delete(self, request: Any) -> DeleteModelResponse:
        self._robots.discard(request.model_name)
        gone = self._world.bodies.pop(request.model_name, None)
        return DeleteModelResponse(gone is not None, "" if gone is not None else f"there is no {request.model_name}")

    def _set(self, request: Any) -> SetModelStateResponse:
        state = request.model_state
        body = self._world.bodies.get(state.model_name)
        if body is None:
            return SetModelStateResponse(False, f"there is no {state.model_name}")
        turn = state.pose.orientation
        body.pose[:] = state.pose.position.x, state.pose.position.y, 2.0 * math.atan2(turn.z, turn.w)
        return SetModelStateResponse(True, "")

    def _pause(self, paused: bool) -> TriggerResponse:
        self._paused = paused
        return TriggerResponse(True, "")

    def _people(self, message: Pedestrians) -> None:
        present = {f"pedestrian_{i}": n for n, i in enumerate(message.id) if message.present[n]}
        for name in [n for n in self._world.bodies if n.startswith("pedestrian_") and n not in present]:
            del self._world.bodies[name]
        for name, n in present.items():
            body = self._world.bodies.setdefault(name, Body(np.zeros(3), [(0.0, 0.0, message.radius[n])]))
            body.pose[:] = message.x[n], message.y[n], message.heading[n]


if __name__ == "__main__":
    try:
        Player(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 1.0).run()
    except KeyboardInterrupt:
        pass
    except ConnectionError:
        sys.exit("unity_player: the endpoint has closed the connection")
