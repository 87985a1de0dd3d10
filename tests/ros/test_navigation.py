"""The navigation node on a real roscore: what it drives is what the library says, and what goes wrong is answered in one line."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import actionlib
import numpy as np
import pytest
import rospy
from actionlib_msgs.msg import GoalStatus
from agora_ros.conversions import (
    from_pose,
    from_twist,
    stamp_of,
    to_episode,
    to_pedestrians,
    to_pose,
    to_pose2d,
    to_robots,
    to_twist,
)  # fmt: skip
from geometry_msgs.msg import PoseStamped, Twist
from move_base_msgs.msg import MoveBaseAction, MoveBaseGoal
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from nav_msgs.srv import GetPlan
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from std_srvs.srv import Empty

from agora.config import build
from agora.draft.stage import Stage
from agora.episode import Batch, Conditions
from agora.maps.grid import Map
from agora.node_logic.navigator import Navigator
from agora.planners.presets import named_planner
from agora.robots.model import load_robot
from agora_msgs.msg import EpisodeStatus, Notes, Pedestrians, Robot, RobotStatus
from agora_msgs.srv import BeginEpisode, Plan, SetGoal
from starts import people, start

PLACE = Map.from_shapes(
    polygons=[[[2.0, 4.0], [5.5, 4.0], [5.5, 4.6], [2.0, 4.6]]], bounds=(-7.3, -4.1, 12.7, 9.9), resolution=0.1, name="yard"
)
ROBOT = load_robot("burger")
STAGE = build({"name": "yard", "world": {"name": "open"}, "robot": "burger", "goal_tolerance": 0.3}, Stage)
FREE = replace(STAGE, periods=replace(STAGE.periods, physics=0.05))


def yard(goal=(3.0, 1.5, 0.4), crowd=((1.5, 3.2),)):
    return start(pose=(0.4, -0.3, 0.7), goal=goal, crowd=people(crowd, crowd) if crowd else None, place=PLACE, model=ROBOT)


def scan_of(batch):
    return batch.observer.observe().scan[0]


class World:
    """Plays the simulator: a clock, one robot that does what it is told, its odometry and scans."""

    def __init__(self, graph, begun, planner="pure_pursuit", inter="bypass", **episode):
        self.graph, self.start = graph, begun
        self.pose, self.twist, self.time = np.array(begun.robots[0].pose, np.float32), np.zeros(3, np.float32), 0.0
        self.clock = graph.publisher("/clock", Clock, listeners=0)
        message = to_episode(begun, FREE, [Robot(name="my robot", navigation="agora", planner=planner, interplanner=inter)], 3)
        answer = graph.call("navigation/begin", BeginEpisode, message)
        assert answer.success, answer.message
        self.twists = graph.hear("my_robot/cmd_vel", Twist)
        while not graph.ends[-1].get_num_connections():
            rospy.rostime.wallsleep(0.01)
        self.odometry = graph.publisher("my_robot/odom", Odometry)
        self.ranges = [3.0] * ROBOT.lidar.beams
        self.scans = graph.publisher("my_robot/scan", LaserScan) if inter == "polite" else None

    def say(self):
        """Publish where the robot is now, and what its lidar measures."""
        stamp = rospy.Time.from_sec(self.time)
        self.clock.publish(Clock(stamp))
        if self.scans is not None:
            scan = LaserScan(ranges=self.ranges)
            scan.header.stamp = stamp
            self.scans.publish(scan)
        message = Odometry()
        message.header.stamp, message.header.frame_id = stamp, "map"
        message.pose.pose, message.twist.twist = to_pose(self.pose), to_twist(self.twist)
        self.odometry.publish(message)

    def go_on(self, periods=1, dt=0.1):
        """Let the robot drive, every period as it was told at its beginning."""
        for _ in range(periods):
            before = len(self.twists)
            self.say()
            self.twists.wait(before + 1)
            self.move(dt)

    def move(self, dt=0.1):
        vx, _, omega = self.twist = from_twist(self.twists[-1])
        x, y, heading = self.pose
        self.pose = np.array([x + dt * vx * math.cos(heading), y + dt * vx * math.sin(heading), heading + dt * omega], np.float32)
        self.time += dt

    def drive_until(self, condition):
        """Let the robot drive until something is so; the time that the node needs is not waited for."""
        end = time.monotonic() + 300.0
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            self.say()
            rospy.rostime.wallsleep(0.03)
            self.move()


@pytest.fixture
def node(graph):
    graph.param("synchronous", False)
    return graph.launch("agora_navigation", "navigation", "navigation_node")


def test_a_robot_is_driven_by_what_the_library_says_of_its_odometry(graph, node):
    world = World(graph, yard())
    nav = Navigator(world.start, Conditions.of(FREE), named_planner("pure_pursuit")[1].part, patience=0.5)
    for step in range(12):
        nav.see_robot(0, world.pose, world.twist, world.time)
        expected = nav.decide(world.time, 2 * step, np.ones(1, bool)).twists[0]
        world.go_on()
        assert from_twist(world.twists[-1]).tolist() == expected.tolist()
    assert world.twist[0] > 0.1


def test_a_robot_of_an_episode_goes_where_the_status_says_whatever_a_topic_says_and_whoever_else_is_in_it(graph, node):
    world = World(graph, yard())
    topic = graph.publisher("my_robot/move_base_simple/goal", PoseStamped, latch=True, listeners=0)
    topic.publish(stamped((-5.0, 2.0, 0.0)))  # the task generator's business
    paths = graph.hear("my_robot/global_plan", Path)
    graph.heard_from("navigation_node", "my_robot/global_plan")
    status = graph.publisher("simulator/status", EpisodeStatus)
    world.go_on(4)
    assert {tuple(np.round(from_pose(path.poses[-1].pose)[:2], 1)) for path in paths.wait(2)} == {(3.0, 1.5)}

    def says(number, goal):
        robot = RobotStatus(name="my robot", goal=number, target=to_pose2d(goal), by_hand=1)
        status.publish(EpisodeStatus(number=3, robots=[RobotStatus(name="spawned later"), robot]))

    says(2, (-4.0, 3.0, 0.5))
    world.drive_until(lambda: from_pose(paths[-1].poses[-1].pose)[0] < -3.9)
    says(1, (5.0, 6.0, 0.0))  # late
    world.go_on(4)
    assert from_pose(paths[-1].poses[-1].pose)[:2] == pytest.approx((-4.0, 3.0), abs=0.1) and node.running


def stamped(pose, frame="map"):
    """A ``geometry_msgs/PoseStamped``."""
    message = PoseStamped(pose=to_pose(pose))
    message.header.frame_id = frame
    return message


def test_a_robot_whose_odometry_stops_stands_and_it_is_said_once(graph, node, wait_until):
    world = World(graph, yard())
    world.go_on(3)
    assert world.twist[0] > 0.0
    for late in (0.3, 0.7, 1.1, 1.5):
        world.clock.publish(Clock(rospy.Time.from_sec(world.time + late)))
        rospy.rostime.wallsleep(0.12)
    stopped = world.twists.wait_for(lambda m: from_twist(m).tolist() == [0, 0, 0], "a twist of zero")
    assert stopped is world.twists[-1]
    wait_until(lambda: "odometry of my robot is" in node.log, "a line about the odometry")
    assert node.log.count("odometry of my robot is") == 1


def test_when_the_clock_jumps_back_the_robot_goes_on_and_it_is_said_once(graph, node):
    world = World(graph, yard())
    world.time = 50.0
    world.go_on(3)
    world.time = 2.0
    world.go_on(3)
    assert world.twist[0] > 0.0
    words = "the clock jumped back from 50.2"
    assert node.said(words).count(words) == 1


def test_a_goal_of_the_action_is_set_in_the_episode_and_ends_as_the_status_says(graph, node, wait_until):
    asked, refusal = [], []

    def set_goal(request):
        if refusal:
            return False, refusal[0], 0
        asked.append(request)
        return True, "", len(asked)

    graph.serve("simulator/set_goal", SetGoal, set_goal)
    world = World(graph, yard())
    status = graph.publisher("simulator/status", EpisodeStatus)
    client = actionlib.SimpleActionClient(graph.name("my_robot/move_base"), MoveBaseAction)
    world.go_on(2)
    wait_until(lambda: client.wait_for_server(rospy.Duration(0.1)), "the action")
    heard = []

    def send(x, y, frame="map"):
        client.send_goal(MoveBaseGoal(stamped((x, y, 0.0), frame)), feedback_cb=heard.append)

    def says(number, ended=False, outcome=-1):
        robot = RobotStatus(name="my robot", goal=number, by_hand=number, ended=ended, outcome=outcome)
        status.publish(EpisodeStatus(number=3, robots=[robot]))

    send(1.0, 0.4)
    world.drive_until(lambda: client.get_state() == GoalStatus.SUCCEEDED)
    assert (asked[0].robot, asked[0].goal.x, asked[0].goal.y) == ("my robot", 1.0, 0.4)
    assert np.hypot(*(world.pose[:2] - (1.0, 0.4))) < 0.35
    assert len(heard) > 3 and from_pose(heard[-1].base_position.pose)[0] > from_pose(heard[0].base_position.pose)[0]
    refusal.append("it is 0.00 m from an obstacle")
    send(3.0, 4.3)
    world.drive_until(lambda: client.get_state() == GoalStatus.ABORTED)
    assert client.get_goal_status_text() == refusal.pop()
    send(3.0, 4.3, "nowhere")
    world.drive_until(lambda: client.get_goal_status_text().startswith("no transform from the goal's frame to map"))
    for ends, words in (
        ((2, True, 101), "the robot's episode has ended: pedestrian collision"), ((4, False, -1), "replaced by another goal")
    ):  # fmt: skip
        send(-5.0, 1.0)
        number = ends[0] if ends[1] else ends[0] - 1
        world.drive_until(lambda number=number: len(asked) == number and client.get_state() == GoalStatus.ACTIVE)
        says(number - 1, True, 0)  # older than the goal
        says(*ends)
        world.drive_until(lambda: client.get_state() == GoalStatus.ABORTED)
        assert client.get_goal_status_text() == words
        says(4)
    asked.append(None)
    send(-5.0, 1.0)
    world.drive_until(lambda: client.get_state() == GoalStatus.ACTIVE and world.twist[2] != 0.0)
    client.cancel_goal()
    wait_until(lambda: client.get_state() == GoalStatus.PREEMPTED, "a cancelled goal")
    world.twists.wait_for(lambda m: m is world.twists[-1] and m.linear.x == 0.0, "a twist of zero")


def test_a_scan_with_the_wrong_number_of_beams_is_refused_in_one_line(graph, node, wait_until):
    world = World(graph, yard(), inter="polite")
    world.go_on(2)
    assert world.twist[0] > 0.0
    world.ranges = [3.0] * 90
    for _ in range(9):
        world.say()
        world.time += 0.1
        rospy.rostime.wallsleep(0.03)
    wait_until(lambda: world.twists[-1].linear.x == 0.0, "the robot to stand without scans")
    words = f"scan of my robot: expected {ROBOT.lidar.beams} beams, got 90"
    assert node.said(words).count(words) == 1


def test_an_unknown_planner_is_waited_for_with_the_nearest_name(graph, wait_until):
    graph.param("local_planner", "dva")
    node = graph.launch("agora_navigation", "navigation", "navigation_node")
    wait_until(lambda: "no planner called 'dva'; did you mean 'dwa'?" in node.log, "a word on the planner")
    graph.param("local_planner", "dwa")
    rospy.wait_for_service(graph.name("navigation/begin"), 300)
    log = node.said("'dva'")
    assert node.running and log.count("'dva'") == 1 and "Traceback" not in log


def test_paths_and_costmaps_are_published_where_somebody_listens(graph, node):
    world = World(graph, yard(crowd=[(1.4, 0.5)]), planner="dwa", inter="polite")
    plan, inter = graph.hear("my_robot/global_plan", Path), graph.hear("my_robot/inter_plan", Path)
    local, whole = (graph.hear(f"my_robot/{name}_costmap/costmap", OccupancyGrid) for name in ("local", "global"))
    noted = graph.hear("navigation/notes", Notes)
    nav = Navigator(world.start, Conditions.of(FREE), named_planner("dwa+polite")[1].part)
    path = nav.path(0)
    end = time.monotonic() + 300.0
    while not (len(plan) and len(inter) and len(local) and len(whole) and len(noted)):
        world.say()
        world.time += 0.1
        rospy.rostime.wallsleep(0.05)
        assert time.monotonic() < end, node.log
    assert np.allclose([from_pose(p.pose)[:2] for p in plan[-1].poses], path, atol=1e-6)
    assert (noted[0].name, noted[0].speed_limit) == (["my robot"], (0.5,)) and 0.0 < noted[0].danger[0] < 1.0
    grid = np.array(local[-1].data).reshape(local[-1].info.height, local[-1].info.width)
    corner = from_pose(local[-1].info.origin)[:2]
    column, row = ((np.array((1.4, 0.5)) - corner) / local[-1].info.resolution).astype(int)
    assert grid[row, column] == 100 and (grid == 0).any()
    everything = np.array(whole[-1].data).reshape(whole[-1].info.height, whole[-1].info.width)
    assert everything.shape == PLACE.shape and everything[84, 100] == 100
    answer = graph.call(
        "my_robot/move_base/make_plan",
        GetPlan,
        start=PoseStamped(pose=to_pose((0, 0, 0))),
        goal=PoseStamped(pose=to_pose((4, 7, 0))),
    )
    assert from_pose(answer.plan.poses[-1].pose)[:2] == pytest.approx((4, 7), abs=1e-5)
    graph.call("my_robot/move_base/clear_costmaps", Empty)


def test_in_lock_step_a_plan_is_the_librarys_for_the_moment_that_it_is_asked_about_and_waits_for_scans(graph):
    graph.param("synchronous", True)
    graph.launch("agora_navigation", "navigation", "navigation_node", answer_in=0.4)
    begun = yard(crowd=[(3.1, -2.4)])
    targets = [to_pose2d(begun.robots[0].goals[0])]
    names, planners = ["one"], [Robot(name="one", planner="dwa", interplanner="polite")]
    assert graph.call("navigation/begin", BeginEpisode, to_episode(begun, STAGE, planners, 1)).success
    scans = graph.publisher("one/scan", LaserScan)
    conditions = Conditions.of(STAGE)
    batch = Batch([begun], conditions, {"scan"}, 1)
    batch.begin(0, 0)
    world, nav = batch.world, Navigator(begun, conditions, named_planner("dwa+polite")[1].part, names=names)

    def ask(step, people_):
        robots = to_robots(world.robots, world.robot_traits.radius[0], names, step)
        robots.header.stamp = stamp_of(step, world.dt, 7.0)
        return graph.call(
            "navigation/plan", Plan, robots=robots, pedestrians=people_, goals=[0], targets=targets, active=bytes([1])
        )

    for step in range(0, 12, 2):
        batch.look()
        if step == 6:  # somebody steps into the robot's way
            world.pedestrians.x[0, 0], world.pedestrians.y[0, 0] = 0.9, 0.1
        said = to_pedestrians(world.pedestrians, world.traits, world.minds, step)
        scan = LaserScan(ranges=scan_of(batch).tolist())
        scan.header.stamp = stamp_of(step, world.dt, 7.0)
        scans.publish(scan)
        answer = ask(step, said if step else Pedestrians())  # at first they are where the episode has them
        assert answer.success, answer.message
        for name in world.robots._fields:
            getattr(nav.robots, name)[...] = getattr(world.robots, name)
        nav.observed(step * world.dt)
        nav.see_scan(0, scan_of(batch), step * world.dt)
        people_ = nav.people(1)
        for mine, its in zip(people_, (world.pedestrians, world.traits, world.minds), strict=True):
            for name in its._fields:
                getattr(mine, name)[...] = getattr(its, name)
        expected = nav.decide(step * world.dt, step, np.ones(1, bool))
        assert from_twist(answer.twists[0]).tolist() == expected.twists[0].tolist()
        batch.world.command(expected.twists, batch.active, {})
        batch.advance()
    late = ask(99, said)
    assert not late.success and "waited 0.4 s for scan of one with timestamp 11.950 s" in late.message
    names[0] = "another"
    other = ask(12, said)
    assert not other.success and "robots of the episode are ['one']" in other.message


def test_a_real_robot_is_driven_on_a_map_by_odometry_and_tf(graph, wait_until):
    import tf2_ros
    from geometry_msgs.msg import TransformStamped

    graph.param("model", "tiago")  # another graph's; what is private goes before it
    node = graph.launch(
        "agora_navigation", "navigation", "navigation_node", real_robot=True, model="burger", local_planner="pure_pursuit"
    )
    node.said("burger waits for a map on /map")
    grid = OccupancyGrid()
    grid.info.resolution, grid.info.width, grid.info.height, grid.data = 0.1, 90, 60, [0] * 5400
    grid.info.origin = to_pose((-2.0, -3.0, 0.0))
    graph.publisher("/map", OccupancyGrid, latch=True).publish(grid)
    wait_until(lambda: "is driven by pure_pursuit on a map" in node.log, "the map to be taken")
    clock, odometry = graph.publisher("/clock", Clock), graph.publisher("burger/odom", Odometry)
    goals, twists = graph.publisher("burger/move_base_simple/goal", PoseStamped), graph.hear("burger/cmd_vel", Twist)
    message, moved, goal = Odometry(), TransformStamped(), PoseStamped()
    message.header.frame_id = moved.child_frame_id = "burger/odom"
    message.pose.pose = to_pose((0.5, 0.0, 0.0))

    def say(tick):
        message.header.stamp = rospy.Time.from_sec(5 + 0.1 * tick)
        clock.publish(Clock(message.header.stamp))
        odometry.publish(message)
        rospy.rostime.wallsleep(0.03)

    for tick in range(8):
        say(tick)
    wait_until(lambda: "no transform from burger/odom to map" in node.log, "a line about the transform")
    moved.header.frame_id, pose = "map", to_pose((2.0, 1.0, math.pi / 2))
    moved.transform.translation.x, moved.transform.translation.y, moved.transform.rotation = 2.0, 1.0, pose.orientation
    broadcaster = tf2_ros.StaticTransformBroadcaster()
    broadcaster.sendTransform(moved)
    goal.header.frame_id, goal.pose = "map", to_pose((2.0, -1.5, 0.0))
    for tick in range(8, 30):
        if tick == 12:
            goals.publish(goal)
        say(tick)
    twist = wait_until(lambda: len(twists) and from_twist(twists[-1]).tolist(), "a twist")
    assert twist[0] == 0.0 and abs(twist[2]) > 0.5, "the goal lies behind the robot, which looks along y"
