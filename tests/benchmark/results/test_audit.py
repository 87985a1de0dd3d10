"""The report of what a run lacks: on the page, on the command line, and before it is resumed."""

from __future__ import annotations

import shutil

import pytest
from tests.naughty import Naughty
from tests.suites import plane, results

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results import shard, store
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.recordings import recordings
from agora.errors import ResultsError
from agora.registry import Named
from agora.reporting.report import report
from agora.robots.model import load_robot
from agora.tasks.suite import with_seed

PLANNERS = {"circle": Named("naughty", Naughty()), "oval": Named("naughty", Naughty(after=5))}
SUITE = plane(episodes=5, timeout=2.0)
ONE_EACH = Options(workers=0, batch=1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of two planners with one episode a shard."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_all(Request(SUITE, PLANNERS, folder, ONE_EACH))
    return folder


@pytest.fixture
def run(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "run")


def shard_of(folder, planner, episode):
    return next(
        read.path
        for read in store.shards(folder / "episodes", ["key", "planner", "episode"])
        if [(row["planner"], row["episode"]) for row in read.rows] == [(planner, episode)]
    )


def lead(folder):
    return report(folder).read_text().partition('<p class="lead">')[2].partition("</p>")[0]


def test_a_whole_run_has_nothing_to_say(run):
    found = audit_run(run)
    assert found.problems() == [] and len(found.rows) == 10 and found.planned == {"plane": 5}
    assert 'role="alert"' not in report(run).read_text() and "Which planner reached the most goals?" in report(run).read_text()


def test_missing_rows_are_said_with_their_places_and_nobody_is_named_best(run):
    for episode in (0, 2, 3):
        shard_of(run, "oval", episode).unlink()
    assert audit_run(run).problems() == ["oval: 3 of 5 planned episodes have no row: plane 0, 2 to 3"]
    assert "oval: 3 of 5 planned episodes have no row: plane 0, 2 to 3" in report(run).read_text()
    assert "no best planner is named" in lead(run) and "Which planner reached the most goals?" not in report(run).read_text()


def test_nobody_is_named_best_where_all_planners_lack_the_same_rows(run):
    for planner in PLANNERS:
        shard_of(run, planner, 1).unlink()
    assert "no best planner is named" in lead(run)


def test_a_damaged_shard_is_named_and_its_episodes_are_missing(run):
    path = shard_of(run, "circle", 4)
    path.write_bytes(path.read_bytes()[:-50])
    missing, damaged = audit_run(run).problems()
    assert missing == "circle: 1 of 5 planned episodes have no row: plane 4"
    assert damaged == f"episodes/{path.name}: truncated or changed since it was written; its rows are left out"
    assert damaged in report(run).read_text()


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(
    ("suite", "planners", "episodes"),
    [
        (plane(episodes=1, timeout=2.0), {"square": PLANNERS["circle"]}, (0,)),
        (with_seed(SUITE, 6), PLANNERS, (3, 4)),
        (plane(episodes=7, timeout=2.0), PLANNERS, (5, 6)),
    ],
)
def test_shards_of_another_run_are_not_counted_and_keep_a_run_from_being_resumed(run, tmp_path, suite, planners, episodes, marked):
    run_all(Request(suite, planners, tmp_path / "other", ONE_EACH))
    for read in store.shards(tmp_path / "other" / "episodes"):
        if read.rows[0]["episode"] in episodes:
            table = shard.read(read.path).replace_schema_metadata(None)
            shard.write(run / "episodes" / f"copy_of_{read.path.name}", shard.encode(table, run=read.run if marked else ""))
    count = len(planners) * len(episodes)
    found = audit_run(run)
    assert len(found.rows) == 10 and sum(found.foreign.values()) == count
    assert [words.partition(": ")[2] for words in found.problems()] == ["1 row belongs to another run and is left out"] * count
    page = report(run).read_text()
    assert "1 row belongs to another run and is left out" in page and ", 10 episodes." in lead(run)
    with pytest.raises(ResultsError, match=r"copy_of_\w+\.parquet: contains 'plain.* which belongs to another run; move the file"):
        run_all(Request(SUITE, PLANNERS, run, ONE_EACH, resume=True))
    assert len(list((run / "episodes").glob("copy_of_*"))) == count


def test_shards_of_a_run_with_another_robot_are_told_by_their_mark(run, tmp_path):
    other = plane(episodes=5, timeout=2.0, robot="burger")
    run_all(Request(other, PLANNERS, tmp_path / "other", ONE_EACH))
    for part in store.PARTS:
        for path in (tmp_path / "other" / part).iterdir():
            shutil.copy(path, run / part / f"copy_of_{path.name}")
    found = audit_run(run)
    assert {row["model"] for row in found.rows} == {"jackal"} and sum(found.foreign.values()) == len(found.rows) == 10
    radii = {round(recording.radius, 3) for recording in recordings(run, [row["key"] for row in found.rows]).values()}
    assert radii == {round(load_robot("jackal").radius, 3)}
    own = shard_of(run, "circle", 2)
    own.unlink()
    shutil.copy(tmp_path / "other" / "episodes" / own.name, own)
    assert "circle: 1 of 5 planned episodes have no row: plane 2" in audit_run(run).problems()
    with pytest.raises(ResultsError, match="which belongs to another run; move the file"):
        run_all(Request(SUITE, PLANNERS, run, ONE_EACH, resume=True))


@pytest.mark.parametrize(("part", "words"), [("timing", "planning times"), ("trajectories", "trajectories and cannot be replayed")])
def test_lost_timing_and_trajectories_are_said_and_a_resumed_run_has_them_again(run, whole, tmp_path, caplog, part, words):
    first, second = (shard_of(run, "circle", k).name for k in (1, 3))
    (run / part / first).unlink()
    (run / part / second).write_bytes(b"rotten")
    said = audit_run(run).problems()
    assert said == [f"{part}/{second}: truncated or changed since it was written", f"2 of 10 rows lack {words}"]
    assert said[1] in report(run).read_text()
    run_all(Request(SUITE, PLANNERS, run, ONE_EACH, resume=True))
    assert caplog.text.count(f"its rows lack {part}; its episodes are run again") == 2
    assert audit_run(run).problems() == []
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    assert results(run, tmp_path / "a") == results(whole, tmp_path / "b")


def test_trajectories_that_nobody_asked_for_are_not_missed_but_a_run_is_resumed_as_it_was_begun(tmp_path):
    begun = Options(workers=0, trajectories="failed")
    rows = run_all(Request(SUITE, PLANNERS, tmp_path, begun))
    assert any(row["outcome"] != "reached" for row in rows)
    assert audit_run(tmp_path).problems() == []
    with pytest.raises(ResultsError, match="trajectories was 'failed', but is now 'all'"):
        run_all(Request(SUITE, PLANNERS, tmp_path, ONE_EACH, resume=True))
    for path in (tmp_path / "trajectories").iterdir():
        path.unlink()
    assert len(audit_run(tmp_path).unrecorded) == sum(row["outcome"] != "reached" for row in rows)
