"""Ranks, sign flips and adjustments for many comparisons, against closed forms and SciPy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control, permutation_test, ttest_rel

from agora.interfaces import Metric
from agora.reporting.ranking import benjamini_hochberg, holm, paired_p, ranking, sign_flips
from agora.reporting.statistics import detectable, over_places, paired_differences, pairs_needed

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


def test_among_many_planners_one_that_is_much_better_is_told_apart_from_each():
    others = {f"p{k}": [float(n % 4 == 0) for n in range(40)] for k in range(39)}
    ranked, _, _ = ranking(rows({"best": [1.0] * 40, **others}), REACHED, ["best", *others])
    assert ranked[0].planner == "best" and set(ranked[0].beats) == set(others)


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
    count = pairs_needed(differences.tolist())
    assert count == pytest.approx((2.8016 * differences.std(ddof=1) / differences.mean()) ** 2, abs=1.0)
    assert detectable((np.resize(differences, 50) * 1.0).tolist()) * np.sqrt(50 / count) <= abs(differences.mean())
    assert pairs_needed([0.0, 0.0]) is None and pairs_needed([0.5]) is None and pairs_needed([0.5, 0.5, 0.5]) == 2


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


def correlated(rng, places=12, each=8, share=0.8, gain=0.0):
    """Rows of two planners in places with episodes: which of the two is better depends mostly on the place."""
    better = rng.normal(gain, 1.0, places)
    found = []
    for place in range(places):
        for k in range(each):
            noise = rng.normal(0.0, 1.0)
            values = {"x": share * better[place] + (1.0 - share) * noise, "y": 0.0}
            found += [
                {"suite": "s", "stage": "a", "episode": place * each + k, "seed": 3, "planner": planner, "robot": 0}
                | {"reached": value, "place": f"map {place}"}
                for planner, value in values.items()
            ]
    return found


def test_among_correlated_episodes_tests_over_places_hold_their_level_and_tests_over_episodes_do_not(rng):
    runs, clustered, single, t_clustered, t_single, sure, sure_single = 200, 0, 0, 0, 0, 0, 0
    for _ in range(runs):
        mine = correlated(rng)
        alone = [{**row, "place": None} for row in mine]
        differences, places = paired_differences(mine, "reached", "x", "y")
        for some, is_clustered in ((mine, True), (alone, False)):
            ranked, (pair,), _ = ranking(some, REACHED, ["x", "y"])
            first = ranked[0].high == 1
            clustered, single = clustered + (pair.apart and is_clustered), single + (pair.apart and not is_clustered)
            sure, sure_single = sure + (first and is_clustered), sure_single + (first and not is_clustered)
        t_clustered += paired_p(differences, places) < 0.05
        t_single += paired_p(differences) < 0.05
    assert 0.01 <= clustered / runs <= 0.09 and single / runs > 0.35
    assert 0.01 <= t_clustered / runs <= 0.09 and t_single / runs > 0.35
    assert sure / runs <= 0.12 and sure_single / runs > 0.35


def test_tests_over_places_still_find_a_difference(rng):
    found = sum(ranking(correlated(rng, gain=1.5), REACHED, ["x", "y"])[1][0].apart for _ in range(20))
    assert found >= 18


def test_the_number_of_episodes_that_are_needed_grows_with_their_correlation(rng):
    mine = correlated(rng, places=30, gain=1.0)
    alone = [{**row, "place": None} for row in mine]
    more, fewer = (ranking(some, REACHED, ["x", "y"])[1][0].needed for some in (mine, alone))
    assert 4 * fewer < more < 9 * fewer


def test_places_with_one_episode_each_and_too_few_places_are_tested_by_episode(rng):
    base = correlated(rng, places=20, each=1)
    alone = [{**row, "place": None} for row in base]
    assert ranking(base, REACHED, ["x", "y"]) == ranking(alone, REACHED, ["x", "y"])
    few = [{**row, "place": f"map {row['episode'] % 4}"} for row in base]
    assert ranking(few, REACHED, ["x", "y"]) == ranking(alone, REACHED, ["x", "y"])


def test_intervals_of_paired_differences_are_over_places(rng):
    covered = {True: 0, False: 0}
    for _ in range(150):
        values, places = paired_differences(correlated(rng), "reached", "x", "y")
        for known in covered:
            found = over_places(values, places if known else [None] * len(values))
            covered[known] += found.low <= 0.0 <= found.high
    assert covered[True] / 150 > 0.9 and covered[False] / 150 < 0.7
