"""The interplanner that sets checkpoints: SocNavBench's sampling planner, for use with local planners that see only people."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from agora.core.recording import Reason
from agora.core.state import Bools, Floats
from agora.costmap.window import Window
from agora.interfaces import Declaration, Guidance, Memory, Observation
from agora.planners.inter.surroundings import unchanged
from agora.planners.local.sampling import Sampling
from agora.ranges import Checked, Distance, Period

POINTS = 24
"""Number of points on the path to a checkpoint."""


@dataclass(frozen=True)
class Checkpoint(Checked):
    """Uses the best spline of `agora.planners.local.sampling.Sampling` as the path, and the spline's end, called a checkpoint, as
    the goal.

    SocNavBench (Biswas et al., THRI 2022) does this in RVOwCkpt and SacadrlwCkpt: the robot drives to a checkpoint, and gets the
    next one when it is within ``radius`` of this checkpoint. After a checkpoint that is closer to the goal than ``goal_radius``, it
    drives to the goal. The splines ignore people and take up to ``horizon``, which is 6 s in the paper.

    Differences from the source: the checkpoint is the spline's end, as in the paper; in the code (commit 3ac5b7d of the baselines)
    it is the robot's position after the control horizon, published as 0.5 s. In the code, RVOwCkpt gets the goal instead of the
    checkpoint; in Agora, it gets the checkpoint. In the code, planners only get the checkpoint; Agora adds a path to it, for
    planners that follow a path. When the robot drives to the goal, the path is unchanged; in the code it is straight. If no spline
    can be driven, the path is also unchanged, with the reason ``blocked``, and the next step searches for a checkpoint again.

    Attributes:
        window: local costmap to use if the local planner reads none; otherwise the local planner's costmap is used. Checkpoints lie
            inside the costmap: with a 4 m window, as in `agora.planners.local.orca`, they are at most 2 m away along each axis.
        radius: distance to a checkpoint within which the robot gets a new checkpoint, m.
        goal_radius: distance to the goal below which no more checkpoints are set, m.
        horizon: maximum duration of the splines, s.
    """

    window: Window = field(default_factory=lambda: Window(size=14.0, sources=("map",)))
    radius: Distance = 1.0
    goal_radius: Distance = 5.0
    horizon: Period = 6.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._sampling

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the interplanner."""
        return Declaration(needs=("path", self.window), concurrent=True)

    @cached_property
    def _sampling(self) -> Sampling:
        """Return the sampling planner whose splines are used."""
        return Sampling(window=self.window, max_final_time=self.horizon, min_final_time=min(1.5, self.horizon))

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the paths to the checkpoints; the memory holds the checkpoints (N, 3), the paths (N, K, 2) and which rows (N,)
        drive to a checkpoint.
        """
        o = observation
        assert o.path is not None and o.path_count is not None
        rows = len(o.pose)
        point = memory["point"].copy() if memory else np.zeros((rows, 3), np.float32)
        way = memory["way"].copy() if memory else np.zeros((rows, POINTS, 2), np.float32)
        going = memory["going"].copy() if memory else np.zeros(rows, np.bool_)
        arrived: Bools = ~going | (_distances(point, o.pose) <= np.float32(self.radius))
        near: Bools = _distances(o.goal, o.pose) < np.float32(self.goal_radius)
        wanted = arrived & ~near & (o.path_count > 0)
        going &= ~arrived & (o.path_count > 0)
        due = np.flatnonzero(wanted)
        if len(due):
            best = self._sampling.best(o, due)
            going[due] = best.time > 0.0
            point[due], way[due] = best.ends(o.pose[due]), best.ways(o.pose[due], POINTS)
        reason = np.where(wanted & ~going, np.int8(Reason.BLOCKED), np.int8(Reason.NONE))
        return replace(_paths_to_checkpoints(o, point, way, going), reason=reason), {"point": point, "way": way, "going": going}


def _paths_to_checkpoints(o: Observation, point: Floats, way: Floats, going: Bools) -> Guidance:
    """Return the paths (N, K, 2) to the checkpoints (N, 3), in the rows that drive to a checkpoint."""
    plain = unchanged(o)
    more = max(POINTS - plain.path.shape[1], 0)
    path, goal = np.concatenate((plain.path, np.repeat(plain.path[:, -1:], more, axis=1)), axis=1), plain.goal.copy()
    path[going] = point[going, None, :2]
    path[going, :POINTS] = way[going]
    goal[going] = point[going]
    return replace(plain, path=path, path_count=np.where(going, np.int32(POINTS), plain.path_count), goal=goal)


def _distances(one: Floats, other: Floats) -> Floats:
    """Return distances (N,) between positions, m."""
    gap = one[:, :2] - other[:, :2]
    return np.asarray(np.sqrt(gap[:, 0] * gap[:, 0] + gap[:, 1] * gap[:, 1]))
