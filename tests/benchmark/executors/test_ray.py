"""The Ray executor on a stand-in for Ray: deaths cost no row and no byte, and nodes with other versions or files mix no results."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests import fake_ray
from tests.naughty import Naughty
from tests.suites import plane

from agora.benchmark import job
from agora.benchmark.bench import run_all
from agora.benchmark.executors import ray as on_ray
from agora.benchmark.executors.processes import Processes
from agora.benchmark.executors.ray import Ray, refuse_others, versions
from agora.benchmark.request import Options, Request
from agora.benchmark.results.run_folder import RunFolder
from agora.errors import InputError
from agora.registry import Named

SUITE = plane(episodes=6)
BEYOND = float(np.sort([SUITE.start("plane", k).robots[0].goals[0][0] for k in range(6)])[3:5].mean())


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"-m pip install .*'ray>="):
        Ray().prepare()


def test_where_no_cluster_is_the_error_says_how_to_start_one():
    pytest.importorskip("ray")
    with pytest.raises(InputError, match="no Ray cluster answers at '127.0.0.1:1' .*; start one with 'ray start --head'"):
        Ray("127.0.0.1:1").prepare()


def test_nothing_of_agora_imports_ray_before_it_is_asked_for():
    code = "import sys, agora, agora.cli.app, agora.benchmark.executors.ray; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_other_versions_are_refused_and_both_are_named():
    refuse_others("node 10.0.0.7", versions()())
    theirs = versions()() | {"Agora": "0.0.7"}
    with pytest.raises(
        InputError, match=rf"node 10.0.0.7: Agora is 0.0.7, but {versions()()['Agora']} on this machine; results would differ"
    ):
        refuse_others("node 10.0.0.7", theirs)


def rows_and_reasons(folder, executor, mischief, resume=False):
    planner = {"naughty": Named("naughty", Naughty(mischief, beyond=BEYOND))}
    rows = run_all(Request(SUITE, planner, folder, Options(executor=executor, batch=3), resume=resume))
    files = {path.name: path.read_bytes() for path in (folder / "episodes").glob("*.parquet")}
    return rows, RunFolder.read(folder).interrupted(), files


def test_on_a_stand_in_for_ray_deaths_cost_no_row_and_no_byte(tmp_path, monkeypatch):
    fake_ray.install(monkeypatch, deaths=(1, 0, 2, None, 0))
    here, there = (
        rows_and_reasons(tmp_path / type(executor).__name__, executor, "dies") for executor in (Processes(1), Ray(workers=1))
    )
    assert there == here and len(here[0]) == 6


def test_a_node_with_another_version_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    fake_ray.install(monkeypatch, Agora="0.0.7")
    with pytest.raises(
        InputError, match="node 10.0.0.7 of the Ray cluster: Agora is 0.0.7, but .* on this machine; .*; install the same"
    ):
        rows_and_reasons(tmp_path / "run", Ray(workers=1), "dies")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("what", ["Agora", "Agora's code", "a planner's package"])
def test_a_node_with_another_version_that_comes_later_ends_the_run_which_is_resumed_elsewhere(tmp_path, monkeypatch, what):
    whole = rows_and_reasons(tmp_path / "whole", Processes(1), "")
    fake_ray.install(monkeypatch)
    told, calls = on_ray._run_job, []

    def second_is_older(shared, job, carried, asked):
        calls.append(job.name)
        if len(calls) == 2:
            on_ray._LOCAL_WORKERS.clear()
            if what == "Agora":
                asked = replace(asked, versions={**asked.versions, "Agora": "0.0.7"})
            else:
                package = "agora-nav" if what == "Agora's code" else "round-about"
                asked = replace(asked, packages={**asked.packages, package: "1.0"})
        yield from told(shared, job, carried, asked)

    monkeypatch.setattr(on_ray, "_run_job", second_is_older)
    said = {
        "Agora": "the machine that started the run: Agora is 0.0.7, but .* on this machine; results would differ",
        "Agora's code": r"package agora-nav was 1\.0 and is 0\.1\.0, code \w+ on a worker; results would differ",
        "a planner's package": "package round-about was 1.0 and is not installed on a worker; results would differ",
    }
    with pytest.raises(InputError, match=said[what]):
        rows_and_reasons(tmp_path / "run", Ray(workers=1), "")
    kept = {path.name for path in (tmp_path / "run/episodes").glob("*.parquet")}
    assert len(kept) == 1 < len(whole[2])
    assert rows_and_reasons(tmp_path / "run", Ray(workers=1), "", resume=True) == whole


def test_a_worker_with_other_files_is_sent_what_is_made_from_ours(tmp_path, monkeypatch):
    fake_ray.install(monkeypatch)
    answers, carried = iter([{"configs/a": "1"}, {"configs/a": "2"}]), []
    monkeypatch.setattr(job.RunPlan, "files", lambda plan: next(answers))
    carrying = job.RunPlan.carrying
    monkeypatch.setattr(job.RunPlan, "carrying", lambda plan, one: carried.append(one.episodes) or carrying(plan, one))
    here, there = (
        rows_and_reasons(tmp_path / type(executor).__name__, executor, "") for executor in (Processes(1), Ray(workers=1))
    )
    assert there == here and set(carried) == {(0, 1, 2), (3, 4, 5)}


def test_a_worker_with_the_same_files_makes_the_starts_itself(tmp_path, monkeypatch):
    fake_ray.install(monkeypatch)
    monkeypatch.setattr(job.RunPlan, "carrying", None)
    assert len(rows_and_reasons(tmp_path, Ray(workers=1), "")[0]) == 6
