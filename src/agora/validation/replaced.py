"""Measures the distance, over 4.8 s, between a recorded pedestrian and the simulated pedestrian that replaces it.

All other people move as recorded.

The mean displacement error is defined as in trajectory prediction (S. Pellegrini et al., ICCV 2009): it is the mean distance over
the 12 samples after the first. A crowd model receives the end point and the mean speed of the recorded path; the constant-velocity
baseline receives neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agora.core.state import Doubles
from agora.reporting.statistics import Estimate
from agora.seeds import Stream
from agora.validation.crowd import SimulatedCrowd, simulate_scenes
from agora.validation.distances import mean
from agora.validation.stretches import STEP, Stretch

AHEAD = 12
"""Number of samples after the first over which the error is averaged."""


@dataclass(frozen=True)
class Replaced:
    """A walker to be replaced in a stretch.

    Attributes:
        stretch: index of the stretch.
        walker: index of the walker in the stretch.
    """

    stretch: int
    walker: int


def draw(cut: Sequence[Stretch], most: int = 400) -> list[Replaced]:
    """Return at most ``most`` walkers from the stretches, sampled without replacement, in their original order."""
    everybody = [Replaced(k, i) for k, stretch in enumerate(cut) for i in range(stretch.walkers)]
    if len(everybody) <= most:
        return everybody
    order = np.argsort(Stream("replaced", 0, "validation").uniform(shape=(len(everybody),)))[:most]
    return [everybody[k] for k in np.sort(order)]


def constant_velocity(stretch: Stretch, samples: int) -> Doubles:
    """Return the positions (samples, N, 2), m, that the walkers would have if each kept its initial velocity."""
    time = np.arange(samples)[:, None, None] * STEP
    return np.asarray(stretch.position[0, : stretch.walkers] + time * stretch.velocity)


def replaced_error(
    cut: Sequence[Stretch],
    chosen: Sequence[Replaced],
    crowd: SimulatedCrowd | Mapping[str, SimulatedCrowd] | None,
    *,
    threads: int = 1,
) -> Estimate:
    """Return the mean displacement error, m, with a 95 % interval from resampling stretches.

    Args:
        cut: stretches of the recordings.
        chosen: pedestrians to replace, one at a time.
        crowd: crowd that simulates the replacements, either one for all scenes or one per scene; None for constant velocity.
        threads: number of threads; the worlds are divided among them.
    """
    if crowd is None:
        walked = [constant_velocity(cut[one.stretch], AHEAD + 1)[:, one.walker] for one in chosen]
    else:
        starts = [cut[one.stretch].start([one.walker]) for one in chosen]
        scenes = [cut[one.stretch].scene for one in chosen]
        walked = [seen[:, 0, :2] for seen in simulate_scenes(crowd, scenes, starts, AHEAD * STEP, every=8, threads=threads)]
    errors = [error(cut[one.stretch].position[:, [one.walker]], way[:, None]) for one, way in zip(chosen, walked, strict=True)]
    stretch = np.array([one.stretch for one in chosen], np.int64)
    sums, counts = np.zeros(len(cut)), np.zeros(len(cut))
    np.add.at(sums, stretch, [float(e[0]) for e in errors])
    np.add.at(counts, stretch, 1.0)
    return mean(sums, counts)


def error(recorded: Doubles, walked: Doubles) -> Doubles:
    """Return the mean displacement error (N,), m, of positions (T, N, 2) over the samples after the first."""
    off = walked[1 : AHEAD + 1] - recorded[1 : AHEAD + 1]
    return np.asarray(np.hypot(off[..., 0], off[..., 1]).mean(0))
