"""The kernels of the timed elastic band in float64, against plain twins, finite differences and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares
from tests.planners.bands.twin import residuals

from agora.planners._bands.costs import STEP, WIDTH, Bounds, Near, SolverMemory, TebWeights, cost, linearise, measure
from agora.planners._bands.shape import KINDS, Shape
from agora.planners._bands.solver import FIXED, optimise, solve
from agora.planners.local.teb import Teb

NARROW = Bounds(*(np.float64(v) for v in (0.3, 0.11, 0.0, 0.4, 0.35, 0.3, 0.5, 0.0, 0.21, 0.17, -0.13, 0.0, 0.0)))
VIA = [(1, 0.5, 0.6), (3, 1.3, -0.4)]
OUTLINES = {
    "point": [(0.0, 0.0)],
    "two_circles": [(0.25, 0.0), (-0.31, 0.0)],
    "line": [(0.3, 0.02), (-0.2, -0.03)],
    "polygon": [(0.4, 0.2), (0.1, -0.25), (-0.3, -0.1), (-0.1, 0.3)],
}
DISCS = [(1, 0.3, 0.41, 0.1, False), (2, 0.62, -0.2, 0.0, False), (2, 0.9, 0.33, 0.25, True), (4, 1.3, 0.1, 0.3, True)]
NAMES = [name for name in TebWeights._fields if name not in ("epsilon", *(n for n in TebWeights._fields if n.endswith("_dist")))]


def room(n):
    rows = 4 * n
    shapes = ((n, 2), (n, STEP), (rows, WIDTH + 1), (rows, WIDTH + 1), (rows,), (rows,), (WIDTH + 1,), (n, 4))
    return SolverMemory(*(np.full(shape, np.nan) for shape in shapes))


def shape(model="point"):
    points = np.array(OUTLINES[model])
    return Shape(KINDS[model], points[:, 0].copy(), points[:, 1].copy())


def near(n, discs=(), via=()):
    lists = []
    for moves in (False, True):
        mine = sorted(disc for disc in discs if disc[4] == moves)
        begin = [sum(disc[0] < i for disc in mine) for i in range(n + 1)]
        rows = [disc[1:4] if moves else (*disc[1:4], 0.55) for disc in mine]
        lists += [np.array(rows, float).reshape(-1, 3 if moves else 4), np.array(begin, np.int32)]
    return Near(
        *lists, np.array([(*point[1:],) for point in via] + [(0.0, 0.0)]), np.array([*(point[0] for point in via), -1], np.int32)
    )


def weights(**given):
    values = dict.fromkeys(NAMES, 0.0) | {
        "epsilon": 0.05,
        "min_obstacle_dist": 0.5,
        "inflation_dist": 0.62,
        "dynamic_obstacle_inflation_dist": 0.71,
    }
    return TebWeights(**{name: np.float64(value) for name, value in (values | given).items()})


def crooked(seed, n=6):
    """A band that breaks every limit somewhere: it turns, stands nearly still, drives backwards and jumps."""
    rng = np.random.default_rng(seed)
    band = np.zeros((n, 4))
    band[:, 0] = np.linspace(0.0, 1.6, n) + rng.normal(0.0, 0.25, n)
    band[:, 1] = rng.normal(0.0, 0.25, n)
    band[:, 2] = rng.uniform(-2.9, 2.9, n)
    band[:, 3] = rng.uniform(0.1, 0.9, n)
    return band


def jacobian(band, *args):
    """Of the unknowns' residuals, by central differences."""
    columns = []
    for r in range(FIXED, 4 * (len(band) - 1)):
        moved = []
        for h in (1e-6, -1e-6):
            other = band.copy()
            other.flat[r] += h
            moved.append(residuals(other, *args)[:, 1])
        columns.append((moved[0] - moved[1]) / 2e-6)
    return np.stack(columns, -1)


def dense(matrix, first, end):
    """A symmetric matrix from its lower band."""
    full = np.zeros((end - first, end - first))
    for r in range(first, end):
        for c in range(max(first, r - WIDTH), r + 1):
            full[r - first, c - first] = full[c - first, r - first] = matrix[r, WIDTH - r + c]
    return full


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_the_normal_equations_of_every_edge_are_those_of_its_finite_differences(name, seed):
    bounds = NARROW._replace(
        sideways=np.float64(0.23 * (seed > 1 or name.endswith("_y"))),
        turning_radius=np.float64(0.8 * (name == "kinematics_turning_radius")),
        turn=np.float64((-1) ** seed * (name == "prefer_rotdir")),
        free=np.float64(seed % 2),
    )
    compared(crooked(seed), weights(**{name: 3.7}), bounds, "point")


@pytest.mark.parametrize("model", OUTLINES)
@pytest.mark.parametrize("name", ["obstacle", "dynamic_obstacle_inflation"])
def test_so_are_those_of_every_shape(name, model):
    for seed in range(4):
        compared(crooked(seed), weights(**{name: 3.7}), NARROW, model)


def compared(band, w, bounds, model):
    """Compare the cost and the normal equations with those of the plain residuals."""
    work, discs, more = room(len(band)), near(len(band), DISCS, VIA), np.float64(4.0)
    first, end = FIXED, 4 * (len(band) - 1)
    measure(band, len(band), bounds, work)
    linearise(band, len(band), w, bounds, shape(model), discs, more, work)
    plain = (w, bounds, DISCS, 4.0, VIA, (model, OUTLINES[model]))
    table, jac = residuals(band, *plain), jacobian(band, *plain)
    weight, value = table.T
    assert np.abs(weight * value).max() > 1e-3
    assert sum(cost(band, len(band), w, bounds, shape(model), discs, more, work)) == pytest.approx(weight @ value**2, rel=1e-5)
    scale = np.abs(jac).max()
    assert work.side[first:end] == pytest.approx(-(jac.T * weight) @ value, rel=1e-5, abs=1e-5 * scale)
    assert dense(work.matrix, first, end) == pytest.approx((jac.T * weight) @ jac, rel=1e-5, abs=1e-5 * scale**2)


@pytest.mark.parametrize("unknowns", [1, 5, 11, 12, 57])
def test_the_banded_solver_solves_what_numpy_solves(unknowns):
    rng = np.random.default_rng(unknowns)
    end = FIXED + unknowns
    low = np.tril(rng.normal(size=(unknowns, unknowns)))
    low[np.subtract.outer(np.arange(unknowns), np.arange(unknowns)) > WIDTH] = 0.0
    full = low @ low.T + 0.3 * np.eye(unknowns)
    full[np.abs(np.subtract.outer(np.arange(unknowns), np.arange(unknowns))) > WIDTH] = 0.0
    matrix, side = np.full((end, WIDTH + 1), np.nan), np.concatenate((np.full(FIXED, np.nan), rng.normal(size=unknowns)))
    for r in range(unknowns):
        for c in range(max(0, r - WIDTH), r + 1):
            matrix[FIXED + r, WIDTH - r + c] = full[r, c]
    change = np.full(end, np.nan)
    assert solve(matrix, side, FIXED, end, 0.4, np.empty_like(matrix), change, np.empty(WIDTH + 1))
    assert change[FIXED:] == pytest.approx(np.linalg.solve(full + 0.4 * np.eye(unknowns), side[FIXED:]), rel=1e-9, abs=1e-9)


def test_the_banded_solver_refuses_what_is_not_positive_definite():
    matrix, side = np.zeros((9, WIDTH + 1)), np.ones(9)
    matrix[:, WIDTH] = (1, 1, 1, 2, 2, 2, -0.1, 2, 2)
    assert not solve(matrix, side, FIXED, 9, 0.0, np.empty_like(matrix), np.empty(9), np.empty(WIDTH + 1))
    assert solve(matrix, side, FIXED, 9, 0.2, np.empty_like(matrix), np.empty(9), np.empty(WIDTH + 1))


def test_it_finds_the_optimum_that_scipy_finds():
    band = np.array([[0.01 * k**2 + 0.15 * k, 0.05 * (k % 2), 0.1 * k - 0.2, 0.4] for k in range(8)])
    w = weights(**{name: float(value) for name, value in Teb().weights._asdict().items()})
    bounds = NARROW._replace(turn=np.float64(0.0))
    discs = [(3, 0.6, -0.3, 0.0, False), (5, 0.9, 0.5, 0.1, True)]
    unknown = slice(FIXED, 4 * (len(band) - 1))

    def weighted(x):
        other = band.copy()
        other.flat[unknown] = x
        table = residuals(other, w, bounds, discs, 1.0)
        return np.sqrt(table[:, 0]) * table[:, 1]

    bound = np.full((len(band) - 1, 4), -np.inf)
    bound[:, 3] = 1e-3
    best = least_squares(weighted, band.ravel()[unknown], bounds=(bound.ravel()[FIXED:], np.inf), xtol=1e-12, ftol=1e-12)
    found = band.copy()
    total, near_discs = optimise(
        found, len(band), w, bounds, shape(), near(len(band), discs), np.float64(1.0), 200, room(len(band))
    )
    assert total + near_discs == pytest.approx(2.0 * best.cost, rel=0.01)
    assert total + near_discs == pytest.approx((weighted(found.ravel()[unknown]) ** 2).sum(), rel=1e-5)
    assert np.array_equal(found[[0, -1], :3], band[[0, -1], :3])


def test_without_obstacles_the_band_takes_the_time_of_a_trapezoid():
    """d / v + v / a where weights make limits hard, but for half a step at either end: speeds are those amid the steps."""
    distance, v, a, n = 2.4, 0.4, 0.5, 31
    band = np.zeros((n, 4))
    band[:, 0] = np.linspace(0.0, distance, n)
    band[:, 3] = 0.35
    names = ("max_vel_x", "acc_lim_x", "max_vel_theta", "acc_lim_theta")
    w = weights(**Teb().weights._asdict() | dict.fromkeys(names, 200.0) | {"optimaltime": 0.1})
    bounds = Bounds(*(np.float64(value) for value in (v, 0.2, 0.0, 0.3, a, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    for _ in range(6):
        optimise(band, n, w, bounds, shape(), near(n), np.float64(1.0), 50, room(n))
    assert band[:-1, 3].sum() == pytest.approx(distance / v + v / a, abs=0.3)
    speeds = np.diff(band[:, 0]) / band[:-1, 3]
    changes = np.diff(speeds) / (0.5 * (band[:-2, 3] + band[1:-1, 3]))
    assert v - w.epsilon <= speeds.max() <= v
    assert a - w.epsilon <= changes.max() <= a
    assert speeds[4:-4] == pytest.approx(speeds.max(), abs=0.005)
    assert changes == pytest.approx(-changes[::-1], abs=1e-3)
    assert np.abs(band[:, 1:3]).max() < 1e-6
