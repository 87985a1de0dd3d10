"""Run a suite: what is missing is run, what is finished is kept, and the result is a folder with a report."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agora import __version__
from agora.benchmark import store
from agora.benchmark.job import Job, Keep, Plan, key_of
from agora.benchmark.workers import DEADLINE, Pool, in_process
from agora.config import dump, load, plain
from agora.errors import InputError, ResultsError
from agora.registry import Named
from agora.tasks.suite import Suite

_FREE = 64 * 2**20  # bytes that must be free beyond the estimate
_PER_EPISODE = 2**18  # bytes, a generous estimate of an episode's trajectory


@dataclass(frozen=True)
class Options:
    """How a suite is run; none of it changes a result.

    Attributes:
        workers: processes; 0 runs in this one. batch: most episodes of a job. worlds: most side by side, 0 for all of a job.
        threads: over worlds, in each worker. slots: pedestrian slots a world, 0 for the least. trajectories: whose are kept.
        deadline: s that one call of a planner may take.
    """

    workers: int = 2
    batch: int = 64
    worlds: int = 0
    threads: int = 1
    slots: int = 0
    trajectories: Keep = "all"
    deadline: float = DEADLINE


def describe(suite: Suite, planners: Mapping[str, Named]) -> dict[str, Any]:
    """What decides the results: the resolved suite, the planners and the version."""
    return {"suite": plain(suite), "planners": {label: plain(p) for label, p in planners.items()}, "version": __version__}


def surroundings() -> dict[str, Any]:
    """What the results were made on."""
    packages = {name: version(name) for name in ("numpy", "numba", "scipy", "pyarrow")}
    return {
        "commit": _commit(),
        "cpu": _cpu(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": packages,
    }


def _commit() -> str:
    here = Path(__file__).parent
    try:
        answer = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return answer.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def check(suite: Suite) -> None:
    """Put together one episode of every world of the suite.

    Raises:
        InputError: a file is wrong, or something does not fit into its world.
    """
    for stage in suite.stages:
        for episode in range(min(stage.count, len(stage.world.part.names()))):
            suite.start(stage.name, episode)


def prepare(folder: Path, suite: Suite, planners: Mapping[str, Named], episodes: int, resume: bool) -> None:
    """Make the results folder, or make sure that it holds the same run.

    Raises:
        ResultsError: it cannot be written, holds another run, or the disk is too full.
    """
    described = describe(suite, planners)
    record = folder / "run.yaml"
    if record.exists():
        _same_run(record, described, resume)
    try:
        for part in ("episodes", "timing", "trajectories"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        probe = folder / ".probe"
        probe.write_bytes(b"\0" * 4096)
        probe.unlink()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written: {error.strerror or error}") from error
    if free < _FREE + episodes * _PER_EPISODE:
        raise ResultsError(
            f"{folder}: {free / 2**20:.0f} MiB are free, {episodes} episodes may need {episodes * _PER_EPISODE / 2**20:.0f} MiB"
        )
    if not record.exists():
        fresh = folder / "run.yaml.new"
        fresh.write_text(dump(described | {"made_on": surroundings()}))
        os.replace(fresh, record)


def _same_run(record: Path, described: dict[str, Any], resume: bool) -> None:
    if not resume:
        raise ResultsError(f"{record.parent}: holds a run already; choose another folder, or go on with --resume")
    written = load(record, dict)
    for part, value in described.items():
        if written.get(part) != value:
            raise ResultsError(f"{record}: {part} differs from what is asked for; a run is resumed only as it was begun")


def jobs_for(suite: Suite, planners: Mapping[str, Named], finished: set[str], options: Options) -> list[Job]:
    """The episodes that have no row yet, in jobs: of one stage and planner each, evenly over the workers."""
    jobs = []
    for label in planners:
        for stage in suite.stages:
            left = [k for k in range(stage.count) if key_of(suite, stage.name, k, label, 0) not in finished]
            share = -(-len(left) // max(options.workers, 1))
            size = max(1, min(options.batch, share))
            jobs += [Job(stage.name, label, tuple(left[i : i + size])) for i in range(0, len(left), size)]
    return jobs


def bench(
    suite: Suite,
    planners: Mapping[str, Named],
    folder: Path,
    options: Options | None = None,
    *,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[dict[str, Any]]:
    """Run every episode of a suite under every planner.

    Args:
        suite: the episodes. planners: by label. folder: of the results, made here.
        options: how; resume: go on with a run that was begun in ``folder``.
        progress: called with the number of finished episodes and of all.

    Returns:
        The rows of all episodes, by key.

    Raises:
        InputError: the suite cannot be put together. ResultsError: the folder cannot be used.
    """
    options = options or Options()
    if not planners:
        raise InputError("no planner is given")
    plan = Plan(suite, dict(planners), folder, options.worlds, options.threads, options.slots, options.trajectories)
    pool = Pool(plan, options.workers, options.deadline) if options.workers else None
    check(suite)
    total = len(suite.entries()) * len(planners)
    prepare(folder, suite, planners, total, resume)
    finished = store.finished(folder / "episodes")
    jobs = jobs_for(suite, planners, finished, options)
    count = total - sum(len(j.episodes) for j in jobs)
    progress(count, total)
    if pool is None:
        in_process(plan, jobs, lambda n: None)
    else:
        for n in pool.run(jobs):
            count += n
            progress(count, total)
    interrupted = [] if pool is None else pool.interrupted
    listed = "".join(f"{key_of(suite, j.stage, j.episodes[0], j.planner, 0)}\n" for j in interrupted)
    (folder / "interrupted.txt").write_text(listed)
    return sorted(store.read_rows(folder / "episodes"), key=lambda r: str(r["key"]))


def with_seed(suite: Suite, seed: int | None) -> Suite:
    """The suite with another seed."""
    return suite if seed is None else replace(suite, seed=seed)
