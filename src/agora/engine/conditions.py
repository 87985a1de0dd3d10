"""Conditions of a batch: values that all of its episodes share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agora.draft.periods import Periods
from agora.draft.sidestep import Sidestep
from agora.draft.unsteady import Unsteady
from agora.perception.perception import Perception
from agora.planners.global_.astar import AStar
from agora.simulators.native import Native
from agora.world.records import END_OUT_OF_MAP, END_PEDESTRIAN, END_ROBOT, END_WALL, EVERY_CONTACT

if TYPE_CHECKING:
    from agora.draft.stage import Minding, Stage
    from agora.interfaces import AnyCrowdModel, Behaviour, CostmapLayer, GlobalPlanner, Simulator
    from agora.sensors.lidar import Lidar

__all__ = ["Conditions"]

_ENDS = {"pedestrian": END_PEDESTRIAN, "wall": END_WALL, "robot": END_ROBOT, "out_of_map": END_OUT_OF_MAP}


@dataclass(frozen=True)
class Conditions:
    """Values that all episodes of a batch share.

    Attributes:
        periods: how often things happen.
        crowd: the crowd model that moves simulated pedestrians, or several; None leaves them where they are.
        behaviours: decide where pedestrians want to go and how fast, one after the other.
        sees_pedestrians, sees_robots: whom simulated pedestrians react to.
        ends: sum of END bits (`agora.world.records`): which contacts end an episode; the others are counted.
        remove: robots that have ended leave the world.
        lidar: of every robot; that of its own model where None.
        global_planner: makes the path. replan: s between two paths, a multiple of the control period; 0 for one to every goal.
        layers: put costs about pedestrians on the global planner's map and on local costmaps.
        perception: the robots' knowledge of pedestrians.
        simulator: moves the robots.
        routes: pedestrians find their way round walls (`agora.engine.routes`). careful: nobody steps into a wall, a robot or a
            pedestrian whom they see. yields: how, of `agora.engine.crowd.EngineCrowd`.
        sidestep: how recorded pedestrians step aside for robots whom they see; None where they do not.
        minding: when the pedestrians of each crowd model mind a robot; early where not given.
        unsteady: how the pace and the direction of simulated pedestrians fluctuate; None where they do not.
    """

    periods: Periods = field(default_factory=Periods)
    crowd: AnyCrowdModel | Sequence[AnyCrowdModel] | None = None
    behaviours: tuple[Behaviour, ...] = ()
    sees_pedestrians: bool = True
    sees_robots: bool = True
    ends: int = EVERY_CONTACT
    remove: bool = False
    lidar: Lidar | None = None
    global_planner: GlobalPlanner = field(default_factory=AStar)
    replan: float = 0.0
    layers: tuple[CostmapLayer, ...] = ()
    perception: Perception = field(default_factory=lambda: Perception("truth"))
    simulator: Simulator = field(default_factory=Native)
    routes: bool = False
    careful: bool = False
    yields: bool = True
    sidestep: Sidestep | None = None
    minding: tuple[Minding, ...] = ()
    unsteady: Unsteady | None = None

    @property
    def models(self) -> tuple[AnyCrowdModel, ...]:
        """The crowd models."""
        return () if self.crowd is None else tuple(self.crowd) if isinstance(self.crowd, Sequence) else (self.crowd,)

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
        )
