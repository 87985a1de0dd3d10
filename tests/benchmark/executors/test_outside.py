"""Benchmarks whose episodes are played outside, here by the episode loop itself."""

from __future__ import annotations

import pytest
from tests.played import recordings, small_suite
from tests.suites import planners, results

from agora.benchmark.bench import bench, run_all
from agora.benchmark.events import Advanced
from agora.benchmark.executors.outside import EpisodeLostError, Outside
from agora.benchmark.request import Options, Request
from agora.benchmark.results import store
from agora.benchmark.results.run_folder import RunFolder
from agora.errors import InputError, ResultsError
from agora.reporting.report import report


def outside(suite, label, folder, play, **how):
    """The request that a suite is played outside."""
    return Request.outside(suite, label, folder, Outside(play), **how)


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return small_suite(tmp_path_factory.mktemp("world") / "room")


def test_rows_are_those_of_a_benchmark_in_this_process(suite, tmp_path):
    run_all(Request(suite, planners("go_to_goal"), tmp_path / "here", Options(workers=0)))
    run_all(outside(suite, "go_to_goal", tmp_path / "there", lambda stage, k: recordings(suite, stage, k, "go_to_goal")))
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    assert results(tmp_path / "here", tmp_path / "a") == results(tmp_path / "there", tmp_path / "b")


def test_what_was_lost_is_listed_and_played_when_the_run_is_resumed(suite, tmp_path):
    played = []

    def play(stage, episode):
        played.append(episode)
        if episode == 1 and played.count(1) == 1:
            raise EpisodeLostError("the simulator is gone")
        return recordings(suite, stage, episode, "go_to_goal")

    rows = run_all(outside(suite, "ros", tmp_path, play))
    assert sorted({row["episode"] for row in rows}) == [0, 2]
    assert RunFolder.read(tmp_path).interrupted() == {"small/helbing/1/ros/0": "the simulator is gone"}
    with pytest.raises(ResultsError, match="continue it with --resume"):
        run_all(outside(suite, "ros", tmp_path, play))
    told = list(bench(outside(suite, "ros", tmp_path, play, resume=True)))
    assert played == [0, 1, 2, 1] and {row["episode"] for row in store.read_rows(tmp_path / "episodes")} == {0, 1, 2}
    assert [event for event in told if isinstance(event, Advanced)] == [Advanced(2, 3), Advanced(3, 3)]
    assert RunFolder.read(tmp_path).interrupted() == {}
    assert "small" in report(tmp_path).read_text()


def test_a_resumed_run_that_is_killed_has_not_forgotten_what_was_lost_before(suite, tmp_path):
    def lose(stage, episode):
        raise EpisodeLostError(f"lost {episode}")

    def play(stage, episode):
        if episode == 1:
            raise KeyboardInterrupt
        return recordings(suite, stage, episode, "go_to_goal")

    run_all(outside(suite, "ros", tmp_path, lose))
    with pytest.raises(KeyboardInterrupt):
        run_all(outside(suite, "ros", tmp_path, play, resume=True))
    assert RunFolder.read(tmp_path).interrupted() == {f"small/helbing/{k}/ros/0": f"lost {k}" for k in (1, 2)}


def test_a_label_with_a_slash_is_refused(suite, tmp_path):
    with pytest.raises(InputError, match="without '/'"):
        outside(suite, "a/b", tmp_path, lambda stage, k: [])


def test_what_a_played_episode_has_lost_cannot_be_had_again_and_that_is_said(suite, tmp_path, caplog):
    played = []

    def play(stage, episode):
        played.append(episode)
        return recordings(suite, stage, episode, "go_to_goal")

    rows = run_all(outside(suite, "ros", tmp_path, play))
    for path in (tmp_path / "trajectories").iterdir():
        path.unlink()
    assert run_all(outside(suite, "ros", tmp_path, play, resume=True)) == rows and played == [0, 1, 2]
    assert caplog.text.count("its rows lack trajectories, which cannot be restored") == 3
