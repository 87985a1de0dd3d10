"""Retreats before pedestrians: the common part of the polite, the sideways and the meta interplanner.

After PoliteInter and SidewaysInter of Arena 3.0 (Kästner et al. 2024, arXiv:2406.00837; its fork of move_base_flex). Three errors
of the public code are replaced by the evident intention: its speed collapses to 0 or 1 m/s, the bearing of a pedestrian is computed
with x and y swapped, and angles of laser beams are compared with headings in the map. A beam belongs to a pedestrian if it ends
within 0.1 m of the pedestrian's disc.

Two things are added. The path back is also checked in the local costmap, because many lidars do not see behind the robot, and none
sees the end of the map; the temporary goal lies before any obstacle there. And the robot only backs away from a person that walks
and approaches: otherwise it would retreat forever from people that stand or walk away. It slows down for them, and the local
planner drives around them. A retreat ends as soon as nobody within ``caution_detection_range`` approaches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from agora.core.recording import Reason
from agora.core.state import Array, Bools, Doubles, Floats
from agora.costmap.window import Window
from agora.interfaces import Declaration, Guidance, Memory, Observation
from agora.planners._expected import expected_ways, needs_of
from agora.planners.inter.aggressive import speed_share
from agora.planners.inter.surroundings import Company, company, free_distance, wall_within
from agora.ranges import Chance, Checked, Distance, Duration, Within
from agora.registry import Named, Plug

_POINTS = 21
_EVERY = 0.25  # s, maximum time between two predicted positions


class Manner(NamedTuple):
    """The manner in which robots back away: numbers, or arrays (N,).

    Attributes:
        careful: False if a robot drives on in the aggressive manner instead.
        stretch: distance of the temporary goal divided by ``temp_goal_distance``.
        turn: direction of the temporary goal from straight behind, rad.
        margin: distance beyond the robot's diameter within which a wall behind cancels the retreat, m.
    """

    careful: Any
    stretch: Any
    turn: Any
    margin: Any


@dataclass(frozen=True)
class Retreat(Checked):
    """Slows down near pedestrians, and backs away from a person close in front that approaches, if no wall is behind.

    Attributes:
        window: local costmap if the local planner reads none; otherwise the local planner's is used. None for the scan only.
        caution_detection_range: distance to the nearest pedestrian below which the robot slows down, and within which a person must
            approach for a retreat to continue, m.
        cautious_speed: fraction of the top speed near pedestrians.
        ped_minimum_distance: distance to an approaching pedestrian ahead below which the robot backs away, m.
        temp_goal_distance: distance of the temporary goal, m.
        temp_goal_tolerance: distance at which the temporary goal is reached, m.
        fov: angle around the heading that counts as ahead, rad.
        foresight: prediction time of pedestrians, s: a person that will be near within it counts as near. 0 for the current only.
        prediction: predictor of pedestrians.
        danger_threshold: level of danger above which it warns.
    """

    stretch: ClassVar[float] = 1.0
    """Distance of the temporary goal divided by ``temp_goal_distance``."""
    turn: ClassVar[float] = 0.0
    """Direction of the temporary goal from straight behind, rad."""
    margin: ClassVar[float] = 0.075
    """Distance beyond the robot's diameter within which a wall behind cancels the retreat, m."""
    pause: ClassVar[float] = 0.0
    """Time that the robot stands at the temporary goal, s."""

    window: Window | None = field(default_factory=lambda: Window(size=4.0, sources=("map",)))
    caution_detection_range: Distance = 4.0
    cautious_speed: Chance = 0.5
    ped_minimum_distance: Distance = 2.0
    temp_goal_distance: Distance = 2.0
    temp_goal_tolerance: Distance = 0.25
    fov: Annotated[float, Within(0.0, math.tau, above=True)] = math.pi
    foresight: Duration = 0.0
    prediction: Annotated[Named, Plug("predictors")] = field(default_factory=lambda: Named.of("predictors", "constant_velocity"))
    danger_threshold: Chance = 0.6

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the interplanner."""
        own = ("path", "pedestrians", "scan", *(() if self.window is None else (self.window,)))
        return Declaration(
            needs=needs_of(self.prediction.part, own),
            concurrent=True,
            danger_threshold=self.danger_threshold,
            requires=self.prediction.part.declares.requires,
        )

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the path, or the path back; the memory holds whether, from where and to where a robot backs away, its pause, and
        more.
        """
        o = observation
        assert o.path is not None and o.path_count is not None
        away, begin, target, left = _recall(memory, len(o.pose))
        expected, foretold = self._predict_pedestrians(o, memory.get("prediction", {}))
        seen = company(o, self.fov, expected)
        manner = self._manner(o, seen)
        turned = o.pose[:, 2].astype(float) + manner.turn
        fresh = self._target(o, manner, turned)
        room = np.minimum(2.0 * o.radius + manner.margin, self.temp_goal_distance)
        way = target[:, :2] - o.pose[:, :2]
        need = room - o.radius
        shut = free_distance(o, np.where(away, np.arctan2(way[:, 1], way[:, 0]), turned + math.pi), need) < need
        blocked = wall_within(o, room, behind=True) | shut
        reached = away & (_distances(o.pose, target) <= self.temp_goal_tolerance)
        left = np.where(reached, np.float32(self.pause), np.maximum(left - np.float32(o.dt), np.float32(0.0)))
        stands = left > 0.5 * o.dt
        begins = (seen.ahead <= self.ped_minimum_distance) & manner.careful & ~away & ~blocked & ~stands
        if begins.any():
            begin = np.where(begins[:, None], o.pose[:, :2], begin)
            target = np.where(begins[:, None], fresh, target)
        away = (away & ~reached & ~blocked & (seen.comer <= self.caution_detection_range)) | begins
        cautious = np.where(seen.nearest <= self.caution_detection_range, np.float32(self.cautious_speed), np.float32(1.0))
        speed = np.where(stands, np.float32(0.0), np.where(manner.careful, cautious, speed_share(seen.nearest, math.inf)))
        path, count = _retreat_paths(o.path, o.path_count, away, begin, target)
        goal = np.where(away[:, None], target, o.goal)
        reason = np.where(stands, np.int8(Reason.WAITING), np.where(away, np.int8(Reason.RETREATING), np.int8(0)))
        after = {"away": away, "begin": begin, "target": target, "left": left, "prediction": foretold}
        return Guidance(path, count, goal, speed, seen.danger, reason), after

    def _predict_pedestrians(self, o: Observation, memory: Memory) -> tuple[Floats | None, Memory]:
        """Return predicted positions of pedestrians within the foresight, (N, Q, T, 2) m, and the memory of the predictor."""
        if self.foresight == 0.0:
            return None, memory
        moments = math.ceil(self.foresight / _EVERY)
        return expected_ways(self.prediction.part, o, moments, self.foresight / moments, memory)

    def _manner(self, o: Observation, seen: Company) -> Manner:
        """Return the manner in which each robot backs away."""
        return Manner(np.bool_(True), np.float32(self.stretch), np.float32(self.turn), np.float32(self.margin))

    def _target(self, o: Observation, manner: Manner, turned: Doubles) -> Floats:
        """Return the temporary goals (N, 3) opposite to ``turned`` (N,), before any wall, with the robot's heading."""
        far = free_distance(
            o, (turned + math.pi).astype(np.float32), np.full(len(o.pose), manner.stretch * self.temp_goal_distance)
        )
        x, y = far * np.cos(turned), far * np.sin(turned)
        return np.column_stack((o.pose[:, 0] - x, o.pose[:, 1] - y, o.pose[:, 2])).astype(np.float32)


def _recall(memory: Memory, rows: int) -> tuple[Bools, Floats, Floats, Floats]:
    """Return the memory; zeros at the start of an episode."""
    if memory:
        return memory["away"], memory["begin"], memory["target"], memory["left"]
    one, two, three = (np.zeros((rows, *shape), np.float32) for shape in ((), (2,), (3,)))
    return np.zeros(rows, np.bool_), two, three, one


def _distances(pose: Array, target: Array) -> Doubles:
    x, y = (pose[:, k].astype(float) - target[:, k] for k in (0, 1))
    return np.asarray(np.sqrt(x * x + y * y))


def _retreat_paths(path: Floats, count: Array, away: Bools, begin: Floats, target: Floats) -> tuple[Floats, Array]:
    """Return the paths; straight ones from ``begin`` to ``target`` in rows that back away."""
    if not away.any():
        return path, count
    led = np.empty((len(path), max(path.shape[1], _POINTS), 2), np.float32)
    led[:, : path.shape[1]], led[:, path.shape[1] :] = path, path[:, -1:]
    share = np.minimum(np.arange(led.shape[1], dtype=np.float32) / np.float32(_POINTS - 1), np.float32(1.0))[:, None]
    led[away] = begin[away, None] + share * (target[away, None, :2] - begin[away, None])
    return led, np.where(away, np.int32(_POINTS), count)
