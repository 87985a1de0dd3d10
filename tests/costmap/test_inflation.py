"""Costs of distances: costmap_2d's formula, by hand and against its definition."""

import math

import numpy as np
import pytest

from agora.core.jit import kernel
from agora.costmap.inflation import FREE, INSCRIBED, LETHAL, NO_INFORMATION, cost_at, cost_of, inflate
from agora.maps.grid import Map


def plain(d, inscribed, radius, scaling):
    """computeCost of costmap_2d, one distance at a time."""
    if d == 0:
        return 254
    if d > radius and d > inscribed:
        return 0
    return 253 if d <= inscribed else int(252 * math.exp(-scaling * (d - inscribed)))


def test_costs_by_hand():
    # 252 exp(-10 * 0.1) = 92.7, 252 exp(-10 * 0.25) = 20.7
    distances = [0.0, 0.1, 0.3, 0.4, 0.55, 0.5500001, 1000.0]
    assert cost_of(distances, 0.3, 0.55, 10.0).tolist() == [254, 253, 253, 92, 20, FREE, FREE]


def test_costs_are_those_of_the_definition_on_the_lattice_of_cells():
    lattice = 0.05 * np.hypot(*np.indices((40, 40)).reshape(2, -1))
    for inscribed, radius, scaling in ((0.22, 1.03, 3.0), (0.267, 0.5, 10.0), (0.46, 0.3, 5.0)):
        expected = [plain(d, inscribed, radius, scaling) for d in lattice]
        np.testing.assert_array_equal(cost_of(lattice, inscribed, radius, scaling), expected)


def test_cost_never_rises_with_distance_and_is_truncated_not_rounded():
    d = np.linspace(0, 1.4, 3001)
    cost = cost_of(d, 0.21, 1.2, 4.0).astype(int)
    assert (np.diff(cost) <= 0).all()
    exact = 252 * np.exp(-4.0 * (d - 0.21))
    decaying = (d > 0.22) & (d < 1.19)
    assert (cost <= exact + 1e-6)[decaying].all()
    assert (exact - cost < 1)[decaying].all()


@kernel
def _costs(distances, touch, inscribed, radius, scaling, out):
    for i in range(len(distances)):
        out[i] = cost_at(distances[i], touch, inscribed, radius, scaling)


def test_the_device_function_is_at_most_one_off_and_only_where_the_decay_is_near_a_whole_number(rng):
    d = rng.uniform(0, 1.5, 20_000).astype(np.float32)
    out = np.empty(d.shape, np.float32)
    _costs(d, np.float32(0.025), np.float32(0.31), np.float32(1.1), np.float32(4.5), out)
    reference = cost_of(d, 0.31, 1.1, 4.5, touch=0.025)
    difference = out - reference
    assert np.abs(difference).max() <= 1
    assert (difference != 0).mean() < 1e-3
    assert set(np.unique(reference)) >= {FREE, INSCRIBED, LETHAL}


def test_a_whole_map_has_lethal_cells_where_obstacles_reach_in_and_says_what_is_unknown(rng):
    occupied = rng.random((23, 31)) < 0.03
    unknown = rng.random((23, 31)) < 0.1
    m = Map("costs", 0.1, (-2.0, 0.5), occupied, unknown, segments=[[-1.55, 1.15, 0.32, 1.15]])
    cost = inflate(m, 0.2, 0.7, 6.0)
    assert (cost[occupied] == LETHAL).all()
    assert (cost[6, 4:23] == LETHAL).all()
    assert (cost[5, 5:20] == INSCRIBED)[~(occupied | unknown)[5, 5:20]].all()
    assert (cost[unknown & ~occupied & (m.clearance > 0.06)] == NO_INFORMATION).all()
    far = (m.clearance > 0.75) & ~unknown
    assert far.any()
    assert (cost[far] == FREE).all()


@pytest.mark.parametrize("cells", [3, 4, 5])
def test_one_occupied_cell_inflates_to_a_disc(cells):
    occupied = np.zeros((13, 17), bool)
    occupied[6, 7] = True
    cost = inflate(Map("dot", 0.5, (3.0, -1.0), occupied), 0.6, 0.5 * cells, 1.5)
    d = 0.5 * np.hypot(np.arange(13)[:, None] - 6, np.arange(17) - 7)
    np.testing.assert_array_equal(cost, [[plain(v, 0.6, 0.5 * cells, 1.5) for v in row] for row in d])
