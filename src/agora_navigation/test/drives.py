#!/usr/bin/env python3
"""A robot on a map drives towards its goal, and stops once its odometry no longer arrives."""

import unittest

import rospy
import rostest
from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import OccupancyGrid, Odometry


class Drives(unittest.TestCase):
    """One robot, for which only odometry is published."""

    def test_drives_and_stands(self) -> None:
        """The goal is to the left of the robot's heading: it turns left, and the last twist is zero."""
        grid = OccupancyGrid(data=[0] * (80 * 50))
        grid.header.frame_id, grid.info.resolution, grid.info.width, grid.info.height = "map", 0.1, 80, 50
        grid.info.origin.position.x, grid.info.origin.orientation.w = -2.0, 1.0
        goal, odometry = PoseStamped(), Odometry()
        goal.header.frame_id = odometry.header.frame_id = "map"
        goal.pose.position.x, goal.pose.position.y, goal.pose.orientation.w = 4.0, 3.5, 1.0
        at = odometry.pose.pose
        at.position.x, at.position.y, at.orientation.w = 0.5, 1.2, 1.0
        rospy.Publisher("/map", OccupancyGrid, queue_size=1, latch=True).publish(grid)
        rospy.Publisher("burger/move_base_simple/goal", PoseStamped, queue_size=1, latch=True).publish(goal)
        base = rospy.Publisher("burger/odom", Odometry, queue_size=1)
        twists: list[Twist] = []
        rospy.Subscriber("burger/cmd_vel", Twist, twists.append, queue_size=10)
        while not twists:
            odometry.header.stamp = rospy.Time.now()
            base.publish(odometry)
            rospy.sleep(0.05)
        self.assertGreater(twists[-1].angular.z, 0.0)
        while twists[-1] != Twist():
            rospy.sleep(0.05)


rospy.init_node("drives")
rostest.rosrun("agora_navigation", "drives", Drives)
