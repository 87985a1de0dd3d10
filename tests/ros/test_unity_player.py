"""Unity's player in C#, without Unity: its messages are ROS's byte for byte, and what it shows and measures is where it was put.

It runs on the small engine in ``unity/``, behind an endpoint of this file's; ``test_drivers.py`` plays whole episodes with it.
"""

from __future__ import annotations

import importlib
import json
import math
import socket
import subprocess
import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agora_ros.conversions import to_pose
from gazebo_msgs.msg import ModelState
from gazebo_msgs.srv import DeleteModel, SetModelState, SpawnModel
from genpy import Time
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, LaserScan
from std_srvs.srv import Trigger
from tests.ros.csharp import build
from tests.ros.standins.wire import frame, receive

from agora.robots.model import load_robot
from agora.robots.urdf import urdf
from agora_msgs.msg import Pedestrians

LIDAR = '<agora_lidar x="0.1" y="-0.05" z="0.2" heading="0.2" lowest="-1.5" step="0.05" beams="61" range="8"/>'
WALL = '<sdf version="1.6"><model name="w"><static>true</static><pose>0 0 0 0 0 0</pose><link name="link">{0}</link></model></sdf>'
BOX = '<collision name="c"><pose>3 1 0.5 0 0 0.4</pose><geometry><box><size>0.4 2 1</size></box></geometry></collision>'
LINE = (
    '<collision name="c"><pose>0 0 0 0 0 0</pose><geometry><polyline>'
    "<point>4 -3</point><point>4 -1</point><point>2 -1</point><point>2 -2</point><point>3 -2</point><point>3 -3</point>"
    "<height>1</height></polyline></geometry></collision>"
)


def bytes_of(message: Any) -> bytes:
    buffer = BytesIO()
    message.serialize(buffer)
    return buffer.getvalue()


def kind_of(name: str) -> Any:
    package, _, kind = name.partition("/")
    home = "srv" if kind.endswith(("Request", "Response")) else "msg"
    return getattr(importlib.import_module(f"{package}.{home}"), kind)


def read(program: Path, *messages: Any) -> list[str]:
    """What the player says that it reads of messages; bytes are given with their type."""
    given = [(m, bytes_of(m)) if not isinstance(m, tuple) else m for m in messages]
    lines = "".join(f"{kind._type if hasattr(kind, '_type') else kind} {data.hex()}\n" for kind, data in given)
    return subprocess.run(
        ["mono", str(program), "-read"], input=lines, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_what_the_player_sends_is_what_ros_reads(csharp_player: Path) -> None:
    told = subprocess.run(["mono", str(csharp_player), "-write"], capture_output=True, text=True, check=True).stdout
    seen = {}
    for line in told.splitlines():
        name, _, data = line.partition(" ")
        seen[name] = kind_of(name)().deserialize(bytes.fromhex(data))
        assert bytes_of(seen[name]) == bytes.fromhex(data), name
    stamp = Time(12345, 678901234)
    assert seen["rosgraph_msgs/Clock"].clock == stamp
    odometry, scan = seen["nav_msgs/Odometry"], seen["sensor_msgs/LaserScan"]
    assert (odometry.header.stamp, odometry.header.frame_id, odometry.child_frame_id) == (stamp, "bot/odom", "bot/base_link")
    place, turn = odometry.pose.pose.position, odometry.pose.pose.orientation
    assert (place.x, place.y, 2 * math.atan2(turn.z, turn.w)) == (1.5, -2.25, 2.5)
    twist = odometry.twist.twist
    assert (twist.linear.x, twist.linear.y, twist.angular.z) == (0.5, -0.125, 0.75)
    assert (scan.angle_min, scan.angle_max, scan.angle_increment, scan.range_max) == (-1.5, -1.0, 0.25, 3.5)
    assert list(scan.ranges) == [0.5, math.inf, 3.25]
    image, info = seen["sensor_msgs/Image"], seen["sensor_msgs/CameraInfo"]
    assert (image.width, image.height, image.step, image.encoding, image.data) == (2, 1, 6, "rgb8", bytes([1, 2, 3, 4, 5, 6]))
    assert (info.width, info.height, info.K[0], info.K[2], info.P[5], info.P[6]) == (160, 120, 114.5, 80.0, 114.5, 60.0)
    answer = seen["gazebo_msgs/SpawnModelResponse"]
    assert (answer.success, answer.status_message) == (False, "bot already exists: é")
    assert seen["std_srvs/TriggerResponse"].success


def test_the_player_reads_what_ros_sends(csharp_player: Path) -> None:
    pose = to_pose(np.array([1.5, -2.5, 2.0]))
    spawn = SpawnModel._request_class("bot", "<robot/>", "ns", pose, "map")
    place = SetModelState._request_class(ModelState("bot", pose, Twist(), "map"))
    twist = Twist()
    twist.linear.x, twist.linear.y, twist.angular.z = 0.5, -0.25, 0.125
    people = Pedestrians(
        step=7, present=bytes([1, 0, 1]), id=[4, 5, -6], x=[1, 2, 3], y=[4, 5, 6], vx=[0] * 3, vy=[0] * 3,
        heading=[0.5, 0, 0.25], radius=[0.25, 0.5, 0.75], speed=[9] * 3, group=[-1] * 3,
    )  # fmt: skip
    people.header.frame_id = "map"
    said = read(csharp_player, spawn, place, DeleteModel._request_class("bot"), twist, people)
    assert said[0].split()[:4] == ["bot", "<robot/>", "1.5", "-2.5"] and float(said[0].split()[4]) == pytest.approx(2.0)
    assert said[1].split()[:3] == ["bot", "1.5", "-2.5"] and float(said[1].split()[3]) == pytest.approx(2.0)
    assert said[2:] == ["bot", "0.5 -0.25 0.125", "4 1 4 0.5 0.25 -6 3 6 0.25 0.75"]


def test_a_message_that_is_cut_off_is_refused(csharp_player: Path) -> None:
    whole = bytes_of(Pedestrians(present=bytes([1]), id=[1], x=[1]))
    lies = bytes_of(DeleteModel._request_class("bot"))[:4].replace(b"\x03", b"\xff") + b"bot"
    said = read(csharp_player, ("agora_msgs/Pedestrians", whole[:30]), ("gazebo_msgs/DeleteModelRequest", lies))
    assert len(said) == 2 and all(line.startswith("refused: ") for line in said)


def test_the_sources_are_compiled_for_unity_6_too(csharp_player: Path, tmp_path: Path) -> None:
    assert build(tmp_path / "six.exe", "UNITY_6000_0_OR_NEWER").exists()


class Endpoint:
    """What the player connects to: keeps the last message of every topic, and asks its services."""

    def __init__(self, player: socket.socket) -> None:
        self._player, self._news, self._next = player, threading.Condition(), 1001
        self.last: dict[str, bytes] = {}
        self.count: dict[str, int] = {}
        self.registered: set[tuple[str, str, str]] = set()
        self._answers: dict[int, bytes] = {}
        player.sendall(frame("__handshake", {"version": "v0.7.0", "metadata": '{"protocol": "ROS1"}'}))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                destination, payload = receive(self._player)
                answer = receive(self._player)[1] if destination == "__response" else b""
                with self._news:
                    if destination == "__response":
                        self._answers[json.loads(payload)["srv_id"]] = answer
                    elif destination.startswith("__"):
                        given = json.loads(payload)
                        self.registered.add((destination, given["topic"], given["message_name"]))
                    else:
                        self.last[destination], self.count[destination] = payload, self.count.get(destination, 0) + 1
                    self._news.notify_all()
        except OSError:
            pass

    def ask(self, service: str, kind: Any, *fields: Any) -> Any:
        """The answer of a service of the player."""
        number, self._next = self._next, self._next + 1
        self._player.sendall(frame("__request", {"srv_id": number}) + frame(service, kind._request_class(*fields)))
        with self._news:
            assert self._news.wait_for(lambda: number in self._answers, 30.0)
            return kind._response_class().deserialize(self._answers[number])

    def tell(self, topic: str, message: Any) -> None:
        """Send a message to the player."""
        self._player.sendall(frame(topic, message))

    def hear(self, topic: str, kind: Any, more: int = 2) -> Any:
        """The message of a topic that comes after so many others."""
        with self._news:
            since = self.count.get(topic, 0)
            assert self._news.wait_for(lambda: self.count.get(topic, 0) >= since + more, 30.0), topic
            return kind().deserialize(self.last[topic])


@pytest.fixture
def endpoint(csharp_player: Path) -> Iterator[Endpoint]:
    """The player, connected, with a camera on every robot."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with subprocess.Popen(["mono", str(csharp_player), "-agora", address, "-camera"]) as process:
            listener.settimeout(60.0)
            player, _ = listener.accept()
            with player:
                yield Endpoint(player)
            process.kill()


def robot() -> str:
    return urdf(load_robot("burger")).replace("</robot>", LIDAR + "</robot>")


def spawn(endpoint: Endpoint, name: str, text: str, *pose: float) -> Any:
    return endpoint.ask("unity/spawn_model", SpawnModel, name, text, "", to_pose(np.array(pose or (0.0, 0.0, 0.0))), "map")


def ranges(origin: np.ndarray, angles: np.ndarray, polygon: np.ndarray, disc: tuple[float, float, float]) -> np.ndarray:
    """Distances to a polygon and a disc along rays; infinite beyond 8 m."""
    seen = []
    for angle in angles:
        ray, best = np.array([math.cos(angle), math.sin(angle)]), math.inf
        for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
            matrix = np.stack([ray, a - b], -1)
            if abs(np.linalg.det(matrix)) > 1e-9:
                along, share = np.linalg.solve(matrix, a - origin)
                best = along if 0 < along < best and 0 <= share <= 1 else best
        gap = np.array(disc[:2]) - origin
        near, off = gap @ ray, abs(gap[0] * ray[1] - gap[1] * ray[0])
        if near > 0 and off < disc[2]:
            best = min(best, near - math.sqrt(disc[2] ** 2 - off**2))
        seen.append(best if best < 8 else math.inf)
    return np.array(seen)


@pytest.mark.parametrize(
    ("shape", "outline"),
    [
        (BOX, [(-0.2, -1), (0.2, -1), (0.2, 1), (-0.2, 1)]),
        (LINE, [(4, -3), (4, -1), (2, -1), (2, -2), (3, -2), (3, -3)]),
    ],
)
def test_a_lidar_sees_walls_and_people_where_they_are(endpoint: Endpoint, shape: str, outline: Any) -> None:
    assert spawn(endpoint, "walls", WALL.format(shape)).success
    assert spawn(endpoint, "bot", robot(), 0.5, -0.3, 0.1).success
    person = {"present": bytes([1]), "id": [3], "x": [2.0], "y": [0.4], "heading": [1.0], "radius": [0.3]}
    endpoint.tell("unity/pedestrians", Pedestrians(**person))
    scan = endpoint.hear("bot/unity/scan", LaserScan, 3)
    polygon = np.array(outline, float)
    if shape == BOX:
        c, s = math.cos(0.4), math.sin(0.4)
        polygon = polygon @ np.array([[c, s], [-s, c]]) + (3, 1)
    c, s = math.cos(0.1), math.sin(0.1)
    origin = np.array([0.5 + 0.1 * c + 0.05 * s, -0.3 + 0.1 * s - 0.05 * c])
    angles = 0.1 + 0.2 - 1.5 + 0.05 * np.arange(61)
    expected = ranges(origin, angles, polygon, (2.0, 0.4, 0.3))
    assert 10 < np.isfinite(expected).sum() < 61
    assert np.array(scan.ranges) == pytest.approx(expected, abs=2e-3)
    endpoint.tell("unity/pedestrians", Pedestrians(**person | {"radius": [0.5], "x": [2.2]}))
    wider = ranges(origin, angles, polygon, (2.2, 0.4, 0.5))
    assert np.array(endpoint.hear("bot/unity/scan", LaserScan, 3).ranges) == pytest.approx(wider, abs=2e-3)
    endpoint.tell("unity/pedestrians", Pedestrians())
    gone = ranges(origin, angles, polygon, (99, 0, 0.1))
    assert np.array(endpoint.hear("bot/unity/scan", LaserScan, 3).ranges) == pytest.approx(gone, abs=2e-3)


def test_a_robot_drives_on_the_arc_that_it_is_told_to_and_stands_where_it_is_put(endpoint: Endpoint) -> None:
    assert spawn(endpoint, "bot", robot(), 1.0, 2.0, 0.5).success
    assert ("__publish", "bot/unity/odom", "nav_msgs/Odometry") in endpoint.registered
    twist = Twist()
    twist.linear.x, twist.linear.y, twist.angular.z = 0.4, 0.1, -0.8
    endpoint.tell("bot/unity/cmd_vel", twist)
    first, last = endpoint.hear("bot/unity/odom", Odometry, 5), endpoint.hear("bot/unity/odom", Odometry, 40)
    for odometry in (first, last):
        seen = odometry.twist.twist
        assert (seen.linear.x, seen.linear.y, seen.angular.z) == pytest.approx((0.4, 0.1, -0.8), abs=1e-3)
    passed = (last.header.stamp - first.header.stamp).to_sec()
    headings = [2 * math.atan2(m.pose.pose.orientation.z, m.pose.pose.orientation.w) for m in (first, last)]
    assert headings[1] - headings[0] == pytest.approx(-0.8 * passed, abs=1e-4)
    x, y = (
        (0.4 * math.sin(h1 := headings[1]) + 0.1 * math.cos(h1) - 0.4 * math.sin(h0 := headings[0]) - 0.1 * math.cos(h0)) / -0.8,
        (-0.4 * math.cos(h1) + 0.1 * math.sin(h1) + 0.4 * math.cos(h0) - 0.1 * math.sin(h0)) / -0.8,
    )
    moved = [getattr(last.pose.pose.position, axis) - getattr(first.pose.pose.position, axis) for axis in "xy"]
    assert moved == pytest.approx([x, y], abs=1e-4)
    state = ModelState(model_name="bot", pose=to_pose(np.array([-1.0, 0.5, 3.0])))
    assert endpoint.ask("unity/set_model_state", SetModelState, state).success
    put = endpoint.hear("bot/unity/odom", Odometry)
    assert (put.pose.pose.position.x, put.pose.pose.position.y) == pytest.approx((-1.0, 0.5))
    assert 2 * math.atan2(put.pose.pose.orientation.z, put.pose.pose.orientation.w) == pytest.approx(3.0, abs=1e-5)
    assert put.twist.twist.linear.x == pytest.approx(0, abs=1e-4)


def test_a_camera_sees_colours_and_depths_the_right_way_up(endpoint: Endpoint) -> None:
    wide = '<collision name="c"><pose>2.5 0 0.5 0 0 0</pose><geometry><box><size>1 9 1</size></box></geometry></collision>'
    assert spawn(endpoint, "walls", WALL.format(wide)).success
    assert spawn(endpoint, "bot", robot()).success
    colours, depths = endpoint.hear("bot/rgbd/color/image_raw", Image), endpoint.hear("bot/rgbd/depth/image_raw", Image)
    info = endpoint.hear("bot/rgbd/color/camera_info", CameraInfo)
    focal = 80 / math.tan(math.radians(35))
    assert (info.width, info.height, info.K[0]) == (160, 120, pytest.approx(focal))
    rows = np.frombuffer(colours.data, np.uint8).reshape(120, 160, 3)
    assert (rows == np.arange(119, -1, -1)[:, None, None]).all(), "the engine's picture counts rows from below"
    seen = np.frombuffer(depths.data, np.float32).reshape(120, 160)
    height = 0.5 - 1.9 * (np.arange(120) + 0.5 - 60) / focal  # at which the ray meets the wall's plane, 1.9 m before the camera
    assert np.isinf(seen[height > 1.01]).all() and (height > 1.01).any()
    assert seen[(height > 0.01) & (height < 0.99)] == pytest.approx(1.9, abs=1e-3)
    below = np.flatnonzero(height < -0.01)
    floor = 0.501 * focal / (below + 0.5 - 60)
    assert seen[below] == pytest.approx(np.repeat(floor[:, None], 160, axis=1), rel=1e-3) and len(below) > 3


def test_what_cannot_be_done_is_refused_with_a_reason(endpoint: Endpoint) -> None:
    assert spawn(endpoint, "bot", robot()).success
    ball = WALL.format("<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry></collision>")
    moved = WALL.format(BOX).replace("<pose>0 0 0 0 0 0</pose>", "<pose>1 0 0 0 0 0</pose>", 1)
    refused = [spawn(endpoint, "bot", robot())]
    refused += [
        spawn(endpoint, "x", text) for text in ("no xml", "<world/>", ball, moved, WALL.format(BOX).replace("0.4 2 1", "2 1"))
    ]
    refused += [endpoint.ask("unity/delete_model", DeleteModel, "x")]
    refused += [endpoint.ask("unity/set_model_state", SetModelState, ModelState(model_name="x"))]
    words = [
        "already exists", "not valid XML", "begins with <world>", "a shape <sphere>", "a pose of its own", "expected 3 numbers",
        "there is no x", "there is no x",
    ]  # fmt: skip
    for answer, word in zip(refused, words, strict=True):
        assert not answer.success and word in answer.status_message
    nan = Twist()
    nan.linear.x = math.nan
    endpoint.tell("bot/unity/cmd_vel", nan)
    endpoint.tell("nobody/unity/cmd_vel", Twist())
    assert endpoint.hear("bot/unity/odom", Odometry, 5).pose.pose.position.x == pytest.approx(0.0)
    assert endpoint.ask("unity/delete_model", DeleteModel, "bot").success and spawn(endpoint, "bot", robot()).success


def test_time_stands_while_paused(endpoint: Endpoint) -> None:
    endpoint.hear("/clock", Clock)
    assert endpoint.ask("unity/pause", Trigger).success
    count = endpoint.count["/clock"]
    assert not endpoint.ask("unity/delete_model", DeleteModel, "x").success
    assert endpoint.count["/clock"] == count
    assert endpoint.ask("unity/resume", Trigger).success
    assert endpoint.hear("/clock", Clock).clock.to_sec() < (count + 60) / 60


def test_a_lost_connection_empties_the_world_for_the_next(csharp_player: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60.0)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with subprocess.Popen(["mono", str(csharp_player), "-agora", address]) as process:
            for _ in range(2):
                player, _ = listener.accept()
                with player:
                    endpoint = Endpoint(player)
                    assert spawn(endpoint, "bot", robot(), 1.0, 0.0, 0.0).success
                    assert endpoint.hear("bot/unity/odom", Odometry).header.stamp.to_sec() < 5.0
                    assert ("__subscribe", "bot/unity/cmd_vel", "geometry_msgs/Twist") in endpoint.registered
                    player.shutdown(socket.SHUT_RDWR)
            process.kill()


@pytest.mark.parametrize(
    ("greeting", "words"),
    [
        (frame("__handshake", {"version": "v0.7.0", "metadata": '{"protocol": "ROS2"}'}), "is for ROS 2"),
        (frame("hello", b""), "is not ROS-TCP-Endpoint"),
        (b"HTTP/1.1 400 Bad Request\r\n", "does not send the handshake of ROS-TCP-Endpoint"),
    ],
)
def test_who_is_no_endpoint_is_named_and_the_player_tries_again(csharp_player: Path, greeting: bytes, words: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60.0)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        command = ["mono", str(csharp_player), "-agora", address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            player, _ = listener.accept()
            player.sendall(greeting)
            assert process.stdout is not None and words in process.stdout.readline()
            listener.accept()[0].close()
            player.close()
            process.kill()
