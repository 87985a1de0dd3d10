#!/usr/bin/env python3
"""A part of the graph that adopts episodes and does nothing with them, for tests of who tells it: ``stand_in.py simulator``.

Private parameters: ``length`` (s from resume to the end of an episode; 0 for never), ``slow`` (s that it takes to adopt the first).
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import rospy
from std_srvs.srv import Trigger, TriggerResponse

from agora_msgs.msg import EpisodeStatus, RobotStatus
from agora_msgs.srv import BeginEpisode, BeginEpisodeResponse, Move, SetGoal, SetMap


class StandIn:
    """One part; a simulator has a status, too."""

    def __init__(self, name: str) -> None:
        self.length, self.slow = rospy.get_param("~length", 0.0), rospy.get_param("~slow", 0.0)
        self.status, self.clock = EpisodeStatus(), threading.Timer(0.0, lambda: None)
        self.publisher = rospy.Publisher(f"{name}/status", EpisodeStatus, queue_size=100, latch=True)
        if name == "map_generator":
            rospy.Service("map_generator/set_map", SetMap, lambda _: (True, ""))
            return
        rospy.Service(f"{name}/begin", BeginEpisode, self.begin)
        if name == "simulator":
            self.publisher.publish(self.status)
            rospy.Service("simulator/pause", Trigger, lambda _: self.stop())
            rospy.Service("simulator/resume", Trigger, lambda _: self.go())
            rospy.Service("simulator/move", Move, lambda _: (True, ""))
            rospy.Service("simulator/set_goal", SetGoal, lambda _: (True, "", 1))

    def begin(self, request: Any) -> BeginEpisodeResponse:
        threading.Event().wait(self.slow)
        self.slow = 0.0
        episode = request.episode
        robots = [RobotStatus(name=robot.name, outcome=-1) for robot in episode.robots]
        self.status = EpisodeStatus(number=episode.number, entry=episode.entry, seed=episode.seed, running=True, robots=robots)
        self.publisher.publish(self.status)
        return BeginEpisodeResponse(True, "")

    def stop(self) -> TriggerResponse:
        self.clock.cancel()
        return TriggerResponse(True, "")

    def go(self) -> TriggerResponse:
        if self.length:
            self.clock = threading.Timer(self.length, self.end)
            self.clock.start()
        return TriggerResponse(True, "")

    def end(self) -> None:
        self.status.running, self.status.done = False, True
        self.publisher.publish(self.status)


if __name__ == "__main__":
    rospy.init_node(sys.argv[1])
    StandIn(sys.argv[1])
    rospy.spin()
