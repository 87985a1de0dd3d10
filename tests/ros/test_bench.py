"""``agora bench --planner ros`` against a task generator and a recorder that this process plays, with real bags."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
import rospy
from agora_evaluation.bench import Graph, check_launch
from std_msgs.msg import String
from tests.played import recordings, small_suite
from tests.ros.bags import write_bag
from tests.suites import fingerprint, heard

from agora.benchmark.results import recording_shards
from agora.benchmark.results.run_folder import RunFolder
from agora.cli.stopping import stoppable
from agora.config import dump
from agora.errors import InputError, StoppedError
from agora_msgs.msg import EpisodeStatus
from agora_msgs.srv import BeginEpisode, BeginEpisodeResponse, PlayEpisode, PlayEpisodeResponse

COMMAND = [sys.executable, "-c", "from agora.cli.app import main; main()", "bench"]


def run(suite, folder, env, *more):
    command = [*COMMAND, str(suite), "--planner", "ros", "--output", str(folder), *more]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)


def test_a_suite_is_played_through_the_graph_and_resumed(graph, tmp_path):
    suite = small_suite(tmp_path / "room", episodes=2)
    file = tmp_path / "small.yaml"
    file.write_text(dump(suite))
    asked, lost = [], [1]
    bags = graph.publisher("recorder/bag", String, latch=True, listeners=0)
    given_up = graph.publisher("task_generator_server/given_up", EpisodeStatus, latch=True, listeners=0)

    def play(request):
        asked.append(request.episode)
        number = len(asked)
        if request.episode in lost:
            lost.remove(request.episode)
            given_up.publish(EpisodeStatus(number=number, interrupted=True, reason="the crowd is gone"))
        else:
            path = tmp_path / f"small_helbing_{request.episode}_{number}.bag"
            write_bag(path, suite, request.stage, request.episode, "go_to_goal", graph.namespace)
            bags.publish(str(path))
        return PlayEpisodeResponse(request.suite == str(file), "", number, ["jackal_0", "burger_1"])

    graph.serve("task_generator_server/play", PlayEpisode, play)
    graph.serve("recorder/begin", BeginEpisode, lambda request: BeginEpisodeResponse(True, ""))
    env = graph.master.env | {"ROS_NAMESPACE": graph.namespace}
    first = run(file, tmp_path / "run", env)
    assert first.returncode == 1 and "the crowd is gone" in first.stderr, first.stderr
    assert RunFolder.read(tmp_path / "run").interrupted() == {"small/helbing/1/ros/0": "the crowd is gone"}
    again = run(file, tmp_path / "run", env, "--resume")
    assert again.returncode == 0 and asked == [0, 1, 1], again.stderr
    kept = {}
    for shard in (tmp_path / "run" / "trajectories").iterdir():
        kept |= recording_shards.read_recordings(shard)
    for episode in range(2):
        for robot, ours in enumerate(recordings(suite, "helbing", episode, "go_to_goal")):
            assert fingerprint(kept[f"small/helbing/{episode}/ros/{robot}"]) == fingerprint(heard(ours))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("agora_bringup start_arena.launch model:=burger", "--ros-launch: model: has no effect with suite: demo"),
        (
            "agora_bringup start_arena.launch episodes:=2",
            "--ros-launch: episodes:=2 has no effect: agora bench requests the episodes",
        ),
        (
            "agora_bringup start_arena.launch tm_robots:=circle headless:=2",
            "--ros-launch: tm_robots: has no effect with suite: demo",
        ),
    ],
)
def test_a_launch_whose_arguments_have_no_effect_on_the_suite_is_refused_before_it_is_started(command, message):
    with pytest.raises(InputError, match=message):
        check_launch(command, "demo")
    check_launch("agora_bringup start_arena.launch record_data:=true local_planner:=orca headless:=2 record_data_dir:=bags", "demo")


def test_without_a_graph_or_without_ros_one_line_says_what_to_do(graph, tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(dump(small_suite(tmp_path / "room")))
    nobody = run(file, tmp_path / "run", graph.master.env | {"ROS_MASTER_URI": "http://127.0.0.1:9"})
    assert nobody.returncode == 2 and "start the graph first, or give --ros-launch" in nobody.stderr
    without = run(file, tmp_path / "run", os.environ | {"PATH": "/nowhere"})
    assert (
        without.returncode == 2 and without.stderr.startswith("error: --planner ros needs ROS 1") and "make ros" in without.stderr
    )
    both = run(file, tmp_path / "run", graph.master.env, "--planner", "dwa")
    assert both.returncode == 2 and "cannot be combined" in both.stderr


def test_a_suite_in_ros_that_is_stopped_says_what_is_kept(graph, tmp_path):
    suite = small_suite(tmp_path / "room", episodes=3)
    file = tmp_path / "small.yaml"
    file.write_text(dump(suite))
    asked = threading.Event()
    bags = graph.publisher("recorder/bag", String, latch=True, listeners=0)

    def play(request):
        if request.episode == 0:
            path = tmp_path / "small_helbing_0_1.bag"
            write_bag(path, suite, request.stage, 0, "go_to_goal", graph.namespace)
            bags.publish(str(path))
        else:
            asked.set()
        return PlayEpisodeResponse(request.suite == str(file), "", request.episode + 1, ["jackal_0", "burger_1"])

    graph.serve("task_generator_server/play", PlayEpisode, play)
    graph.serve("recorder/begin", BeginEpisode, lambda request: BeginEpisodeResponse(True, ""))
    env = graph.master.env | {"ROS_NAMESPACE": graph.namespace}
    command = [*COMMAND, str(file), "--planner", "ros", "--output", str(tmp_path / "run")]
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert asked.wait(60.0)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert f"stopped by Ctrl-C: 1 of 3 episodes are finished and kept in {tmp_path / 'run'}; run the same command with" in said
    assert "Traceback" not in said


def test_a_signal_that_somebody_caught_in_the_call_stops_the_suite_all_the_same(monkeypatch):
    monkeypatch.setattr(rospy, "Subscriber", lambda *_, **__: None)
    monkeypatch.setattr(rospy, "wait_for_service", lambda *_: None)
    graph = Graph("small")

    def play(*_):
        with suppress(BaseException):
            signal.raise_signal(signal.SIGINT)
        return PlayEpisodeResponse(True, "", 1, [])

    monkeypatch.setattr(graph, "_play", play)
    with pytest.raises(StoppedError, match="nothing is kept"), stoppable(lambda: "nothing is kept"):
        graph.play("room", 0)
