"""Recorded crowds against simulated ones of the same people."""

import numpy as np
import pytest

from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.waypoint import Waypoint
from agora.validation.recorded import QUANTITIES, PairedSamples, against_recorded


def test_the_distances_are_those_of_the_samples():
    one = {q: np.arange(100.0) for q in QUANTITIES}
    other = {q: np.arange(100.0) + 10.0 for q in QUANTITIES}
    assert PairedSamples(one, other, 1).distance("speed") == pytest.approx((0.1, 10.0))
    assert PairedSamples(one, one, 1).distance("density") == (0.0, 0.0)


@pytest.mark.data
def test_people_who_walk_straight_on_for_a_moment_are_where_the_recording_has_them(data):
    seen = against_recorded(Waypoint(), ["hotel"], seconds=0.8, every=40.0, least=2)
    assert seen.moments > 3
    assert len(seen.recorded["speed"]) == len(seen.simulated["speed"]) > 20
    assert seen.distance("clearance")[1] < 0.1


@pytest.mark.data
def test_the_default_crowd_is_as_near_to_zara_as_stated(data):
    seen = against_recorded(Helbing(), ["zara02"], every=40.0)
    assert seen.distance("density")[0] < 0.15
    assert seen.distance("speed")[1] < 0.25
    assert seen.distance("clearance")[1] < 0.5
