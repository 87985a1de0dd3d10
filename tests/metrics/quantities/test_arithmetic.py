"""Arithmetic that rounds alike everywhere, against the library's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agora.metrics.quantities import arithmetic


@given(st.floats(-20.0, 20.0))
def test_direction_is_cosine_and_sine(heading):
    cosine, sine = arithmetic.direction(np.array([heading]))
    assert [cosine[0], sine[0]] == pytest.approx([np.cos(heading), np.sin(heading)], rel=0.0, abs=1e-15)


@given(st.floats(-np.pi, np.pi), st.floats(1e-3, 1e3), st.floats(-np.pi, np.pi))
def test_angle_between_vectors_is_that_of_the_arc_tangent(turn, length, heading):
    a = np.array([[np.cos(heading), np.sin(heading)]])
    b = length * np.array([[np.cos(heading + turn), np.sin(heading + turn)]])
    cross = a[0, 0] * b[0, 1] - a[0, 1] * b[0, 0]
    assert arithmetic.angle_between(a, b)[0] == pytest.approx(abs(np.arctan2(cross, a[0] @ b[0])), rel=1e-15, abs=1e-15)


@given(st.floats(-720.0, 700.0))
def test_exponential_is_that_of_the_library(x):
    expected = np.exp(x) if x > -700.0 else 0.0
    assert arithmetic.exponential(np.array([x]))[0] == pytest.approx(expected, rel=1e-14, abs=1e-300)


@given(st.floats(1e-200, 1e200))
def test_logarithm_is_that_of_the_library(x):
    assert arithmetic.logarithm(x) == pytest.approx(np.log(x), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize(("count", "order"), [(2, 1), (3, 4), (16, 4), (17, 2), (600, 4)])
def test_spectrum_is_the_magnitude_of_the_discrete_fourier_transform(count, order):
    values = np.random.default_rng(count).normal(size=count)
    size = 2 ** (int(np.ceil(np.log2(count))) + order)
    assert arithmetic.spectrum(values, order) == pytest.approx(np.abs(np.fft.fft(values, size))[: size // 2], abs=1e-12)
