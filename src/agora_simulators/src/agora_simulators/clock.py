"""`/clock`: it never goes back, not even when the simulator was started again."""

from __future__ import annotations

import math
from typing import Any

import rospy
from agora_ros.parameters import queue_size
from rosgraph_msgs.msg import Clock

FIRST = 1.0
"""Stamp at which the first episode begins, s: ROS takes 0 for no time."""

_AHEAD = 60.0  # s that are kept from a simulator that is started after this one
_GRID = 0.1  # s


class SimulationClock:
    """Stamps that only grow, even if the clock of a foreign simulator goes back.

    How far they may have come is a parameter, `~clock`: who is started again goes on after it.
    """

    def __init__(self) -> None:
        self._publisher = rospy.Publisher("/clock", Clock, queue_size=queue_size(10), latch=True, tcp_nodelay=True)
        self._everybody = rospy.Subscriber("/clock", Clock)  # calls nobody: it counts who publishes
        self._shared = False
        self._kept = float(rospy.get_param("~clock", 0.0))
        self._now = self._kept
        if self._kept:
            rospy.loginfo(f"a simulator ran here before: its stamps ended at {self._kept:g} s, where this one starts")

    def next(self) -> float:
        """A stamp for the beginning of an episode: on a grid of 0.1 s, later than any before, s."""
        if self._now < FIRST:
            return FIRST
        return round((math.floor(self._now / _GRID + 1e-6) + 1) * _GRID, 9)

    def tell(self, stamp: Any, *, ticks: bool = True) -> None:
        """Take note of the time, and publish it where it ticks."""
        self._now = stamp.to_sec()
        if not ticks:
            return
        self._look_for_others()
        if self._now > self._kept:
            self._kept = self._now + _AHEAD
            try:
                rospy.set_param("~clock", self._kept)
            except OSError as error:
                rospy.logwarn(f"the roscore does not answer ({error}): the simulation continues, but restart everything")
        self._publisher.publish(Clock(stamp))

    def _look_for_others(self) -> None:
        """Say it where somebody else publishes the time, too, so that it jumps for every node."""
        shared = self._everybody.get_num_connections() > 1
        if shared and not self._shared:
            topic = self._everybody.resolved_name
            rospy.logerr(
                f"another node also publishes {topic}, so time jumps back and forth: stop it (find it with rostopic info "
                f"{topic}; run rosbag play without --clock)"
            )
        self._shared = shared
