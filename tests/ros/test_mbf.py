"""The Move Base Flex client: against a stand-in of its two actions, and against the real one where ``AGORA_REAL_MBF`` names it.

``AGORA_REAL_MBF`` is a script that starts, on the master of the environment, a simulator with a robot at (2, 2) on a map of 10 x 10
m with a block in the middle, ``/odometry/filtered`` and ``/scan`` of 360 beams, and ``/move_base_flex`` with the planner ``navfn``,
the controller ``dwa``, and in its global costmap an obstacle layer that reads ``/people`` (PointCloud2); it ends them when it is
ended.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import threading

import actionlib
import numpy as np
import pytest
import rospy
from actionlib_msgs.msg import GoalStatus
from agora_ros.conversions import from_pose, to_pose
from dynamic_reconfigure.msg import Config, DoubleParameter
from dynamic_reconfigure.srv import Reconfigure, ReconfigureResponse
from geometry_msgs.msg import PoseStamped
from mbf_msgs.msg import ExePathAction, ExePathResult, GetPathAction, GetPathGoal, GetPathResult
from move_base_msgs.msg import MoveBaseAction, MoveBaseGoal
from nav_msgs.msg import Odometry, Path
from nav_msgs.srv import GetPlan
from rosgraph_msgs.msg import Clock
from sensor_msgs import point_cloud2
from sensor_msgs.msg import LaserScan, PointCloud2
from std_msgs.msg import Header

from agora.core.recording import Reason
from agora_msgs.msg import Notes, Pedestrians

AWAY = [10.0, 10.0]


def somebody(x, y):
    zero = {n: [0] for n in ("vy", "heading", "speed", "type", "state", "stress", "energy", "social", "partner")}
    return Pedestrians(x=[x], y=[y], vx=[-0.4], radius=[0.3], id=[7], group=[-1], present=bytes([1]), **zero)


class StandIn:
    """A Move Base Flex whose robot goes along its path at the controller's speed, and the clock."""

    def __init__(self, graph):
        self.graph, self.time, self.pose = graph, 10.0, np.array([1.0, 0.5, 0.3])
        self.speed, self.path, self.planned, self.executed, self.fails = 0.8, np.zeros((0, 2)), 0, [], 0
        self.speeds, self.person, self.stop, self.answers = [], AWAY, threading.Event(), threading.Event()
        self.lives, self.stands = threading.Event(), False
        self.answers.set(), self.lives.set()
        name = graph.name("robot/move_base_flex")
        self.get = actionlib.SimpleActionServer(f"{name}/get_path", GetPathAction, self._get_path, auto_start=False)
        self.exe = actionlib.SimpleActionServer(f"{name}/exe_path", ExePathAction, self._exe_path, auto_start=False)
        self.get.start(), self.exe.start()
        graph.serve("robot/move_base_flex/dwa/set_parameters", Reconfigure, self._configure)
        self.told = rospy.Publisher(f"{name}/dwa/parameter_updates", Config, queue_size=1, latch=True)
        names = {"max_vel_x": 0.8, "max_vel_trans": 0.9, "min_vel_x": 0.0}
        self.told.publish(Config(doubles=[DoubleParameter(*item) for item in names.items()]))
        self.odometry = rospy.Publisher(graph.name("robot/odom"), Odometry, queue_size=1)
        self.people = rospy.Publisher(graph.name("pedsim_simulator/pedestrians"), Pedestrians, queue_size=1)
        self.clock = rospy.Publisher("/clock", Clock, queue_size=1)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _configure(self, request):
        self.lives.wait(20)
        self.speeds.append({d.name: d.value for d in request.config.doubles})
        self.speed = self.speeds[-1]["max_vel_x"]
        return ReconfigureResponse(request.config)

    def _get_path(self, goal):
        self.planned += 1
        result = GetPathResult(outcome=GetPathResult.SUCCESS)
        self.answers.wait(20)
        if self.fails:
            self.fails -= 1
            self.get.set_aborted(GetPathResult(outcome=GetPathResult.NO_PATH_FOUND, message="walls"), "walls")
            return
        end = from_pose(goal.target_pose.pose)[:2]
        for share in np.linspace(0.0, 1.0, 40):
            place = (1 - share) * self.pose[:2] + share * end
            result.path.poses.append(PoseStamped(pose=to_pose((*place, 0.0))))
        self.get.set_succeeded(result)

    def _exe_path(self, goal):
        if not goal.path.poses:  # the real one aborts with 111, or ends with a fault where its controller is at work
            self.executed.append((np.zeros((0, 2)), goal.controller, 0.0))
            self.exe.set_aborted(ExePathResult(outcome=ExePathResult.INVALID_PATH, message="empty plan"), "empty plan")
            return
        path = np.array([from_pose(p.pose)[:2] for p in goal.path.poses])
        self.executed.append((path, goal.controller, from_pose(goal.path.poses[-1].pose)[2]))
        self.path = path
        while not self.exe.is_preempt_requested() and not self.stop.is_set():
            if len(self.path) == 0:
                self.exe.set_succeeded(ExePathResult(outcome=ExePathResult.SUCCESS))
                return
            rospy.rostime.wallsleep(0.005)
        self.lives.wait(20)
        self.exe.set_preempted(ExePathResult(outcome=ExePathResult.CANCELED))
        if not self.exe.is_new_goal_available():
            self.path = np.zeros((0, 2))

    def _run(self):
        while not self.stop.wait(0.01):
            self.time += 0.1
            way = 0.0 if self.stands else 0.1 * self.speed
            while len(self.path) and way > 0:
                leg = self.path[0] - self.pose[:2]
                step = min(way, float(np.hypot(*leg)))
                self.pose[:2] += step * leg / max(np.hypot(*leg), 1e-9)
                way -= step
                if math.dist(self.pose[:2], self.path[0]) < 1e-6:
                    self.path = self.path[1:]
            stamp = rospy.Time.from_sec(self.time)
            self.clock.publish(Clock(stamp))
            message = Odometry()
            message.header.frame_id, message.header.stamp, message.pose.pose = "map", stamp, to_pose(self.pose)
            self.odometry.publish(message)
            self.people.publish(somebody(*self.person))

    def close(self):
        self.stop.set()
        self.thread.join()


@pytest.fixture
def mbf(graph):
    made = StandIn(graph)
    yield made
    made.close()


def client(graph, wait_until, inter):
    graph.param("model", "burger")
    graph.param("inter_planner", inter)
    node = graph.launch("agora_navigation", "mbf_client", robots=["robot"], controller="dwa", retries=2)
    action = actionlib.SimpleActionClient(graph.name("robot/move_base"), MoveBaseAction)
    wait_until(lambda: action.wait_for_server(rospy.Duration(0.2)), "move_base of the client")
    return node, action


def send(action, x, y, heading=0.7):
    goal = MoveBaseGoal()
    goal.target_pose.header.frame_id, goal.target_pose.pose = "map", to_pose((x, y, heading))
    action.send_goal(goal)


def over(action, state):
    return lambda: action.get_state() == state


def complaints(node) -> list[str]:
    """The lines of a node, but that it waited: the clock of the stand-in outruns a machine that is busy."""
    return [line for line in node.log.splitlines() if "waiting for Move Base Flex" not in line]


def test_with_bypass_the_path_of_move_base_flex_is_executed_as_it_is(graph, mbf, wait_until):
    _, action = client(graph, wait_until, "bypass")
    send(action, 3.0, 2.0)
    wait_until(over(action, GoalStatus.SUCCEEDED), "the goal")
    path, controller, heading = mbf.executed[0]
    assert path[0] == pytest.approx((1.0, 0.5)) and path[-1] == pytest.approx((3.0, 2.0))
    assert (controller, len(path), mbf.speeds) == ("dwa", 40, []) and heading == pytest.approx(0.7)
    assert mbf.planned >= 2, "it plans again on the way"
    assert mbf.pose[:2] == pytest.approx((3.0, 2.0), abs=0.01)


def test_polite_backs_away_slowly_and_goes_on_when_the_pedestrian_has_gone(graph, mbf, wait_until):
    _, action = client(graph, wait_until, "polite")
    noted = graph.hear("navigation/notes", Notes)
    graph.publisher("robot/scan", LaserScan).publish(LaserScan(ranges=[3.4] * 360))
    mbf.person, mbf.speed = [2.2, 1.0], 0.0  # it stands until the client has seen who is there
    send(action, 5.0, 2.0)
    back = wait_until(lambda: next((e for e in mbf.executed if e[0][-1][0] < 0.0), None), "a path backwards")
    way = back[0][-1] - back[0][0]
    told = noted.wait_for(lambda m: m.reason[0] == Reason.RETREATING, "why it goes back")
    assert (told.name, told.speed_limit) == (["robot"], (0.5,))
    assert way == pytest.approx((-2 * math.cos(0.3), -2 * math.sin(0.3)), abs=0.02), "2 m straight back from where it was"
    assert back[2] == pytest.approx(0.3, abs=1e-3), "it keeps its heading"
    wait_until(lambda: mbf.speeds, "a slower controller")
    assert mbf.speeds[0] == pytest.approx({"max_vel_x": 0.4, "max_vel_trans": 0.45})
    mbf.person = AWAY
    wait_until(over(action, GoalStatus.SUCCEEDED), "the goal")
    assert mbf.pose[:2] == pytest.approx((5.0, 2.0), abs=0.01)
    assert mbf.speeds[-1] == pytest.approx({"max_vel_x": 0.8, "max_vel_trans": 0.9})


def test_a_client_that_ends_stops_the_robot_and_gives_the_speed_back(graph, mbf, wait_until):
    node, action = client(graph, wait_until, "polite")
    graph.publisher("robot/scan", LaserScan).publish(LaserScan(ranges=[3.4] * 360))
    mbf.person, mbf.stands = [2.2, 1.0], True  # so that its way back is not over before anybody has looked
    send(action, 40.0, 2.0)
    wait_until(lambda: mbf.speeds and len(mbf.path), "a slow way back")
    node.send(signal.SIGINT)
    wait_until(lambda: len(mbf.path) == 0, "the robot to stop")
    wait_until(lambda: mbf.speed == pytest.approx(0.8), "the whole speed")
    told = len(mbf.executed)
    wait_until(lambda: not node.running, "the end of the node")
    assert len(mbf.executed) == told and (node.process.returncode, complaints(node)) == (0, [])


def test_a_client_that_ends_together_with_move_base_flex_says_nothing(graph, mbf, wait_until):
    """As by Ctrl-C in roslaunch: nobody cancels what is under way, and a call is begun and never answered."""
    node, action = client(graph, wait_until, "polite")
    graph.publisher("robot/scan", LaserScan).publish(LaserScan(ranges=[3.4] * 360))
    mbf.person, mbf.stands = [2.2, 1.0], True  # so that its way back is not over before anybody has looked
    send(action, 40.0, 2.0)
    wait_until(lambda: mbf.speeds and len(mbf.path), "a slow way back")
    mbf.lives.clear()
    node.send(signal.SIGINT)
    wait_until(lambda: not node.running, "the end of the node")
    mbf.lives.set()
    assert (node.process.returncode, complaints(node)) == (0, [])


def test_a_cancelled_goal_cancels_the_controller_and_a_failure_is_explained(graph, mbf, wait_until):
    node, action = client(graph, wait_until, "bypass")
    send(action, 40.0, 2.0)
    wait_until(lambda: len(mbf.path), "a path under way")
    action.cancel_goal()
    wait_until(over(action, GoalStatus.PREEMPTED), "the cancelled goal")
    wait_until(lambda: not mbf.exe.is_active(), "the controller to be cancelled")
    mbf.planned, mbf.fails = 0, 3
    send(action, 5.0, 5.0)
    wait_until(over(action, GoalStatus.ABORTED), "the answer")
    assert action.get_goal_status_text() == "get_path: no path found (56); walls"
    words = "get_path: no path found (56); walls"
    assert node.said(words).count(words) == 1
    assert mbf.planned == 3, "once, and two retries"
    assert all(len(path) for path, *_ in mbf.executed), "without a path the controller is told nothing"


def test_without_a_path_it_asks_again_and_a_goal_can_be_cancelled_meanwhile(graph, mbf, wait_until):
    _, action = client(graph, wait_until, "bypass")
    mbf.fails = 2
    send(action, 3.0, 2.0)
    wait_until(over(action, GoalStatus.SUCCEEDED), "the goal, planned at the third attempt")
    assert mbf.planned >= 3 and all(len(path) for path, *_ in mbf.executed)
    told, mbf.fails = len(mbf.executed), 3
    mbf.answers.clear()
    send(action, 40.0, 2.0)
    wait_until(lambda: action.get_state() == GoalStatus.ACTIVE, "the goal to be pursued")
    action.cancel_goal()
    rospy.rostime.wallsleep(0.1)
    mbf.answers.set()
    wait_until(over(action, GoalStatus.PREEMPTED), "the cancelled goal")
    assert len(mbf.executed) == told


def test_a_failure_of_get_path_on_the_way_leaves_the_robot_on_its_path(graph, mbf, wait_until):
    _, action = client(graph, wait_until, "bypass")
    send(action, 40.0, 2.0)
    for times in (1, 2):
        wait_until(lambda: len(mbf.path), "a path under way")
        planned, mbf.fails = mbf.planned, 2
        wait_until(lambda p=planned: mbf.planned > p + 2 and not mbf.fails, f"two failures in a row and a path, time {times}")
    assert action.get_state() == GoalStatus.ACTIVE


def test_a_plan_on_request_is_of_its_own_goal_though_the_robot_is_planned_for_meanwhile(graph, mbf, wait_until):
    _, action = client(graph, wait_until, "bypass")
    send(action, 40.0, 2.0)
    wait_until(lambda: len(mbf.path), "a path under way")
    asked = PoseStamped(pose=to_pose((-3.0, 7.0, 0.0)))
    for _ in range(10):
        plan = graph.call("robot/move_base/make_plan", GetPlan, PoseStamped(), asked, 0.1).plan
        assert from_pose(plan.poses[-1].pose)[:2] == pytest.approx((-3.0, 7.0))
    assert all(path[-1] == pytest.approx((40.0, 2.0)) for path, *_ in mbf.executed)


REAL = "AGORA_REAL_MBF"


@pytest.fixture
def real(master):
    process = subprocess.Popen(["bash", os.environ[REAL]], env=master.env, start_new_session=True, stdout=subprocess.DEVNULL)
    planner = actionlib.ActionClient("/move_base_flex/get_path", GetPathAction)
    try:
        assert planner.wait_for_server(rospy.Duration(60))
        yield planner
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def planned(planner, wait_until, x, y):
    goal = GetPathGoal(planner="navfn")
    goal.target_pose.header.frame_id, goal.target_pose.pose = "map", to_pose((x, y, 0.0))
    asked = planner.send_goal(goal)
    wait_until(lambda: asked.get_comm_state() == actionlib.CommState.DONE, "an answer of get_path")
    return np.array([from_pose(p.pose)[:2] for p in asked.get_result().path.poses])


def test_a_real_move_base_flex_is_driven_and_plans_around_people_in_a_point_cloud(graph, real, wait_until):
    wait_until(lambda: len(planned(real, wait_until, 8.0, 2.2)), "a first path")
    near = np.hypot(*(planned(real, wait_until, 8.0, 2.2) - (5.0, 2.1)).T).min()
    cloud, clock = graph.publisher("/people", PointCloud2), graph.hear("/clock", Clock)
    clock.wait(1)
    disc = [(5.0 + r * math.cos(a), 2.1 + r * math.sin(a), 0.5) for r in (0.0, 0.15, 0.3) for a in np.linspace(0, 6.1, 16)]

    def around():
        cloud.publish(point_cloud2.create_cloud_xyz32(Header(frame_id="map", stamp=clock[-1].clock), disc))
        return np.hypot(*(planned(real, wait_until, 8.0, 2.2) - (5.0, 2.1)).T).min() > near + 0.5

    wait_until(around, "a path around the person")
    graph.param("model", "burger")
    graph.param("inter_planner", "polite")
    remap = {"robot/odom": "/odometry/filtered", "robot/scan": "/scan"}
    graph.launch(
        "agora_navigation", "mbf_client", remap=remap, robots=["robot"], server="/move_base_flex", planner="navfn", controller="dwa"
    )
    action = actionlib.SimpleActionClient(graph.name("robot/move_base"), MoveBaseAction)
    wait_until(lambda: action.wait_for_server(rospy.Duration(1)), "move_base of the client")
    paths, people = graph.hear("robot/inter_plan", Path), graph.publisher("pedsim_simulator/pedestrians", Pedestrians)
    limits = graph.hear("/move_base_flex/dwa/parameter_updates", Config)
    send(action, 2.0, 5.0, 1.5)
    wait_until(over(action, GoalStatus.SUCCEEDED), "the first goal")
    paths.messages.clear()
    send(action, 2.0, 8.0, 1.5)

    def back():
        people.publish(somebody(2.0, 6.6))
        ends = [from_pose(path.poses[-1].pose)[:2] for path in list(paths.messages)]
        return any(math.dist(end, (2.0, 8.0)) > 1.5 for end in ends)

    wait_until(back, "a path away from the person")
    wait_until(lambda: {d.name: d.value for d in limits[-1].doubles}["max_vel_x"] == pytest.approx(0.3), "half the speed")
    people.publish(somebody(*AWAY))
    wait_until(over(action, GoalStatus.SUCCEEDED), "the goal")
    wait_until(lambda: {d.name: d.value for d in limits[-1].doubles}["max_vel_x"] == pytest.approx(0.6), "the whole speed")
    send(action, 5.0, 5.0)
    wait_until(over(action, GoalStatus.ABORTED), "the answer")
    assert action.get_goal_status_text().startswith("get_path: failure (50)")
