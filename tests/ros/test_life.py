"""Every node is gone soon after it is asked to be, whatever it is in the middle of and whether its roscore lives or not."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from agora_ros.life import stand_where_started

NODES = {
    "simulator_node": ("agora_simulators", "simulator"),
    "pedsim_simulator": ("agora_pedsim", "pedsim_simulator"),
    "crowdsim_agents": ("agora_pedsim", "crowdsim_agents"),
    "navigation_node": ("agora_navigation", "navigation"),
    "image_tracker": ("agora_navigation", "image_tracker"),
    "mbf_client": ("agora_navigation", "mbf_client"),
    "mbf_server": ("agora_navigation", "mbf_server"),
    "map_generator": ("agora_map_generator", "map_generator"),
    "recorder": ("agora_evaluation", "recorder"),
    "teleop": ("agora_evaluation", "teleop"),
    "robots": ("agora_bringup", "robots"),
    "task_generator_server": ("agora_task_generator", "task_generator_server"),
}
PARAMETERS = "{use_sim_time: true, synchronous: true, record_data: true, model: burger, timeout: 600, RANDOM_dynamic_max: 4}"


@pytest.mark.parametrize(("number", "orphaned"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_every_node_ends_soon_in_the_middle_of_an_episode(master, wait_until, tmp_path, number, orphaned):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = master.env | {"ROS_MASTER_URI": f"http://127.0.0.1:{port}"}
    core = subprocess.Popen(["rosmaster", "--core", "-p", str(port)], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    processes: dict[str, Any] = {}
    try:
        wait_until(lambda: _ask(env, "rosparam", "set", "/record_data_dir", str(tmp_path)) == 0, "rosmaster")
        for setting in PARAMETERS.strip("{}").split(", "):
            _ask(env, "rosparam", "set", *setting.split(": "))
        processes = {name: _start(name, env, tmp_path) for name in NODES}
        wait_until(lambda: "episode 1: " in _log(tmp_path, "task_generator_server"), "an episode")
        if orphaned:
            core.kill()
            core.wait(10)
        took = _end(processes, number)
        late = {
            name: f"{seconds:.1f} s\n{_log(tmp_path, name)[-500:]}" for name, seconds in took.items() if seconds > 5.0
        }  # 2 s on a quiet machine
        assert not late, late
        said = {} if orphaned else {name: _log(tmp_path, name) for name in NODES}  # rospy says that its master has gone
        assert not {name: text for name, text in said.items() if "Traceback" in text}
    finally:
        for process in (*processes.values(), core):
            if process.poll() is None:
                process.kill()
                process.wait(10)


BUSY = """
import threading, rospy
from std_msgs.msg import Empty
from agora_ros.life import live

def work():
    topic = rospy.Publisher("told", Empty, queue_size=1)
    rospy.core.add_preshutdown_hook(lambda reason: rospy.rostime.wallsleep(0.2))  # topics are closed, rospy is not yet over
    def tell():
        while True:
            topic.publish()
            rospy.rostime.wallsleep(0.001)
    threading.Thread(target=tell, daemon=True).start()
    rospy.rostime.wallsleep(0.2)
    FAIL
    print("told", flush=True)
    rospy.spin()

live("busy", work)
"""


def test_a_thread_that_publishes_while_the_node_ends_says_nothing(master):
    with subprocess.Popen([sys.executable, "-c", BUSY.replace("FAIL", "")], env=master.env, stdout=-1, stderr=-1) as node:
        assert node.stdout.readline() == b"told\n"
        node.send_signal(signal.SIGINT)
        assert (node.wait(10), node.stderr.read()) == (0, b"")


def test_a_thread_that_fails_while_the_node_lives_is_heard(master):
    fails = "threading.Thread(target=lambda: 1 / 0).start()"
    with subprocess.Popen([sys.executable, "-c", BUSY.replace("FAIL", fails)], env=master.env, stdout=-1, stderr=-1) as node:
        assert node.stdout.readline() == b"told\n"
        node.send_signal(signal.SIGINT)
        node.wait(10)
        assert b"ZeroDivisionError" in node.stderr.read()


def _ask(env: dict[str, str], *command: str) -> int:
    return subprocess.run(command, env=env, capture_output=True, check=False).returncode


def _start(name: str, env: dict[str, str], folder: Path) -> Any:
    from roslib.packages import find_node

    found = find_node(*NODES[name])
    assert found, f"build the workspace again: there is no {name}"
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(found[:1], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def _log(folder: Path, name: str) -> str:
    return (folder / f"{name}.log").read_text(errors="replace")


def _end(processes: dict[str, Any], number: int) -> dict[str, float]:
    """Send everybody a signal; how long each took to be gone, s."""
    began, took = time.monotonic(), {}
    for process in processes.values():
        os.kill(process.pid, number)
    while len(took) < len(processes) and time.monotonic() - began < 10:
        for name, process in processes.items():
            if name not in took and process.poll() is not None:
                took[name] = time.monotonic() - began
        threading.Event().wait(0.01)
    return took | {name: 10.0 for name in processes if name not in took}


def test_a_node_of_roslaunch_finds_relative_paths_where_its_user_stands(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir(), (tmp_path / "mine").mkdir()
    monkeypatch.setenv("PWD", str(tmp_path / "mine"))
    monkeypatch.chdir(tmp_path / "home")
    stand_where_started()
    assert Path.cwd() == tmp_path / "mine"
    monkeypatch.setenv("PWD", str(tmp_path))
    stand_where_started()
    assert Path.cwd() == tmp_path / "mine"  # started by hand: it stays
