"""On Ray, planners fail in the same words as in processes; workers that die cost time, not rows; wrong clusters are refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Signal

import numpy as np
import pytest
from tests import fake_ray
from tests.naughty import Naughty
from tests.suites import plane

from agora.benchmark.account import interrupted
from agora.benchmark.bench import Options, bench
from agora.benchmark.executors.processes import Processes
from agora.benchmark.executors.ray import Ray, refuse_others, versions
from agora.errors import InputError
from agora.interfaces import Done, Lost, Progress
from agora.registry import Named
from agora.testing import check_executor

SUITE = plane(episodes=6)
BEYOND = float(np.sort([SUITE.start("plane", k).robots[0].goals[0][0] for k in range(6)])[3:5].mean())


@pytest.fixture(scope="module")
def ray():
    """Ray, of which a cluster of two CPUs runs while the tests of this file do."""
    module = pytest.importorskip("ray")
    Ray("local").prepare()
    yield module
    module.shutdown()


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'agora-nav\[ray\]'"):
        Ray().prepare()


def test_where_no_cluster_is_the_error_says_how_to_start_one():
    pytest.importorskip("ray")
    with pytest.raises(InputError, match="no Ray cluster answers at '127.0.0.1:1' .*; start one with 'ray start --head'"):
        Ray("127.0.0.1:1").prepare()


def test_nothing_of_agora_imports_ray_before_it_is_asked_for():
    code = "import sys, agora, agora.cli, agora.benchmark.executors.ray; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_other_versions_are_refused_and_both_are_named():
    refuse_others("node 10.0.0.7", versions()())
    theirs = versions()() | {"Agora": "0.0.7"}
    with pytest.raises(InputError, match=rf"node 10.0.0.7: Agora there is 0.0.7, here it is {versions()()['Agora']}"):
        refuse_others("node 10.0.0.7", theirs)


def rows_and_reasons(folder, executor, mischief):
    planner = {"naughty": Named("naughty", Naughty(mischief, beyond=BEYOND))}
    rows = bench(SUITE, planner, folder, Options(executor=executor, batch=3))
    files = {path.name: path.read_bytes() for path in (folder / "episodes").glob("*.parquet")}
    return rows, interrupted(folder), files


@pytest.mark.parametrize("mischief", ["hangs", "dies"])
def test_a_planner_that_takes_its_process_along_costs_what_it_costs_in_processes(tmp_path, ray, mischief):
    here, there = (
        rows_and_reasons(tmp_path / type(executor).__name__, executor, mischief)
        for executor in (Processes(2, deadline=1.0), Ray("local", deadline=1.0))
    )
    assert there == here
    failed = [row["episode"] for row in here[0] if row["outcome"] == "planner_failed"]
    assert len(here[0]) == 6 and len(failed) == 2 and here[1] == {}


@dataclass(frozen=True)
class Errand:
    name: str


@dataclass(frozen=True)
class Waits:
    """Tells who watches over it, in the place of a number of episodes, and waits for a file."""

    file: Path

    def files(self):
        return {}

    def carrying(self, job):
        return job

    def __call__(self, job, watch):
        server = Path(f"/proc/{os.getppid()}/stat").read_text()
        yield Progress(job.name, int(server.rpartition(")")[2].split()[1]))
        while not self.file.exists():
            Signal().wait(0.05)
        yield Done(job.name, {})


def test_a_job_whose_ray_worker_dies_is_begun_again_until_that_was_too_often(tmp_path, ray):
    work = Waits(tmp_path / "go on")
    with closing(Ray("local", retries=1).run(work, deque([Errand("a")]))) as events:
        for _ in range(2):
            os.kill(next(events).ended, signal.SIGKILL)
            last = next(events)
            assert last == Progress("a", 0) or isinstance(last, Lost)
        assert last.reason == "its Ray worker or node died 2 times (WorkerCrashedError)" and last.call is None
        assert list(events) == []
    with closing(Ray("local", retries=1).run(work, deque([Errand("a"), Errand("b")]))) as events:
        os.kill(next(events).ended, signal.SIGKILL)
        work.file.touch()
        assert sorted(event.job for event in events if isinstance(event, Done)) == ["a", "b"]


def test_a_cluster_of_this_machine_keeps_the_contract(ray):
    check_executor(Ray("local"))


def test_on_a_stand_in_for_ray_deaths_cost_no_row_and_no_byte(tmp_path, monkeypatch):
    fake_ray.install(monkeypatch, deaths=(1, 0, 2, None, 0))
    here, there = (
        rows_and_reasons(tmp_path / type(executor).__name__, executor, "dies") for executor in (Processes(1), Ray(workers=1))
    )
    assert there == here and len(here[0]) == 6
