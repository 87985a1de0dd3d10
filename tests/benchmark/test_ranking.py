"""Ranks, sign flips and adjustments for many comparisons, against closed forms and SciPy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control, permutation_test, ttest_rel

from agora.benchmark.ranking import benjamini_hochberg, holm, paired_p, ranking, sign_flips
from agora.benchmark.statistics import detectable, needed
from agora.interfaces import Metric

REACHED = Metric("reached", "0/1", "higher", "goal reached", "here", 1, lambda _: None)
TIME = Metric("time", "s", "lower", "duration", "here", 1, lambda _: None)


def rows(values, name="reached", robots=1):
    """Rows of planners whose values by episode are given; every robot has the same."""
    return [
        {"suite": "s", "stage": "a", "episode": k, "seed": 3, "planner": planner, "robot": r, name: value}
        for planner, each in values.items()
        for k, value in enumerate(each)
        for r in range(robots)
    ]


def test_all_signs_of_few_differences_give_the_exact_p_of_scipy(rng):
    differences = rng.normal(0.4, 1.0, 9)
    expected = permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert sign_flips(differences[:, None])[0] == pytest.approx(expected)


def test_of_wins_and_losses_it_is_mcnemars_exact_test():
    differences = np.array([1.0] * 14 + [-1.0] * 4 + [0.0] * 30)
    assert sign_flips(differences[:, None])[0] == pytest.approx(binomtest(4, 18).pvalue, abs=0.006)
    assert sign_flips(np.zeros((40, 1)))[0] == 1.0


def test_under_no_difference_one_test_in_twenty_finds_one(rng):
    p = sign_flips(rng.normal(0.0, 1.0, (60, 1000)))
    assert 0.03 < np.mean(p < 0.05) < 0.07


def test_holms_adjustment_is_that_of_a_worked_example():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.9, 0.8])) == pytest.approx([1.0, 1.0])


def test_a_planner_that_is_better_everywhere_is_first_for_certain_and_equal_ones_share():
    good, bad = [1.0] * 20, [1.0, 0.0] * 10
    ranked, pairs, count = ranking(rows({"x": bad, "y": good, "z": bad}), REACHED, ["x", "y", "z"])
    assert count == 20
    assert [(one.planner, one.low, one.high, one.best) for one in ranked] == [("y", 1, 1, 1.0), ("x", 2, 3, 0.0), ("z", 2, 3, 0.0)]
    assert ranked[0].beats == ("x", "z") and ranked[1].beats == ()
    (pair,) = [pair for pair in pairs if (pair.first, pair.second) == ("y", "x")]
    assert (pair.difference, pair.wins, pair.losses) == (0.5, 0.5, 0.0)
    assert not next(pair for pair in pairs if pair.first == "x").apart


def test_lower_is_better_where_the_metric_says_so():
    quick, slow = list(np.linspace(5.0, 6.0, 15)), list(np.linspace(7.1, 8.0, 15))
    ranked, pairs, _ = ranking(rows({"slow": slow, "quick": quick}, "time"), TIME, ["slow", "quick"])
    assert [one.planner for one in ranked] == ["quick", "slow"]
    assert pairs[0].wins == 1.0 and pairs[0].difference < 0.0 and pairs[0].apart


def test_robots_of_one_episode_are_one_observation():
    values = {"x": [1.0, 1.0, 1.0, 0.0, 1.0], "y": [0.0, 1.0, 0.0, 0.0, 0.0]}
    one, many = (ranking(rows(values, robots=robots), REACHED, ["x", "y"]) for robots in (1, 5))
    assert one == many


def test_episodes_that_one_planner_has_no_value_for_do_not_count():
    values = {"x": [5.0, 6.0, 9.0, 7.0], "y": [5.5, None, 9.5, 8.0]}
    ranked, _, count = ranking(rows(values, "time"), TIME, ["x", "y"])
    assert count == 3 and ranked[0].mean == pytest.approx(7.0)
    assert ranking(rows({"x": [1.0]}), REACHED, ["x"]) == ([], [], 1)
    assert ranking(rows({"x": [1.0, 0.0], "y": [None, 1.0]}), REACHED, ["x", "y"])[:2] == ([], [])


def test_the_number_of_pairs_that_are_needed_is_the_one_that_detects_the_difference(rng):
    differences = rng.normal(0.3, 1.0, 50)
    count = needed(differences.tolist())
    assert count == pytest.approx((2.8016 * differences.std(ddof=1) / differences.mean()) ** 2, abs=1.0)
    assert detectable((np.resize(differences, 50) * 1.0).tolist()) * np.sqrt(50 / count) <= abs(differences.mean())
    assert needed([0.0, 0.0]) is None and needed([0.5]) is None and needed([0.5, 0.5, 0.5]) == 2


def test_the_share_of_false_discoveries_is_scipys(rng):
    p = np.concatenate((rng.uniform(0.0, 1.0, 37), rng.uniform(0.0, 0.004, 5), [0.5, 0.5]))
    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p))


def test_the_p_of_paired_differences_is_scipys(rng):
    first, second = rng.normal(1.3, 1.0, 23), rng.normal(1.0, 2.0, 23)
    assert paired_p(list(first - second)) == pytest.approx(ttest_rel(first, second).pvalue)
    assert [paired_p(some) for some in ([], [2.0], [0.0, 0.0], [2.0, -2.0], [2.0, 2.0])] == [1.0, 1.0, 1.0, 1.0, 0.0]


def test_of_planners_that_do_not_differ_almost_none_is_called_better_in_a_table_of_many(rng):
    called = [
        (benjamini_hochberg(np.array([paired_p(list(some)) for some in rng.normal(size=(200, 40))])) < 0.05).any()
        for _ in range(40)
    ]
    assert sum(called) <= 7  # each with a chance of 1 in 20: more than 7 of 40 with one of 1 in 1,500


def test_by_what_a_failure_flatters_planners_are_ranked_on_episodes_that_all_of_them_reached():
    """The first planner is quick where it does not arrive."""
    table = rows({"x": [9.0, 9.0, 1.0, 1.0, 9.0], "y": [8.0, 8.0, 8.0, 8.0, 8.5]}, "time")
    for row in table:
        row["outcome"] = "wall_collision" if row["time"] == 1.0 else "reached"
    ranked, pairs, count = ranking(table, TIME, ["x", "y"])
    assert [one.planner for one in ranked] == ["y", "x"] and count == 3
    assert pairs[0].difference == pytest.approx(-2.5 / 3)
    everywhere = dataclasses.replace(TIME, compared="all")
    assert [one.planner for one in ranking(table, everywhere, ["x", "y"])[0]] == ["x", "y"]
