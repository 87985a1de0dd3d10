"""Distances between recorded and simulated samples, with intervals from resampling whole stretches.

Samples within a stretch are correlated, so the bootstrap resamples whole stretches, using the same stretches for both crowds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from agora.core.state import Doubles
from agora.reporting.statistics import Estimate
from agora.seeds import Stream

RESAMPLES = 200


def wasserstein(recorded: Sequence[Doubles], simulated: Sequence[Doubles], *, resamples: int = RESAMPLES) -> Estimate:
    """Return the 1-Wasserstein distance between the samples of two crowds with a 95 % interval, in the unit of the samples.

    Args:
        recorded: samples of the recorded crowd, one array per stretch.
        simulated: samples of the other crowd, one array per stretch.
        resamples: number of resamples of the bootstrap; 0 for no interval.
    """
    sizes = np.array([[len(values) for values in crowd] for crowd in (recorded, simulated)]).reshape(2, -1)
    if not sizes.sum(1).all():
        return Estimate(0, None, None, None)
    values = np.concatenate([*recorded, *simulated])
    order = values.argsort(kind="stable")
    stretch = np.repeat(np.tile(np.arange(sizes.shape[1]), 2), sizes.ravel())[order]
    second = (np.arange(len(values)) >= sizes[0].sum())[order]
    gaps = np.diff(values[order])

    def distance(times: Doubles) -> float:
        totals = sizes @ times
        if not totals.all():
            return np.nan
        step = times[stretch] * np.where(second, -1.0 / totals[1], 1.0 / totals[0])
        return float(np.abs(np.cumsum(step)[:-1]) @ gaps)

    return Estimate(int(sizes.sum()), distance(np.ones(sizes.shape[1])), *_interval(distance, sizes.shape[1], resamples))


def mean(sums: Doubles, counts: Doubles, *, resamples: int = RESAMPLES) -> Estimate:
    """Return a mean with a 95 % interval; if there are K columns, the mean of the column means, as for a balanced accuracy.

    Args:
        sums: (S,) or (S, K) sums of the values in each stretch.
        counts: (S,) or (S, K) numbers of these values.
        resamples: number of resamples of the bootstrap; 0 for no interval.
    """
    if not len(sums) or not np.sum(counts, 0).all():
        return Estimate(0, None, None, None)

    top, bottom = (np.asarray(a, np.float64).reshape(len(a), -1) for a in (sums, counts))

    def value(times: Doubles) -> float:
        below = times @ bottom
        return float((times @ top / below).mean()) if below.all() else np.nan

    return Estimate(int(bottom.sum()), value(np.ones(len(top))), *_interval(value, len(top), resamples))


def _interval(statistic: Callable[[Doubles], float], count: int, resamples: int) -> tuple[float | None, float | None]:
    """Return the 2.5 and 97.5 % quantiles of a statistic over bootstrap resamples of ``count`` stretches; None if there are fewer
    than two stretches. The statistic is a function of the number of times that each stretch is drawn.
    """
    if count < 2 or not resamples:
        return None, None
    draws = np.floor(Stream("bootstrap", 0, "validation").uniform(0.0, count, (resamples, count))).astype(np.int64)
    found = [statistic(np.bincount(drawn, minlength=count).astype(np.float64)) for drawn in draws]
    low, high = np.nanquantile(found, (0.025, 0.975))
    return float(low), float(high)
