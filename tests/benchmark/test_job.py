"""A job's shard holds a row for each robot, and what is measured with a clock is kept apart."""

from __future__ import annotations

import pickle
import shutil

import numpy as np
import pytest
from tests.suites import planners, suite, write_world

from agora.benchmark.job import Job, RunPlan, key_of
from agora.benchmark.results import store
from agora.episode import PLANNER, WORLD
from agora.interfaces import Done, Finished, Progress, Watch
from agora.metrics.planning_time import TIMING
from agora.metrics.registered import metrics
from agora.registry import available


@pytest.fixture
def plan(tmp_path):
    small = suite(write_world(tmp_path / "room"), episodes=3, timeout=1.0, crowds=["pysocial"])
    return RunPlan(small, planners("orca"))


def test_a_shard_holds_every_metric_of_every_robot_of_its_episodes(plan, tmp_path):
    calls = []
    job = Job("pysocial", "orca", (2, 0))
    *progress, finished, done = plan(job, Watch(calls.append, lambda: calls.append(None)))
    assert progress == [Progress(job.name, 1), Progress(job.name, 2)] and done == Done(job.name, {})
    assert (finished.job, finished.name, finished.episodes) == (job.name, job.name, (0, 2))
    store.keep(tmp_path, finished.name, finished.files)
    rows = store.read_rows(tmp_path / "episodes" / f"{job.name}.parquet")
    assert [row["key"] for row in rows] == [key_of(plan.suite, "pysocial", k, "orca", robot) for k in (0, 2) for robot in (0, 1)]
    assert [row["model"] for row in rows] == ["jackal", "burger"] * 2
    assert {row["seed"] for row in rows} == {3}
    assert {m.name for m in metrics()} == set(available("metrics"))
    assert set(available("metrics")) - set(TIMING) <= set(rows[0])
    timing = store.read_rows(tmp_path / "timing" / f"{job.name}.parquet")
    assert [row["key"] for row in timing] == [row["key"] for row in rows]
    assert set(timing[0]) == {*store.IDENTITY, *TIMING, store.CALLS}
    assert not set(TIMING) & set(rows[0])
    for row in timing:
        assert min(row[store.CALLS]) > 0 and np.mean(row[store.CALLS]) == pytest.approx(row["planning_time"], rel=1e-5)
    measured = [part for each in sorted(m.name for m in metrics() if m.name not in TIMING) for part in (f"metric {each}", None)]
    steps = [PLANNER, None, WORLD, None] * 10
    assert calls[:40] == steps and calls[-1] is None
    told = calls[40:-1]
    assert len(told) == 2 * 2 * 2 * len(metrics()) and told[: len(measured)] == measured and set(told[1::2]) == {None}
    assert set(told[::2]) == {f"metric {each.name}" for each in metrics()}


def test_the_name_of_a_shard_says_which_episodes_it_is_of():
    jobs = [Job("a", "orca", (1, 2)), Job("a", "orca", (1,)), Job("b", "orca", (1, 2)), Job("a", "dwa", (1, 2))]
    assert len({job.name for job in jobs}) == 4
    assert jobs[0].name == Job("a", "orca", (1, 2)).name


def test_a_job_that_is_stopped_yields_no_shard_and_its_clock_stands(plan):
    calls = []
    events = plan(Job("pysocial", "orca", (0, 1)), Watch(calls.append, lambda: calls.append(None)))
    assert isinstance(next(events), Progress)
    events.close()
    assert calls[-1] is None


def test_a_job_that_carries_its_starts_needs_no_file_of_the_world(plan, tmp_path):
    job = Job("pysocial", "orca", (0, 1))
    told = [e for e in plan(job) if isinstance(e, Finished)]
    sent = pickle.loads(pickle.dumps((plan, plan.carrying(job))))
    shutil.rmtree(tmp_path / "room")
    assert list(plan(job))[-1].given_up.keys() == {0, 1}
    (again,) = (e for e in sent[0](sent[1]) if isinstance(e, Finished))
    assert {k: again.files[k] for k in ("episodes", "trajectories")} == {k: told[0].files[k] for k in ("episodes", "trajectories")}
