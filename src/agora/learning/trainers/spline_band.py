"""A trajectory optimiser on uniform cubic B-splines whose unrolled steps PyTorch can differentiate: the decoder of LfLH.

Z. Wang, X. Xiao, A. J. Nettekoven, K. Umasankar, A. Singh, S. Bommakanti, U. Topcu, P. Stone, "From agile ground to aerial
navigation: learning from learned hallucination", IROS 2021, section III: the decoder is the optimiser of EGO-Planner (X. Zhou,
Z. Wang, H. Ye, C. Xu, F. Gao, "EGO-Planner: an ESDF-free gradient-based local planner for quadrotors", RA-L 2021, section IV),
differentiated through a quadratic program. Here, a fixed number of damped Gauss-Newton steps is unrolled instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from agora.ranges import Count, Length, NotNegative, Positive, Speed

_ENDS = 3  # number of control points fixed by the state at one end


@dataclass(frozen=True)
class SplineBand:
    """Finds the path of minimum cost between two states among elliptic obstacles in the plane.

    The cost is the same as EGO-Planner's: squared second and third differences of the control points (equation 4), squared
    shortfall of clearance at the control points (equation 5), and squared excess of speed and acceleration (equation 9), separately
    for each axis. EGO-Planner uses the cube of the shortfall near contact; the square is sufficient for Gauss-Newton steps.

    Attributes:
        points: number of control points.
        knot: time between two knots, s.
        clearance: distance to obstacles below which a control point has a cost, m.
        obstacles: weight of the shortfall of clearance.
        max_v: speed along an axis above which a path has a cost, m/s.
        max_a: acceleration along an axis above which a path has a cost, m/s2.
        damping: damping of the Gauss-Newton steps.
        steps: number of unrolled Gauss-Newton steps.
    """

    points: Count = 17
    knot: Positive = 0.15
    clearance: Length = 0.3
    obstacles: NotNegative = 0.1
    max_v: Speed = 2.0
    max_a: Positive = 10.0
    damping: Positive = 1e-4
    steps: Count = 6

    @property
    def seconds(self) -> float:
        """Time from the first knot to the last, s."""
        return self.knot * (self.points - _ENDS)

    @cached_property
    def _differences(self) -> tuple[Tensor, Tensor, Tensor]:
        """The matrices of the first, second and third differences of the control points."""
        first = torch.eye(self.points)[1:] - torch.eye(self.points)[:-1]
        second = first[1:] - first[:-1]
        return first, second, second[1:] - second[:-1]

    @cached_property
    def at_knots(self) -> tuple[Tensor, Tensor]:
        """The matrices (K, points) that map control points to positions and velocities at the knots of the uniform B-spline."""
        eye = torch.eye(self.points)
        place = (eye[:-2] + 4.0 * eye[1:-1] + eye[2:]) / 6.0
        return place, (eye[2:] - eye[:-2]) / (2.0 * self.knot)

    def fit(self, places: Tensor, velocities: Tensor) -> Tensor:
        """Return the control points (N, points, 2) of the least-squares spline fit to driven trajectories.

        Args:
            places: (N, K, 2) positions at the knots, m.
            velocities: (N, K, 2) velocities at the knots, m/s.
        """
        place, velocity = self.at_knots
        whole = torch.cat([place, self.knot * velocity])
        wanted = torch.cat([places, self.knot * velocities], 1)
        points: Tensor = torch.linalg.pinv(whole) @ wanted
        return points

    def gap(self, places: Tensor, centre: Tensor, axes: Tensor) -> tuple[Tensor, Tensor]:
        """Return the distances (N, P, M) from points to ellipses, measured along the lines to the centres, and the gradients (N, P,
        M, 2).

        Args:
            places: (N, P, 2) points, m.
            centre: (N, M, 2) centres of the ellipses, m.
            axes: (N, M, 2) half axes along x and y, m.
        """
        away = places[:, :, None] - centre[:, None]
        size = axes[:, None]
        length = away.square().sum(-1).clamp_min(1e-6).sqrt()
        ratio = (away / size).square().sum(-1).clamp_min(1e-4).sqrt()
        gradient = away * ((1.0 - 1.0 / ratio) / length)[..., None] + away / size.square() * (length / ratio**3)[..., None]
        return length * (1.0 - 1.0 / ratio), gradient

    def optimise(self, fixed: Tensor, centre: Tensor, axes: Tensor) -> Tensor:
        """Return the control points (N, points, 2) of the path of minimum cost.

        Optimisation starts from the smoothest path between the ends, ignoring obstacles.

        Args:
            fixed: (N, points, 2) control points, of which only the first three and the last three are read, m.
            centre: (N, M, 2) centres of the obstacles, m.
            axes: (N, M, 2) half axes of the obstacles, m.
        """
        first, second, third = self._differences
        smooth = second.T @ second + third.T @ third
        free = slice(_ENDS, self.points - _ENDS)
        within = smooth[free, free]
        ends = torch.cat([fixed[:, :_ENDS], fixed[:, -_ENDS:]], 1)
        across = torch.cat([smooth[free, :_ENDS], smooth[free, -_ENDS:]], 1)
        moved = -torch.linalg.solve(within, across @ ends)
        for _ in range(self.steps):
            whole = torch.cat([fixed[:, :_ENDS], moved, fixed[:, -_ENDS:]], 1)
            moved = moved + self._step(whole, smooth, centre, axes)
        return torch.cat([fixed[:, :_ENDS], moved, fixed[:, -_ENDS:]], 1)

    def _step(self, whole: Tensor, smooth: Tensor, centre: Tensor, axes: Tensor) -> Tensor:
        """Return the Gauss-Newton step (N, F, 2) of the F free control points."""
        count = self.points - 2 * _ENDS
        free = slice(_ENDS, self.points - _ENDS)
        gap, slope = self.gap(whole[:, free], centre, axes)
        lack = (self.clearance - gap).clamp_min(0.0)
        active = (lack > 0.0).float()[..., None]
        pushed, limited = self._limits(whole)
        gradient = (smooth @ whole)[:, free] + pushed - self.obstacles * (lack[..., None] * slope).sum(2)
        bent = self.obstacles * torch.einsum("npma,npmb->nabp", active * slope, slope)
        along = smooth[free, free] + self.damping * torch.eye(count) + limited  # (N, 2, F, F): one matrix per axis
        curved = torch.diag_embed(bent).permute(0, 3, 1, 4, 2) + torch.diag_embed(along.permute(0, 2, 3, 1)).transpose(2, 3)
        size = 2 * count
        moved: Tensor = torch.linalg.solve(curved.reshape(-1, size, size), -gradient.reshape(-1, size, 1))
        return moved.reshape(-1, count, 2)

    def _limits(self, whole: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradient (N, F, 2) and the curvature (N, 2, F, F) of the cost of excess speed and acceleration."""
        free = slice(_ENDS, self.points - _ENDS)
        first, second, _ = self._differences
        gradient, curved = torch.zeros(()), torch.zeros(())
        for matrix, most in ((first / self.knot, self.max_v), (second / self.knot**2, self.max_a)):
            value = matrix @ whole
            excess = value.sign() * (value.abs() - most).clamp_min(0.0)
            mine = matrix[:, free]
            gradient = gradient + mine.T @ excess
            curved = curved + torch.einsum("nra,ri,rj->naij", (excess != 0.0).float(), mine, mine)
        return gradient, curved
