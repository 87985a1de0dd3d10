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


def test_what_is_shared_is_computed_once_and_cannot_be_written_to():
    recording = crowded(people=2)
    distance = quantities.closest_centre(recording)
    assert quantities.closest_centre(recording) is distance
    assert quantities.closest_centre(dataclasses.replace(recording)) is not distance
    for array in (distance, *quantities.offsets(recording)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
