"""Every metric that can be had by name keeps the contract, and bad ones do not."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from agora.interfaces import metric
from agora.registry import available, load
from agora.testing import ContractError, check_metric

FROM_THE_ORIGIN = {"path_irregularity.socnavbench_code"}  # a peer's defect, kept under the peer's name


@pytest.mark.parametrize("name", sorted(available("metrics")))
def test_a_registered_metric_keeps_the_contract(name):
    found = load("metrics", name)
    assert found.name == name
    check_metric(found, moved=name not in FROM_THE_ORIGIN)


@pytest.mark.parametrize("name", sorted(FROM_THE_ORIGIN))
def test_only_what_measures_from_the_origin_is_let_off(name):
    with pytest.raises(ContractError, match="shifted"):
        check_metric(load("metrics", name))


def of(function, **changes):
    """A metric of a function."""
    made = metric(function.__name__, unit="m", direction="lower", formula="made up", source="nobody")(function)
    return dataclasses.replace(made, **changes)


def way(r):
    return float(np.hypot(*np.diff(r.pose[:, :2], axis=0).T).sum())


def test_a_decent_metric_passes():
    check_metric(of(way))


def fails_without_pedestrians(r):
    return float(np.hypot(*(r.pedestrian_position[:, 0] - r.pose[:, :2]).T).min())


def counts_absent_pedestrians(r):
    gaps = np.hypot(*np.moveaxis(r.pedestrian_position - r.pose[:, None, :2], -1, 0))
    return float(gaps.mean()) if gaps.size else None


def divides_by_no_time(r):
    with np.errstate(all="ignore"):
        return float(np.float64(way(r)) / r.time[-1])


def writes_to_its_input(r):
    r.pose[:, 0] += 1.0
    return way(r)


def writes_to_its_input_with_force(r):
    r.pose.flags.writeable = True
    r.pose[:, 0] += 1.0
    r.pose.flags.writeable = False
    return way(r)


def measures_from_the_origin(r):
    return float(np.hypot(*r.pose[-1, :2]))


def measures_northward(r):
    return float(np.ptp(r.pose[:, 1]))


def counts_in_integers(r):
    return len(r.time)


def remembers(r, calls=itertools.count()):  # noqa: B008 - the point
    return float(next(calls))


BAD = {
    fails_without_pedestrians: "without pedestrians: raises IndexError",
    counts_absent_pedestrians: "absent pedestrians change the value",
    divides_by_no_time: "1 samples.*nan",
    writes_to_its_input: "read-only",
    writes_to_its_input_with_force: "writes to recording.pose",
    measures_from_the_origin: "shifted",
    measures_northward: "turned by 90 degrees",
    counts_in_integers: "expected None or a finite float",
    remembers: "not deterministic",
}


@pytest.mark.parametrize(("function", "reason"), BAD.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_bad_metric_fails_for_its_own_reason(function, reason):
    with pytest.raises(ContractError, match=reason):
        check_metric(of(function))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"unit": "0/1"}, "unit is 0/1"),
        ({"direction": "up"}, "direction"),
        ({"formula": " "}, "formula"),
        ({"version": 0}, "version"),
    ],
)
def test_a_metric_that_does_not_say_what_it_is_fails(changes, reason):
    with pytest.raises(ContractError, match=reason):
        check_metric(of(way, **changes))


def test_a_bare_function_is_no_metric():
    with pytest.raises(ContractError, match="is not a Metric"):
        check_metric(way)
