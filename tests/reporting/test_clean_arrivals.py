"""The share of clean arrivals, the causes that spoil the others, and their words."""

from __future__ import annotations

import pytest

from agora.metrics.clean import CAUSES
from agora.registry import available
from agora.reporting.clean_arrivals import cause_counts, causes_of, clean_share, clean_words, is_spoilt, most_often, without_delays
from agora.reporting.statistics import wilson


def row(outcome="reached", *causes):
    """A row with the causes, by the ends of their names; clean if there is none."""
    spoilt = {name: float(name.removeprefix("spoilt_by_") in causes) for name in CAUSES}
    return {"outcome": outcome, "clean_arrival": float(outcome == "reached" and not causes)} | spoilt


ROWS = [row(), row("timeout"), row("reached", "time"), row("reached", "group", "time"), row("reached", "group"), row()]


def test_every_cause_is_a_registered_metric():
    assert {name for name in available("metrics") if name.startswith("spoilt_by_")} == set(CAUSES)


def test_a_failure_is_neither_clean_nor_spoilt():
    assert [is_spoilt(one) for one in ROWS] == [False, False, True, True, True, False]
    share = clean_share(ROWS)
    assert (share.n, share.value) == (6, pytest.approx(2 / 6)) and (share.low, share.high) == wilson(2, 6)


def test_all_causes_count_and_the_most_frequent_are_named():
    assert causes_of(ROWS[3]) == ["group crossed", "time"]
    assert cause_counts(ROWS) == [("group crossed", 2), ("time", 2)] and most_often(ROWS) == "group crossed and time"
    assert most_often(ROWS[:3]) == "time" and most_often(ROWS[:1]) == ""
    assert clean_words([ROWS[0], ROWS[2]]) == "50.0 % [9.5, 90.5]; most often spoilt by: time"
    assert clean_words([{"outcome": "reached"}]) == "not measured"


def test_rows_without_the_metric_are_left_out_of_the_share():
    unknown = row() | {"clean_arrival": None, "spoilt_by_time": None}
    assert clean_share([unknown, row()]).n == 1 and not is_spoilt(unknown)


def test_no_delay_spoils_an_arrival_without_a_counterfactual_run():
    assert without_delays(row("reached", "delay")) == row()
    assert without_delays(row("reached", "delay", "time")) == row("reached", "time")
    assert [without_delays(one) for one in ROWS] == ROWS
