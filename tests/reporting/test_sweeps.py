"""Sweeps: planners that differ in one number are found, and their curve has the right means over the right episodes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.suites import plane

from agora.benchmark.bench import run_all
from agora.benchmark.request_form import RequestForm
from agora.config import dump, plain
from agora.errors import InputError
from agora.planners.presets import expand_sweep, named_planner
from agora.registry import load
from agora.reporting import tables
from agora.reporting._sweeps import sweeps
from agora.reporting.report import figures, report
from agora.reporting.statistics import bootstrap, wilson


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("dwa", ["dwa"]),
        ("dwa:sim_time=0.8", ["dwa:sim_time=0.8"]),
        ("dwa:sim_time=0.8,1.2,vx_samples=3", ["dwa:sim_time=0.8,vx_samples=3", "dwa:sim_time=1.2,vx_samples=3"]),
        ("dwa(vx_samples=3, sim_time=1, 2)", ["dwa:vx_samples=3,sim_time=1", "dwa:vx_samples=3,sim_time=2"]),
        ("teb:corner=[1,2]", ["teb:corner=[1,2]"]),
        ("orca+polite:distance=1,2", ["orca+polite:distance=1", "orca+polite:distance=2"]),
        ("orca:horizon=3,5+polite", ["orca:horizon=3+polite", "orca:horizon=5+polite"]),
        ("orca:horizon=1e+3,2e-1", ["orca:horizon=1e+3", "orca:horizon=2e-1"]),
    ],
)
def test_several_values_of_one_parameter_are_as_many_planners(text, texts):
    assert expand_sweep(text) == texts


@pytest.mark.parametrize("text", ["dwa:sim_time=1,2,vx_samples=3,4", "orca:horizon=1,2+polite:distance=1,2"])
def test_several_values_of_two_parameters_are_refused(text):
    with pytest.raises(InputError, match="at most one parameter may have several values"):
        expand_sweep(text)


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["dwa", "dwa"], "dwa"),
        (["orca", "dwa:sim_time=1,vx_samples=3", "dwa:vx_samples=3,sim_time=1"], "dwa:sim_time=1,vx_samples=3"),
        (["dwa:vx_samples=3,sim_time=1,2", "dwa(sim_time=2, vx_samples=3)"], "dwa:vx_samples=3,sim_time=2"),
        (["orca:horizon=3+polite:distance=1", "orca:horizon=3+polite(distance=1)"], "orca:horizon=3+polite:distance=1"),
    ],
)
def test_a_planner_named_twice_is_refused_in_any_order_of_parameters(texts, first, tmp_path):
    with pytest.raises(InputError, match=f"given twice, first as {re.escape(repr(first))}"):
        RequestForm("demo", tuple(texts), output=tmp_path).request()


def test_the_order_of_parameters_does_not_make_another_planner():
    (first, one), (second, other) = (named_planner(text) for text in ("dwa:sim_time=1,vx_samples=3", "dwa:vx_samples=3,sim_time=1"))
    assert plain(one) == plain(other) and plain(one) != plain(named_planner("dwa:sim_time=1")[1])
    assert (first, second) == ("dwa:sim_time=1,vx_samples=3", "dwa:vx_samples=3,sim_time=1")  # a label is the text that was typed


def row(planner, episode, outcome="reached", time=None):
    return {
        "suite": "s", "stage": "hall", "episode": episode, "seed": 1, "robot": 0,
        "planner": planner, "outcome": outcome, "time_to_goal": time,
    }  # fmt: skip


PLANNERS = {
    "fast": {"name": "dwa", "sim_time": 1.5, "window": {"size": 4.0}, "pedestrians": None},
    "slow": {"name": "dwa", "sim_time": 0.5, "window": {"size": 4.0}, "pedestrians": None},
    "wide": {"name": "dwa", "sim_time": 0.5, "window": {"size": 9.0}, "pedestrians": None},
    "told": {"name": "dwa", "sim_time": 2.5, "window": {"size": 4.0}, "pedestrians": "view"},
    "other": {"name": "orca", "sim_time": 2.5, "window": {"size": 4.0}, "pedestrians": None},
    "switch": {"name": "orca", "sim_time": True, "window": {"size": 4.0}, "pedestrians": None},
    "gone": {"name": "dwa", "sim_time": 9.5, "window": {"size": 4.0}, "pedestrians": None},
}
ROWS = [row(name, k, time=10.0 + k + len(name)) for name in PLANNERS if name != "gone" for k in range(4)]


def test_planners_that_differ_in_one_number_are_a_sweep_and_no_others():
    found = {(one.planner, one.parameter): one.labels for one in sweeps(PLANNERS, ROWS)}
    assert found == {("dwa", "sim_time"): {0.5: "slow", 1.5: "fast"}, ("dwa", "window.size"): {4.0: "slow", 9.0: "wide"}}
    assert sweeps({"bag": "played elsewhere"}, [row("bag", 0)]) == []


def test_a_curve_has_wilson_s_interval_of_shares_and_means_of_the_episodes_that_were_reached_at_every_value():
    rows = [
        one | ({"outcome": "timeout", "time_to_goal": None} if one["planner"] == "fast" and one["episode"] == 3 else {})
        for one in ROWS
    ]
    sweep = next(one for one in sweeps(PLANNERS, rows) if one.parameter == "sim_time")
    reached = sweep.points(rows, tables.REACHED)
    assert [(one.value, one.low, one.high) for one in reached.values()] == [(1.0, *wilson(4, 4)), (0.75, *wilson(3, 4))]
    times = sweep.points(rows, load("metrics", "time_to_goal"))
    mine = bootstrap([14.0, 15.0, 16.0])
    assert (times[0.5].n, times[0.5].value, times[0.5].low, times[0.5].high) == (3, 15.0, mine.low, mine.high)


def test_a_sweep_of_the_command_line_has_a_curve_in_the_report_and_among_the_figures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plain.yaml").write_text(dump(plane(episodes=2, timeout=40.0)))
    form = RequestForm("plain.yaml", ("pure_pursuit:speed=0.4,0.7,1.0",), workers=0, output=Path("run"))
    rows = run_all(form.request())
    assert sorted({row["planner"] for row in rows}) == [f"pure_pursuit:speed={speed}" for speed in ("0.4", "0.7", "1.0")]
    page = report(Path("run")).read_text()
    section = page.partition('<section id="sweeps">')[2].partition("</section>")[0]
    assert "pure_pursuit: speed" in section
    (chart,) = re.findall(r'<svg[^>]*aria-label="time_to_goal over speed".*?</svg>', section)
    assert len(re.findall(r'class="mean"', chart)) == len(re.findall(r'class="interval"', chart)) == 3
    line = re.search(r'class="curve" d="M([^"]*)"', chart)[1]
    places = [tuple(map(float, point.split())) for point in line.split("L")]
    assert [x for x, _ in places] == sorted(x for x, _ in places) and len(places) == 3
    assert places[0][1] < places[1][1] < places[2][1]  # slower takes longer, which is higher up
    drawn = figures(Path("run"), ["path_length"], "svg")
    assert drawn[-1].name == "sweep_pure_pursuit_speed.svg" and "speed" in drawn[-1].read_text()


def test_a_run_of_one_planner_has_no_curve(tmp_path):
    (tmp_path / "plain.yaml").write_text(dump(plane(episodes=1)))
    run_all(RequestForm(str(tmp_path / "plain.yaml"), ("go_to_goal",), workers=0, output=tmp_path / "run").request())
    assert "Sweeps" not in report(tmp_path / "run").read_text()
    shutil.rmtree(tmp_path / "run")
