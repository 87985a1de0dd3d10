"""The launch files, the robots' descriptions on a real roscore, and RViz on a screen that nobody sees."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import roslaunch
import rospkg
import rospy
import tf2_ros
import yaml
from agora_bringup.arguments import ARENAS, CHOICES, NEEDS, check
from agora_bringup.descriptions import frames
from agora_bringup.windows import colour_of, configuration, filled
from agora_ros.conversions import to_episode
from agora_task_generator.preparation import main
from rosgraph_msgs.msg import Clock
from roslib.packages import find_node
from std_srvs.srv import Empty, EmptyResponse
from tests.starts import start

from agora.errors import InputError
from agora.maps.grid import Map
from agora.node_logic.arguments import Arguments
from agora.robots.body import body
from agora.robots.mbf import mbf_parameters
from agora.robots.model import load_robot, robot_names
from agora.robots.urdf import urdf
from agora.tasks.generator import TaskGenerator
from agora_msgs.msg import Episode, Robot, Robots

LAUNCH = Path(__file__).parents[2] / "launch" / "start_arena.launch"
EVERYWHERE = {"simulator_node", "map_generator", "pedsim_simulator", "task_generator_server", "robots"}


def loaded(*arguments, file=LAUNCH):
    """Return the nodes and parameters that roslaunch would start."""
    quick = ("compile:=false",) if file.name == LAUNCH.name else ()
    return roslaunch.config.load_config_default([(str(file), [*quick, *arguments])], None, verbose=False)


def started(*arguments, file=LAUNCH):
    return {node.name for node in loaded(*arguments, file=file).nodes}


def value(config, name):
    return config.params[name].value


def test_the_launch_file_starts_the_whole_graph_and_every_argument_is_a_parameter_of_its_name():
    config = loaded("model:=jackal", "timeout:=31", "tm_modules:=staged,rviz_ui", "sfm:=orca")
    assert {node.name for node in config.nodes} == EVERYWHERE | {"navigation_node", "rviz"}
    assert [value(config, f"/{name}") for name in ("model", "timeout", "tm_modules", "sfm")] == [
        "jackal",
        31,
        "staged,rviz_ui",
        "orca",
    ]
    assert value(config, "/local_planner") == "" and value(config, "/use_sim_time") is True  # the nodes have the defaults


def test_no_node_has_the_name_of_a_parameter_since_its_private_parameters_would_be_inside_that():
    for whose in ("agora", "external"):
        config = loaded(f"navigation:={whose}", "record_data:=true", "sfm:=my.module:Crowd")
        assert not {node.name for node in config.nodes} & {name.split("/")[1] for name in config.params if name.count("/") == 1}


def test_the_path_of_the_file_and_the_name_of_the_package_start_the_same():
    share = Path(rospkg.RosPack().get_path("agora_bringup")) / "launch" / "start_arena.launch"
    assert started("headless:=2", file=share) == started("headless:=2")


def test_every_argument_of_arena_3_is_accepted():
    names = (
        "simulator model local_planner inter_planner agent_name robot_setup_file tm_robots tm_obstacles tm_modules map_file "
        "map_path world_file entity_manager sfm headless show_rviz visualization rviz_file complexity record_data record_data_dir "
        "benchmark_resume timeout desired_resets auto_reset reset_remove_all development_mode headless_unity time_scale"
    )
    declared = {arg.get("name") for arg in ElementTree.parse(LAUNCH).getroot().iter("arg")}
    assert set(names.split()) <= declared


@pytest.mark.parametrize(
    ("headless", "show_rviz", "visualization"),
    [("2", "", ""), *itertools.product("01", ("", "true", "false"), ("", "rviz", "flatland"))],
)
def test_windows_are_opened_as_headless_and_show_rviz_say(headless, show_rviz, visualization):
    wanted = headless != "2" and show_rviz != "false" and visualization != "flatland"
    names = started(f"headless:={headless}", f"show_rviz:={show_rviz}", f"visualization:={visualization}")
    assert names == EVERYWHERE | {"navigation_node"} | ({"rviz"} if wanted else set())


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (["navigation:=external"], set()),
        (["navigation:=external", "robot_setup_file:=three"], {"navigation_node"}),
        (["record_data:=true"], {"navigation_node", "recorder"}),
        (["synchronous:=true", "seed:=7"], {"navigation_node"}),
        (["complexity:=1", "time_scale:=3"], {"navigation_node"}),
    ],
)
def test_parts_are_started_where_they_are_asked_for(arguments, more):
    assert started("headless:=2", *arguments) == EVERYWHERE | more


@pytest.mark.parametrize(("controller", "scaled"), [("dwa", set()), ("teb", {"max_vel_x_backwards"})])
def test_move_base_flex_has_the_parameters_of_the_robot_and_its_client_scales_what_the_controller_has(controller, scaled):
    file = LAUNCH.parent / "parts" / "mbf.launch"
    config = loaded("model:=jackal", f"local_planner:={controller}", "mbf_people:=grid", file=file)
    given = config.params["/jackal/move_base_flex"].value
    assert given == mbf_parameters(load_robot("jackal"), "jackal", controller, "grid")
    names = value(config, "/mbf_client/speed_parameters")
    assert set(names) == {"max_vel_x", "max_vel_trans"} | scaled and set(names) <= set(given[controller])
    assert value(config, "/mbf_client/controller") == controller
    server = next(node for node in config.nodes if node.name == "move_base_flex")
    assert server.namespace == "/jackal/" and ["people_grid", "/pedsim_simulator/people_grid"] in map(list, server.remap_args)


@pytest.mark.parametrize("planner", ["mpc", "dwa(vx_samples=12)"])
def test_a_planner_of_the_library_answers_in_the_place_of_move_base_flex(planner):
    told = {"model": "jackal", "local_planner": planner, "inter_planner": "polite", "global_planner": "navfn"}
    config = loaded("navigation:=mbf", *(f"{name}:={text}" for name, text in told.items()))
    assert {"mbf_server", "mbf_client"} <= {node.name for node in config.nodes}
    assert "move_base_flex" not in {node.name for node in config.nodes} and "/jackal/move_base_flex" not in config.params
    assert {name: value(config, f"/mbf_server/{name}") for name in told} == told
    assert value(config, "/mbf_server/robot") == "jackal"
    assert value(config, "/mbf_client/inter_planner") == "bypass", "the server has the interplanner"


def test_parts_that_can_come_back_are_started_again_and_a_limited_run_ends_with_its_last_episode():
    nodes = {node.name: node for node in loaded("record_data:=true", "episodes:=3").nodes}
    again = {name for name, node in nodes.items() if node.respawn}
    assert again == {
        "simulator_node", "pedsim_simulator", "map_generator", "navigation_node", "recorder", "robots", "task_generator_server",
    }  # fmt: skip
    assert "until_finished" in nodes and not any(node.required for node in nodes.values())  # its end would be red in the log
    assert "until_finished" not in {node.name for node in loaded().nodes}


def test_two_graphs_in_groups_have_their_own_nodes_parameters_clocks_and_frames(tmp_path):
    both = tmp_path / "both.launch"
    arguments = '<arg name="headless" value="2"/><arg name="compile" value="false"/><arg name="model" value="{model}"/>'
    inside = f'<include file="{LAUNCH}">{arguments}</include>'
    group = f'<group ns="{{ns}}">{inside}</group>'
    both.write_text(f"<launch>{group.format(ns='one', model='jackal')}{group.format(ns='two', model='go1')}</launch>")
    config = loaded(file=both)
    assert {node.namespace for node in config.nodes} == {"/one/", "/two/"}
    assert (value(config, "/one/model"), value(config, "/two/model")) == ("jackal", "go1")
    for node in config.nodes:
        assert {("/clock", "clock"), ("/tf", "tf"), ("/tf_static", "tf_static")} <= set(map(tuple, node.remap_args))


def test_the_clock_of_a_foreign_simulator_is_not_the_graphs(tmp_path):
    file = tmp_path / "in_a_graph.launch"
    parts = LAUNCH.parent / "parts"
    inside = f'<include file="{parts}/simulator.launch" pass_all_args="true"/>'
    file.write_text(f'<launch><remap from="/clock" to="clock"/>{inside}</launch>')
    remaps = {node.name: dict(node.remap_args)["/clock"] for node in loaded("simulator:=unity", file=file).nodes}
    assert remaps == {"simulator_node": "clock", "unity_endpoint": "unity/clock"}
    (server,) = loaded("synchronous:=true", file=parts / "flatland_server.launch").nodes
    assert (server.name, dict(server.remap_args)["/clock"]) == ("flatland_server", "flatland/clock")


def test_what_a_foreign_simulator_reads_when_it_starts_is_left_alone_where_it_runs_already():
    parts = LAUNCH.parent / "parts"
    graph = loaded("simulator:=flatland", "synchronous:=true", file=parts / "simulator.launch")
    assert not set(graph.params) & {"/train_mode", "/step_size"}
    server = loaded("synchronous:=true", file=parts / "flatland_server.launch")
    assert (value(server, "/train_mode"), value(server, "/step_size")) == (True, 0.05)


def arguments(**changes):
    return dict(zip(CHOICES, ("native", "agora", "1", "false"), strict=True)) | changes


def test_an_argument_without_effect_stops_roslaunch_with_a_line_that_names_it_and_the_mode(master):
    def said(*given):
        command = ["roslaunch", str(LAUNCH), *given, "compile:=false", "--nodes"]
        return subprocess.run(command, env=master.env, capture_output=True, text=True, check=False).stderr

    assert "agora: start_arena.launch: tm_robots: has no effect with suite: demo" in said("suite:=demo", "tm_robots:=circle")
    assert "agora: auto_reset:=false has no effect: episodes always follow each other" in said("auto_reset:=false")
    assert "agora: no visualization called 'rvis'; did you mean 'rviz'?" in said("visualization:=rvis")
    assert "agora:" not in said("suite:=demo", "episodes:=2", "seed:=5", "auto_reset:=true", "headless:=2")


def test_every_argument_of_the_launch_file_is_looked_at_before_anything_is_started():
    root = ElementTree.parse(LAUNCH).getroot()
    declared = {arg.get("name") for arg in root.iter("arg")}
    command = next(param.get("command") for param in root.iter("param") if param.get("name") == "launched")
    free = {"compile", "map_save_dir"}  # they have an effect with every other argument
    assert set(re.findall(r"'(\w+):=\$\(arg \1\)'", command)) == declared - free
    assert {each.name for each in fields(Arguments)} | set(CHOICES) | set(ARENAS) == declared - free
    for name in {each.name for each in fields(Arguments)} - set(CHOICES) - {"record_data", "headless"}:
        default = next(arg.get("default") for arg in root.iter("arg") if arg.get("name") == name)
        assert default == "", f"{name}: a default that is not empty cannot be told from a value that is given"


def test_the_plug_ins_that_every_move_base_flex_of_ours_loads_are_looked_for():
    given = mbf_parameters(load_robot("jackal"), "jackal", "dwa", "grid")
    loaded_always = {part["type"].split("/")[0] for kind in ("planners", "recovery_behaviors") for part in given[kind]}
    assert loaded_always <= set(NEEDS["navigation", "mbf"])


def test_what_cannot_work_is_refused_before_anything_is_started(monkeypatch):
    check(arguments())
    for (name, choice), packages in NEEDS.items():
        for package in packages:
            there = {package: None}  # all but this one
            monkeypatch.setattr("agora_bringup.arguments.ros_package", lambda name, there=there: there.get(name, "/somewhere"))
            with pytest.raises(InputError, match=f"{name}:={choice} needs the ROS package {package}"):
                check(arguments(**{name: choice}))
    monkeypatch.setattr("agora_bringup.arguments.ros_package", lambda name: None)
    check(arguments(navigation="mbf", local_planner="cohan"))
    with pytest.raises(InputError, match="complexity:=3"):
        check(arguments(complexity="3"))
    with pytest.raises(InputError, match="did you mean 'native'"):
        check(arguments(simulator="nativ"))
    monkeypatch.setattr("agora_bringup.arguments.ros_package", lambda name: "/somewhere")
    monkeypatch.setattr("agora_bringup.arguments.available", lambda kind: {"native": None, "glide": None})
    check(arguments(simulator="glide", synchronous="true"))
    with pytest.raises(InputError, match="gazebo cannot be stepped"):
        check(arguments(simulator="gazebo", synchronous="True"))
    with pytest.raises(InputError, match="lock step does not wait for AMCL"):
        check(arguments(complexity="2", synchronous="true"))


def test_everything_is_compiled_for_the_episode_that_the_launch_begins_with(monkeypatch, capsys):
    warmed = []

    def play(make, planners, tell, observed):
        warmed.append((*make(), planners))
        tell("compiling")

    monkeypatch.setattr("agora_task_generator.preparation.warm_episode", play)
    monkeypatch.setattr("agora_task_generator.preparation.Compiled.mark", lambda self: None)
    given = [
        "model:=burger",
        "map_file:=hall",
        "local_planner:=teb(no_horizon=3)",
        "tm_obstacles:=none",
        "sfm:=",
        "navigation:=agora",
    ]
    monkeypatch.setattr("sys.argv", ["prepare", *given[:2], "local_planner:=orca", *given[3:]])
    assert main() == 0
    ((start, stage, planners),) = warmed
    assert start.map.name == "hall" and start.robots[0].model.name == "burger" and start.crowd_size == 0
    assert [planner.name for planner in planners] == ["orca"]
    said = capsys.readouterr()
    assert said.out == "yes\n" and said.err == "agora: compiling\n", "roslaunch takes what is printed for a value"
    monkeypatch.setattr("sys.argv", ["prepare", *given])  # no such parameter: the navigation node says so
    assert main() == 0 and len(warmed) == 1 and capsys.readouterr().out == "no\n"


@pytest.mark.parametrize(
    ("simulator", "service", "package", "wrapper"),
    [
        ("flatland", "move_model", "flatland_server", "flatland_process"),
        ("gazebo", "/gazebo/spawn_sdf_model", "gazebo_ros", "gazebo_server"),
        ("unity", "unity/spawn_model", "ros_tcp_endpoint", "unity_endpoint"),
    ],
)
def test_a_simulator_on_the_roscore_needs_no_package_here_and_is_not_started_again(
    graph, monkeypatch, wait_until, simulator, service, package, wrapper
):
    monkeypatch.setattr("agora_bringup.arguments.ros_package", lambda name: None)
    monkeypatch.setenv("ROS_NAMESPACE", graph.namespace)
    with pytest.raises(InputError, match=f"simulator:={simulator} needs the ROS package {package}.*offers its service {service}"):
        check(arguments(simulator=simulator))
    part = LAUNCH.parent / "parts" / "simulator.launch"
    first = next(node for node in loaded(f"simulator:={simulator}", file=part).nodes if node.name == wrapper)
    assert (first.package, first.type, first.args.split()[0]) == ("agora_bringup", "unless_running", simulator)
    program = find_node("agora_bringup", "unless_running")[0]
    command, environment = [program, simulator, "echo", "starts"], graph.master.env | {"ROS_NAMESPACE": graph.namespace}
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "starts\n"
    graph.serve(service, Empty, lambda _: EmptyResponse())
    check(arguments(simulator=simulator))
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as waits:
        assert waits.stdout.readline() == f"using the {simulator} that is already running on this roscore\n"
        assert waits.poll() is None
        waits.send_signal(signal.SIGINT)
        assert waits.wait(10) == -signal.SIGINT and not waits.stdout.read()


def test_roslaunch_stops_at_what_is_refused_with_a_line_that_says_why(master):
    command = ["roslaunch", str(LAUNCH), "simulator:=gzebo", "--nodes"]
    done = subprocess.run(command, env=master.env, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "agora: no simulator called 'gzebo'; did you mean 'gazebo'?" in done.stderr.splitlines()


@pytest.mark.parametrize("name", robot_names())
def test_static_frames_are_those_of_the_urdf(name):
    model = load_robot(name)
    told = {t.child_frame_id: t for t in frames("r_2", urdf(model))}
    assert {t.header.frame_id for t in told.values()} == {f"r_2/{model.base_frame}"}
    if model.lidar:
        place = told[f"r_2/{model.sensor_frame}"].transform.translation
        assert (place.x, place.y, place.z) == pytest.approx((model.lidar.x, model.lidar.y, body(model).scan_height))


def episode(**models):
    return Episode(number=1, robots=[Robot(name=name, model=model) for name, model in models.items()])


@pytest.mark.parametrize("state_publisher", [True, False], ids=["robot_state_publisher", "the node itself"])
def test_the_robots_of_an_episode_are_described_and_their_frames_told(graph, launch_node, wait_until, state_publisher):
    clock, now = rospy.Publisher("/clock", Clock, queue_size=1), itertools.count(1)

    def tick():
        clock.publish(rospy.Time(0.1 * next(now)))

    buffer = tf2_ros.Buffer(debug=False)
    listener = tf2_ros.TransformListener(buffer)
    node = launch_node("agora_bringup", "robots", state_publisher=state_publisher)
    say = graph.publisher("task_generator_server/episode", Episode, latch=True)
    say.publish(episode(f1="f1tenth", burger="burger"))
    wait_until(lambda: rospy.has_param(graph.name("burger/robot_description")), "the description of burger")
    assert rospy.get_param(graph.name("f1/robot_description")) == urdf(load_robot("f1tenth"), colour_of(0))
    for parent, child in (("f1/base_link", "f1/laser"), ("burger/base_footprint", "burger/base_scan")):
        wait_until(lambda p=parent, c=child: tick() or buffer.can_transform(p, c, rospy.Time(0)), f"the frame {child}\n{node.log}")
    found = buffer.lookup_transform("f1/base_link", "f1/laser", rospy.Time(0)).transform.translation
    assert found.x == pytest.approx(load_robot("f1tenth").lidar.x)
    here = Path(f"/proc/{node.process.pid}/task/{node.process.pid}")
    publishers = [Path(f"/proc/{pid}/cmdline") for pid in (here / "children").read_text().split()]
    assert len(publishers) == (2 if state_publisher else 0)
    os.kill(node.process.pid, signal.SIGKILL)
    wait_until(lambda: not any(p.exists() and p.read_bytes() for p in publishers), "the end of those that the node had started")
    listener.unregister()
    clock.unregister()


def test_rviz_shows_every_robot_and_names_the_first_where_only_one_can_be():
    begun = episode(jackal_0="jackal", jackal_1="jackal", go1="go1")

    def on(rows: int, columns: int) -> None:
        place = Map("x", 0.1, (-3.0, 5.0), np.zeros((rows, columns), np.bool_))
        begun.resolved = to_episode(start(place=place), TaskGenerator().stage.conditions(), [Robot(name="x")], 1).resolved

    on(100, 400)
    tree = yaml.safe_load(filled(configuration("nav").read_text(), begun))["Visualization Manager"]
    view = tree["Views"]["Current"]
    assert (view["X"], view["Y"]) == pytest.approx((17.0, 10.0))
    assert view["Scale"] * 40.0 < 1000
    people = next(display for display in tree["Displays"] if display["Name"] == "Pedestrians")["Namespaces"]
    assert people["people"] and not people["names"]  # at 24 pixels a metre they would be 7 pixels high
    on(150, 200)
    near = yaml.safe_load(filled(configuration("nav").read_text(), begun))["Visualization Manager"]
    assert next(display for display in near["Displays"] if display["Name"] == "Pedestrians")["Namespaces"]["names"]
    groups = [display for display in tree["Displays"] if display["Class"] == "rviz/Group"]
    assert [group["Name"] for group in groups] == ["jackal_0", "jackal_1", "go1"]
    topics = [[d["Topic"] for d in group["Displays"] if d["Class"] == "rviz/LaserScan"] for group in groups]
    assert topics == [["jackal_0/scan"], ["jackal_1/scan"], ["go1/scan"]]
    with pytest.raises(InputError, match="did you mean 'nav'"):
        configuration("naw")


def test_the_graph_that_is_launched_moves_a_robot_and_ends_with_its_last_episode(graph, wait_until):
    inside = f'<include file="{LAUNCH}">' + "".join(
        f'<arg name="{name}" value="{value}"/>'
        for name, value in {"headless": 2, "model": "jackal", "map_file": "hall", "timeout": 3, "episodes": 1}.items()
    )
    file = graph.folder / "graph.launch"
    file.write_text(f'<launch><group ns="{graph.namespace}">{inside}</include></group></launch>')
    robots = graph.hear("simulator/robots", Robots)
    log = graph.folder / "roslaunch.log"
    with log.open("wb") as out:
        launched = subprocess.Popen(["roslaunch", str(file)], env=graph.master.env, stdout=out, stderr=subprocess.STDOUT)
    try:
        robots.wait_for(lambda m: any(abs(v) > 0.05 for v in m.vx), f"a robot that moves; roslaunch said\n{log.read_text()}")
        wait_until(lambda: launched.poll() is not None, "the end of the last episode")
    finally:
        launched.send_signal(signal.SIGINT)
        launched.wait(30)
    said = log.read_text()
    assert "functions in" not in said, "no node compiles what was compiled before the graph was up"
    assert "Traceback" not in said and "has died" not in said and "lost the connection to" not in said
    assert "episode 1: timeout, 3.0 s, 0 contacts" in said and "1 resets in total: 1 timeout" in said
    assert launched.returncode == 0
