"""The recorded commands of a run, driven again, give its rows and recordings to the bit; nothing else does."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
import tests.cheats
from tests.installed import installed
from tests.naughty import Naughty
from tests.suites import planners, suite, write_world
from typer.testing import CliRunner

import agora.episode
from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results import recording_shards, store
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.run_check import check_run
from agora.cli.app import app
from agora.errors import InputError, UnknownNameError
from agora.interfaces.metric import Metric
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.tasks.suite import load_suite

HERE = Options(workers=0)
TRICKS = ("teleports", "moves_people", "clears_contacts", "rewrites_commands", "patches_metrics", "patches_recorder")


@pytest.fixture(scope="module")
def cut():
    """A suite that comes with Agora, cut to two stages of two episodes."""
    whole = load_suite("single_pedestrian")
    return dataclasses.replace(whole, stages=tuple(dataclasses.replace(stage, episodes=2) for stage in whole.stages[:2]))


@pytest.fixture(scope="module")
def run(cut, tmp_path_factory):
    """A finished run of a planner on this suite."""
    folder = tmp_path_factory.mktemp("checked") / "run"
    run_all(Request(cut, dict([named_planner("go_to_goal")]), folder, HERE))
    return folder


@pytest.fixture(scope="module")
def cheats(tmp_path_factory):
    """An installed package with the planner `tests.cheats.Cheat`."""
    with installed(tmp_path_factory.mktemp("site"), "cheats", Path(tests.cheats.__file__), planners__cheat="Cheat"):
        yield


@pytest.fixture
def unpatched():
    """What planners patch is as before at the end."""
    patch = pytest.MonkeyPatch()
    patch.setattr(Metric, "__call__", Metric.__call__)
    patch.setattr(agora.episode, "recorded", agora.episode.recorded)
    yield patch
    patch.undo()


@pytest.mark.parametrize("trick", TRICKS)
def test_a_planner_that_reached_into_the_world_or_into_agora_is_found(tmp_path, cheats, unpatched, trick):
    episode = load_suite("demo").part(("hall",), 1)
    run_all(Request(episode, dict([named_planner(f"cheat:trick={trick}")]), tmp_path, HERE))
    unpatched.undo()
    (driven,) = check_run(tmp_path)
    assert driven.rows == 1
    assert driven.differences[0].key == f"demo/hall/0/cheat:trick={trick}/0"


def test_episodes_of_every_kind_come_out_again(tmp_path):
    small = suite(write_world(tmp_path / "world"), episodes=2)
    levels = ("tracked",)
    some = planners("orca", "pure_pursuit+polite", "go_to_goal") | {"naughty": Named("naughty", Naughty("raises", beyond=-9.0))}
    run_all(Request(small, some, tmp_path / "run", HERE, pedestrians=levels))
    rows = store.read_rows(tmp_path / "run" / "episodes")
    assert {"planner_failed", "timeout"} <= {row["outcome"] for row in rows}
    assert {row["robot"] for row in rows} == {0, 1}
    driven = list(check_run(tmp_path / "run"))
    assert sum(some.rows for some in driven) == len(rows)
    assert [one for some in driven for one in some.differences] == []


def test_what_robots_did_to_people_comes_out_again(tmp_path):
    episode = load_suite("demo").part(("hall",), 1).compared()
    run_all(Request(episode, planners("go_to_goal"), tmp_path, HERE))
    assert store.read_rows(tmp_path / "episodes")[0]["pedestrian_displacement_max"] is not None
    (driven,) = check_run(tmp_path)
    assert (driven.rows, driven.differences) == (1, ())


def test_rows_without_a_recording_are_counted(cut, tmp_path):
    run_all(Request(cut, planners("go_to_goal"), tmp_path, dataclasses.replace(HERE, trajectories="failed")))
    kept = [row for row in store.read_rows(tmp_path / "episodes") if row["outcome"] != "reached"]
    driven = list(check_run(tmp_path))
    assert sum(some.unrecorded for some in driven) == 4 - len(kept) > 0
    assert sum(some.rows for some in driven) == len(kept)


def test_the_command_names_a_row_and_a_recording_that_were_changed_and_exits_with_1(run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    key = "single_pedestrian/frontal_approach/1/go_to_goal"
    answer = CliRunner().invoke(app, ["play", str(folder), "--check", key])
    assert (answer.exit_code, "agrees: the recorded commands of 1 rows" in answer.output) == (0, True)
    rows = next(path for path in (folder / "episodes").iterdir() if f"{key}/0" in store.keys(path))
    mark = RunFolder.read(folder).record.id or ""
    changed = [{**row, "jerk_max": row["jerk_max"] * (1 + (row["key"] == f"{key}/0"))} for row in store.read_rows(rows)]
    rows.write_bytes(store.encode_rows(changed, mark))
    tracked = folder / "trajectories" / rows.name
    kept = recording_shards.read_recordings(tracked)
    recording_shards.write_recordings(tracked, {k: dataclasses.replace(one, goal=one.goal + 0.5) for k, one in kept.items()}, mark)
    answer = CliRunner().invoke(app, ["play", str(folder), "--check"])
    assert answer.exit_code == 1
    assert f"episodes/{rows.name}: {key}/0: jerk_max is " in answer.output
    assert f"trajectories/{rows.name}: {key}/0: the recording is the stored one in the file" in answer.output


def test_a_run_of_another_version_or_of_other_files_and_episodes_that_there_are_not_are_refused(run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    with pytest.raises(UnknownNameError, match="did you mean"):
        list(check_run(folder, ["single_pedestrian/frontal_approach/1/go_to_gaol"]))
    text = (folder / "run.yaml").read_text()
    for old, new, words in (
        ("version: 0.1.0\n", "version: 0.0.1\n", "made with Agora 0.0.1, but the"),
        ("configs/pedestrians/types.yaml: ", "configs/pedestrians/types.yaml: f", "types.yaml was changed since the run"),
    ):
        (folder / "run.yaml").write_text(text.replace(old, new, 1))
        with pytest.raises(InputError, match=words):
            list(check_run(folder))
