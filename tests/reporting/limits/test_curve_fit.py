"""Falling curves: known limits are found, intervals contain them, and data that do not fall give bounds."""

from __future__ import annotations

import numpy as np
import pytest

from agora.reporting.limits.curve_fit import POINTS, fit


def drawn(rng, count, middle, width, lapse=0.0):
    x = (rng.random() + np.arange(count) * 0.6180339887) % 1.0
    return x, rng.random(count) < (1.0 - lapse) / (1.0 + np.exp((x - middle) / width))


def fitted(rng, x, won, resamples=80):
    return fit(x, won, rng.multinomial(len(x), np.full(len(x), 1.0 / len(x)), size=resamples))


@pytest.mark.parametrize(("middle", "width", "lapse"), [(0.4, 0.08, 0.05), (0.6, 0.15, 0.0), (0.3, 0.05, 0.15)])
def test_the_interval_contains_a_known_limit_about_19_times_out_of_20(middle, width, lapse):
    rng = np.random.default_rng(31)
    true = middle - width * np.log(0.5 / (0.5 - lapse))
    made = [fitted(rng, *drawn(rng, 60, middle, width, lapse)) for _ in range(20)]
    held = sum(one.interval[0] <= true <= one.interval[1] for one in made)
    assert held >= 16  # 20 draws with a chance of 0.95 have fewer with a probability of 0.003
    assert abs(np.mean([one.half for one in made]) - true) < 0.05


def test_four_times_as_many_episodes_halve_the_interval():
    rng = np.random.default_rng(5)
    widths = [np.mean([np.ptp(fitted(rng, *drawn(rng, count, 0.5, 0.1)).interval) for _ in range(6)]) for count in (40, 160)]
    assert 1.5 < widths[0] / widths[1] < 2.7


def test_a_planner_that_never_fails_has_a_limit_beyond_the_axis():
    rng = np.random.default_rng(2)
    x, _ = drawn(rng, 41, 0.5, 0.1)
    made = fitted(rng, x, np.ones(41))
    assert made.half == 1.0 and 0.8 < made.interval[0] < 1.0 == made.interval[1]
    assert made.area > 0.98


def test_a_planner_that_never_succeeds_has_a_limit_below_the_axis():
    rng = np.random.default_rng(3)
    x, _ = drawn(rng, 41, 0.5, 0.1)
    made = fitted(rng, x, np.zeros(41))
    assert made.half == 0.0 == made.interval[0] and 0.0 < made.interval[1] < 0.2
    assert made.area < 0.02


def test_no_curve_rises_even_if_the_data_do():
    rng = np.random.default_rng(4)
    x, won = drawn(rng, 80, 0.5, 0.1)
    made = fitted(rng, x, ~won)
    assert (np.diff(made.curves, axis=1) <= 0).all() and np.ptp(made.curve) < 0.6
    assert made.interval[0] < 0.2 and made.interval[1] == 1.0


def test_the_area_is_the_mean_of_the_curve():
    rng = np.random.default_rng(6)
    made = fitted(rng, *drawn(rng, 200, 0.35, 0.02))
    assert made.area == pytest.approx(np.mean((made.curve[1:] + made.curve[:-1]) / 2), abs=1e-9)
    assert made.area == pytest.approx(0.35, abs=0.06) and len(POINTS) == len(made.curve)
