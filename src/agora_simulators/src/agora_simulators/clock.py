"""Publishes `/clock`, which never goes back, even if the simulator is restarted."""

from __future__ import annotations

import math
from typing import Any

import rospy
from agora_ros.parameters import queue_size
from rosgraph_msgs.msg import Clock

FIRST = 1.0
"""Stamp at which the first episode begins, s; ROS interprets 0 as no time."""

_AHEAD = 60.0  # s, range of stamps reserved for this process; a simulator that is started later begins after this range
_GRID = 0.1  # s


class SimulationClock:
    """Gives time stamps that only increase, even if the clock of an external simulator goes back.

    The latest stamp that may have been published is stored in the `~clock` parameter; a restarted node continues after it.
    """

    def __init__(self) -> None:
        self._publisher = rospy.Publisher("/clock", Clock, queue_size=queue_size(10), latch=True, tcp_nodelay=True)
        self._everybody = rospy.Subscriber("/clock", Clock)  # without a callback: only used to count publishers
        self._shared = False
        self._kept = float(rospy.get_param("~clock", 0.0))
        self._now = self._kept
        if self._kept:
            rospy.loginfo(f"a simulator ran on this roscore before; its time ended at {self._kept:g} s, so this one starts there")

    def next(self) -> float:
        """Return a stamp for the beginning of an episode, s: a multiple of 0.1 s, later than all previous stamps."""
        if self._now < FIRST:
            return FIRST
        return round((math.floor(self._now / _GRID + 1e-6) + 1) * _GRID, 9)

    def tell(self, stamp: Any, *, ticks: bool = True) -> None:
        """Record the time, and publish it if this clock ``ticks``."""
        self._now = stamp.to_sec()
        if not ticks:
            return
        self._look_for_others()
        if self._now > self._kept:
            self._kept = self._now + _AHEAD
            try:
                rospy.set_param("~clock", self._kept)
            except OSError as error:
                rospy.logwarn(f"the roscore does not answer ({error}): the simulation continues, but restart the whole graph")
        self._publisher.publish(Clock(stamp))

    def _look_for_others(self) -> None:
        """Log an error if another node also publishes the time, because time would then jump for every node."""
        shared = self._everybody.get_num_connections() > 1
        if shared and not self._shared:
            topic = self._everybody.resolved_name
            rospy.logerr(
                f"another node also publishes {topic}, so time jumps back and forth: stop it (find it with rostopic info "
                f"{topic}; run rosbag play without --clock)"
            )
        self._shared = shared
