"""A worker that hangs is killed, one that dies is replaced, a bad episode is given up; compiling is not hanging."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from dataclasses import replace
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import event
from tests.naughty import Fickle, Naughty, Rude, Witness
from tests.suites import plane
from typer.testing import CliRunner

from agora.benchmark.bench import bench, run_all
from agora.benchmark.events import Advanced
from agora.benchmark.executors.processes import Processes, _sendable, _watched, start_server
from agora.benchmark.job import Job, RunPlan
from agora.benchmark.request import Options, Request
from agora.benchmark.results import store
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.copies import START
from agora.benchmark.results.run_folder import RunFolder
from agora.cli.app import app
from agora.core import float_mode
from agora.episode import WORLD
from agora.errors import InputError, PlacementError, UnknownNameError
from agora.registry import Named
from agora.reporting.report import report
from agora.wire.waits import Waits

ROOT = Path(__file__).resolve().parents[3]
SUITE = plane(episodes=6)
GOALS = np.array([SUITE.start("plane", k).robots[0].goals[0][0] for k in range(6)])
BEYOND = float(np.sort(GOALS)[3:5].mean())
GUILTY = set(np.flatnonzero(GOALS > BEYOND).tolist())


def run(folder, planner, **options):
    made = Options(**{"workers": 2, "batch": 3, "deadline": 2.0} | options)
    events = list(bench(Request(SUITE, {"naughty": Named("naughty", planner)}, folder, made)))
    assert [event for event in events if isinstance(event, Advanced)][-1] == Advanced(6, 6)
    return {row["episode"]: row for row in store.read_rows(folder / "episodes")}


@pytest.fixture(scope="module")
def raised(tmp_path_factory):
    """Rows of a planner that raises in some episodes."""
    return run(tmp_path_factory.mktemp("raised"), Naughty("raises", beyond=BEYOND))


@pytest.mark.parametrize(
    ("mischief", "reason"),
    [
        ("hangs", "a call of the planner took longer than 2 s"),
        ("is_ended", "a call of the planner ended its process (exit code 7)"),
        ("crashes", "a call of the planner ended its process (exit code -6)"),
        ("forks_and_is_ended", "a call of the planner ended its process (exit code 7)"),
    ],
)
def test_a_planner_that_takes_its_worker_along_fails_like_one_that_raises(tmp_path, raised, mischief, reason):
    bad = run(tmp_path, Naughty(mischief, beyond=BEYOND))
    assert len(GUILTY) == 2 and {k for k, row in raised.items() if row["outcome"] == "planner_failed"} == GUILTY
    assert bad == {k: row | ({"failure": reason} if k in GUILTY else {}) for k, row in raised.items()}
    assert all(
        re.fullmatch(r"ZeroDivisionError: on purpose \(naughty.py, line \d+, in raises: .*\)", raised[k]["failure"]) for k in GUILTY
    )
    assert all(bad[k]["duration"] == pytest.approx(0.3) for k in GUILTY)
    assert RunFolder.read(tmp_path).interrupted() == {} and audit_run(tmp_path).problems() == []
    again = {
        row["episode"]: row
        for row in run_all(Request(SUITE, {"naughty": Named("naughty", Naughty(mischief, beyond=BEYOND))}, tmp_path, resume=True))
    }
    assert again == bad


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    ("mischief", "reason"),
    [
        ("exits", "SystemExit: on purpose"),
        ("interrupts", "KeyboardInterrupt: on purpose"),
        ("closes", "GeneratorExit: on purpose"),
        ("dies", r"ProcessExit: os\._exit\(7\)"),
    ],
)
def test_a_planner_that_raises_what_ends_a_process_fails_like_one_that_raises_an_error(tmp_path, raised, mischief, reason, workers):
    bad = run(tmp_path, Naughty(mischief, beyond=BEYOND), workers=workers)
    assert all(re.match(rf"{reason} \(naughty.py, line \d+, in {mischief}: ", bad[k]["failure"]) for k in GUILTY)
    assert bad == {k: row | ({"failure": bad[k]["failure"]} if k in GUILTY else {}) for k, row in raised.items()}
    assert RunFolder.read(tmp_path).interrupted() == {} and audit_run(tmp_path).problems() == []


@pytest.mark.parametrize(("mischief", "workers"), [("forks", 0), ("forks", 1), ("forks_one_that_dies", 0)])
def test_a_planner_that_forks_drives_on_and_its_other_self_ends(tmp_path, raised, mischief, workers):
    rows = run(tmp_path, Naughty(mischief, beyond=BEYOND), workers=workers)
    assert {k: row for k, row in rows.items() if k not in GUILTY} == {k: row for k, row in raised.items() if k not in GUILTY}
    assert len(rows) == 6 and {row["failure"] for row in rows.values()} == {""}


def test_a_planner_whose_files_leak_fails_alone(tmp_path, raised):
    planners = {
        "leaky": Named("leaky", Naughty("leaks", beyond=BEYOND)),
        "naughty": Named("naughty", Naughty("raises", beyond=BEYOND)),
    }
    rows = run_all(Request(SUITE, planners, tmp_path, Options(workers=1)))
    assert {row["episode"]: row for row in rows if row["planner"] == "naughty"} == raised
    failed = {row["episode"]: row["failure"] for row in rows if row["planner"] == "leaky" and row["failure"]}
    assert set(failed) == GUILTY and all("Too many open files" in reason for reason in failed.values())
    assert RunFolder.read(tmp_path).interrupted() == {}


def test_what_a_planner_does_to_its_process_changes_no_row_of_another_planner(tmp_path):
    planners = {"messy": Named("messy", Naughty("leaves_a_mess", after=0, beyond=-9.0)), "witness": Named("witness", Witness())}
    alone = rows_of_planner("witness", Request(SUITE, {"witness": planners["witness"]}, tmp_path / "alone", Options(workers=1)))
    both = rows_of_planner("witness", Request(SUITE, planners, tmp_path / "both", Options(workers=1, batch=3)))
    assert both == alone and len(alone) == 6
    assert {row["failure"] for row in alone.values()} == {""}
    assert RunFolder.read(tmp_path / "both").interrupted() == {}


def test_a_worker_imports_no_planner_but_that_of_its_jobs(tmp_path, monkeypatch):
    (tmp_path / "mess.py").write_text(
        "import numpy\n"
        "from dataclasses import dataclass\n"
        "from tests.naughty import Naughty\n"
        "numpy.hypot = lambda x, y: x + y\n"
        "@dataclass(frozen=True)\n"
        "class Mess(Naughty):\n    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    hypot = np.hypot
    try:
        mess = importlib.import_module("mess").Mess()
    finally:
        np.hypot = hypot
    planners = {"mess": Named("mess", mess), "witness": Named("witness", Witness())}
    rows = run_all(Request(SUITE, planners, tmp_path / "run", Options(workers=1)))
    sys.modules.pop("mess")
    assert [row["failure"] for row in rows] == [""] * 12


@pytest.mark.parametrize("words", ["bench demo --planner dwa", "bench demo", "tune dwa --suite a --held-out b"])
def test_the_process_that_workers_come_from_is_started_before_a_planner_is_imported(monkeypatch, words):
    order = []

    def imported(*_):
        order.append("planner")
        raise InputError("enough")

    monkeypatch.setattr(Processes, "prepare", lambda self: order.append("workers"))
    for name in ("control.named_planner", "request_form.runnable_planners"):
        monkeypatch.setattr(f"agora.benchmark.{name}", imported)
    monkeypatch.setattr("agora.planners.presets.named_planner", imported)
    CliRunner().invoke(app, words.split())
    assert order == ["workers", "planner"]


def rows_of_planner(label, request):
    return {row["episode"]: row for row in run_all(request) if row["planner"] == label}


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("mischief", ["rounds_up", "flushes"])
def test_a_planner_that_leaves_another_floating_point_mode_fails_and_the_engine_computes_on_as_before(
    tmp_path, raised, mischief, workers
):
    bad = run(tmp_path, Naughty(mischief, beyond=BEYOND), workers=workers)
    reason = "the call changed the floating-point mode (rounding or flush-to-zero)"
    assert all(bad[k]["failure"].startswith(reason) and bad[k]["outcome"] == "planner_failed" for k in GUILTY)
    assert bad == {k: row | ({"failure": bad[k]["failure"]} if k in GUILTY else {}) for k, row in raised.items()}
    assert float_mode.is_usual()


def test_a_floating_point_mode_that_a_planner_s_import_left_is_set_back_before_the_first_step(tmp_path, raised):
    ctypes.CDLL(None).fesetround(0x800)
    rows = run(tmp_path, Naughty("raises", beyond=BEYOND), workers=0)
    assert rows == raised and float_mode.is_usual()


def test_a_worker_that_somebody_kills_costs_its_episode_its_row_and_is_nobody_s_failure(tmp_path, raised):
    bad = run(tmp_path, Naughty("is_killed", beyond=BEYOND))
    assert bad == {k: row for k, row in raised.items() if k not in GUILTY}
    reason = "its worker died (exit code -9)"
    assert RunFolder.read(tmp_path).interrupted() == {f"plain/plane/{k}/naughty/0": reason for k in GUILTY}
    page = report(tmp_path).read_text()
    assert all(f"plain/plane/{k}/naughty/0: {reason}" in page for k in GUILTY)


def among(crowd):
    """The suite with a person each, whom a crowd model moves, and the episodes in which one wants to go beyond x = 0.5 m."""
    stage = plane(episodes=6, obstacles={"name": "random", "dynamic": [1, 1]}).stages[0]
    stage = replace(stage, crowd=replace(stage.crowd, model=Named("rude", crowd), routes=False, faithful=True))
    suite = replace(SUITE, stages=(stage,))
    first = np.array([suite.start("plane", k).pedestrians.waypoints[0, 0, 0] for k in range(6)])
    return suite, set(np.flatnonzero(first > 0.5).tolist())


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    ("mischief", "reason"),
    [
        ("raises", r"crowd model Rude: ZeroDivisionError: on purpose \\udc80 \(naughty.py, line \d+, in raises: .*\)"),
        ("is_not_finite", "crowd model Rude returned an answer with nan; expected finite numbers up to 1e.08"),
        ("rounds_up", r"crowd model Rude changed the floating-point mode \(rounding or flush-to-zero\), .*"),
        ("hangs", "a step of the world took longer than 2 s"),
    ],
)
def test_a_crowd_that_goes_wrong_costs_its_own_episodes_and_no_others(tmp_path, mischief, reason, workers):
    if mischief == "hangs" and workers == 0:
        return  # nobody watches
    rows, reasons = {}, {}
    for name in ("", mischief):
        suite, guilty = among(Rude(name, beyond=0.5))
        options = Options(workers=workers, batch=3, deadline=2.0)
        found = run_all(Request(suite, {"naughty": Named("naughty", Naughty())}, tmp_path / f"of {name}", options))
        rows[name] = {row["episode"]: row | {START: None} for row in found}  # the crowd model is a part of the start
        reasons[name] = RunFolder.read(tmp_path / f"of {name}").interrupted()
    assert 0 < len(guilty) < 6
    assert rows[mischief] == {k: row for k, row in rows[""].items() if k not in guilty} and reasons[""] == {}
    assert set(reasons[mischief]) == {f"plain/plane/{k}/naughty/0" for k in guilty}
    assert all(re.fullmatch(reason, told) for told in reasons[mischief].values())


@pytest.mark.parametrize("workers", [0, 2])
def test_an_episode_that_cannot_be_put_together_is_given_up_and_the_others_are_run(tmp_path, workers):
    x = np.array([SUITE.start("plane", k).robots[0].pose[0] for k in range(6)])
    line = float(np.sort(x)[3:5].mean())
    stage = replace(SUITE.stages[0], robots=Named("fickle", Fickle(distance=2.0, beyond=line)))
    suite, planner = replace(SUITE, stages=(stage,)), {"naughty": Named("naughty", Naughty())}
    options = Options(workers=workers, batch=3)
    rows = run_all(Request(suite, planner, tmp_path, options))
    assert [row["episode"] for row in rows] == np.flatnonzero(x <= line).tolist() and len(rows) == 4
    assert RunFolder.read(tmp_path).interrupted() == {f"plain/plane/{k}/naughty/0": "no room" for k in np.flatnonzero(x > line)}
    assert (
        run_all(Request(suite, planner, tmp_path, options, resume=True)) == rows
        and len(RunFolder.read(tmp_path).interrupted()) == 2
    )
    never = replace(suite, stages=(replace(stage, robots=Named("fickle", Fickle(beyond=-9.0))),))
    with pytest.raises(PlacementError, match="plain/plane/0: no room"):
        run_all(Request(never, planner, tmp_path / "never", options))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_planner_that_changes_the_working_directory_loses_no_row(tmp_path, monkeypatch, workers):
    monkeypatch.chdir(tmp_path)
    rows = run_all(
        Request(SUITE, {"naughty": Named("naughty", Naughty("moves", beyond=BEYOND))}, Path("here"), Options(workers=workers))
    )
    assert len(rows) == 6 and len(list((tmp_path / "here" / "episodes").glob("*.parquet"))) > 0


def test_a_run_of_which_every_episode_is_interrupted_still_has_a_report(tmp_path):
    assert run(tmp_path, Naughty("is_killed", after=0, beyond=-9.0), workers=1) == {}
    assert len(RunFolder.read(tmp_path).interrupted()) == 6
    assert report(tmp_path).is_file()


def test_compiling_longer_than_the_deadline_is_not_hanging(tmp_path):
    rows = run(tmp_path, Naughty("compiles", beyond=BEYOND, seconds=2.5), deadline=1.5)
    assert len(rows) == 6
    assert RunFolder.read(tmp_path).interrupted() == {}


def test_the_clock_of_a_call_stands_until_the_outermost_compilation_has_ended():
    began, what, calls = (SimpleNamespace(value=0) for _ in range(3))
    before, after = _watched(began, what, calls)
    outer = inner = "numba:compiler_lock"
    assert began.value == 0.0
    now = time.monotonic()
    before(WORLD)
    assert what.value == WORLD.encode() and calls.value == 0
    assert now <= began.value <= time.monotonic()
    event.start_event(outer)
    assert began.value == 0.0
    event.start_event(inner)
    event.end_event(inner)
    assert began.value == 0.0
    event.end_event(outer)
    assert began.value > 0.0
    after()
    event.start_event(outer)
    event.end_event(outer)
    assert began.value == 0.0


def test_what_goes_wrong_outside_of_a_planner_is_raised_where_the_run_was_asked_for():
    plan = RunPlan(SUITE, {"naughty": Named("naughty", Naughty())})
    with pytest.raises(InputError, match="no stage called 'plain'; did you mean 'plane'"):
        list(Processes(1).run(plan, deque([Job("plain", "naughty", (0,))])))
    with pytest.raises(KeyError) as caught:
        list(Processes(1).run(plan, deque([Job("plane", "haughty", (0,))])))
    assert "in a worker" in caught.value.__notes__[0] and "job.py" in caught.value.__notes__[0]


def test_a_script_that_runs_a_benchmark_whenever_it_is_imported_is_told_what_to_do(tmp_path):
    (tmp_path / "script.py").write_text(
        "from tests.benchmark.executors.test_processes import *\n"
        f"run(Path({str(tmp_path / 'results')!r}), Naughty('raises', beyond=BEYOND))\n"
    )
    ended = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert ended.returncode == 1 and 'must start the benchmark inside: if __name__ == "__main__":' in ended.stderr.splitlines()[-1]


def test_time_in_which_a_process_waits_for_a_processor_does_not_count(monkeypatch, tmp_path):
    """A call of 5 s by the clock, in which one thread waited 4.5 s and another, which is new, 0.25 s."""
    waited, clock = {"11": 1.0}, [100.0]
    waits = Waits(11)
    monkeypatch.setattr(Waits, "_waited", lambda self: dict(waited))
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    assert waits.of(7.0) == 0.0
    waited.update({"11": 5.5, "12": 0.25})
    clock[0] += 5.0
    assert waits.of(7.0) == 0.5
    assert waits.of(8.0) == 0.0, "another call is measured from the first look at it"


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not tell how long a thread has waited")
def test_linux_tells_how_long_each_thread_of_a_process_has_waited():
    assert set(Waits(os.getpid())._waited()) >= {str(os.getpid())}
    assert Waits(2**30)._waited() == {}


def test_an_error_that_cannot_be_sent_is_told_in_words():
    class Unsendable(Exception):
        pass

    try:
        raise Unsendable("so it is")
    except Unsendable as error:
        told = _sendable(error)
    assert type(told) is RuntimeError
    assert "so it is" in str(told)
    assert str(_sendable(UnknownNameError("robot", "jackl", ["jackal"]))) == "no robot called 'jackl'; did you mean 'jackal'?"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the signals of a process are read from /proc")
def test_the_process_that_workers_come_from_never_hears_ctrl_c():
    start_server()
    status = Path(f"/proc/{forkserver._forkserver._forkserver_pid}/status").read_text()
    (blocked,) = re.findall(r"^SigBlk:\s*(\w+)$", status, re.M)
    assert int(blocked, 16) & 1 << signal.SIGINT - 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())
