"""The arguments of the launch file: each has an effect beside the others, or is refused by its name."""

from __future__ import annotations

import pickle
from dataclasses import fields
from typing import Any

import pytest

from agora.errors import InputError
from agora.node_logic.arguments import Arguments, arguments_of
from agora.share import folder
from agora.tasks.generator import TaskGenerator
from agora.tasks.suite import load_suite, with_seed
from agora.wire.plain import to_plain

MODES: dict[str, dict[str, Any]] = {
    "random": {},
    "circle": {"tm_robots": "circle(radius=[1.5, 1.5])", "tm_obstacles": "none", "map_file": "map_empty"},
    "scenario": {"tm_robots": "scenario", "tm_obstacles": "scenario", "map_file": "hospital"},
    "guided": {"tm_robots": "guided", "tm_obstacles": "parametrized", "map_file": "hall"},
    "groups": {"tm_obstacles": "groups", "map_file": "hall"},
    "staged": {"tm_modules": "staged", "map_file": "hall"},
    "dynamic map": {"tm_modules": "dynamic_map"},
    "benchmark": {"tm_modules": "benchmark"},
    "suite": {"suite": "single_pedestrian"},
    "setup": {"robot_setup_file": "three"},
    "external": {"navigation": "external"},
    "mbf": {"navigation": "mbf"},
    "mbf_server": {"navigation": "mbf", "local_planner": "orca"},
    "lock step": {"synchronous": True},
    "unity": {"simulator": "unity", "headless": 2},
    "recorded": {"record_data": True, "visualization": "none"},
}
OTHER: dict[str, Any] = {
    "simulator": "mujoco",
    "unity_player": "./player",
    "unity_ip": "127.0.0.2",
    "unity_port": 10_001,
    "tm_robots": "explore",
    "tm_obstacles": "none",
    "tm_modules": "dynamic_map",
    "map_file": "hospital",
    "scenario_file": "delivery",
    "config": "CONFIG",
    "suite": "demo",
    "timeout": 21.5,
    "episodes": 3,
    "seed": 77,
    "model": "burger",
    "robot_setup_file": "three",
    "local_planner": "mpc",
    "inter_planner": "polite",
    "global_planner": "navfn",
    "agent_name": "some_policy",
    "navigation": "external",
    "mbf_people": "grid",
    "sfm": "helbing",
    "behaviours": "groups",
    "synchronous": True,
    "time_scale": 2.0,
    "periods": "control=0.2",
    "record_data": True,
    "record_data_dir": "bags",
    "headless": 1,
    "show_rviz": False,
    "visualization": "flatland",
    "rviz_file": "other",
}
"""A value of every argument that is not its default."""

OF_THE_NODES = ("simulator", "unity_player", "unity_ip", "unity_port", "mbf_people", "synchronous", "time_scale", "record_data")
OF_THE_NODES += ("record_data_dir", "headless", "show_rviz", "visualization", "rviz_file", "navigation")
"""Arguments that nodes other than the task generator read; which of them is started, the tests of the launch files say."""


DECIDE = (
    "suite",
    "robot_setup_file",
    "tm_modules",
    "tm_obstacles",
    "simulator",
    "synchronous",
    "navigation",
    "local_planner",
    "headless",
)
"""Arguments beside which those of a mode may have no effect."""


STARTED = ("circle", "scenario", "dynamic map", "suite")
"""Modes of which an episode is put together for every argument; of the others its stage and its seed are compared."""


def played(arguments: Arguments, started: bool) -> tuple[object, ...]:
    """Return what the arguments ask of the task generator and of the navigation: an episode, conditions, planners."""
    robots = [(r.local_planner, r.inter_planner, r.navigation) for r in arguments.robots()], arguments.agent_name
    if arguments.suite:
        suite = with_seed(load_suite(arguments.suite), arguments.seed)
        return *robots, arguments.episodes, suite.seed, pickle.dumps(to_plain(suite.start(suite.stages[0].name, 0)))
    modes = arguments.modes()
    named = {f"tm_{kind}": modes.pop(kind) for kind in ("robots", "obstacles", "modules")}
    generator = TaskGenerator(arguments.config or None, **named, **modes, periods=arguments.how_often(), seed=arguments.seed)
    generator.configure(**arguments.over_settings())
    asked = (*robots, generator.setup.settings, generator.seed, generator.stage)
    return (*asked, pickle.dumps(to_plain(generator.start(0)))) if started else asked


@pytest.mark.parametrize("mode", MODES)
def test_every_argument_changes_what_is_played_or_is_refused_by_its_name(mode, tmp_path):
    config = tmp_path / "task_generator.yaml"
    usual = (folder("configs") / "task_generator.yaml").read_text(encoding="utf-8")
    config.write_text(usual.replace("goal_radius: 1.0", "goal_radius: 0.4"), encoding="utf-8")
    before = arguments_of(MODES[mode], Arguments, "launch")
    assert set(OTHER) == {each.name for each in fields(Arguments)}
    asked = played(before, mode in STARTED)
    for name, value in OTHER.items():
        if name in MODES[mode]:
            continue
        given = {**MODES[mode], name: str(config) if name == "config" else value}
        try:
            after = played(arguments_of(given, Arguments, "launch"), mode in STARTED)
        except InputError as error:
            assert f"launch: {name}: has no effect with " in str(error) or name in DECIDE, error
            continue
        assert after != asked or name in OF_THE_NODES, f"{name} has no effect with {MODES[mode]}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"suite": "demo", "tm_robots": "circle"}, "tm_robots: has no effect with suite: demo"),
        ({"suite": "demo", "config": "x.yaml"}, "config: has no effect with suite: demo"),
        ({"suite": "demo", "sfm": "orca"}, "sfm: has no effect with suite: demo"),
        ({"tm_modules": "dynamic_map", "map_file": "hall"}, "map_file: has no effect with tm_modules: dynamic_map"),
        ({"scenario_file": "delivery"}, "scenario_file: has no effect with tm_robots: random and tm_obstacles: random"),
        ({"navigation": "external", "local_planner": "orca"}, "local_planner: has no effect with navigation: external"),
        ({"navigation": "mbf", "global_planner": "navfn"}, "global_planner: has no effect with Move Base Flex's own"),
        ({"robot_setup_file": "three", "model": "jackal"}, "model: has no effect with robot_setup_file: three"),
        ({"agent_name": "some"}, "agent_name: has no effect with local_planner: dwa, which takes no policy"),
        ({"local_planner": "dwa+polite", "inter_planner": "meta"}, "inter_planner: has no effect with local_planner: dwa[+]polite"),
        ({"synchronous": True, "time_scale": 3}, "time_scale: has no effect with synchronous: true"),
        ({"record_data_dir": "bags"}, "record_data_dir: has no effect with record_data: false"),
        ({"headless": 2, "rviz_file": "nav"}, "rviz_file: has no effect with headless: 2"),
        ({"unity_port": 7}, "unity_port: has no effect with simulator: native"),
        ({"visualization": "rvis"}, "visualization: expected one of rviz, flatland, none"),
    ],
)
def test_an_argument_without_effect_is_refused_with_the_mode(given, message):
    with pytest.raises(InputError, match=message):
        arguments_of(given, Arguments, "start_arena.launch")


def test_a_plugin_moves_the_people_of_a_suite_and_empty_texts_say_nothing():
    given = {"suite": "demo", "sfm": "plugins:swirl", "tm_robots": "", "model": "", "seed": ""}
    assert arguments_of(given, Arguments, "launch") == Arguments(suite="demo", sfm="plugins:swirl")


def test_the_robots_that_are_named_are_as_many_as_are_placed():
    def count(**given: Any) -> int:
        modes = arguments_of({"tm_obstacles": "none", **given}, Arguments, "launch").modes()
        named = {f"tm_{kind}": modes.pop(kind) for kind in ("robots", "obstacles", "modules")}
        return len(TaskGenerator(**named, **modes).start(0).robots)

    modes = ("random", "circle", "circle(radius=[3, 4])", "explore", "guided")
    assert {mode: count(tm_robots=mode, model="jackal") for mode in modes} == dict.fromkeys(modes, 1)
    assert count(tm_robots="circle", robot_setup_file="three") == 3
    assert count(tm_robots="circle(count=5)", model="jackal") == 5, "a count that is given goes before"
    with pytest.raises(InputError, match="robot: expected one model or one per robot, got 3 models for 5 robots"):
        count(tm_robots="circle(count=5)", robot_setup_file="three")


def test_the_agent_of_a_robot_is_the_policy_of_its_planner_or_is_refused(tmp_path):
    def planner(line: str) -> str:
        file = tmp_path / "setup.yaml"
        file.write_text(f"robots:\n- {line}\n")
        return arguments_of({"robot_setup_file": str(file)}, Arguments, "launch").robots()[0].local_planner

    assert planner("{model: jackal, planner: sa_cadrl, agent: mine}") == 'sa_cadrl:file="mine"'
    assert planner("{model: jackal, planner: teb, agent: jackal}") == "teb", "Arena's files repeat the model"
    with pytest.raises(InputError, match="robot 'jackal': agent 'mine' has no effect with planner 'teb'"):
        planner("{model: jackal, planner: teb, agent: mine}")
