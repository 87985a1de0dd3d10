"""Several runs as one: planners are paired on episodes that are the same, on no others, and what differs is said."""

from __future__ import annotations

import html
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.suites import plane, planners

from agora.benchmark._extension import extended_request
from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.request_form import RequestForm
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.run_record import RunRecord
from agora.benchmark.results.store import read_rows, write_rows
from agora.config import dump
from agora.errors import InputError, ResultsError, UnknownNameError
from agora.registry import Named
from agora.reporting.merged_runs import merged
from agora.reporting.report import report
from agora.reporting.run_comparison import differences, write_comparison
from agora.reporting.statistics import paired_values
from agora.seeds import derived
from agora.tasks.suite import with_seed

SUITE = plane(episodes=3, timeout=4.0)
HERE = Options(workers=0)


def ran(folder, *texts, suite=SUITE, **more):
    run_all(Request(suite, planners(*texts), folder, HERE, **more))
    return folder


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return ran(tmp_path_factory.mktemp("first") / "spring", "go_to_goal", "pure_pursuit")


def pairs(found, *labels):
    """The number of episodes on which two planners are paired."""
    return len(paired_values(found.rows, "path_length", *labels))


def changed(run, place, old, new):
    """A copy of a run whose record reads otherwise."""
    copy = shutil.copytree(run, place)
    text = (copy / "run.yaml").read_text()
    assert old in text
    (copy / "run.yaml").write_text(text.replace(old, new, 1))
    return copy


def test_runs_of_other_code_of_agora_are_paired_but_no_planner_is_the_same_in_both_and_a_note_names_the_files(first, tmp_path):
    code = RunRecord.read(first).packages["agora-nav"]
    other = changed(first, tmp_path / "autumn", code, "0.1.0, code 00")
    listed = (other / "code.txt").read_text().splitlines()
    at = next(k for k, line in enumerate(listed) if line.endswith("  agora/planners/local/go_to_goal.py"))
    (other / "code.txt").write_text("".join(f"{line}\n" for line in [*listed[:at], "00" + listed[at], *listed[at + 1 :]]))
    found = merged([first, other])
    assert found.planners == [f"{name} ({run})" for run in ("spring", "autumn") for name in ("go_to_goal", "pure_pursuit")]
    assert pairs(found, "go_to_goal (spring)", "pure_pursuit (autumn)") == 3
    notes = " ".join(found.notes)
    assert f"pure_pursuit: packages.agora-nav is '{code}' in spring and '0.1.0, code 00' in autumn." in notes
    assert re.search(
        r"different code \(commits .*\): agora/planners/local/go_to_goal\.py \(changed\)\. Episodes that "
        r"this code",
        notes,
    )


def test_planners_of_two_runs_are_paired_where_the_episodes_are_the_same(first, tmp_path):
    other = ran(tmp_path / "autumn", "pure_pursuit", "pure_pursuit:speed=0.5")
    found = merged([first, other])
    assert found.planners == ["go_to_goal", "pure_pursuit", "pure_pursuit:speed=0.5"]
    assert len(found.rows) == 9 and not found.problems and not found.incomplete
    assert pairs(found, "go_to_goal", "pure_pursuit:speed=0.5") == 3
    said = "\n".join(found.notes)
    assert "The same episodes in spring and autumn, on which planners are paired: plane." in said
    assert "pure_pursuit is the same in spring and autumn; its rows are included once." in said
    own = {row["key"]: row for row in read_rows(other / "episodes")}
    assert all(row == own[found.places[row["key"]][1]] for row in found.rows if found.places[row["key"]][0] == other)


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        (replace(SUITE, version=2), "version of the suite is 1 in spring and 2 in autumn"),
        (replace(SUITE, name="plainer"), "suite is 'plain' in spring and 'plainer' in autumn"),
        (plane(episodes=3, timeout=4.0, safety=0.3), r"stage\.safety is 0\.25 in spring and 0\.3 in autumn"),
    ],
)
def test_episodes_of_another_version_suite_or_stage_are_not_paired(first, tmp_path, suite, reason):
    found = merged([first, ran(tmp_path / "autumn", "go_to_goal", suite=suite)])
    assert found.planners == ["go_to_goal (spring)", "pure_pursuit", "go_to_goal (autumn)"]
    assert {row["stage"] for row in found.rows if row["planner"] == "go_to_goal (autumn)"} == {"plane (autumn)"}
    assert len(found.rows) == 9 and pairs(found, "pure_pursuit", "go_to_goal (autumn)") == 0
    assert pairs(found, "pure_pursuit", "go_to_goal (spring)") == 3
    assert re.search(f"plane \\(autumn\\): {reason}: the episodes differ and are not paired", "\n".join(found.notes))
    assert "go_to_goal (autumn) minus go_to_goal (spring): the runs have no episode in common" in differences(found)


def test_planners_of_runs_of_two_seeds_have_the_episodes_of_both(first, tmp_path):
    found = merged([first, ran(tmp_path / "b", "go_to_goal", suite=replace(SUITE, seed=6))], ["seed 5", "seed 6"])
    assert found.planners == ["go_to_goal", "pure_pursuit"]
    assert [row["stage"] for row in found.rows if row["planner"] == "go_to_goal"] == ["plane"] * 3 + ["plane (seed 6)"] * 3
    assert pairs(found, "go_to_goal", "pure_pursuit") == 3
    said = "\n".join(found.notes)
    assert "plane (seed 6): seed is 5 in seed 5 and 6 in seed 6: the episodes differ and are not paired." in said
    assert "go_to_goal is the same in seed 5 and seed 6; its episodes are counted for each seed." in said


def test_episodes_in_places_of_another_seed_are_not_paired_but_have_the_same_planner(tmp_path):
    source = Named.of("worlds", "generated", count=2, seed=9)
    suite = replace(SUITE, stages=(replace(SUITE.stages[0], world=source, timeout=1.0, episodes=2),))
    elsewhere = replace(suite, stages=(replace(suite.stages[0], world=Named("generated", source.part.seeded(8))),))
    runs = [ran(tmp_path / str(k), "go_to_goal", suite=one) for k, one in enumerate((suite, with_seed(suite, 6), elsewhere))]
    assert RunRecord.read(runs[1]).suite["stages"][0]["world"]["seed"] == derived("places", "6", "9")
    for other, reason in (("1", "seed is 5 in 0 and 6 in 1"), ("2", "seed of the places is 9 in 0 and 8 in 2")):
        found = merged([runs[0], tmp_path / other])
        assert found.planners == ["go_to_goal"] and len(found.rows) == 4
        assert f"plane ({other}): {reason}: the episodes differ and are not paired." in found.notes
    assert re.search(r"Seeds of the places</\w+>\s*<\w+>9</", report(runs[0]).read_text())


def test_runs_of_another_agora_or_with_a_changed_file_are_not_paired(first, tmp_path):
    file = next(name for name in RunRecord.read(first).inputs if "robots" in name)
    digest = RunRecord.read(first).inputs[file]
    for old, new, reason in (
        ("\nversion: 0", "\nversion: 77", "Agora is '0.1.0' in spring and '77.1.0' in old"),
        (digest, "f" * 32, f"files.{file} is '{digest}' in spring and '{'f' * 32}' in old"),
        ("  name: plain\n", "  name: plain\n  stage_of: nothing\n", ""),
    ):
        found = merged([first, changed(first, tmp_path / "old", old, new)])
        assert (pairs(found, found.planners[0], found.planners[-1]) == 0) == bool(reason)
        assert reason in "\n".join(found.notes)
        shutil.rmtree(tmp_path / "old")


def test_a_planner_of_the_same_label_with_other_parameters_has_two_labels_and_is_paired_with_itself(first, tmp_path):
    other = changed(first, tmp_path / "autumn", "    lookahead: 0.8\n", "    lookahead: 0.7\n")
    found = merged([first, other])
    assert found.planners == ["go_to_goal", "pure_pursuit (spring)", "pure_pursuit (autumn)"]
    assert pairs(found, "pure_pursuit (spring)", "pure_pursuit (autumn)") == 3
    assert "pure_pursuit: parameters.lookahead is 0.8 in spring and 0.7 in autumn." in found.notes


def test_what_planners_know_of_people_is_theirs_and_the_episodes_stay_the_same(first, tmp_path):
    known = merged([first, ran(tmp_path / "autumn", "pure_pursuit", suite=plane(episodes=3, timeout=4.0, pedestrians="visible"))])
    assert known.planners == ["go_to_goal", "pure_pursuit (spring)", "pure_pursuit (autumn)"]
    assert pairs(known, "pure_pursuit (spring)", "pure_pursuit (autumn)") == 3
    assert any("knowledge of pedestrians.plane.source is 'truth' in spring and 'visible' in autumn" in note for note in known.notes)
    levels = merged([first, ran(tmp_path / "levels", "social_force", pedestrians=("truth", "view"))])
    assert levels.planners == ["go_to_goal", "pure_pursuit", "social_force@truth", "social_force@view"]
    assert levels.names["social_force@view"] == "social_force" and pairs(levels, "social_force@truth", "social_force@view") == 3


def test_the_same_planner_with_other_results_is_not_taken_for_the_same(first, tmp_path):
    more = ran(tmp_path / "autumn", "go_to_goal", suite=plane(episodes=4, timeout=4.0))
    found = merged([first, more])
    assert len(found.rows) == 7 and "plane (3 and 4 episodes)" in "\n".join(found.notes)
    again = shutil.copytree(first, tmp_path / "summer")
    path = next((again / "episodes").iterdir())
    rows = read_rows(path)
    rows[0]["path_length"] += 0.5
    write_rows(path, rows, run=RunRecord.read(again).id)
    strange, label = merged([first, again]), rows[0]["planner"]
    assert len(strange.rows) == 9 and not strange.problems
    assert {f"{label} (spring)", f"{label} (summer)"} < set(strange.planners)
    assert f"{label}: 1 of the episodes in both spring and summer have different results for the same planner." in strange.notes


def test_a_run_alone_is_as_it_is_and_the_same_one_twice_is_refused(first, tmp_path):
    alone = merged([first])
    assert (alone.planners, alone.notes) == (["go_to_goal", "pure_pursuit"], [])
    assert sorted(row["key"] for row in alone.rows) == sorted(row["key"] for row in read_rows(first / "episodes"))
    with pytest.raises(InputError, match="given twice"):
        merged([first, first.parent / "." / "spring"])
    with pytest.raises(ResultsError, match=r"no run\.yaml"):
        merged([first, tmp_path])


def test_runs_whose_folders_have_one_name_are_told_apart_by_more_of_the_path(first, tmp_path):
    other = changed(first, tmp_path / "b" / "spring", "    lookahead: 0.8\n", "    lookahead: 0.7\n")
    found = merged([first, other])
    assert found.planners[-1] == "pure_pursuit (b-spring)"


def test_the_page_of_a_comparison_plays_each_failure_from_the_run_that_it_is_of(first, tmp_path):
    other = changed(first, tmp_path / "autumn two", "    lookahead: 0.8\n", "    lookahead: 0.7\n")
    found = merged([first, other])
    failures = [row for row in found.rows if row["outcome"] != "reached" and row["planner"] == "pure_pursuit (autumn two)"]
    page = html.unescape(write_comparison(found, tmp_path / "page.html").read_text())
    assert failures
    for row in failures:
        assert f"agora play '{other}' plain/plane/{row['episode']}/pure_pursuit<" in page


def test_the_page_of_a_comparison_says_what_is_the_same_and_plays_episodes_of_both_runs(first, tmp_path):
    other = ran(tmp_path / "autumn", "pure_pursuit:speed=0.5", suite=plane(episodes=3, timeout=4.0))
    found = merged([first, other])
    page = write_comparison(found, tmp_path / "new" / "page.html", "pure_pursuit").read_text()
    assert all(note in page for note in found.notes) and "Differences from pure_pursuit" in page
    assert all(f'data-value="{label}"' in page for label in found.planners)
    assert page.count("plain/plane/0/pure_pursuit:speed=0.5/0") > 0 and "Planning time, ms" in page
    (line,) = [line for line in differences(found, "pure_pursuit") if "speed" in line]
    assert re.match(r"pure_pursuit:speed=0\.5 minus pure_pursuit: reached [-+]\d+\.\d points \[.*\] of 3", line)
    with pytest.raises(UnknownNameError, match="pure_pursuit"):
        write_comparison(found, tmp_path / "page.html", "pure_pursiut")


def test_planners_are_added_to_a_finished_run_and_its_rows_stay(first, tmp_path):
    run = shutil.copytree(first, tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (run / "episodes").iterdir()}
    request = extended_request(Request(SUITE, planners("pure_pursuit:speed=0.5"), run, HERE))
    rows = run_all(request)
    labels = ["go_to_goal", "pure_pursuit", "pure_pursuit:speed=0.5"]
    assert sorted({row["planner"] for row in rows}) == labels and len(rows) == 9
    assert all((run / "episodes" / name).read_bytes() == data for name, data in before.items())
    record = RunRecord.read(run)
    assert record.labels == labels and record.earlier == (RunRecord.read(first).id,) and record.id != record.earlier[0]
    assert audit_run(run).problems() == []
    whole = ran(tmp_path / "whole", *labels)
    assert rows == sorted(read_rows(whole / "episodes"), key=lambda row: row["key"])
    again = run_all(extended_request(Request(SUITE, planners("go_to_goal:speed=0.5"), run, HERE)))
    assert len(again) == 12 and len(RunRecord.read(run).earlier) == 2
    assert len(run_all(replace(request, planners=planners("go_to_goal:speed=0.5", *reversed(labels)), begun=()))) == 12


def test_planners_are_not_added_to_a_run_that_was_made_of_something_else(first, tmp_path):
    run = shutil.copytree(first, tmp_path / "run")
    more = planners("pure_pursuit:speed=0.5")
    for suite, reason in ((replace(SUITE, seed=8), "suite.seed was 5, but is now 8"), (plane(episodes=9), "stages")):
        with pytest.raises(ResultsError, match=reason):
            run_all(extended_request(Request(suite, more, run, HERE)))
    with pytest.raises(InputError, match="pedestrians: the run in"):
        extended_request(Request(SUITE, more, run, HERE, pedestrians=("view",)))
    record = RunRecord.read(run)
    file = next(iter(record.inputs))
    replace(record, inputs={**record.inputs, file: "0" * 32}).write(run)
    with pytest.raises(ResultsError, match=f"{file} was changed since the run started"):
        run_all(extended_request(Request(SUITE, more, run, HERE)))
    record.write(run)
    slow = {"pure_pursuit": planners("pure_pursuit:speed=0.5")["pure_pursuit:speed=0.5"]}
    with pytest.raises(
        ResultsError, match=r"already contains a planner called 'pure_pursuit': pure_pursuit\.speed was nothing, but is now 0\.5"
    ):
        extended_request(Request(SUITE, slow, run, HERE))
    with pytest.raises(ResultsError, match=r"no run\.yaml"):
        extended_request(Request(SUITE, more, tmp_path / "nowhere", HERE))


def test_an_interplanner_of_the_run_stays_in_front_of_its_planner(tmp_path):
    run = ran(tmp_path / "run", "pure_pursuit+polite", suite=plane(episodes=1))
    rows = run_all(extended_request(Request(plane(episodes=1), planners("go_to_goal"), run, HERE)))
    assert [row["planner"] for row in rows] == ["go_to_goal", "pure_pursuit+polite"]


def test_a_part_of_a_suite_has_its_episodes_says_so_and_is_paired_with_the_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one = plane(episodes=3, timeout=4.0).stages[0]
    suite = replace(SUITE, stages=(one, replace(one, name="field", episodes=2), replace(one, name="hill", episodes=1)))
    Path("whole.yaml").write_text(dump(suite))
    form = RequestForm("whole.yaml", ("go_to_goal",), workers=0, output=Path("whole"))
    whole = {row["key"]: row for row in run_all(form.request())}
    part = replace(form, output=Path("part"), stages=("field", "plane"), episodes=2)
    rows = run_all(part.request())
    assert [row["key"].rpartition("/go")[0] for row in rows] == ["plain/field/0", "plain/field/1", "plain/plane/0", "plain/plane/1"]
    assert all(row == whole[row["key"]] for row in rows)
    said = "A part of the suite: plane (2 of 3 episodes), field (2 of 2 episodes); not hill."
    assert RunRecord.read(Path("part")).part == said and RunRecord.read(Path("whole")).part == ""
    assert said in report(Path("part")).read_text() and "A part of" not in report(Path("whole")).read_text()
    first = replace(RunRecord.read(Path("part")), planned={"plane": 1, "field": 1}, whole={"plane": 3, "field": 3})
    assert first.part == "A part of the suite: 1 of 3 episodes of each stage."
    some = replace(first, whole={"plane": 3, "field": 3, "hill": 1})
    assert some.part == "A part of the suite: 1 of 3 episodes of each of plane, field; not hill."
    found = merged([Path("part"), Path("whole")])
    assert len(found.rows) == 6 and found.planners == ["go_to_goal"] and any(said in note for note in found.notes)
    with pytest.raises(UnknownNameError, match="did you mean 'field'"):
        replace(part, stages=("feld",)).request()
    with pytest.raises(InputError, match="at least 1"):
        replace(part, episodes=0).request()
