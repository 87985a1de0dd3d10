"""Experiments on known collective behaviour of walking crowds: speed decreases with density, opposite streams form lanes, and
crossing streams form stripes.

Speed and density: U. Weidmann, Transporttechnik der Fussgaenger, ETH Zuerich, 1993: ``v = 1.34 (1 - exp(-1.913 (1/rho - 1/5.4)))``.
Lanes: D. Helbing and P. Molnar, Phys. Rev. E 51, 1995. Stripes: D. Helbing et al., Transportation Science 39, 2005. Both order
parameters are Agora's own; the order parameter for lanes counts neighbours to either side, as in M. Rex and H. Loewen (Phys. Rev. E
75, 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Bools, Doubles
from agora.maps.grid import Map
from agora.pedestrians.models.waypoint import Waypoint
from agora.seeds import Stream
from agora.validation.walk import Walk, fill, speeds, walk

DENSITIES = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)


def weidmann(density: ArrayLike) -> Doubles:
    """Return Weidmann's speeds, m/s, at the given densities, 1/m2; the speed is 0 at densities of 5.4 /m2 and above."""
    rho = np.maximum(np.asarray(density, np.float64), 1e-9)
    return np.asarray(1.34 * np.maximum(1.0 - np.exp(-1.913 * (1.0 / rho - 1.0 / 5.4)), 0.0))


@dataclass(frozen=True, eq=False)
class FundamentalDiagram:
    """Mean speed as a function of density.

    Attributes:
        density: (D,) measured density, 1/m2; 0 if no one passed.
        speed: (D,) mean speed, m/s; NaN if no one passed.
        spread: (D,) standard deviation of the speed among pedestrians, m/s; NaN if no one passed.
    """

    density: Doubles
    speed: Doubles
    spread: Doubles

    @property
    def error(self) -> float:
        """The root mean square difference from Weidmann's speeds, m/s; NaN if there is a density at which no one passed."""
        return float(np.sqrt(np.mean((self.speed - weidmann(self.density)) ** 2)))

    @property
    def unseen(self) -> str:
        """A text with the number of densities at which no one passed; empty if someone passed at every density."""
        unseen = int(np.isnan(self.speed).sum())
        return f"no pedestrian passed at {unseen} of {len(self.speed)} densities" if unseen else ""


def fundamental_diagram(model: Any, densities: Sequence[float] = DENSITIES, *, seed: int = 0) -> FundamentalDiagram:
    """Measure speed as a function of density in a corridor of 50 x 4 m full of pedestrians who walk in one direction.

    Speed and density are averaged from 5 to 12 s over an area of 8 x 4 m. The area lies 20 m behind the first pedestrians, who walk
    freely, and 20 m ahead of the last pedestrians.

    Args:
        model: crowd model.
        densities: initial densities, 1/m2.
        seed: seed used to sample positions and preferred speeds.
    """
    corridor = _corridor(110.0, 4.0)
    found = []
    for k, density in enumerate(densities):
        stream = Stream(f"fundamental diagram/{k}", seed, "validation")
        places = fill(stream, (0.0, 0.3), (50.0, 3.7), density * 4.0 / 3.4)
        goals = np.stack([np.full(len(places), 105.0), places[:, 1]], -1)
        preferred = speeds(stream, len(places))
        first = np.stack([np.minimum(preferred, weidmann(density)), np.zeros(len(places))], -1)
        seen = walk(model, corridor, places, goals[:, None], 12.0, speed=preferred, velocity=first).during(5.0, 12.0)
        there = (seen.position[..., 0] >= 22.0) & (seen.position[..., 0] < 30.0)
        pace = seen.velocity[..., 0][there]
        found.append((there.sum(1).mean() / 32.0, *((pace.mean(), pace.std()) if pace.size else (np.nan, np.nan))))
    return FundamentalDiagram(*np.array(found).T)


@dataclass(frozen=True, eq=False)
class Streams:
    """The result of an experiment in which two streams meet.

    Attributes:
        walk: motion of the pedestrians.
        second: (P,) whether each pedestrian belongs to the second stream.
        order: order parameter after the streams have mixed; NaN if they never mix.
        blind: order parameter for the same people if they do not see each other.
    """

    walk: Walk
    second: Bools
    order: float
    blind: float


def lanes(model: Any, density: float = 0.3, *, seed: int = 0) -> Streams:
    """Let two opposite streams meet in a corridor of 40 x 6 m. The order parameter is the mean of `lane_order` from 14 to 22 s in
    the middle 20 m of the corridor.

    Args:
        model: crowd model.
        density: initial density of each stream, 1/m2.
        seed: seed used to sample positions and preferred speeds.
    """
    stream = Stream("lanes", seed, "validation")
    places = [fill(stream, (low, 0.4), (low + 20.0, 5.6), density) for low in (0.0, 20.0)]
    second = np.repeat([False, True], [len(p) for p in places])
    start = np.vstack(places)
    goals = np.stack([np.where(second, -60.0, 100.0), start[:, 1]], -1)
    corridor, preferred = _corridor(40.0, 6.0, beyond=62.0), speeds(stream, len(start))

    def order(seen: Walk) -> float:
        inside = [(p, (p[:, 0] >= 10.0) & (p[:, 0] < 30.0)) for p in seen.during(14.0, 22.0).position[::10]]
        return _mean([lane_order(p[there, 1], second[there]) for p, there in inside if _both(second[there])])

    seen, blind = (walk(m, corridor, start, goals[:, None], 22.0, speed=preferred) for m in (model, Waypoint()))
    return Streams(seen, second, order(seen), order(blind))


def lane_order(lateral: Doubles, second: Bools, width: float = 0.75) -> float:
    """Return the mean over pedestrians of ((same - other) / (same + other))^2, where ``same`` and ``other`` are the numbers of
    neighbours from the pedestrian's own stream (including the pedestrian) and from the other stream that are less than half a
    ``width`` to either side.

    The value is 1 for perfect lanes. For two equally large streams at random positions, it is about 1 / n if there are n
    pedestrians per strip.

    Args:
        lateral: (P,) coordinates of the pedestrians perpendicular to the streams, m.
        second: (P,) whether each pedestrian belongs to the second stream.
        width: width of the strip around each pedestrian, m.
    """
    beside = np.abs(lateral[:, None] - lateral) < width / 2
    same = (beside & (second[:, None] == second)).sum(1)
    other = (beside & (second[:, None] != second)).sum(1)
    return float(np.mean(((same - other) / (same + other)) ** 2))


def stripes(model: Any, density: float = 0.6, *, seed: int = 0) -> Streams:
    """Let two streams cross at a right angle. The order parameter is the mean of `stripe_order` from 8 to 13 s in the area of 10 x
    10 m in which the streams cross.

    Args:
        model: crowd model.
        density: initial density of each stream, 1/m2.
        seed: seed used to sample positions and preferred speeds.
    """
    stream = Stream("stripes", seed, "validation")
    first, other = (fill(stream, (-14.0, 0.0), (2.0, 10.0), density) for _ in range(2))
    start = np.vstack([first, other[:, ::-1]])
    second = np.repeat([False, True], [len(first), len(other)])
    far = np.full(len(start), 60.0)
    goals = np.where(second[:, None], np.stack([start[:, 0], far], -1), np.stack([far, start[:, 1]], -1))
    plane, preferred = Map.open((-20.0, -20.0), (70.0, 70.0), resolution=0.5), speeds(stream, len(start))

    def order(seen: Walk) -> float:
        inside = [(p, ((p >= 0.0) & (p < 10.0)).all(1)) for p in seen.during(8.0, 13.0).position[::10]]
        return _mean([stripe_order(p[there], second[there]) for p, there in inside if _both(second[there])])

    seen, blind = (walk(m, plane, start, goals[:, None], 13.0, speed=preferred) for m in (model, Waypoint()))
    return Streams(seen, second, order(seen), order(blind))


def stripe_order(position: Doubles, second: Bools) -> float:
    """Return how much more the streams alternate along the sum of their directions than perpendicular to it, in (0, 1).

    The streams move along x and y. With S(k) = |sum s exp(i k r)|^2 / P, where s is 1 or -1 depending on the stream, the value is A
    / (A + B). A is the largest S for wavelengths of 1.5 to 6 m along (1, 1), and B is the largest S along (1, -1). The value is 1/2
    if there are no stripes, and close to 1 for stripes with the orientation of crossing streams.

    Args:
        position: (P, 2) positions of the pedestrians, m.
        second: (P,) whether each pedestrian belongs to the second stream.
    """
    sign = np.where(second, -1.0, 1.0)
    sign = sign - sign.mean()
    wave = 2.0 * np.pi / np.linspace(1.5, 6.0, 60)
    largest = []
    for direction in ((1.0, 1.0), (1.0, -1.0)):
        along = position @ np.array(direction) / np.sqrt(2.0)
        largest.append(float((np.abs(np.exp(1j * wave[:, None] * along) @ sign) ** 2).max()))
    return largest[0] / (largest[0] + largest[1])


def _both(second: Bools) -> bool:
    """Return whether people of both streams are present."""
    return bool(second.any() and not second.all())


def _mean(orders: Sequence[float]) -> float:
    return float(np.mean(orders)) if orders else np.nan


def _corridor(length: float, width: float, beyond: float = 0.0) -> Map:
    """Return a map of a corridor from x = 0 to ``length``, with walls 0.3 m thick at y = 0 and y = ``width``; the map extends by
    ``beyond`` metres at both ends.
    """
    low, high = -2.0 - beyond, length + 2.0 + beyond
    walls = [[[low, y], [high, y], [high, y + 0.3], [low, y + 0.3]] for y in (-0.3, width)]
    return Map.from_shapes(polygons=walls, bounds=(low, -0.5, high, width + 0.5), resolution=0.1, name="corridor")
