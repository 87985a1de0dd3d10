#!/usr/bin/env python3
"""A planner of your own as a ROS node: it turns to its goal, drives there, and slows down in front of things.

    roslaunch agora_bringup start_arena.launch navigation:=external record_data:=true
    python examples/ros_planner.py _robot:=burger
    agora bench demo --planner ros --output results/mine

It answers every scan with one command, so it runs in lock step as well as in free running.
"""

import math

import rospy
from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan


def heading_of(q):
    """The heading of a quaternion, rad."""
    return 2 * math.atan2(q.z, q.w)


class Planner:
    """Stores what it is told of one robot, and commands it when it sees something."""

    def __init__(self, robot):
        self.pose = self.goal = None
        self.speed, self.turn = rospy.get_param("~speed", 0.6), rospy.get_param("~turn", 1.5)
        self.command = rospy.Publisher(f"{robot}/cmd_vel", Twist, queue_size=1, tcp_nodelay=True)
        rospy.Subscriber(f"{robot}/move_base_simple/goal", PoseStamped, self.on_goal, queue_size=1)
        rospy.Subscriber(f"{robot}/odom", Odometry, self.on_odom, queue_size=1, tcp_nodelay=True)
        rospy.Subscriber(f"{robot}/scan", LaserScan, self.on_scan, queue_size=1, tcp_nodelay=True)

    def on_goal(self, message):
        """Take a goal."""
        self.goal = message.pose.position

    def on_odom(self, message):
        """Take the pose."""
        self.pose = message.pose.pose

    def on_scan(self, scan):
        """Answer a scan with a command."""
        twist = Twist()
        if self.pose and self.goal:
            dx, dy = self.goal.x - self.pose.position.x, self.goal.y - self.pose.position.y
            error = math.remainder(math.atan2(dy, dx) - heading_of(self.pose.orientation), math.tau)
            beams = (r for i, r in enumerate(scan.ranges) if abs(scan.angle_min + i * scan.angle_increment) < 0.5)
            room = min((r for r in beams if math.isfinite(r)), default=scan.range_max) - 0.4
            twist.angular.z = max(-self.turn, min(self.turn, 2 * error))
            twist.linear.x = max(0.0, min(self.speed, math.hypot(dx, dy), room)) if abs(error) < 0.8 else 0.0
        self.command.publish(twist)


if __name__ == "__main__":
    rospy.init_node("ros_planner", anonymous=True)
    Planner(rospy.get_param("~robot", "burger"))
    rospy.spin()
