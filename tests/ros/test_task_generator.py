"""The task generator's node with parts that adopt episodes and do nothing with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rospy
from agora_ros.conversions import from_episode, from_pose, to_pose
from agora_task_generator.parameters import Parameters
from agora_task_generator.playlist import driven, playlist_of
from agora_task_generator.reconfigure import Reconfigure
from dynamic_reconfigure.client import Client
from geometry_msgs.msg import PointStamped, PoseStamped, PoseWithCovarianceStamped
from std_msgs.msg import Bool, Int16, String
from std_msgs.msg import Empty as Nothing
from std_srvs.srv import Empty, Trigger
from tests.suites import write_world

from agora.config import dump, load
from agora.errors import InputError
from agora.share import folder
from agora.tasks.generator import TaskGenerator
from agora.tasks.settings import Settings
from agora.tasks.suite import Suite, load_suite, with_seed
from agora.testing.guard import identical
from agora.world.start import PedestrianStarts, Start
from agora_msgs.msg import Episode, EpisodeStatus, Pedestrians, RobotStatus
from agora_msgs.srv import BeginEpisode, Move, PlayEpisode, SetGoal, SetMap

CALM = {"timeout": 30.0, "RANDOM_dynamic_min": 0, "RANDOM_dynamic_max": 1}


def start_of(episode: Any) -> Start:
    """The start in an episode's message."""
    return from_episode(episode)[0]


def crowd_of(episode: Any) -> PedestrianStarts:
    return start_of(episode).pedestrians


class Parts:
    """All the parts of a graph, in this process: what they were told, and a simulator whose status the test says."""

    def __init__(self, graph: Any) -> None:
        self.graph, self.told, self.episodes, self.goals = graph, [], [], {}
        self.status = rospy.Publisher(graph.name("simulator/status"), EpisodeStatus, queue_size=100, latch=True)
        graph.ends.append(self.status)
        self.resets = graph.hear("scenario_reset", Int16)
        graph.serve("map_generator/set_map", SetMap, self.take("map_generator/set_map"))
        for verb in ("pause", "resume"):
            graph.serve(f"simulator/{verb}", Trigger, self.take(f"simulator/{verb}"))
        for part in ("simulator", "pedsim_simulator", "navigation", "recorder"):
            graph.serve(f"{part}/begin", BeginEpisode, self.take(f"{part}/begin"))
        graph.serve("simulator/move", Move, self.take("simulator/move"))
        graph.serve("simulator/set_goal", SetGoal, self.take("simulator/set_goal"))

    def take(self, name: str) -> Any:
        def answer(request: Any) -> tuple[Any, ...]:
            self.told.append((name, request, rospy.get_param(self.graph.name("resetting"), False)))
            if name == "simulator/begin":
                self.episodes.append(request.episode)
                self.goals = {robot.name: RobotStatus(name=robot.name) for robot in request.episode.robots}
                self.say(running=True)
            if name == "simulator/set_goal":
                robot = self.goals[request.robot]
                robot.goal, robot.by_hand, robot.target = robot.goal + 1, robot.by_hand + 1, request.goal
                self.say(running=True)
                return True, "", robot.goal
            return True, ""

        return answer

    def say(self, **fields: Any) -> None:
        """A status of the episode that was begun last."""
        now = self.episodes[-1]
        robots = fields.pop("robots", list(self.goals.values()))
        self.status.publish(EpisodeStatus(number=now.number, entry=now.entry, seed=now.seed, robots=robots, **fields))

    def names(self) -> list[str]:
        return [told[0] for told in self.told]

    def begun(self, wait_until: Any, count: int) -> Any:
        """The episode of begin ``count``, once everybody has it and the simulator goes on."""
        wait_until(lambda: self.names().count("simulator/resume") >= count, f"begin {count}; told: {self.names()}")
        return self.episodes[count - 1]


@pytest.fixture
def parts(graph: Any) -> Parts:
    return Parts(graph)


@pytest.fixture
def start(graph: Any, launch_node: Any) -> Any:
    """Starts the node with parameters of the graph."""

    def go(private: dict[str, Any] | None = None, **params: Any) -> Any:
        usual = {} if "suite" in params or "tm_modules" in params else {"map_file": "hall"}
        for name, value in (usual | params).items():
            graph.param(name, value)
        return launch_node("agora_task_generator", "task_generator_server", **(CALM | (private or {})))

    return go


def test_a_reset_tells_everybody_in_the_order_of_the_contract(graph: Any, parts: Parts, start: Any, wait_until: Any) -> None:
    ends, finished = graph.hear("reset_end", Nothing), graph.hear("scenario_finished", Nothing)
    leaver = graph.launch("agora_task_generator", "until_finished")
    start(tm_obstacles="random", seed=5, episodes=2, record_data=True)
    episode = parts.begun(wait_until, 1)
    assert parts.names() == [
        "simulator/pause", "map_generator/set_map", "simulator/begin", "navigation/begin", "pedsim_simulator/begin",
        "recorder/begin", "simulator/resume",
    ]  # fmt: skip
    resetting = [told[2] for told in parts.told]
    assert resetting == [False, True, True, True, True, True, False]
    assert all(told[1].episode == episode for told in parts.told if told[0].endswith("/begin"))
    parts.resets.wait(1), ends.wait(1)
    robot = episode.robots[0]
    assert rospy.get_param(graph.name("robot_names")) == [robot.name] == ["jackal"]
    assert rospy.get_param(graph.name("jackal/goal")) == [robot.goals[0].x, robot.goals[0].y, robot.goals[0].theta]
    goal = graph.hear("jackal/move_base_simple/goal", PoseStamped).wait(1)[0]  # a late subscriber
    assert np.allclose(from_pose(goal.pose), [robot.goals[0].x, robot.goals[0].y, robot.goals[0].theta])
    made = TaskGenerator(tm_obstacles="random", seed=5)
    made.configure(**CALM)
    for k in range(2):
        assert identical(from_episode(parts.begun(wait_until, k + 1))[0], made.start(k))
        parts.say(done=True)
    finished.wait(1)
    wait_until(lambda: not leaver.running, "the node to leave that roslaunch requires")
    assert [message.data for message in parts.resets.wait(2)] == [1, 2]


def test_what_is_interrupted_is_repeated_and_given_up_after_a_while(graph: Any, parts: Parts, start: Any, wait_until: Any) -> None:
    node = start({"max_reset_fail_times": 3})
    given_up = graph.hear("task_generator_server/given_up", EpisodeStatus)
    first = parts.begun(wait_until, 1)
    for count in (2, 3):
        parts.say(interrupted=True, reason="navigation does not answer")
        assert parts.begun(wait_until, count) == first
    parts.status.publish(EpisodeStatus(number=first.number + 7, entry="another", done=True, interrupted=True))
    parts.say(interrupted=True, reason="navigation does not answer")
    other = parts.begun(wait_until, 4)
    assert (other.number, other.entry) == (2, "task_generator/task/1")
    status = given_up.wait(1)[0]
    assert (status.number, status.reason) == (1, "navigation does not answer")
    node.said("was interrupted: navigation does not answer", "is abandoned")


@pytest.mark.parametrize("suite", ["", "francis2023"])
def test_one_that_was_killed_repeats_what_had_not_ended_and_goes_on_counting(
    graph: Any, parts: Parts, start: Any, wait_until: Any, suite: str
) -> None:
    node = start(suite=suite, seed=4)
    parts.begun(wait_until, 1)
    parts.say(done=True)
    second = parts.begun(wait_until, 2)
    node.kill()
    node = start(suite=suite)
    assert parts.begun(wait_until, 3) == second
    node.said("restarted: episode 2 is repeated")
    parts.say(done=True)
    third = parts.begun(wait_until, 4)
    assert third.number == 3
    node.kill()
    parts.say(done=True)
    node = start(suite=suite)
    fourth = parts.begun(wait_until, 5)
    assert fourth.number == 4 and node.said("restarted: episode 3 had ended; continuing with the next one")
    entries = [episode.entry for episode in parts.episodes]
    assert entries[1] == entries[2] and len(set(entries)) == 4


def test_an_episode_that_was_asked_for_is_repeated_by_one_that_was_killed(
    graph: Any, parts: Parts, start: Any, wait_until: Any
) -> None:
    node = start({"manual": True})
    assert graph.call("task_generator_server/play", PlayEpisode, "francis2023", "frontal_approach", 3).success
    node.kill()
    node = start({"manual": True})
    assert parts.begun(wait_until, 2) == parts.episodes[0]
    parts.say(done=True)
    again = graph.call("task_generator_server/play", PlayEpisode, "francis2023", "frontal_approach", 4)
    assert again.number == 2 and parts.episodes[-1].entry != parts.episodes[0].entry and len(parts.episodes) == 3


def test_a_new_map_that_is_asked_for_is_that_of_the_episodes_from_now_on(
    graph: Any, parts: Parts, start: Any, wait_until: Any
) -> None:
    node = start(map_file="dynamic_map", tm_obstacles="none")
    ask = graph.publisher("request_new_map", String)
    first = start_of(parts.begun(wait_until, 1)).map
    ask.publish("")
    second = start_of(parts.begun(wait_until, 2)).map
    assert (first.name, second.name) == ("barn-0", "barn-1") and not identical(first.occupied, second.occupied)
    ask.publish("canteen(width=14, height=11, obstacle_num=12)")
    wait_until(lambda: "request_new_map is ignored: obstacle_num 12: there is room for" in node.log, "a word")
    ask.publish("canteen(width=20, obstacle_num=6)")
    third = start_of(parts.begun(wait_until, 3)).map
    assert third.name == "canteen-2"
    parts.say(done=True)
    assert identical(start_of(parts.begun(wait_until, 4)).map, third)
    node.kill()
    node = start(map_file="dynamic_map")
    assert identical(start_of(parts.begun(wait_until, 5)).map, third)
    ask.publish("cantine")
    wait_until(lambda: "did you mean 'canteen'?" in node.log, "the nearest name")
    graph.param("tm_modules", "staged,dynamic_map")
    graph.param("tm_obstacles", "random")
    graph.call("reset_task", Empty)
    ask.publish("canteen")
    node.said("request_new_map is ignored: the next episode uses a map of 'barn'", "because of 'staged'")
    graph.param("tm_modules", "")
    graph.param("map_file", "hall")
    graph.call("reset_task", Empty)
    ask.publish("")
    wait_until(lambda: "request_new_map is ignored: only the module 'dynamic_map' generates maps" in node.log, "a refusal")
    assert start_of(parts.episodes[-1]).map.name == "hall"


def stand_in(graph: Any, part: str, **params: Any) -> Any:
    """Start a part as a process of its own."""
    for key, value in params.items():
        graph.param(f"{part}/{key}", value)
    log = graph.folder / f"{part}.{len(graph.nodes)}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("stand_in.py")), part, f"__ns:={graph.namespace}"],
            env=graph.master.env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    from tests.ros.conftest import Node

    graph.nodes.append(Node(part, process, log))
    return graph.nodes[-1]


def test_parts_come_late_answer_late_and_die(graph: Any, start: Any, wait_until: Any) -> None:
    graph.param("navigation", "external")
    numbers, episodes = graph.hear("scenario_reset", Int16), graph.hear("task_generator_server/episode", Episode)
    node = start()
    wait_until(lambda: "simulator/pause for" in node.log, "a word about who is missing")
    made = {part: stand_in(graph, part, slow=6.0) for part in ("map_generator", "simulator")}
    made["pedsim_simulator"] = stand_in(graph, "pedsim_simulator")
    wait_until(lambda: "simulator/begin has not answered for 5 s" in node.log, "a word about who is slow")
    graph.param("simulator/slow", 0.0)
    for count, part in enumerate(("simulator", "pedsim_simulator"), 1):
        wait_until(lambda count=count: node.log.count("episode 1: ") == count, "an episode under way")
        numbers.wait(count)
        made[part].kill()
        wait_until(lambda part=part: f"was interrupted: lost the connection to {part}" in node.log, f"a word about {part}")
        assert len(numbers) == count
        made[part] = stand_in(graph, part)
    numbers.wait(3)
    assert {message.data for message in numbers.messages} == {1}
    for episode in episodes.wait(3):
        episode.header.seq = 0
    assert len(episodes) == 3 and all(episode == episodes[0] for episode in episodes.messages)
    assert node.running


def test_modes_and_settings_are_switched_while_it_runs(
    graph: Any, parts: Parts, start: Any, wait_until: Any, tmp_path: Path
) -> None:
    file = tmp_path / "task_generator.yaml"
    file.write_text((folder("configs") / "task_generator.yaml").read_text())
    node = start({"config": str(file)}, tm_obstacles="none")
    reset = lambda: graph.call("reset_task", Empty)  # noqa: E731
    assert len(crowd_of(parts.begun(wait_until, 1)).id) == 0
    graph.param("tm_obstacles", "random")
    graph.param("task_generator_server/RANDOM_dynamic_min", 3)
    graph.param("task_generator_server/RANDOM_dynamic_max", 3)
    reset()
    assert len(crowd_of(parts.episodes[-1]).id) == 3
    client = Client(graph.name("task_generator_server"), timeout=300)
    client.update_configuration({"RANDOM_dynamic_max": 4, "RANDOM_dynamic_min": 4, "timeout": 12.5})
    reset()
    last = start_of(parts.episodes[-1])
    assert len(last.pedestrians.id) == 4 and last.timeout == 12.5
    for value, seconds in (("auto", None), (9, 9.0), (12.5, 12.5)):
        graph.param("task_generator_server/timeout", value)
        reset()
        assert start_of(parts.episodes[-1]).timeout == seconds or seconds is None
    file.write_text(file.read_text().replace("goal_radius: 1.0", "goal_radius: 0.4"))
    reset()
    last = start_of(parts.episodes[-1])
    assert last.goal_tolerance == 0.4 and last.timeout == 12.5
    file.write_text(file.read_text().replace("goal_radius: 0.4", "goal_radios: 0.7"))
    graph.param("tm_robots", "gided")
    reset()
    log = node.said(f"{file}:", "did you mean 'goal_radius'?", "no robots mode called 'gided'; did you mean 'guided'?")
    assert "Traceback" not in log
    last = start_of(parts.episodes[-1])
    assert last.goal_tolerance == 0.4 and len(last.pedestrians.id) == 4
    said = node.log.count("gided")
    graph.param("map_file", "corridor")
    graph.param("tm_robots", "random")
    reset()
    assert node.log.count("gided") == said
    client.close()


def test_a_parameter_that_is_set_between_reading_and_writing_keeps_its_value(graph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = rospy.get_param

    def late(name: str, *default: Any) -> Any:
        value = read(name, *default)
        if name == "~":
            rospy.set_param("~timeout", 33.0)
        return value

    try:
        monkeypatch.setattr(rospy, "get_param", late)
        settings = Reconfigure("", {})
        monkeypatch.undo()
        assert settings.settings.timeout != 33.0 and read("~timeout") == 33.0
        settings.look(read("~"), {})
        assert settings.settings.timeout == 33.0
        rospy.set_param("~RANDOM_dynamic_max", 5)
        before = read("~")
        rospy.set_param("~timeout", 34.0)
        settings.look(before, {})
        assert settings.settings.parameters()["RANDOM_dynamic_max"] == 5 and read("~timeout") == 34.0
        settings.look(read("~"), {})
        assert settings.settings.timeout == 34.0
        rospy.set_param("~timeout", "soon")
        settings.look(read("~"), {})
        assert float(read("~timeout")) == 34.0
    finally:
        rospy.delete_param("~")


def test_a_wrong_start_waits_until_it_is_right(graph: Any, parts: Parts, start: Any, wait_until: Any) -> None:
    node = start(map_file="hal")
    wait_until(lambda: "no world called 'hal'; did you mean 'hall'?" in node.log, "a word about the map")
    assert not parts.told
    graph.param("map_file", "hall")
    assert start_of(parts.begun(wait_until, 1)).map.name == "hall"
    assert node.log.count("'hal'") == 1


def test_a_goal_arrives_though_the_tool_was_offered_again_while_the_connection_before_was_closing(
    graph: Any, parts: Parts, start: Any, wait_until: Any
) -> None:
    """The end of such a race: RViz offers the topic, the node believes to be subscribed, and the master tells it nothing more."""
    node = start()
    parts.begun(wait_until, 1)
    tool = graph.publisher("move_base_simple/goal", PoseStamped)
    for connection in list(tool.impl.connections):
        connection.close()
    pose = PoseStamped(pose=to_pose((1.5, -0.5, 2.5)))
    pose.header.frame_id = "map"
    arrives = lambda: tool.publish(pose) or "simulator/set_goal" in parts.names()  # noqa: E731
    wait_until(arrives, f"a goal; the node said\n{node.log}")


@pytest.mark.parametrize("text", ["nh_orca", "dwa_ros:sim_time=0.9", "dwa(vx_samples=12)", "teb(max_samples=50)+polite"])
def test_a_local_planner_is_a_planner_or_a_preset_of_one_with_parameters(text: str) -> None:
    (robot,) = driven(Parameters.of({"model": "burger", "local_planner": text}))
    assert (robot.local_planner, robot.planned_here) == (text, True)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"local_planner": "nh_orcas"}, "planner of burger: no planner called 'nh_orcas'; did you mean 'nh_orca'"),
        ({"local_planner": "dwa:max_samples=12"}, "planner of burger: .*max_samples: unknown key"),
        ({"inter_planner": "polit"}, "planner of burger: no interplanner called 'polit'; did you mean 'polite'"),
        ({"navigation": "mbf", "local_planner": "cohn"}, "did you mean 'cohan'"),
    ],
)
def test_a_planner_that_there_is_not_is_refused_with_the_nearest_name(tree: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        driven(Parameters.of({"model": "burger"} | tree))


def test_a_planner_of_move_base_flex_or_of_somebody_else_is_not_looked_at() -> None:
    for tree in ({"navigation": "mbf", "local_planner": "teb"}, {"navigation": "external"}):
        (robot,) = driven(Parameters.of({"model": "burger"} | tree))
        assert not robot.planned_here


def test_a_suite_takes_a_seed_a_number_of_episodes_and_robots_of_its_own_models(tmp_path: Path) -> None:
    suite = load_suite("single_pedestrian")
    parameters = Parameters.of({"suite": "single_pedestrian", "seed": 7, "episodes": 2})
    played = playlist_of(parameters, Settings())
    turns = [played.next(), played.next()]
    assert played.finished and [turn.start.entry for turn in turns] == [suite.entry(*entry) for entry in suite.entries()[:2]]
    assert identical(turns[0].start, with_seed(suite, 7).start(*suite.entries()[0])) and turns[0].start.seed == 7
    whole = playlist_of(Parameters.of({"suite": "single_pedestrian"}), Settings())
    assert whole.next().start.seed == suite.seed and not whole.finished
    with pytest.raises(InputError, match="episodes: suite 'single_pedestrian' has [0-9]+ episodes, got 100000"):
        playlist_of(Parameters.of({"suite": "single_pedestrian", "episodes": 100000}), Settings())
    setup = tmp_path / "setup.yaml"
    setup.write_text("robots:\n- {model: go1, local_planner: dwa}\n")
    other = playlist_of(Parameters.of({"suite": "single_pedestrian", "robot_setup_file": str(setup)}), Settings())
    with pytest.raises(InputError, match="robot_setup_file: model 'go1' has no effect: in stage"):
        other.next()


def test_a_parameter_without_effect_is_refused_when_it_is_given_and_not_when_modes_are_switched() -> None:
    launched = {"tm_robots": "scenario", "scenario_file": "delivery", "map_file": "hospital"}
    Parameters.of(launched)
    switched = launched | {"tm_robots": "random"}
    with pytest.raises(InputError, match="parameters: scenario_file: has no effect with tm_robots: random"):
        Parameters.of(switched)
    assert Parameters.of(switched, launched).tm_robots == "random", "it was given for the mode before"
    with pytest.raises(InputError, match="parameters: scenario_file: has no effect"):
        Parameters.of(switched | {"scenario_file": "waiting_hall"}, switched)


def test_rviz_moves_robots_and_goals(graph: Any, parts: Parts, start: Any, wait_until: Any) -> None:
    robots = graph.folder / "robots.yaml"
    robots.write_text(
        "robots:\n- {model: burger, planner: 'dwa(sim_time=0.9)', amount: 2}\n- {model: jackal, navigation: external}\n"
    )
    node = start(robot_setup_file=str(robots), local_planner="pure_pursuit")
    episode = parts.begun(wait_until, 1)
    driven = [(robot.name, robot.navigation, robot.planner) for robot in episode.robots]
    burgers = [(f"burger_{k}", "agora", "dwa(sim_time=0.9)") for k in range(2)]
    assert driven == [*burgers, ("jackal", "external", "pure_pursuit")]
    goals = {name: graph.hear(f"{name}/move_base_simple/goal", PoseStamped) for name in ("burger_1", "jackal")}
    goals["burger_1"].wait(1)
    pose = PoseStamped(pose=to_pose((1.5, -0.5, 2.5)))
    pose.header.frame_id = "odom"
    tool = graph.publisher("goalpose", PoseStamped)
    tool.publish(pose)
    wait_until(lambda: "no transform from frame 'odom' to map" in node.log, "a word about the frame")
    pose.header.frame_id = "map"
    tool.publish(pose)
    told = goals["burger_1"].wait(2)[-1]
    assert np.allclose(from_pose(told.pose), [1.5, -0.5, 2.5])
    set_goals = [request for name, request, _ in parts.told if name == "simulator/set_goal"]
    wait_until(lambda: parts.names().count("simulator/set_goal") == 3, "a goal for each robot")
    assert {request.robot for _, request, _ in parts.told if hasattr(request, "robot")} == {"burger_0", "burger_1", "jackal"}
    assert np.allclose([set_goals[0].goal.x, set_goals[0].goal.y, set_goals[0].goal.theta], [1.5, -0.5, 2.5])
    assert all(heard[-1].pose == told.pose for heard in goals.values() if heard.wait(2))
    graph.publisher("jackal/move_base_simple/goal", PoseStamped).publish(pose)
    wait_until(lambda: parts.names().count("simulator/set_goal") == 4, "the goal of one robot")
    estimate = PoseWithCovarianceStamped()
    estimate.pose.pose = to_pose((0.5, 0.25, -1.0))
    graph.publisher("initialpose", PoseWithCovarianceStamped).publish(estimate)
    wait_until(lambda: "simulator/move" in parts.names(), "a move")
    move = next(request for name, request, _ in parts.told if name == "simulator/move")
    assert move.names == ["burger_0"] and np.allclose([move.poses[0].x, move.poses[0].y, move.poses[0].theta], [0.5, 0.25, -1.0])
    graph.publisher("clicked_point", PointStamped).publish(PointStamped())
    assert parts.begun(wait_until, 2).number == 2


def test_guided_robots_collect_waypoints_and_go_on_where_everybody_is(
    graph: Any, parts: Parts, start: Any, wait_until: Any
) -> None:
    node = start({"RANDOM_dynamic_min": 2, "RANDOM_dynamic_max": 2}, tm_robots="guided")
    first = parts.begun(wait_until, 1)
    node.said("robots await waypoints; set one with 2D Nav Goal")
    people = graph.publisher("pedsim_simulator/pedestrians", Pedestrians)
    here = Pedestrians(present=b"\1\0", id=[crowd_of(first).id[0], 99], x=[2.25, 0.0], y=[1.75, 0.0], vx=[0.5, 0.0], vy=[0.0, 0.0])
    here.heading, here.radius = [0.75, 0.0], [0.25, 0.3]
    people.publish(here)
    tool = graph.publisher("move_base_simple/goal", PoseStamped)
    tool.publish(PoseStamped(pose=to_pose((-50.0, 3.0, 1.0))))
    wait_until(lambda: "(-50.00, 3.00) has no room" in node.log, "a word about the wall")
    tool.publish(PoseStamped(pose=to_pose((12.0, 8.0, 1.0))))
    second = parts.begun(wait_until, 2)
    tool.publish(PoseStamped(pose=to_pose((5.5, 4.0, 0.0))))
    third = parts.begun(wait_until, 3)
    assert np.allclose([(goal.x, goal.y) for goal in third.robots[0].goals[:4]], [(12.0, 8.0), (5.5, 4.0)] * 2)
    crowd = crowd_of(second)
    assert (*crowd.position[0], crowd.heading[0]) == (2.25, 1.75, 0.75)
    assert crowd.position[1, 0] == crowd_of(first).position[1, 0] and identical(start_of(second).map, start_of(first).map)
    estimate = PoseWithCovarianceStamped()
    estimate.pose.pose = to_pose((4.75, 2.25, -0.5))
    graph.publisher("initialpose", PoseWithCovarianceStamped).publish(estimate)
    robot = parts.begun(wait_until, 4).robots[0]
    assert np.allclose([robot.pose.x, robot.pose.y, robot.pose.theta], [4.75, 2.25, -0.5])
    assert all(np.allclose([goal.x, goal.y], [4.75, 2.25]) for goal in robot.goals)
    parts.say(done=True, robots=[RobotStatus(name="jackal", ended=True, outcome=104, end_time=60.0, goal=79)])
    node.said("episode 4: out of time, 60.0 s, 0 goals reached, 0 contacts")  # it waited where it stood


def test_robots_that_explore_are_put_elsewhere_at_a_timeout(parts: Parts, start: Any, wait_until: Any) -> None:
    node = start({"RANDOM_dynamic_min": 2, "RANDOM_dynamic_max": 2}, tm_robots="explore")
    first = parts.begun(wait_until, 1)
    parts.say(done=True, robots=[RobotStatus(name="jackal", ended=True, outcome=104, end_time=60.0, goal=3, contacts=1)])
    second = parts.begun(wait_until, 2)
    assert identical(crowd_of(second).position, crowd_of(first).position) and identical(start_of(second).map, start_of(first).map)
    assert second.robots[0].pose != first.robots[0].pose
    node.said("episode 1: out of time, 60.0 s, 3 goals reached, 1 contact")
    spawned, hit = RobotStatus(name="spawned", goal=2, outcome=-1), {"ended": True, "outcome": 101, "end_time": 7.6, "contacts": 1}
    parts.say(robots=[RobotStatus(name="jackal"), spawned])
    parts.say(done=True, robots=[RobotStatus(name="jackal", goal=2, by_hand=1, **hit), spawned])
    assert not identical(crowd_of(parts.begun(wait_until, 3)).position, crowd_of(first).position)
    node.said("episode 2: jackal pedestrian collision, 7.6 s, 1 goal reached, goal set by hand, 1 contact; spawned still driving")
    assert [episode.number for episode in parts.episodes] == [1, 2, 3]


def test_a_curriculum_goes_up_and_down(graph: Any, parts: Parts, start: Any, wait_until: Any) -> None:
    stages = graph.folder / "stages.yaml"
    stages.write_text("".join(f"- {{dynamic: {n}, goal_radius: 0.5, map_generator: {{}}}}\n" for n in (1, 2)))
    start({"STAGED_curriculum": str(stages)}, tm_modules="staged, rviz_ui", map_file="hall")
    assert len(crowd_of(parts.begun(wait_until, 1)).id) == 1
    stage = lambda: (rospy.get_param(graph.name("curr_stage")), rospy.get_param(graph.name("last_stage_reached")))  # noqa: E731
    assert stage() == (0, False)
    graph.publisher("next_stage", Bool).publish(True)
    wait_until(lambda: stage() == (1, True), "the next stage")
    graph.call("reset_task", Empty)
    last = start_of(parts.episodes[-1])
    assert len(last.pedestrians.id) == 2 and last.goal_tolerance == 0.5
    graph.publisher("previous_stage", Bool).publish(True)
    wait_until(lambda: stage() == (0, False), "the stage before")


def test_a_suite_is_played_as_the_benchmark_plays_it(graph: Any, parts: Parts, start: Any, wait_until: Any, tmp_path: Path) -> None:
    world = write_world(tmp_path / "crooked")
    values = {"name": "own", "seed": 3, "stages": [{"name": "a", "episodes": 2, "world": {"name": "folder", "path": str(world)}}]}
    (tmp_path / "own.yaml").write_text(dump(values))
    suite = load(tmp_path / "own.yaml", Suite)
    start({"manual": True}, navigation="external", suite="unused")
    play = lambda **what: graph.call("task_generator_server/play", PlayEpisode, suite=str(tmp_path / "own.yaml"), **what)  # noqa: E731
    answer = play(stage="a", episode=1)
    assert (answer.success, answer.number, answer.robots) == (True, 1, ["jackal"])
    assert identical(start_of(parts.episodes[-1]), suite.start("a", 1)) and parts.episodes[-1].seed == 3
    parts.say(done=True)
    refused = play(stage="b", episode=0)
    assert not refused.success and "no stage called 'b'" in refused.message
    refused = play(stage="a", episode=2)
    assert not refused.success and "has 2 episodes, got 2" in refused.message
    assert len(parts.episodes) == 1
    parts.say(interrupted=True)
    assert play(stage="a", episode=0).number == 2


def test_the_suites_that_come_with_agora_are_played_in_their_order(graph: Any, parts: Parts, start: Any, wait_until: Any) -> None:
    start(navigation="external", suite="francis2023")
    suite = load_suite("francis2023")
    for count, (stage, episode) in enumerate(suite.entries()[:3], 1):
        told = parts.begun(wait_until, count)
        assert told.entry == suite.entry(stage, episode)
        assert identical(from_episode(told)[0], suite.start(stage, episode))
        parts.say(done=True)


def test_contestants_of_a_benchmark_take_turns(graph: Any, parts: Parts, start: Any, wait_until: Any) -> None:
    start(tm_modules="benchmark")
    parts.begun(wait_until, 1)
    from agora.tasks.modules.benchmark import Benchmark

    contestant = Benchmark().contestant(0)
    robot = parts.episodes[0].robots[0]
    assert (robot.planner, robot.interplanner) == (contestant.local_planner, contestant.inter_planner)


def test_names_that_would_be_one_in_ros_are_refused(graph: Any, parts: Parts, start: Any, wait_until: Any) -> None:
    jackal = (Path(__file__).parents[2] / "configs" / "robots" / "jackal.yaml").read_text()
    lines = ["robots:"]
    for number, name in enumerate(("my robot", "my-robot")):
        (graph.folder / f"{number}.yaml").write_text(jackal.replace("name: jackal", f"name: {name}"))
        lines.append(f"- model: {graph.folder / str(number)}.yaml")
    setup = graph.folder / "robots.yaml"
    setup.write_text("\n".join(lines))
    node = start(robot_setup_file=str(setup))
    words = "robots 'my robot' and 'my-robot' would both be named 'my_robot' in ROS: rename one of the models"
    wait_until(lambda: words in node.log, words)
    assert not parts.told and node.running and "Traceback" not in node.log


def test_a_wrong_robot_setup_is_said_with_its_line(graph: Any, parts: Parts, start: Any, wait_until: Any) -> None:
    setup = graph.folder / "robots.yaml"
    setup.write_text("robots:\n- {model: jakal}\n")
    node = start(robot_setup_file=str(setup))
    wait_until(lambda: f"{setup}:2" in node.log and "did you mean 'jackal'?" in node.log, "file, line and nearest name")
    assert not parts.told and os.path.exists(setup)
