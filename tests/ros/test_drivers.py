"""The same episodes through every driver: the engine's own, and stand-ins of Flatland, Gazebo and Unity, or the real ones.

A real simulator is tested where ``AGORA_REAL_FLATLAND``, ``AGORA_REAL_GAZEBO`` or ``AGORA_REAL_UNITY`` is a command that starts it
(of Unity the endpoint alone; the player is the stand-in). ``{world}`` in it becomes a file with an empty world of Flatland's,
``{port}`` a free port; the node must end up in the root namespace.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rospy
from agora_ros.conversions import to_episode
from agora_simulators.drivers.flatland import EMPTY_WORLD
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan
from std_srvs.srv import Trigger
from tests.starts import people, start

from agora.config import build
from agora.core.recording import Outcome
from agora.maps.grid import Map
from agora.robots.model import load_robot
from agora.simulators.native import Native
from agora.tasks.suite import Stage
from agora_msgs import msg, srv

HERE = Path(__file__).parent
BURGER = load_robot("burger")


def wall(x0: float, y0: float, x1: float, y1: float) -> list[tuple[float, float]]:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


ROOM = Map.from_shapes(
    discs=[(0.3, 1.1, 0.2)],
    polygons=[
        wall(-2.1, -1.6, 2.6, -1.5), wall(2.5, -1.5, 2.6, 2.0), wall(-2.1, 2.0, 2.6, 2.1), wall(-2.1, -1.5, -2.0, 2.0),
        [(-1.6, -1.2), (-1.0, -1.3), (-1.2, -0.8)],
    ],
    bounds=(-2.6, -2.1, 3.1, 2.7),
)  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """The processes of a foreign simulator."""

    start: Callable[[], list[subprocess.Popen[bytes]]]
    processes: list[subprocess.Popen[bytes]]

    def kill(self) -> None:
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
        self.processes = []

    def again(self) -> None:
        self.processes = self.start()


@pytest.fixture(params=["native", "flatland", "gazebo", "unity"])
def simulator(request: Any, graph: Any, tmp_path: Path) -> Iterator[tuple[str, Server]]:
    """A simulator node with its driver, and the server behind it."""
    name, real = request.param, os.environ.get(f"AGORA_REAL_{request.param.upper()}", "")
    if real:
        graph.namespace = ""
    (tmp_path / "empty.yaml").write_text(EMPTY_WORLD)
    port = free_port()
    path = f"{HERE}:{graph.master.env['PYTHONPATH']}"
    environment = graph.master.env | {"PYTHONPATH": path, "ROS_NAMESPACE": graph.namespace or "/"}

    def popen(*command: str) -> subprocess.Popen[bytes]:
        with (tmp_path / f"{name}.log").open("ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def run() -> list[subprocess.Popen[bytes]]:
        stand_in = {"flatland": "flatland_server.py", "gazebo": "gazebo_server.py", "unity": "tcp_endpoint.py"}.get(name)
        if stand_in is None:
            return []
        given = real.format(world=tmp_path / "empty.yaml", port=port)
        own = [sys.executable, str(HERE / "standins" / stand_in), f"_tcp_port:={port}"]
        processes = [popen(*(shlex.split(given) if real else own))]
        if name == "unity":
            _connects(port)
            processes.append(popen(sys.executable, str(HERE / "standins" / "unity_player.py"), "127.0.0.1", str(port)))
        return processes

    server = Server(run, run())
    graph.launch("agora_simulators", "simulator", "simulator_node", driver=name, cmd_vel_timeout=60.0)
    graph.call("simulator/info", srv.GetSimulator, seconds=240)
    yield name, server
    server.kill()


def _connects(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            rospy.rostime.wallsleep(0.05)
        else:
            return
    pytest.fail("the endpoint does not listen")


def episode(number: int, pose: Any, goal: Any, crowd: Any = None, timeout: float = 30.0) -> tuple[Any, Any, Stage]:
    of = build({"name": "s", "world": {"name": "open"}}, Stage)
    begun = start(pose, goal, crowd, ROOM, BURGER, f"test/s/{number}", timeout=timeout, goal_tolerance=0.2)
    return to_episode(begun, of, [msg.Robot(name="bot", navigation="external")], number), begun, of


def begin(graph: Any, message: Any) -> None:
    answer = graph.call("simulator/begin", srv.BeginEpisode, message)
    assert answer.success, answer.message


def go(graph: Any, vx: float, omega: float = 0.0) -> Any:
    """Let time pass, and send a twist."""
    commands = graph.publisher("bot/cmd_vel", Twist)
    assert graph.call("simulator/resume", Trigger).success
    twist = Twist()
    twist.linear.x, twist.angular.z = vx, omega
    commands.publish(twist)
    return commands


def test_the_same_scenario_looks_the_same_and_ends_the_same_everywhere(graph: Any, simulator: Any) -> None:
    """The first scan is the engine's own, the robot drives as fast as told, and ends at the pedestrian in its way."""
    status = graph.hear("simulator/status", msg.EpisodeStatus)
    scans, odometry = graph.hear("bot/scan", LaserScan), graph.hear("bot/odom", Odometry)
    robots = graph.hear("simulator/robots", msg.Robots)
    crowd = people([(1.3, -0.1)], waypoints=[[(1.3, -0.1)]], radius=0.25)
    message, begun, of = episode(1, (-0.9, 0.2, -0.15), (2.2, -0.3, 0.0), crowd)
    begin(graph, message)
    go(graph, 0.0)
    own = Native()
    own.begin(begun, of, ["bot"], 0.0)
    expected = own.readings()[0].ranges
    first = scans.wait_for(lambda m: True, "a scan")
    close = np.abs(np.array(first.ranges) - expected) < 0.03
    assert close.mean() > 0.97, f"{close.mean():.3f} of the beams agree"
    go(graph, 0.2)
    moving = odometry.wait_for(lambda m: m.twist.twist.linear.x > 0.18, "a robot that moves")
    assert moving.twist.twist.linear.x == pytest.approx(0.2, abs=0.02) and abs(moving.twist.twist.linear.y) < 0.02
    ended = status.wait_for(lambda m: m.done, "the end", 40)
    assert Outcome(ended.robots[0].outcome) == Outcome.PEDESTRIAN_COLLISION
    last = robots.wait_for(lambda m: m.step >= ended.step, "the robots at the end")
    assert np.hypot(last.x[0] - 1.3, last.y[0] + 0.1) == pytest.approx(BURGER.radius + 0.25, abs=0.03)


def test_episodes_follow_each_other_and_robots_start_where_they_are_told(graph: Any, simulator: Any) -> None:
    status, robots = graph.hear("simulator/status", msg.EpisodeStatus), graph.hear("simulator/robots", msg.Robots)
    for number, pose in enumerate([(-0.5, 0.3, 0.4), (1.0, -0.7, 2.1), (0.2, 0.1, -1.2)], 1):
        heading = np.array([np.cos(pose[2]), np.sin(pose[2])])
        goal = (*(np.array(pose[:2]) + 0.5 * heading), 0.0)
        message, _, _ = episode(number, pose, goal)
        begin(graph, message)
        seen = len(robots)
        go(graph, 0.2)
        robots.wait(seen + 1)
        assert np.hypot(robots[seen].x[0] - pose[0], robots[seen].y[0] - pose[1]) < 0.05
        ended = status.wait_for(lambda m, number=number: m.number == number and m.done, f"the end of episode {number}")
        assert Outcome(ended.robots[0].outcome) == Outcome.REACHED


@pytest.mark.parametrize("simulator", ["flatland", "gazebo", "unity"], indirect=True)
def test_a_simulator_that_dies_interrupts_the_episode_and_its_successor_plays_on(graph: Any, simulator: Any) -> None:
    name, server = simulator
    status = graph.hear("simulator/status", msg.EpisodeStatus)
    message, _, _ = episode(1, (-0.9, 0.2, 0.0), (2.2, 0.2, 0.0))
    begin(graph, message)
    go(graph, 0.1)
    status.wait_for(lambda m: m.running, "episode 1")
    server.kill()
    lost = status.wait_for(lambda m: m.interrupted, "an interrupted episode", 20)
    assert name in lost.reason and "start" in lost.reason
    server.again()
    for _ in range(60):
        answer = graph.call("simulator/begin", srv.BeginEpisode, message)
        if answer.success:
            break
        rospy.rostime.wallsleep(0.5)
    assert answer.success, answer.message
    seen = len(status)
    go(graph, 0.2)
    status.wait_for(lambda m: m in status.messages[seen:] and m.done or m.running, "the episode again")
