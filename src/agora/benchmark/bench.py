"""Run a suite: run the missing episodes, keep the finished ones, and write a folder with a report."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agora import __version__
from agora.benchmark import store
from agora.benchmark.account import strangers
from agora.benchmark.conductor import conduct
from agora.benchmark.executors.in_process import InProcess
from agora.benchmark.executors.processes import DEADLINE, Processes
from agora.benchmark.inputs import ReadsFiles, difference, inputs, unread
from agora.benchmark.job import Job, Plan, key_of, metrics
from agora.benchmark.packages import change, packages
from agora.benchmark.store import Keep
from agora.config import dump, load, plain
from agora.documents import shown
from agora.errors import InputError, PlacementError, ResultsError
from agora.files import write_whole
from agora.interfaces import Executor
from agora.perception.perception import Level
from agora.registry import Named
from agora.tasks.suite import Suite

__all__ = ["Options", "bench"]

_LOG = logging.getLogger(__name__)
_FREE = 64 * 2**20  # bytes that must be free beyond the estimate
_PER_EPISODE: Mapping[Keep, int] = {"all": 2**18, "failed": 2**18, "none": 2**13}  # bytes, a generous estimate
_FIRST = 5  # episodes of which one must fit


@dataclass(frozen=True)
class Options:
    """How a suite is run; none of it changes a result.

    Attributes:
        workers: processes; 0 runs in this one. batch: most episodes of a job. worlds: most side by side, 0 for all of a job.
        threads: over worlds, in each worker. slots: pedestrian slots a world, 0 for the least. trajectories: whose are kept.
        record: names of channels whose readings the recordings keep.
        deadline: s that one call of a planner, one step of the world or one metric may take.
        executor: runs the jobs, instead of ``workers`` processes with this ``deadline``.
    """

    workers: int = 2
    batch: int = 64
    worlds: int = 0
    threads: int = 1
    slots: int = 0
    trajectories: Keep = "all"
    record: tuple[str, ...] = ()
    deadline: float = DEADLINE
    executor: Executor | None = None

    @property
    def runs(self) -> Executor:
        """Who runs the jobs."""
        return self.executor or (Processes(self.workers, self.deadline) if self.workers else InProcess())


def describe(
    suite: Suite,
    planners: Mapping[str, Named],
    levels: Mapping[str, Level] | None = None,
    trajectories: Keep = "all",
    record: Sequence[str] = (),
) -> dict[str, Any]:
    """What decides the results, and what there should be of them.

    That is the resolved suite, the planners, what they are told of pedestrians, the version, digests of the files that enter, and
    the packages of components and metrics; then the number of each planner's episodes by stage, and what of their recordings is
    kept.
    """
    described = {"suite": plain(suite), "planners": {label: plain(p) for label, p in planners.items()}, "version": __version__}
    told: dict[str, Any] = {"pedestrians": dict(levels)} if levels else {}
    told |= {"record": list(record)} if record else {}
    planned = {stage.name: stage.count for stage in suite.stages}
    made_of = {"inputs": inputs(suite, planners), "packages": packages(suite, planners, metrics())}
    return described | told | made_of | {"planned": planned, "trajectories": trajectories}


def at_levels(planners: Mapping[str, Named], levels: Sequence[Level]) -> tuple[dict[str, Named], dict[str, Level]]:
    """Every planner at every level of perception as ``PLANNER@LEVEL``, and the levels by these labels.

    Without levels the planners as they are: then it is the stages that say what they are told.
    """
    if not levels:
        return dict(planners), {}
    labels = {f"{label}@{level}": (planner, level) for label, planner in planners.items() for level in levels}
    return {label: planner for label, (planner, _) in labels.items()}, {label: level for label, (_, level) in labels.items()}


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
    """Put together one episode of every world that is read from files; of worlds that are drawn, the first that has room.

    Raises:
        InputError: a file is wrong, or something fits into none of a stage's first episodes.
    """
    for stage in suite.stages:
        names = stage.world.part.names()
        worlds = len(names) if isinstance(stage.world.part, ReadsFiles) else 1
        failed: list[PlacementError] = []
        first = range(min(stage.count, max(worlds, _FIRST)))
        for episode in first:
            if episode >= worlds and len(failed) < episode:
                break
            try:
                suite.start(stage.name, episode)
            except PlacementError as error:  # it is given up when its turn comes
                failed.append(error)
        if len(failed) == len(first):
            raise failed[0]


def check_space(folder: Path, episodes: int, keep: Keep = "all") -> None:
    """Make sure that a disk has room for the results.

    Args:
        folder: of the results. episodes: that are to be run. keep: whose recordings.

    Raises:
        ResultsError: it has not, or nobody can say.
    """
    need = _FREE + episodes * _PER_EPISODE[keep]
    try:
        free = shutil.disk_usage(next(place for place in (folder, *folder.absolute().parents) if place.is_dir())).free
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written: {error.strerror or error}") from error
    if free < need:
        raise ResultsError(f"{folder}: {free / 2**20:.0f} MiB are free, {episodes} episodes may need {need / 2**20:.0f} MiB")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Make the results folder and keep other runs out of it; the lock goes with the process.

    Raises:
        ResultsError: it cannot be made, or another run is at work in it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written: {error.strerror or error}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise ResultsError(f"{folder}: another run is at work in it") from error
    finally:
        os.close(handle)


def prepare(folder: Path, described: dict[str, Any], resume: bool, repeats: bool = True) -> str:
    """Put ``run.yaml`` into the results folder, or make sure that it is of this run and delete what was left half-written.

    Rows that have lost their planning times or trajectories are deleted too, so that their episodes are run again.

    Args:
        folder: of the results. described: what decides them (`describe`). resume: whether the folder may hold this run already.
        repeats: whether an episode that is run again is the same; if not, rows that have lost something stay, and the log says so.

    Returns:
        What the run's shards are marked with: a digest of what decides its results.

    Raises:
        ResultsError: the folder cannot be written, or holds another run or rows of one.
    """
    here, mark = surroundings(), hashlib.blake2b(dump(described).encode(), digest_size=16).hexdigest()
    record = folder / "run.yaml"
    if record.exists():
        written = _same_run(record, described, resume) | {"id": mark}
    elif any((folder / "episodes").glob("*.parquet")):
        raise ResultsError(f"{folder}: holds episodes but no run.yaml that says of which run; choose another folder")
    else:
        written = described | {"id": mark, "made_on": here}
    if here not in (written.get("made_on"), *written.setdefault("resumed_on", [])):
        written["resumed_on"].append(here)
    try:
        for part in store.PARTS:
            (folder / part).mkdir(exist_ok=True)
            for file in (folder / part).glob(".*.part"):
                file.unlink()
        write_whole(record, dump(written))
        _refuse_strangers(folder, described | {"id": mark})
        for name in sorted({file.stem for part in store.PARTS for file in (folder / part).glob("*.parquet")}):
            if store.complete(folder, name):
                _restore(folder, name, described.get("trajectories", "none"), repeats)
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return mark


def _refuse_strangers(folder: Path, described: dict[str, Any]) -> None:
    """Make sure that all rows are of episodes of this run."""
    for part in store.PARTS:
        for read in store.shards(folder / part, [*store.IDENTITY] if part != "trajectories" else ["key"]):
            for row in strangers(read, described):
                raise ResultsError(f"{read.path}: holds {row['key']!r} of another run; move the file out of this folder")


def _restore(folder: Path, name: str, keep: Keep, repeats: bool) -> None:
    """Delete a shard of which something was lost, so that it is run again; or say that it cannot be had again."""
    lost = " and ".join(store.lost(folder, name, keep))
    if lost and repeats:
        _LOG.warning("%s: its rows have lost their %s; its episodes are run again", folder / "episodes" / f"{name}.parquet", lost)
        store.remove(folder, name)
    elif lost:
        _LOG.warning("%s: its rows have lost their %s, which cannot be restored", folder / "episodes" / f"{name}.parquet", lost)


def _same_run(record: Path, described: dict[str, Any], resume: bool) -> dict[str, Any]:
    """The contents of ``run.yaml``, which must be of the run that is asked for."""
    if not resume:
        raise ResultsError(f"{record.parent}: holds a run already; choose another folder, or go on with --resume")
    written: dict[str, Any] = load(record, dict)
    check_same(record.parent, written, described, "since the run was begun")
    for part, value in described.items():
        if written.get(part) != value:
            was = difference_of(written.get(part), value, part)
            raise ResultsError(f"{record}: {was}; a run is resumed only as it was begun")
    return written


def check_same(folder: Path, was: Mapping[str, Any], now: Mapping[str, Any], since: str) -> None:
    """Make sure that files and packages are those that something was begun with.

    Args:
        folder: of the results. was, now: what decided them then and decides them here: their ``inputs`` and ``packages``.
        since: in words, "since the run was begun".

    Raises:
        ResultsError: a file or a package was changed; says which, and what it was and is.
    """
    for key in ("inputs", "packages"):
        if key in now and not isinstance(was.get(key), dict):
            raise ResultsError(f"{folder}: was begun by an Agora that kept no {key}; begin anew in another folder")
    files, installed = was.get("inputs", {}), was.get("packages", {})
    if changed := difference(files, now.get("inputs", {}), f"{since}; put the file back, or choose another folder"):
        raise ResultsError(f"{folder}: {changed}")
    if "packages" in now and (changed := change(installed, now["packages"])):
        raise ResultsError(f"{folder}: {changed} {since}; install what it was, or choose another folder")


def check_unchanged(folder: Path, was: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Make sure at the end of a run that its files are those that it began with; else ``run.yaml`` keeps it from being resumed.

    Args:
        folder: of the results. was, now: digests of the files (`agora.benchmark.inputs`).

    Raises:
        ResultsError: a file was changed.
    """
    both = "while the run was on, so its rows may be of both; begin anew in another folder"
    if changed := difference(was, now, both):
        record = folder / "run.yaml"
        written: dict[str, Any] = load(record, dict)
        written["inputs"] = {name: d if now.get(name) == d else f"{d}, then {now.get(name, 'gone')}" for name, d in was.items()}
        write_whole(record, dump(written))
        raise ResultsError(f"{folder}: {changed}")


def difference_of(was: Any, now: Any, path: str) -> str:
    """The first place where two trees of plain data differ, in words."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *now]:
            if was.get(key) != now.get(key):
                return difference_of(was.get(key), now.get(key), f"{path}.{key}")
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        return next(difference_of(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(was, now, strict=True)) if a != b)
    return f"{path} is {shown(was)} there and {shown(now)} here"


def jobs_for(suite: Suite, planners: Mapping[str, Named], finished: set[str], options: Options) -> list[Job]:
    """The episodes that have no row yet, in jobs: of one stage and planner each, evenly over the workers."""
    jobs = []
    for label in planners:
        for stage in suite.stages:
            left = [k for k in range(stage.count) if key_of(suite, stage.name, k, label, 0) not in finished]
            share = -(-len(left) // options.runs.workers)
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
    pedestrians: Sequence[Level] = (),
) -> list[dict[str, Any]]:
    """Run every episode of a suite under every planner.

    Args:
        suite: the episodes. planners: by label. folder: of the results, made here.
        options: how; resume: go on with a run that was begun in ``folder``.
        progress: called with the number of finished episodes and of all.
        pedestrians: what planners are told of them; each runs at each of these levels. As the stages say where there is none.

    Returns:
        The rows of all episodes, by key.

    Raises:
        InputError: the suite cannot be put together.
        ResultsError: the folder cannot be used, or a file that enters the episodes was changed.
    """
    options, folder = options or Options(), folder.absolute()
    if not planners:
        raise InputError("no planner is given")
    planners, levels = at_levels({label: unread(planner) for label, planner in planners.items()}, pedestrians)
    for label in planners:
        if "/" in label or not label.isprintable():
            raise InputError(f"planner {label!r}: expected a label of printable characters without '/'")
    options.runs.prepare()
    check(suite)
    total = len(suite.entries()) * len(planners)
    done = {key.rpartition("/")[0] for key in store.keys(folder / "episodes")} if resume else ()
    check_space(folder, total - len(done), options.trajectories)
    with alone(folder):
        described = describe(suite, planners, levels, options.trajectories, options.record)
        run = prepare(folder, described, resume)
        finished = store.finished(folder / "episodes")
        jobs = jobs_for(suite, planners, finished, options)
        sizes = (options.worlds, options.threads, options.slots)
        plan = Plan(suite, dict(planners), *sizes, options.trajectories, levels, run, options.record)
        count = total - sum(len(j.episodes) for j in jobs)
        progress(count, total)
        interrupted = conduct(plan, jobs, folder, options.runs, lambda ended: progress(count + ended, total))
        write_whole(folder / "interrupted.txt", "".join(f"{key}\t{reason}\n" for key, reason in interrupted.items()))
        check_unchanged(folder, described["inputs"], inputs(suite, planners))
    return sorted(store.read_rows(folder / "episodes"), key=lambda r: str(r["key"]))


def with_seed(suite: Suite, seed: int | None) -> Suite:
    """The suite with another seed."""
    return suite if seed is None else replace(suite, seed=seed)
