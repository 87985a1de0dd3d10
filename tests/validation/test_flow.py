"""The measures of flows on crowds whose answer is known, and the default crowd against them."""

import numpy as np
import pytest

from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.waypoint import Waypoint
from agora.validation.flow import fundamental_diagram, lane_order, lanes, stripe_order, stripes, weidmann


def test_weidmanns_speeds_are_the_published_ones():
    assert weidmann([0.1, 1.0, 1.75, 5.4, 6.0]) == pytest.approx([1.34, 1.06, 0.70, 0.0, 0.0], abs=0.01)


def test_people_who_see_nobody_walk_as_fast_at_every_density():
    diagram = fundamental_diagram(Waypoint(), [0.5, 2.0])
    assert diagram.density == pytest.approx([0.5, 2.0], rel=0.15)
    assert diagram.speed == pytest.approx([1.34, 1.34], abs=0.05)
    assert diagram.error == pytest.approx(np.sqrt(np.mean((diagram.speed - weidmann(diagram.density)) ** 2)))


def test_the_default_crowd_slows_down_as_weidmanns_people_do():
    diagram = fundamental_diagram(Helbing(), [0.5, 1.0, 2.0, 3.0, 4.0])
    assert diagram.error < 0.25
    assert (np.diff(diagram.speed) < 0).all()


def test_lane_order_is_one_for_pure_lanes_and_small_for_none():
    lateral = np.repeat([0.5, 1.5, 2.5, 3.5], 20)
    assert lane_order(lateral, np.repeat([False, True, False, True], 20)) == 1.0
    assert lane_order(lateral, np.tile([False, True], 40)) == 0.0
    drawn = np.random.default_rng(1)
    random = np.mean([lane_order(drawn.uniform(0, 6, 96), drawn.random(96) < 0.5) for _ in range(20)])
    assert random == pytest.approx(1 / 12, abs=0.03)


def test_the_default_crowd_forms_lanes_and_people_who_see_nobody_do_not():
    formed, blind = [lanes(Helbing(), seed=seed) for seed in range(6)], lanes(Waypoint())
    assert np.median([run.order for run in formed]) > 2.0 * np.median([run.blind for run in formed])
    assert blind.order == blind.blind < 0.25


def test_stripe_order_is_high_for_diagonal_stripes_low_for_the_others_and_half_without():
    position = np.random.default_rng(2).uniform(0, 10, (400, 2))
    across = (position @ (1, 1) / np.sqrt(2)) % 3.0 < 1.5
    along = (position @ (1, -1) / np.sqrt(2)) % 3.0 < 1.5
    assert stripe_order(position, across) > 0.9
    assert stripe_order(position, along) < 0.1
    values = [stripe_order(np.random.default_rng(k).uniform(0, 10, (80, 2)), np.arange(80) % 2 == 0) for k in range(30)]
    assert np.mean(values) == pytest.approx(0.5, abs=0.08)


def test_the_default_crowd_crosses_in_diagonal_stripes():
    runs = [stripes(Helbing(), seed=seed) for seed in range(3)]
    assert np.median([run.order for run in runs]) > 0.67
    assert np.median([run.blind for run in runs]) < 0.67
