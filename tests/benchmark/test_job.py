"""A job's shard holds a row for each robot, and what is measured with a clock is kept apart."""

from __future__ import annotations

import numpy as np
import pytest
from tests.suites import planners, suite, write_world

from agora.benchmark import store
from agora.benchmark.job import Job, Plan, Watch, key_of, metrics, run
from agora.episode import PLANNER, WORLD
from agora.metrics.efficiency import TIMING
from agora.registry import available


@pytest.fixture
def plan(tmp_path):
    small = suite(write_world(tmp_path / "room"), episodes=3, timeout=1.0, crowds=["pysocial"])
    return Plan(small, planners("orca"), tmp_path / "run")


def test_a_shard_holds_every_metric_of_every_robot_of_its_episodes(plan):
    calls, done = [], []
    job = Job("pysocial", "orca", (2, 0))
    assert run(plan, job, Watch(calls.append, lambda: calls.append(None), done.append)) == {}
    rows = store.read_rows(plan.folder / "episodes" / f"{job.shard}.parquet")
    assert [row["key"] for row in rows] == [key_of(plan.suite, "pysocial", k, "orca", robot) for k in (0, 2) for robot in (0, 1)]
    assert [row["model"] for row in rows] == ["jackal", "burger"] * 2
    assert {row["seed"] for row in rows} == {3}
    assert {m.name for m in metrics()} == set(available("metrics"))
    assert set(available("metrics")) - set(TIMING) <= set(rows[0])
    timing = store.read_rows(plan.folder / "timing" / f"{job.shard}.parquet")
    assert [row["key"] for row in timing] == [row["key"] for row in rows]
    assert set(timing[0]) == {*store.IDENTITY, *TIMING, store.CALLS}
    assert not set(TIMING) & set(rows[0])
    for row in timing:
        assert min(row[store.CALLS]) > 0 and np.mean(row[store.CALLS]) == pytest.approx(row["planning_time"], rel=1e-5)
    assert calls == [PLANNER, None, WORLD, None] * 10 + [None]
    assert done == [1, 1]


def test_the_name_of_a_shard_says_which_episodes_it_is_of():
    jobs = [Job("a", "orca", (1, 2)), Job("a", "orca", (1,)), Job("b", "orca", (1, 2)), Job("a", "dwa", (1, 2))]
    assert len({job.shard for job in jobs}) == 4
    assert jobs[0].shard == Job("a", "orca", (1, 2)).shard


def test_what_goes_wrong_in_a_job_leaves_no_shard(plan):
    def full(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError):
        run(plan, Job("pysocial", "orca", (0, 1)), Watch(done=full))
    assert not list(plan.folder.rglob("*.parquet"))
