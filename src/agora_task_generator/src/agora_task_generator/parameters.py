"""The parameters of the graph: the launch arguments, read from the parameter server in one call."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import rosgraph
import rospy

from agora.config import build, parse_component, parse_components, parse_parameters, split
from agora.draft.periods import Periods
from agora.draft.stage import CrowdSettings, NavigationSettings
from agora.errors import InputError, UnknownNameError
from agora.nodes.arena import crowd_model, names_plugin
from agora.share import named_file
from agora.tasks.robot_setup import Driver, RobotEntry, read_robot_setup

_FREE_RUNNING = Periods(physics=1 / 30, control=0.1, crowd=1 / 30, sensor=0.1)
_IN_THE_NODE = ("rviz_ui",)
"""Modules of Arena's that are always at work in this node."""


@dataclass(frozen=True)
class Parameters:
    """The launch arguments that the task generator reads; their names are those of ``start_arena.launch``.

    ``seed``, ``periods``, ``synchronous`` and ``suite`` count as they are at the start, the others as they are at each reset.

    Attributes:
        tm_robots: as in Arena 3.0.
        tm_obstacles: as in Arena 3.0.
        tm_modules: as in Arena 3.0.
        map_file: as in Arena 3.0.
        model: as in Arena 3.0.
        robot_setup_file: as in Arena 3.0.
        local_planner: local planner, or preset of one, by name, with parameters: ``dwa(vx_samples=12)``.
        inter_planner: interplanner by name, with parameters.
        agent_name: policy of a learned local planner.
        global_planner: global planner by name, with parameters.
        navigation: driver of the robots.
        sfm: crowd model; the library's where empty, or where it is a plugin's.
        behaviours: behaviours of the pedestrians, with commas between them: ``groups,social_states(...)``.
        scenario_file: scenario file over that of the settings where given.
        timeout: time limit over that of the settings where given, s.
        episodes: number of episodes over that of the settings where given.
        seed: seed of every random stream.
        suite: name or path of a suite; its episodes are played instead of task modes.
        synchronous: whether the graph runs in lock step.
        periods: ``physics=0.05,control=0.1`` over the usual ones.
        record_data: whether there is a recorder.
        record_data_dir: folder of bags; the recorder reads it, too.
    """

    tm_robots: str = "random"
    tm_obstacles: str = "random"
    tm_modules: str = ""
    map_file: str = "hall"
    model: str = "jackal"
    robot_setup_file: str = ""
    local_planner: str = "dwa"
    inter_planner: str = ""
    agent_name: str = ""
    global_planner: str = "a_star"
    navigation: Driver = "agora"
    sfm: str = ""
    behaviours: str = ""
    scenario_file: str = ""
    timeout: float | Literal["auto"] | None = None
    episodes: int | None = None
    seed: int = 0
    suite: str = ""
    synchronous: bool = False
    periods: str = ""
    record_data: bool = False
    record_data_dir: str = ""

    @staticmethod
    def read() -> tuple[Parameters, dict[str, Any]]:
        """The parameters of the graph's namespace, and the node's private ones.

        Raises:
            InputError: a value of another type.
        """
        # not rospy.get_param: of the root it answers with no more than the parameters that rospy itself has cached
        tree = rosgraph.Master(rospy.get_name()).getParam(rospy.get_namespace())
        private = tree.get(rospy.get_name().rpartition("/")[2], {})
        return Parameters.of(tree), private if isinstance(private, dict) else {}

    @staticmethod
    def of(tree: Mapping[str, Any]) -> Parameters:
        """The parameters of plain values; a text that is empty says nothing, and roslaunch makes numbers of texts.

        Raises:
            InputError: a value of another type.
        """
        values = {}
        for field in dataclasses.fields(Parameters):
            value = tree.get(field.name, "")
            if value != "":
                values[field.name] = str(value) if field.type == "str" else value
        return build(values, Parameters, "parameters")

    def robots(self) -> list[RobotEntry]:
        """Return the robots to drive, an entry a robot, nothing left open.

        Raises:
            InputError: the robot setup file is wrong, or there is no such robot.
        """
        if not self.robot_setup_file:
            given = [build({"model": self.model}, RobotEntry, "parameters")]
        else:
            given = read_robot_setup(named_file("robot_setup", self.robot_setup_file, ".yaml"))
        return [
            replace(
                entry,
                local_planner=entry.local_planner or self.local_planner,
                planner="",
                inter_planner=entry.inter_planner or self.inter_planner,
                navigation=entry.navigation or self.navigation,
            )
            for entry in given
        ]

    def modes(self) -> dict[str, Any]:
        """Return the arguments of `agora.tasks.generator.TaskGenerator.switch`.

        Raises:
            InputError: a component that does not exist, or parameters that it refuses.
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
        """The settings that launch arguments decide, by Arena's names."""
        named = {"SCENARIO_file": self.scenario_file or None, "timeout": self.timeout, "episodes": self.episodes}
        return {name: value for name, value in named.items() if value is not None}

    def how_often(self) -> Periods:
        """Return the periods of episodes of task modes.

        Raises:
            InputError: periods that do not fit.
        """
        usual = Periods() if self.synchronous else _FREE_RUNNING
        given = parse_parameters(self.periods, "periods")
        known = [field.name for field in dataclasses.fields(Periods)]
        for name in given:
            if name not in known:
                raise UnknownNameError("period", name, known)
        try:
            return replace(usual, **build(given, dict[str, float], "periods"))
        except (TypeError, ValueError) as error:
            raise InputError(f"periods: {error}") from error
