"""Published numbers beside those of a run."""

from __future__ import annotations

import pytest

from agora.config import parse
from agora.errors import InputError
from agora.planners.presets import named_planner
from agora.registry import available
from agora.reporting import published_numbers
from agora.reporting.published_numbers import PublishedNumbers, PublishedRow, compare_with_published, words
from agora.reporting.statistics import mean_difference, rate_difference
from agora.tasks.suite import load_suite


def row(k, planner="mine", stage="hall", **values):
    return {"planner": planner, "stage": stage, "episode": k, "seed": 0, "robot": 0, **values}


def told(monkeypatch, *lines):
    monkeypatch.setattr(published_numbers, "published_numbers", lambda: {"somebody": PublishedNumbers("Somebody 1999", lines)})


def test_the_interval_of_two_rates_is_newcombes():
    # R. G. Newcombe 1998, Table II, method 10, columns (a), (c), (e)
    for first, second, low, high in (
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ):
        found = rate_difference((first[0] / first[1], first[1]), (second[0] / second[1], second[1]))
        assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


def test_the_interval_of_two_means_grows_with_both_deviations():
    found = mean_difference((3.0, 0.6, 36), (2.0, 0.8, 64))
    assert (found.value, found.high - found.value) == pytest.approx((1.0, 1.95996 * (0.01 + 0.01) ** 0.5), abs=1e-5)


def test_a_published_rate_agrees_as_far_as_both_numbers_of_episodes_say(monkeypatch):
    rows = [row(k, success=float(k < 12)) for k in range(20)]
    for episodes, agrees in ((20, True), (2000, False), (0, False)):
        told(monkeypatch, PublishedRow("theirs", "Table 1", {"success": (0.83,)}, episodes, "walk", (), "mine"))
        (one,) = compare_with_published("walk", rows)
        assert one.agrees is agrees, episodes
        assert one.ours.value == pytest.approx(0.6)
    assert words(one)["published"] == "83.0"
    assert words(one)["ours"].startswith("60.0 [")
    assert words(one)["verdict"] == "differs"


def test_only_episodes_of_the_planner_its_stages_and_its_suite_count(monkeypatch):
    rows = [row(0, time_to_goal=10.0), row(1, time_to_goal=None), row(2, time_to_goal=14.0)]
    rows += [row(0, stage="room", time_to_goal=90.0), row(0, planner="other", time_to_goal=70.0)]
    told(monkeypatch, PublishedRow("theirs", "Table 2", {"time_to_goal": (12.5, 0.5)}, 9, "walk", ("hall",), "mine"))
    (one,) = compare_with_published("walk", rows)
    assert (one.ours.n, one.ours.value) == (2, 12.0)
    assert one.agrees
    assert not list(compare_with_published("run", rows))
    assert not list(compare_with_published("walk", rows[4:]))
    (none,) = compare_with_published("walk", [row(0, time_to_goal=None)])
    assert words(none)["verdict"] == "no value"


def test_a_metric_that_no_row_has_is_refused_by_name(monkeypatch):
    told(monkeypatch, PublishedRow("theirs", "Table 2", {"path_length": (12.5,)}, 9, "walk", (), "mine"))
    with pytest.raises(InputError, match=r"somebody\.yaml: theirs: no row of the run contains path_length"):
        list(compare_with_published("walk", [row(0, success=1.0)]))


def test_a_wrong_number_is_refused_with_its_line():
    text = "title: A\nrows:\n  - {planner: a, table: t, values: {success: [0.5, 0.1, 0.2]}}\n"
    with pytest.raises(InputError, match=r"values\.success must be \[mean\] or \[mean, deviation\]"):
        parse(text, PublishedNumbers)
    with pytest.raises(InputError, match="suite must be given if ours is"):
        parse("title: A\nrows:\n  - {planner: a, table: t, ours: orca, values: {success: [0.5]}}\n", PublishedNumbers)


def test_all_published_rows_name_metrics_suites_stages_and_planners_that_are_there():
    metrics = set(available("metrics"))
    every = [line for numbers in published_numbers.published_numbers().values() for line in numbers.rows]
    assert len(every) > 30
    for line in every:
        assert set(line.values) <= metrics
        assert line.ours or line.why, f"{line.planner} says neither ours nor why there is none"
        if line.ours:
            assert set(line.stages) <= {stage.name for stage in load_suite(line.suite).stages}
            named_planner(line.ours)
