"""Constant velocity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.predictors.constant_velocity import ConstantVelocity
from agora.testing import observation


def test_everybody_goes_straight_on_and_who_stands_stays():
    o = observation(3, 4, seed=5)
    velocity = o.pedestrians.velocity.copy()
    velocity[1, 2] = 0.0
    o = replace(o, pedestrians=replace(o.pedestrians, velocity=velocity))
    seen = ConstantVelocity().predict(o, 3, 0.7, {}).position
    for k, time in enumerate((0.7, 1.4, 2.1)):
        assert seen[:, :, k] == pytest.approx(o.pedestrians.position + time * o.pedestrians.velocity, abs=1e-5)
    assert np.array_equal(seen[1, 2], np.repeat(o.pedestrians.position[1, 2][None], 3, 0))
