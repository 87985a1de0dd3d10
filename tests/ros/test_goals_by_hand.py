"""A goal that is set by hand in the graph that really plays: the status, the navigation and the announcements say the same goal.

One graph in lock step and one that runs freely, switched between the task modes; `test_rviz` has the mouse in front of it.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import actionlib
import numpy as np
import pytest
import rospy
from actionlib_msgs.msg import GoalStatus
from agora_ros.conversions import from_episode, from_pose, to_pose
from geometry_msgs.msg import PointStamped, Pose2D, PoseStamped, PoseWithCovarianceStamped
from move_base_msgs.msg import MoveBaseAction, MoveBaseGoal
from nav_msgs.msg import Path as PathMessage
from sensor_msgs.msg import LaserScan
from std_srvs.srv import Empty, Trigger
from tests.ros.conftest import Graph, wait_until

from agora.core.recording import Outcome
from agora_msgs.msg import Entity, Episode, EpisodeStatus, Pedestrians, Robots
from agora_msgs.srv import Delete, SetGoal, Spawn

NODES = {
    "agora_simulators": "simulator",
    "agora_pedsim": "pedsim_simulator",
    "agora_map_generator": "map_generator",
}
EXAMPLE = Path(__file__).parents[2] / "examples" / "ros_planner.py"
STARTS = [[1.2, 5.0, 0.0], [5.6, 6.8, 1.0], [10.2, 5.2, -2.0]]
GOALS = [[13.8, 4.6, 0.0], [9.0, 1.4, 0.5], [2.2, 8.2, 0.0]]
MODES: dict[str, dict[str, Any]] = {
    "random": {},
    "explore": {"tm_robots": "explore"},
    "scenario": {"tm_robots": "scenario", "tm_obstacles": "scenario"},
    "staged": {"tm_modules": "staged,dynamic_map", "map_file": "dynamic_map", "tm_obstacles": "random"},
    "zones": {"tm_robots": "zones", "map_file": "hospital"},
}
PLAIN = {"tm_robots": "random", "tm_obstacles": "none", "tm_modules": "", "map_file": "hall", "model": "burger"}


class Play:
    """The graph, what was heard of it, and the clicks into it."""

    def __init__(
        self, graph: Graph, synchronous: bool, drivers: tuple[str, ...] = ("navigation",), navigation: str = "agora"
    ) -> None:
        self.graph = graph
        fixed = {
            **({} if navigation == "external" else {"local_planner": "dwa"}),
            "seed": 6,
            "synchronous": synchronous,
            "navigation": navigation,
            **({} if synchronous else {"time_scale": 2.0}),
        }
        for name, value in {**PLAIN, **fixed}.items():
            graph.param(name, value)
        for count in (1, 3):
            robots = [{"start": start, "goal": goal} for start, goal in zip(STARTS[:count], GOALS, strict=False)]
            empty = {"static": [], "interactive": [], "dynamic": []}
            (graph.folder / f"{count}.json").write_text(json.dumps({"robots": robots, "obstacles": empty}))
        other = "{model: burger, local_planner: pure_pursuit}" if navigation == "agora" else "{model: burger}"
        (graph.folder / "three.yaml").write_text(
            f"robots:\n- {{model: waffle, amount: 2}}\n- {other}\n"
        )  # slow: a click is in time
        self.episodes = graph.hear("task_generator_server/episode", Episode)
        self.statuses = graph.hear("simulator/status", EpisodeStatus)
        self.robots: Any = None
        self.timeout = 200.0  # s, another one for each switch: an episode says by it after which switch it began
        graph.ends.append(rospy.Subscriber(graph.name("simulator/robots"), Robots, self._see, queue_size=1))
        self.nodes = [
            graph.launch(package, node, f"{node}_node" if node in ("simulator", "navigation") else node)
            for package, node in (*NODES.items(), *(("agora_navigation", driver) for driver in drivers))
        ]
        self.server = graph.launch("agora_task_generator", "task_generator_server", patience=300.0)
        self.nodes.append(self.server)
        self.tool = graph.publisher("move_base_simple/goal", PoseStamped)  # as RViz does

    def _see(self, message: Any) -> None:
        self.robots = message

    def logs(self) -> str:
        return "\n".join(f"{node.name}: {node.log[-1500:]}" for node in self.nodes)

    def switched(self, mode: str, count: int, **more: Any) -> Any:
        """The first episode of a mode."""
        setup = str(self.graph.folder / "three.yaml") if count == 3 else ""
        scenario = str(self.graph.folder / f"{count}.json")
        for name, value in {**PLAIN, **MODES.get(mode, {"tm_robots": mode}), **more}.items():
            self.graph.param(name, value)
        self.graph.param("robot_setup_file", setup)
        self.graph.param("scenario_file", scenario if mode == "scenario" else "")
        self.timeout += 1.0
        self.graph.param("task_generator_server/timeout", self.timeout)
        self.graph.call("reset_task", Empty)
        wait_until(self.has_switched, f"another episode\n{self.logs()}")
        self.robots = None
        return self.episode

    def has_switched(self) -> bool:
        """Whether the episode under way began after the last switch."""
        return self.episode.number > 0 and from_episode(self.episode)[0].timeout == self.timeout

    @property
    def episode(self) -> Any:
        """The episode under way."""
        return self.episodes[-1] if len(self.episodes) else Episode()

    def place(self, robot: int, away: tuple[float, float] = (1.3, 2.5)) -> list[float]:
        """Wait until the robot can drive straight to a free pose that is not one of its goals, and return that pose."""
        return wait_until(lambda: self._place(robot, away), f"a place for robot {robot} to go to\n{self.logs()}")

    def _place(self, robot: int, away: tuple[float, float]) -> list[float] | None:
        episode, robots = self.episode, self.robots
        if robots is None or len(robots.name) != len(episode.robots):
            return None
        field, here = from_episode(episode)[0].map, np.array([robots.x[robot], robots.y[robot]])
        for turn in np.arange(0.1, math.tau, 0.2):
            ray = np.array([math.cos(turn), math.sin(turn)])
            for far in away:
                line = here + np.linspace(0.0, far, 20)[:, None] * ray
                if field.contains(line).all() and (field.clearance_at(line) > 0.35).all():
                    return [*line[-1].tolist(), float(turn)]
        return None

    def click(self, pose: Any, topic: Any = None, frame: str = "map") -> None:
        message = PoseStamped(pose=to_pose(pose))
        message.header.frame_id = frame
        (topic or self.tool).publish(message)

    def status(self, told: Any, what: str, seconds: float = 300.0) -> Any:
        """The first status of the present episode or a later one that is so."""
        since = self.episode.number
        there = lambda: [s for s in list(self.statuses.messages) if s.number >= since and told(s)]  # noqa: E731
        return wait_until(there, f"{what}\n{self.logs()}", seconds)[0]

    def ended(self, number: int) -> Any:
        return self.status(lambda s: s.number == number and s.done, f"the end of episode {number}", 120)

    def is_well(self) -> None:
        """No node has died, or said anything that is no sentence."""
        assert all(node.running and "Traceback" not in node.log for node in self.nodes), self.logs()


def near(target: Any, pose: Any) -> bool:
    return bool(np.allclose([target.x, target.y, target.theta], pose, atol=1e-4))


@pytest.fixture(scope="module", params=[True, False], ids=["lock step", "free"])
def play(master: Any, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    graph = Graph(master, f"/by_hand_{int(request.param)}", tmp_path_factory.mktemp("by_hand"))
    yield Play(graph, request.param)
    graph.close()


def test_the_client_of_move_base_flex_drives_to_goals_that_were_set_by_hand(graph: Any) -> None:
    play = Play(graph, False, ("mbf_server", "mbf_client"), "mbf")
    play.switched("scenario", 1)
    action = Action(play, "burger")
    pose = play.place(0)
    play.click(pose)
    play.status(reached_at(pose), "the robot at the clicked goal", 120)
    play.switched("scenario", 1)
    action.send((-0.25, 4.0, 0.0))
    action.ends(GoalStatus.ABORTED, "from an obstacle")
    pose = play.place(0)
    action.send(pose)
    play.status(reached_at(pose), "the robot at the goal of the action", 120)
    play.is_well()


def test_a_planner_of_ones_own_is_told_of_goals_that_were_set_by_hand(graph: Any) -> None:
    play = Play(graph, False, (), "external")
    play.switched("scenario", 1)
    env = graph.master.env | {"ROS_NAMESPACE": graph.namespace}
    with subprocess.Popen([sys.executable, str(EXAMPLE), "_robot:=burger"], env=env) as planner:
        pose = play.place(0)
        play.click(pose)
        play.status(reached_at(pose), "the robot at the clicked goal", 120)
        planner.send_signal(signal.SIGINT)
    play.is_well()


@pytest.mark.parametrize("count", [1, 3], ids=["one robot", "three robots"])
@pytest.mark.parametrize("mode", MODES)
def test_every_robot_goes_where_somebody_clicked_and_everybody_says_that_goal(play: Play, mode: str, count: int) -> None:
    episode = play.switched(mode, count)
    names = [robot.name for robot in episode.robots]
    announced = {name: play.graph.hear(f"{name}/move_base_simple/goal", PoseStamped) for name in names}
    pose = play.place(0)
    play.click(pose)
    clicked = play.status(lambda s: all(r.by_hand and near(r.target, pose) for r in s.robots), "the goal of every robot")
    assert len(clicked.robots) == count and all(robot.goal > 0 for robot in clicked.robots)
    for name in names:
        announced[name].wait_for(lambda m: np.allclose(from_pose(m.pose), pose, atol=1e-4), f"the goal of {name}, announced")
    if count == 1:  # several robots on their way to one place get into each other's way
        (robot,) = play.ended(clicked.number).robots
        assert robot.outcome == Outcome.REACHED and near(robot.target, pose)
        play.server.said(f"episode {clicked.number}: reached", "goal set by hand")
    play.is_well()


def test_each_of_three_robots_has_a_goal_of_its_own_and_the_episode_ends_when_all_are_there(play: Play) -> None:
    episode = play.switched("scenario", 3)
    poses = {}
    for r, robot in enumerate(episode.robots):
        poses[robot.name] = play.place(r)
        play.click(poses[robot.name], play.graph.publisher(f"{robot.name}/move_base_simple/goal", PoseStamped))
    end = play.ended(episode.number)
    found = [(r.name, r.by_hand, Outcome(r.outcome), near(r.target, poses[r.name])) for r in end.robots]
    assert found == [(name, 1, Outcome.REACHED, True) for name in poses]
    play.is_well()


def test_a_click_in_guided_adds_a_waypoint_to_which_the_robot_drives_and_pedestrians_stay_where_they_are(play: Play) -> None:
    play.graph.param("task_generator_server/RANDOM_dynamic_min", 3)
    first = play.switched("guided", 1, tm_obstacles="random")
    crowd = play.graph.hear("pedsim_simulator/pedestrians", Pedestrians)
    crowd.wait_for(lambda m: m.step > 20, f"pedestrians that walk\n{play.logs()}")
    pose = play.place(0)
    play.click(pose)
    goes = lambda: any(math.dist((g.x, g.y), pose[:2]) < 1e-3 for g in play.episode.robots[0].goals[:2])  # noqa: E731
    wait_until(goes, f"the waypoint\n{play.logs()}")
    begun, seen = from_episode(play.episode)[0].pedestrians, list(crowd.messages)
    walked = [dict(zip(m.id, zip(m.x, m.y, strict=True), strict=True)) for m in seen]
    for number, place in zip(begun.id, begun.position, strict=True):
        assert min(math.dist(m[number], place) for m in walked if number in m) < 0.3
    assert not np.allclose(begun.position, from_episode(first)[0].pedestrians.position, atol=0.05)
    there = lambda: math.dist((play.robots.x[0], play.robots.y[0]), pose[:2]) < 1.0  # noqa: E731
    wait_until(there, f"the robot at the waypoint\n{play.logs()}")
    play.is_well()


def test_2d_pose_estimate_moves_the_robot_which_drives_on_from_there_and_publish_point_begins_the_next_episode(play: Play) -> None:
    episode = play.switched("scenario", 1)
    pose, estimate = (8.0, 1.6, 0.0), PoseWithCovarianceStamped()
    estimate.header.frame_id, estimate.pose.pose = "map", to_pose(pose)
    path = play.graph.hear("burger/global_plan", PathMessage)
    play.graph.publisher("initialpose", PoseWithCovarianceStamped).publish(estimate)
    begins = lambda m: m.poses and np.allclose(from_pose(m.poses[0].pose)[:2], pose[:2], atol=0.5)  # noqa: E731
    ends = lambda m: np.allclose(from_pose(m.poses[-1].pose)[:2], GOALS[0][:2], atol=0.1)  # noqa: E731
    path.wait_for(lambda m: begins(m) and ends(m), f"a path from there to the goal of before\n{play.logs()}")
    play.graph.publisher("clicked_point", PointStamped).publish(PointStamped())
    wait_until(lambda: play.episode.number > episode.number, "the next episode")
    play.is_well()


def test_a_goal_where_no_robot_can_be_is_refused_and_the_robot_keeps_the_one_it_has(play: Play) -> None:
    play.switched("scenario", 1)
    refused = [((-90.0, 3.0, 0.0), "is outside the map"), ((-0.25, 4.0, 0.0), "from an obstacle, but the robot needs")]
    for pose, words in refused:
        play.click(pose)
        play.server.said("a goal is ignored", words)
    play.click((math.nan, 1.0, 0.0))
    play.server.said("three finite numbers")
    assert all(robot.by_hand == 0 for robot in play.statuses[-1].robots)
    answer = play.graph.call("simulator/set_goal", SetGoal, "burgr", Pose2D(1.0, 1.0, 0.0))
    assert not answer.success and "did you mean 'burger'" in answer.message
    play.is_well()


def test_a_goal_in_the_robots_frame_is_one_on_the_map_and_one_in_a_frame_that_nobody_knows_is_refused(play: Play) -> None:
    play.switched("scenario", 1)
    play.click((1.0, 0.0, 0.0), frame="nowhere")
    play.server.said("no transform from frame 'nowhere' to map")
    play.click((0.5, 0.25, 0.0), frame="burger/odom")  # the same as the map's
    play.status(lambda s: s.robots[0].by_hand, "a goal in the frame of odometry")
    assert not near(play.statuses[-1].robots[0].target, GOALS[0])
    play.is_well()


def test_robots_and_map_stay_while_an_episode_is_played_and_a_shelf_that_is_put_into_it_is_seen_by_the_robot(play: Play) -> None:
    play.graph.param("task_generator_server/RANDOM_dynamic_min", 3)
    play.switched("scenario", 1, tm_obstacles="random")
    crowd, scans = play.graph.hear("pedsim_simulator/pedestrians", Pedestrians), play.graph.hear("burger/scan", LaserScan)
    crowd.wait_for(lambda m: m.step > 5, f"pedestrians that walk\n{play.logs()}")
    assert play.graph.call("simulator/pause", Trigger).success
    x, y, turn = play.place(0, (1.3,))
    shelf, other = Entity(kind="obstacle", name="shelf", model="shelf"), Entity(kind="robot", name="other", model="burger")
    shelf.pose.x, shelf.pose.y = x, y
    for name, kind, asked in (("spawn", Spawn, [other]), ("delete", Delete, ["burger"])):
        answer = play.graph.call(f"simulator/{name}", kind, asked)
        assert not answer.success and " episode; " in answer.message, name
    assert play.graph.call("simulator/spawn", Spawn, [shelf]).success
    assert play.graph.call("simulator/resume", Trigger).success
    beam = round((turn - play.robots.heading[0] + math.pi) % math.tau / math.tau * 360)
    scans.wait_for(lambda m: min(m.ranges[max(0, beam - 8) : beam + 8]) < 1.2, f"the shelf in a scan\n{play.logs()}")
    step = crowd[-1].step
    crowd.wait_for(lambda m: m.step > step + 30, f"pedestrians that go on\n{play.logs()}")
    assert not any(status.interrupted for status in play.statuses.messages), play.logs()
    play.is_well()


def test_a_robot_that_has_ended_is_under_way_again_for_a_whole_time_limit(play: Play) -> None:
    episode = play.switched("scenario", 3)
    names = [robot.name for robot in episode.robots]
    first = play.graph.publisher(f"{names[0]}/move_base_simple/goal", PoseStamped)
    play.click(play.place(0), first)
    play.status(lambda s: s.number == episode.number and s.robots[0].ended, "the first robot at its goal")
    pose = play.place(0, (2.0,))
    play.click(pose, first)
    again = play.status(lambda s: s.number == episode.number and s.robots[0].by_hand == 2, "its second goal")
    assert not again.robots[0].ended and near(again.robots[0].target, pose)
    end = play.status(lambda s: s.number == episode.number and s.robots[0].by_hand == 2 and s.robots[0].ended, "its end", 120)
    assert end.robots[0].outcome == Outcome.REACHED
    play.is_well()


class Action:
    """A client of the action ``move_base`` of a robot."""

    def __init__(self, play: Play, robot: str) -> None:
        self.play, self.client = play, actionlib.SimpleActionClient(play.graph.name(f"{robot}/move_base"), MoveBaseAction)
        wait_until(lambda: self.client.wait_for_server(rospy.Duration(0.1)), f"the action\n{play.logs()}")

    def send(self, pose: Any) -> None:
        goal = MoveBaseGoal()
        goal.target_pose.header.frame_id, goal.target_pose.pose = "map", to_pose(pose)
        self.client.send_goal(goal)

    def ends(self, state: int, words: str = "") -> None:
        wait_until(lambda: self.client.get_state() == state, f"the action to end as {state}\n{self.play.logs()}")
        assert words in self.client.get_goal_status_text()


@pytest.mark.parametrize("play", [False], indirect=True, ids=["free"])
def test_goals_of_the_action_are_goals_of_the_episode(play: Play) -> None:
    episode = play.switched("scenario", 3)
    name = episode.robots[0].name
    action = Action(play, name)
    action.send((-0.25, 4.0, 0.0))
    action.ends(GoalStatus.ABORTED, "from an obstacle")
    pose = play.place(0)
    action.send(pose)
    play.status(lambda s: s.number == episode.number and near(s.robots[0].target, pose), "the goal in the status")
    action.ends(GoalStatus.SUCCEEDED)
    play.status(lambda s: s.number == episode.number and s.robots[0].outcome == Outcome.REACHED, "the robot's end")
    action.send(play.place(0, (2.5,)))
    play.status(lambda s: s.robots[0].by_hand == 2, "another goal")
    play.click(play.place(0), play.graph.publisher(f"{name}/move_base_simple/goal", PoseStamped))
    action.ends(GoalStatus.ABORTED, "replaced by another goal")
    play.is_well()


def reached_at(pose: Any) -> Any:
    return lambda s: s.robots and near(s.robots[0].target, pose) and s.robots[0].outcome == Outcome.REACHED
