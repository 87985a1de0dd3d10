"""The cost of a path on a map, which PyTorch differentiates: the upper level of imperative learning.

F. Yang, C. Wang, C. Cadena, M. Hutter, "iPlanner: imperative path planning", RSS 2023, section III-C, and its code
(iplanner/traj_cost.py, leggedrobotics/iPlanner b9ea6605), in two dimensions: without the height of the ground. There the distance
from a path's end to the goal is straight; here it may be that of the way round obstacles, which the map shows.
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

_SMOOTH = 1.0  # cells
_UNIT, _BLOCKED = 50.0, 50  # price of a free cell length, and how many times that a blocked one costs


@dataclass(frozen=True)
class PathCost:
    """The weights of a path's cost, and the shape of the cost of a place.

    A place costs more the nearer it is to an obstacle, in logarithms, and 0.5 at the distance ``size``: there the robot touches.

    Attributes:
        obstacles: weight of the sum of the costs of the path's places; alpha in the code.
        motion: weight of the sum of the differences of its legs from those of the straight way; gamma.
        goal: weight of the logarithm of 1 + the way from its end to the local goal; delta.
        size: distance to an obstacle at which the robot counts as touching it, m.
        safe: distance from which a place costs nothing, m.
        soft: distance over which the cost bends, m.
        feared: way from the robot in which a collision counts for the fear, m.
        round: whether the way to the goal leads round obstacles; False for the straight one of the code.
        horizon: length of the way that a path is to bring the robot nearer to a far goal, m.
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
        """Return the costs of places by their signed distances to obstacles, m."""
        unit = math.log1p((self.safe - self.size) / self.soft)
        cost: Floats = (0.5 / unit * np.log1p(np.maximum(self.safe - distance, 0.0) / self.soft)).astype(np.float32)
        return cost

    def of_map(self, map_: Map) -> Floats:
        """Return the costs (rows, columns) of the places of a map, by a field of distances that is smoothed as in the code."""
        from scipy.ndimage import gaussian_filter

        free = np.minimum(map_.clearance, FAR).astype(np.float32)
        solid = free < 0.5 * map_.resolution
        signed = np.where(solid, -np.minimum(cell_distance(~solid, map_.resolution), FAR), free)
        smooth: Floats = gaussian_filter(signed.astype(np.float32), _SMOOTH, mode="nearest")
        return self.of_place(smooth)

    def way_left(self, map_: Map, goal: Doubles) -> Floats:
        """Return the ways (rows, columns) from the places of a map to a goal (2,), m.

        Where the robot would touch, a metre counts as 50, so that a way leads out of there.
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
        """Return the mean cost of paths, and which of them (N,) are to be feared, 1 or 0.

        Args:
            path: (N, T, 2) from (0, 0) on, m.
            cost: (N, T) costs of its places.
            left: (N, 2) way to the goal from its beginning and from its end, m.
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
    """Values of places on grids of different sizes, side by side in one array."""

    def __init__(self) -> None:
        self._values: list[Floats] = []
        self._frames: list[tuple[float, float, float, int, int, int]] = []
        self._flat, self._frame = torch.zeros(0), torch.zeros(0, 6, dtype=torch.float64)

    def add(self, map_: Map, values: Floats) -> int:
        """Add values (rows, columns) of the cells of a map; return their number."""
        start = sum(value.size for value in self._values)
        self._values.append(values.reshape(-1))
        self._frames.append((*map_.origin, map_.resolution, *values.shape, start))
        return len(self._frames) - 1

    def at(self, places: Tensor, numbers: Tensor) -> Tensor:
        """Return the values (N, T) at places (N, T, 2), m, on the grids of these numbers (N,).

        They are bilinear between cells, and beyond a grid as at its edge.
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
