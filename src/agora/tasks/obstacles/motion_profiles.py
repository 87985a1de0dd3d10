"""Obstacles that cross a square on polynomial paths without reacting to anybody, again and again.

A. Nair, F. Jiang, K. Hou, Z. Xu, S. Li, X. Xiao, P. Stone, "DynaBARN: benchmarking metric ground navigation in dynamic
environments", SSRR 2022, section III and algorithm 1. Easy and hard motion are from table I. The paper does not define medium
motion, so the degree and speed of medium motion were measured from the published medium trajectories (degree 3 to 4, 1.0 to 1.5
m/s), and its deviations are the same as for hard motion.

Where the published code (aninair1905/DynaBARN, 791d9779) differs from the paper, both variants are available. In the paper, the
sampled points have real coordinates; knots lie at every integer x and where the polynomial crosses the border; the mean and the
deviation of the speed are drawn for every segment; and the number of discs can reach its maximum. In the code, the sampled points
have integer coordinates; knots lie at ten values of x, at the sampled points, and at the first and last point on the border; the
mean and the deviation are drawn once per disc and rounded, and speeds lie on a grid of 0.1 m/s; and the number of discs stays below
the maximum. Users of the code enter the ranges by hand: the published trajectories have easy and medium motion as in `PROFILES`,
and hard motion of degree 4 to 5 at 1.5 to 1.9 m/s.

The paper has only cylinders and mentions other shapes as future work (section V). In Agora, an obstacle may also be a rigid body of
several discs (`agora.world.rigid`) that follows the same trajectory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.errors import InputError
from agora.ranges import Checked, Length, Within
from agora.registry import Named, Plug
from agora.seeds import Stream
from agora.world.rigid import ride
from agora.world.trajectories import Trajectories

SIDE = 10.0
"""Half the side length of the square, m."""

_SHORT = 1e-6
_CODED_KNOTS = 10
_GRID, _LEAST_DEVIATION = 0.1, 0.01  # m/s
_MOST_DEGREE = 12
_MOST = 1000
_MOST_DISCS = 64


@dataclass(frozen=True)
class Profile:
    """The motion of an obstacle.

    Attributes:
        degree: minimum and maximum degree of the polynomial.
        speed: minimum and maximum mean speed of a segment, m/s; the speed of each segment is also limited to this range.
        deviation: minimum and maximum standard deviation of the speed of a segment, m/s.
    """

    degree: tuple[int, int]
    speed: tuple[float, float]
    deviation: tuple[float, float]

    def __post_init__(self) -> None:
        if not 0 <= self.degree[0] <= self.degree[1] <= _MOST_DEGREE:
            raise ValueError(f"degree must be [min, max], at most {_MOST_DEGREE}, got {list(self.degree)}")
        if not 0 < self.speed[0] <= self.speed[1]:
            raise ValueError(f"speed must be [min, max] above 0, got {list(self.speed)}")
        if not 0 <= self.deviation[0] <= self.deviation[1]:
            raise ValueError(f"deviation must be [min, max], 0 or more, got {list(self.deviation)}")


PROFILES = {
    "easy": Profile((1, 2), (0.5, 1.0), (0.01, 0.1)),
    "medium": Profile((3, 4), (1.0, 1.5), (0.1, 0.2)),
    "hard": Profile((3, 4), (1.0, 2.0), (0.1, 0.2)),
}
"""Motion by difficulty."""

SHAPES = {
    "bar": tuple((x, 0.0) for x in (-0.75, -0.375, 0.0, 0.375, 0.75)),
    "l": tuple((x, -0.3) for x in (0.7, 0.367, 0.033, -0.3)) + tuple((-0.3, y) for y in (0.033, 0.367, 0.7)),
    "triangle": ((0.433, 0.0), (0.108, 0.188), (0.108, -0.188), (-0.217, 0.375), (-0.217, 0.0), (-0.217, -0.375)),
}
"""Centres of the discs by shape, with x ahead and y to the left, m. With a radius of 0.25 m, the bar is 2 m long and 0.5 m wide,
each arm of the L is 1.5 m long, and each side of the triangle, which points ahead, is 1.25 m long.
"""


def path(stream: Stream, profile: Profile) -> Doubles:
    """Return the knots (N, 2), m, inside the square of a polynomial path through random points, from border to border.

    Where the polynomial leaves the square and returns, the path between the two crossings follows the border.
    """
    degree = stream.integer(*profile.degree)
    points = stream.uniform(-SIDE, SIDE, (degree + 1, 2))
    polynomial = np.polynomial.Polynomial.fit(points[:, 0], points[:, 1], degree, domain=[-SIDE, SIDE])
    x = np.arange(-SIDE, SIDE + 1.0)
    y = polynomial(x)
    crossings = []
    for border in (-SIDE, SIDE):
        roots = (polynomial - border).roots()
        real = roots.real[(np.abs(roots.imag) < 1e-9) & (np.abs(roots.real) <= SIDE)]
        crossings.append(np.column_stack((real, np.full(len(real), border))))
    knots = np.vstack((np.column_stack((x, y))[np.abs(y) <= SIDE], *crossings))
    knots = knots[np.argsort(knots[:, 0], kind="stable")]
    knots = knots[np.append(True, np.hypot(*np.diff(knots, axis=0).T) > _SHORT)]
    return np.asarray(knots[::-1] if stream.uniform() < 0.5 else knots)


def times(stream: Stream, knots: Doubles, profile: Profile) -> Doubles:
    """Return the times (N,) of the knots, s; the first time is 0, and each segment has its own speed."""
    length = np.hypot(*np.diff(knots, axis=0).T)
    mean = stream.uniform(*profile.speed, length.shape)
    deviation = stream.uniform(*profile.deviation, length.shape)
    speed = np.clip(stream.normal(0.0, 1.0, length.shape) * deviation + mean, *profile.speed)
    return np.append(0.0, np.cumsum(length / speed))


def coded_path(stream: Stream, profile: Profile) -> Doubles:
    """Return knots (N, 2), m, computed as in the published code: at ten values of x, at the sampled points, and at two points on
    the border.

    Crossings of the upper or lower border count only if all roots for that border are real. The leftmost and rightmost points on
    the border become the ends of the path, and other border points are dropped. If there are fewer than two border points, the
    missing ends are drawn anywhere on the border.
    """
    while True:
        degree = stream.integer(*profile.degree)
        sampled = np.array([[stream.integer(-10, 10), stream.integer(-10, 10)] for _ in range(degree + 1)], float)
        if degree == 0 or sampled[:, 0].any():  # if every x is 0, numpy.polyfit raises and the code draws again
            break
    polynomial = np.poly1d(_fitted(sampled[:, 0], sampled[:, 1], degree))
    x = np.linspace(-SIDE, SIDE, _CODED_KNOTS)
    parts = [np.column_stack((x, polynomial(x))), sampled]
    for border in (SIDE, -SIDE):
        roots = (polynomial - border).roots
        if not roots.imag.any():
            parts.append(np.column_stack((roots.real, np.full(len(roots), border))))
    knots = np.vstack(parts)
    knots = knots[(np.abs(knots) <= SIDE).all(axis=1)]
    knots = knots[np.argsort(knots[:, 0], kind="stable")]
    outer = (np.abs(knots) == SIDE).any(axis=1)
    ends = list(knots[outer][[0, -1]] if outer.sum() > 1 else knots[outer])
    while len(ends) < 2:
        ends.append(_on_border(stream))
    inner = knots[~outer]
    gaps = np.hypot(*np.moveaxis(inner[:, None] - np.vstack((ends, inner))[None], -1, 0))
    inner = inner[~(np.tril(gaps <= _SHORT, 1)).any(axis=1)]  # without duplicates caused by rounding
    way = np.vstack((ends[0], inner, ends[1]))
    return np.asarray(way[::-1] if stream.integer(0, 1) == 0 else way)


def _fitted(x: Doubles, y: Doubles, degree: int) -> Doubles:
    """Return the coefficients, highest first, of a polynomial through points, or of a least-squares fit if some x occurs twice.

    The result is the same as that of ``numpy.polyfit``, which the code uses: least squares with scaled powers, and the minimum-norm
    solution if there are several solutions.
    """
    powers = np.vander(x, degree + 1)
    scale = np.sqrt((powers * powers).sum(axis=0))
    return np.asarray(np.linalg.lstsq(powers / scale, y, rcond=len(x) * np.finfo(float).eps)[0] / scale)


def _on_border(stream: Stream) -> Doubles:
    """Draw a point (2,) on the border of the square, m."""
    along, side = float(stream.uniform(-SIDE, SIDE)), (-SIDE, SIDE)[stream.integer(0, 1)]
    return np.array([side, along] if stream.integer(0, 1) else [along, side])


def coded_times(stream: Stream, knots: Doubles, profile: Profile) -> Doubles:
    """Return the times (N,) of the knots, s, computed as in the published code.

    Speeds are drawn from {minimum, minimum + 0.1, ... < maximum} m/s with normally distributed weights. The mean (rounded to 0.1
    m/s) and the deviation (rounded to 0.01 m/s) of this distribution are drawn once.
    """
    mean, deviation = round(float(stream.uniform(*profile.speed)), 1), round(float(stream.uniform(*profile.deviation)), 2)
    speeds = np.arange(*profile.speed, _GRID) if profile.speed[0] < profile.speed[1] else np.array(profile.speed[:1])
    exponents = -0.5 * ((speeds - mean) / max(deviation, _LEAST_DEVIATION)) ** 2
    bounds = np.cumsum(np.exp(exponents - exponents.max()))
    length = np.hypot(*np.diff(knots, axis=0).T)
    drawn = np.searchsorted(bounds, stream.uniform(0.0, bounds[-1], length.shape), side="right")
    return np.append(0.0, np.cumsum(length / speeds[np.minimum(drawn, len(speeds) - 1)]))


@dataclass(frozen=True)
class MotionProfiles(Checked):
    """A random number of moving obstacles in a 20 m square around the origin: generated worlds of DynaBARN.

    The obstacles appear as recorded pedestrians. At the last knot of its trajectory, an obstacle jumps back to the first knot. The
    worlds used in the paper have 5 to 14 easy, 15 to 19 medium or 20 to 24 hard obstacles.

    Attributes:
        count: minimum and maximum number of obstacles; with ``variant`` code, the maximum is exclusive.
        variant: paper for the algorithm in the paper, code for the algorithm in the published code.
        difficulty: easy, medium or hard; if several are given, one is drawn for each obstacle.
        profile: custom motion that replaces ``difficulty``.
        radius: radius of the discs, m.
        shapes: bar, l or triangle, each a rigid body of several discs (`SHAPES`, designed for a disc radius of 0.25 m); one shape
            is drawn for each obstacle. Without shapes, an obstacle is a single disc.
        discs: custom shape instead of ``shapes``: centres [x, y] of the discs, with x along and y to the left of the obstacle's
            path, m.
        turning: time that a body takes to turn at a corner of its path, s.
        random_phase: whether each obstacle starts at a random point of its trajectory instead of at the first knot.
        beside: obstacles mode that adds more pedestrians or static discs.
    """

    count: tuple[int, int] = (5, 14)
    variant: Literal["paper", "code"] = "paper"
    difficulty: tuple[Literal["easy", "medium", "hard"], ...] = ("easy",)
    profile: Profile | None = None
    radius: Length = 0.5
    shapes: tuple[Literal["bar", "l", "triangle"], ...] = ()
    discs: tuple[tuple[float, float], ...] = ()
    turning: Annotated[float, Within(0.5, 60.0)] = 2.0
    random_phase: bool = False
    beside: Annotated[Named, Plug("obstacles_modes")] = field(default_factory=lambda: Named.of("obstacles_modes", "none"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.count[0] <= self.count[1] <= _MOST:
            raise ValueError(f"count must be [min, max], at most {_MOST}, got {list(self.count)}")
        if self.variant == "code" and self.count[0] == self.count[1]:
            raise ValueError(f"count must be [min, max] with max above min if variant is code, got {list(self.count)}")
        if not self.difficulty:
            raise ValueError("difficulty must name at least one of easy, medium and hard")
        if len(self.discs) > _MOST_DISCS or not (np.abs(np.array(self.discs)) <= SIDE).all():
            raise ValueError(f"discs must be at most {_MOST_DISCS} centres [x, y] within {SIDE:g} m, got {self.discs}")

    @property
    def uses(self) -> frozenset[str]:
        """The names of what the mode uses: recordings, and everything that the ``beside`` mode uses."""
        return frozenset({"recordings"}) | getattr(self.beside.part, "uses", frozenset({"random places", "scenario", "people"}))

    def unread(self) -> dict[str, str]:
        """Return the parameters that have no effect given the other parameters, and the reasons."""
        found = {} if self.profile is None else {"difficulty": "with profile"}
        if self.discs:
            return found | {"shapes": "with discs"}
        return found if self.shapes else found | {"turning": "without shapes or discs: a single disc does not turn"}

    def place(self, task: Task) -> None:
        """Add the obstacles to the task, together with the obstacles of the ``beside`` mode.

        Raises:
            InputError: the ``beside`` mode also adds recorded pedestrians.
        """
        self.beside.part.place(task)
        if task.replay is not None:
            raise InputError(f"obstacles mode 'motion_profiles': `beside`, {self.beside.name!r}, already has recorded pedestrians")
        count = task.stream.integer(self.count[0], self.count[1] - (self.variant == "code"))
        if not count:
            return
        ways = [self._way(task.stream) for _ in range(count)]
        bodies = self._bodies(ways, task.stream.branch("shapes"))
        obstacle = np.repeat(np.arange(count), [len(body) for body in bodies])
        period = np.array([way[-1, 0] for way in ways])
        together = np.concatenate([body.reshape(-1, 3) for body in bodies])
        task.replay = Trajectories(
            knot_time=together[:, 0],
            knot_x=together[:, 1],
            knot_y=together[:, 2],
            first=np.cumsum([0, *(len(disc) for body in bodies for disc in body)]).astype(np.int32),
            id=1 + len(task.pedestrians) + np.arange(len(obstacle), dtype=np.int32),
            period=period[obstacle],
            body=np.where(np.bincount(obstacle)[obstacle] > 1, obstacle, -1),
        )
        task.replay_radius = self.radius
        if self.random_phase:
            task.phase = (task.stream.uniform(0.0, 1.0, (count,)) * period)[obstacle]

    def _bodies(self, ways: list[Doubles], stream: Stream) -> list[Doubles]:
        """Return, for each obstacle, the times and positions (t, x, y) of its discs, (D, N, 3)."""
        if self.discs:
            return [ride(way, np.array(self.discs), self.turning) for way in ways]
        if not self.shapes:
            return [way[None] for way in ways]
        drawn = [self.shapes[stream.integer(0, len(self.shapes) - 1)] for _ in ways]
        return [ride(way, np.array(SHAPES[shape]), self.turning) for way, shape in zip(ways, drawn, strict=True)]

    def _way(self, stream: Stream) -> Doubles:
        """Return the times and positions (t, x, y) of one obstacle, (N, 3)."""
        profile = self.profile or PROFILES[self.difficulty[stream.integer(0, len(self.difficulty) - 1)]]
        draw_path, draw_times = (path, times) if self.variant == "paper" else (coded_path, coded_times)
        knots = draw_path(stream, profile)
        return np.column_stack((draw_times(stream, knots, profile), knots))
