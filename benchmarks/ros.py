"""How fast the ROS graph is: `make bench` runs it where ROS is found. One robot with 360 beams, DWA at 10 Hz, 20 pedestrians."""

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


def main() -> None:
    """Measure, and print a line for each number."""
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
        lock_step()
        free_running()
        resets()
        first_motion()
    finally:
        core.send_signal(signal.SIGINT)
        core.wait(20)


def line(name: str, value: str, target: str) -> None:
    """Print one result."""
    print(f"{name:26} {value:>34}   target {target}", flush=True)


def until(condition: Any, what: str, seconds: float = LIMIT) -> None:
    """Wait for a condition, or end with what did not come."""
    end, pause = time.monotonic() + seconds, threading.Event()
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"ros: waited {seconds:g} s in vain for {what}")
        pause.wait(0.02)


@contextmanager
def graph(names: Any = NODES, **params: Any) -> Iterator[dict[str, int]]:
    """Nodes with private parameters; their process numbers."""
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
    """Begin an episode everywhere."""
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
    """Call a Trigger."""
    import rospy
    from std_srvs.srv import Trigger

    rospy.ServiceProxy(service, Trigger)()


def lock_step() -> None:
    """Simulated time over the wall's, of a whole episode."""
    import rospy
    from sensor_msgs.msg import LaserScan

    from agora_msgs.msg import EpisodeStatus

    heard: list[Any] = []
    scans: list[Any] = []
    with graph(synchronous=True) as pids:
        ends = [rospy.Subscriber("/simulator/status", EpisodeStatus, heard.append, queue_size=100)]
        factors, shares = [], {name: 0.0 for name in pids}
        for number in range(4):
            episode(number)
            if not scans:
                ends.append(rospy.Subscriber("/burger/scan", LaserScan, scans.append, queue_size=10_000, tcp_nodelay=True))
                until(ends[-1].get_num_connections, "scans")
            scans.clear()
            before, began = {n: cpu(pid) for n, pid in pids.items()}, time.perf_counter()
            call("/simulator/resume")
            until(lambda k=number: heard and heard[-1].number == k and (heard[-1].done or heard[-1].interrupted), "an end")
            wall, last = time.perf_counter() - began, heard[-1]
            if last.interrupted:
                sys.exit(f"ros: {last.reason}")
            if number:  # the first one warms up
                factors.append(last.step * 0.05 / wall)
                shares = {n: (cpu(pid) - before[n]) / wall for n, pid in pids.items()}
            lost = len(scans) - (last.step // 2 + 1)
        for end in ends:
            end.unregister()
    line("lock step", f"{np.median(factors):.1f} x real time", "> 20")
    line("lock step, scans lost", f"{-lost}", "0")
    line("lock step, cores", ", ".join(f"{name} {share:.2f}" for name, share in shares.items()), "-")


def free_running() -> None:
    """Share of a core of each node at real time, and the time from a scan to the command that follows it."""
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

    with graph(synchronous=False, time_scale=1.0) as pids:
        episode(0, periods=FREE)
        ends = [
            rospy.Subscriber("/burger/scan", LaserScan, scanned, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("/burger/cmd_vel", Twist, told, queue_size=1, tcp_nodelay=True),
        ]
        call("/simulator/resume")
        until(lambda: len(delays) > 30, "commands")
        delays.clear()
        before, began = {name: cpu(pid) for name, pid in pids.items()}, time.perf_counter()
        until(lambda: time.perf_counter() - began > 20, "20 s")
        wall = time.perf_counter() - began
        shares = {name: (cpu(pid) - before[name]) / wall for name, pid in pids.items()}
        for end in ends:
            end.unregister()
    line("free running, cores", ", ".join(f"{name} {share:.2f}" for name, share in shares.items()), "simulator < 0.40")
    p50, p99 = np.percentile(delays, (50, 99)) * 1000
    line("sensor to command", f"p50 {p50:.1f}, p99 {p99:.1f} ms, {len(delays)} scans", "p99 < 20 ms")


def resets() -> None:
    """Growth of the simulator's memory over 100 resets."""
    with graph(["simulator"], synchronous=False, time_scale=100.0) as pids:
        sizes = []
        for number in range(120):
            episode(number, ["simulator"])
            call("/simulator/resume")
            sizes.append(memory(pids["simulator"]))
    line("100 resets", f"memory {100 * (sizes[-1] / sizes[19] - 1):+.1f} % of {sizes[19]:.0f} MB", "< 5 %")


def first_motion() -> None:
    """From `roslaunch` to a robot that moves."""
    import rospy

    from agora_msgs.msg import Robots

    moved = threading.Event()
    robots = rospy.Subscriber("/simulator/robots", Robots, lambda m: max(map(abs, m.vx), default=0) > 0.02 and moved.set())
    began = time.perf_counter()
    command = ["roslaunch", "agora_bringup", "start_arena.launch", "headless:=2", "map_file:=map_empty", "model:=burger"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        moved.wait(LIMIT)
        took = f"{time.perf_counter() - began:.1f} s" if moved.is_set() else f"not within {LIMIT:g} s"
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
        robots.unregister()
    line("launch to first motion", took, "< 8 s")


def cpu(pid: int) -> float:
    """Processor time of a process so far, s."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Resident memory of a process, MB."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
