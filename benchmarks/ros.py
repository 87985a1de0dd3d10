"""Measures the speed of the ROS graph; `make bench` runs it if ROS is found. The scene has one robot with 360 beams, DWA at 10 Hz,
and 20 pedestrians.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from measure import busy

NODES = {"simulator": "agora_simulators", "pedsim_simulator": "agora_pedsim", "navigation": "agora_navigation"}
SUITE = {
    "name": "bench",
    "stages": [
        {
            "name": "hall",
            "episodes": 200,
            "world": {"name": "open", "width": 30.0, "height": 20.0, "x": -3.0, "y": 2.0},
            "robots": {"name": "random", "distance": 14.0},
            "obstacles": {"name": "random", "dynamic": [20, 20]},
            "robot": "burger",
            "ends": [],
            "timeout": 60.0,
        }
    ],
}
FREE = {"physics": 1 / 30, "control": 0.1, "crowd": 1 / 30, "sensor": 0.1}
LIMIT = 300.0
RUNS = 3


def main() -> None:
    """Measure, and print a line per number: the median of several runs, because other processes also use the cores."""
    folder = tempfile.mkdtemp(prefix="agora-ros-")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ.update(ROS_MASTER_URI=f"http://127.0.0.1:{port}", ROS_IP="127.0.0.1", ROS_HOME=folder, ROS_LOG_DIR=folder)
    import rospy

    core = subprocess.Popen(["roscore", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: subprocess.run(["rosparam", "list"], capture_output=True, check=False).returncode == 0, "roscore")
        rospy.init_node("bench", anonymous=True, disable_signals=True)
        rospy.set_param("/use_sim_time", True)
        rospy.set_param("/inter_planner", "")
        print(f"{'name':24} {'median':>14} {'spread':>15} {'target':>8}  {'':6} {'busy':>4}")
        lock_step()
        free_running()
        resets()
        first_motion()
    finally:
        core.send_signal(signal.SIGINT)
        core.wait(20)


def line(name: str, values: Any, unit: str, most: float | None = None, least: float | None = None) -> None:
    """Print one result: its values, and the maximum or minimum that it should have."""
    value = float(np.median(values))
    met = (most is None or value <= most) and (least is None or value >= least)
    target = f"> {least:g}" if least is not None else f"< {most:g}" if most is not None else ""
    spread, verdict = f"{min(values):.3g}..{max(values):.3g}", ("met" if met else "missed") if target else ""
    print(f"{name:24} {f'{value:.3g} {unit}':>14} {spread:>15} {target:>8}  {verdict:6} {busy():4.1f}", flush=True)


def until(condition: Any, what: str, seconds: float = LIMIT) -> None:
    """Wait for a condition, or exit with a message naming what did not happen."""
    end, pause = time.monotonic() + seconds, threading.Event()
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"ros: waited {seconds:g} s in vain for {what}")
        pause.wait(0.02)


@contextmanager
def graph(names: Any = NODES, **params: Any) -> Iterator[dict[str, int]]:
    """Context manager that runs nodes with private parameters and yields their process ids."""
    import rospy
    from roslib.packages import find_node

    for name, value in params.items():
        rospy.set_param(f"/{name}", value)
    log = None if os.environ.get("AGORA_BENCH_LOG") else subprocess.DEVNULL
    started = {n: subprocess.Popen([find_node(NODES[n], n)[0], f"__name:={n}_node"], stdout=log, stderr=log) for n in names}
    try:
        for name in names:
            rospy.wait_for_service(f"/{name}/begin", LIMIT)
        yield {name: process.pid for name, process in started.items()}
    finally:
        for process in started.values():
            process.terminate()
            process.wait(20)


def episode(number: int, names: Any = NODES, periods: dict[str, float] | None = None) -> None:
    """Begin an episode in all nodes."""
    import rospy
    from agora_ros.conversions import to_episode

    from agora.config import build
    from agora.tasks.suite import Suite
    from agora_msgs import msg, srv

    of = SUITE if periods is None else SUITE | {"stages": [SUITE["stages"][0] | {"periods": periods}]}
    suite = build(of, Suite)
    robots = [msg.Robot(name="burger", navigation="agora", planner="dwa")]
    made = to_episode(suite.start("hall", number), suite.stage("hall"), robots, number)
    for name in names:
        answer = rospy.ServiceProxy(f"/{name}/begin", srv.BeginEpisode)(made)
        if not answer.success:
            sys.exit(f"ros: {name}/begin: {answer.message}")


def call(service: str) -> None:
    """Call a Trigger service."""
    import rospy
    from std_srvs.srv import Trigger

    rospy.ServiceProxy(service, Trigger)()


def lock_step() -> None:
    """Measure simulated time over wall time for whole episodes."""
    import rospy
    from sensor_msgs.msg import LaserScan

    from agora_msgs.msg import EpisodeStatus

    heard: list[Any] = []
    scans: list[Any] = []
    factors, lost, steps = [], [], []
    with graph(synchronous=True) as pids:
        ends = [rospy.Subscriber("/simulator/status", EpisodeStatus, heard.append, queue_size=100)]
        for number in range(1 + RUNS):
            episode(number)
            if not scans:
                ends.append(rospy.Subscriber("/burger/scan", LaserScan, scans.append, queue_size=10_000, tcp_nodelay=True))
                until(ends[-1].get_num_connections, "scans")
            scans.clear()
            before, began = used(pids), time.perf_counter()
            call("/simulator/resume")
            until(lambda k=number: heard and heard[-1].number == k and (heard[-1].done or heard[-1].interrupted), "an end")
            wall, last = time.perf_counter() - began, heard[-1]
            if last.interrupted:
                sys.exit(f"ros: {last.reason}")
            if number:  # the first episode is a warm-up
                factors.append(last.step * 0.05 / wall)
                steps.append([1000 * (now - then) / last.step for now, then in zip(used(pids), before, strict=True)])
                lost.append(last.step // 2 + 1 - len(scans))
        for end in ends:
            end.unregister()
    line("lock step", factors, "x real time", least=20)
    line("scans lost", lost, "", most=0)
    for name, costs in zip(pids, zip(*steps, strict=True), strict=True):
        line(f"  {name}", costs, "ms CPU/step")


def free_running() -> None:
    """Measure each node's share of a core at real time, and the time from a scan to the resulting command."""
    import rospy
    from geometry_msgs.msg import Twist
    from sensor_msgs.msg import LaserScan

    saw: dict[int, float] = {}
    delays: list[float] = []

    def scanned(message: Any) -> None:
        saw[0] = time.perf_counter()

    def told(message: Any) -> None:
        if 0 in saw:
            delays.append(time.perf_counter() - saw.pop(0))

    middles, tails, shares = [], [], []
    with graph(synchronous=False, time_scale=1.0) as pids:
        ends = [
            rospy.Subscriber("/burger/scan", LaserScan, scanned, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("/burger/cmd_vel", Twist, told, queue_size=1, tcp_nodelay=True),
        ]
        for number in range(RUNS):
            episode(number, periods=FREE)
            delays.clear()
            call("/simulator/resume")
            until(lambda: len(delays) > 10, "commands")
            delays.clear()
            before, began = used(pids), time.perf_counter()
            until(lambda began=began: time.perf_counter() - began > 15, "15 s")
            wall = time.perf_counter() - began
            shares.append([(now - then) / wall for now, then in zip(used(pids), before, strict=True)])
            middles.append(1000 * np.percentile(delays, 50))
            tails.append(1000 * np.percentile(delays, 99))
        for end in ends:
            end.unregister()
    line("sensor to command, p50", middles, "ms")
    line("sensor to command, p99", tails, "ms", most=20)
    line("real time, whole graph", [sum(run) for run in shares], "cores", most=0.4)
    for name, values in zip(pids, zip(*shares, strict=True), strict=True):
        line(f"  {name}", values, "cores")


def resets() -> None:
    """Measure the growth of the simulator's memory over 100 resets."""
    with graph(["simulator"], synchronous=False, time_scale=100.0) as pids:
        sizes = []
        for number in range(120):
            episode(number, ["simulator"])
            call("/simulator/resume")
            sizes.append(memory(pids["simulator"]))
    line("memory after 100 resets", [100 * (sizes[-1] / sizes[19] - 1)], "% more", most=5)


def first_motion() -> None:
    """Measure the time from `roslaunch` until a robot moves."""
    import rospy

    from agora_msgs.msg import Robots

    moved = threading.Event()
    robots = rospy.Subscriber("/simulator/robots", Robots, lambda m: max(map(abs, m.vx), default=0) > 0.02 and moved.set())
    command = ["roslaunch", "agora_bringup", "start_arena.launch", "headless:=2", "map_file:=map_empty", "model:=burger"]
    took = []
    for _ in range(RUNS):
        moved.clear()
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            until(moved.is_set, "a robot that moves")
            took.append(time.perf_counter() - began)
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)
    robots.unregister()
    line("launch to first motion", took, "s", most=8)


def used(pids: dict[str, int]) -> list[float]:
    """Return the processor time of every node so far, s."""
    return [cpu(pid) for pid in pids.values()]


def cpu(pid: int) -> float:
    """Return the processor time of a process so far, s."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Return the resident memory of a process, MB."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
