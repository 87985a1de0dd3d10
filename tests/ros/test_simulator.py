"""The simulator node in a real graph: time, robots, commands, lock step, and what goes wrong."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import rospy
from agora_ros.conversions import to_episode, to_map
from geometry_msgs.msg import Pose2D, PoseWithCovarianceStamped, Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from std_srvs.srv import Trigger
from tests.starts import people, start
from tf2_msgs.msg import TFMessage

from agora.config import build
from agora.core.recording import Outcome
from agora.draft.stage import Stage
from agora.maps.grid import Map
from agora.robots.model import load_robot
from agora.world.start import RobotStart
from agora_msgs import msg, srv

JACKAL = load_robot("jackal")
SHELF = msg.Entity(kind="obstacle", name="a shelf", model="shelf")
CONTROL, SENSOR = 3, 3  # steps of the free-running periods


def stage(**more: Any) -> Stage:
    return build({"name": "s", "world": {"name": "open"}, "periods": {"physics": 1 / 30, "crowd": 1 / 30}} | more, Stage)


def episode(*names: str, number: int = 1, navigation: str = "external", crowd: Any = None, **more: Any) -> Any:
    """Robots side by side on a plane, each with a goal 3.7 m ahead."""
    of = stage(**more)
    robots = tuple(
        RobotStart(JACKAL, np.array([-3.0, -2.0 + 1.5 * r, 0.1]), np.array([[0.7, -1.6 + 1.5 * r, 0.0]])) for r in range(len(names))
    )
    begun = replace(start(crowd=crowd, entry=f"test/s/{number}"), robots=robots)
    return to_episode(begun, of, [msg.Robot(name=name, navigation=navigation) for name in names], number)


def launch(graph: Any, **params: Any) -> Any:
    node = graph.launch("agora_simulators", "simulator", "simulator_node", **params)
    graph.call("simulator/info", srv.GetSimulator)
    return node


def begin(graph: Any, of: Any) -> None:
    answer = graph.call("simulator/begin", srv.BeginEpisode, of)
    assert answer.success, answer.message


def resume(graph: Any) -> None:
    answer = graph.call("simulator/resume", Trigger)
    assert answer.success, answer.message


def forward(speed: float) -> Twist:
    twist = Twist()
    twist.linear.x = speed
    return twist


def test_a_robot_is_driven_by_cmd_vel_and_what_it_senses_carries_the_stamp_of_its_step(graph: Any) -> None:
    launch(graph, cmd_vel_timeout=10.0)
    scans, odometry = graph.hear("robot_with_spaces/scan", LaserScan), graph.hear("robot_with_spaces/odom", Odometry)
    robots, status = graph.hear("simulator/robots", msg.Robots), graph.hear("simulator/status", msg.EpisodeStatus)
    begin(graph, episode("robot with spaces"))
    assert status.wait_for(lambda m: m.number == 1, "episode 1").running
    commands = graph.publisher("robot_with_spaces/cmd_vel", Twist)
    for topic in ("robot_with_spaces/scan", "robot_with_spaces/odom", "simulator/robots"):
        graph.heard_from("simulator_node", topic)
    resume(graph)
    for _ in range(2):
        commands.publish(forward(0.8))
    robots.wait(40)
    graph.call("simulator/pause", Trigger)
    end = graph.call("simulator/step", srv.Step, 1).now
    last = robots.wait_for(lambda m: m.header.stamp == end, "the last step").step
    odometry.wait(last + 1), scans.wait(last // SENSOR + 1)
    first = robots[0].header.stamp
    assert [m.step for m in robots.messages] == list(range(len(robots)))
    stamps = {m.header.stamp: m for m in robots.messages}
    for scan in scans.messages:
        assert stamps[scan.header.stamp].step % SENSOR == 0 and len(scan.ranges) == JACKAL.lidar.beams
    assert len(scans) == (len(robots) - 1) // SENSOR + 1
    for m in odometry.messages:
        assert np.float32(m.pose.pose.position.x) == np.float32(stamps[m.header.stamp].x[0])
        assert m.child_frame_id == "robot_with_spaces/base_link"
    assert robots[30].header.stamp - first == rospy.Duration(1)
    assert robots[35].vx[0] == pytest.approx(0.8)


def test_with_amcl_nobody_else_says_where_odometry_is_on_the_map_but_amcl_is_told_where_an_episode_begins(graph: Any) -> None:
    graph.param("complexity", 2)
    launch(graph)
    fixed, starts = graph.hear("/tf_static", TFMessage), graph.hear("jackal/initialpose", PoseWithCovarianceStamped)
    odometry = graph.hear("jackal/odom", Odometry)
    begin(graph, episode("jackal"))
    resume(graph)
    told = starts.wait(1)[0]
    first = odometry.wait(1)[0].pose.pose
    assert told.header.frame_id == "map" and told.pose.pose.position == first.position
    ours = fixed.wait_for(lambda m: m.transforms[0].child_frame_id.startswith("jackal"), "the frames of the jackal")
    frames = [frame for frame in ours.transforms if frame.child_frame_id.startswith("jackal")]
    assert "map" not in {frame.header.frame_id for frame in frames}


def test_a_planner_that_falls_silent_is_noticed_and_numbers_that_are_none_are_ignored(graph: Any, wait_until: Any) -> None:
    node = launch(graph, cmd_vel_timeout=0.3, time_scale=2.0)
    robots, status = graph.hear("simulator/robots", msg.Robots), graph.hear("simulator/status", msg.EpisodeStatus)
    begin(graph, episode("jackal"))
    commands = graph.publisher("jackal/cmd_vel", Twist)
    resume(graph)
    commands.publish(forward(0.5))
    robots.wait_for(lambda m: m.vx[0] > 0.4, "a robot that moves")
    commands.publish(forward(float("nan")))
    robots.wait_for(lambda m: m.step > 20 and m.vx[0] == 0.0, "a robot that stands again")
    wait_until(lambda: "no cmd_vel for 0.3 s" in node.log, "a line that says so")
    wait_until(lambda: f"commands on {graph.name('jackal/cmd_vel')} are not finite" in node.log, "a line about the NaN")
    commands.publish(forward(99.0))
    moved = robots.wait_for(lambda m: m.vx[0] > 0.5, "a robot that moves again")
    assert moved.vx[0] <= JACKAL.vx[1]
    wait_until(lambda: status[-1].robots[0].clipped > 0, "a command that counts as clipped")
    assert node.log.count("no cmd_vel") <= 2


def test_time_never_goes_back_over_episodes_and_a_simulator_that_was_killed(graph: Any, wait_until: Any) -> None:
    clock = graph.hear("/clock", Clock)
    node = launch(graph)
    graph.heard_from("simulator_node", "/clock")
    for number in (1, 2):
        begin(graph, episode("jackal", number=number))
        assert graph.call("simulator/step", srv.Step, 5).success
    clock.wait(12)
    node.kill(signal.SIGKILL)
    node = launch(graph)
    graph.heard_from("simulator_node", "/clock")
    begin(graph, episode("jackal", number=2))
    assert graph.call("simulator/step", srv.Step, 5).success
    clock.wait(18)
    stamps = [m.clock.to_sec() for m in clock.messages]
    assert stamps[0] == 1.0
    assert all(a <= b for a, b in zip(stamps, stamps[1:], strict=False))
    assert stamps[-1] > stamps[11]
    wait_until(lambda: "a simulator ran on this roscore before" in node.log, "a line that says so")


def test_before_an_episode_robots_and_furniture_come_and_go_one_by_one(graph: Any) -> None:
    launch(graph)
    robots = graph.hear("simulator/robots", msg.Robots)
    other = msg.Entity(kind="robot", name="second", model="burger")
    other.pose.x = 2.0
    assert graph.call("simulator/spawn", srv.Spawn, [msg.Entity(kind="robot", name="jackal", model="jackal"), other]).success
    again = graph.call("simulator/spawn", srv.Spawn, [other])
    assert not again.success and "already" in again.message
    wrong = graph.call("simulator/spawn", srv.Spawn, [msg.Entity(kind="robot", name="x", model="jakal")])
    assert not wrong.success and "did you mean 'jackal'" in wrong.message
    assert graph.call("simulator/spawn", srv.Spawn, [SHELF]).success
    other.pose.theta = 0.5
    assert graph.call("simulator/move", srv.Move, ["second"], [other.pose]).success
    assert graph.call("simulator/step", srv.Step, 1).success
    last = robots.wait_for(lambda m: len(m.name) == 2, "two robots")
    assert last.name == ["jackal", "second"] and last.heading[1] == pytest.approx(0.5)
    assert graph.call("simulator/delete", srv.Delete, ["jackal", "a shelf"]).success
    assert graph.call("simulator/step", srv.Step, 1).success
    robots.wait_for(lambda m: m.name == ["second"], "one robot")
    clash = graph.call("simulator/begin", srv.BeginEpisode, episode("a b", "a_b"))
    assert not clash.success and "share topics" in clash.message


def test_in_an_episode_furniture_comes_and_goes_but_robots_and_the_map_are_the_episodes(graph: Any) -> None:
    launch(graph)
    begin(graph, episode("jackal"))
    calls = [("spawn", srv.Spawn, [msg.Entity(kind="robot", name="x", model="burger")]), ("delete", srv.Delete, ["jackal"])]
    for name, kind, asked in [*calls, ("set_map", srv.SetMap, to_map(Map.open((0.0, 0.0), (5.0, 4.0))))]:
        refused = graph.call(f"simulator/{name}", kind, asked)
        assert not refused.success and "reset_task" in refused.message
    assert graph.call("simulator/spawn", srv.Spawn, [SHELF]).success
    assert graph.call("simulator/delete", srv.Delete, ["a shelf"]).success


def test_once_every_robot_has_ended_time_stands_until_one_gets_a_goal_which_its_topics_and_status_say(graph: Any) -> None:
    launch(graph, time_scale=5.0)
    status, robots = graph.hear("simulator/status", msg.EpisodeStatus), graph.hear("simulator/robots", msg.Robots)
    begin(graph, episode("jackal", timeout=1.0))
    commands = graph.publisher("jackal/cmd_vel", Twist)
    resume(graph)
    commands.publish(forward(0.4))
    ended = status.wait_for(lambda m: m.done, "the time-out")
    assert ended.robots[0].outcome == Outcome.TIMEOUT
    told = [tuple(round(v, 3) for v in (m.command_vx[0], m.command_vy[0], m.command_omega[0])) for m in robots.messages]
    assert told[0] == (0.0, 0.0, 0.0) and (0.4, 0.0, 0.0) in told
    stands = robots.wait_for(lambda m: m.step == ended.step, "the last step")
    place = Pose2D(float(stands.x[0]) + 0.1, float(stands.y[0]), 0.0)
    answer = graph.call("simulator/set_goal", srv.SetGoal, "jackal", place)
    assert answer.success and answer.goal == 1
    again = status.wait_for(lambda m: m.done and m.step > ended.step, "its end at the goal")
    assert (again.robots[0].outcome, again.robots[0].by_hand, again.robots[0].target) == (Outcome.REACHED, 1, place)


class Parts:
    """A crowd that walks straight on, and a navigation that drives ahead, as services; they remember what they were asked."""

    def __init__(self, graph: Any) -> None:
        self.crowd: list[Any] = []
        self.plans: list[Any] = []
        self.step = graph.serve("pedsim_simulator/step", srv.StepCrowd, self._step)
        self.plan = graph.serve("navigation/plan", srv.Plan, self._plan)

    def _step(self, request: Any) -> Any:
        self.crowd.append(request.robots)
        k, one = request.robots.step + 1, [1.0]
        seen = msg.Pedestrians(step=k, present=b"\1", id=[11], x=[4.0 - 0.05 * k], y=[3.0], vx=[-1.0], vy=[0.0], heading=[3.0])
        for name in ("radius", "speed", "stress", "energy", "social"):
            setattr(seen, name, one)
        seen.group, seen.type, seen.state, seen.partner = [-1], [0], [1], [-1]
        return srv.StepCrowdResponse(True, "", seen)

    def _plan(self, request: Any) -> Any:
        self.plans.append(request)
        driven = [name for name in request.robots.name if name != "other"]
        return srv.PlanResponse(True, "", driven, [forward(0.6)] * len(driven), [""] * len(driven), 0.001)


LOCKED = {"periods": {"physics": 0.05, "crowd": 0.05}}
WALKER = people([[4.0, 3.0]], [[[-9.0, 3.0]]])


def played(graph: Any, wait_until: Any, number: int) -> list[list[bytes]]:
    """Everything that the simulator said in one episode in lock step, by topic."""
    launch(graph, synchronous=True)
    parts = Parts(graph)
    kinds = {
        "simulator/robots": msg.Robots, "jackal/scan": LaserScan, "jackal/odom": Odometry,
        "simulator/status": msg.EpisodeStatus, "simulator/contacts": msg.Contact, "/clock": Clock,
    }  # fmt: skip
    begin(graph, episode("jackal", number=number, navigation="agora", crowd=WALKER, **LOCKED))
    heard = [graph.hear(topic, kind) for topic, kind in kinds.items()]
    for topic in kinds:
        graph.heard_from("simulator_node", topic)
    resume(graph)
    last = heard[3].wait_for(lambda m: m.done, "an end")
    assert last.robots[0].outcome == 0 and last.step == len(parts.crowd)
    assert [robots.step for robots in parts.crowd] == list(range(last.step))
    assert [plan.robots.step for plan in parts.plans] == list(range(0, last.step, 2))
    assert [(plan.pedestrians.step, plan.pedestrians.x) for plan in parts.plans[:3]] == [
        (0, ()),
        (2, (pytest.approx(3.9),)),
        (4, (pytest.approx(3.8),)),
    ]
    heard[0].wait(last.step + 1)
    heard[1].wait(last.step // 2 + 1), heard[2].wait(last.step + 1)
    heard[5].wait_for(lambda m: m.clock == heard[0][-1].header.stamp, "the clock of the last step")
    assert [m.step for m in heard[0].messages] == list(range(last.step + 1))
    assert [m.header.stamp for m in heard[1].messages] == [m.header.stamp for m in heard[0].messages[::2]]
    ticks = [m for m in heard[5].messages if m.clock > heard[0][0].header.stamp]
    acts = [m.header.stamp for m in heard[0].messages if m.step and (m.step % 2 == 0 or m.step == last.step)]
    assert [m.clock for m in ticks] == acts  # the clock ticks where robots act, and at the end
    return [[repr(m).encode() for m in messages] for messages in (*(each.messages for each in heard[:5]), ticks)]


def test_two_runs_in_lock_step_say_the_same_on_every_topic(graph: Any, wait_until: Any) -> None:
    first = played(graph, wait_until, 4)
    graph.close()
    graph.nodes.clear(), graph.ends.clear()
    assert played(graph, wait_until, 4) == first


def test_a_part_that_is_gone_or_does_not_answer_interrupts_the_episode_until_one_begins(graph: Any, wait_until: Any) -> None:
    node = launch(graph, synchronous=True, step_timeout=0.5)
    parts, status = Parts(graph), graph.hear("simulator/status", msg.EpisodeStatus)
    parts.step.shutdown()
    of = episode("jackal", navigation="agora", crowd=WALKER, timeout=1000.0, **LOCKED)
    begin(graph, of)
    resume(graph)
    gone = status.wait_for(lambda m: m.interrupted, "an interruption")
    assert "pedsim_simulator/step cannot be called" in gone.reason and not gone.running
    refused = graph.call("simulator/resume", Trigger)
    assert not refused.success and "start an episode" in refused.message
    released = False
    slow = graph.serve("pedsim_simulator/step", srv.StepCrowd, lambda _: wait_until(lambda: released, "release") and None)
    begin(graph, of)
    wait_until(lambda: not status[-1].interrupted, "an episode that is not interrupted")
    resume(graph)
    late = status.wait_for(lambda m: "did not answer" in m.reason, "another interruption")
    assert "0.5 s" in late.reason and "Traceback" not in node.log
    released = True
    slow.shutdown()
    parts.step = graph.serve("pedsim_simulator/step", srv.StepCrowd, parts._step)
    begin(graph, of)
    resume(graph)
    wait_until(lambda: len(parts.crowd) > 10, "steps")
    assert not status[-1].interrupted


def test_in_lock_step_a_planner_outside_has_one_say_for_every_scan_and_may_be_late(graph: Any, wait_until: Any) -> None:
    node = launch(graph, synchronous=True, command_timeout=2.0)
    parts, robots = Parts(graph), graph.hear("simulator/robots", msg.Robots)
    begin(graph, episode("jackal", "other", navigation="agora", timeout=1000.0, **LOCKED))
    of = episode("jackal", "other", navigation="agora", timeout=1000.0, **LOCKED)
    of.robots[1].navigation = "external"
    begin(graph, of)
    commands = graph.publisher("other/cmd_vel", Twist)
    told = []

    def answer(scan: Any) -> None:
        if len(told) < 20:
            told.append(scan.header.stamp)
            commands.publish(forward(0.01 * len(told)))

    listening = rospy.Subscriber(graph.name("other/scan"), LaserScan, answer, queue_size=10, tcp_nodelay=True)
    graph.ends.append(listening)
    wait_until(listening.get_num_connections, "a scan")
    resume(graph)
    wait_until(lambda: "no new cmd_vel for ['other']" in node.log, "a late planner")
    robots.wait(39)
    for k in range(19):
        assert robots[2 * k + 2].vx[1] == pytest.approx(0.01 * (k + 1))
    assert [plan.robots.step for plan in parts.plans[:20]] == list(range(0, 40, 2)) and not parts.crowd
    robots.wait(44)
    assert robots[43].vx[1] == pytest.approx(0.2)


def test_ten_robots_share_a_world(graph: Any) -> None:
    launch(graph, cmd_vel_timeout=100.0)
    names = [f"jackal_{r}" for r in range(10)]
    begin(graph, episode(*names, ends=[]))
    scans = [graph.hear(f"{name}/scan", LaserScan) for name in names]
    for r, name in enumerate(names):
        graph.publisher(f"{name}/cmd_vel", Twist).publish(forward(0.02 * r))
    resume(graph)
    for each in scans:
        each.wait(4)
    robots = graph.hear("simulator/robots", msg.Robots)
    robots.wait(1)
    assert robots[0].vx == pytest.approx([0.02 * r for r in range(10)])


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"driver": "nativ"}, "did you mean 'native'"),
        ({"time_scale": -1.0}, "time_scale: expected a number above 0"),
        ({"synchronous": "yes"}, "synchronous: expected a value of the same type as False"),
    ],
)
def test_a_wrong_parameter_is_one_clear_line_and_no_traceback(graph: Any, wait_until: Any, params: Any, said: str) -> None:
    node = graph.launch("agora_simulators", "simulator", "simulator_node", **params)
    wait_until(lambda: said in node.log, said)
    for name in params:
        rospy.delete_param(graph.name(f"simulator_node/{name}"))
    rospy.wait_for_service(graph.name("simulator/begin"), 300)
    assert node.running and node.log.count(said) == 1 and "Traceback" not in node.log
