"""A worker that hangs is killed, one that dies is replaced, what is wrong elsewhere is raised; compiling is not hanging."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import event
from tests.naughty import Naughty
from tests.suites import plane

from agora.benchmark.bench import Options, bench
from agora.benchmark.job import Job, Plan
from agora.benchmark.kept import interrupted, report
from agora.benchmark.workers import Pool, _sendable, _watched
from agora.errors import InputError, UnknownNameError
from agora.registry import Named

SUITE = plane(episodes=6)
GOALS = np.array([SUITE.start("plane", k).robots[0].goals[0][0] for k in range(6)])
BEYOND = float(np.sort(GOALS)[3:5].mean())
GUILTY = set(np.flatnonzero(GOALS > BEYOND).tolist())


def run(folder, planner, **options):
    made = Options(**{"workers": 2, "batch": 3, "deadline": 1.0} | options)
    progress = []
    rows = bench(SUITE, {"naughty": Named("naughty", planner)}, folder, made, progress=lambda n, total: progress.append((n, total)))
    assert progress[-1] == (6, 6)
    return {row["episode"]: row for row in rows}


@pytest.mark.parametrize(
    ("mischief", "reason"),
    [("hangs", "a call of the planner took longer than 1 s"), ("dies", "its worker died (exit code 7)")],
)
def test_a_planner_that_takes_its_worker_along_costs_its_own_episodes_and_no_others(tmp_path, mischief, reason):
    good = run(tmp_path / "good", Naughty(beyond=BEYOND))
    bad = run(tmp_path / "bad", Naughty(mischief, beyond=BEYOND))
    assert len(GUILTY) == 2
    assert bad == {k: row for k, row in good.items() if k not in GUILTY}
    assert interrupted(tmp_path / "bad") == {f"plain/plane/{k}/naughty/0": reason for k in GUILTY}
    assert interrupted(tmp_path / "good") == {}
    page = report(tmp_path / "bad").read_text()
    assert all(f"plain/plane/{k}/naughty/0: {reason}" in page for k in GUILTY)


def test_a_run_of_which_every_episode_is_interrupted_still_has_a_report(tmp_path):
    assert run(tmp_path, Naughty("dies", after=0, beyond=-9.0), workers=1) == {}
    assert len(interrupted(tmp_path)) == 6
    assert report(tmp_path).is_file()


def test_compiling_longer_than_the_deadline_is_not_hanging(tmp_path):
    rows = run(tmp_path, Naughty("compiles", beyond=BEYOND, seconds=2.5), deadline=1.5)
    assert len(rows) == 6
    assert interrupted(tmp_path) == {}


def test_the_clock_of_a_call_stands_until_the_outermost_compilation_has_ended():
    began = SimpleNamespace(value=0.0)
    before, after = _watched(began)
    outer = inner = "numba:compile"
    assert began.value == 0.0
    before()
    assert began.value == pytest.approx(time.monotonic(), abs=1.0)
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


def test_what_goes_wrong_outside_of_a_planner_is_raised_where_the_run_was_asked_for(tmp_path):
    plan = Plan(SUITE, {"naughty": Named("naughty", Naughty())}, tmp_path)
    with pytest.raises(InputError, match="no stage called 'plain'; did you mean 'plane'"):
        list(Pool(plan, 1).run([Job("plain", "naughty", (0,))]))
    with pytest.raises(KeyError) as caught:
        list(Pool(plan, 1).run([Job("plane", "haughty", (0,))]))
    assert "in a worker" in caught.value.__notes__[0] and "job.py" in caught.value.__notes__[0]


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
