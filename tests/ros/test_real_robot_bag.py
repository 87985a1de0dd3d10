"""A robot that knows nothing of Agora, driven by the node ``navigation``, and what the bag of ``rosbag record -a`` gives of it."""

from __future__ import annotations

import math
import signal
import subprocess

import numpy as np
import pytest
import rospy
from agora_ros.conversions import from_twist, to_pose
from geometry_msgs.msg import PoseStamped, TransformStamped, Twist
from nav_msgs.msg import OccupancyGrid, Odometry
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from agora.datasets.recorded import Unsaid, read_all
from agora.metrics.registered import metrics

TICK, START = 0.1, 1000.0
WHEELS = 1.04  # what the wheels see of a metre; the localisation takes it back


class Robot:
    """A base with wheels and a localisation; ``truth`` is where it is in the map, and ``seen`` where its wheels believe it is."""

    def __init__(self, graph):
        self.tick, self.truth, self.seen, self.path = 0, np.array([1.0, -0.5, 0.6]), np.zeros(3), []
        self.clock, self.frames = graph.publisher("/clock", Clock), graph.publisher("/tf", TFMessage)
        self.odometry, self.raw = graph.publisher("burger/odom", Odometry), graph.publisher("wheel/odom", Odometry, listeners=0)
        self.goals = graph.publisher("burger/move_base_simple/goal", PoseStamped)
        self.twists = graph.hear("burger/cmd_vel", Twist)

    def live(self):
        """Do what was asked last for a tick, and say where it is."""
        v, _, omega = from_twist(self.twists[-1]).tolist() if len(self.twists) else (0.0, 0.0, 0.0)
        self.tick += 1
        for pose, scale in ((self.truth, 1.0), (self.seen, WHEELS)):
            pose += TICK * np.array([scale * v * math.cos(pose[2]), scale * v * math.sin(pose[2]), omega])
        now = rospy.Time.from_sec(START + TICK * self.tick)
        turned = self.truth[2] - self.seen[2]
        c, s = math.cos(turned), math.sin(turned)
        x, y = self.truth[:2] - (c * self.seen[0] - s * self.seen[1], s * self.seen[0] + c * self.seen[1])
        frame = TransformStamped(child_frame_id="burger/odom")
        frame.header.stamp, frame.header.frame_id, pose = now, "map", to_pose((x, y, turned))
        frame.transform.translation.x, frame.transform.translation.y, frame.transform.rotation = x, y, pose.orientation
        message = Odometry(child_frame_id="burger/base_link")
        message.header.stamp, message.header.frame_id, message.pose.pose = now, "burger/odom", to_pose(self.seen)
        message.twist.twist.linear.x, message.twist.twist.angular.z = v, omega
        self.clock.publish(Clock(now))
        self.frames.publish(TFMessage([frame]))
        self.raw.publish(message)
        self.odometry.publish(message)
        self.path.append(self.truth.copy())
        rospy.rostime.wallsleep(0.01)
        return v == omega == 0.0

    def go(self, x, y):
        """Send it to a goal, wait until it stands there, and let it stand."""
        goal = PoseStamped(pose=to_pose((x, y, 0.0)))
        goal.header.frame_id, goal.header.stamp = "map", rospy.Time.from_sec(START + TICK * self.tick)
        self.goals.publish(goal)
        begin = self.tick
        for _ in range(2000):
            stands = self.live()
            if stands and self.tick > begin + 20 and math.hypot(*(self.truth[:2] - (x, y))) < 0.4:
                break
        for _ in range(20):
            self.live()
        return begin


def test_what_a_robot_drove_is_in_its_bag_a_row_for_each_goal(graph, wait_until, tmp_path):
    node = graph.launch(
        "agora_navigation", "navigation", "navigation_node", real_robot=True, model="burger", local_planner="pure_pursuit"
    )
    grid = OccupancyGrid()
    grid.header.frame_id, grid.info.resolution, grid.info.width, grid.info.height, grid.data = "map", 0.1, 110, 60, [0] * 6600
    grid.info.origin = to_pose((-2.0, -3.0, 0.0))
    graph.publisher("/map", OccupancyGrid, latch=True).publish(grid)
    wait_until(lambda: "is driven by pure_pursuit on a map" in node.log, "the map to be taken")
    record = ["rosbag", "record", "--all", "--output-name", str(tmp_path / "drive"), f"__ns:={graph.namespace}"]
    recorder = subprocess.Popen(record, env=graph.master.env, start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        robot = Robot(graph)
        heard = ((robot.frames, 2), (robot.odometry, 2), (robot.goals, 2), (robot.raw, 1))
        # the recorder looks for topics once a second of the graph's time
        wait_until(lambda: robot.live() and all(one.get_num_connections() >= count for one, count in heard), "the recorder")
        for _ in range(20):
            robot.live()
        begun = [robot.go(3.5, 0.5), robot.go(1.5, -1.0)]
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait(20)
    wait_until((tmp_path / "drive.bag").exists, "the bag to be closed")
    one, two = read_all([tmp_path / "drive.bag"], Unsaid.of("burger", "", "pure_pursuit"))
    assert one.entry == "recorded/drive/0" and two.robots[0].recording.map.shape == (60, 110)
    for played, begin in ((one, begun[0]), (two, begun[1])):
        recording = played.robots[0].recording
        known = {metric.name: played.robots[0].measure(metric) for metric in metrics()}
        assert (known["success"], known["reached"]) == (1.0, 1.0) and known["final_goal_distance"] < 0.3
        ticks = begin + np.round(recording.time / TICK).astype(int) - 1
        assert recording.pose[1:, :2] == pytest.approx(np.array(robot.path)[ticks[1:], :2], abs=1e-6)
        assert known["time_to_goal"] < TICK * 1000 and known["path_length_ratio"] < 1.3
    assert not any("no transform" in note for note in one.notes)
    assert any("odometry is read from" in note for note in one.notes)
