from __future__ import annotations

import math

import numpy as np
import pytest

from agora.core import state
from agora.pedestrians.models.helbing import Helbing
from pedestrians import crowds, twins

RADII, DISTANCE = 0.5, 0.9


def pair(model, apart=DISTANCE, **values):
    """Forces on two pedestrians on the x axis who are where they want to be, but for what ``values`` says."""
    crowd = crowds.placed([(-apart / 2, 0.0), (apart / 2, 0.0)], **values)
    return crowds.forces(model, crowd)[0, :2]


def test_isotropic_pair_repels_with_the_published_exponential():
    push = 3.0 * math.exp((RADII - DISTANCE) / 0.5)
    assert pair(Helbing(repulsion=3.0, length=0.5, anisotropy=1.0)) == pytest.approx(
        np.array([[-push, 0.0], [push, 0.0]]), rel=2e-5, abs=1e-6
    )


def test_a_neighbour_behind_counts_for_lambda_and_one_in_front_for_one():
    # both walk towards +x at their preferred speed: the first has the other ahead, the second behind
    force = pair(
        Helbing(repulsion=3.0, length=0.5, anisotropy=0.3), goal=[(50.0, 0.0), (50.0, 0.0)], velocity=[(1.3, 0.0), (1.3, 0.0)]
    )
    push = 3.0 * math.exp((RADII - DISTANCE) / 0.5)
    assert force[:, 0] == pytest.approx([-push, 0.3 * push], rel=5e-5)


def test_isotropic_forces_obey_newtons_third_law_and_anisotropic_ones_do_not(rng):
    crowd = crowds.placed(rng.uniform(-2.0, 2.0, (9, 2)), radius=rng.uniform(0.2, 0.3, 9))
    assert np.abs(crowds.forces(Helbing(anisotropy=1.0), crowd)[0].sum(0)).max() < 2e-4
    crowd.waypoints.x[:] += 5.0
    crowd.pedestrians.vx[:] = 1.3
    assert np.linalg.norm(crowds.forces(Helbing(), crowd)[0].sum(0)) > 1.0


def test_head_on_on_one_line_nobody_steps_aside():
    force = pair(Helbing(), goal=[(9.0, 0.0), (-9.0, 0.0)], velocity=[(1.0, 0.0), (-1.0, 0.0)])
    assert np.array_equal(force[:, 1], [0.0, 0.0])
    assert force[0, 0] == -force[1, 0]


def test_wall_pushes_with_the_published_exponential_straight_away_from_it():
    crowd = crowds.placed([(1.47, 3.21)], maps=crowds.wall_at(0.85))
    push = 5.0 * math.exp((0.25 - 0.62) / 0.2)
    assert crowds.forces(Helbing(), crowd)[0, 0] == pytest.approx([push, 0.0], rel=1e-4, abs=1e-5)


def test_a_robot_that_is_seen_acts_like_a_pedestrian_of_its_size():
    model, other = Helbing(), (0.4, 0.7)
    two = crowds.placed([(0.0, 0.0), other], goal=[(5.0, 0.0), other], radius=[0.25, 0.4])
    alone = crowds.with_robot(crowds.placed([(0.0, 0.0)], goal=[(5.0, 0.0)]), other, radius=0.4)
    assert np.array_equal(crowds.forces(model, two)[0, 0], crowds.forces(model, alone)[0, 0])
    blind = crowds.forces(model, alone, sees=1)[0, 0]
    assert np.array_equal(blind, crowds.forces(model, alone, sees=0)[0, 0])
    assert not np.array_equal(blind, crowds.forces(model, alone, sees=3)[0, 0])


@pytest.mark.parametrize("cutoff", [0.7, 2.5, 40.0])
def test_cell_list_finds_the_same_pairs_as_all_pairs(cutoff, rng):
    model = Helbing(cutoff=cutoff)
    crowd = crowds.random_crowd(rng, counts=(190, 150, 60), slots=208)
    expected, size = twins.helbing(model, crowd)
    error = np.linalg.norm(crowds.forces(model, crowd) - expected, axis=-1)
    assert np.all(error <= 1e-5 * size)


def test_what_a_cutoff_leaves_out_stays_below_the_stated_bound(rng):
    crowd = crowds.random_crowd(rng, counts=(170, 30), slots=176)
    exact = crowds.forces(Helbing(repulsion=3.0, length=0.5), crowd)
    distance = np.hypot(*(a[:, :, None] - a[:, None] for a in crowd.pedestrians[:2]))
    reach = crowd.traits.radius[:, :, None] + crowd.traits.radius[:, None]
    for cutoff in (1.5, 3.0, 5.0):
        left_out = (distance >= cutoff) & crowd.pedestrians.active[:, None]
        bound = np.where(left_out, 3.0 * np.exp((reach - cutoff) / 0.5), 0.0).sum(-1)
        error = np.linalg.norm(crowds.forces(Helbing(repulsion=3.0, length=0.5, cutoff=cutoff), crowd) - exact, axis=-1)[
            crowd.pedestrians.active
        ]
        assert np.all(error <= bound[crowd.pedestrians.active] + 1e-4)
        assert error.max() > 1e-3 * math.exp(-cutoff)


def test_cell_list_is_used_by_count_and_not_by_padding(rng):
    crowd = crowds.random_crowd(rng, counts=(60, 175), slots=192)
    model = Helbing(cutoff=2.0)
    assert np.array_equal(crowds.forces(model, crowd), crowds.forces(model, crowds.repadded(crowd, 256))[:, :192])


def test_three_thousand_pedestrians_with_some_at_one_place_stay_finite(rng):
    crowd = crowds.empty(1, state.padded_slots(3000), 0, crowds.open_plain())
    crowd.pedestrians.x[0, :3000] = np.round(rng.uniform(-20.0, 20.0, 3000), 1)
    crowd.pedestrians.y[0, :3000] = np.round(rng.uniform(-30.0, 30.0, 3000), 1)
    crowd.pedestrians.active[0, :3000] = rng.random(3000) < 0.9
    crowd.traits.count[0] = 3000
    force = crowds.forces(Helbing(cutoff=3.0), crowd)
    assert np.isfinite(force).all()
    assert np.abs(force[crowd.pedestrians.active]).max(-1).min() > 0.0
