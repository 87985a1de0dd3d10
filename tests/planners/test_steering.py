from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agora.planners.steering import steer, stopping_speed


@settings(deadline=None)
@given(st.floats(0.0, 30.0), st.floats(0.2, 8.0), st.floats(0.02, 0.25))
def test_braking_by_the_law_ends_at_the_distance_and_never_brakes_harder(distance, deceleration, dt):
    left, speed = distance, stopping_speed(distance, deceleration, dt)
    assert speed**2 / (2 * deceleration) <= distance + 1e-9
    for _ in range(10_000):
        left -= speed * dt
        slower = stopping_speed(left, deceleration, dt)
        assert speed - slower <= deceleration * dt * (1 + 1e-6) + 1e-9
        speed = slower
        if left < 1e-9:
            break
    assert left == pytest.approx(0.0, abs=1e-9)
    assert speed == pytest.approx(0.0, abs=1e-6)


def test_braking_in_fine_steps_is_braking_as_in_the_textbook():
    assert stopping_speed(3.0, 1.7, 1e-4) == pytest.approx(math.sqrt(2 * 1.7 * 3.0), rel=1e-4)


@settings(deadline=None)
@given(
    st.floats(-5, 5),
    st.floats(-5, 5),
    st.booleans(),
    st.floats(-0.5, 0.0),
    st.floats(0.3, 2.0),
    st.floats(0.3, 3.0),
    st.floats(0.0, 1.5),
)
def test_every_twist_is_within_the_limits(x, y, holonomic, min_vx, max_vx, max_omega, turning_radius):
    turning_radius = 0.0 if holonomic or turning_radius < 0.1 else turning_radius
    max_vy = 0.7 if holonomic else 0.0
    vx, vy, omega = steer(x, y, 1.4, holonomic, min_vx, max_vx, max_vy, max_omega, 3.0, turning_radius, 0.1)
    assert min_vx - 1e-6 <= vx <= min(max_vx, 1.4) + 1e-6
    assert abs(vy) <= max_vy + 1e-6
    assert abs(omega) <= max_omega + 1e-6
    assert abs(omega) * turning_radius <= abs(vx) + 1e-6


def test_kernels_get_float32():
    one = np.float32(1.0)
    steer(one, one, one, False, -one, one, one, one, one, np.float32(0.0), one)
    signature = next(s for s in steer.overloads if str(s[0]) == "float32")
    assert str(steer.overloads[signature].signature.return_type) == "UniTuple(float32 x 3)"
