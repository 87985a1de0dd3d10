"""Compares a crowd model with recorded crowds.

The model takes over at some time in a recording, and both crowds continue for some seconds.

Each person present keeps the recorded position and velocity, prefers the mean speed of the recorded path, and walks to the end of
this path. Data: ETH (S. Pellegrini et al., You'll never walk alone, ICCV 2009) and UCY (A. Lerner et al., Crowds by example, 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.state import Bools, Doubles
from agora.datasets.eth_ucy import SOURCES, read_scene
from agora.validation.walk import walk
from agora.world.trajectories import Trajectories

QUANTITIES = {"speed": "m/s", "clearance": "m", "density": "1/m2"}
"""Quantities that are compared: speed, distance between the centres of a person and the nearest other person, and number of people
within 2 m divided by the area.
"""

_NEAR = 2.0
_WALKS = 0.3  # m/s, mean speed below which a person counts as standing still and is not simulated


@dataclass(frozen=True, eq=False)
class PairedSamples:
    """Samples of the recorded and the simulated crowd, for the same people at the same times.

    Attributes:
        recorded: (S,) samples of the recorded people, by quantity.
        simulated: (S,) samples of the simulated people, by quantity.
        moments: number of times at which samples were taken.
    """

    recorded: dict[str, Doubles]
    simulated: dict[str, Doubles]
    moments: int

    def distance(self, quantity: str) -> tuple[float, float]:
        """Return the Kolmogorov-Smirnov distance and the 1-Wasserstein distance for a quantity; the 1-Wasserstein distance is in
        the quantity's unit.
        """
        from scipy.stats import ks_2samp, wasserstein_distance

        one, other = self.recorded[quantity], self.simulated[quantity]
        return float(ks_2samp(one, other).statistic), float(wasserstein_distance(one, other))


def against_recorded(
    model: Any, scenes: Sequence[str] = (), *, seconds: float = 4.8, every: float = 10.0, least: int = 4, radius: float = 0.25
) -> PairedSamples:
    """Let a model take over recorded crowds, and return samples of both crowds.

    Walking people are sampled every 0.4 s in the second half of each stretch, when the initial state no longer matters. Everyone
    who was recorded throughout the stretch is included.

    Args:
        model: crowd model.
        scenes: names of ETH/UCY scenes; all scenes if empty.
        seconds: length of a stretch, s.
        every: time between the starts of stretches, s.
        least: minimum number of walking people in a stretch.
        radius: radius of every pedestrian, m.

    Raises:
        InputError: the data set is missing.
    """
    kept: dict[str, list[dict[str, Doubles]]] = {"recorded": [], "simulated": []}
    moments = 0
    for name in scenes or sorted(SOURCES):
        scene = read_scene(name)
        people = scene.trajectories
        pace = _paces(people)
        ends = np.array([(people.knot_x[k - 1], people.knot_y[k - 1]) for k in people.first[1:]])
        for begin in np.arange(people.start.min(), people.end.max() - seconds, every):
            now = people.at(begin)
            there = np.flatnonzero(now.present & (people.end > begin + seconds))
            walks = pace[there] > _WALKS
            if walks.sum() < least:
                continue
            begun: dict[str, Any] = {"speed": pace[there], "velocity": now.velocity[there], "radius": radius}
            seen = walk(model, scene.map, now.position[there], ends[there][:, None], seconds, every=8, **begun)
            moments += 1
            for k in range(len(seen.time) // 2, len(seen.time)):
                then = people.at(begin + seen.time[k])
                kept["recorded"].append(_quantities(then.position[there], then.velocity[there], walks))
                kept["simulated"].append(_quantities(seen.position[k], seen.velocity[k], walks))
    whole = {who: {q: np.concatenate([s[q] for s in samples]) for q in QUANTITIES} for who, samples in kept.items()}
    return PairedSamples(whole["recorded"], whole["simulated"], moments)


def _paces(people: Trajectories) -> Doubles:
    """Return the mean speed (n,) of each pedestrian, m/s."""
    return np.array([people.only(people.id == who).mean_speed() for who in people.id])


def _quantities(position: Doubles, velocity: Doubles, walks: Bools) -> dict[str, Doubles]:
    """Return the quantities for walking people; all people count as their neighbours."""
    apart = np.hypot(*(position[:, None] - position).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    return {
        "speed": np.hypot(*velocity[walks].T),
        "clearance": apart.min(1)[walks],
        "density": (((apart < _NEAR).sum(1) + 1) / (np.pi * _NEAR**2))[walks],
    }
