"""Executes a request: runs the missing episodes, keeps the finished episodes, and yields the run's events."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agora import __version__
from agora.benchmark.conductor import conduct
from agora.benchmark.events import GivenUp, Kept, RunEvent
from agora.benchmark.informed import Informed
from agora.benchmark.job import Job, RunPlan, key_of
from agora.benchmark.knowledge import blind, unaware
from agora.benchmark.labels import name_of
from agora.benchmark.provenance.inputs import ReadsFiles, inputs, unread
from agora.benchmark.provenance.packages import manifest, packages
from agora.benchmark.provenance.planner_code import after_draw
from agora.benchmark.request import Options, Request
from agora.benchmark.results import store
from agora.benchmark.results.open_run import OpenRun, open_run
from agora.benchmark.results.run_folder import episodes_kept
from agora.benchmark.results.run_record import RunRecord
from agora.benchmark.stop_token import StopToken
from agora.config import plain
from agora.engine.conditions import Conditions
from agora.engine.observers import wiring_of
from agora.errors import InputError, PlacementError, StoppedError
from agora.metrics.registered import metrics
from agora.planners.adapters import declaration_of
from agora.registry import Named
from agora.robots.model import load_robot
from agora.tasks.copies import digest_of, draws_on
from agora.tasks.modules.axis import axis_of
from agora.tasks.suite import Suite

__all__ = ["bench", "run_all"]

_LOG = logging.getLogger(__name__)
_FIRST = 5  # at least one of the first 5 episodes of a stage must be feasible
_ALIKE = 8  # maximum number of episodes per job in a stage with an axis


def bench(request: Request, token: StopToken | None = None) -> Iterator[RunEvent]:
    """Run every episode of a request that has no row yet, and yield the events.

    Nothing runs until the first event is requested. The rows and recordings of an episode are on disk when its event `Kept` is
    yielded. The iterator may run in any thread. To stop the run, close the iterator, or call ``token.stop()`` from another thread.
    Finished episodes are kept, and a request with ``resume`` can continue the run.

    Args:
        request: the suite, the planners, the results folder and the options.
        token: token with which another thread can stop the run.

    Raises:
        InputError: the suite cannot be built.
        ResultsError: the folder cannot be used, or a file that the episodes depend on was changed.
        StoppedError: a stop was requested through the token; the message says what is kept.
    """
    token = token or StopToken()
    try:
        token.check()
        yield from _bench(request, token)
    except StoppedError:
        said = f"stopped: {episodes_kept(request.folder)}; repeat the request with resume to continue"
        raise StoppedError(said) from None


def run_all(request: Request) -> list[dict[str, Any]]:
    """Run every episode of a request that has no row yet, and return the rows of all episodes, by key.

    Raises:
        InputError, ResultsError: as in `bench`.
    """
    for _ in bench(request):
        pass
    return rows_of(request.folder)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a run, by key."""
    return sorted(store.read_rows(folder / "episodes"), key=lambda row: str(row["key"]))


def _bench(request: Request, token: StopToken) -> Iterator[RunEvent]:
    """Yield the events of a run."""
    request = replace(request, planners={label: unread(planner) for label, planner in request.planners.items()})
    suite, planners, options, executor = request.suite, request.entrants, request.options, request.options.runs
    executor.prepare()
    check(suite)
    check_sensors(request)
    token.check()
    record, before = describe(request), describe(request.before) if request.begun else None
    episodes, again = request.episodes, request.repeats
    code = manifest(suite, planners, metrics())
    with open_run(request.folder, record, code, before=before, episodes=episodes, resume=request.resume, repeats=again) as folder:
        jobs = jobs_for(suite, planners, folder.finished, options)
        sizes = (options.worlds, options.threads, options.slots)
        plan = RunPlan(suite, planners, *sizes, options.trajectories, request.levels, folder.mark, options.record, token=token)
        done = episodes - sum(len(job.episodes) for job in jobs)
        for event in conduct(plan, jobs, folder.path, executor, before=done):
            _write_down(event, suite, folder)
            yield event
        folder.write_lost()
        folder.check_unchanged(inputs(suite, planners), packages(suite, planners, metrics()))


def _write_down(event: RunEvent, suite: Suite, folder: OpenRun) -> None:
    """Update the folder's list of episodes without a row after an event."""
    match event:
        case Kept(stage, planner, episodes):
            folder.keep_rows(key_of(suite, stage, episode, planner, 0) for episode in episodes)
        case GivenUp(stage, planner, episode, reason):
            folder.keep_reason(key_of(suite, stage, episode, planner, 0), reason)


def describe(request: Request) -> RunRecord:
    """Return the record of a request: the data that determines its results, and the planned episodes.

    The record contains the resolved suite, the planners, their levels of perception, the version of Agora, digests of the files
    that the episodes depend on, the packages of components and metrics, the number of episodes of each planner by stage, and which
    recordings are kept.
    """
    suite, planners, options = request.suite, request.entrants, request.options
    return RunRecord(
        suite=plain(suite),
        planners={label: plain(planner) for label, planner in planners.items()},
        version=__version__,
        pedestrians=request.levels or None,
        record=options.record or None,
        inputs=inputs(suite, planners),
        packages=packages(suite, planners, metrics()),
        planned={stage.name: stage.count for stage in suite.stages},
        trajectories=options.trajectories,
        whole=dict(request.whole) or None,
        blind=tuple(blind(_seeing(planners))) or None,
        unaware=tuple(unaware(_seeing(planners))) or None,
        after_draw=(after_draw(suite.edition, planners) or None) if suite.edition is not None else None,
        control=tuple(label for label in planners if name_of(label, request.levels.get(label)) in request.controls) or None,
    )


def _seeing(planners: Mapping[str, Named]) -> dict[str, Named]:
    """Return the planners except the informed robot, which reads no channels because it knows everything."""
    return {label: planner for label, planner in planners.items() if not isinstance(planner.part, Informed)}


def check(suite: Suite) -> None:
    """Create one episode of every world read from files, and the first feasible episode of every generated world.

    Raises:
        InputError: a file is invalid, or none of a stage's first episodes can be created because something does not fit into the
            world.
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
            except PlacementError as error:  # the run will give up this episode
                failed.append(error)
        if len(failed) == len(first):
            raise failed[0]
        if stage.count > len(names) and repeats(suite, stage.name, len(names)):
            _LOG.warning(
                "suite %s, stage %s: episode %d is a copy of episode 0 (same start, no randomness); the two count as one",
                *(suite.name, stage.name, len(names)),
            )


def repeats(suite: Suite, stage: str, episode: int) -> bool:
    """Return whether an episode of a stage is a copy of the first episode: both have the same start, and nothing random happens
    afterwards.
    """
    made = suite.stage(stage)
    try:
        first, later = suite.start(stage, 0), suite.start(stage, episode)
    except PlacementError:  # the run will give up this episode
        return False
    return not draws_on(made, first) and digest_of(made, first) == digest_of(made, later)


def check_sensors(request: Request) -> None:
    """Make sure that the robots of every stage have the sensors that the planners, levels of perception and recordings need.

    Raises:
        InputError: a sensor that a planner needs is missing, so every episode would fail; or levels are given but no planner reads
            pedestrians.
    """
    if not request.repeats:
        return  # external planners have their own sensors
    told_of_people = False
    for label, planner in request.entrants.items():
        try:
            needs, level = declaration_of(planner.part).needs, request.levels.get(label)
        except InputError:
            continue  # all episodes of this planner are given up, with this reason
        for stage in request.suite.stages:
            told = stage.perception if level is None else replace(stage.perception, source=level)
            conditions = replace(Conditions.of(stage), perception=told)
            measured: set[str] = set()
            for model in map(load_robot, stage.models):
                try:
                    found = wiring_of(needs, conditions, model.lidar, model.sensors, request.options.record)
                    told_of_people |= found.tells_of_people
                except InputError as error:
                    raise InputError(f"stage {stage.name!r}, planner {label!r}, robot {model.name!r}: {error}") from error
                measured |= {name for name, one in found.recorded if any(0 not in field.shape for field in one.fields.values())}
            if empty := [name for name in request.options.record if name not in measured]:
                raise InputError(f"stage {stage.name!r}: record: the robots do not have {empty[0]}")
    if request.pedestrians and not told_of_people:
        raise InputError("pedestrians: has no effect, because none of the planners receives pedestrians; leave it out")


def jobs_for(suite: Suite, planners: Mapping[str, Named], finished: set[str], options: Options) -> list[Job]:
    """Return the episodes that have no row yet as jobs, spread evenly over the workers; a job has one stage and one planner.

    If the stage has an axis, each job contains only a few episodes of similar difficulty, because a batch takes as long as its most
    crowded episode.
    """
    jobs = []
    for label in planners:
        for stage in suite.stages:
            left = [k for k in range(stage.count) if key_of(suite, stage.name, k, label, 0) not in finished]
            share = -(-len(left) // options.runs.workers)
            size = max(1, min(options.batch, share))
            if (axis := axis_of(stage)) is not None:
                entry, seed = f"{suite.name}/{stage.name}", suite.seed_of(stage.name)
                left, size = sorted(left, key=lambda k: axis.fraction(entry, seed, k)), min(size, _ALIKE)
            jobs += [Job(stage.name, label, tuple(left[i : i + size])) for i in range(0, len(left), size)]
    return jobs
