#!/usr/bin/env python3
"""A spawned pedestrian walks to its waypoint, with a plugin in the loop."""

import unittest

import rospy
import rostest
from geometry_msgs.msg import Point
from pedsim_msgs.msg import AgentStates, Ped
from pedsim_srvs.srv import SpawnPeds


class Walks(unittest.TestCase):
    """One pedestrian, whose forces come from a plugin."""

    def test_walks(self) -> None:
        """The pedestrian makes progress."""
        rospy.wait_for_service("pedsim_simulator/spawn_peds", 30)
        ada = Ped(id="Ada", pos=Point(1.0, 2.0, 0.0), type="adult", number_of_peds=1, vmax=1.2, waypoints=[Point(9.0, 2.5, 0.0)])
        self.assertTrue(rospy.ServiceProxy("pedsim_simulator/spawn_peds", SpawnPeds)([ada]).success)
        for _ in range(300):
            agents = rospy.wait_for_message("pedsim_simulator/simulated_agents", AgentStates, 10).agent_states
            if agents and agents[0].pose.position.x > 2.0:
                self.assertEqual(agents[0].id, "Ada")
                return
        self.fail("Ada does not walk")


rospy.init_node("walks")
rostest.rosrun("agora_pedsim", "walks", Walks)
