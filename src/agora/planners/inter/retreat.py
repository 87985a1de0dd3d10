"""Retreating from pedestrians: the common part of the `polite`, `sideways` and `meta` interplanners.

After PoliteInter and SidewaysInter of Arena 3.0 (Kästner et al. 2024, arXiv:2406.00837; its fork of move_base_flex). Three errors
in the public code are corrected according to the evident intention: the speed collapses to 0 or 1 m/s, the bearing of a pedestrian
is computed with x and y swapped, and the angles of laser beams are compared with headings in the map frame. A beam belongs to a
pedestrian if it ends within 0.1 m of the pedestrian's disc.

Two things are added. First, the path back is also checked in the local costmap, because many lidars do not see behind the robot,
and no lidar sees the edge of the map; the temporary goal lies in front of any obstacle found there. Second, the robot only backs
away from a person who is walking and approaching: otherwise it would retreat forever from people who stand still or walk away. Near
such people, the robot slows down, and the local planner drives around them. A retreat ends as soon as no one within
``caution_detection_range`` is approaching.
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
    """The manner in which robots back away; each field is a number or an array (N,).

    Attributes:
        careful: whether the robot backs away; False if it drives on aggressively instead.
        stretch: distance of the temporary goal divided by ``temp_goal_distance``.
        turn: direction of the temporary goal, measured from straight behind, rad.
        margin: distance, in addition to the robot's diameter, within which a wall behind the robot cancels the retreat, m.
    """

    careful: Any
    stretch: Any
    turn: Any
    margin: Any


@dataclass(frozen=True)
class Retreat(Checked):
    """Slows down near pedestrians, and backs away from an approaching person who is close ahead, if there is no wall behind the
    robot.

    Attributes:
        window: local costmap to use if the local planner reads none; otherwise the local planner's costmap is used. None to rely on
            the scan only.
        caution_detection_range: distance to the nearest pedestrian below which the robot slows down, m; a retreat continues only
            while a person within this distance is approaching.
        cautious_speed: speed near pedestrians, as a fraction of the top speed.
        ped_minimum_distance: distance to an approaching pedestrian ahead below which the robot backs away, m.
        temp_goal_distance: distance from the robot to the temporary goal, m.
        temp_goal_tolerance: distance at which the temporary goal counts as reached, m.
        fov: field of view around the heading that counts as ahead, rad.
        foresight: time for which pedestrians are predicted, s; a person who will be near within this time counts as near. 0 to use
            current positions only.
        prediction: predictor of the pedestrians.
        danger_threshold: danger level above which the interplanner warns.
    """

    stretch: ClassVar[float] = 1.0
    """Distance of the temporary goal divided by ``temp_goal_distance``."""
    turn: ClassVar[float] = 0.0
    """Direction of the temporary goal from straight behind, rad."""
    margin: ClassVar[float] = 0.075
    """Distance, in addition to the robot's diameter, within which a wall behind the robot cancels the retreat, m."""
    pause: ClassVar[float] = 0.0
    """Time for which the robot waits at the temporary goal, s."""

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
        """Return the path or, for robots that back away, the path back. The memory holds whether a robot is backing away, the start
        and the end of the retreat, its pause, and the predictor's memory.
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
        """Return the predicted positions (N, Q, T, 2) of pedestrians within the foresight, m, and the predictor's memory."""
        if self.foresight == 0.0:
            return None, memory
        moments = math.ceil(self.foresight / _EVERY)
        return expected_ways(self.prediction.part, o, moments, self.foresight / moments, memory)

    def _manner(self, o: Observation, seen: Company) -> Manner:
        """Return the manner in which each robot backs away."""
        return Manner(np.bool_(True), np.float32(self.stretch), np.float32(self.turn), np.float32(self.margin))

    def _target(self, o: Observation, manner: Manner, turned: Doubles) -> Floats:
        """Return the temporary goals (N, 3) in the direction opposite to ``turned`` (N,), in front of any wall, with the robot's
        heading.
        """
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
    """Return the paths; in rows that back away, they are straight from ``begin`` to ``target``."""
    if not away.any():
        return path, count
    led = np.empty((len(path), max(path.shape[1], _POINTS), 2), np.float32)
    led[:, : path.shape[1]], led[:, path.shape[1] :] = path, path[:, -1:]
    share = np.minimum(np.arange(led.shape[1], dtype=np.float32) / np.float32(_POINTS - 1), np.float32(1.0))[:, None]
    led[away] = begin[away, None] + share * (target[away, None, :2] - begin[away, None])
    return led, np.where(away, np.int32(_POINTS), count)
