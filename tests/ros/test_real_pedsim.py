"""The plugin node in front of Arena's own fork of pedsim_ros, where ``AGORA_REAL_PEDSIM`` names it.

``AGORA_REAL_PEDSIM`` is a script that starts, on the master of the environment, the fork's ``/pedsim_simulator`` without a scene
and the map that it waits for, and ends them when it is ended. Time is the wall's.
"""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
import rospy
from geometry_msgs.msg import Point
from pedsim_msgs import msg
from pedsim_srvs import srv
from std_srvs.srv import SetBool

PLUGIN = """
from agora_pedsim.plugin import Forcemodel, Forcemodels

@Forcemodels.register("northward")
class Northward(Forcemodel):
    def compute(self, in_data, work_data):
        for i, agent in enumerate(in_data.agents):
            work_data.force[i] = -2.0 * agent.twist.linear.x, 2.0 * (0.8 - agent.twist.linear.y), 0.0
"""


REAL = "AGORA_REAL_PEDSIM"


@pytest.fixture
def real(master):
    rospy.set_param("/use_sim_time", False)
    process = subprocess.Popen(["bash", os.environ[REAL]], env=master.env, start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        rospy.wait_for_message("/pedsim_simulator/pedsim_agents_data", msg.PedsimAgentsDataframe, 300)
        yield
    finally:
        rospy.set_param("/use_sim_time", True)
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def test_agents_of_arenas_fork_follow_the_forces_of_a_plugin(graph, real, tmp_path, monkeypatch, wait_until):
    (tmp_path / "northward.py").write_text(PLUGIN)
    monkeypatch.setitem(graph.master.env, "PYTHONPATH", f"{tmp_path}:{graph.master.env['PYTHONPATH']}")
    topics = {name: f"/{name}" for name in ("pedsim_simulator/pedsim_agents_data", "pedsim_simulator/pedsim_agents_feedback")}
    node = graph.launch("agora_pedsim", "crowdsim_agents", remap=topics, forcemodel="northward", plugins=["northward"])
    heard = graph.hear("/pedsim_simulator/simulated_agents", msg.AgentStates)
    wait_until(lambda: "answers /pedsim_simulator/pedsim_agents_data" in node.log, "the plugin")
    graph.call("/pedsim_simulator/remove_all_peds", SetBool, True)
    east = [
        msg.Ped(
            id=f"p{k}", pos=Point(x, y, 0.0), type="adult", number_of_peds=1, vmax=1.2, start_up_mode="default", configuration="{}",
            force_factor_desired=1.0, force_factor_obstacle=1.0, force_factor_social=5.0, force_factor_robot=1.0,
            waypoints=[Point(x, y, 0.3), Point(8.0, y, 0.3)],
        )
        for k, (x, y) in enumerate([(3.0, 2.0), (2.0, 4.5)])
    ]  # fmt: skip
    graph.call("/pedsim_simulator/spawn_peds", srv.SpawnPeds, east)
    first = heard.wait_for(lambda m: len(m.agent_states) == 2, "two agents")
    begun = [agent.pose.position.y for agent in first.agent_states]
    wait_until(lambda: all(a.pose.position.y > y + 1.5 for a, y in zip(heard[-1].agent_states, begun, strict=True)), "1.5 m")
    for agent in heard[-1].agent_states:
        assert agent.twist.linear.y == pytest.approx(0.8, abs=0.15) and abs(agent.twist.linear.x) < 0.15
        assert agent.type.endswith("adult")
    assert "Traceback" not in node.log
