"""A classifier that distinguishes simulated people from recorded people on which it was not trained.

An accuracy of 0.5 means that the classifier guesses, an accuracy of 1 that it is always correct.

The classifier is a random forest (L. Breiman, Machine Learning 45, 2001) from scikit-learn. Before features are computed, the 7.6 s
paths of both crowds are replaced by best-fitting cubic polynomials of time. Recorded people deviate from these polynomials by 0.05
m, which is about the annotation error, so the forest learns little from the way in which a recording was annotated.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence

import numpy as np

from agora.core.state import Doubles
from agora.extras import missing
from agora.reporting.statistics import Estimate
from agora.validation.distances import mean
from agora.validation.features import features
from agora.validation.stretches import Stretch
from agora.validation.window import window

TREES = 150
"""Number of trees in the forest."""

Samples = Sequence[Doubles]
"""Features (N, F) of the walkers in each stretch."""

Judged = tuple[Doubles, Doubles]
"""Two arrays (S, 2) over stretches and the two crowds: the number of correctly classified walkers, and the number of walkers."""


def shown(stretch: Stretch, walked: Doubles | None = None) -> Doubles:
    """Return the features (N, F) of a stretch's walkers, after replacing their recorded paths, or ``walked`` (20, N, 2), by cubic
    polynomials of time.
    """
    way = stretch.position[:, : stretch.walkers] if walked is None else walked
    time = np.linspace(0.0, 1.0, len(way))
    basis = np.polynomial.polynomial.polyvander(time, 3)
    flat = way.reshape(len(way), -1)
    return features(window(stretch, (basis @ np.linalg.lstsq(basis, flat, rcond=None)[0]).reshape(way.shape)))


def judge(training: tuple[Samples, Samples], test: tuple[Samples, Samples], *, seed: int = 0, threads: int = 1) -> Judged:
    """Train a forest, and return the number of correctly classified walkers and the number of all walkers, each (S, 2) over the
    test stretches and the two crowds.

    Args:
        training: features of the walkers of both crowds, stretch by stretch, on which the forest is trained.
        test: features of the walkers to classify, for both crowds; stretches with an empty crowd are left out.
        seed: random seed of the forest.
        threads: number of threads of the forest.

    Raises:
        InputError: scikit-learn is not installed.
    """
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError as error:
        raise missing("distinguishing crowds needs", "scikit-learn", "validate") from error

    if not all(sum(len(rows) for rows in crowd) for crowd in (*training, *test)):
        return np.zeros((0, 2)), np.zeros((0, 2))
    counts = np.array([[len(rows) for rows in crowd] for crowd in test], np.float64).T
    right = np.zeros(counts.shape)
    one, other = (np.concatenate(list(crowd)) for crowd in training)
    kind = np.repeat([0, 1], [len(one), len(other)])
    weight = np.where(kind == 0, 0.5 / len(one), 0.5 / len(other)) * len(kind)
    trees = RandomForestClassifier(TREES, min_samples_leaf=3, max_features="sqrt", random_state=seed, n_jobs=threads)
    trees.fit(np.concatenate([one, other]), kind, weight)
    for column, crowd in enumerate(test):
        found = trees.predict(np.concatenate(list(crowd))) == column
        right[:, column] = np.bincount(np.repeat(np.arange(len(crowd)), [len(rows) for rows in crowd]), found, len(crowd))
    return right, counts


def told_apart(judged: Iterable[Judged], *, resamples: int = 200) -> Estimate:
    """Return the balanced accuracy over all judged stretches, with a 95 % interval from resampling stretches."""
    rows = list(judged) or [(np.zeros((0, 2)), np.zeros((0, 2)))]
    right, counts = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return mean(right, counts, resamples=resamples)


def has_scikit_learn() -> bool:
    """Return whether the classifier's package is installed."""
    return importlib.util.find_spec("sklearn") is not None
