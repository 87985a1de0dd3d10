#!/usr/bin/env python3
"""A robot on a map gets a goal, and is driven."""

import unittest

import rospy
import rostest
from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import OccupancyGrid, Odometry


class Drives(unittest.TestCase):
    """The node as a launch file starts it."""

    def test_a_goal_moves_the_robot(self):
        """Goals are repeated until a twist forwards comes."""
        grid, odometry, goal, heard = OccupancyGrid(), Odometry(), PoseStamped(), []
        grid.info.resolution, grid.info.width, grid.info.height, grid.data = 0.1, 70, 40, [0] * 2800
        grid.info.origin.position.x, grid.info.origin.position.y, grid.info.origin.orientation.w = -1.0, -2.0, 1.0
        odometry.header.frame_id = goal.header.frame_id = "map"
        odometry.pose.pose.orientation.w = goal.pose.orientation.w = 1.0
        goal.pose.position.x = 4.0
        rospy.Publisher("/map", OccupancyGrid, queue_size=1, latch=True).publish(grid)
        places = rospy.Publisher("burger/odom", Odometry, queue_size=1)
        goals = rospy.Publisher("burger/move_base_simple/goal", PoseStamped, queue_size=1)
        rospy.Subscriber("burger/cmd_vel", Twist, heard.append, queue_size=10)
        rate = rospy.Rate(20)
        for tick in range(1000):
            if any(twist.linear.x > 0.05 for twist in heard):
                return
            odometry.header.stamp = rospy.Time.now()
            places.publish(odometry)
            if tick % 20 == 0:
                goals.publish(goal)
            rate.sleep()
        self.fail(f"no twist forwards among {len(heard)}")


if __name__ == "__main__":
    rospy.init_node("drives")
    rostest.rosrun("agora_navigation", "drives", Drives)
