"""Imperative learning: the cost of a path is right and can be differentiated, and paths come to be cheaper without any label."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from tests.learning.trainers.runs import trained
from tests.suites import plane

from agora.errors import InputError
from agora.learning.trainers.imperative import Imperative
from agora.learning.trainers.path_cost import Fields, PathCost
from agora.maps.grid import Map
from agora.policies.encoding import Observe
from agora.policies.key_points import KeyPoints
from agora.policies.networks.mlp import Mlp
from agora.testing import check_trainer

SUITE = plane(robots={"name": "random", "distance": 3.0}, robot="jackal", timeout=10.0)
SMALL = Imperative(
    network=Mlp((24,), "relu"),
    observe=KeyPoints(beams=9),
    episodes=8,
    worlds=8,
    horizon=4,
    rounds=4,
    kept=2,
    lap=2,
    validate=1,
)
COST = PathCost()


def wall() -> Map:
    """A room of 8 x 4 m with a wall of two cells across at x = 4."""
    occupied = np.zeros((40, 80), np.bool_)
    occupied[:, 40:42] = True
    return Map("wall", 0.1, (0.0, 0.0), occupied)


def test_a_place_costs_nothing_far_away_and_a_half_where_the_robot_touches():
    distance = np.array([9.0, COST.safe, COST.size, 0.0, -0.3], np.float32)
    cost = COST.of_place(distance)
    assert cost[:3] == pytest.approx([0.0, 0.0, 0.5], abs=1e-6)
    assert (np.diff(cost[2:]) > 0.0).all()


def test_costs_on_maps_of_different_sizes_fall_with_the_distance_and_have_the_gradient_of_their_differences():
    fields, empty, one = Fields(), Map("open", 0.05, (-3.0, 2.0), np.zeros((20, 30), np.bool_)), wall()
    other, number = (fields.add(map_, COST.of_map(map_)) for map_ in (empty, one))
    places = torch.tensor([[[2.0, 2.0], [3.5, 2.0], [3.83, 2.02], [4.1, 2.0], [99.0, -9.0]]], dtype=torch.float64)
    cost = fields.at(places, torch.tensor([number]))[0]
    assert float(cost[0]) == 0.0 and float(cost[4]) == 0.0
    assert 0.0 < float(cost[1]) < float(cost[2]) < float(cost[3])
    assert fields.at(places, torch.tensor([other])).abs().max() == 0.0
    place = torch.tensor([[[3.72, 2.03]]], dtype=torch.float64, requires_grad=True)
    fields.at(place, torch.tensor([number])).sum().backward()
    step = torch.tensor([1e-3, 0.0], dtype=torch.float64)
    with torch.no_grad():
        ahead, behind = (float(fields.at(place + sign * step, torch.tensor([number]))) for sign in (1.0, -1.0))
    assert float(place.grad[0, 0, 0]) == pytest.approx((ahead - behind) / 2e-3, rel=1e-3)


def test_a_disc_costs_like_cells_do():
    cost = COST.of_map(Map.from_shapes(discs=[[2.0, 2.0, 0.4]], bounds=(0.0, 0.0, 4.0, 4.0)))
    assert cost[20, 20] == cost.max() > 0.5 and cost[20, 35] == 0.0


def test_the_way_to_a_goal_leads_round_a_wall_or_straight_through_it():
    occupied = wall().occupied.copy()
    occupied[30:] = False  # a gap above y = 3
    room, goal = Map("gap", 0.1, (0.0, 0.0), occupied), np.array([6.0, 1.0])
    row, column = 10, 20  # at (2.05, 1.05)
    straight = dataclasses.replace(COST, round=False).way_left(room, goal)[row, column]
    assert straight == pytest.approx(3.95, abs=0.01)
    round_ = np.hypot(1.95, 2.2) + 0.2 + np.hypot(1.8, 2.25)  # by (4, 3.25) and (4.2, 3.25), where the robot passes the corners
    assert COST.way_left(room, goal)[row, column] == pytest.approx(round_, rel=0.08)
    assert COST.way_left(room, goal)[10, 60] == pytest.approx(0.0, abs=0.2)


def test_the_straight_way_to_the_goal_is_the_cheapest_in_the_open_and_what_hits_is_to_be_feared():
    along = torch.linspace(0.0, 3.0, 51)
    straight = torch.stack([along, 0.0 * along], -1)[None]
    bent = straight + torch.stack([0.0 * along, 0.4 * torch.sin(along * np.pi / 3.0)], -1)
    left, free = torch.tensor([[3.0, 0.0]]), torch.zeros(1, 51)
    cost, feared = COST.of_paths(straight, free, left)
    assert float(cost) == pytest.approx(0.0, abs=1e-4) and feared.tolist() == [0.0]
    assert float(COST.of_paths(straight, free, left + 5.0)[0]) == pytest.approx(0.0, abs=1e-4)
    assert float(COST.of_paths(bent, free, left)[0]) > 0.02
    assert float(COST.of_paths(0.8 * straight, free, left + torch.tensor([[0.0, 0.6]]))[0]) > 1.0
    for first, hit in ((20, 1.0), (45, 0.0)):  # 1.2 m and 2.7 m away; only the first 2 m count
        blocked = torch.where(torch.arange(51) >= first, 0.6, 0.0)[None]
        assert COST.of_paths(straight, blocked, left)[1].tolist() == [hit]


def test_paths_become_cheaper_and_a_resumed_training_repeats_its_curve():
    more = dataclasses.replace(SMALL, rounds=60, lap=60, rate=1e-2)
    notes = trained(more, SUITE, "plane")
    costs = [values["path_cost"] for _, values in notes.curve]
    assert notes.validated == [1, 2, 4, 8, 16, 32, 60]
    assert np.mean(costs[-5:]) < 0.6 * costs[0]
    check_trainer(SMALL, SUITE, "plane")


def test_another_encoding_is_refused():
    with pytest.raises(InputError, match="the encoding must be key_points, whose actions are paths, got Observe"):
        Imperative(observe=Observe(9))
