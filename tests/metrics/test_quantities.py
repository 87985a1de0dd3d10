"""Quantities: the elementary functions that round alike on every CPU, and the cache."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agora.metrics import quantities
from recordings import crowded


@given(st.floats(-20.0, 20.0))
def test_direction_is_cosine_and_sine(heading):
    cosine, sine = quantities.direction(np.array([heading]))
    assert [cosine[0], sine[0]] == pytest.approx([np.cos(heading), np.sin(heading)], rel=0.0, abs=1e-15)


@given(st.floats(-np.pi, np.pi), st.floats(1e-3, 1e3), st.floats(-np.pi, np.pi))
def test_angle_between_vectors_is_that_of_the_arc_tangent(turn, length, heading):
    a = np.array([[np.cos(heading), np.sin(heading)]])
    b = length * np.array([[np.cos(heading + turn), np.sin(heading + turn)]])
    cross = a[0, 0] * b[0, 1] - a[0, 1] * b[0, 0]
    assert quantities.angle_between(a, b)[0] == pytest.approx(abs(np.arctan2(cross, a[0] @ b[0])), rel=1e-15, abs=1e-15)


@given(st.floats(-720.0, 700.0))
def test_exponential_is_that_of_the_library(x):
    expected = np.exp(x) if x > -700.0 else 0.0
    assert quantities.exponential(np.array([x]))[0] == pytest.approx(expected, rel=1e-14, abs=1e-300)


@given(st.floats(1e-200, 1e200))
def test_logarithm_is_that_of_the_library(x):
    assert quantities.logarithm(x) == pytest.approx(np.log(x), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize(("count", "order"), [(2, 1), (3, 4), (16, 4), (17, 2), (600, 4)])
def test_spectrum_is_the_magnitude_of_the_discrete_fourier_transform(count, order):
    values = np.random.default_rng(count).normal(size=count)
    size = 2 ** (int(np.ceil(np.log2(count))) + order)
    assert quantities.spectrum(values, order) == pytest.approx(np.abs(np.fft.fft(values, size))[: size // 2], abs=1e-12)


def test_stretches_are_found_column_by_column_and_least_is_of_each():
    values = np.array([[1.0, 9.0, 2.0], [0.5, 3.0, 9.0], [9.0, 9.0, 1.5], [2.0, 9.0, 1.0]])
    found = quantities.stretches(values < 5.0)
    assert [part.tolist() for part in found] == [[0, 3, 1, 0, 2], [2, 4, 2, 1, 4], [0, 0, 1, 2, 2]]
    assert quantities.least(values, found).tolist() == [0.5, 2.0, 3.0, 2.0, 1.0]
    assert len(quantities.stretches(np.zeros((4, 0), bool))[0]) == 0


def test_the_lowest_of_a_row_is_the_first_and_nobodys_where_all_are_infinite():
    values = np.array([[2.0, 1.0, 1.0], [np.inf, np.inf, np.inf], [np.inf, np.inf, 3.0]])
    assert quantities.lowest(values).tolist() == [[False, True, False], [False] * 3, [False, False, True]]
    assert quantities.lowest(np.zeros((2, 0))).shape == (2, 0)


def test_what_is_shared_is_computed_once_and_cannot_be_written_to():
    recording = crowded(people=2)
    distance = quantities.closest_centre(recording)
    assert quantities.closest_centre(recording) is distance
    assert quantities.closest_centre(dataclasses.replace(recording)) is not distance
    for array in (distance, *quantities.offsets(recording)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
