"""The arguments of ``start_arena.launch``: which of them have an effect in combination with the others, and which robots they
select.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

from agora.config import build, parse_component, parse_components, parse_parameters, split
from agora.draft.periods import Periods
from agora.draft.stage import CrowdSettings, NavigationSettings
from agora.errors import InputError, UnknownNameError
from agora.node_logic.arena import crowd_model, names_plugin
from agora.planners.presets import names_interplanner, takes_policy, with_policy
from agora.registry import available
from agora.robots.mbf import CONTROLLERS
from agora.share import named_file
from agora.tasks.robot_setup import Driver, RobotEntry, read_robot_setup

__all__ = ["Arguments", "arguments_of", "without_effect"]

A = TypeVar("A", bound="Arguments")

_OF_A_STAGE: tuple[str, ...] = ("tm_robots", "tm_obstacles", "tm_modules", "map_file", "scenario_file", "model", "global_planner")
_OF_A_STAGE += ("behaviours", "timeout", "periods", "config")
_OF_A_BENCHMARK: tuple[str, ...] = (
    "tm_robots",
    "tm_obstacles",
    "map_file",
    "scenario_file",
    "model",
    "robot_setup_file",
    "global_planner",
)
_OF_A_BENCHMARK += ("timeout", "periods", "local_planner", "inter_planner", "agent_name")
_FREE_RUNNING = Periods(physics=1 / 30, control=0.1, crowd=1 / 30, sensor=0.1)
_IN_THE_NODE = ("rviz_ui",)
"""Arena's modules that are always active in the task generator's node."""


@dataclass(frozen=True)
class Arguments:
    """The launch arguments whose effect depends on other arguments; omitted arguments have their defaults.

    Attributes:
        simulator: name of the simulator.
        unity_player: command that starts a Unity player.
        unity_ip: address at which the player connects.
        unity_port: port at which the player connects.
        tm_robots: robots mode, with parameters: ``circle(count=4)``.
        tm_obstacles: obstacles mode, with parameters.
        tm_modules: modules, separated by commas.
        map_file: name of the world.
        scenario_file: name of a scenario of the world.
        config: path of a ``task_generator.yaml`` file.
        suite: name or path of a suite whose episodes are run instead of episodes from task modes.
        timeout: time limit of an episode, s; by default, the limit in the settings.
        episodes: number of episodes after which the graph shuts down; by default, the number in the settings or the suite.
        seed: seed of all random streams and generated places; by default, the suite's seed or, without a suite, 0.
        model: model of the robot.
        robot_setup_file: file that describes several robots.
        local_planner: local planner, or a preset of one, with parameters: ``dwa(vx_samples=12)``.
        inter_planner: interplanner, or a preset of one, with parameters.
        global_planner: global planner, or a preset of one, with parameters.
        agent_name: policy of a learned local planner.
        navigation: software that drives the robots.
        mbf_people: how pedestrians enter Move Base Flex's global costmap.
        sfm: crowd model, or a plugin ``module:name``.
        behaviours: behaviours of pedestrians, separated by commas.
        synchronous: whether the graph runs in lock step.
        time_scale: simulated seconds per real second.
        periods: periods that replace the defaults, such as ``physics=0.05,control=0.1``.
        record_data: whether to record bags.
        record_data_dir: folder for the bags.
        headless: 2 for no window.
        show_rviz: whether to open RViz.
        visualization: program that visualises the simulation.
        rviz_file: configuration file for RViz.
    """

    simulator: str = "native"
    unity_player: str = ""
    unity_ip: str = "127.0.0.1"
    unity_port: int = 10_000
    tm_robots: str = "random"
    tm_obstacles: str = "random"
    tm_modules: str = ""
    map_file: str = "map_empty"
    scenario_file: str = ""
    config: str = ""
    suite: str = ""
    timeout: float | Literal["auto"] | None = None
    episodes: int | None = None
    seed: int | None = None
    model: str = "jackal"
    robot_setup_file: str = ""
    local_planner: str = "dwa"
    inter_planner: str = "bypass"
    global_planner: str = "a_star"
    agent_name: str = ""
    navigation: Driver = "agora"
    mbf_people: Literal["cloud", "grid", "none"] = "cloud"
    sfm: str = ""
    behaviours: str = ""
    synchronous: bool = False
    time_scale: float = 1.0
    periods: str = ""
    record_data: bool = False
    record_data_dir: str = "auto:"
    headless: Literal[0, 1, 2] = 0
    show_rviz: bool = True
    visualization: Literal["rviz", "flatland", "none"] = "rviz"
    rviz_file: str = "nav"

    @cached_property
    def entries(self) -> list[RobotEntry]:
        """Return one entry per robot, with unresolved values: the robots in the setup file, or the single robot given by ``model``.

        Raises:
            InputError: the robot setup file is invalid, or a robot is unknown.
        """
        if self.robot_setup_file:
            return read_robot_setup(named_file("robot_setup", self.robot_setup_file, ".yaml"))
        return [build({"model": self.model}, RobotEntry, "parameters")]

    def robots(self) -> list[RobotEntry]:
        """Return the robots to drive, one entry per robot, with all values resolved.

        Raises:
            InputError: as for `entries`, or a robot has an agent that its planner cannot use.
        """
        return [
            replace(
                entry,
                local_planner=_with_agent(entry, entry.local_planner or self.local_planner),
                planner="",
                inter_planner=entry.inter_planner or self.inter_planner,
                navigation=entry.navigation or self.navigation,
                agent="",
            )
            for entry in self.entries
        ]

    @property
    def module_names(self) -> list[str]:
        """The names of the modules, without parameters."""
        return [_name(module) for module in split(self.tm_modules)]

    def unread(self) -> Mapping[str, str]:
        """Return the arguments that have no effect in combination with the others, with reasons."""
        found: dict[str, str] = {}
        for names, why in (*self._of_episodes(), *self._of_robots(), *self._of_the_graph()):
            found = dict.fromkeys(names, why) | found
        return found

    def _of_episodes(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the names of arguments that have no effect on the episodes, with reasons."""
        modules, modes = self.module_names, {_name(self.tm_robots), _name(self.tm_obstacles)}
        found: list[tuple[tuple[str, ...], str]] = []
        if self.suite:
            sfm = () if names_plugin(self.sfm) else ("sfm",)
            found.append(((*_OF_A_STAGE, *sfm), f"with suite: {self.suite}, whose stages set it"))
        if "benchmark" in modules:
            found.append((_OF_A_BENCHMARK, "with tm_modules: benchmark, whose suite and contest set it"))
        if "dynamic_map" in modules and self.map_file != "dynamic_map":
            found.append((("map_file",), "with tm_modules: dynamic_map, which generates the maps"))
        if "scenario" not in modes and modes <= {*available("robots_modes"), *available("obstacles_modes")}:
            found.append((("scenario_file",), f"with tm_robots: {self.tm_robots} and tm_obstacles: {self.tm_obstacles}"))
        return found

    def _of_robots(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the names of arguments that have no effect on the robots and their planners, with reasons."""
        found: list[tuple[tuple[str, ...], str]] = []
        robots = self.robots()
        planners = [robot.local_planner for robot in robots if robot.planned_here]
        flex = self.navigation == "mbf" and self.local_planner in CONTROLLERS
        if self.robot_setup_file:
            file = f"with robot_setup_file: {self.robot_setup_file}"
            found.append((("model",), file))
            own = ("local_planner", "inter_planner", "navigation")
            said = tuple(name for name in own if all(getattr(entry, name) for entry in self.entries))
            found.append((said, f"{file}, which sets it for every robot"))
        if not planners and not flex:
            found.append((("local_planner", "inter_planner", "global_planner"), f"with navigation: {self.navigation}"))
        if flex:
            found.append((("global_planner",), "with Move Base Flex's own local planner, whose global planner is navfn"))
        else:
            found.append((("mbf_people",), f"with navigation: {self.navigation} and local_planner: {self.local_planner}"))
        if planners and all(names_interplanner(planner) for planner in planners):
            found.append((("inter_planner",), f"with local_planner: {self.local_planner}, which names one"))
        if self.agent_name and not any(takes_policy(planner) for planner in planners):
            found.append((("agent_name",), f"with local_planner: {self.local_planner}, which takes no policy or already names one"))
        return found

    def _of_the_graph(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the names of arguments that have no effect on the simulator, the bags and the windows, with reasons."""
        found: list[tuple[tuple[str, ...], str]] = []
        if self.simulator != "unity":
            found.append((("unity_player", "unity_ip", "unity_port"), f"with simulator: {self.simulator}"))
        if self.synchronous:
            found.append((("time_scale",), "with synchronous: true, which runs as fast as all nodes answer"))
        if not self.record_data:
            found.append((("record_data_dir",), "with record_data: false"))
        if self.headless == 2:
            found.append((("show_rviz", "visualization", "rviz_file"), "with headless: 2, which opens no window"))
        elif not self.show_rviz or self.visualization != "rviz":
            shown = "show_rviz: false" if not self.show_rviz else f"visualization: {self.visualization}"
            found.append((("rviz_file",), f"with {shown}"))
        return found

    def modes(self) -> dict[str, Any]:
        """Return the arguments for `agora.tasks.generator.TaskGenerator.switch`.

        Raises:
            InputError: a component is unknown or rejects its parameters.
        """
        models = tuple(entry.model for entry in self.robots())
        names = [name.strip() for name in split(self.tm_modules)]
        return {
            "robots": self.tm_robots,
            "obstacles": self.tm_obstacles,
            "modules": tuple(name for name in names if name not in _IN_THE_NODE),
            "world": self.map_file,
            "robot": models[0] if len(models) == 1 else models,
            "crowd": self._crowd(),
            "navigation": NavigationSettings(parse_component("global_planners", self.global_planner, "global_planner")),
        }

    def _crowd(self) -> CrowdSettings:
        behaviours = parse_components("behaviours", self.behaviours, "behaviours")
        library = bool(self.sfm) and not names_plugin(self.sfm)
        return CrowdSettings(model=crowd_model(self.sfm) if library else None, behaviours=behaviours)

    def over_settings(self) -> dict[str, Any]:
        """Return the settings that the launch arguments determine, keyed by Arena's names."""
        episodes = None if self.suite else self.episodes
        named = {"SCENARIO_file": self.scenario_file or None, "timeout": self.timeout, "episodes": episodes}
        return {name: value for name, value in named.items() if value is not None}

    def how_often(self) -> Periods:
        """Return the update periods for episodes that task modes create.

        Raises:
            InputError: the periods are inconsistent.
        """
        usual = Periods() if self.synchronous else _FREE_RUNNING
        given = parse_parameters(self.periods, "periods")
        known = [field.name for field in fields(Periods)]
        for name in given:
            if name not in known:
                raise UnknownNameError("period", name, known)
        try:
            return replace(usual, **build(given, dict[str, float], "periods"))
        except (TypeError, ValueError) as error:
            raise InputError(f"periods: {error}") from error


def arguments_of(given: Mapping[str, Any], kind: type[A], where: str, before: Mapping[str, Any] | None = None) -> A:
    """Build the arguments from plain values. Empty strings are ignored, and strings that roslaunch has converted to numbers are
    accepted.

    Args:
        given: values, keyed by name; names that `Arguments` does not have are ignored.
        kind: `Arguments`, or a class with the same fields.
        where: name of the values in messages.
        before: earlier values, which are accepted even if they lost their effect when modes were switched.

    Raises:
        InputError: a value has the wrong type, or an argument has no effect in combination with the others.
    """
    made, wrong = _taken(given, kind, where, before or {})
    if wrong:
        raise InputError("\n".join(wrong))
    return made


def without_effect(given: Mapping[str, Any], where: str) -> list[str]:
    """Return a line for each argument that has no effect in combination with the others; empty if a value is invalid, because the
    node that uses it reports the error.

    Args:
        given: values, keyed by name, as for `arguments_of`.
        where: name of the values in messages.
    """
    try:
        return _taken(given, Arguments, where, {})[1]
    except InputError:
        return []


def _taken(given: Mapping[str, Any], kind: type[A], where: str, before: Mapping[str, Any]) -> tuple[A, list[str]]:
    """Return the arguments, and a line for each new argument that has no effect."""
    types = {field.name: str(field.type) for field in fields(Arguments)}
    values = {name: _value(value, types[name]) for name, value in given.items() if name in types and value not in ("", None)}
    made = build(values, kind, where, complete=True)
    news = [name for name in values if before.get(name) != given[name]]
    return made, [f"{where}: {name}: has no effect {why}; leave it out" for name, why in made.unread().items() if name in news]


def _value(value: Any, kind: str) -> Any:
    """Convert a value from the parameter server to the type of its field."""
    if kind == "str":
        return str(value)
    return bool(value) if kind == "bool" and value in (0, 1) else value


def _name(text: str) -> str:
    """Return the name of a component, without parameters."""
    return re.split("[(:]", text.strip(), maxsplit=1)[0]


def _with_agent(entry: RobotEntry, planner: str) -> str:
    """Return a robot's planner combined with its agent. In Arena's files, a planner that does not use an agent has the robot
    model's name as its agent.

    Raises:
        InputError: the planner does not use a policy, or already has one.
    """
    if not entry.agent:
        return planner
    if takes_policy(planner):
        return with_policy(planner, entry.agent)
    if entry.agent == entry.model:
        return planner
    raise InputError(
        f"robot {entry.model!r}: agent {entry.agent!r} has no effect with planner {planner!r}, which takes no policy or names one"
    )
