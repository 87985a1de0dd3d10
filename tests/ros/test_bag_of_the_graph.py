"""The whole graph as it is launched, recorded, and what its bags give: one graph in lock step for all tests of this file."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rosgraph
import rospy
from geometry_msgs.msg import Pose2D
from std_msgs.msg import String
from tests.played import small_suite
from tests.ros.conftest import Graph, wait_until
from tests.suites import heard, planners, results

from agora.benchmark import store
from agora.benchmark.bench import run_all
from agora.benchmark.copies import PLACE, START
from agora.benchmark.kept import report
from agora.benchmark.played import write_played
from agora.benchmark.request import Options, Request
from agora.config import dump
from agora.core.recording import Recording
from agora.datasets.bagfile import Bag
from agora.datasets.recorded import Unsaid, read_all
from agora.datasets.rosbag import read_episode
from agora.tasks.suite import load_suite
from agora_msgs.srv import PlayEpisode, SetGoal

NODES = {
    "agora_simulators": "simulator",
    "agora_pedsim": "pedsim_simulator",
    "agora_navigation": "navigation",
    "agora_map_generator": "map_generator",
}
EXAMPLE = Path(__file__).parents[2] / "examples" / "ros_planner.py"
BENCH = [sys.executable, "-c", "from agora.cli.app import main; main()", "bench"]


@pytest.fixture(scope="module")
def played(master, tmp_path_factory):
    """A graph in lock step, the suite that it plays and the suite's file."""
    folder = tmp_path_factory.mktemp("graph")
    suite = small_suite(folder / "room", episodes=4)
    file = folder / "small.yaml"
    file.write_text(dump(suite))
    graph = Graph(master, "/played", folder)
    settings = {"synchronous": True, "record_data": True, "local_planner": "go_to_goal", "record_data_dir": str(folder / "bags")}
    for name, value in settings.items():
        graph.param(name, value)
    for package, node in NODES.items():
        name = f"{node}_node" if node in ("simulator", "navigation") else node
        graph.launch(package, node, name, **({"step_timeout": 200.0} if node == "simulator" else {}))
    graph.launch("agora_evaluation", "recorder", record_scans=True)
    graph.launch("agora_task_generator", "task_generator_server", manual=True, patience=200.0)
    yield graph, suite, file
    graph.close()


def play(graph: Graph, file: Path, episode: int, closed: Any, stage: str = "helbing") -> Path:
    """Play an episode and return its bag."""
    before = len(closed)
    answer = graph.call("task_generator_server/play", PlayEpisode, str(file), stage, episode)
    assert answer.success, answer.message
    return Path(closed.wait_for(lambda m: f"_{episode}_{answer.number}.bag" in m.data and len(closed) > before, "its bag").data)


DRIVERS = [("go_to_goal", ""), ("dwa", "polite"), ("orca", ""), ("policy", ""), ("sarl_star", "")]


@pytest.mark.parametrize(("planner", "interplanner"), DRIVERS)
def test_bags_of_a_suite_in_lock_step_give_the_rows_of_agora_bench(played, tmp_path, planner, interplanner):
    graph, suite, file = played
    graph.param("local_planner", planner), graph.param("inter_planner", interplanner)
    closed = graph.hear("recorder/bag", String)
    bags = [play(graph, file, episode, closed) for episode in (1, 0)]
    episodes = read_all(bags, Unsaid())
    assert [p.interrupted for p in episodes] == ["", ""]
    write_played(tmp_path / "there", episodes)
    stages = (replace(suite.stages[0], episodes=2),)
    label = f"{planner}+{interplanner}" if interplanner else planner
    run_all(Request(replace(suite, stages=stages), planners(label), tmp_path / "here", Options(workers=0)))
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    here, there = (results(tmp_path / run, tmp_path / to, heard, (START, PLACE)) for run, to in (("here", "a"), ("there", "b")))
    assert here == there
    scans = [m.decode() for m in Bag(episodes[0].source).messages() if m.connection.topic.endswith("/scan")]
    assert len(scans) > 10 and label in report(tmp_path / "there").read_text()


def test_bags_of_an_episode_in_which_people_arrive_give_the_row_of_agora_bench(played, tmp_path):
    """Messages of the graph hold the people who have arrived so far, fewer at first than later."""
    graph, *_ = played
    graph.param("local_planner", "go_to_goal"), graph.param("inter_planner", "")
    suite = load_suite("demo").part(("hall",), 1)
    closed, file = graph.hear("recorder/bag", String), tmp_path / "arrivals.yaml"
    file.write_text(dump(suite))
    [episode] = read_all([play(graph, file, 0, closed, "hall")], Unsaid())
    present = episode.robots[0].recording.pedestrian_present
    assert not present[0].all() and present[-1].sum() != present[0].sum()
    write_played(tmp_path / "there", [episode])
    run_all(Request(suite, planners("go_to_goal"), tmp_path / "here", Options(workers=0)))

    def of_present(recording: Recording) -> Recording:
        """Groups of absent people mean nothing."""
        return replace(heard(recording), pedestrian_group=np.where(recording.pedestrian_present, recording.pedestrian_group, -1))

    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    here, there = (
        results(tmp_path / run, tmp_path / to, of_present, (START, PLACE)) for run, to in (("here", "a"), ("there", "b"))
    )
    assert here == there


def test_a_row_of_the_graph_has_the_filled_columns_of_a_row_of_this_process(played, tmp_path):
    graph, suite, file = played
    graph.param("local_planner", "dwa"), graph.param("inter_planner", "polite")
    command = [*BENCH, str(file), "--planner", "ros", "--output", str(tmp_path / "there")]
    env = graph.master.env | {"ROS_NAMESPACE": graph.namespace}
    there = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
    assert there.returncode == 0, there.stderr
    run_all(Request(suite, planners("dwa+polite"), tmp_path / "here", Options(workers=0)))
    for part in ("episodes", "timing"):
        assert filled(tmp_path / "there" / part) == filled(tmp_path / "here" / part)
    values = [{row["feasible_action_rate"] for row in store.read_rows(tmp_path / run / "episodes")} for run in ("here", "there")]
    assert values[0] == values[1] and None not in values[0]


def filled(folder: Path) -> dict[str, set[str]]:
    """The columns of each row that have a value, by the episode and the robot."""
    rows = store.read_rows(folder)
    return {f"{row['episode']}/{row['robot']}": {name for name, one in row.items() if one is not None} for row in rows}


def test_a_goal_that_is_set_in_mid_episode_is_the_one_of_the_recording_and_no_row_of_the_suite(played):
    graph, _, file = played
    graph.param("local_planner", "go_to_goal"), graph.param("inter_planner", "")
    closed = graph.hear("recorder/bag", String)
    set_goal = rospy.ServiceProxy(graph.name("simulator/set_goal"), SetGoal, persistent=True)
    answer = graph.call("task_generator_server/play", PlayEpisode, str(file), "helbing", 2)
    assert set_goal("burger", Pose2D(1.25, 6.5, 0.75)).success
    bag = closed.wait_for(lambda m: f"_2_{answer.number}.bag" in m.data, "its bag").data
    episode = read_episode(Path(bag))
    jackal, burger = episode.robots
    assert episode.by_hand == ("burger",) and "the goal of burger was set by hand" in episode.notes[-1]
    assert burger.recording.goal == pytest.approx([1.25, 6.5, 0.75]) and jackal.recording.goal[0] != 1.25


def test_a_planner_of_ones_own_is_driven_through_a_suite_and_the_run_goes_on_after_a_kill(played, tmp_path):
    graph, _, file = played
    graph.param("navigation", "external")
    env = graph.master.env | {"ROS_NAMESPACE": graph.namespace}
    drivers = [
        subprocess.Popen([sys.executable, str(EXAMPLE), f"__name:=drives_{robot}", f"_robot:={robot}"], env=env)
        for robot in ("jackal", "burger")
    ]
    command = [*BENCH, str(file), "--planner", "ros", "--output", str(tmp_path / "run")]
    try:
        with subprocess.Popen(command, env=env, start_new_session=True, stderr=subprocess.DEVNULL) as first:
            try:
                wait_until(lambda: len(list((tmp_path / "run").glob("episodes/*.parquet"))) >= 1, "a row")
            finally:
                subprocess.run(["kill", "-9", "--", f"-{first.pid}"], check=True)
        assert 1 <= len(list((tmp_path / "run").glob("episodes/*.parquet"))) < 4
        again = subprocess.run([*command, "--resume"], env=env, capture_output=True, text=True, timeout=200)
    finally:
        for driver in drivers:
            driver.send_signal(signal.SIGINT)
            driver.wait(10)
        graph.param("navigation", "agora")
    assert again.returncode == 0, again.stderr
    rows = store.read_rows(tmp_path / "run" / "episodes")
    assert [row["episode"] for row in sorted(rows, key=lambda row: row["key"])] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert np.median([row["path_length"] for row in rows]) > 0.5


def test_a_graph_that_benchedlaunches_is_driven_freely_from_outside_and_taken_down_again(master, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = master.env | {"ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_HOME": str(tmp_path), "PWD": str(tmp_path)}
    (tmp_path / "small.yaml").write_text(dump(small_suite(tmp_path / "room", episodes=2)))
    graph = f"-p {port} agora_bringup start_arena.launch headless:=2 navigation:=external record_data:=true record_data_dir:=bags"
    command = [*BENCH, "small.yaml", "--planner", "ros", "--output", "run", "--ros-launch", f"{graph} time_scale:=4"]
    benched = subprocess.Popen(command, env=env, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    drivers: list[Any] = []
    try:
        wait_until(lambda: rosgraph.Master("/t", env["ROS_MASTER_URI"]).is_online(), "the roscore that is launched")
        for robot in ("jackal", "burger"):
            drivers.append(subprocess.Popen([sys.executable, str(EXAMPLE), f"_robot:={robot}"], env=env))
        _, said = benched.communicate(timeout=240)
    finally:
        for process in (benched, *drivers):
            process.kill()
            process.wait(10)
    assert benched.returncode == 0 and "Traceback" not in said, said[-4000:]
    rows = store.read_rows(tmp_path / "run" / "episodes")
    assert [row["episode"] for row in sorted(rows, key=lambda row: row["key"])] == [0, 0, 1, 1]
    assert np.median([row["path_length"] for row in rows]) > 0.5  # they were driven
    assert len(list((tmp_path / "bags").glob("*.bag"))) >= 2
    assert subprocess.run(["rostopic", "list"], env=env, capture_output=True, check=False).returncode != 0  # no roscore is left
