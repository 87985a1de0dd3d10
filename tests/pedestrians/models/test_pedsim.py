from __future__ import annotations

import math

import numpy as np
import pytest

from agora.pedestrians.models.pedsim import Pedsim
from pedestrians import crowds


def test_a_neighbour_at_rest_pushes_with_the_factor_of_the_code():
    crowd = crowds.placed([(0.0, 0.0), (0.9, 1.2)])
    push = 2.1 * math.exp(-1.5 / 0.35)
    assert crowds.forces(Pedsim(), crowd)[0, :2] == pytest.approx(push * np.array([[-0.6, -0.8], [0.6, 0.8]]), rel=2e-5)


def test_only_the_nearest_wall_pushes_with_its_exponential():
    crowd = crowds.placed([(1.05, -2.0)], maps=crowds.wall_at(0.2))
    push = 10.0 * math.exp(-(0.85 - 0.25) / 0.2)
    assert crowds.forces(Pedsim(), crowd)[0, 0] == pytest.approx([push, 0.0], rel=1e-4, abs=1e-4)


def test_nobody_is_felt_beyond_the_cutoff():
    for apart, felt in ((9.99, True), (10.01, False)):
        crowd = crowds.placed([(0.0, 0.0), (apart, 0.0)], velocity=[(2.0, 0.1), (-2.0, 0.0)])
        change = crowds.forces(Pedsim(), crowd)[0, 0] - crowds.forces(Pedsim(), crowd, sees=0)[0, 0]
        assert bool(np.any(change != 0.0)) is felt


def test_head_on_exactly_there_is_no_sideways_force_and_a_centimetre_off_there_is():
    goal, velocity = [(9.0, 0.0), (-9.0, 0.0)], [(1.2, 0.0), (-1.2, 0.0)]
    exact = crowds.forces(Pedsim(), crowds.placed([(-2.0, 0.0), (2.0, 0.0)], velocity, goal))[0, :2]
    assert np.array_equal(exact[:, 1], [0.0, 0.0])
    off = crowds.forces(Pedsim(), crowds.placed([(-2.0, 0.01), (2.0, 0.0)], velocity, goal))[0, :2]
    assert off[0, 1] > 0.1
    assert off[1, 1] == pytest.approx(-off[0, 1], rel=0.1)


def test_a_robot_that_is_seen_is_one_more_neighbour():
    model, other, its = Pedsim(), (1.4, 0.3), (-0.5, 0.1)
    two = crowds.placed([(0.0, 0.0), other], [(1.0, 0.0), its], [(5.0, 0.0), other])
    robot = crowds.with_robot(crowds.placed([(0.0, 0.0)], [(1.0, 0.0)], [(5.0, 0.0)]), other, its)
    assert np.array_equal(crowds.forces(model, two)[0, 0], crowds.forces(model, robot)[0, 0])
    assert not np.array_equal(crowds.forces(model, robot, sees=1)[0, 0], crowds.forces(model, robot)[0, 0])
