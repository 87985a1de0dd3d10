"""The teleoperation node: a terminal (a real pty), a joystick, limits and what happens when all is let go."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios

import pytest
from agora_evaluation.teleop import Held
from geometry_msgs.msg import Twist
from roslib.packages import find_node
from sensor_msgs.msg import Joy

from agora.robots.model import load_robot
from agora_msgs.msg import Episode, Robot


def test_keys_are_shares_of_the_limits_and_count_as_long_as_they_are_held():
    burger = load_robot("burger")
    held = Held(burger, hold=0.6, share=0.5)
    assert held.twist(0.0) is None
    held.press("w", 1.0)
    held.press("d", 1.3)
    assert held.twist(1.5) == pytest.approx((0.5 * burger.vx[1], 0.0, -0.5 * burger.omega))
    assert held.twist(1.7) == pytest.approx((0.0, 0.0, -0.5 * burger.omega))
    assert held.twist(1.95) == (0.0, 0.0, 0.0) and held.twist(2.6) == (0.0, 0.0, 0.0) and held.twist(2.8) is None
    held.press("s", 3.0)
    assert held.twist(3.1)[0] == pytest.approx(0.5 * burger.vx[0])
    held.press(" ", 3.2)
    assert held.twist(3.2) == (0.0, 0.0, 0.0)
    for _ in range(9):
        held.press("+", 3.3)
    held.press("w", 3.3)
    assert held.twist(3.3)[0] == pytest.approx(burger.vx[1])
    held.press("q", 3.3)
    assert held.twist(3.3)[1] == 0.0  # it cannot go sideways


def test_a_joystick_commands_while_its_button_is_held_and_it_speaks():
    held = Held(load_robot("jackal"), hold=0.3, share=1.0)
    held.push(0.5, 9.0, True, 1.0)
    assert held.twist(1.2) == pytest.approx((0.5 * held.model.vx[1], 0.0, held.model.omega))
    assert held.twist(1.4) == (0.0, 0.0, 0.0)
    held.push(1.0, 0.0, True, 2.0)
    assert held.twist(2.1)[0] > 0
    held.push(1.0, 0.0, False, 2.1)
    assert held.twist(2.1) == (0.0, 0.0, 0.0)


@pytest.fixture
def terminal():
    """Both ends of a terminal."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def test_a_terminal_drives_the_robot_of_the_episode_and_is_as_before_afterwards(graph, terminal, tmp_path, wait_until):
    ours, theirs = terminal
    before = termios.tcgetattr(theirs)
    graph.publisher("task_generator_server/episode", Episode, latch=True, listeners=0).publish(
        Episode(robots=[Robot(name="my robot", model="burger")])
    )
    commands = graph.hear("my_robot/cmd_vel", Twist)
    with (tmp_path / "teleop.log").open("wb") as log:
        process = subprocess.Popen(
            [find_node("agora_evaluation", "teleop")[0], f"__ns:={graph.namespace}"],
            env=graph.master.env, stdin=theirs, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        wait_until(lambda: "driving my robot" in (tmp_path / "teleop.log").read_text(), "the robot of the episode")
        wait_until(lambda: os.write(ours, b"w") and len(commands) > 3, "commands")
        assert commands[2].linear.x == pytest.approx(0.5 * load_robot("burger").vx[1])
        wait_until(lambda: commands[-1].linear.x == 0.0, "the robot to stop once the key is let go")
        os.write(ours, b"\x1b[D")
        wait_until(lambda: commands[-1].angular.z > 0, "a turn by an arrow key")
        os.write(ours, b"Q")
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
    assert termios.tcgetattr(theirs)[3] == before[3]
    wait_until(lambda: commands[-1].angular.z == 0.0, "the stop, which may come after the end of the process that sent it")


LAST_WORD = """
import os, sys, time
import rospy, rospy.impl.tcpros_pubsub
from agora_evaluation.teleop import TeleopNode

rospy.init_node("teleop")
node = TeleopNode()
while not node._publisher.get_num_connections():
    time.sleep(0.01)
node._held.press("w", time.monotonic())
sys.setswitchinterval(100.0)
rospy.impl.tcpros_pubsub.time.sleep = lambda seconds: None
node.stop()
os._exit(0)
"""


def test_the_stop_is_sent_when_the_node_ends_though_no_other_thread_of_it_has_time(graph):
    commands = graph.hear("a/cmd_vel", Twist)
    words = [f"__ns:={graph.namespace}", "_robot:=a", "_model:=jackal"]
    subprocess.run([sys.executable, "-c", LAST_WORD, *words], env=graph.master.env, check=True, timeout=60)
    assert commands.wait(1)[0].linear.x == 0.0


def test_without_a_terminal_the_joystick_drives_and_what_is_wrong_is_said(graph, wait_until):
    node = graph.launch("agora_evaluation", "teleop", robot="a", model="jackal", share=1.0)
    commands = graph.hear("a/cmd_vel", Twist)
    stick = graph.publisher("joy", Joy)
    stick.publish(Joy(axes=[0.0], buttons=[]))
    wait_until(lambda: "joy has 1 axes and 0 buttons" in node.log, "a word about the joystick")
    wait_until(lambda: stick.publish(Joy(axes=[0.0, 1.0], buttons=[0, 0, 0, 0, 1])) or len(commands) > 2, "commands")
    assert commands[-1].linear.x == pytest.approx(load_robot("jackal").vx[1])
    wait_until(lambda: commands[-1].linear.x == 0.0, "a stop once the joystick is silent")
    wrong = graph.launch("agora_evaluation", "teleop", name="teleop2", robot="b", model="jackl")
    wait_until(lambda: "jackal" in wrong.log, "the nearest name")
    assert "Traceback" not in wrong.log
