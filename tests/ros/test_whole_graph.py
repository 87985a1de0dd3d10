"""The task generator with the nodes that really play: what dies is played again, what is right is played once."""

from __future__ import annotations

from typing import Any

from std_msgs.msg import Empty, Int16

from agora_msgs.msg import EpisodeStatus

NODES = {
    "agora_simulators": "simulator",
    "agora_pedsim": "pedsim_simulator",
    "agora_navigation": "navigation",
    "agora_map_generator": "map_generator",
}


def test_episodes_survive_the_death_of_every_part_in_the_middle(graph: Any, launch_node: Any, wait_until: Any) -> None:
    for name, value in {"synchronous": True, "tm_obstacles": "random", "timeout": 600.0, "model": "burger", "seed": 6}.items():
        graph.param(name, value)
    numbers, statuses = graph.hear("scenario_reset", Int16), graph.hear("simulator/status", EpisodeStatus)
    finished = graph.hear("scenario_finished", Empty)
    nodes = {node: launch_node(package, node, f"{node}_node") for package, node in NODES.items()}
    server = launch_node("agora_task_generator", "task_generator_server", patience=300.0, episodes=2, RANDOM_dynamic_max=6)
    for count, (package, name) in enumerate(list(NODES.items())[:3], 1):
        wait_until(lambda count=count: server.log.count("episode 1: ") == count, f"begin {count}\n{server.log}", 240)
        nodes[name].kill()
        nodes[name] = launch_node(package, name, f"{name}_node")
        wait_until(lambda count=count: server.log.count("was interrupted") >= count, f"a word about {name}\n{server.log}")
    wait_until(lambda: server.log.count("episode 1: ") >= 4, f"episode 1 after three deaths\n{server.log}", 240)
    finished.wait(1, 240)
    statuses.wait_for(lambda status: status.done and status.number == 2, "the end of episode 2")
    assert [message.data for message in numbers.messages] == [1, 1, 1, 1, 2]
    done = [status for status in statuses.messages if status.done]
    assert [status.number for status in done] == [1, 2] and all(status.robots[0].ended for status in done)
    assert "Traceback" not in server.log
