"""Fits decreasing curves of success over difficulty by maximum likelihood on a grid, for the episodes and for resamples of them.

The curve is p(x) = (1 - lapse) / (1 + exp((x - middle) / width)), which is the psychometric function with a lapse rate in F. A.
Wichmann and N. J. Hill, "The psychometric function: I. Fitting, sampling, and goodness of fit", Perception & Psychophysics 63,
2001, but decreasing instead of increasing. The curve cannot increase, whatever the data. The difficulty x is a fraction of an axis,
0 at the easy end. Because the fit is a search on a grid, it neither diverges nor depends on an initial value, and all fits of a
bootstrap are computed by a single matrix product.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from agora.core.state import Array, Doubles

__all__ = ["POINTS", "Fits", "fit"]

POINTS: Doubles = np.linspace(0.0, 1.0, 41)
"""Fractions of an axis at which curves are evaluated and stored."""

_MIDDLES = np.linspace(-0.3, 1.3, 129)
_WIDTHS = np.geomspace(0.015, 3.0, 13)
_LAPSES = np.array([0.0, 0.03, 0.08, 0.15, 0.25, 0.4])
_SURE = 1e-6
_CHI2 = 3.841  # 95 % quantile of the chi-squared distribution with one degree of freedom


@dataclass(frozen=True)
class Fits:
    """The curve that fits the episodes best, and the curves that fit resamples of the episodes best.

    Attributes:
        half: fraction of the axis at which the probability of success falls below one half, in [0, 1]; 0 if the probability is
            below one half everywhere, 1 if it is nowhere below one half.
        curve: (41,) probability of success at each of `POINTS`.
        halves: (B,) ``half`` of each resample.
        curves: (B, 41) ``curve`` of each resample.
        likely: minimum and maximum value of ``half`` that the likelihood-ratio test does not reject at the 5 % level.
    """

    half: float
    curve: Doubles
    halves: Doubles
    curves: Doubles
    likely: tuple[float, float]

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of ``half``. Each end is the wider of the bootstrap percentile and the likelihood-ratio limit.

        The bootstrap accounts for the dependence between episodes that share a place. The likelihood ratio provides the uncertainty
        if all episodes succeed or all episodes fail, because all resamples are then identical.
        """
        low, high = np.quantile(self.halves, (0.025, 0.975))
        return min(float(low), self.likely[0]), max(float(high), self.likely[1])

    @property
    def area(self) -> float:
        """The mean probability of success over the axis."""
        return float(_areas(self.curve))

    @property
    def areas(self) -> Doubles:
        """The ``area`` of each resample (B,)."""
        return _areas(self.curves)


def fit(x: Array, success: Array, counts: Array) -> Fits:
    """Fit a decreasing curve to episodes, and to each resample of the episodes.

    Args:
        x: (N,) difficulty of each episode as a fraction of the axis.
        success: (N,) 1 for a success, otherwise 0.
        counts: (B, N) how often each episode occurs in each resample.
    """
    weights = np.vstack([np.ones(len(x)), counts]).astype(np.float32)
    won = np.asarray(success, np.float32)
    yes, no = _logarithms(np.asarray(x, np.float64).tobytes())
    likelihood = (weights * won) @ yes + (weights * (1.0 - won)) @ no
    best = likelihood.argmax(axis=1)
    halves, curves = _halves()[best], _curves(POINTS)[best]
    likely = _halves()[2.0 * (likelihood[0].max() - likelihood[0]) <= _CHI2]
    return Fits(float(halves[0]), curves[0], halves[1:], curves[1:], (float(likely.min()), float(likely.max())))


@functools.cache
def _grid() -> tuple[Doubles, Doubles, Doubles]:
    """Return the middles, widths and lapse rates (G,) of the curves on the grid."""
    middle, width, lapse = np.meshgrid(_MIDDLES, _WIDTHS, _LAPSES, indexing="ij")
    return middle.ravel(), width.ravel(), lapse.ravel()


@functools.cache
def _halves() -> Doubles:
    """Return the fraction (G,) in [0, 1] at which each curve falls below one half."""
    middle, width, lapse = _grid()
    return np.asarray(np.clip(middle - width * np.log(0.5 / (0.5 - lapse)), 0.0, 1.0))


def _curves(x: Doubles) -> Doubles:
    """Return the probability of success (G, N) of each curve on the grid at the given fractions of the axis (N,)."""
    middle, width, lapse = (value[:, None] for value in _grid())
    return np.asarray((1.0 - lapse) / (1.0 + np.exp(np.clip((x - middle) / width, -60.0, 60.0))))


@functools.lru_cache(maxsize=16)
def _logarithms(x: bytes) -> tuple[Array, Array]:
    """Return the logarithms (N, G) of the probabilities of success and failure; they are cached because planners run the same
    episodes.
    """
    p = np.clip(_curves(np.frombuffer(x)).T, _SURE, 1.0 - _SURE)
    return np.log(p).astype(np.float32), np.log1p(-p).astype(np.float32)


def _areas(curves: Doubles) -> Doubles:
    return np.asarray(np.trapezoid(curves, POINTS, axis=-1))
