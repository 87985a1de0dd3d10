"""The parameters of the graph: the launch arguments, read from the parameter server in one call."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import rosgraph
import rospy

from agora.config import build, parse_component, parse_components, parse_parameters, split
from agora.draft.periods import Periods
from agora.draft.stage import CrowdSettings, NavigationSettings
from agora.errors import InputError, UnknownNameError
from agora.nodes.arena import crowd_model, names_plugin
from agora.nodes.arguments import Arguments, arguments_of

_FREE_RUNNING = Periods(physics=1 / 30, control=0.1, crowd=1 / 30, sensor=0.1)
_IN_THE_NODE = ("rviz_ui",)
"""Modules of Arena's that are always at work in this node."""


class Parameters(Arguments):
    """The launch arguments, of which the task generator reads those of modes, robots and crowds; their names are the launch file's.

    ``seed``, ``periods``, ``synchronous`` and ``suite`` count as they are at the start, the others as they are at each reset.
    """

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
        """The parameters of plain values (`agora.nodes.arguments.arguments_of`).

        Raises:
            InputError: a value of another type, or an argument that has no effect beside the others.
        """
        return arguments_of(tree, Parameters, "parameters")

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
        episodes = None if self.suite else self.episodes
        named = {"SCENARIO_file": self.scenario_file or None, "timeout": self.timeout, "episodes": episodes}
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
