"""Intervals by place, for episodes that are correlated because they share a place.

Resampling places gives a wider interval than resampling episodes. The bootstrap draws whole places with their episodes (A. C.
Davison and D. V. Hinkley 1997, "Bootstrap methods and their application", section 3.8; the statistic is the mean over episodes).
With few places, percentile intervals are too narrow, so the percentiles are moved outwards, as in the expanded percentile interval
of T. C. Hesterberg 2015, "What teachers should know about the bootstrap", The American Statistician 69.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from agora.core.state import Doubles, Ints
from agora.seeds import Stream

__all__ = ["ByPlace"]

FEWEST = 5
"""Minimum number of places for an interval."""

_RESAMPLES = 2000
_NORMAL = NormalDist()


@dataclass(frozen=True)
class ByPlace:
    """The interval of a mean, computed by a bootstrap over places.

    Attributes:
        places: number of places.
        low: lower end of the interval; None for fewer than `FEWEST` places, and if all places have the same mean.
        high: upper end of the interval; None if ``low`` is None.
        wider: ratio of the width of this interval to the width of the interval over single episodes; None if either interval is
            missing.
    """

    places: int
    low: float | None = None
    high: float | None = None
    wider: float | None = None


def by_place(
    values: Sequence[float], places: Sequence[object], low: float | None, high: float | None, confidence: float = 0.95
) -> ByPlace | None:
    """Return the interval by place of the mean of values; None if there are no values, or if the place of any value is unknown.

    The resamples depend only on the number of places, and the result does not depend on the order of values.

    Args:
        values: (N,) finite numbers.
        places: (N,) place of each value; None if the place is unknown.
        low: lower end of the interval over single values; None if there is no such interval.
        high: upper end of the interval over single values.
        confidence: confidence of the interval.
    """
    if not len(values) or any(place is None for place in places):
        return None
    sums: dict[object, list[float]] = {}
    for value, place in zip(values, places, strict=True):
        sums.setdefault(place, []).append(float(value))
    clusters = sorted((len(some), math.fsum(some)) for some in sums.values())
    if len(clusters) < FEWEST:
        return ByPlace(len(clusters))
    counts, totals = np.array(clusters, np.float64).T
    drawn = _place_counts(len(clusters))
    means = np.sort(np.einsum("rp,p->r", drawn, totals) / np.einsum("rp,p->r", drawn, counts))
    level = _expanded_level(len(clusters), confidence)
    first, last = (float(end) for end in np.quantile(means, (level, 1.0 - level)))
    if last - first <= 1e-12 * max(1.0, abs(first)):
        return ByPlace(len(clusters))
    width = None if low is None or high is None else high - low
    return ByPlace(len(clusters), first, last, (last - first) / width if width else None)


def in_words(found: ByPlace | None, factor: float = 1.0, places: int | None = None) -> str:
    """Return an interval by place as text, scaled by a factor and rounded to ``places`` decimals; empty if there is no interval."""
    if found is None or found.low is None or found.high is None:
        return ""
    low, high = (f"{factor * end:.3g}" if places is None else f"{factor * end:.{places}f}" for end in (found.low, found.high))
    return f"by place [{low}, {high}]" + (f", {found.wider:.1f} × as wide" if found.wider is not None else "")


def groups_of(places: Sequence[object]) -> Ints:
    """Return the index (N,) of the independent group of each observation, in the order of the groups' first observations.

    Each place is a group. If the place of any observation is unknown, or if there are fewer than `FEWEST` places, each observation
    is its own group, and results are valid only for these places.

    Args:
        places: (N,) place of each observation; None if the place is unknown.
    """
    numbers = {place: number for number, place in enumerate(dict.fromkeys(places))}
    if None in numbers or len(numbers) < FEWEST:
        return np.arange(len(places), dtype=np.int32)
    return np.array([numbers[place] for place in places], np.int32)


def drawn_groups(count: int, first: int, resamples: int) -> Ints:
    """Return the counts (R, G) of each of ``count`` groups in each resample; equal arguments give equal resamples."""
    chosen = Stream("statistics", count, "ranks", step=first).uniform(0.0, count, (resamples, count)).astype(np.int64)
    chosen += np.arange(resamples)[:, None] * count
    return np.bincount(chosen.ravel(), minlength=resamples * count).reshape(resamples, count).astype(np.int32)


def deviation_of_mean(values: Doubles, groups: Ints) -> float:
    """Return the standard error of the mean of values (N,) that belong to independent groups (N,); 0 for fewer than two groups.

    The formula is the standard error of a ratio estimator (W. G. Cochran 1977, "Sampling techniques", section 9A.2). If every group
    has a single value, the result is s / sqrt(N).
    """
    count = int(groups.max()) + 1 if len(groups) else 0
    if count < 2:
        return 0.0
    residuals = np.bincount(groups, values - values.mean(), count)
    return math.sqrt(float((residuals**2).sum()) * count / (count - 1)) / len(values)


@functools.lru_cache(maxsize=32)
def _place_counts(places: int) -> Doubles:
    """Return the counts (R, P) of each place in each resample."""
    chosen = Stream("statistics", places, "places").uniform(0.0, places, (_RESAMPLES, places)).astype(np.int64)
    counts = np.zeros((_RESAMPLES, places))
    np.add.at(counts, (np.arange(_RESAMPLES)[:, None], chosen), 1.0)
    return counts


@functools.lru_cache(maxsize=64)
def _expanded_level(places: int, confidence: float) -> float:
    """Return the level of the lower percentile: the normal probability of Student's quantile, moved outwards because of the small
    number of places.
    """
    from scipy.special import stdtrit  # imported here because it slows down start-up

    quantile = float(stdtrit(places - 1, 0.5 + confidence / 2.0))
    return _NORMAL.cdf(-quantile * math.sqrt(places / (places - 1)))
