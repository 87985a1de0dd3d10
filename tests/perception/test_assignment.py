"""The compiled assignment against scipy's, and by hand."""

import numba
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from agora.core.jit import lean
from agora.perception import assignment

assign = lean(assignment.assign.py_func)


def assigned(cost):
    """Partner of each row, and holder of each column."""
    cost = np.asarray(cost, np.float32)
    rows, columns = cost.shape
    size = max(rows, columns) + 2
    room = np.full((size, size), -7.0, np.float32)  # what is beyond the numbers given must not matter
    room[:rows, :columns] = cost
    whole, real, said = (
        (lambda: np.full(size, 9, np.int32)),
        (lambda: np.full(size, 9.0, np.float32)),
        (lambda: np.ones(size, bool)),
    )
    partner, holder = whole(), whole()
    assign(room, rows, columns, partner, holder, real(), real(), real(), whole(), said(), said())
    return partner[:rows], holder[:columns]


def test_two_give_up_their_best_where_the_sum_is_less():
    partner, holder = assigned([[1.0, 2.0, 9.0], [1.5, 7.0, 9.0]])
    assert partner.tolist() == [1, 0]
    assert holder.tolist() == [1, 0, -1]


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 20, 41])
def test_the_sum_of_costs_is_the_one_that_scipy_finds(rows):
    rng = np.random.default_rng(rows)
    for columns in (rows, rows + 1, rows + 13):
        for kind in range(3):
            cost = rng.uniform(0.0, 3.0, (rows, columns)).astype(np.float32)
            if kind == 1:
                cost = np.minimum(cost, np.float32(0.4))  # many that are equal, as beyond the gate
            if kind == 2:
                cost = np.round(cost).astype(np.float32)
            partner, holder = assigned(cost)
            wanted = cost[linear_sum_assignment(cost.astype(np.float64))].astype(np.float64).sum()
            assert len(set(partner.tolist())) == rows
            assert cost[np.arange(rows), partner].astype(np.float64).sum() == pytest.approx(wanted, abs=1e-5)
            assert [holder[j] for j in partner] == list(range(rows))
            assert (holder >= 0).sum() == rows
            if kind == 0:
                assert partner.tolist() == linear_sum_assignment(cost.astype(np.float64))[1].tolist()


def test_it_is_compiled():
    assert isinstance(assign, numba.core.registry.CPUDispatcher)
