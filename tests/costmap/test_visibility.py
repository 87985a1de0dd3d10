"""Visibility: dear behind a pedestrian, free in front."""

import math

import numpy as np
import pytest

from agora.costmap.visibility import Visibility
from costmap.people import offsets, stamp

PLACE, HEADING = (2.03, 6.11), -2.2


def test_costs_are_a_half_gaussian_behind_the_heading():
    layer = Visibility()
    cost = stamp([layer], [PLACE], heading=[HEADING])
    d = offsets(PLACE)
    distance = np.hypot(d[..., 0], d[..., 1])
    cosine = (d @ (math.cos(HEADING), math.sin(HEADING))) / distance
    expected = layer.cost * np.exp(-0.5 * (distance / layer.deviation) ** 2) * np.maximum(-cosine, 0)
    near = distance < layer.deviation * math.sqrt(2 * math.log(layer.cost / layer.cutoff))
    assert np.abs(cost[near].astype(float) - np.floor(expected[near])).max() <= 1
    assert not cost[cosine > 0].any()
    assert cost.max() > 140


def test_the_direction_of_walking_does_not_matter_where_it_is_not_the_heading():
    sideways = stamp([Visibility()], [PLACE], [(0.3, 0.9)], [HEADING])
    assert np.array_equal(sideways, stamp([Visibility()], [PLACE], heading=[HEADING]))


@pytest.mark.parametrize("wrong", [{"cost": 253.0}, {"deviation": 0.0}, {"cutoff": 200.0}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Visibility(**wrong)
