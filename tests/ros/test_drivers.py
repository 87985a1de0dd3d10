"""The same episodes through every driver: the engine's own, and stand-ins of Flatland, Gazebo and Unity, or the real ones.

A real simulator is tested where ``AGORA_REAL_FLATLAND``, ``AGORA_REAL_ARENA_FLATLAND`` (Arena's fork), ``AGORA_REAL_GAZEBO`` or
``AGORA_REAL_UNITY`` is a command that starts it (of Unity the endpoint alone; the players are the stand-in and the one in C#).
``{world}`` in it becomes a file with an empty world of Flatland's, ``{port}`` a free port; the node must end up in the root
namespace, and its topic ``/clock`` be remapped to ``<driver>/clock``. Arena's fork plays in lock step, too: its parameters
``/train_mode`` and ``/step_size`` are set here.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rospy
from agora_ros.conversions import to_episode, to_pedestrians
from agora_simulators.drivers import make_driver
from agora_simulators.drivers.flatland import EMPTY_WORLD
from flatland_msgs.srv import MoveModel
from gazebo_msgs.msg import ModelState
from gazebo_msgs.srv import SetModelState
from geometry_msgs.msg import Pose2D, Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from std_srvs.srv import Trigger
from tests.starts import people, start

from agora.config import build
from agora.core.recording import Outcome
from agora.draft.stage import Stage
from agora.errors import UnknownNameError
from agora.maps.grid import Map
from agora.nodes.driver import PeopleAtStep
from agora.nodes.one_world import OneWorld
from agora.nodes.referee import Referee
from agora.registry import available
from agora.robots.model import load_robot
from agora.simulators.native import NativeBodies
from agora.world.start import Start
from agora_msgs import msg, srv

HERE = Path(__file__).parent
BURGER = load_robot("burger")


@dataclass(frozen=True)
class Still:
    """A simulator of somebody's, whose robots stand."""

    can = frozenset({"step"})

    def bodies(self, world: Any) -> Any:
        made = NativeBodies(world)
        made.move = lambda now: lambda first, last: None
        return made


def test_a_simulator_of_the_registry_is_driven_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    points = available("simulators") | {"still": EntryPoint("still", f"{__name__}:Still", "agora.simulators")}
    for home in ("agora.registry", "agora_simulators.drivers"):
        monkeypatch.setattr(f"{home}.available", lambda kind: points if kind == "simulators" else available(kind))
    driver = make_driver("still")
    assert driver.name == "still" and driver.can == {"step", "pause", "delete", "rgbd"}
    begun = start(pose=(0.4, -0.2, 0.3), model=BURGER)
    driver.begin(begun, build({"name": "x", "world": {"name": "open"}}, Stage), ["bot"], 0.0)
    driver.command(np.float32([[0.2, 0.0, 0.0]]), {})
    driver.advance()
    assert driver.step == 1
    with pytest.raises(UnknownNameError, match="no simulator called 'stil'; did you mean 'still'"):
        make_driver("stil")


def wall(x0: float, y0: float, x1: float, y1: float) -> list[tuple[float, float]]:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def turned(points: Any, angle: float) -> np.ndarray:
    """Points (N, 2) about the origin."""
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points, float) @ np.array([[c, s], [-s, c]])


def room(angle: float = 0.0) -> Map:
    """A room with a pillar and a crooked thing in it, turned about the origin."""
    polygons = [
        wall(-2.1, -1.6, 2.6, -1.5), wall(2.5, -1.5, 2.6, 2.0), wall(-2.1, 2.0, 2.6, 2.1), wall(-2.1, -1.5, -2.0, 2.0),
        [(-1.6, -1.2), (-1.0, -1.3), (-1.2, -0.8)],
    ]  # fmt: skip
    pillar = (*turned((0.3, 1.1), angle), 0.2)
    outline = turned([(-2.1, -1.6), (2.6, -1.6), (2.6, 2.1), (-2.1, 2.1)], angle)
    bounds = (*(outline.min(0) - 0.5), *(outline.max(0) + 0.6))
    return Map.from_shapes(discs=[pillar], polygons=[turned(polygon, angle) for polygon in polygons], bounds=bounds)


ROOM = room()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Kind:
    """A way to simulate.

    Attributes:
        driver: its name.
        stand_in: file and arguments of what stands in for the simulator.
        real: the variable that is a command to start the real one.
        lock_step: whether the simulator is stepped.
        csharp: whether Unity's player is the one in C#, instead of the stand-in.
    """

    driver: str
    stand_in: tuple[str, ...] = ()
    real: str = "AGORA_REAL_NATIVE"
    lock_step: bool = False
    csharp: bool = False


STEP = 0.05
ARENA_FLATLAND = Kind("flatland", ("flatland_server.py", "_fork:=true"), "AGORA_REAL_ARENA_FLATLAND")
KINDS = {
    "native": Kind("native"),
    "flatland": Kind("flatland", ("flatland_server.py",), "AGORA_REAL_FLATLAND"),
    "arena_flatland": ARENA_FLATLAND,
    "arena_flatland_in_lock_step": replace(ARENA_FLATLAND, lock_step=True),
    "gazebo": Kind("gazebo", ("gazebo_server.py", "_time:=120.0"), "AGORA_REAL_GAZEBO"),
    "unity": Kind("unity", ("tcp_endpoint.py",), "AGORA_REAL_UNITY"),
    "unity_in_csharp": Kind("unity", ("tcp_endpoint.py",), "AGORA_REAL_UNITY", csharp=True),
}
FOREIGN = [name for name, kind in KINDS.items() if kind.stand_in]


@dataclass
class Simulator:
    """A simulator node with its driver, and the processes of a foreign simulator behind it.

    In lock step the crowd stands where the episode began, and one twist counts for all scans that follow.
    """

    kind: Kind
    graph: Any
    start: Callable[[], list[subprocess.Popen[bytes]]]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    people: PeopleAtStep = field(default_factory=lambda: PeopleAtStep.room(0))

    def again(self) -> None:
        """Start the foreign simulator."""
        self.processes = self.start()

    def kill(self) -> None:
        """End the foreign simulator without a word."""
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
        self.processes = []

    def launch(self) -> None:
        """Start the node of the graph."""
        if self.kind.lock_step:
            self.graph.serve("pedsim_simulator/step", srv.StepCrowd, self._stand)
        self.graph.launch(
            "agora_simulators", "simulator", "simulator_node",
            driver=self.kind.driver, synchronous=self.kind.lock_step, cmd_vel_timeout=60.0, command_timeout=0.01,
        )  # fmt: skip
        self.graph.call("simulator/info", srv.GetSimulator)

    def _stand(self, request: Any) -> Any:
        seen = to_pedestrians(self.people.now, self.people.traits, self.people.minds, request.robots.step + 1)
        return srv.StepCrowdResponse(True, "", seen)

    def episode(self, number: int, pose: Any, goal: Any, crowd: Any = None, place: Map = ROOM) -> tuple[Any, Start, Stage]:
        """The message of an episode, and what it was made of."""
        periods = {"physics": STEP, "crowd": STEP} if self.kind.lock_step else {}
        of = build({"name": "s", "world": {"name": "open"}, "periods": periods}, Stage)
        begun = start(pose, goal, crowd, place, BURGER, f"test/s/{number}", timeout=60.0, goal_tolerance=0.2)
        judge = Referee()
        judge.begin(begun, of, ["bot"], 0.0)
        self.people = judge.people
        return to_episode(begun, of, [msg.Robot(name="bot", navigation="external")], number), begun, of

    def begin(self, message: Any) -> None:
        """Begin an episode."""
        answer = self.graph.call("simulator/begin", srv.BeginEpisode, message)
        assert answer.success, answer.message

    def go(self, vx: float, omega: float = 0.0) -> None:
        """Let time pass, and send a twist."""
        commands = self.graph.publisher("bot/cmd_vel", Twist)
        assert self.graph.call("simulator/resume", Trigger).success
        twist = Twist()
        twist.linear.x, twist.angular.z = vx, omega
        commands.publish(twist)


@pytest.fixture(params=KINDS)
def simulator(request: Any, graph: Any, tmp_path: Path) -> Iterator[Simulator]:
    """A simulator of each kind."""
    kind = KINDS[request.param]
    real = os.environ.get(kind.real, "")
    if real:
        graph.namespace = ""
    parameters = {"/train_mode": kind.lock_step, "/step_size": STEP if kind.lock_step else 0.01}
    for name, value in parameters.items():
        rospy.set_param(name, value)
    (tmp_path / "empty.yaml").write_text(EMPTY_WORLD)
    port = free_port()
    path = f"{HERE}:{graph.master.env['PYTHONPATH']}"
    environment = graph.master.env | {"PYTHONPATH": path, "ROS_NAMESPACE": graph.namespace or "/"}

    player = [sys.executable, str(HERE / "standins" / "unity_player.py"), "127.0.0.1", str(port)]
    if kind.csharp:
        player = ["mono", str(request.getfixturevalue("csharp_player")), "-agora", f"127.0.0.1:{port}"]

    def popen(*command: str) -> subprocess.Popen[bytes]:
        with (tmp_path / f"{kind.driver}.log").open("ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def run() -> list[subprocess.Popen[bytes]]:
        if not kind.stand_in:
            return []
        file, *arguments = kind.stand_in
        given = real.format(world=tmp_path / "empty.yaml", port=port)
        own = [sys.executable, str(HERE / "standins" / file), f"_tcp_port:={port}", f"/clock:={kind.driver}/clock", *arguments]
        processes = [popen(*(shlex.split(given) if real else own))]
        if kind.driver == "unity":
            _connects(port)
            processes.append(popen(*player))
        return processes

    made = Simulator(kind, graph, run)
    made.again()
    made.launch()
    yield made
    made.kill()
    for name in parameters:
        rospy.delete_param(name)


def _connects(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            rospy.rostime.wallsleep(0.05)
        else:
            return
    pytest.fail("the endpoint does not listen")


def test_the_stand_in_of_unity_waits_until_the_endpoint_listens_and_ends_with_a_line_once_that_has_gone() -> None:
    port, environment = free_port(), os.environ | {"PYTHONPATH": f"{HERE}:{os.environ['PYTHONPATH']}"}
    command = [sys.executable, str(HERE / "standins" / "unity_player.py"), "127.0.0.1", str(port)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as player:
        rospy.rostime.wallsleep(0.8)
        with socket.create_server(("127.0.0.1", port)) as endpoint:
            endpoint.accept()[0].close()
        assert player.communicate(timeout=30)[1] == "unity_player: the endpoint has closed the connection\n"


@pytest.mark.parametrize("simulator", ["flatland", "gazebo", "unity", "unity_in_csharp"], indirect=True)
def test_a_second_launch_takes_away_what_the_first_has_left(graph: Any, simulator: Simulator) -> None:
    driver = simulator.kind.driver

    def there(name: str) -> bool:
        """Return whether the simulator has a model of a name: it moves no other."""
        if driver == "flatland":
            return bool(graph.call("move_model", MoveModel, name, Pose2D()).success)
        place = "/gazebo/set_model_state" if driver == "gazebo" else "unity/set_model_state"
        return bool(graph.call(place, SetModelState, ModelState(model_name=name, reference_frame="world")).success)

    someone = people([(1.4, 0.3)], [(1.4, 0.3)])
    walls, person = [f"agora_walls_{n}" for n in (1, 2, 3)], f"pedestrian_{someone.id[0]}"
    for number, (crowd, place, shown) in enumerate(
        [(someone, ROOM, walls[:1]), (someone, room(0.4), walls[1:2]), (None, ROOM, walls[:1])], start=1
    ):
        simulator.begin(simulator.episode(number, (-0.6, 0.2, 0.1), (1.9, 0.5, 0.0), crowd, place)[0])
        assert [name for name in walls if there(name)] == shown and there("bot")
        if driver != "unity":  # which is told of people by topic
            assert there(person) == (crowd is not None)
        if number == 2:  # the same launch goes on from the first to the second
            graph.nodes[-1].kill()
            simulator.launch()
    simulator.begin(simulator.episode(4, (-0.6, 0.2, 0.1), (1.9, 0.5, 0.0))[0])
    robots = graph.hear("simulator/robots", msg.Robots)
    simulator.go(0.2)
    robots.wait_for(lambda m: m.x[0] > -0.5, "a robot that drives")


def agreement(scan: Any, begun: Start, of: Stage) -> float:
    """Share of the beams of a scan that read what the engine's own lidar reads where an episode begins."""
    own = OneWorld()
    own.begin(begun, of, ["bot"], 0.0)
    return float((np.abs(np.array(scan.ranges) - own.readings()[0].ranges) < 0.03).mean())


def test_the_same_scenario_looks_the_same_and_ends_the_same_everywhere(graph: Any, simulator: Simulator) -> None:
    """The first scan is the engine's own, the robot drives as fast as told, and ends at the pedestrian in its way."""
    status = graph.hear("simulator/status", msg.EpisodeStatus)
    scans, odometry = graph.hear("bot/scan", LaserScan), graph.hear("bot/odom", Odometry)
    robots = graph.hear("simulator/robots", msg.Robots)
    crowd = people([(1.3, -0.1)], waypoints=[[(1.3, -0.1)]], radius=0.25)
    message, begun, of = simulator.episode(1, (-0.9, 0.2, -0.15), (2.2, -0.3, 0.0), crowd)
    simulator.begin(message)
    simulator.go(0.0)
    assert agreement(scans.wait(1)[0], begun, of) > 0.97
    simulator.go(0.2)
    moving = odometry.wait_for(lambda m: m.twist.twist.linear.x > 0.18, "a robot that moves")
    assert moving.twist.twist.linear.x == pytest.approx(0.2, abs=0.02) and abs(moving.twist.twist.linear.y) < 0.02
    ended = status.wait_for(lambda m: m.done, "the end")
    assert Outcome(ended.robots[0].outcome) == Outcome.PEDESTRIAN_COLLISION
    last = robots.wait_for(lambda m: m.step >= ended.step, "the robots at the end")
    assert np.hypot(last.x[0] - 1.3, last.y[0] + 0.1) == pytest.approx(BURGER.radius + 0.25, abs=0.03)


@pytest.mark.parametrize("simulator", [name for name in KINDS if name != "unity_in_csharp"], indirect=True)
def test_episodes_follow_each_other_and_robots_start_where_they_are_told(graph: Any, simulator: Simulator) -> None:
    status, robots = graph.hear("simulator/status", msg.EpisodeStatus), graph.hear("simulator/robots", msg.Robots)
    for number, pose in enumerate([(-0.5, 0.3, 0.4), (1.0, -0.7, 2.1), (0.2, 0.1, -1.2)], 1):
        heading = np.array([np.cos(pose[2]), np.sin(pose[2])])
        goal = (*(np.array(pose[:2]) + 0.5 * heading), 0.0)
        by_hand = number == 3  # another goal than the episode's
        message, _, _ = simulator.episode(number, pose, (-1.0, -0.5, 0.0) if by_hand else goal)
        simulator.begin(message)
        if by_hand:
            refused = graph.call("simulator/set_goal", srv.SetGoal, "bot", Pose2D(50.0, 0.0, 0.0))
            assert not refused.success and "is outside the map" in refused.message
            assert graph.call("simulator/set_goal", srv.SetGoal, "bot", Pose2D(*goal)).goal == 1
        since = status.wait_for(lambda m, number=number: m.number == number, f"episode {number}").header.stamp
        simulator.go(0.2)
        first = robots.wait_for(lambda m, since=since: m.header.stamp >= since, f"a robot in episode {number}")
        assert np.hypot(first.x[0] - pose[0], first.y[0] - pose[1]) < 0.05
        ended = status.wait_for(lambda m, number=number: m.number == number and m.done, f"the end of episode {number}")
        robot = ended.robots[0]
        assert Outcome(robot.outcome) == Outcome.REACHED and robot.by_hand == by_hand
        assert (robot.target.x, robot.target.y) == pytest.approx(goal[:2])


@pytest.mark.parametrize(
    "simulator", [n if n == "flatland" else pytest.param(n, marks=pytest.mark.slow) for n in KINDS], indirect=True
)
def test_twenty_resets_in_the_middle_of_episodes_each_show_another_map_another_crowd_and_the_robot_in_its_place(
    graph: Any, simulator: Simulator, wait_until: Any
) -> None:
    status, scans = graph.hear("simulator/status", msg.EpisodeStatus), graph.hear("bot/scan", LaserScan)
    for number in range(1, 21):
        turn = 0.9 * number
        place = (*turned((0.9 - 0.1 * number, 0.2), turn), turn + 0.3 * number)
        corners = turned([(2.0, 0.9), (-1.5, 1.3), (1.5, -1.0)], turn)[: number % 4]
        crowd = people(corners, corners[:, None], radius=0.25) if len(corners) else None
        message, begun, of = simulator.episode(number, place, (*turned((2.0, 0.3), turn), 0.0), crowd, room(turn))
        simulator.begin(message)
        wait_until(lambda number=number: status[-1].number == number and status[-1].running, f"episode {number}")
        since = status[-1].header.stamp
        simulator.go(0.0)
        scan = scans.wait_for(lambda m, since=since: m.header.stamp >= since, f"a scan of episode {number}")
        assert agreement(scan, begun, of) > 0.97, f"episode {number}"
        simulator.go(0.15, 0.4)
        scans.wait(len(scans) + 3)
        assert graph.call("simulator/pause", Trigger).success
    assert not any(message.interrupted for message in status.messages)


@pytest.mark.parametrize("simulator", FOREIGN, indirect=True)
def test_a_simulator_that_dies_interrupts_the_episode_and_its_successor_plays_on(graph: Any, simulator: Simulator) -> None:
    status, clock = graph.hear("simulator/status", msg.EpisodeStatus), graph.hear("/clock", Clock)
    message, _, _ = simulator.episode(1, (-0.9, 0.2, 0.0), (2.2, 0.2, 0.0))
    simulator.begin(message)
    simulator.go(0.1)
    status.wait_for(lambda m: m.running, "episode 1")
    clock.wait_for(lambda m: m.clock.to_sec() > 2.0, "a second of the episode")
    simulator.kill()
    lost = status.wait_for(lambda m: m.interrupted, "an interrupted episode")
    assert simulator.kind.driver in lost.reason and "start" in lost.reason
    simulator.again()
    for _ in range(60):
        answer = graph.call("simulator/begin", srv.BeginEpisode, message)
        if answer.success:
            break
        rospy.rostime.wallsleep(0.5)
    assert answer.success, answer.message
    seen, ticks = len(status), len(clock)
    simulator.go(0.2)
    status.wait_for(lambda m: m in status.messages[seen:] and m.done or m.running, "the episode again")
    clock.wait(ticks + 5)
    stamps = [m.clock.to_sec() for m in clock.messages]
    assert stamps == sorted(stamps), "its successor's clock began at 0, the graph's went on"


@pytest.mark.parametrize("simulator", ["flatland"], indirect=True)
def test_the_pose_of_an_odometry_is_that_of_its_stamp_however_late_it_was_told(
    graph: Any, simulator: Simulator, wait_until: Any
) -> None:
    """A robot on a circle moves as far between two stamps as its twist says; its odometry comes every 0.17 s, 17 at once."""
    rospy.set_param("/odometry_every", 17)
    odometry = graph.hear("bot/odom", Odometry)
    message, _, _ = simulator.episode(1, (-0.9, 0.2, 0.3), (2.2, -1.2, 0.0))
    simulator.begin(message)
    simulator.go(0.2, 0.5)
    moving = lambda: [m for m in list(odometry.messages) if m.twist.twist.linear.x > 0.199]  # noqa: E731
    wait_until(lambda: len(moving()) > 60, "two seconds on a circle")
    rospy.delete_param("/odometry_every")
    seen = moving()
    stamps = np.array([m.header.stamp.to_sec() for m in seen])
    places = np.array([(m.pose.pose.position.x, m.pose.pose.position.y) for m in seen])
    speeds = np.hypot(*np.diff(places, axis=0).T) / np.diff(stamps)
    assert speeds == pytest.approx(0.2, abs=0.002)
