"""Personal space: Kirby's Gaussian in float64, longer ahead, and nothing of those who are not there."""

import math

import numpy as np
import pytest

from agora.costmap.personal_space import PersonalSpace
from costmap.people import offsets, stamp

PLACE, VELOCITY = (2.03, 6.11), (0.5 * math.cos(0.7), 0.5 * math.sin(0.7))


def kirby(place, velocity, heading, layer):
    speed = math.hypot(*velocity)
    angle = math.atan2(velocity[1], velocity[0]) if speed > 0.05 else heading
    ahead = max(layer.seconds * speed, layer.least_deviation)
    d = offsets(place)
    along, beside = d @ (math.cos(angle), math.sin(angle)), d @ (-math.sin(angle), math.cos(angle))
    u = along / np.where(along > 0, ahead, ahead / 2)
    cost = layer.cost * np.exp(-0.5 * (u**2 + (beside / (2 / 3 * ahead)) ** 2))
    return cost, np.hypot(*np.moveaxis(d, -1, 0)) < ahead * math.sqrt(2 * math.log(layer.cost / layer.cutoff))


@pytest.mark.parametrize(("velocity", "heading"), [(VELOCITY, 2.9), ((0.0, 0.0), -2.2), ((-0.9, -0.31), 0.0)])
def test_costs_are_kirbys_gaussian_about_who_walks_or_stands(velocity, heading):
    layer = PersonalSpace(cost=230.0)
    cost = stamp([layer], [PLACE], [velocity], [heading])
    expected, near = kirby(PLACE, velocity, heading, layer)
    assert np.abs(cost[near].astype(float) - np.floor(expected[near])).max() <= 1
    assert cost[~near].max() <= layer.cutoff
    assert cost.max() > 215


def test_the_cost_reaches_twice_as_far_ahead_as_behind():
    cost = stamp([PersonalSpace()], [PLACE], [VELOCITY])
    along = offsets(PLACE) @ (math.cos(0.7), math.sin(0.7))
    high = cost > 100
    assert along[high].max() == pytest.approx(-2 * along[high].min(), rel=0.15)


def test_absent_pedestrians_leave_no_cost_and_two_leave_the_larger_of_theirs():
    layer, other = PersonalSpace(), (3.11, 6.53)
    both = stamp([layer], [PLACE, other], [VELOCITY, (0.0, 0.0)])
    alone = [stamp([layer], [PLACE, other], [VELOCITY, (0.0, 0.0)], present=[k == 0, k == 1]) for k in (0, 1)]
    assert not stamp([layer], [PLACE], present=[False]).any()
    assert np.array_equal(both, np.maximum(*alone))
    assert (alone[0] > 0).any()
    assert (alone[1] > 0).any()


def test_somebody_off_the_grid_reaches_into_it_and_lethal_or_unknown_cells_stay():
    assert stamp([PersonalSpace()], [(-3.6, 5.0)]).max() > 50
    assert not stamp([PersonalSpace()], [(-30.0, 5.0)]).any()
    assert (stamp([PersonalSpace()], [PLACE], below=254) == 254).all()
    assert (stamp([PersonalSpace()], [PLACE], below=255) == 255).all()


@pytest.mark.parametrize("wrong", [{"cost": 253.0}, {"cutoff": 0.0}, {"least_deviation": 0.0}, {"seconds": -1.0}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PersonalSpace(**wrong)
