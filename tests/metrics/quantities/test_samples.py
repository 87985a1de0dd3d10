"""Quantities: the elementary functions that round alike on every CPU, and the cache."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.metrics.quantities import samples
from recordings import crowded


def test_stretches_are_found_column_by_column_and_least_is_of_each():
    values = np.array([[1.0, 9.0, 2.0], [0.5, 3.0, 9.0], [9.0, 9.0, 1.5], [2.0, 9.0, 1.0]])
    found = samples.stretches(values < 5.0)
    assert [part.tolist() for part in found] == [[0, 3, 1, 0, 2], [2, 4, 2, 1, 4], [0, 0, 1, 2, 2]]
    assert samples.least(values, found).tolist() == [0.5, 2.0, 3.0, 2.0, 1.0]
    assert len(samples.stretches(np.zeros((4, 0), bool))[0]) == 0


def test_the_lowest_of_a_row_is_the_first_and_nobodys_where_all_are_infinite():
    values = np.array([[2.0, 1.0, 1.0], [np.inf, np.inf, np.inf], [np.inf, np.inf, 3.0]])
    assert samples.is_lowest(values).tolist() == [[False, True, False], [False] * 3, [False, False, True]]
    assert samples.is_lowest(np.zeros((2, 0))).shape == (2, 0)


def test_what_is_shared_is_computed_once_and_cannot_be_written_to():
    recording = crowded(people=2)
    distance = samples.closest_centre(recording)
    assert samples.closest_centre(recording) is distance
    assert samples.closest_centre(dataclasses.replace(recording)) is not distance
    for array in (distance, *samples.offsets(recording)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
