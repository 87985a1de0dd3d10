"""Limits of planners on the axes of a suite: comparisons on the same episodes, scores between floor and ceiling, and words."""

from __future__ import annotations

import numpy as np
import pytest

from agora.config import parse
from agora.reporting.limits.chart import colours_of, limit_chart, ticks
from agora.reporting.limits.measurement import limits_of, resamples
from agora.reporting.limits.section import beyond, limit_section
from agora.reporting.limits.table import limit_lines
from agora.reporting.limits.words import better_than, fails_first, leader_sentences, leaders, limit_sentence, limit_text
from agora.tasks.modules.axis import axis_of
from agora.tasks.suite import Suite

SUITE = """
name: harder
seed: 11
stages:
  - {{name: plain, episodes: 3, world: {{name: open, width: 8.0, height: 7.0}}}}
  - name: room
    episodes: {count}
    world: {{name: generated, generator: {{name: crossing, width: 13.0, height: 12.0}}, count: {places}, seed: 3}}
    modules: [{{name: axis, axis: {axis}}}]
"""
DENSITY = "density, easy: 0.05, hard: 0.8, scale: log, unit: people per m2, sets: {obstacles.density: [0.05, 0.8]}"
WIDTH = "width, easy: 3.0, hard: 1.0"


def suite(axis=WIDTH, count=150, places=150):
    return parse(SUITE.format(axis=axis, count=count, places=places), Suite, "test")


def chances(made, middle, width=0.08):
    """The chance of success in each episode; it falls to one half at the fraction ``middle`` of the axis."""
    axis = axis_of(made.stage("room"))
    x = np.array([axis.fraction("harder/room", 11, k) for k in range(made.stage("room").count)])
    return 1.0 / (1.0 + np.exp((x - middle) / width))


def rows_of(made, middles, width=0.08, luck=41, **columns):
    """Rows of planners whose success falls at these fractions of the axis; all share the random draw of an episode."""
    rows = []
    for planner, middle in middles.items():
        for k, won in enumerate(np.random.default_rng(luck).random(made.stage("room").count) < chances(made, middle, width)):
            row = {"planner": planner, "stage": "room", "episode": k, "seed": 11, "key": f"harder/room/{k}/{planner}/0"}
            rows.append(row | {"success": float(won), "outcome": "reached" if won else "timeout"} | columns)
    return rows


MIDDLES = {"good": 0.6, "twin": 0.6, "poor": 0.35, "informed": 0.9, "pure_pursuit": 0.1}


def measured(made=None, middles=MIDDLES, **columns):
    made = made or suite()
    (found,) = limits_of(made, rows_of(made, middles, **columns), list(middles), "informed", "pure_pursuit")
    return found


def test_different_planners_are_distinguished_and_equal_ones_are_not():
    found = measured()
    limits = {one.planner: one for one in found.of("success")}
    assert better_than(found, limits["good"]) == ["poor"] == better_than(found, limits["twin"])
    assert better_than(found, limits["poor"]) == []
    assert leaders(found, "success") == (["good", "twin"], [])
    assert limits["poor"].fits.half == pytest.approx(0.35, abs=0.06)


def test_scores_run_from_the_floor_to_the_ceiling():
    found = measured(middles=MIDDLES | {"like_floor": 0.1, "like_ceiling": 0.9})
    scores = {one.planner: one.relative for one in found.of("success")}
    assert scores["like_floor"] == 0.0 and scores["like_ceiling"] == 1.0
    assert 0.5 < scores["good"] < 0.75 and scores["poor"] < scores["good"]
    low, high = next(one for one in found.of("success") if one.planner == "good").relative_interval
    assert low < scores["good"] < high and high - low < 0.25


def test_numbers_are_values_of_the_axis_in_both_directions():
    falling, rising = measured(), measured(suite(DENSITY))
    words = [limit_sentence(found, found.of("success")[0]) for found in (falling, rising)]
    assert words[0].startswith("good fails half of its episodes from 1.") and "; the informed robot from 1." in words[0]
    assert "people per m2 on; the informed robot from 0." in words[1]
    assert limit_text(rising, rising.of("success")[0]).startswith("0.2")
    (value, (low, high)) = (
        rising.value(rising.of("success")[0].fits.half),
        map(rising.value, rising.of("success")[0].fits.interval),
    )
    assert low < value < high < 1.3 * value


def test_limits_beyond_an_end_are_bounds():
    found = measured(suite(count=40, places=40), middles={"always": 9.0, "never": -9.0, "informed": 9.0})
    always, never, _ = found.of("success")
    assert limit_text(found, always).startswith("< 1.00 [") and limit_text(found, always).endswith(", < 1.00]")
    assert limit_sentence(found, always).startswith(
        "always fails fewer than half of its episodes up to the hard end of the axis, 1.00"
    )
    assert limit_text(found, never).startswith("> 3.00 [> 3.00, 2.")
    assert "more than half of its episodes from the easy end of the axis on, 3.00" in limit_sentence(found, never)


def test_only_episodes_that_all_planners_ran_count():
    made = suite(count=40, places=40)
    rows = rows_of(made, {"good": 0.6, "poor": 0.3})
    (some,) = limits_of(made, [row for row in rows if row["planner"] == "good" or row["episode"] >= 10], ["good", "poor"])
    assert sum(count for _, _, count in some.of("success")[0].points) == 30
    assert limits_of(made, [], ["good", "poor"]) == []


def test_among_many_planners_a_much_better_limit_is_told_apart_from_the_others_and_equal_limits_are_not():
    equal, made = [f"p{k}" for k in range(14)], suite()
    rows = rows_of(made, {"best": 0.8})
    for k, planner in enumerate(equal):
        rows += rows_of(made, {planner: 0.4}, luck=k)
    (found,) = limits_of(made, rows, ["best", *equal], None, None)
    sure = [(pair.better, pair.worse) for pair in found.pairs if pair.sure]
    assert sorted(sure) == sorted(("best", planner) for planner in equal)


def test_the_second_outcome_is_measured_if_rows_have_it():
    assert measured().outcomes == ["success"]
    found = measured(clean_arrival=0.0)
    assert found.outcomes == ["success", "clean_arrival"]
    assert all(one.bound == "below" for one in found.of("clean_arrival"))


def test_places_are_resampled_with_all_their_episodes():
    places = [("a", k % 3) for k in range(9)] + [("b", k) for k in range(4)]
    counts = resamples(places)
    assert (counts[:, :3] == counts[:, 3:6]).all() and (counts[:, :3].sum(axis=1) == 3).all()
    assert (counts[:, 9:].sum(axis=1) == 4).all() and counts.max() > 1


def test_episodes_in_shared_places_give_wider_intervals():
    widths = []
    for places in (150, 5):
        made = suite(places=places)
        rows = rows_of(made, {"good": 0.5}, width=0.3)
        for row in rows:  # the place decides
            row["success"] = float(row["episode"] % 5 < 3) if places == 5 else row["success"]
        (found,) = limits_of(made, rows, ["good"])
        widths.append(np.ptp(np.quantile(found.of("success")[0].fits.areas, (0.025, 0.975))))
    assert widths[1] > 1.5 * widths[0]


def test_the_page_has_a_curve_a_sentence_and_a_replay_beyond_the_limit():
    found = measured()
    keys = beyond([found])
    assert [key.split("/")[3] for key in keys] == ["good", "twin", "poor"]
    page = limit_section([found], keys)
    (axis,) = page["axes"]
    assert [line["planner"] for line in axis["parts"][0]["lines"]][-2:] == ["informed", "pure_pursuit"]
    assert axis["parts"][0]["lines"][0]["plays"] and "ran out of time" in axis["parts"][0]["lines"][0]["first"]
    chart = str(limit_chart(found, "success", colours_of(["good"])))
    assert chart.count('class="success"') == 3 and chart.count('class="bound"') == 2
    assert leader_sentences([found]) == ["Width: good and twin go farthest; significantly better than poor."]
    assert "ran out of time" in fails_first(found.of("success")[2])


def test_ticks_are_round_values_on_both_scales():
    assert [value for _, value in ticks(measured(suite(DENSITY)))] == pytest.approx([0.05, 0.1, 0.2, 0.5])
    places = dict(ticks(measured()))
    assert list(places.values()) == pytest.approx([1.0, 1.5, 2.0, 2.5, 3.0])
    assert list(places) == pytest.approx([1.0, 0.75, 0.5, 0.25, 0.0])


def test_lines_of_limits_have_values_of_the_axis_with_the_smaller_end_first():
    falling, rising = measured(), measured(suite(DENSITY))
    lines = limit_lines([falling, rising])
    assert [line["axis"] for line in lines] == ["width"] * 5 + ["density"] * 5
    for line in lines:
        assert float(line["d50_low"]) <= float(line["d50"]) <= float(line["d50_high"])
    good = lines[0]
    assert (good["planner"], good["outcome"], good["bound"]) == ("good", "success", "")
    assert float(good["d50"]) == pytest.approx(3.0 - 2.0 * 0.6, abs=0.15)
    assert float(lines[3]["score"]) == 1.0 and float(lines[4]["score"]) == 0.0
    assert limit_lines([]) == []


def test_lines_of_limits_beyond_an_end_say_so():
    lines = limit_lines([measured(suite(count=40, places=40), middles={"always": 9.0, "never": -9.0})])
    assert [(line["d50"], line["bound"], line["score"]) for line in lines] == [("1", "above", ""), ("3", "below", "")]
