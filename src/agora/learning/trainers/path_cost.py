"""The cost of a path on a map, differentiable in PyTorch: the upper level of imperative learning.

F. Yang, C. Wang, C. Cadena, M. Hutter, "iPlanner: imperative path planning", RSS 2023, section III-C, and its code
(iplanner/traj_cost.py, leggedrobotics/iPlanner b9ea6605), in two dimensions, i.e. without the height of the ground. The published
cost uses the straight-line distance from the end of a path to the goal; here, it can also be the length of the shortest path around
the obstacles on the map.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from agora.core.state import Doubles, Floats
from agora.maps.distance import FAR, cell_distance
from agora.maps.grid import Map
from agora.planners.global_.potential import EDGE, UNREACHED, Wave, spread
from agora.ranges import Length, NotNegative, Positive

_SMOOTH = 1.0  # standard deviation of the smoothing, in cells
_UNIT, _BLOCKED = 50.0, 50  # cost of crossing one cell in free space, and the factor for blocked cells


@dataclass(frozen=True)
class PathCost:
    """The weights of the terms in a path's cost, and the parameters of a position's cost.

    The cost of a position increases logarithmically towards obstacles. It is 0.5 at the distance ``size``, at which the robot
    touches the obstacle.

    Attributes:
        obstacles: weight of the summed costs of the path's positions; alpha in the authors' code.
        motion: weight of the summed differences between the actual lengths of the path's segments and the desired length, which is
            the same for all segments; gamma in the authors' code.
        goal: weight of log(1 + d), where d, in metres, is the amount by which the path's progress towards the goal falls short of
            ``horizon`` (or of the whole distance to the goal, if it is shorter); delta in the authors' code.
        size: distance to an obstacle at which the robot counts as touching it, m.
        safe: distance to an obstacle at or beyond which a position has no cost, m.
        soft: length scale of the logarithm, m.
        feared: distance along the path within which a collision counts towards the fear, m.
        round: whether the distance to the goal is measured around obstacles; False for the straight-line distance, as in the
            authors' code.
        horizon: distance by which a path should bring the robot closer to its goal, if the goal is farther away than this distance,
            m.
    """

    obstacles: NotNegative = 0.5
    motion: NotNegative = 2.0
    goal: NotNegative = 5.0
    size: Length = 0.25
    safe: Length = 0.6
    soft: Positive = 0.2
    feared: Length = 2.0
    round: bool = True
    horizon: Length = 3.0

    def of_place(self, distance: Floats) -> Floats:
        """Return the costs of positions, given their signed distances to obstacles, m."""
        unit = math.log1p((self.safe - self.size) / self.soft)
        cost: Floats = (0.5 / unit * np.log1p(np.maximum(self.safe - distance, 0.0) / self.soft)).astype(np.float32)
        return cost

    def of_map(self, map_: Map) -> Floats:
        """Return the costs (rows, columns) of a map's cells, computed from a distance field that is smoothed as in the authors'
        code.
        """
        from scipy.ndimage import gaussian_filter

        free = np.minimum(map_.clearance, FAR).astype(np.float32)
        solid = free < 0.5 * map_.resolution
        signed = np.where(solid, -np.minimum(cell_distance(~solid, map_.resolution), FAR), free)
        smooth: Floats = gaussian_filter(signed.astype(np.float32), _SMOOTH, mode="nearest")
        return self.of_place(smooth)

    def way_left(self, map_: Map, goal: Doubles) -> Floats:
        """Return the distances (rows, columns) from a map's cells to a goal (2,), m.

        In cells where the robot would touch an obstacle, one metre counts as 50, so that paths lead out of these cells.
        """
        if not self.round:
            rows, columns = map_.occupied.shape
            x = map_.origin[0] + (np.arange(columns) + 0.5) * map_.resolution - goal[0]
            y = map_.origin[1] + (np.arange(rows) + 0.5) * map_.resolution - goal[1]
            straight: Floats = np.hypot(x[None], y[:, None]).astype(np.float32)
            return straight
        touches = (map_.clearance < self.size).astype(np.uint8)
        prices = np.full(256, np.inf, np.float32)
        prices[:2] = _UNIT, _UNIT * _BLOCKED
        start = (np.asarray(goal, np.float64) - map_.origin) / map_.resolution - 0.5
        potential = spread(touches, Wave(prices, _UNIT, _UNIT * _BLOCKED), start, None)[EDGE:-EDGE, EDGE:-EDGE]
        left: Floats = np.where(potential < UNREACHED, potential, 0.0) * np.float32(map_.resolution / _UNIT)
        return left

    def of_paths(self, path: Tensor, cost: Tensor, left: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean cost of paths, and 1 for each path (N,) that collides within ``feared``, else 0.

        Args:
            path: (N, T, 2) points of the paths, starting at (0, 0), m.
            cost: (N, T) costs of these points.
            left: (N, 2) distances to the goal from the start and from the end of each path, m.
        """
        legs = (path[:, 1:] - path[:, :-1]).square().sum(-1).clamp_min(1e-12).sqrt()
        wanted = left[:, 0].clamp(max=self.horizon)
        near = legs.detach().cumsum(1) <= self.feared
        feared = (torch.where(near, cost.detach()[:, 1:], torch.zeros(())).amax(1) > 0.5).float()
        missing = (left[:, 1] - (left[:, 0] - wanted)).clamp_min(0.0)
        parts = (
            self.obstacles * cost.sum(1).mean()
            + self.motion * (legs - wanted[:, None] / legs.shape[1]).abs().sum(1).mean()
            + self.goal * missing.log1p().mean()
        )
        return parts, feared


class Fields:
    """Values on several grids of different sizes, stored in one array."""

    def __init__(self) -> None:
        self._values: list[Floats] = []
        self._frames: list[tuple[float, float, float, int, int, int]] = []
        self._flat, self._frame = torch.zeros(0), torch.zeros(0, 6, dtype=torch.float64)

    def add(self, map_: Map, values: Floats) -> int:
        """Add the values (rows, columns) of a map's cells as a new grid; return the grid's index."""
        start = sum(value.size for value in self._values)
        self._values.append(values.reshape(-1))
        self._frames.append((*map_.origin, map_.resolution, *values.shape, start))
        return len(self._frames) - 1

    def at(self, places: Tensor, numbers: Tensor) -> Tensor:
        """Return the values (N, T) at positions (N, T, 2), m, on the grids with the given indices (N,).

        Values are interpolated bilinearly; outside a grid, the value at its edge is used.
        """
        if len(self._frame) < len(self._frames):
            self._flat = torch.from_numpy(np.concatenate(self._values))
            self._frame = torch.tensor(self._frames, dtype=torch.float64)
        x0, y0, cell, rows, columns, start = (part[:, None] for part in self._frame[numbers].T)
        u = (((places[..., 0] - x0) / cell) - 0.5).clamp(torch.zeros(()), columns - 1.001)
        v = (((places[..., 1] - y0) / cell) - 0.5).clamp(torch.zeros(()), rows - 1.001)
        column, row = u.detach().floor(), v.detach().floor()
        index = (start + row * columns + column).long()
        wide = columns.long()
        right, up = (u - column).float(), (v - row).float()
        low = self._flat[index] * (1.0 - right) + self._flat[index + 1] * right
        high = self._flat[index + wide] * (1.0 - right) + self._flat[index + wide + 1] * right
        values: Tensor = low * (1.0 - up) + high * up
        return values
