"""Faults in the whole graph, as `roslaunch` starts it: a graph in lock step, then one that runs freely, and each fault for real."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
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
            time.sleep(0.03)  # else the graph in lock step has an episode in a second, and both cores
            for n, agent in enumerate(in_data.agents):
                work_data.force[n] += (-agent.twist.linear.y, agent.twist.linear.x, 0.0)
"""
PARTS = {"recorder": "recorder", "simulator_node": "simulator", "pedsim_simulator": "pedsim_simulator",
         "crowdsim_agents": "crowdsim_agents", "navigation_node": "navigation"}  # fmt: skip
"""Nodes, and what the task generator calls them."""

LATE = pytest.mark.parametrize("seconds", [6.0, pytest.param(30.0, marks=pytest.mark.slow)])
"""How late something answers."""


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

    def wait(self, condition: Any, what: str, wait_until: Any) -> Any:
        """Wait until something is true; says what the nodes have said where it is not."""
        try:
            return wait_until(condition, what)
        except pytest.fail.Exception as failure:
            pytest.fail(f"{failure}\n{self.log[-6000:]}")

    def in_the_middle(self, wait_until: Any) -> int:
        """The number of an episode that has just begun to move."""
        last = len(self.episodes.messages)
        if self.begun and self.done[-1:] != self.begun[-1:] and self.robots.messages and self.robots[-1].step < 30:
            last -= 1
        self.wait(lambda: len(self.episodes.messages) > last, "the next episode", wait_until)
        self.robots.messages.clear()
        self.wait(lambda: any(10 < m.step < 30 for m in list(self.robots.messages)), "ten steps", wait_until)
        return self.begun[-1]

    def stop(self) -> None:
        """End everything."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        finally:
            self.graph.close()


WRONG = {
    "time_scale": ("fast", 4.0, "parameter time_scale: expected a value of the same type as 1.0, got 'fast'"),
    "periods": ("phys=0.1", "", "no period called 'phys'; did you mean 'physics'?"),
    "timeout": ("soon", 4, "timeout: expected a number or one of auto or nothing, got 'soon'"),
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

        arena.wait(correct, f"a word on one of {left}", wait_until)
        arena.wait(lambda: arena.begun, "an episode", wait_until)
        assert "Traceback" not in arena.log and "has died" not in arena.log
        for name, (_, _, words) in WRONG.items():
            assert arena.log.count(words) <= 3, name  # of the nodes that read it, each once
    finally:
        arena.stop()


@pytest.fixture(scope="class")
def arena(master: Any, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Arena]:
    """The graph of a class of tests, in its namespace."""
    mode = request.cls.mode
    folder = tmp_path_factory.mktemp(mode)
    (folder / "swirling.py").write_text(textwrap.dedent(PLUGIN))
    (folder / "config.yaml").write_text("RANDOM: {dynamic: {min: 3, max: 3}}\n")
    common = {"headless": 2, "map_file": "hall", "record_data": "true", "record_data_dir": folder / "bags", "seed": 3}
    graph = sys.modules[type(master).__module__].Graph
    started = Arena.start(
        lambda: graph(master, f"/{mode}", folder), folder, sfm="swirling:Swirl", **common, **request.cls.arguments(folder)
    )
    yield started
    started.stop()


class Faults:
    """What holds of a graph in lock step and of a free one alike: one runs after the other, or each would wait for the other."""

    @pytest.mark.parametrize("node", PARTS)
    def test_an_episode_survives_the_death_of_a_node_in_its_middle(self, arena: Arena, node: str, wait_until: Any) -> None:
        number = arena.in_the_middle(wait_until)
        said, begun = arena.log.count("was interrupted: "), arena.begun.count(number)
        os.kill(arena.pid(node), signal.SIGKILL)
        arena.wait(lambda: arena.begun.count(number) > begun, f"episode {number} again", wait_until)
        arena.wait(lambda: number in arena.done, f"the end of episode {number}", wait_until)
        lines = [line for line in arena.log.splitlines() if "was interrupted: " in line][said:]
        assert any(f"episode {number} (" in line and PARTS[node] in line and "it is repeated when" in line for line in lines), lines
        assert arena.done.count(number) == 1

    def test_a_task_generator_that_was_killed_repeats_its_episode_and_goes_on_counting(self, arena: Arena, wait_until: Any) -> None:
        number = arena.in_the_middle(wait_until)
        episode = list(arena.episodes.messages)[-1]
        os.kill(arena.pid("task_generator_server"), signal.SIGKILL)
        arena.wait(lambda: number in arena.done and arena.begun[-1] > number, f"the episode after {number}", wait_until)
        played = [message for message in list(arena.episodes.messages) if message.number == number]
        repeated = f"restarted: episode {number} is repeated" in arena.log  # else the simulator was at its end by then
        assert repeated or f"restarted: episode {number} had ended; continuing with the next one" in arena.log
        assert len(played) == 1 + repeated and {message.entry for message in played} == {episode.entry}
        assert all(r == other for message in played for r, other in zip(message.robots, episode.robots, strict=True))
        assert arena.done.count(number) == 1

    def test_a_map_generator_that_was_killed_has_the_map_again_and_no_episode_is_lost(self, arena: Arena, wait_until: Any) -> None:
        number, maps = arena.in_the_middle(wait_until), arena.graph.hear("map_generator/exact", MapMessage)
        (before,) = maps.wait(1)
        os.kill(arena.pid("map_generator"), signal.SIGKILL)
        after = maps.wait(2)[-1]
        assert (after.name, after.columns, after.cells) == (before.name, before.columns, before.cells)
        arena.wait(lambda: number in arena.done, f"the end of episode {number}", wait_until)
        assert arena.begun.count(number) == 1
        assert len(arena.graph.call("distance_map", GetDistanceMap).data) == after.columns * after.rows


def stopped(arena: Arena, node: str) -> Any:
    """A process that is stopped in the middle of what it does, and goes on when what is returned is called."""
    pid = arena.pid(node)
    os.kill(pid, signal.SIGSTOP)
    return lambda: os.kill(pid, signal.SIGCONT)


def check_played_once(arena: Arena, wait_until: Any) -> None:
    """Every episode was played once and is in a bag."""
    arena.wait(lambda: arena.done, "an episode", wait_until)
    done = arena.done
    assert done == list(range(1, len(done) + 1))
    assert [n for n in dict.fromkeys(arena.begun)] == list(range(1, max(arena.begun) + 1))
    assert "Traceback" not in arena.log
    played = read_all(sorted(arena.bags.glob("*.bag")), Unsaid())
    whole = [p.entry for p in played if not p.interrupted]
    assert len(whole) == len(set(whole)) and set(whole) >= {f"task_generator/task/{number - 1}" for number in done[:-1]}
    if "lost the connection to recorder" in arena.log:
        (name,) = set(re.findall(r"recorder: (\S+) was not closed", arena.log))
        assert "the bag ends before the episode" in read_all([arena.bags / name], Unsaid())[0].interrupted


class TestInLockStep(Faults):
    """The graph in lock step, with a plugin."""

    mode = "lock"

    @staticmethod
    def arguments(folder: Path) -> dict[str, Any]:
        return {"synchronous": "true", "model": "burger", "timeout": 8}

    @LATE
    def test_a_crowd_that_answers_late_is_waited_for(self, arena: Arena, seconds: float, wait_until: Any) -> None:
        words = "pedsim_simulator/step did not answer within 4 s; see the log of its node"
        number, said = arena.in_the_middle(wait_until), arena.log.count(words)
        go_on = stopped(arena, "pedsim_simulator")
        rospy.rostime.wallsleep(seconds)
        go_on()
        arena.wait(lambda: arena.log.count(words) > said, "a word on the crowd that was late", wait_until)
        arena.wait(lambda: number in arena.done, f"episode {number} of the crowd that was late", wait_until)

    def test_after_all_that_every_episode_was_played_once_and_is_in_a_bag(self, arena: Arena, wait_until: Any) -> None:
        check_played_once(arena, wait_until)


class TestFree(Faults):
    """The graph that runs freely, with three robots, one of whose names has spaces."""

    mode = "free"

    @staticmethod
    def arguments(folder: Path) -> dict[str, Any]:
        burger = (LAUNCH.parents[1] / "configs/robots/burger.yaml").read_text()
        (folder / "my robot.yaml").write_text(burger.replace("name: burger", "name: my robot"))
        (folder / "robots.yaml").write_text(
            f"robots:\n- {{model: '{folder}/my robot.yaml', inter_planner: polite}}\n- {{model: burger, amount: 2}}\n"
        )
        return {"robot_setup_file": folder / "robots.yaml", "timeout": 5}

    def test_a_planner_that_stops_publishing_leaves_robots_that_stand(self, arena: Arena, wait_until: Any) -> None:
        words = "no cmd_vel for 0.5 s; it stops until the next command. Is its planner running?"
        arena.in_the_middle(wait_until)
        said, go_on = arena.log.count(words), stopped(arena, "navigation_node")
        try:
            arena.wait(lambda: arena.log.count(words) > said, words, wait_until)
            arena.wait(lambda: not np.any([m.vx for m in arena.robots[-5:]]), "robots that stand", wait_until)
        finally:
            go_on()
        arena.wait(lambda: np.any(np.abs(arena.robots[-1].vx) > 0.05), "a robot that moves again", wait_until)

    def test_nonsense_on_topics_is_said_and_nothing_comes_of_it(self, arena: Arena, wait_until: Any) -> None:
        number = arena.in_the_middle(wait_until)
        nan = arena.graph.publisher("my_robot/cmd_vel", Twist)
        scan = arena.graph.publisher("my_robot/scan", LaserScan)
        clock = arena.graph.publisher("clock", Clock, listeners=5)
        twist = Twist()
        twist.linear.x = float("nan")
        for words, publisher, message in (
            ("commands on /free/my_robot/cmd_vel are not finite and were ignored; its planner must publish numbers", nan, twist),
            (
                "scan of my_robot: expected 360 beams, got 90; the scan is dropped",
                scan,
                LaserScan(range_max=3.5, ranges=[1.0] * 90),
            ),
            ("another node also publishes /free/clock", clock, Clock(rospy.Time(1))),
        ):
            arena.wait(lambda w=words, p=publisher, m=message: p.publish(m) or w in arena.log, words, wait_until)
            publisher.unregister()
            assert arena.log.count(words) <= 2  # once for each time that it comes and goes
        assert all(np.isfinite([m.x, m.y, m.vx]).all() for m in list(arena.robots.messages))
        arena.wait(lambda: arena.done and arena.done[-1] > number, "the next episode", wait_until)

    @LATE
    def test_a_map_that_comes_late_is_waited_for(self, arena: Arena, seconds: float, wait_until: Any) -> None:
        words = "map_generator/set_map has not answered for 5 s"
        arena.in_the_middle(wait_until)
        waited, go_on = arena.log.count(words), stopped(arena, "map_generator")
        try:
            arena.wait(lambda: arena.log.count(words) > waited, "a word on who is late", wait_until)
            begun = len(arena.episodes)
            rospy.rostime.wallsleep(seconds - 5)
            assert len(arena.episodes) == begun
        finally:
            go_on()
        arena.wait(lambda: len(arena.episodes) > begun, "the next episode", wait_until)

    def test_after_all_that_every_episode_was_played_once_and_is_in_a_bag(self, arena: Arena, wait_until: Any) -> None:
        check_played_once(arena, wait_until)
        names = arena.robots[-1].name
        assert names == ["my_robot", "burger_0", "burger_1"] and "robot 'my robot' is 'my_robot' in ROS" in arena.log
        done = subprocess.run(
            [sys.executable, "-c", "from agora.cli.app import main; main()", "bag", *map(str, arena.bags.glob("*.bag"))],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 and "task_generator/task/0/" in done.stdout, done.stderr
