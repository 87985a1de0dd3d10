"""Intervals by place cover the truth if episodes in a place are correlated, and agree with other intervals if they are not."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from agora.metrics.outcome import success
from agora.reporting.clusters import FEWEST, ByPlace, by_place, in_words
from agora.reporting.paper_tables import paper_table
from agora.reporting.statistics import summarise, wilson
from agora.reporting.tables import cell, share

WILSON = (0.5, 0.9)


def clustered(rng: np.random.Generator, places: int, each: int, rate: float, correlation: float) -> np.ndarray:
    """(P,) successes of ``each`` episodes per place; the rates of places are beta-distributed with an intraclass correlation."""
    scale = (1.0 - correlation) / correlation
    return rng.binomial(each, rng.beta(rate * scale, (1.0 - rate) * scale, places))


def expanded(successes: np.ndarray, each: int) -> tuple[list[float], list[int]]:
    values = [float(k < count) for count in successes for k in range(each)]
    return values, [place for place in range(len(successes)) for _ in range(each)]


@pytest.mark.parametrize(("places", "each", "rate", "correlation"), [(8, 8, 0.7, 0.2), (20, 6, 0.8, 0.2), (40, 5, 0.5, 0.3)])
def test_intervals_by_place_cover_the_rate_of_correlated_episodes_and_wilsons_do_not(places, each, rate, correlation):
    rng, covered, of_wilson, wider, runs = np.random.default_rng(4), 0, 0, [], 600
    for _ in range(runs):
        values, where = expanded(clustered(rng, places, each, rate, correlation), each)
        low, high = wilson(int(sum(values)), len(values))
        found = by_place(values, where, low, high)
        assert found is not None and found.low is not None and found.high is not None and found.wider is not None
        covered += found.low <= rate <= found.high
        of_wilson += low <= rate <= high
        wider.append(found.wider)
    assert 0.92 <= covered / runs <= 0.98
    assert of_wilson / runs < 0.86
    # the design effect of Kish 1965: the variance grows by 1 + (each - 1) correlation; Student's quantile adds to that
    assert np.mean(wider) == pytest.approx(np.sqrt(1.0 + (each - 1) * correlation), rel=0.25)


def test_without_correlation_the_interval_is_about_as_wide_as_wilsons():
    rng = np.random.default_rng(2)
    wider = []
    for _ in range(50):
        values, where = expanded(rng.binomial(6, 0.7, 30), 6)
        wider.append(by_place(values, where, *wilson(int(sum(values)), len(values))).wider)
    assert np.mean(wider) == pytest.approx(1.0, abs=0.08)


def test_means_of_a_continuous_measure_are_covered_too():
    rng, covered = np.random.default_rng(6), 0
    for _ in range(200):
        values = (rng.normal(3.0, 1.0, (15, 1)) + rng.normal(0.0, 2.0, (15, 5))).ravel()  # correlation 0.2
        found = by_place(values.tolist(), np.repeat(np.arange(15), 5).tolist(), None, None)
        covered += found.low <= 3.0 <= found.high
        assert found.wider is None
    assert 0.9 <= covered / 200 <= 0.99


def test_the_interval_does_not_depend_on_the_order_and_is_the_same_on_every_call():
    values, where = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0], ["a", "a", "b", "c", "d", "e", "f"]
    assert by_place(values, where, *WILSON) == by_place(values[::-1], where[::-1], *WILSON)


@pytest.mark.parametrize(
    ("values", "places", "found"),
    [
        ([], [], None),
        ([1.0, 0.0], ["a", None], None),
        ([1.0, 0.0, 1.0, 0.0], list("abcd"), ByPlace(4)),
        ([1.0] * 12, list("abcdef") * 2, ByPlace(6)),
    ],
)
def test_too_few_places_or_equal_places_have_no_interval(values, places, found):
    assert len("abcd") < FEWEST
    assert by_place(values, places, *WILSON) == found
    assert in_words(found) == ""


def test_rates_tables_and_csv_have_intervals_by_place():
    rows = [
        {
            "suite": "s",
            "stage": "a",
            "episode": k,
            "seed": 1,
            "planner": "p",
            "robot": 0,
            "key": f"s/a/{k}/p/0",
            "place": f"m{k // 4}",
        }
        | {"outcome": "reached" if k % 8 < 5 else "timeout", "success": float(k % 8 < 5)}
        for k in range(48)
    ]
    (summary,) = summarise(rows, [success])
    found = share(rows)
    assert summary.by_place == found.by_place and found.by_place.places == 12
    assert found.by_place.wider > 1.2
    assert cell(found, rate=True).by_place.startswith("by place [") and cell(found, rate=True).by_place.endswith("× as wide")
    table = paper_table(rows, ["p"], "clustered")
    (line,) = list(csv.DictReader(io.StringIO(table.csv())))[:1]
    assert line["places"] == "12" and float(line["wider_by_place"]) == found.by_place.wider
    assert "bootstrap over 12 places" in table.markdown()
    apart = [{key: value for key, value in row.items() if key != "place"} for row in rows]
    assert share(apart).by_place is None and "by place" not in paper_table(apart, ["p"], "clustered").markdown()
