"""The blind control: it stands beside planners that see people, where there are some."""

from __future__ import annotations

import dataclasses

import pytest

from agora.benchmark.bench import describe, run_all
from agora.benchmark.control import CONTROL, with_control
from agora.benchmark.request import Request
from agora.benchmark.request_form import RequestForm
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.reporting.report import report
from agora.tasks.suite import load_suite


def labels(suite, folder, *texts, resume=False):
    return list(with_control(suite, dict(named_planner(text) for text in texts), folder, resume))


def empty():
    """The demo without pedestrians."""
    suite = load_suite("demo")
    nobody = Named.of("obstacles_modes", "none")
    return dataclasses.replace(suite, stages=tuple(dataclasses.replace(stage, obstacles=nobody) for stage in suite.stages[:1]))


@pytest.mark.parametrize("others", [("orca",), ("orca", "dwa+polite"), ("social_force",)])
def test_beside_planners_that_see_people_stands_one_that_sees_nobody(tmp_path, others):
    assert labels(load_suite("demo"), tmp_path, *others) == [*others, CONTROL]


@pytest.mark.parametrize("others", [("orca", "go_to_goal"), ("pure_pursuit",), ("orca", "pure_pursuit:speed=0.5")])
def test_who_is_blind_already_needs_no_other(tmp_path, others):
    assert labels(load_suite("demo"), tmp_path, *others) == list(others)


def test_where_nobody_is_there_is_nothing_to_be_blind_to(tmp_path):
    assert labels(empty(), tmp_path, "orca") == ["orca"]


def test_a_run_is_resumed_with_or_without_it_as_it_was_begun(tmp_path):
    suite = load_suite("demo")
    both = dict(named_planner(text) for text in ("orca", CONTROL))
    for levels, begun, there in (((), ("orca",), ["orca"]), (("truth", "view"), ("orca", CONTROL), ["orca", CONTROL])):
        request = Request(suite, {label: both[label] for label in begun}, tmp_path, pedestrians=levels)
        describe(request).write(tmp_path)
        assert labels(suite, tmp_path, "orca", resume=True) == there
    assert labels(suite, tmp_path / "new", "orca", resume=True) == ["orca", CONTROL]


def test_the_record_of_a_run_says_which_planner_nobody_asked_for_and_it_runs_at_one_level_alone(tmp_path):
    for asked, control in ((("orca",), (f"{CONTROL}@view",)), (("orca", CONTROL), None)):
        form = RequestForm("demo", asked, output=tmp_path / "run", pedestrians=("view", "truth"))
        described = describe(form.request())
        assert described.control == control
        again = ["orca@view", "orca@truth", f"{CONTROL}@view"] + [f"{CONTROL}@truth"] * (control is None)
        assert described.labels == again and list(described.pedestrians) == again


def test_the_report_is_about_the_planner_that_was_asked_for_and_then_about_the_one_that_sees_nobody(tmp_path):
    run_all(RequestForm("demo", ("orca",), output=tmp_path, stages=("doorway",), episodes=2, workers=0).request())
    page = report(tmp_path).read_text(encoding="utf-8")
    head = page[: page.index('class="facts"')]
    assert head.index("How often did orca reach the goal?") < head.index(f"{CONTROL}, which does not see people")
    assert "sees nobody, a measure" in page
