"""Comparisons of planners: what stands on them is what the rows say."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from agora.errors import InputError
from agora.reporting._figures import comparison_figure, outcome_figure, overview_figure, planner_matrix
from agora.reporting.statistics import bootstrap, wilson
from agora.viewer.figures import save
from viewer.synthetic import METRICS, rows

TIME = METRICS[0]


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_the_same_rows_give_the_same_bytes(tmp_path, kind):
    table = rows(episodes=6)
    for number, make in enumerate(
        (lambda: comparison_figure(table, TIME), lambda: outcome_figure(table), lambda: planner_matrix(table))
    ):
        first = save(make(), tmp_path / f"{number}a.{kind}", dpi=50).read_bytes()
        assert first == save(make(), tmp_path / f"{number}b.{kind}", dpi=50).read_bytes()


def all_reached(planners, episodes):
    return [{**row, "outcome": "reached", "time_to_goal": row["time_to_goal"] or 9.0} for row in rows(planners, episodes=episodes)]


def test_every_value_is_a_dot_and_the_mean_carries_its_interval():
    table = all_reached(("a", "b"), episodes=9)
    axes = comparison_figure(table, METRICS[2]).axes[0]
    values = [row["clearance.min"] for row in table if row["planner"] == "b"]
    dots = [c.get_offsets()[:, 0] for c in axes.collections]
    assert any(len(d) == len(values) and np.allclose(np.sort(d), np.sort(values)) for d in dots)
    mean = bootstrap(values)
    assert any(np.allclose(line.get_xdata(), [mean.low, mean.high]) for line in axes.lines if len(line.get_xdata()) == 2)


def test_violins_are_within_the_values_and_three_equal_values_have_none():
    table = all_reached(("a", "b"), episodes=9)
    for row in table:
        row["clearance.min"] = 0.4 if row["planner"] == "b" else row["clearance.min"]
    axes = comparison_figure(table, METRICS[2]).axes[0]
    violins = [c for c in axes.collections if c.get_alpha() == 0.22]
    values = [row["clearance.min"] for row in table if row["planner"] == "a"]
    assert len(violins) == 1
    drawn = violins[0].get_paths()[0].vertices
    assert drawn[:, 0].min() == pytest.approx(min(values)) and drawn[:, 0].max() == pytest.approx(max(values))
    assert np.abs(drawn[:, 1]).max() <= 0.42 + 1e-6


def test_labels_say_on_how_many_episodes_values_stand_and_the_share_of_successes():
    table = rows(("a",), episodes=10, stages=("s",))
    reached = sum(row["outcome"] == "reached" for row in table)
    (label,) = comparison_figure(table, TIME).axes[0].get_yticklabels()
    assert label.get_text() == f"a\n{reached} of 10, {reached}0% reached"


def test_bars_of_outcomes_fill_100_percent_and_the_interval_is_wilsons():
    table = rows(("a", "b"), episodes=8)
    axes = outcome_figure(table).axes[0]
    ends = {}
    for bar in axes.patches:
        y = round(bar.get_y() + bar.get_height() / 2)
        ends[y] = max(ends.get(y, 0.0), bar.get_x() + bar.get_width())
    assert ends == pytest.approx({0: 100.0, 1: 100.0})
    reached = sum(row["outcome"] == "reached" and row["planner"] == "b" for row in table)
    np.testing.assert_allclose(axes.lines[1].get_xdata(), 100 * np.array(wilson(reached, 16)))


def test_a_planner_with_no_value_of_a_metric_and_one_with_a_single_value_are_shown(tmp_path):
    table = rows(("a", "b", "c"), episodes=5)
    for row in table:
        row["time_to_goal"] = None if row["planner"] == "a" or row["key"] != "demo/corridor/0/b" else 12.0
    assert save(comparison_figure(table, TIME), tmp_path / "a.png", dpi=40).exists()
    assert save(planner_matrix(table, TIME), tmp_path / "b.png", dpi=40).exists()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_overview_has_a_panel_for_each_metric_with_the_values_of_every_planner(count):
    table = all_reached(("a", "b"), episodes=7)
    figure = overview_figure(table, METRICS[:count])
    assert [axes.get_xlabel().split()[0].rstrip(",") for axes in figure.axes] == [metric.name for metric in METRICS[:count]]
    for axes, metric in zip(figure.axes, METRICS, strict=False):
        for place, planner in enumerate("ab"):
            values = [row[metric.name] for row in table if row["planner"] == planner and row[metric.name] is not None]
            dots = [one for one in axes.collections if isinstance(one, PathCollection)][place].get_offsets()
            assert np.allclose(np.sort(dots[:, 0]), np.sort(values)) and np.abs(dots[:, 1] - place).max() < 0.5
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a\n100% reached", "b\n100% reached"]
    with pytest.raises(InputError, match="no metrics"):
        overview_figure(table, [])


def test_what_a_failure_flatters_is_drawn_of_the_episodes_that_all_planners_reached(tmp_path):
    table = [row | {"clearance.min": 0.3} for row in all_reached(("a", "b"), episodes=6)]
    for row in table[:5]:
        row |= {"outcome": "wall_collision", "clearance.min": 4.0, "spl": 0.0}
    axes = comparison_figure(table, METRICS[2]).axes[0]
    assert {round(float(x), 6) for dots in axes.collections for x in dots.get_offsets()[:, 0]} == {0.3}
    assert [one.get_text() for one in axes.get_yticklabels()] == ["a\n7 of 12, 58% reached", "b\n7 of 12, 100% reached"]
    assert axes.get_xlabel().endswith("episodes in which all reached the goal")
    assert "12 of 12" in comparison_figure(table, METRICS[1]).axes[0].get_yticklabels()[0].get_text()
    words = [text.get_text() for text in planner_matrix(table, METRICS[2]).axes[0].texts]
    assert words[0] == "0.3\n(17% of 6 reached)" and words[1] == "0.3\n(100% of 6 reached)"
    for row in table:
        row["outcome"] = "timeout" if row["planner"] == "a" else "reached"
    nobody = comparison_figure(table, METRICS[2])
    assert "no episode in which all planners reached the goal" in [text.get_text() for text in nobody.axes[0].texts]


def test_twelve_planners_fit(tmp_path):
    table = rows(tuple(f"planner_number_{i}" for i in range(12)), episodes=4)
    figure = comparison_figure(table, TIME)
    assert figure.get_size_inches()[1] > 4.5
    assert save(figure, tmp_path / "a.png", dpi=40).exists()


def test_no_rows_and_an_unknown_column_are_refused():
    with pytest.raises(InputError, match="no rows"):
        outcome_figure([])
    with pytest.raises(InputError, match="moon"):
        planner_matrix(rows(episodes=2), by="moon")
