"""A metric that fails costs its own value and no other; the row says why."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.suites import plane, planners

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results import store
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.rows import UNMEASURED, EndedEpisode, ShardRows
from agora.cli.numbers import lines
from agora.core.recording import Recording
from agora.datasets.played import PlayedRobot
from agora.errors import ComponentError
from agora.interfaces import Metric, metric
from agora.metrics.registered import metrics
from agora.testing.recordings import recording


def raises(error):
    def function(given: Recording) -> float | None:
        raise error

    return function


def writes(given: Recording) -> float | None:
    given.pose[:, 0] = 0.0
    return 1.0


def exits(given: Recording) -> float | None:
    sys.exit(0)


def ends(given: Recording) -> float | None:
    os._exit(3)


WRONG = {
    "raises": (raises(ZeroDivisionError("on purpose")), "ZeroDivisionError: on purpose (test_rows.py, line "),
    "interrupts": (raises(KeyboardInterrupt()), "KeyboardInterrupt (test_rows.py"),
    "closes": (raises(GeneratorExit()), "GeneratorExit (test_rows.py"),
    "writes": (writes, "ValueError: assignment destination is read-only (test_rows.py"),
    "exits": (exits, "SystemExit: 0 (test_rows.py"),
    "ends": (ends, "ProcessExit: os._exit(3)"),
    "huge": (lambda given: 10**400, "OverflowError: int too large"),
} | {
    repr(value)[:20]: (lambda given, value=value: value, said)
    for value, said in [
        (np.nan, "returned nan; expected a finite number of at least 0, or None"),
        (np.inf, "returned inf; expected"),
        (-1.0, "returned -1; expected a finite number of at least 0, or None"),
        ("abc", "returned str 'abc'; expected a number or None"),
        (1j, "returned complex 1j; expected a number or None"),
        ([1.0], "returned list; expected a number or None"),
        (np.ones(3), "returned ndarray; expected a number or None"),
        (np.array(2.0), "returned ndarray; expected a number or None"),
    ]
}


def crooked(function, unit="s") -> Metric:
    function.__module__ = "elsewhere"
    return metric("crooked", unit=unit, direction="lower", formula="f", source="s")(function)


@pytest.mark.parametrize("name", WRONG)
def test_a_metric_that_is_wrong_has_no_value_and_all_others_have_theirs(name):
    function, said = WRONG[name]
    given = recording()
    ended = EndedEpisode("suite", "stage", 0, 1, (PlayedRobot("orca", "jackal", given),))
    own = metrics(own=True)
    usual = ended.row(0, own)
    row = ended.row(0, [crooked(function), *own])
    assert row.pop("crooked") is None and said in (why := row.pop(UNMEASURED)) and why.startswith("metric crooked")
    assert repr(row) == repr(usual)
    rows = ShardRows([crooked(function), *own], "all")
    rows.add(ended)
    assert set(rows.files()) == {"timing", "episodes", "trajectories"}
    (line,) = lines([crooked(function)], lambda one: one(given))
    assert line.startswith("  metric crooked") and said in line


@pytest.mark.parametrize("value", [None, 3, True, np.float32(1.5), np.int64(2), np.bool_(False)])
def test_a_number_of_any_type_is_a_value(value):
    assert crooked(lambda given: value)(recording()) == (None if value is None else float(value))


def test_a_share_beyond_one_is_no_value():
    with pytest.raises(ComponentError, match="metric crooked returned 7.5; expected 0 or 1, or None"):
        crooked(lambda given: 7.5, unit="0/1")(recording())


def test_a_metric_of_another_package_cannot_change_a_recording_even_by_force():
    def forces(given: Recording) -> float | None:
        object.__setattr__(given, "time", given.time * 2.0)
        given.robot.radius.flags.writeable = True  # which no array over immutable bytes allows
        return 1.0

    given = recording()
    before = given.time.copy()
    with pytest.raises(ComponentError, match="ValueError"):
        crooked(forces)(given)
    assert (given.time == before).all()


def test_a_metric_that_fails_in_a_run_is_in_its_account_and_costs_no_row(tmp_path, monkeypatch):
    def sometimes(given: Recording) -> float | None:
        if given.time[-1] > 0.5:
            raise ValueError("on purpose")
        return 1.0

    found = [*metrics(own=True), crooked(sometimes)]
    monkeypatch.setattr("agora.benchmark.job.metrics", lambda own=False: found)
    request = Request(plane(episodes=2), planners("go_to_goal"), tmp_path, Options(workers=0))
    rows = run_all(request)
    assert len(rows) == 2 and [row["crooked"] for row in rows] == [None, None]
    (said,) = audit_run(tmp_path).failed_metrics()
    assert said.startswith("2 of 2 rows lack a metric: metric crooked: ValueError: on purpose (test_rows.py, line ")
    assert {row["key"] for row in store.read_rows(tmp_path / "timing")} == {row["key"] for row in rows}
    assert run_all(replace(request, resume=True)) == rows
