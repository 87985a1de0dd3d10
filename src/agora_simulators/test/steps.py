#!/usr/bin/env python3
"""A robot on an empty plane publishes scans while the simulator takes steps."""

import unittest

import rospy
import rostest
from sensor_msgs.msg import LaserScan

from agora_msgs.msg import Entity
from agora_msgs.srv import Spawn, Step


class Steps(unittest.TestCase):
    """One robot."""

    def test_scans_come_with_the_stamp_of_their_step(self):
        """A scan arrives at every second step of 0.05 s."""
        rospy.wait_for_service("simulator/step", 40)
        scans = []
        self.assertTrue(rospy.ServiceProxy("simulator/spawn", Spawn)([Entity(kind="robot", name="burger", model="burger")]).success)
        listening = rospy.Subscriber("burger/scan", LaserScan, scans.append, queue_size=100)
        take = rospy.ServiceProxy("simulator/step", Step)
        while not listening.get_num_connections():
            rospy.rostime.wallsleep(0.02)
        now = take(40).now
        while len(scans) < 20:
            rospy.rostime.wallsleep(0.02)
        self.assertEqual(scans[-1].header.stamp, now)
        self.assertEqual(scans[-1].header.stamp - scans[-2].header.stamp, rospy.Duration(0, 100_000_000))
        self.assertEqual(len(scans[-1].ranges), 360)


if __name__ == "__main__":
    rospy.init_node("steps")
    rostest.rosrun("agora_simulators", "simulator", Steps)
