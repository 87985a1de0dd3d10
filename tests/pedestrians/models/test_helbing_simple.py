from __future__ import annotations

import math

import numpy as np
import pytest

from agora.pedestrians.models.helbing_simple import HelbingSimple
from pedestrians import crowds


def test_a_pair_repels_with_the_exponential_of_the_code():
    crowd = crowds.placed([(0.0, 0.0), (0.9, 1.2)], radius=0.3)
    push = 2.0 * math.exp(0.6 - 1.5)
    force = crowds.forces(HelbingSimple(), crowd)[0, :2]
    assert force == pytest.approx(push * np.array([[-0.6, -0.8], [0.6, 0.8]]), rel=2e-5)


def test_forces_obey_newtons_third_law(rng):
    crowd = crowds.placed(rng.uniform(-2.0, 2.0, (11, 2)), radius=rng.uniform(0.2, 0.4, 11))
    force = crowds.forces(HelbingSimple(), crowd)[0]
    assert np.abs(force).max() > 1.0
    assert np.abs(force.sum(0)).max() < 1e-4


def test_walls_are_not_felt():
    crowd = crowds.placed([(0.4, 0.1)], goal=[(-3.0, 0.1)], maps=crowds.wall_at(0.0))
    assert crowds.forces(HelbingSimple(), crowd)[0, 0] == pytest.approx([-1.3, 0.0], abs=1e-6)


def test_head_on_on_one_line_nobody_steps_aside():
    crowd = crowds.placed([(-1.0, 0.7), (1.0, 0.7)], goal=[(8.0, 0.7), (-8.0, 0.7)])
    assert np.array_equal(crowds.forces(HelbingSimple(), crowd)[0, :2, 1], [0.0, 0.0])


def test_an_invisible_robot_is_walked_through_and_a_seen_one_is_not():
    crowd = crowds.with_robot(crowds.placed([(0.0, 0.0)], goal=[(4.0, 0.0)]), (0.5, 0.0), radius=0.3)
    assert crowds.forces(HelbingSimple(), crowd, sees=1)[0, 0, 0] == pytest.approx(1.3)
    expected = 1.3 - 2.0 * math.exp(0.55 - 0.5)
    assert crowds.forces(HelbingSimple(), crowd, sees=2)[0, 0, 0] == pytest.approx(expected, rel=1e-5)
