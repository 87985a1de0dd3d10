"""Distances and means whose value is known, with intervals that hold it."""

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from agora.validation.distances import mean, wasserstein


@pytest.fixture
def crowd(rng):
    return [rng.normal(1.2, 0.3, size) for size in (40, 1, 7, 0, 90)]


def test_a_crowd_has_no_distance_to_itself(crowd):
    found = wasserstein(crowd, crowd)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)


def test_a_shift_is_the_distance_and_the_interval_holds_it(crowd):
    found = wasserstein(crowd, [values + 0.4 for values in crowd])
    assert found.value == pytest.approx(0.4)
    assert found.low <= 0.4 + 1e-9
    assert found.high >= 0.4 - 1e-9


def test_the_distance_is_scipys(crowd, rng):
    other = [rng.gamma(2.0, 0.5, size) for size in (3, 60, 0, 12, 5)]
    whole = wasserstein_distance(np.concatenate(crowd), np.concatenate(other))
    assert wasserstein(crowd, other, resamples=0).value == pytest.approx(whole)


def test_nobody_has_no_distance_and_no_mean(crowd):
    assert wasserstein(crowd, [np.zeros(0)] * 5).value is None
    assert wasserstein([], []).value is None
    assert mean(np.zeros(0), np.zeros(0)).value is None


def test_one_stretch_has_a_value_and_no_interval():
    found = wasserstein([np.array([1.0, 2.0])], [np.array([2.0, 3.0])])
    assert (found.value, found.low, found.high) == (1.0, None, None)


def test_a_balanced_mean_counts_both_columns_alike():
    assert mean(np.array([[9.0, 0.0], [0.0, 1.0]]), np.array([[10.0, 1.0], [0.0, 1.0]])).value == pytest.approx(0.7)
