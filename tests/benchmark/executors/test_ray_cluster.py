"""Ray itself, on this machine: the contract, planners that end their process, workers and a node that die."""

from __future__ import annotations

import os
import signal
from collections import deque
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Signal

import pytest
from tests import fake_ray
from tests.benchmark.executors.test_ray import rows_and_reasons
from tests.suites import plane

from agora.benchmark.bench import bench, run_all
from agora.benchmark.events import Advanced
from agora.benchmark.executors.processes import Processes
from agora.benchmark.executors.ray import Ray
from agora.benchmark.request import Options, Request
from agora.benchmark.results import store
from agora.interfaces import Done, Lost, Progress
from agora.registry import Named
from agora.testing import check_executor

pytestmark = pytest.mark.slow


@pytest.fixture
def ray():
    """Ray, of which a cluster of two CPUs runs while a test does."""
    module = pytest.importorskip("ray")
    Ray("local").prepare()
    yield module
    module.shutdown()


@pytest.mark.parametrize("mischief", ["hangs", "dies"])
def test_a_planner_that_takes_its_process_along_costs_what_it_costs_in_processes(tmp_path, ray, mischief):
    here, there = (
        rows_and_reasons(tmp_path / type(executor).__name__, executor, mischief)
        for executor in (Processes(2, deadline=2.0), Ray("local", deadline=2.0))
    )
    assert there == here
    failed = [row["episode"] for row in here[0] if row["outcome"] == "planner_failed"]
    assert len(here[0]) == 6 and len(failed) == 2 and here[1] == {}


@dataclass(frozen=True)
class Errand:
    name: str
    planner: str = "planner"


@dataclass(frozen=True)
class Waits:
    """Tells who watches over it, in the place of a number of episodes, and waits for a file."""

    file: Path

    def of(self, planner):
        return self

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


def streamed(ray, death):
    """Return the behaviour that the executor relies on: the results of wait and get, the end of a stream, the error of a death."""

    def items():
        yield [1]
        yield []
        if death:
            os._exit(1)

    stream, heard = ray.remote(num_cpus=1, num_returns="streaming", max_retries=0)(items).remote(), []
    try:
        while True:
            ready, _ = ray.wait([stream], num_returns=1)
            assert ready[0] is stream
            heard.append(ray.get(next(stream)))
    except StopIteration:
        return heard, "end"
    except ray.exceptions.RayError as error:  # what it told last may be lost
        return isinstance(error, ray.exceptions.RayTaskError)


def nodes(ray):
    return [{key: type(node[key]) for key in ("NodeID", "Alive", "Resources", "NodeManagerAddress")} for node in ray.nodes()]


def test_the_stand_in_does_what_ray_does(ray, monkeypatch):
    real = streamed(ray, False), streamed(ray, True), nodes(ray)
    assert issubclass(ray.exceptions.GetTimeoutError, ray.exceptions.RayError)
    fake_ray.install(monkeypatch, deaths=(None, 2))
    import ray as fake

    assert (streamed(fake, False), streamed(fake, True), nodes(fake)) == real


def workers_of(node):
    """Process numbers of a node's Ray workers that run a job."""
    raylet = str(node.all_processes["raylet"][0].process.pid)
    for folder in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended
            runs_a_job = folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"ray::_run_job")
            if runs_a_job and (folder / "stat").read_text().rpartition(")")[2].split()[1] == raylet:
                yield int(folder.name)


def test_a_killed_worker_and_a_node_that_goes_cost_no_byte(tmp_path):
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    suite, planner = plane(episodes=24), {"p": Named.of("planners", "go_to_goal")}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second, killed = cluster.add_node(num_cpus=1), []

    def kill(event):
        if event != Advanced(0, 24) and not killed:
            killed.extend(workers_of(cluster.head_node))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            cluster.remove_node(second)

    try:
        run_all(Request(suite, planner, tmp_path / "here", Options(workers=1, batch=4)))
        there = Options(executor=Ray(cluster.address, workers=2), batch=4)
        for event in bench(Request(suite, planner, tmp_path / "there", there)):
            kill(event)
        assert len(store.read_rows(tmp_path / "there" / "episodes")) == 24
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert killed
    for part in ("episodes", "trajectories"):
        here, there = (
            {path.name: path.read_bytes() for path in (tmp_path / where / part).iterdir()} for where in ("here", "there")
        )
        assert there == here
