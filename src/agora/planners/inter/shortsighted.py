"""The interplanner that passes on only the next part of the path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from agora.interfaces import Declaration, Guidance, Memory, Observation
from agora.planners.inter.surroundings import unchanged
from agora.ranges import Checked, Fraction, Within


@dataclass(frozen=True)
class Shortsighted(Checked):
    """Keeps only the next part of the path: a fraction of the remaining points, but at least a minimum number.

    Arena 3.0 counts from the beginning of a plan, which is recomputed five times per second from the robot's position. This
    interplanner counts from the point nearest to the robot, so that a path that is computed only once can be followed to its end.

    Attributes:
        vision_limit: fraction of the remaining points to keep.
        min_poses: minimum number of points to keep.
    """

    declares: ClassVar[Declaration] = Declaration(needs=("path",), concurrent=True)

    vision_limit: Fraction = 0.2
    min_poses: Annotated[int, Within(2, 10_000)] = 20

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the part of the path that is passed on."""
        o = observation
        assert o.path is not None and o.path_count is not None
        offset = o.path - o.pose[:, None, :2]
        squared = offset[..., 0] ** 2 + offset[..., 1] ** 2
        steps = np.arange(o.path.shape[1])
        here = np.argmin(np.where(steps < o.path_count[:, None], squared, np.inf), axis=1)
        seen = np.maximum(np.floor(self.vision_limit * (o.path_count - here)), self.min_poses).astype(np.int64)
        count = np.minimum(here + seen, o.path_count).astype(np.int32)
        rows = np.arange(len(count))
        last, before = (np.maximum(count - back, 0) for back in (1, 2))
        end, leg = o.path[rows, last], o.path[rows, last] - o.path[rows, before]
        cut = count < o.path_count
        goal = np.where(cut[:, None], np.column_stack((end, np.arctan2(leg[:, 1], leg[:, 0]))), o.goal).astype(np.float32)
        path = np.where(steps[None, :, None] < count[:, None, None], o.path, end[:, None])
        return replace(unchanged(o), path=path, path_count=count, goal=goal), memory
