"""Move Base Flex's actions exe_path and get_path, answered by the library's planners, as any client of Move Base Flex sees them."""

from __future__ import annotations

import math

import actionlib
import numpy as np
import pytest
import rospy
from actionlib_msgs.msg import GoalStatus
from agora_ros.conversions import from_pose, from_twist, to_pose, to_twist
from geometry_msgs.msg import PoseStamped, Twist
from mbf_msgs.msg import ExePathAction, ExePathGoal, ExePathResult, GetPathAction, GetPathGoal, GetPathResult
from move_base_msgs.msg import MoveBaseAction, MoveBaseGoal
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from rosgraph_msgs.msg import Clock

BEGIN, ROWS, COLUMNS = (0.4, -0.3, 0.7), 60, 90


def grid(wall=True):
    """9 x 6 m from (-2, -2), with a wall from (3, 1) to (6, 1.4)."""
    cells = np.zeros((ROWS, COLUMNS), np.int8)
    cells[30:34, 50:80] = 100 if wall else 0
    message = OccupancyGrid(data=cells.reshape(-1).tolist())
    message.header.frame_id, message.info.resolution, message.info.width, message.info.height = "map", 0.1, COLUMNS, ROWS
    message.info.origin = to_pose((-2.0, -2.0, 0.0))
    return message


class Robot:
    """A burger that does what it is told, its clock and odometry, and clients of the two actions."""

    def __init__(self, graph, wait_until, **parameters):
        self.graph, self.wait_until, self.pose, self.time = graph, wait_until, np.array(BEGIN), 5.0
        graph.param("model", "burger")
        parameters = {"controllers": ["pure_pursuit", "go_to_goal"], "planners": ["a_star"]} | parameters
        self.node = graph.launch("agora_navigation", "mbf_server", **parameters)
        self.clock = graph.publisher("/clock", Clock, listeners=0)
        self.odometry = graph.publisher("burger/odom", Odometry)
        self.map = graph.publisher("map", OccupancyGrid, latch=True)
        self.twists = graph.hear("burger/cmd_vel", Twist)
        self.exe = actionlib.ActionClient(graph.name("burger/move_base_flex/exe_path"), ExePathAction)
        self.get = actionlib.ActionClient(graph.name("burger/move_base_flex/get_path"), GetPathAction)
        self.map.publish(grid())
        for client in (self.exe, self.get):
            wait_until(lambda c=client: c.wait_for_server(rospy.Duration(0.2)), "an action")

    def send(self, path, **more):
        """Send exe_path; the goal's handle, with what it was told meanwhile."""
        message = Path(poses=[PoseStamped(pose=to_pose(pose)) for pose in path])
        message.header.frame_id = more.pop("frame", "map")
        told = []
        handle = self.exe.send_goal(ExePathGoal(path=message, **more), feedback_cb=lambda _, feedback: told.append(feedback))
        return handle, told

    def ask(self, goal, frame="map", **more):
        """The answer of get_path, and how its goal ended."""
        request = GetPathGoal(**more)
        request.target_pose.header.frame_id, request.target_pose.pose = frame, to_pose(goal)
        handle = self.get.send_goal(request)
        self.until(lambda: over(handle), "an answer of get_path")
        return handle.get_result(), handle.get_terminal_state()

    def until(self, condition, what):
        """Let time pass, at ten periods a second or faster, and the robot drive as it was told last."""

        def passes():
            vx, _, omega = from_twist(self.twists[-1]) if len(self.twists) else (0.0, 0.0, 0.0)
            x, y, heading = self.pose
            self.pose = np.array([x + 0.1 * vx * math.cos(heading), y + 0.1 * vx * math.sin(heading), heading + 0.1 * omega])
            self.time += 0.1
            stamp = rospy.Time.from_sec(self.time)
            self.clock.publish(Clock(stamp))
            message = Odometry()
            message.header.stamp, message.header.frame_id = stamp, "map"
            message.pose.pose, message.twist.twist = to_pose(self.pose), to_twist((vx, 0.0, omega))
            self.odometry.publish(message)
            rospy.rostime.wallsleep(0.02)
            return condition()

        return self.wait_until(passes, what)


def over(handle):
    return handle.get_comm_state() == actionlib.CommState.DONE


def ended(handle):
    """How a goal ended: the state of actionlib, and the outcome of Move Base Flex."""
    return handle.get_terminal_state(), handle.get_result().outcome


def test_a_path_is_driven_and_reported_and_another_or_a_cancel_takes_its_place(graph, wait_until):
    robot = Robot(graph, wait_until)
    early, _ = robot.send([(1.0, 0.0, 0.0), (2.0, -1.0, 0.4)])
    wait_until(lambda: over(early), "an answer although nobody knows where the robot is")
    assert ended(early) == (GoalStatus.ABORTED, ExePathResult.TF_ERROR)
    robot.until(lambda: robot.time > 6.0, "odometry")
    first, told = robot.send([(1.0, 0.0, 0.0), (2.0, -1.0, 0.4)], controller="pure_pursuit")
    robot.until(lambda: len(told) > 10 and told[-1].last_cmd_vel.twist.linear.x > 0.1, "feedback on the way")
    assert told[5].outcome == 0 and told[5].current_pose.header.frame_id == "map"
    where = from_pose(told[5].current_pose.pose)
    assert told[5].dist_to_goal == pytest.approx(math.dist(where[:2], (2.0, -1.0)), abs=1e-3)
    assert told[5].angle_to_goal == pytest.approx(abs(where[2] - 0.4), abs=1e-3)
    twists = [from_twist(t).tolist() for t in robot.twists]
    assert from_twist(told[5].last_cmd_vel.twist).tolist() in twists
    heard = len(robot.twists)
    second, _ = robot.send([(1.0, 0.0, 0.0), (2.4, -1.2, -0.6)])
    robot.until(lambda: over(first) and over(second), "the end of the second path")
    assert ended(first) == (GoalStatus.PREEMPTED, ExePathResult.CANCELED)
    assert ended(second) == (GoalStatus.SUCCEEDED, ExePathResult.SUCCESS)
    last = second.get_result()
    assert last.dist_to_goal <= 0.2 and last.angle_to_goal <= 0.3
    assert from_pose(last.final_pose.pose)[:2] == pytest.approx((2.4, -1.2), abs=0.2)
    wait_until(lambda: robot.twists[-1] == Twist(), "a twist of zero")
    assert Twist() not in robot.twists.messages[heard : heard + 5], "another path does not stop it"
    third, _ = robot.send([(1.0, 0.0, 0.0), (-1.0, 2.0, 0.0)], controller="go_to_goal")
    robot.until(lambda: robot.twists[-1] != Twist(), "the third path")
    third.cancel()
    robot.until(lambda: over(third), "the cancelled path")
    assert ended(third) == (GoalStatus.PREEMPTED, ExePathResult.CANCELED)
    wait_until(lambda: robot.twists[-1] == Twist(), "a twist of zero")
    fourth, _ = robot.send([(1.0, 0.0, 0.0), (-1.0, 2.0, 0.0)])
    robot.until(lambda: robot.twists[-1] != Twist(), "the fourth path")
    robot.map.publish(grid(wall=False))
    robot.until(lambda: over(fourth), "the end of the map")
    assert ended(fourth) == (GoalStatus.ABORTED, ExePathResult.STOPPED)


def test_what_cannot_be_driven_or_planned_is_answered_with_its_outcome_and_a_line(graph, wait_until):
    robot = Robot(graph, wait_until)
    robot.until(lambda: robot.time > 6.0, "odometry")
    for path, more, state, outcome, words in (
        (
            [(1.0, 0.0, 0.0)],
            {"controller": "pure_pursui"},
            GoalStatus.REJECTED,
            ExePathResult.INVALID_PLUGIN,
            "mean 'pure_p",
        ),
        ([], {}, GoalStatus.ABORTED, ExePathResult.INVALID_PATH, "the path is empty"),
        ([(1.0, 0.0, 0.0)], {"frame": "odom"}, GoalStatus.ABORTED, ExePathResult.INVALID_PATH, "in frame map, got 'odom'"),
        ([(90.0, 0.0, 0.0)], {}, GoalStatus.ABORTED, ExePathResult.OUT_OF_MAP, "outside the map"),
    ):
        handle, _ = robot.send(path, **more)
        robot.until(lambda h=handle: over(h), "an answer")
        assert ended(handle) == (state, outcome) and words in handle.get_result().message
    answer, state = robot.ask((4.5, 2.5, -0.9))
    poses = np.array([from_pose(pose.pose) for pose in answer.path.poses])
    assert (state, answer.outcome) == (GoalStatus.SUCCEEDED, GetPathResult.SUCCESS)
    assert poses[0, :2] == pytest.approx(robot.pose[:2], abs=0.1) and poses[-1] == pytest.approx((4.5, 2.5, -0.9), abs=0.1)
    assert answer.cost == pytest.approx(np.hypot(*np.diff(poses[:, :2], axis=0).T).sum()) and answer.cost > math.dist(
        BEGIN, (4.5, 2.5, 0.7)
    )
    start = PoseStamped(pose=to_pose((5.0, 2.0, 0.0)))
    answer, _ = robot.ask((4.5, 2.5, -0.9), use_start_pose=True, start_pose=start)
    assert from_pose(answer.path.poses[0].pose)[:2] == pytest.approx((5.0, 2.0), abs=0.1)
    for goal, more, state, outcome, words in (
        ((4.5, 1.2, 0.0), {}, GoalStatus.ABORTED, GetPathResult.BLOCKED_GOAL, "0.00 m from an obstacle, but the robot needs"),
        ((4.5, 2.5, 0.0), {"frame": "odom"}, GoalStatus.ABORTED, GetPathResult.INVALID_GOAL, "in frame map, got 'odom'"),
        ((4.5, 2.5, 0.0), {"planner": "astar"}, GoalStatus.REJECTED, GetPathResult.INVALID_PLUGIN, "did you mean 'a_star'"),
    ):
        answer, end = robot.ask(goal, **more)
        assert (end, answer.outcome) == (state, outcome) and words in answer.message
    wait_until(lambda: "pure_pursuit, go_to_goal; planners a_star" in robot.node.log, "what is offered")


def test_the_client_of_move_base_flex_reaches_a_goal_by_it(graph, wait_until):
    graph.param("inter_planner", "bypass")
    robot = Robot(graph, wait_until, controllers=["pure_pursuit"])
    graph.launch("agora_navigation", "mbf_client", robots=["burger"])
    action = actionlib.SimpleActionClient(graph.name("burger/move_base"), MoveBaseAction)
    robot.until(lambda: action.wait_for_server(rospy.Duration(0.01)), "move_base of the client")
    goal = MoveBaseGoal()
    goal.target_pose.header.frame_id, goal.target_pose.pose = "map", to_pose((4.0, 2.4, 0.3))
    action.send_goal(goal)
    robot.until(lambda: action.get_state() == GoalStatus.SUCCEEDED, "the goal behind the wall")
    assert math.dist(robot.pose[:2], (4.0, 2.4)) < 0.25
