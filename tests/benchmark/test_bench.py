"""A run is the same however it is run, killed and resumed; what stands in its way is said before the first episode."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from tests.naughty import Naughty
from tests.suites import plane, planners, results, suite, write_world

from agora.benchmark.bench import jobs_for, run_all
from agora.benchmark.executors.processes import Processes
from agora.benchmark.provenance.resumption import exclusive_access
from agora.benchmark.request import Options, Request
from agora.benchmark.results import recording_shards, store
from agora.benchmark.results.run_folder import episodes_kept
from agora.benchmark.results.store import PARTS
from agora.cli.stopping import stoppable
from agora.config import dump, load
from agora.errors import InputError, PlacementError, ResultsError, StoppedError
from agora.registry import Named
from agora.tasks.suite import with_seed

AGORA = [sys.executable, "-c", "from agora.cli.app import main; main()"]
CIRCLE = {"circle": Named("naughty", Naughty())}


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """A suite, and rows and recordings of a run of it in this process."""
    folder = tmp_path_factory.mktemp("reference")
    small = suite(write_world(folder / "room"), episodes=8, timeout=3.0)
    (folder / "small.yaml").write_text(dump(small))
    chosen = planners("orca", "go_to_goal")
    run_all(Request(small, chosen, folder / "run", Options(workers=0)))
    return SimpleNamespace(folder=folder, suite=small, planners=chosen, results=results(folder / "run", folder))


@pytest.mark.parametrize(
    "options",
    [
        Options(workers=1, worlds=1),
        Options(workers=2, batch=3, threads=2, slots=64),
        Options(workers=0, batch=1, slots=128),
        Options(executor=Processes(workers=3), batch=4),
    ],
)
def test_rows_do_not_depend_on_how_a_run_is_run(reference, tmp_path, options):
    run_all(Request(reference.suite, reference.planners, tmp_path / "run", options))
    assert results(tmp_path / "run", tmp_path) == reference.results


def _begin(folder: Path, reference, *more: str) -> subprocess.Popen:
    arguments = ["bench", str(reference.folder / "small.yaml"), "-p", "orca", "-p", "go_to_goal", "-o", str(folder)]
    return subprocess.Popen(
        [*AGORA, *arguments, "--batch", "1", "--workers", "2", *more],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _shards(folder: Path) -> int:
    return len(list((folder / "episodes").glob("*.parquet")))


def _members(session: int) -> list[int]:
    """Processes of a session that are still alive."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


def _wait(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        Event().wait(0.002)


def _kill(process: subprocess.Popen, folder: Path, delay: float, kill: Callable[[int, int], None]) -> None:
    """Kill a run some time after its next shard, and wait until none of its processes is left."""
    before = _shards(folder)
    _wait(lambda: _shards(folder) > before or process.poll() is not None)
    Event().wait(delay)
    assert process.poll() is None, process.communicate()[1]
    kill(process.pid, signal.SIGKILL)
    process.communicate()
    _wait(lambda: not _members(process.pid))


def test_a_run_that_is_killed_at_any_moment_resumes_with_nothing_lost_and_nothing_doubled(reference, tmp_path):
    folder, moments = tmp_path / "run", random.Random(11)
    whole = {row["key"]: row for row in store.read_rows(reference.folder / "run" / "episodes")}
    process = _begin(folder, reference)
    for kill in (os.killpg, os.killpg, os.kill, os.killpg):
        _kill(process, folder, moments.uniform(0.0, 0.04), kill)
        rows = store.read_rows(folder / "episodes")
        assert not store.damaged_shards(folder / "episodes")
        assert {row["key"]: row for row in rows}.items() <= whole.items()
        assert 0 < len(rows) < len(whole)
        process = _begin(folder, reference, "--resume")
    error = process.communicate()[1]
    assert process.returncode == 0, error
    assert results(folder, tmp_path) == reference.results
    assert sorted(row["key"] for row in store.read_rows(folder / "timing")) == sorted(whole)
    assert {file.stem for file in (folder / "timing").iterdir()} == {file.stem for file in (folder / "episodes").iterdir()}


@pytest.mark.parametrize(("number", "code", "name"), [(signal.SIGINT, 130, "Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM")])
def test_a_run_that_is_stopped_says_what_is_kept_and_how_to_go_on(reference, tmp_path, number, code, name):
    folder = tmp_path / "run"
    process = _begin(folder, reference)
    _wait(lambda: _shards(folder) > 2 or process.poll() is not None)
    os.kill(process.pid, number)
    error = process.communicate()[1]
    done = len({row["key"].rpartition("/")[0] for row in store.read_rows(folder / "episodes")})
    assert process.returncode == code and 2 < done < 48
    assert (
        error == f"stopped by {name}: {done} of 48 episodes are finished and kept in {folder}; "
        "run the same command with --resume to continue\n"
    )
    _wait(lambda: not _members(process.pid))


def test_a_run_that_is_stopped_before_it_began_says_so(tmp_path):
    said = "stopped by SIGTERM: no episode was started in .*nowhere; run the same command"
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with pytest.raises(StoppedError, match=said) as caught, stoppable(lambda: episodes_kept(tmp_path / "nowhere")):
        os.kill(os.getpid(), signal.SIGTERM)
        Event().wait(5.0)
    assert caught.value.code == 143
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


def test_what_a_killed_worker_left_half_written_is_run_again_and_is_there_once(reference, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(reference.folder / "run", folder)
    gone, cut, *_ = sorted((folder / "episodes").iterdir())
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:-100])
    (folder / "episodes" / f".{gone.name}.77.part").write_bytes(b"PAR1")
    with pytest.raises(ResultsError, match="already contains a run"):
        run_all(Request(reference.suite, reference.planners, folder, Options(workers=0)))
    run_all(Request(reference.suite, reference.planners, folder, Options(workers=0, batch=3), resume=True))
    assert results(folder, tmp_path) == reference.results
    assert len(store.read_rows(folder / "timing")) == len(store.read_rows(folder / "episodes"))
    assert not list(folder.rglob("*.part"))


def test_a_run_is_resumed_only_as_it_was_begun(tmp_path):
    folder, small = tmp_path / "run", plane(episodes=2)
    run_all(Request(small, CIRCLE, folder, Options(workers=0)))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    others = {
        r"suite\.seed was 5, but is now 6": (with_seed(small, 6), CIRCLE),
        r"planners\.circle\.after was 3, but is now 4": (small, {"circle": Named("naughty", Naughty(after=4))}),
        r"planners\.square was nothing, but is now a mapping": (small, CIRCLE | {"square": Named("naughty", Naughty())}),
        r"suite\.stages\[0\]\.timeout was 1\.0, but is now 2\.0": (plane(episodes=2, timeout=2.0), CIRCLE),
    }
    for message, (other, drivers) in others.items():
        with pytest.raises(ResultsError, match=message):
            run_all(Request(other, drivers, folder, Options(workers=0), resume=True))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    rows = run_all(Request(small, CIRCLE, folder, Options(workers=0), resume=True))
    assert [row["key"] for row in rows] == ["plain/plane/0/circle/0", "plain/plane/1/circle/0"]


def test_a_machine_on_which_a_run_goes_on_is_noted(tmp_path, monkeypatch):
    small = plane(episodes=1)
    run_all(Request(small, CIRCLE, tmp_path, Options(workers=0)))
    monkeypatch.setattr("agora.benchmark.provenance.machine._cpu", lambda: "another processor")
    for _ in range(2):
        run_all(Request(small, CIRCLE, tmp_path, Options(workers=0), resume=True))
    run = load(tmp_path / "run.yaml", dict)
    assert run["made_on"]["cpu"] != "another processor"
    assert [made_on["cpu"] for made_on in run["resumed_on"]] == ["another processor"]


def test_two_runs_are_not_at_work_in_one_folder(tmp_path):
    with exclusive_access(tmp_path), pytest.raises(ResultsError, match="another run is using it"):
        run_all(Request(plane(episodes=1), CIRCLE, tmp_path, Options(workers=0)))
    assert list(tmp_path.iterdir()) == []
    assert len(run_all(Request(plane(episodes=1), CIRCLE, tmp_path, Options(workers=0)))) == 1


def test_episodes_of_an_unknown_run_are_not_built_upon(tmp_path):
    run_all(Request(plane(episodes=1), CIRCLE, tmp_path, Options(workers=0)))
    (tmp_path / "run.yaml").unlink()
    with pytest.raises(ResultsError, match=r"episodes but no run\.yaml"):
        run_all(Request(plane(episodes=1), CIRCLE, tmp_path, Options(workers=0), resume=True))


def test_a_folder_that_cannot_be_is_said_before_the_first_episode(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ResultsError, match="file/run: cannot be written: Not a directory"):
        run_all(Request(plane(), CIRCLE, tmp_path / "file" / "run"))
    with pytest.raises(ResultsError, match="file: cannot be written: File exists"):
        run_all(Request(plane(), CIRCLE, tmp_path / "file"))


def test_a_disk_without_room_is_said_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=65 * 2**20))
    with pytest.raises(ResultsError, match="65 MiB free, but 6 episodes may need 66 MiB"):
        run_all(Request(plane(), CIRCLE, tmp_path / "run"))
    assert list(tmp_path.iterdir()) == []


def test_room_is_asked_for_what_is_missing_and_what_is_kept_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=65 * 2**20))
    rows_alone = Options(workers=0, trajectories="none")
    assert len(run_all(Request(plane(), CIRCLE, tmp_path / "run", rows_alone))) == 6
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=64 * 2**20))
    with pytest.raises(ResultsError, match="64 MiB free, but 6 episodes may need 64 MiB"):
        run_all(Request(plane(), CIRCLE, tmp_path / "other", rows_alone))
    assert len(run_all(Request(plane(), CIRCLE, tmp_path / "run", rows_alone, resume=True))) == 6


def test_a_disk_that_fills_up_later_ends_the_run_with_its_name_and_the_run_can_go_on(tmp_path, monkeypatch):
    small, fsync, count = plane(episodes=4), os.fsync, [0]

    def full(handle):
        count[0] += 1
        if count[0] > 5:
            raise OSError(28, "No space left on device")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResultsError, match="No space left on device"):
        run_all(Request(small, CIRCLE, tmp_path, Options(workers=0, batch=1)))
    assert len(store.read_rows(tmp_path / "episodes")) == 1
    monkeypatch.setattr(os, "fsync", fsync)
    assert len(run_all(Request(small, CIRCLE, tmp_path, Options(workers=0, batch=1), resume=True))) == 4
    assert len(store.read_rows(tmp_path / "timing")) == 4


@pytest.mark.parametrize(
    ("small", "drivers", "error", "message"),
    [
        (plane(), {}, InputError, "no planner"),
        (plane(), {"a/b": Named("naughty", Naughty())}, InputError, "label of printable characters without '/'"),
        (plane(episodes=1, robots={"name": "random", "distance": 300.0}), CIRCLE, PlacementError, "plain/plane/0: .*no goal 300"),
        (plane(robots="scenario"), CIRCLE, InputError, "plain/plane/0: .*has no scenario"),
        (plane(obstacles="replay"), CIRCLE, InputError, "plain/plane/0: .*no recorded pedestrians"),
        (
            plane(robot=["jackal", "burger"]),
            CIRCLE,
            InputError,
            "plain/plane/0: robot: expected one model or one per robot, got 2 models for 1 robots",
        ),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_written(tmp_path, small, drivers, error, message):
    with pytest.raises(error, match=message):
        run_all(Request(small, drivers, tmp_path / "run"))
    assert list(tmp_path.iterdir()) == []


def test_jobs_hold_what_is_missing_of_one_stage_and_planner_evenly_over_the_workers():
    small = plane(episodes=10)
    finished = {"plain/plane/3/circle/0", "plain/plane/4/circle/0"}
    jobs = jobs_for(small, CIRCLE, finished, Options(workers=3, batch=64))
    assert [job.episodes for job in jobs] == [(0, 1, 2), (5, 6, 7), (8, 9)]
    assert [len(job.episodes) for job in jobs_for(small, CIRCLE, set(), Options(workers=0, batch=4))] == [4, 4, 2]
    assert len({job.name for job in jobs}) == 3


@pytest.mark.parametrize("keep", ["all", "none", "failed"])
def test_the_recordings_that_are_asked_for_are_kept(tmp_path, keep):
    rows = run_all(Request(plane(timeout=3.0), planners("go_to_goal"), tmp_path, Options(workers=0, trajectories=keep)))
    failed = [row["key"] for row in rows if row["outcome"] != "reached"]
    assert 0 < len(failed) < 6
    kept = [key for shard in (tmp_path / "trajectories").glob("*") for key in recording_shards.read_recordings(shard)]
    assert sorted(kept) == {"all": [row["key"] for row in rows], "none": [], "failed": failed}[keep]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*PARTS, "code.txt", "run.yaml"])


def test_every_planner_runs_at_every_level_of_perception_with_the_same_episodes(reference, tmp_path):
    levels = ("truth", "visible", "tracked")
    chosen = planners("orca")
    found = run_all(Request(reference.suite, chosen, tmp_path / "run", Options(workers=0), pedestrians=levels))
    assert {(row["planner"], row["pedestrians"]) for row in found} == {(f"orca@{level}", level) for level in levels}
    plain = {row["key"]: row for row in store.read_rows(reference.folder / "run" / "episodes")}
    same = different = 0
    for row in found:
        twin = plain[row["key"].replace(row["planner"], "orca")]
        assert row["seed"] == twin["seed"]
        if row["pedestrians"] == "truth":
            assert {k: v for k, v in row.items() if k not in ("key", "planner")} == {
                k: v for k, v in twin.items() if k not in ("key", "planner")
            }
        same += row["duration"] == twin["duration"]
        different += row["path_length"] != twin["path_length"]
    assert same > 0 < different
    with pytest.raises(ResultsError, match="orca@visible"):
        run_all(Request(reference.suite, chosen, tmp_path / "run", Options(workers=0), pedestrians=levels[:1], resume=True))


def test_what_a_stage_says_of_pedestrians_is_in_its_rows(reference, tmp_path):
    small = suite(write_world(tmp_path / "room"), episodes=1, timeout=1.0, crowds=("helbing",), pedestrians="tracked")
    found = run_all(Request(small, planners("go_to_goal"), tmp_path / "run", Options(workers=0)))
    assert {row["pedestrians"] for row in found} == {"tracked"}


def test_parameters_of_perception_in_a_stage_change_what_planners_are_told_and_stay_with_another_level(tmp_path):
    world = write_world(tmp_path / "room")
    blind = {"source": "tracked", "detector": {"reach": 0.05}}
    seeing, unseeing = (
        suite(world, episodes=2, timeout=3.0, crowds=("helbing",), pedestrians=told) for told in ("tracked", blind)
    )  # nobody is within 5 cm of the sensor

    def lengths(chosen, name, levels=()):
        found = run_all(Request(chosen, planners("orca"), tmp_path / name, Options(workers=0), pedestrians=levels))
        return [row["path_length"] for row in found], {row["pedestrians"] for row in found}

    told = lengths(seeing, "seeing")
    untold = lengths(unseeing, "unseeing")
    assert told[1] == untold[1] == {"tracked"}
    assert told[0] != untold[0]
    assert lengths(unseeing, "again", ("tracked",)) == untold
    assert lengths(unseeing, "truth", ("truth",))[1] == {"truth"}
