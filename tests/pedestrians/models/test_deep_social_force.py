"""The elliptical force of a potential: its geometry, its view, and that people pass each other."""

from __future__ import annotations

import numpy as np
import pytest

from agora.errors import InputError
from agora.maps.grid import Map
from agora.pedestrians.models.deep_social_force import DeepSocialForce
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.shared.potential import Potential
from agora.validation.walk import walk
from pedestrians import crowds, twins


def pair(model, r, velocity, goal=(-9.0, 0.0)):
    """Force of a neighbour with a velocity on one who stands at ``r`` from it."""
    crowd = crowds.placed([r, (0.0, 0.0)], [(0.0, 0.0), velocity], [np.add(r, goal), (0.0, 0.0)], speed=1e-6)
    return crowds.forces(model, crowd)[0, 0].astype(np.float64)


@pytest.mark.parametrize("velocity", [(0.0, 0.0), (1.3, 0.0), (-0.4, 0.9), (0.7, -1.1)])
@pytest.mark.parametrize("r", [(0.6, 0.3), (-0.4, 0.8), (1.7, -0.6), (0.1, -0.2)])
def test_the_force_is_minus_the_gradient_of_the_potential(r, velocity):
    model, h = DeepSocialForce(behind=1.0), 1e-6

    def energy(x, y):
        return float(model.learned().value(twins.half_axis(model, np.array([x, y]), np.array(velocity))))

    down = [energy(r[0] - h, r[1]) - energy(r[0] + h, r[1]), energy(r[0], r[1] - h) - energy(r[0], r[1] + h)]
    assert pair(model, r, velocity) == pytest.approx(np.array(down) / (2 * h), rel=2e-4, abs=2e-5)


def test_without_a_stride_and_a_view_the_exponential_is_helbings_circular_force(rng):
    deep = DeepSocialForce("helbing_1995", stride=0.0, behind=1.0, wall_potential=1.0, wall_length=0.2)
    circular = Helbing(repulsion=7.0, length=0.3, anisotropy=1.0, wall_repulsion=5.0, wall_length=0.2)
    crowd = crowds.random_crowd(rng)
    crowd.traits.radius[:], crowd.robot_traits.radius[:] = 0.0, 0.0
    _, size = twins.helbing(circular, crowd)
    error = np.linalg.norm(crowds.forces(deep, crowd) - crowds.forces(circular, crowd), axis=-1)
    assert np.all(error <= 3e-5 * size)


def test_a_neighbour_out_of_view_counts_less():
    model = DeepSocialForce(behind=0.3)
    ahead = pair(model, (0.8, 0.0), (0.0, 0.0), goal=(-9.0, 0.0))
    for degrees, share in ((95.0, 1.0), (105.0, 0.3), (180.0, 0.3)):
        way = np.radians(180.0 - degrees)
        force = pair(model, (0.8, 0.0), (0.0, 0.0), goal=(9.0 * np.cos(way), 9.0 * np.sin(way)))
        assert force == pytest.approx(share * ahead, rel=1e-4, abs=1e-5)


def test_who_comes_towards_one_is_felt_more_than_who_goes_away():
    model = DeepSocialForce()
    come, stand, leave = (np.linalg.norm(pair(model, (1.2, 0.1), (vx, 0.0))) for vx in (1.2, 0.0, -1.2))
    assert come > 1.2 * stand
    assert leave < stand


def test_standing_pairs_push_each_other_alike():
    crowd = crowds.placed([(0.1, -0.2), (0.7, 0.3)])
    force = crowds.forces(DeepSocialForce(behind=1.0), crowd)[0]
    assert force[0] == pytest.approx(-force[1], rel=1e-5)


def test_two_at_one_place_and_one_between_the_foci_stay_finite():
    model = DeepSocialForce()
    assert np.abs(pair(model, (0.0, 0.0), (1.0, 0.0))).max() < 1e-5  # the relaxation of the one who looks
    for r in ((0.2, 0.0), (1e-2, 0.0), (0.4, 1e-6), (0.002, 0.001)):
        assert np.isfinite(pair(model, r, (1.0, 0.0))).all()
        assert np.linalg.norm(pair(model, r, (1.0, 0.0))) < 300.0


def test_a_wall_pushes_with_the_gradient_of_its_exponential():
    crowd = crowds.placed([(1.35, 3.21)], maps=crowds.wall_at(0.85))
    push = 10.0 / 0.2 * np.exp(-0.5 / 0.2)
    assert crowds.forces(DeepSocialForce(), crowd)[0, 0] == pytest.approx([push, 0.0], rel=1e-4, abs=1e-4)


def nearest_two(model, position, velocity):
    """Least distance of anybody from anybody within 10 s, and where all are then; everybody walks straight on at 1.3 m/s."""
    plain = Map.open((-60.0, -60.0), (60.0, 60.0), resolution=1.0)
    goals = (position + 34.0 * velocity)[:, None]
    seen = walk(model, plain, position, goals, 10.0, speed=1.3, velocity=velocity, radius=0.25, every=1)
    apart = np.hypot(*(seen.position[:, :, None] - seen.position[:, None]).transpose(3, 0, 1, 2)) + 9.0 * np.eye(len(position))
    return apart.min(), seen.position[-1]


@pytest.mark.parametrize(("aside", "nearest"), [(0.02, 0.226), (0.1, 0.286), (0.3, 0.423), (-0.15, 0.319)])
@pytest.mark.parametrize("potential", ["deep_social_force", "helbing_1995"])
def test_two_who_meet_pass_as_near_as_in_kreiss_own_simulator_and_go_on(potential, aside, nearest):
    # socialforce 0.2.3, Simulator(dtype=float64): states (-4, 0, 1.3, 0, 40, 0) and (4, aside, -1.3, 0, -40, aside)
    start, velocity = np.array([(-4.0, 0.0), (4.0, aside)]), np.array([(1.3, 0.0), (-1.3, 0.0)])
    least, end = nearest_two(DeepSocialForce(potential), start, velocity)
    assert least == pytest.approx(nearest, abs=0.03)
    assert end[0, 0] > 3.0 and end[1, 0] < -3.0


def test_no_two_of_ten_whose_ways_cross_go_through_each_other():
    # in socialforce 0.2.3 the nearest two of 20 such crowds come within 0.113 m of each other
    for seed in range(8):
        rng = np.random.default_rng(seed)
        aside, behind = rng.uniform(-1.5, 1.5, 10), -5.0 - np.arange(10) // 2 + rng.uniform(-0.2, 0.2, 10)
        one = np.arange(10)[:, None] % 2 == 0
        start = np.where(one, np.stack((behind, aside), -1), np.stack((aside, behind), -1))
        least, _ = nearest_two(DeepSocialForce(), start, np.where(one, (1.3, 0.0), (0.0, 1.3)))
        assert least > 0.113


def test_a_network_of_any_width_is_evaluated(tmp_path, rng):
    for units in (1, 13):
        wide = Potential(-rng.uniform(0.5, 3.0, units), rng.normal(0.0, 1.0, units), rng.uniform(0.1, 1.0, units))
        wide.save(tmp_path / f"{units}.safetensors")
        model, crowd = DeepSocialForce(str(tmp_path / f"{units}.safetensors")), crowds.random_crowd(rng)
        expected, size = twins.deep_social_force(model, crowd)
        assert np.all(np.linalg.norm(crowds.forces(model, crowd) - expected, axis=-1) <= 1e-5 * size)


def test_a_potential_that_is_not_there_and_an_impossible_view_are_refused():
    with pytest.raises(InputError, match="no potential called 'deep_social'; did you mean 'deep_social_force'"):
        DeepSocialForce("deep_social")
    with pytest.raises(InputError, match=r"field_of_view: expected a number in \[0, 360\], got 400.0"):
        DeepSocialForce(field_of_view=400.0)
