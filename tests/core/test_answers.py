"""Whatever a component raises or returns, the error names the component; files and lines are those of its own code."""

from __future__ import annotations

import ctypes
import os
import sys

import numpy as np
import pytest

from agora.core.answers import blame, numbers
from agora.core.untrusted_calls import Signalled
from agora.errors import ComponentError, InputError


class Odd(BaseException):
    """An exception that is no `Exception`."""


@pytest.mark.parametrize(
    "raised", [ZeroDivisionError, SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration, RecursionError, MemoryError, Odd]
)
def test_whatever_code_raises_the_error_names_the_component_the_file_and_the_line(raised):
    with pytest.raises(ComponentError) as caught, blame("metric crooked"):
        raise raised("on purpose")
    assert str(caught.value).startswith(f"metric crooked: {raised.__name__}: on purpose (test_answers.py, line ")


@pytest.mark.parametrize("passes", [InputError("of Agora"), Signalled(2)])
def test_errors_of_agora_and_signals_are_not_the_component_s(passes):
    with pytest.raises(type(passes)) as caught, blame("metric crooked"):
        raise passes
    assert caught.value is passes


def test_code_that_would_end_the_process_or_change_its_arithmetic_fails():
    with pytest.raises(ComponentError, match=r"behaviour crooked: ProcessExit: os._exit\(3\)"), blame("behaviour crooked"):
        os._exit(3)
    with pytest.raises(ComponentError, match="behaviour crooked changed the floating-point mode"), blame("behaviour crooked"):
        ctypes.CDLL(None).fesetround(0x800)
    with pytest.raises(ComponentError, match="behaviour crooked: SystemExit: 0"), blame("behaviour crooked"):
        sys.exit(0)


def test_an_error_within_numpy_is_placed_in_the_line_that_called_numpy():
    with pytest.raises(ComponentError, match=r"test_answers.py, line \d+, in .*: np.ones"), blame("metric crooked"):
        np.ones((10**6, 10**6, 10**6))


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (None, "NoneType"),
        (3.0, "float64 of shape ()"),
        ("abc", "<U3 of shape ()"),
        ([[1.0, 2.0], [3.0]], "list"),
        (np.ones((2, 3)), "float64 of shape (2, 3)"),
        (np.ones((3, 2)) * 1j, "complex128 of shape (3, 2)"),
        (np.array([["a", "b"]] * 3), "<U1 of shape (3, 2)"),
        (np.array([[None, 1.0]] * 3), "ndarray"),
        (np.ones((3, 2), bool), "bool of shape (3, 2)"),
        (np.full((3, 2), "2026-01-01", "datetime64[s]"), "datetime64[s] of shape (3, 2)"),
    ],
)
def test_an_answer_that_is_no_array_of_real_numbers_of_its_shape_is_refused(value, got):
    with pytest.raises(ComponentError) as caught:
        numbers("predictor Crooked", "positions", value, (3, 2))
    assert str(caught.value) == f"predictor Crooked returned positions as {got}; expected real numbers of shape (3, 2)"


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e30])
def test_a_number_that_is_not_finite_or_too_large_is_refused_unless_it_means_nothing(number):
    given = np.array([[1.0, 2.0], [number, 4.0]])
    with pytest.raises(ComponentError, match="global planner Crooked returned a path with .*; expected finite numbers"):
        numbers("global planner Crooked", "a path", given, (None, 2))
    assert numbers("predictor P", "positions", given, (2, 2), where=np.array([True, False])) is given


def test_whole_numbers_and_lists_of_numbers_are_answers():
    assert numbers("x", "y", [[1, 2]], (None, 2)).tolist() == [[1.0, 2.0]]
    assert numbers("x", "y", np.ones((0, 2), np.int8), (None, 2)).dtype == np.float64
