"""Modes and modules in the graph that really plays: started once, switched while it runs, each played to its end."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import rospy
from agora_ros.conversions import from_episode
from std_msgs.msg import Bool, String
from std_srvs.srv import Empty
from tests.ros import test_goals_by_hand

from agora.draft.scenario import read_scenario
from agora.registry import available
from agora.share import folder
from agora.world.start import PedestrianStarts
from agora_msgs.msg import Episode, EpisodeStatus, Map

NODES = {
    "agora_simulators": "simulator",
    "agora_pedsim": "pedsim_simulator",
    "agora_navigation": "navigation",
    "agora_map_generator": "map_generator",
}
PLAIN = {"tm_robots": "random", "tm_obstacles": "none", "tm_modules": "", "map_file": "hospital", "behaviours": ""}


def crowd(episode: Any) -> PedestrianStarts:
    """The simulated pedestrians of an episode's message."""
    return from_episode(episode)[0].pedestrians


class Play:
    """The graph in lock step, and what was heard of it."""

    def __init__(self, graph: Any, wait_until: Any) -> None:
        for name, value in {**PLAIN, "synchronous": True, "model": "jackal", "seed": 6, "timeout": 6.0}.items():
            graph.param(name, value)
        self.graph, self.wait_until = graph, wait_until
        self.episodes = graph.hear("task_generator_server/episode", Episode)
        self.statuses = graph.hear("simulator/status", EpisodeStatus)
        for package, node in NODES.items():
            graph.launch(package, node, f"{node}_node" if node in ("simulator", "navigation") else node)
        self.server = graph.launch("agora_task_generator", "task_generator_server", patience=300.0, manual=True)
        self.count = 0

    def numbered(self, number: int) -> Any:
        """An episode, once it has begun."""
        there = lambda: [e for e in list(self.episodes.messages) if e.number == number]  # noqa: E731
        return self.wait_until(there, f"episode {number}\n{self.server.log[-3000:]}")[0]

    def ended(self, episode: Any) -> Any:
        """Return the last status of an episode: every robot has ended, and no planner failed."""
        end = lambda: [s for s in list(self.statuses.messages) if s.number == episode.number and s.done]  # noqa: E731
        status = self.wait_until(end, f"the end of episode {episode.number}\n{self.server.log[-3000:]}")[0]
        assert all(robot.ended and not robot.failure for robot in status.robots), status
        return status

    def played(self, **params: Any) -> Any:
        """The first episode of other modes, once it is over."""
        for name, value in {**PLAIN, **params}.items():
            self.graph.param(name, value)
        self.graph.call("reset_task", Empty)
        self.count += 1
        episode = self.numbered(self.count)
        self.ended(episode)
        return episode


def test_every_mode_is_switched_to_and_played_to_its_end(graph: Any, wait_until: Any) -> None:
    play = Play(graph, wait_until)

    groups = play.played(tm_obstacles="groups(dynamic=[6, 6], standing_groups=[1, 1])", behaviours="groups,social_states")
    assert len(crowd(groups).id) > 6 and 2 <= np.unique(crowd(groups).group, return_counts=True)[1].max() <= 5
    assert 3 <= len(crowd(play.played(tm_obstacles="parametrized")).id) <= 7
    zones = play.played(tm_robots="zones", tm_obstacles="zones")
    assert 6 <= len(crowd(zones).id) <= 10 and 7.6 <= zones.robots[0].pose.y <= 18.0  # corridor, or store
    scenario = play.played(tm_robots="scenario", tm_obstacles="scenario", scenario_file="delivery")
    file = folder("scenarios") / "worlds/hospital/scenarios/delivery.json"
    written = read_scenario(file).robots[0].start
    pose = scenario.robots[0].pose
    assert np.allclose([pose.x, pose.y, pose.theta], written, atol=1e-5)
    path = play.played(tm_robots="scenario", tm_obstacles="scenario", scenario_file=str(file))
    assert path.robots[0].pose == pose and crowd(path).id.tolist() == crowd(scenario).id.tolist()

    circle = play.played(tm_robots="circle", map_file="map_empty", tm_obstacles="motion_profiles")
    across = [math.dist((r.pose.x, r.pose.y), (r.goals[0].x, r.goals[0].y)) for r in circle.robots]
    assert np.allclose(across, across[0], atol=0.5)
    itineraries = play.played(tm_obstacles="itineraries", behaviours="cues,given_states,restless")
    assert len(crowd(itineraries).id) > 0

    forbidden = play.played(tm_modules="clear_forbidden_zones", tm_obstacles="random")
    assert not any(x > 28.4 and y < 7.4 for x, y in crowd(forbidden).position)
    staged, _ = from_episode(play.played(tm_modules="staged,dynamic_map", tm_obstacles="random"))
    assert (staged.crowd_size, staged.goal_tolerance) == (12, 1.0) and staged.map.name.startswith("barn-")
    graph.publisher("next_stage", Bool).publish(True)
    wait_until(lambda: rospy.get_param(graph.name("curr_stage")) == 1, "the next stage")
    staged, _ = from_episode(play.played(tm_modules="staged,dynamic_map", tm_obstacles="random"))
    assert (staged.crowd_size, staged.goal_tolerance) == (15, 0.75)
    generated, _ = from_episode(play.played(tm_modules="dynamic_map", map_file="dynamic_map"))
    asks, maps = graph.publisher("request_new_map", String, listeners=2), graph.hear("map_generator/exact", Map)
    for generator, name in (("", "barn-"), ("canteen(width=20, obstacle_num=6)", "canteen-")):
        asks.publish(generator)
        play.count += 1
        another, _ = from_episode(play.numbered(play.count))
        assert another.map.name.startswith(name) and another.map.name != generated.map.name
        maps.wait_for(lambda m, name=another.map.name: m.name == name, "the map of the map generator")
    contest = play.played(tm_modules="benchmark", map_file="dynamic_map")
    assert contest.entry.startswith("basic/") and contest.robots[0].interplanner == "bypass"


def test_every_mode_module_and_behaviour_is_played_here_or_with_goals_set_by_hand() -> None:
    words = set().union(*(re.findall(r"\w+", path.read_text()) for path in (Path(__file__), Path(test_goals_by_hand.__file__))))
    refused = {"replay", "axis"}  # the one in every world that map_file can name; the other belongs to the stages of a suite
    for kind in ("robots_modes", "obstacles_modes", "modules", "behaviours"):
        assert set(available(kind)) - refused <= words
