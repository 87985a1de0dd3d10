"""Runs an interplanner between an external global planner and an external controller, for one robot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from agora.draft.periods import Periods
from agora.episode import Conditions
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.maps.grid import Map
from agora.node_logic.decision import Led
from agora.node_logic.navigator import Navigator
from agora.planners.global_.astar import AStar
from agora.planners.guided import GuidedPlanner
from agora.planners.inter.retreat import Retreat
from agora.registry import Named
from agora.robots.model import RobotModel

__all__ = ["Relay"]

_NEAR = 0.05  # m, maximum distance between the ends of two paths that count as the same path
_ROOM = 0.5  # m, maximum distance between a goal and the end of a path to it, because global planners have a tolerance


@dataclass(frozen=True)
class Elsewhere:
    """A placeholder for the local planner of robots whose controller is an external program."""

    declares: ClassVar[Declaration] = Declaration(needs=("path",))

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return zero twists."""
        return Answer(np.zeros((len(observation.pose), 3), np.float32))


class Relay:
    """Periodically asks an interplanner for the path that a controller should follow.

    Args:
        model: model of the robot.
        interplanner: the interplanner; when it retreats, it uses only the scan.
        period: time between two requests, s.
        room: number of slots for pedestrians.

    Raises:
        InputError: the interplanner needs a costmap. Move Base Flex has its own costmap, on which it replans itself.

    Attributes:
        navigator: navigator that receives the observations (`see_robot`, `see_scan`, `people`); its only robot is robot 0.
    """

    def __init__(self, model: RobotModel, interplanner: Named, period: float = 0.2, room: int = 64) -> None:
        periods = Periods(physics=period, control=period, crowd=period, sensor=period)
        if isinstance(interplanner.part, Retreat):
            interplanner = replace(interplanner, part=replace(interplanner.part, window=None))
        if "costmap" in interplanner.part.declares.channels:
            raise InputError(f"interplanner {interplanner.name}: it reads a costmap, but Move Base Flex plans with its own costmap")
        planner = GuidedPlanner(Named("elsewhere", Elsewhere()), interplanner)
        nowhere = Map.open((-1.0, -1.0), (1.0, 1.0), resolution=0.5, name="nowhere")
        conditions = Conditions(periods=periods, global_planner=AStar(spacing=0.5))
        self.navigator = Navigator.on_map(nowhere, [model], planner, conditions, room=room, patience=math.inf)
        self._sent: Led | None = None

    def begin(self, goal: ArrayLike) -> None:
        """Start towards another goal (3,)."""
        self.navigator.forget()
        self.navigator.set_goal(0, goal)
        self._sent = None

    def guide(self, path: ArrayLike, time: float) -> Led:
        """Return the interplanner's guidance for a path (K, 2) at ``time``, in seconds."""
        self.navigator.lead(0, path)
        self.navigator.decide(time, 0, np.ones(1, np.bool_))
        return self.navigator.guidance(0)

    def is_news(self, led: Led) -> bool:
        """Return whether the guidance differs enough to be sent to the controller, and record it as sent."""
        sent, self._sent = self._sent, led
        if sent is None or len(sent.path) == 0 or len(led.path) == 0:
            return True
        return math.dist(sent.path[-1], led.path[-1]) > _NEAR

    def leads_to_goal(self, led: Led) -> bool:
        """Return whether the path ends at the goal rather than at an intermediate or substitute position."""
        goal = self.navigator.goal(0)
        return goal is None or len(led.path) == 0 or math.dist(goal[:2], led.path[-1]) <= _ROOM
