"""The conditions of a batch: settings that all of its episodes share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agora.interfaces import Terms
from agora.perception.perception import Perception
from agora.planners.global_.astar import AStar
from agora.simulators.native import Native
from agora.world.records import END_OUT_OF_MAP, END_PEDESTRIAN, END_ROBOT, END_WALL

if TYPE_CHECKING:
    from agora.draft.stage import Stage
    from agora.interfaces import AnySimulator, CostmapLayer, GlobalPlanner
    from agora.optics.lidar import Lidar

__all__ = ["Conditions"]

_ENDS = {"pedestrian": END_PEDESTRIAN, "wall": END_WALL, "robot": END_ROBOT, "out_of_map": END_OUT_OF_MAP}


@dataclass(frozen=True)
class Conditions(Terms):
    """Settings that all episodes of a batch share: for the engine, for the simulator that moves the robots, and for the robots'
    perception.

    Attributes:
        lidar: lidar of all robots; None if each robot uses the lidar of its model.
        global_planner: global planner that computes the paths.
        replan: replanning period of the global planner, s, a multiple of the control period; 0 to plan once per goal.
        layers: layers that add costs near pedestrians to the global planner's map and to local costmaps.
        perception: what the robots know about pedestrians.
        simulator: simulator that moves the robots, or both robots and pedestrians.
    """

    lidar: Lidar | None = None
    global_planner: GlobalPlanner = field(default_factory=AStar)
    replan: float = 0.0
    layers: tuple[CostmapLayer, ...] = ()
    perception: Perception = field(default_factory=lambda: Perception("truth"))
    simulator: AnySimulator = field(default_factory=Native)

    @staticmethod
    def of(stage: Stage) -> Conditions:
        """Return the conditions of a stage."""
        return Conditions(
            periods=stage.periods,
            crowd=tuple(named.part for named in stage.crowd.parts),
            behaviours=tuple(behaviour.part for behaviour in stage.crowd.behaviours),
            sees_pedestrians=stage.crowd.sees_pedestrians,
            sees_robots=stage.crowd.sees_robots,
            ends=sum(_ENDS[name] for name in stage.ends),
            remove=stage.after_end == "remove",
            global_planner=stage.navigation.global_planner.part,
            replan=stage.navigation.replan,
            layers=tuple(layer.part for layer in stage.navigation.layers),
            perception=stage.perception,
            simulator=stage.simulator.part,
            routes=stage.crowd.routes,
            careful=not stage.crowd.faithful,
            yields=stage.crowd.yields,
            sidestep=stage.crowd.sidestep,
            minding=stage.crowd.minding,
            unsteady=stage.crowd.unsteady,
            steps=stage.crowd.steps,
        )
