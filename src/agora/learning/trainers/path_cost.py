"""The cost of a path on a map, which PyTorch differentiates: the upper level of imperative learning.

F. Yang, C. Wang, C. Cadena, M. Hutter, "iPlanner: imperative path planning", RSS 2023, section III-C, and its code
(iplanner/traj_cost.py, leggedrobotics/iPlanner b9ea6605), in two dimensions: without the height of the ground.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from agora.core.state import Floats
from agora.maps.distance import FAR, cell_distance
from agora.maps.grid import Map
from agora.ranges import Length, NotNegative, Positive

_SMOOTH = 1.0  # cells


@dataclass(frozen=True)
class PathCost:
    """The weights of a path's cost, and the shape of the cost of a place.

    A place costs more the nearer it is to an obstacle, in logarithms, and 0.5 at the distance ``size``: there the robot touches.

    Attributes:
        obstacles: weight of the sum of the costs of the path's places; alpha in the code.
        motion: weight of the sum of the differences of its legs from those of the straight way; gamma.
        goal: weight of the logarithm of 1 + the distance from its end to the local goal; delta.
        size: distance to an obstacle at which the robot counts as touching it, m.
        safe: distance from which a place costs nothing, m.
        soft: distance over which the cost bends, m.
        feared: way from the robot in which a collision counts for the fear, m.
    """

    obstacles: NotNegative = 0.5
    motion: NotNegative = 2.0
    goal: NotNegative = 5.0
    size: Length = 0.25
    safe: Length = 0.6
    soft: Positive = 0.2
    feared: Length = 2.0

    def of_place(self, distance: Floats) -> Floats:
        """Return the costs of places by their signed distances to obstacles, m."""
        unit = math.log1p((self.safe - self.size) / self.soft)
        cost: Floats = (0.5 / unit * np.log1p(np.maximum(self.safe - distance, 0.0) / self.soft)).astype(np.float32)
        return cost

    def of_paths(self, path: Tensor, goal: Tensor, cost: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean cost of paths, and which of them (N,) are to be feared, 1 or 0.

        Args:
            path: (N, T, 2) from (0, 0) on, m.
            goal: (N, 2) the local goals, m.
            cost: (N, T) costs of its places.
        """
        legs = (path[:, 1:] - path[:, :-1]).square().sum(-1).clamp_min(1e-12).sqrt()
        straight = goal.norm(dim=-1, keepdim=True) / legs.shape[1]
        near = legs.detach().cumsum(1) <= self.feared
        feared = (torch.where(near, cost.detach()[:, 1:], torch.zeros(())).amax(1) > 0.5).float()
        end = (path[:, -1] - goal).square().sum(-1).clamp_min(1e-12).sqrt()
        parts = (
            self.obstacles * cost.sum(1).mean()
            + self.motion * (legs - straight).abs().sum(1).mean()
            + self.goal * end.log1p().mean()
        )
        return parts, feared


class CostMaps:
    """Costs of places on maps that may be of different sizes, side by side in one array.

    Args:
        cost: cost of a place.
    """

    def __init__(self, cost: PathCost) -> None:
        self._cost = cost
        self._numbers: dict[int, int] = {}
        self._maps: list[Map] = []  # so that no map's identity is used again
        self._values: list[Floats] = []
        self._frames: list[tuple[float, float, float, int, int, int]] = []
        self._flat, self._frame = torch.zeros(0), torch.zeros(0, 6, dtype=torch.float64)

    def number(self, map_: Map) -> int:
        """Return the number of a map; it is added if it is new."""
        if id(map_) not in self._numbers:
            free, inside = np.minimum(map_.clearance, FAR), cell_distance(~map_.occupied, map_.resolution)
            signed = _smoothed(np.where(map_.occupied, -np.minimum(inside, FAR), free))
            start = sum(value.size for value in self._values)
            self._numbers[id(map_)] = len(self._maps)
            self._maps.append(map_)
            self._values.append(self._cost.of_place(signed).reshape(-1))
            self._frames.append((*map_.origin, map_.resolution, *map_.occupied.shape, start))
        return self._numbers[id(map_)]

    def at(self, places: Tensor, numbers: Tensor) -> Tensor:
        """Return the costs (N, T) of places (N, T, 2), m, on the maps of these numbers (N,).

        They are bilinear between cells, and beyond a map as at its edge.
        """
        if len(self._frame) < len(self._maps):
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
        return low * (1.0 - up) + high * up


def _smoothed(distance: Floats) -> Floats:
    """A field of distances, smoothed as in the published code (iplanner/tsdf_map.py)."""
    from scipy.ndimage import gaussian_filter

    smooth: Floats = gaussian_filter(distance.astype(np.float32), _SMOOTH, mode="nearest")
    return smooth
