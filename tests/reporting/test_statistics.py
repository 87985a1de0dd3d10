"""Statistics: closed forms, published values, scipy as oracle, and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from agora.errors import InputError
from agora.metrics.efficiency import time_to_goal
from agora.metrics.outcome import collisions, success
from agora.reporting.statistics import Estimate, _between, bootstrap, detectable, paired_difference, summarise, wilson


def rows_of(planner, seeds, **columns):
    fixed = {"suite": "s", "stage": "a", "robot": "r", "planner": planner}
    return [{**fixed, "episode": k, "seed": seed, **{c: v[k] for c, v in columns.items()}} for k, seed in enumerate(seeds)]


def test_an_interval_does_not_depend_on_the_order_of_the_values():
    values = [0.3, 9.1, -2.0, 4.4, 4.5, 0.1, 7.7]
    for statistic in ("mean", "median"):
        assert bootstrap(values, statistic) == bootstrap(values[::-1], statistic) == bootstrap(values[3:] + values[:3], statistic)


@pytest.mark.parametrize(("k", "n", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)])
def test_wilson_gives_the_published_intervals(k, n, low, high):
    # 81 of 263: Newcombe 1998, Table I, method 3; 0 and 5 of 10: Brown, Cai and DasGupta 2001
    assert wilson(k, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 7), (499, 500), (500, 500)])
def test_wilson_agrees_with_scipy(k, n, confidence):
    expected = stats.binomtest(k, n).proportion_ci(confidence, "wilson")
    assert wilson(k, n, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("k", "n", "confidence"), [(-1, 3, 0.95), (4, 3, 0.95), (0, 0, 0.95), (1, 3, 1.0), (1, 3, 95.0)])
def test_wilson_refuses_what_is_no_trial(k, n, confidence):
    with pytest.raises(InputError):
        wilson(k, n, confidence)


def test_bootstrap_is_the_same_on_every_call_and_does_not_depend_on_what_was_drawn_before():
    values = np.random.default_rng(1).exponential(3.0, 37)
    first = bootstrap(values)
    bootstrap(values[:20])
    assert bootstrap(values.tolist()) == first


def test_many_values_are_resampled_in_blocks():
    values = np.random.default_rng(3).normal(1.0, 1.0, 3000)
    estimate = bootstrap(values)
    normal = 1.96 * values.std() / np.sqrt(3000)
    assert (estimate.low, estimate.high) == pytest.approx((values.mean() - normal, values.mean() + normal), abs=0.1 * normal)


@pytest.mark.parametrize("size", [12, 60])
def test_the_means_interval_is_scipys_bias_corrected_and_accelerated_one(size):
    values = np.random.default_rng(size).exponential(3.0, size)
    ours = bootstrap(values, resamples=20_000)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2)).confidence_interval
    width = theirs.high - theirs.low
    assert ours.value == pytest.approx(values.mean())
    assert ours.low == pytest.approx(theirs.low, abs=0.04 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.04 * width)


def test_the_medians_interval_ends_at_the_order_statistics_that_the_binomial_gives():
    # the median of a resample of n is at most the k-th value with the chance that n draws hit the first k more than n/2 times
    values = np.sort(np.random.default_rng(8).normal(5.0, 2.0, 51))
    chance = stats.binom.sf(25, 51, np.arange(1, 52) / 51)
    low, high = (values[np.searchsorted(chance, level)] for level in (0.025, 0.975))
    assert bootstrap(values, "median", resamples=20_000) == Estimate(51, values[25], low, high)


def test_intervals_of_the_mean_hold_the_truth_about_as_often_as_they_say():
    draws = np.random.default_rng(4).exponential(1.0, (400, 30))
    held = np.mean([e.low <= 1.0 <= e.high for e in (bootstrap(d, confidence=0.9) for d in draws)])
    assert 0.83 < held < 0.93


def test_intervals_move_and_scale_with_the_values():
    values = np.random.default_rng(6).gamma(2.0, 1.0, 25)
    here, there = bootstrap(values), bootstrap(3.0 + 2.0 * values)
    assert (there.low, there.high) == pytest.approx((3.0 + 2.0 * here.low, 3.0 + 2.0 * here.high))


def test_few_or_equal_values_have_the_interval_they_deserve():
    assert bootstrap([]) == Estimate(0, None, None, None)
    assert bootstrap([4.5]) == Estimate(1, 4.5, None, None)
    assert bootstrap([2.0, 2.0, 2.0]) == Estimate(3, 2.0, 2.0, 2.0)
    assert bootstrap([0.0, 1e-110, 3e-110, 0.0]).low == 0.0  # whose squares are no number any more


def test_bootstrap_refuses_undefined_values_and_unknown_statistics():
    with pytest.raises(InputError, match="finite"):
        bootstrap([1.0, float("nan")])
    with pytest.raises(InputError, match="did you mean 'median'"):
        bootstrap([1.0, 2.0], "medain")


def test_pairing_removes_what_episodes_have_in_common():
    rng = np.random.default_rng(7)
    hard = rng.normal(30.0, 10.0, 40)
    ours = rows_of("ours", range(40), time_to_goal=hard + rng.normal(0.0, 0.5, 40))
    theirs = rows_of("theirs", range(40), time_to_goal=hard + 1.0 + rng.normal(0.0, 0.5, 40))
    difference = paired_difference([*theirs[::-1], *ours], "time_to_goal", "ours", "theirs")
    assert difference.n == 40
    assert difference.value == pytest.approx(-1.0, abs=0.3)
    assert difference.high < 0.0
    alone = bootstrap([row["time_to_goal"] for row in ours])
    assert difference.high - difference.low < 0.1 * (alone.high - alone.low)


def test_only_episodes_that_both_have_values_for_are_compared():
    ours = rows_of("ours", [11, 12, 13, 14], time_to_goal=[5.0, None, 7.0, 8.0])
    theirs = rows_of("theirs", [11, 12, 99, 14], time_to_goal=[4.0, 1.0, 1.0, 6.0])
    difference = paired_difference(ours + theirs, "time_to_goal", "ours", "theirs")
    assert (difference.n, difference.value) == (2, 1.5)


def test_comparisons_name_what_is_wrong():
    rows = rows_of("dwa", [1, 2], spl=[0.5, 0.6]) + rows_of("orca", [1, 2], spl=[0.5, 0.6])
    with pytest.raises(InputError, match="did you mean 'orca'"):
        paired_difference(rows, "spl", "dwa", "orka")
    with pytest.raises(InputError, match="did you mean 'spl'"):
        paired_difference(rows, "sppl", "dwa", "orca")
    with pytest.raises(InputError, match="two rows for 'dwa'"):
        paired_difference(rows + rows[:1], "spl", "dwa", "orca")


def test_a_table_says_how_many_values_and_successes_stand_behind_each_number():
    dwa = rows_of("dwa", range(4), success=[1, 0, 0, 1.0], time_to_goal=[20.0, None, None, 30.0], collisions=[0, 1, 1, 0])
    orca = rows_of("orca", range(3), success=[1.0, 1.0, 1.0], time_to_goal=[21.0, 25.0, 29.0], collisions=[0, 0, 0])
    shown = (success, time_to_goal, collisions)
    table = summarise(dwa + orca, shown)
    assert [(row.group, row.metric) for row in table] == [((p,), m.name) for m in shown for p in ("dwa", "orca")]
    rate, _, time, _, touched, none = table
    assert (rate.n, rate.value, rate.low, rate.high) == (4, 0.5, *wilson(2, 4))
    assert (time.n, time.episodes, time.success, time.value, time.unit) == (2, 4, 0.5, 25.0, "s")
    # a count is no rate, though its values happen to be 0 and 1
    assert (touched.value, touched.low, touched.high) == (0.5, bootstrap([0, 1, 1, 0]).low, bootstrap([0, 1, 1, 0]).high)
    assert (none.value, none.low, none.high) == (0.0, 0.0, 0.0)


def test_a_planner_that_never_arrives_has_no_time_but_a_row():
    rows = rows_of("stuck", range(3), success=[0.0] * 3, time_to_goal=[None] * 3)
    (row,) = summarise(rows, [time_to_goal])
    assert (row.n, row.value, row.low, row.episodes, row.success) == (0, None, None, 3, 0.0)


def test_tables_group_by_any_column_and_refuse_unknown_ones():
    rows = rows_of("dwa", range(4), success=[1.0, 0.0, 1.0, 1.0], stage=["a", "b", "a", "b"])
    table = summarise(rows, [success], by=("stage", "planner"))
    assert [(row.group, row.value) for row in table] == [(("a", "dwa"), 1.0), (("b", "dwa"), 0.5)]
    with pytest.raises(InputError, match="did you mean 'stage'"):
        summarise(rows, [success], by=("stagge",))
    assert summarise([], [success]) == []


def test_a_difference_as_large_as_is_said_is_found_four_times_of_five():
    rng, n, found = np.random.default_rng(7), 40, 0
    least = detectable(rng.normal(0.0, 2.0, 4000)) * np.sqrt(4000 / n)
    assert least == pytest.approx((1.959964 + 0.841621) * 2.0 / np.sqrt(n), rel=0.05)
    for _ in range(2000):
        differences = rng.normal(least, 2.0, n)
        half = 1.959964 * differences.std(ddof=1) / np.sqrt(n)
        found += abs(differences.mean()) > half
    assert found / 2000 == pytest.approx(0.8, abs=0.03)


def test_nothing_is_said_of_what_pairs_can_find_that_do_not_differ():
    assert detectable([]) is detectable([1.0]) is detectable([0.5, 0.5, 0.5]) is None
    with pytest.raises(InputError, match=r"power: expected .* between 0 and 1, .* got 1\.0"):
        detectable([1.0, 2.0], power=1.0)


def test_quantiles_are_those_of_numpy_to_the_bit(rng):
    for n in (1, 2, 3, 999, 2000):
        ordered = np.sort(rng.normal(size=n))
        for level in (0.0, 0.025, 0.5, 0.975, 1.0, *rng.random(40)):
            assert _between(ordered, level) == np.quantile(ordered, level)


def test_an_estimate_that_is_asked_for_again_is_the_same_and_is_of_these_values_alone():
    values = [0.5, 2.0, 3.5, 7.0]
    assert bootstrap(values) == bootstrap(np.array(values[::-1])) != bootstrap([0.5, 2.0, 3.5, 7.5])
    assert bootstrap(values, confidence=0.8) != bootstrap(values) != bootstrap(values, "median")
    assert bootstrap(values, resamples=20) != bootstrap(values)
