"""The topics of Arena's fork of pedsim_ros, published only if there are subscribers."""

from __future__ import annotations

from typing import Any

import rospy
from nav_msgs.msg import Odometry
from pedsim_msgs import msg
from std_msgs.msg import Header

from agora.node_logic.arena import outline
from agora.node_logic.crowd import Crowd
from agora_pedsim import messages

_NAME = "pedsim_simulator"


class ArenaTopics:
    """Publishes the topics of the fork, under the same names."""

    def __init__(self) -> None:
        kinds = {
            "simulated_agents": msg.AgentStates, "simulated_groups": msg.AgentGroups, "simulated_waypoints": msg.Waypoints,
            "simulated_obstacles": msg.Obstacles, "simulated_walls": msg.Walls, "robot_position": Odometry,
            "pedsim_agents_data": msg.PedsimAgentsDataframe,
        }  # fmt: skip
        self._publishers = {
            topic: rospy.Publisher(f"{_NAME}/{topic}", kind, queue_size=1, tcp_nodelay=True) for topic, kind in kinds.items()
        }
        self._edges: tuple[Any, list[msg.Wall]] = (None, [])

    def publish(self, crowd: Crowd, robots: list[str], header: Header, *, data: bool) -> None:
        """Publish the topics that have subscribers and, if ``data``, the topics for plugins."""
        made = {
            "simulated_agents": lambda: msg.AgentStates(header, messages.agent_states(crowd, header)),
            "simulated_groups": lambda: msg.AgentGroups(header, messages.agent_groups(crowd, header)),
            "simulated_waypoints": lambda: msg.Waypoints(header, messages.waypoints(crowd)),
            "simulated_obstacles": lambda: msg.Obstacles(header, messages.obstacles(crowd)),
            "simulated_walls": lambda: msg.Walls(header, self._walls(crowd)),
        }
        for topic, make in made.items():
            if self._publishers[topic].get_num_connections():
                self._publishers[topic].publish(make())
        if self._publishers["robot_position"].get_num_connections():
            for state in messages.robot_states(crowd, robots):
                self._publishers["robot_position"].publish(_odometry(state, header))
        if data:
            self.publish_data(crowd, robots, header)

    def publish_data(self, crowd: Crowd, robots: list[str], header: Header) -> None:
        """Publish the data for plugins."""
        if self._publishers["pedsim_agents_data"].get_num_connections():
            self._publishers["pedsim_agents_data"].publish(messages.dataframe(crowd, robots, self._walls(crowd), header))

    def _walls(self, crowd: Crowd) -> list[msg.Wall]:
        place = crowd.start.map
        if self._edges[0] is not place:
            self._edges = place, messages.walls(outline(place))
        return self._edges[1]


def _odometry(robot: Any, header: Header) -> Odometry:
    odometry = Odometry(header=header, child_frame_id=f"{robot.name}/base_link")
    odometry.pose.pose, odometry.twist.twist = robot.pose, robot.twist
    return odometry
