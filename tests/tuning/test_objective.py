"""The objective of tuning: sums of metrics, read from a text, and nothing that failures would be left out of."""

from __future__ import annotations

import pytest

from agora.errors import InputError, UnknownNameError
from agora.tuning.objective import DEFAULT, Objective

ROW = {"key": "k", "outcome": "timeout", "success": 1.0, "jerk_max": 4.0, "success.socnavbench": 0.5, "time_to_goal": None}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("success", 1.0),
        ("success - 0.05 * jerk_max", 0.8),
        ("2success+.5 jerk_max", 4.0),
        ("-success + success.socnavbench", -0.5),
        ("1e-1*jerk_max", 0.4),
    ],
)
def test_an_objective_is_a_weighted_sum(text, value):
    assert Objective.of(text).of_row(ROW) == pytest.approx(value)


def test_a_metric_that_is_better_when_lower_is_made_small_when_it_stands_alone():
    assert Objective.of("jerk_max").of_row(ROW) == -4.0
    assert Objective.of("1 jerk_max").of_row(ROW) == 4.0


def test_the_mean_does_not_depend_on_the_order_of_rows():
    rows = [{**ROW, "jerk_max": value} for value in (0.1, 1e16, -1e16, 0.3, 0.7)]
    objective = Objective.of("jerk_max")
    assert objective.mean(rows) == objective.mean(rows[::-1]) == pytest.approx(-1.1 / 5, rel=1e-15)


@pytest.mark.parametrize("text", ["", "success success", "success +", "success * 2", "success / 2", "success - - jerk_max"])
def test_what_is_no_sum_is_refused(text):
    with pytest.raises(InputError):
        Objective.of(text)


def test_an_unknown_metric_is_named_with_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'success'"):
        Objective.of("sucess")


def test_a_metric_that_failures_do_not_have_is_refused():
    with pytest.raises(InputError, match=r"time_to_goal has no value for k, which ended as timeout"):
        Objective.of("success - 0.01 time_to_goal").of_row(ROW)


def test_the_default_can_be_read():
    assert Objective.of(DEFAULT).terms == ((1.0, "success"), (0.2, "barn_score"))
