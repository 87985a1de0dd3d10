"""Angles of plain code: their intervals, their ends, and the same direction as before."""

import math

import numpy as np
import pytest

from agora.core.angles import wrap, wrap_below_pi
from agora.core.scalar import wrap as kernel_wrap

ANGLES = np.concatenate([np.linspace(-31.0, 31.0, 100_003), np.arange(-9, 10) * math.pi, [0.0, -1e-12, 1e-12, 1e-300]])


@pytest.mark.parametrize("function", [wrap, wrap_below_pi])
def test_an_angle_keeps_its_direction(function):
    turned = function(ANGLES)
    assert np.abs(turned).max() <= math.pi
    assert np.hypot(np.cos(turned) - np.cos(ANGLES), np.sin(turned) - np.sin(ANGLES)).max() < 1e-14


def test_half_a_turn_is_the_end_that_belongs_to_the_interval():
    assert wrap(np.array([math.pi, -math.pi])).tolist() == [math.pi, math.pi]
    assert wrap_below_pi(np.array([math.pi, -math.pi])).tolist() == [-math.pi, -math.pi]


def test_angles_within_the_interval_are_returned_unchanged():
    inside = ANGLES[np.abs(ANGLES) < math.pi]
    assert (wrap(inside) == inside).all()


def test_a_number_and_an_array_give_the_same_bits():
    assert [wrap_below_pi(angle) for angle in ANGLES.tolist()] == wrap_below_pi(ANGLES).tolist()


def test_kernels_wrap_in_the_same_way_up_to_float32():
    kernel = np.array([kernel_wrap(angle) for angle in ANGLES[::37].astype(np.float32)], float)
    off = kernel - wrap(ANGLES[::37].astype(np.float32).astype(float))
    assert np.abs(off - math.tau * np.round(off / math.tau)).max() < 5e-6
