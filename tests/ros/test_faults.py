"""Faults in the whole graph, as `roslaunch` starts it: one graph in lock step and one that runs freely, and each fault for real."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rospy
from geometry_msgs.msg import Twist
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan

from agora.datasets.recorded import Unsaid, read_all
from agora_msgs.msg import Episode, EpisodeStatus, Robots
from agora_msgs.msg import Map as MapMessage
from agora_msgs.srv import GetDistanceMap

LAUNCH = Path(__file__).parents[2] / "launch" / "start_arena.launch"
PLUGIN = """
    import time
    from agora_pedsim.plugin import Forcemodel

    class Swirl(Forcemodel):
        def compute(self, in_data, work_data):
            time.sleep(0.01)  # else the graph in lock step has an episode in a second, and both cores
            for n, agent in enumerate(in_data.agents):
                work_data.force[n] += (-agent.twist.linear.y, agent.twist.linear.x, 0.0)
"""
PARTS = {"recorder": "recorder", "simulator_node": "simulator", "pedsim_simulator": "pedsim_simulator",
         "crowdsim_agents": "crowdsim_agents", "navigation_node": "navigation"}  # fmt: skip
"""Nodes, and what the task generator calls them."""


@dataclass
class Arena:
    """A graph that roslaunch has started."""

    graph: Any
    process: subprocess.Popen[bytes]
    output: Path
    bags: Path
    statuses: Any = None
    robots: Any = None
    episodes: Any = None

    @classmethod
    def start(cls, make: Any, folder: Path, **arguments: Any) -> Arena:
        """Launch the graph in the namespace of a graph of the tests."""
        graph = make()
        inside = "".join(f'<arg name="{name}" value="{value}"/>' for name, value in arguments.items())
        file, output = folder / "graph.launch", folder / "roslaunch.log"
        file.write_text(
            f'<launch><group ns="{graph.namespace}"><param name="step_timeout" value="4.0"/>'
            f'<include file="{LAUNCH}">{inside}</include></group></launch>'
        )
        env = graph.master.env | {"PYTHONPATH": f"{folder}:{graph.master.env['PYTHONPATH']}"}
        with output.open("wb") as log:
            process = subprocess.Popen(
                ["roslaunch", str(file)], env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        arena = cls(graph, process, output, Path(str(arguments.get("record_data_dir", folder))))
        arena.statuses = graph.hear("simulator/status", EpisodeStatus)
        arena.robots = graph.hear("simulator/robots", Robots)
        arena.episodes = graph.hear("task_generator_server/episode", Episode)
        return arena

    @property
    def log(self) -> str:
        """The output of roslaunch and all nodes."""
        return self.output.read_text(errors="replace")

    @property
    def begun(self) -> list[int]:
        """Numbers of the episodes, as often as they have begun."""
        return [message.number for message in list(self.episodes.messages)]

    @property
    def done(self) -> list[int]:
        """Numbers of the episodes that have ended."""
        return [message.number for message in list(self.statuses.messages) if message.done]

    def pid(self, node: str) -> int:
        """The process of a node, the last where it was started again."""
        return int(re.findall(rf"process\[{self.graph.namespace[1:]}/{node}-\d+\]: started with pid \[(\d+)\]", self.log)[-1])

    def wait(self, condition: Any, what: str, wait_until: Any, seconds: float = 60.0) -> Any:
        """Wait until something is true; says what the nodes have said where it is not."""
        try:
            return wait_until(condition, what, seconds)
        except pytest.fail.Exception:
            pytest.fail(f"{what} did not come within {seconds:g} s\n{self.log[-6000:]}")

    def in_the_middle(self, wait_until: Any) -> int:
        """The number of an episode that has just begun to move."""
        last = len(self.episodes.messages)
        if self.begun and self.done[-1:] != self.begun[-1:] and self.robots.messages and self.robots[-1].step < 60:
            last -= 1
        self.wait(lambda: len(self.episodes.messages) > last, "the next episode", wait_until, 120)
        self.robots.messages.clear()
        self.wait(lambda: any(20 < m.step < 60 for m in list(self.robots.messages)), "twenty steps", wait_until)
        return self.begun[-1]

    def stop(self) -> None:
        """End everything."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        finally:
            self.graph.close()


WRONG = {
    "time_scale": ("fast", 4.0, "parameter time_scale: expected something like 1.0, got 'fast'"),
    "periods": ("phys=0.1", "", "no period called 'phys'; did you mean 'physics'?"),
    "timeout": ("soon", 4, "timeout: expected a number or one of auto or nothing, got 'soon'"),
    "robot_setup_file": ("tree", "", "did you mean 'three'"),
    "model": ("burgr", "burger", "did you mean 'burger'"),
    "local_planner": ("dva", "dwa", "no planner called 'dva'; did you mean 'dwa'?"),
    "inter_planner": ("polit", "polite", "did you mean 'polite'?"),
    "global_planner": ("a_stra", "a_star", "did you mean 'a_star'?"),
    "sfm": ("helbin", "helbing", "no crowd model called 'helbin'; did you mean 'helbing'?"),
    "tm_robots": ("scenaro", "scenario", "did you mean 'scenario'?"),
    "tm_obstacles": ("parametrised", "scenario", "did you mean 'parametrized'?"),
    "tm_modules": ("stagd", "", "did you mean 'staged'?"),
    "map_file": ("hospitl", "hospital", "no world called 'hospitl'; did you mean 'hospital'?"),
    "scenario_file": ("delivry", "delivery", "did you mean 'delivery'?"),
    "record_data_dir": ("/proc/bags", "", "/proc/bags: cannot be written"),
}
"""Launch arguments: what is wrong, what is right, and what is said."""


def test_every_wrong_argument_is_one_line_and_the_graph_plays_once_all_are_right(
    master: Any, tmp_path: Path, wait_until: Any
) -> None:
    conftest = sys.modules[type(master).__module__]
    arena = Arena.start(
        lambda: conftest.Graph(master, "/wrong", tmp_path), tmp_path, headless=2, record_data="true",
        **{name: wrong for name, (wrong, _, _) in WRONG.items()},
    )  # fmt: skip
    try:
        left = dict(WRONG)

        def correct() -> bool:
            """Correct what was said; whether nothing is left."""
            for name in [name for name, (_, _, words) in left.items() if words in arena.log]:
                right = left.pop(name)[1]
                arena.graph.param(name, str(tmp_path / "bags") if name == "record_data_dir" else right)
            return not left

        arena.wait(correct, f"a word on one of {left}", wait_until, 120)
        arena.wait(lambda: arena.begun, "an episode", wait_until)
        assert "Traceback" not in arena.log and "has died" not in arena.log
        for name, (_, _, words) in WRONG.items():
            assert arena.log.count(words) <= 3, name  # of the nodes that read it, each once
    finally:
        arena.stop()


@pytest.fixture(scope="module")
def arenas(master: Any, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Any:
    """The graph in lock step with a plugin, and the free one with three robots, one of whose names has spaces."""
    conftest = sys.modules[type(master).__module__]
    started = []
    for mode in ("lock", "free"):
        folder = tmp_path_factory.mktemp(mode)
        (folder / "swirling.py").write_text(textwrap.dedent(PLUGIN))
        (folder / "config.yaml").write_text("RANDOM: {dynamic: {min: 3, max: 3}}\n")
        common = {"headless": 2, "map_file": "hall", "record_data": "true", "record_data_dir": folder / "bags", "seed": 3}
        if mode == "lock":
            own = {"synchronous": "true", "sfm": "swirling:Swirl", "model": "burger", "timeout": 20}
        else:
            burger = (LAUNCH.parents[1] / "configs/robots/burger.yaml").read_text()
            (folder / "my robot.yaml").write_text(burger.replace("name: burger", "name: my robot"))
            (folder / "robots.yaml").write_text(
                f"robots:\n- {{model: '{folder}/my robot.yaml', inter_planner: polite}}\n- {{model: burger, amount: 2}}\n"
            )
            own = {"robot_setup_file": folder / "robots.yaml", "sfm": "swirling:Swirl", "time_scale": 2, "timeout": 10}
        started.append(Arena.start(lambda f=folder, m=mode: conftest.Graph(master, f"/{m}", f), folder, **common, **own))
    yield started
    for arena in started:
        arena.stop()


@pytest.fixture
def lock(arenas: list[Arena]) -> Arena:
    return arenas[0]


@pytest.fixture
def free(arenas: list[Arena]) -> Arena:
    return arenas[1]


@pytest.mark.parametrize("node", PARTS)
def test_an_episode_survives_the_death_of_a_node_in_its_middle(arenas: list[Arena], node: str, wait_until: Any) -> None:
    killed = []
    for arena in arenas:
        number = arena.in_the_middle(wait_until)
        killed.append((number, arena.log.count("was interrupted: "), arena.begun.count(number)))
        os.kill(arena.pid(node), signal.SIGKILL)
    for arena, (number, said, begun) in zip(arenas, killed, strict=True):
        arena.wait(lambda a=arena, n=number, b=begun: a.begun.count(n) > b, f"episode {number} again", wait_until, 90)
        arena.wait(lambda a=arena, n=number: n in a.done, f"the end of episode {number}", wait_until, 90)
        lines = [line for line in arena.log.splitlines() if "was interrupted: " in line][said:]
        assert any(f"episode {number} (" in line and PARTS[node] in line and "it is repeated once" in line for line in lines), lines
        assert arena.done.count(number) == 1


def test_a_task_generator_that_was_killed_repeats_its_episode_and_goes_on_counting(arenas: list[Arena], wait_until: Any) -> None:
    killed = []
    for arena in arenas:
        number = arena.in_the_middle(wait_until)
        killed.append((number, list(arena.episodes.messages)[-1]))
        os.kill(arena.pid("task_generator_server"), signal.SIGKILL)
    for arena, (number, episode) in zip(arenas, killed, strict=True):
        arena.wait(lambda a=arena, n=number: n in a.done and a.begun[-1] > n, f"the episode after {number}", wait_until, 90)
        played = [message for message in list(arena.episodes.messages) if message.number == number]
        repeated = f"started again: episode {number} is repeated" in arena.log  # else the simulator was at its end by then
        assert repeated or f"started again: episode {number} had ended, the next follows" in arena.log
        assert len(played) == 1 + repeated and {message.entry for message in played} == {episode.entry}
        assert all(r == other for message in played for r, other in zip(message.robots, episode.robots, strict=True))
        assert arena.done.count(number) == 1


def test_a_map_generator_that_was_killed_has_the_map_again_and_no_episode_is_lost(arenas: list[Arena], wait_until: Any) -> None:
    for arena in arenas:
        number, maps = arena.in_the_middle(wait_until), arena.graph.hear("map_generator/exact", MapMessage)
        (before,) = maps.wait(1)
        os.kill(arena.pid("map_generator"), signal.SIGKILL)
        after = maps.wait(2, 60)[-1]
        assert (after.name, after.columns, after.cells) == (before.name, before.columns, before.cells)
        arena.wait(lambda a=arena, n=number: n in a.done, f"the end of episode {number}", wait_until, 90)
        assert arena.begun.count(number) == 1
        assert len(arena.graph.call("distance_map", GetDistanceMap).data) == after.columns * after.rows


def stopped(arena: Arena, node: str) -> Any:
    """A process that is stopped in the middle of what it does, and goes on after ``.send_signal(SIGCONT)``."""
    pid = arena.pid(node)
    os.kill(pid, signal.SIGSTOP)
    return lambda: os.kill(pid, signal.SIGCONT)


def test_a_planner_that_stops_publishing_leaves_robots_that_stand(free: Arena, wait_until: Any) -> None:
    words = "no cmd_vel for 0.5 s; it stands until there is one. Is its planner running?"
    free.in_the_middle(wait_until)
    said, go_on = free.log.count(words), stopped(free, "navigation_node")
    try:
        free.wait(lambda: free.log.count(words) > said, words, wait_until)
        free.wait(lambda: not np.any([m.vx for m in free.robots[-5:]]), "robots that stand", wait_until)
    finally:
        go_on()
    free.wait(lambda: np.any(np.abs(free.robots[-1].vx) > 0.05), "a robot that moves again", wait_until)


def test_nonsense_on_topics_is_said_and_nothing_comes_of_it(free: Arena, wait_until: Any) -> None:
    number = free.in_the_middle(wait_until)
    nan = free.graph.publisher("my_robot/cmd_vel", Twist)
    scan = free.graph.publisher("my_robot/scan", LaserScan)
    clock = free.graph.publisher("clock", Clock, listeners=5)
    twist = Twist()
    twist.linear.x = float("nan")
    for words, publisher, message in (
        ("commands on /free/my_robot/cmd_vel are not finite and were ignored; its planner must publish numbers", nan, twist),
        ("scan of my_robot: expected 360 beams, got 90; it is dropped", scan, LaserScan(range_max=3.5, ranges=[1.0] * 90)),
        ("somebody else publishes /free/clock, too", clock, Clock(rospy.Time(1))),
    ):
        free.wait(lambda w=words, p=publisher, m=message: p.publish(m) or w in free.log, words, wait_until)
        publisher.unregister()
        assert free.log.count(words) <= 2  # once for each time that it comes and goes
    assert all(np.isfinite([m.x, m.y, m.vx]).all() for m in list(free.robots.messages))
    free.wait(lambda: free.done and free.done[-1] > number, "the next episode", wait_until)


@pytest.mark.parametrize("seconds", [6.0, pytest.param(30.0, marks=pytest.mark.slow)])
def test_a_service_that_answers_late_is_waited_for(lock: Arena, free: Arena, seconds: float, wait_until: Any) -> None:
    free.in_the_middle(wait_until)
    number, said = lock.in_the_middle(wait_until), lock.log.count("did not answer within 4 s")
    waited = free.log.count("map_generator/set_map has not answered for 5 s")
    again = (stopped(lock, "pedsim_simulator"), stopped(free, "map_generator"))
    try:
        free.wait(
            lambda: free.log.count("map_generator/set_map has not answered for 5 s") > waited, "a word on who is late", wait_until
        )
        begun = len(free.episodes)
        rospy.rostime.wallsleep(seconds - 5)
        assert len(free.episodes) == begun
    finally:
        for go_on in again:
            go_on()
    words = "pedsim_simulator/step did not answer within 4 s; look at its node's log"
    lock.wait(lambda: lock.log.count(words) > said, "a word on the crowd that was late", wait_until)
    lock.wait(lambda: number in lock.done, f"episode {number} of the crowd that was late", wait_until)
    free.wait(lambda: len(free.episodes) > begun, "the next episode", wait_until)


def test_after_all_that_every_episode_was_played_once_and_is_in_a_bag(arenas: list[Arena], wait_until: Any) -> None:
    for arena in arenas:
        arena.wait(lambda a=arena: a.done, "an episode", wait_until)
        done = arena.done
        assert done == list(range(1, len(done) + 1))
        assert [n for n in dict.fromkeys(arena.begun)] == list(range(1, max(arena.begun) + 1))
        assert "Traceback" not in arena.log
        played = read_all(sorted(arena.bags.glob("*.bag")), Unsaid())
        whole = [p.entry for p in played if not p.interrupted]
        assert len(whole) == len(set(whole)) and set(whole) >= {f"task_generator/task/{number - 1}" for number in done[:-1]}
        if "recorder went away" in arena.log:
            (name,) = set(re.findall(r"recorder: (\S+) was never closed", arena.log))
            assert "the bag ends before the episode does" in read_all([arena.bags / name], Unsaid())[0].interrupted
    names = arenas[1].robots[-1].name
    assert names == ["my_robot", "burger_0", "burger_1"] and "robot 'my robot' is 'my_robot' in ROS" in arenas[1].log
    done = subprocess.run(
        [sys.executable, "-c", "from agora.cli.app import main; main()", "bag", *map(str, arenas[1].bags.glob("*.bag"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "task_generator/task/0/" in done.stdout, done.stderr
