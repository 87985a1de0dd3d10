from __future__ import annotations

import numpy as np
import pytest

from agora.pedestrians.models.pedsim import Pedsim
from agora.pedestrians.models.pysocial import PySocial
from pedestrians import crowds

MODELS = [Pedsim(social_factor=0.0), PySocial(social_factor=0.0)]


def group_part(model, position, group, **values):
    """Return the change of the forces of pedestrians when they walk in groups; the social force is off."""
    with_groups = crowds.forces(model, crowds.placed(position, group=group, **values))[0, : len(position)]
    return with_groups - crowds.forces(model, crowds.placed(position, **values))[0, : len(position)]


@pytest.mark.parametrize("model", MODELS)
def test_groups_of_one_feel_nothing(model, rng):
    position = rng.normal(0.0, 0.4, (6, 2))
    assert np.array_equal(group_part(model, position, np.arange(6), goal=position + (5.0, 1.0)), np.zeros((6, 2)))


@pytest.mark.parametrize("model", MODELS)
def test_other_groups_change_nothing(model, rng):
    position = rng.normal(0.0, 0.8, (7, 2))
    goal = position + (6.0, -2.0)
    alone = group_part(model, position, [3, 3, -1, 3, -1, -1, -1], goal=goal)
    among = group_part(model, position, [3, 3, 0, 3, 0, 1, 1], goal=goal)
    assert np.abs(alone[[0, 1, 3]]).max() > 0.1
    assert np.array_equal(alone[[0, 1, 3]], among[[0, 1, 3]])


@pytest.mark.parametrize("model", MODELS)
def test_coherence_and_repulsion_move_no_centre_of_mass(model, rng):
    model = type(model)(social_factor=0.0, gaze_factor=0.0, coherence_factor=0.0)
    position = rng.normal(0.0, 0.3, (5, 2))
    force = group_part(model, position, np.full(5, 2))
    assert np.abs(force).max() > 0.1
    assert np.abs(force.sum(0)).max() < 1e-5


def test_pedsim_pulls_to_the_centre_with_its_factor_beyond_half_the_others():
    # three on a line: the outer ones are 1.6 m from the centre, further than (3 - 1) / 2
    model = Pedsim(social_factor=0.0, gaze_factor=0.0)
    far = group_part(model, [(-1.6, 0.0), (0.0, 0.0), (1.6, 0.0)], [7, 7, 7])
    assert far == pytest.approx(np.array([[2.0, 0.0], [0.0, 0.0], [-2.0, 0.0]]), abs=1e-5)
    near = group_part(model, [(-0.9, 0.0), (0.0, 0.0), (0.9, 0.0)], [7, 7, 7])
    assert np.array_equal(near, np.zeros((3, 2)))


def test_pedsim_brakes_who_would_have_to_turn_the_head_beyond_the_vision():
    # the friend is 120 degrees off the way: 30 degrees too much, times 3
    friend = 2.0 * np.array([np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3)])
    model = Pedsim(social_factor=0.0, coherence_factor=0.0)
    force = group_part(model, [(0.0, 0.0), friend], [0, 0], goal=[(30.0, 0.0), (30.0, 0.0)])
    assert force[0] == pytest.approx([-3.0 * np.pi / 6, 0.0], abs=1e-5)
    assert force[1] == pytest.approx([0.0, 0.0], abs=1e-5)


def test_pedsim_pushes_members_apart_by_their_difference_inside_half_a_metre_only():
    # pedsim_ros, grouprepulsionforce.cpp: `force += diff` for distance < overlapDistance, then times the factor
    model = Pedsim(social_factor=0.0, coherence_factor=0.0, gaze_factor=0.0)
    assert group_part(model, [(0.0, 0.0), (0.18, 0.24)], [0, 0])[0] == pytest.approx([-0.18, -0.24], abs=1e-5)
    assert np.array_equal(group_part(model, [(0.0, 0.0), (0.31, 0.41)], [0, 0]), np.zeros((2, 2)))


def test_pysocial_looks_back_at_the_others_in_proportion_to_the_way_left():
    model = PySocial(social_factor=0.0, coherence_factor=0.0, gaze_factor=2.0)
    force = group_part(model, [(0.0, 0.0), (-1.5, 2.0)], [0, 0], goal=[(6.0, 0.0), (-1.5, 2.0)])
    assert force[0] == pytest.approx([2.0 * -1.5 / 6.0, 0.0], abs=1e-5)
