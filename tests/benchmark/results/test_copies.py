"""Episodes with the same start and the same results for every planner count once in every interval and test."""

from __future__ import annotations

import pytest

from agora.benchmark.bench import bench, repeats, rows_of
from agora.benchmark.request import Options, Request
from agora.benchmark.results.copies import copies, copy_notes, distinct
from agora.config import parse
from agora.metrics.registered import metrics
from agora.registry import Named
from agora.reporting.page import render
from agora.reporting.paper_tables import paper_table
from agora.reporting.ranking import ranking
from agora.reporting.statistics import paired_values, summarise, wilson
from agora.reporting.tables import REACHED
from agora.reporting.terminal import print_rows
from agora.tasks.suite import Suite, load_suite, with_seed

FIXED = """
name: fixed
seed: 5
stages:
  - name: counterflow
    episodes: 4
    world: {name: folder, path: corridor, scenarios: [counterflow]}
    robots: scenario
    obstacles: scenario
    timeout: 3.0
  - name: drawn
    episodes: 3
    world: {name: folder, path: corridor}
    robots: {name: random, distance: 4.0}
    timeout: 3.0
"""


def row(episode: int, start: str, value: float, planner: str = "a", **more: object) -> dict[str, object]:
    known = {"suite": "s", "stage": "one", "episode": episode, "seed": 1, "planner": planner, "robot": 0, "start": start}
    ended = {"outcome": "reached" if value else "timeout", "duration": 2.0 + value, "success": value, "reached": value}
    return known | ended | {"key": f"s/one/{episode}/{planner}/0"} | more


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fixed") / "run"
    for _ in bench(Request(parse(FIXED, Suite), {"go": Named.of("planners", "go_to_goal")}, folder, Options(workers=0))):
        pass
    return rows_of(folder)


def test_a_repeated_fixed_scenario_is_one_observation(run):
    assert len(run) == 7 and len(distinct(run)) == 4
    assert {(first[1], first[2]) for first in copies(run).values()} == {("counterflow", 0)}
    (summary,) = summarise(run, [metric for metric in metrics() if metric.name == "success"], by=("stage",))[:1]
    assert summary.n == 1 and (summary.low, summary.high) == wilson(int(summary.value), 1)
    (note,) = copy_notes(run)
    assert note.startswith("Stage counterflow: 3 of 4 episodes are copies of another one,") and note.endswith(
        "Intervals and tests use 1 episodes."
    )


def test_report_table_and_terminal_name_the_copies(run, capsys):
    note = copy_notes(run)[0]
    assert note in render({"suite": "fixed", "planners": ["go"]}, run, metrics(), {})
    assert note in paper_table(run, ["go"], "fixed").markdown() and "| `go` | 4 |" in paper_table(run, ["go"], "fixed").markdown()
    print_rows(run, ["go"])
    assert note in capsys.readouterr().out


def test_a_run_warns_at_its_start_if_a_stage_repeats_an_episode(tmp_path, caplog):
    suite = parse(FIXED, Suite)
    next(bench(Request(suite, {"go": Named.of("planners", "go_to_goal")}, tmp_path / "run", Options(workers=0))))
    assert "stage counterflow: episode 1 is a copy of episode 0" in caplog.text and "stage drawn" not in caplog.text
    assert repeats(suite, "counterflow", 1) and not repeats(load_suite("demo"), "doorway", 1)


def test_copies_under_another_seed_are_copies_too(run, tmp_path):
    other = with_seed(parse(FIXED, Suite), 6)
    folder = tmp_path / "run"
    for _ in bench(Request(other, {"go": Named.of("planners", "go_to_goal")}, folder, Options(workers=0))):
        pass
    both = distinct([*run, *rows_of(folder)])
    assert sorted((row["stage"], row["seed"]) for row in both) == [("counterflow", 5), *[("drawn", s) for s in (5, 5, 5, 6, 6, 6)]]


def test_episodes_that_differ_by_chance_are_not_copies():
    noisy = [row(0, "x", 1.0), row(1, "x", 0.0), row(2, "x", 1.0)]
    assert [one["episode"] for one in distinct(noisy)] == [0, 1]


def test_an_episode_with_another_result_of_one_planner_counts_for_all_planners():
    rows = [row(k, "x", 1.0) for k in range(3)] + [row(k, "x", value, "b") for k, value in enumerate((1.0, 1.0, 0.0))]
    assert sorted((one["planner"], one["episode"]) for one in distinct(rows)) == [("a", 0), ("a", 2), ("b", 0), ("b", 2)]
    assert paired_values(rows, "success", "a", "b") == [0.0, 1.0]
    assert ranking(rows, REACHED, ["a", "b"])[2] == 2


def test_twenty_copies_of_a_pair_are_not_evidence_that_one_planner_is_better():
    rows = [row(k, "x", 1.0) for k in range(20)] + [row(k, "x", 0.0, "b") for k in range(20)]
    apart = [{**one, "start": f"{one['episode']}"} for one in rows]
    assert ranking(rows, REACHED, ["a", "b"])[0] == [] and ranking(apart, REACHED, ["a", "b"])[1][0].apart


def test_rows_without_a_start_are_kept():
    rows = [{key: value for key, value in row(k, "x", 1.0).items() if key != "start"} for k in range(3)]
    assert distinct(rows) == rows and copy_notes(rows) == []
