"""A run's folder has one reader with a type for each field, and is read once when it is opened."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.naughty import Naughty
from tests.suites import plane

from agora.benchmark.bench import describe, run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results import shard
from agora.benchmark.results.open_run import open_run
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.run_record import RunRecord
from agora.config import dump, load
from agora.errors import InputError, ResultsError
from agora.registry import Named
from agora.reporting.tables import price_lines

CIRCLE = {"circle": Named("naughty", Naughty())}
ONE_BY_ONE = Options(workers=0, batch=1)
STAGES = "suite: {name: of old, stages: [{name: hall, seed: 7}, {name: den}], seed: 4}\n"


def test_a_record_is_read_as_it_was_written_and_its_mark_is_of_what_decides_the_results(tmp_path):
    request = Request(plane(), CIRCLE, tmp_path, ONE_BY_ONE, pedestrians=("truth", "view"))
    record = describe(request)
    record.write(tmp_path)
    assert RunRecord.read(tmp_path) == record and (record.episodes, record.labels) == (12, ["circle@truth", "circle@view"])
    assert replace(record, id="x", notes=("seen",), resumed_on=()).mark() == record.mark()
    assert replace(record, trajectories="none").mark() != record.mark()


def test_a_file_of_another_version_says_what_it_says(tmp_path):
    (tmp_path / "run.yaml").write_text(
        STAGES + "planners: [dwa]\ncolour: blue\nmade_on: {commit: a, cpu: b, system: c, python: d, mood: e}\n"
    )
    record = RunRecord.read(tmp_path)
    assert (record.outline.name, record.labels, record.planned, record.version) == ("of old", ["dwa"], None, None)
    assert (record.seed_of("hall"), record.seed_of("den"), record.episodes) == (7, 4, 0)
    assert record.made_on.cpu == "b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("planners: {}\n", "suite: expected"),
        ("suite: {stages: []}\nplanners: {}\n", r"suite\.name: expected"),
        ("suite: {name: a, stages: [{seed: 1}]}\nplanners: {}\n", r"suite\.stages\[0\]\.name: expected"),
        (STAGES, "planners: expected"),
        (STAGES + "planners: {}\ntrajectories: many\n", "trajectories: expected one of all, failed, none or nothing, got 'many'"),
        (STAGES + "planners: {}\nplanned: {hall: few}\n", r"planned\.hall: expected an integer"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_the_key(tmp_path, text, message):
    (tmp_path / "run.yaml").write_text(text)
    with pytest.raises(InputError, match=rf"run\.yaml: {message}"):
        RunFolder.read(tmp_path)


def test_an_opened_folder_has_read_every_shard_once_and_knows_what_is_finished(tmp_path, monkeypatch):
    request = Request(plane(episodes=3), CIRCLE, tmp_path, ONE_BY_ONE)
    keys = [row["key"] for row in run_all(request)]
    read, real = Counter(), shard.read
    monkeypatch.setattr(shard, "read", lambda path, columns=None: (read.update([path]), real(path, columns))[1])
    with open_run(tmp_path, describe(request), "", episodes=3, resume=True) as folder:
        assert sorted(folder.finished) == keys and folder.lost == {}
    assert len(read) == 9 and set(read.values()) == {1}


def test_a_run_that_goes_on_says_nothing_else_in_its_record(tmp_path):
    request = Request(plane(episodes=1), CIRCLE, tmp_path, ONE_BY_ONE)
    run_all(request)
    before = (tmp_path / "run.yaml").read_bytes()
    assert load(tmp_path / "run.yaml", dict)["resumed_on"] == []
    run_all(replace(request, resume=True))
    assert (tmp_path / "run.yaml").read_bytes() == before


def test_a_run_that_kept_scans_does_not_go_on_without(tmp_path):
    seeing = Request(plane(episodes=1), CIRCLE, tmp_path, replace(ONE_BY_ONE, record=("scan",)))
    run_all(seeing)
    with pytest.raises(ResultsError, match=r"run\.yaml: record was a list of 1, but is now nothing; a run can only be resumed"):
        run_all(replace(seeing, options=ONE_BY_ONE, resume=True))


def test_a_folder_with_rows_of_another_run_is_left_as_it_is(tmp_path):
    request = Request(plane(episodes=1), CIRCLE, tmp_path / "run", ONE_BY_ONE)
    run_all(request)
    run_all(replace(request, planners={"square": CIRCLE["circle"]}, folder=tmp_path / "other"))
    (strange,) = (tmp_path / "other" / "episodes").iterdir()
    strange.rename(tmp_path / "run" / "episodes" / "strange.parquet")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    with pytest.raises(ResultsError, match=r"strange\.parquet: contains 'plain/plane/0/square/0', which belongs to another run"):
        run_all(replace(request, resume=True))
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before


def test_nothing_reads_a_level_out_of_a_label(tmp_path):
    named = {"mine@truth": CIRCLE["circle"]}
    record = describe(Request(plane(), named, tmp_path))
    assert record.names == {"mine@truth": "mine@truth"} and record.has("mine@truth", named["mine@truth"])
    both = describe(Request(plane(), named, tmp_path, pedestrians=("truth", "view")))
    assert set(both.names) == {"mine@truth@truth", "mine@truth@view"} and set(both.names.values()) == {"mine@truth"}
    assert both.pedestrians == {"mine@truth@truth": "truth", "mine@truth@view": "view"}
    rows = [
        {"key": f"s/a/{k}/{label}/0", "suite": "s", "stage": "a", "episode": k, "seed": 1, "planner": label, "robot": 0}
        | {"pedestrians": level, "outcome": "reached", "success": 1.0, "reached": 1.0}
        for label, level in both.pedestrians.items()
        for k in range(3)
    ]
    assert [line["planner"] for line in price_lines(rows, ["truth", "view"], both.names)] == ["mine@truth"]
    assert dump(both.decides())
