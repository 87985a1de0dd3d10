"""The semantic layer: discs in proportion to the evidence, combined as asked for."""

import numpy as np
import pytest

from agora.costmap.personal_space import PersonalSpace
from agora.costmap.semantic import Semantic
from costmap.people import offsets, stamp

PLACES = [(2.03, 6.11), (6.47, 4.02), (4.4, 8.3)]


def within(place, radius):
    return np.hypot(*np.moveaxis(offsets(place), -1, 0)) <= radius


def test_the_cost_grows_with_the_evidence_up_to_the_whole():
    layer = Semantic("stress", cost=160.0, full=0.8, radius=0.7)
    cost = stamp([layer], PLACES, evidence=[0.4, 1.7, -0.5])
    assert set(cost[within(PLACES[0], 0.65)]) == {80}
    assert set(cost[within(PLACES[1], 0.65)]) == {160}
    assert not cost[within(PLACES[2], 0.7)].any()
    assert not cost[~(within(PLACES[0], 0.75) | within(PLACES[1], 0.75))].any()


def test_overwriting_lowers_a_cost_but_never_an_obstacle_and_nothing_does_nothing():
    for combination, expected in {"max": 200, "overwrite": 90, "nothing": 200}.items():
        layer = Semantic("pedestrian", cost=90.0, combination=combination)
        assert set(stamp([layer], PLACES, below=200)[within(PLACES[0], 0.9)]) == {expected}
        assert (stamp([layer], PLACES, below=254) == 254).all()
    assert not stamp([Semantic("pedestrian", combination="nothing")], PLACES).any()


def test_layers_read_their_own_evidence():
    layers = [Semantic("social_state.phone", cost=100.0), Semantic("stress", cost=200.0), PersonalSpace(cost=20.0)]
    evidence = np.zeros((3, 1, 3), np.float32)
    evidence[0, 0, 0], evidence[1, 0, 1] = 1.0, 0.5
    cost = stamp(layers, PLACES, evidence=evidence)
    far = [within(place, 0.95) & ~within(place, 0.7) for place in PLACES]
    assert cost[far[0]].min() == 100
    assert cost[far[1]].min() == 100
    assert cost[far[2]].max() < 20


def test_a_wrong_name_is_told_the_nearest():
    with pytest.raises(ValueError, match=r"strss.*stress"):
        Semantic("strss")


@pytest.mark.parametrize("wrong", [{"cost": 253.0}, {"radius": 0.0}, {"full": 0.0}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Semantic("stress", **wrong)
