"""The Move Base Flex client node: its parameters, and one thread per robot."""

from __future__ import annotations

import threading
from typing import Any

import rospy
from agora_ros.names import ros_name
from agora_ros.parameters import own_or_graphs

from agora.node_logic.relay import Relay
from agora.planners.presets import named_interplanner
from agora.robots.model import load_robot
from agora_msgs.msg import Pedestrians
from agora_navigation.localisation import Localisation
from agora_navigation.mbf import MbfRobot, MbfSettings


class MbfClient:
    """The Move Base Flex client node, which reads the parameters once and passes pedestrians on to every robot."""

    def __init__(self) -> None:
        get = rospy.get_param
        model, inter = (
            load_robot(str(own_or_graphs("model", "jackal"))),
            named_interplanner(str(own_or_graphs("inter_planner", "bypass"))),
        )
        given = MbfSettings()
        period = float(get("~inter_period", given.inter_period))
        localisation = Localisation(trusting=False)
        self._robots = []
        for name in get("~robots", [model.name]):
            base = ros_name(str(name))
            settings = MbfSettings(
                server=str(get("~server", f"{base}/move_base_flex")).replace("{robot}", base),
                exe_path_server=str(get("~exe_path_server", given.exe_path_server)).replace("{robot}", base),
                planner=str(get("~planner", given.planner)),
                controller=str(get("~controller", given.controller)),
                replan_period=float(get("~replan_period", given.replan_period)),
                inter_period=period,
                retries=int(get("~retries", given.retries)),
                speed_parameters=tuple(get("~speed_parameters", list(given.speed_parameters))),
                answer_in=float(get("~answer_in", given.answer_in)),
                notes=inter.name != "bypass",
            )
            relay = Relay(model, inter, period, int(get("~max_pedestrians", 64)))
            self._robots.append(MbfRobot(str(name), relay, settings, localisation))
        rospy.Subscriber("pedsim_simulator/pedestrians", Pedestrians, self._store, queue_size=1, tcp_nodelay=True)

    def _store(self, message: Any) -> None:
        for robot in self._robots:
            robot.people = message

    def spin(self) -> None:
        """Work until the node shuts down."""
        for robot in self._robots[1:]:
            threading.Thread(target=robot.spin, daemon=True).start()
        self._robots[0].spin()
