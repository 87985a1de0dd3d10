"""The task generator with the nodes that really play: what dies is played again, what is right is played once."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any

import tf2_ros
from geometry_msgs.msg import TransformStamped
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Empty, Int16

from agora_msgs.msg import EpisodeStatus, Robots

NODES = {
    "agora_simulators": "simulator",
    "agora_pedsim": "pedsim_simulator",
    "agora_navigation": "navigation",
    "agora_map_generator": "map_generator",
}


def test_episodes_survive_the_death_of_every_part_in_the_middle(graph: Any, launch_node: Any, wait_until: Any) -> None:
    for name, value in {"synchronous": True, "tm_obstacles": "random", "timeout": 600.0, "model": "burger", "seed": 6}.items():
        graph.param(name, value)
    numbers, statuses = graph.hear("scenario_reset", Int16), graph.hear("simulator/status", EpisodeStatus)
    finished = graph.hear("scenario_finished", Empty)
    nodes = {node: launch_node(package, node, f"{node}_node") for package, node in NODES.items()}
    server = launch_node("agora_task_generator", "task_generator_server", patience=300.0, episodes=2, RANDOM_dynamic_max=6)
    for count, (package, name) in enumerate(list(NODES.items())[:3], 1):
        wait_until(lambda count=count: server.log.count("episode 1: ") == count, f"begin {count}\n{server.log}")
        nodes[name].kill()
        nodes[name] = launch_node(package, name, f"{name}_node")
        wait_until(lambda count=count: server.log.count("was interrupted") >= count, f"a word about {name}\n{server.log}")
    wait_until(lambda: server.log.count("episode 1: ") >= 4, f"episode 1 after three deaths\n{server.log}")
    finished.wait(1, 240)
    statuses.wait_for(lambda status: status.done and status.number == 2, "the end of episode 2")
    assert [message.data for message in numbers.messages] == [1, 1, 1, 1, 2]
    done = [status for status in statuses.messages if status.done]
    assert [status.number for status in done] == [1, 2] and all(status.robots[0].ended for status in done)
    assert "Traceback" not in server.log


def test_with_complexity_2_a_robot_stands_until_somebody_tells_where_its_odometry_is_on_the_map(
    graph: Any, launch_node: Any, wait_until: Any
) -> None:
    for name, value in {"complexity": 2, "tm_obstacles": "none", "model": "rto", "map_file": "hall", "timeout": 600.0}.items():
        graph.param(name, value)
    robots = graph.hear("simulator/robots", Robots)
    nodes = {node: launch_node(package, node, f"{node}_node") for package, node in NODES.items()}
    launch_node("agora_task_generator", "task_generator_server", patience=300.0)
    robots.wait(60, 240)
    wait_until(lambda: "no transform from rto/odom to map" in nodes["navigation"].log, "a line about the transform")
    assert abs(robots[-1].x[0] - robots[0].x[0]) < 1e-3
    amcl, told = tf2_ros.StaticTransformBroadcaster(), TransformStamped(child_frame_id="rto/odom")
    told.header.frame_id, told.transform.rotation.w = "map", 1.0
    amcl.sendTransform(told)
    robots.wait_for(lambda m: abs(m.vx[0]) > 0.1, f"a robot that drives\n{nodes['navigation'].log}")


def test_two_graphs_on_one_roscore_each_have_their_clock_and_frames(graph: Any, wait_until: Any) -> None:
    file = Path(__file__).parents[2] / "launch" / "start_arena.launch"
    given = {"headless": 2, "compile": "false", "model": "burger", "tm_obstacles": "none"}
    arguments = "".join(f'<arg name="{name}" value="{value}"/>' for name, value in given.items())
    spaces = [f"{graph.namespace}/{name}" for name in ("one", "two")]
    groups = "".join(f'<group ns="{space}"><include file="{file}">{arguments}</include></group>' for space in spaces)
    (graph.folder / "two.launch").write_text(f"<launch>{groups}</launch>")
    clocks = [graph.hear(f"{space}/clock", Clock) for space in spaces]
    robots = [graph.hear(f"{space}/simulator/robots", Robots) for space in spaces]
    with (graph.folder / "roslaunch.log").open("wb") as log:
        command = ["roslaunch", str(graph.folder / "two.launch")]
        launched = subprocess.Popen(command, env=graph.master.env, stdout=log, stderr=subprocess.STDOUT)
    said = lambda: (graph.folder / "roslaunch.log").read_text()[-3000:]  # noqa: E731
    try:
        for one in robots:
            one.wait_for(lambda m: abs(m.vx[0]) > 0.05, f"a robot that drives\n{said()}")
        assert all(len(clock) for clock in clocks) and "Traceback" not in said()
    finally:
        launched.send_signal(signal.SIGINT)
        launched.wait(60)
