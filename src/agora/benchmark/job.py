"""One job of a benchmark: some episodes of one stage under one planner, run as a batch and written as one shard."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agora.benchmark import store
from agora.benchmark.store import Keep
from agora.core.recording import Recording
from agora.episode import Conditions, Episodes
from agora.errors import AgoraError, InputError, ResultsError, in_words
from agora.metrics.efficiency import TIMING
from agora.metrics.metric import Metric
from agora.metrics.notes import main_reason
from agora.perception.perception import Level, Perception
from agora.registry import Named, available, load
from agora.tasks.suite import Suite

if TYPE_CHECKING:
    from agora.tasks.start import Start


@dataclass(frozen=True)
class Job:
    """Which episodes are run together.

    Attributes:
        stage: its name. planner: its label. episodes: numbers of the episodes.
        unmade: of a job of one episode, the call of the planner, from 1, that took a worker along and is not made again, and how.
    """

    stage: str
    planner: str
    episodes: tuple[int, ...]
    unmade: tuple[int, str] | None = None

    @property
    def shard(self) -> str:
        """Name of the job's files."""
        text = "/".join((self.stage, self.planner, *map(str, self.episodes)))
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Plan:
    """What all jobs of a run have in common.

    Attributes:
        suite: the episodes. planners: by label. folder: of the results.
        worlds: most worlds side by side, 0 for all of a job. threads: over worlds.
        slots: pedestrian slots a world, 0 for the least.
        trajectories: whose recordings are kept.
        pedestrians: what planners are told of them, by label; what the stage says where a label is not there.
        run: what its shards are marked with (`agora.benchmark.bench.prepare`).
    """

    suite: Suite
    planners: dict[str, Named]
    folder: Path
    worlds: int = 0
    threads: int = 1
    slots: int = 0
    trajectories: Keep = "all"
    pedestrians: dict[str, Level] = field(default_factory=dict)
    run: str = ""

    def told(self, job: Job) -> Perception:
        """How the robots of a job come to know of pedestrians."""
        own = self.suite.stage(job.stage).perception
        return replace(own, source=self.pedestrians.get(job.planner, own.source))


def key_of(suite: Suite, stage: str, episode: int, planner: str, robot: int) -> str:
    """The key of a row."""
    return store.episode_key({"suite": suite.name, "stage": stage, "episode": episode, "planner": planner, "robot": robot})


def metrics() -> list[Metric]:
    """Every registered metric, by name."""
    return [load("metrics", name) for name in available("metrics")]


def row_of(
    plan: Plan, job: Job, episode: int, robot: int, model: str, recording: Recording, measures: list[Metric]
) -> dict[str, Any]:
    """The row of one robot's episode."""
    row: dict[str, Any] = {
        "key": key_of(plan.suite, job.stage, episode, job.planner, robot),
        "suite": plan.suite.name,
        "stage": job.stage,
        "episode": episode,
        "seed": plan.suite.seed_of(job.stage),
        "planner": job.planner,
        "robot": robot,
        "model": model,
        "pedestrians": plan.told(job).source,
        "outcome": recording.outcome.label,
        "duration": float(recording.time[-1]),
        "clipped": recording.clipped,
        "failure": recording.failure,
    }
    if recording.reason is not None:
        row["reason"] = main_reason(recording)
    return row | {m.name: m(recording) for m in measures}


@dataclass(frozen=True)
class Watch:
    """What is told how a job goes on.

    Attributes:
        before, after: called around every call of the planner and every step of the world; ``before`` with their name.
        done: called with the number of episodes that have ended since the last call; negative where some are begun again.
    """

    before: Callable[[str], None] = lambda what: None
    after: Callable[[], None] = lambda: None
    done: Callable[[int], None] = lambda count: None


class _UnheardError(Exception):
    """Caused by what ``Watch.done`` raised: it is not the episode's fault."""


def run(plan: Plan, job: Job, watch: Watch) -> dict[int, str]:
    """Run a job and write its shard; the episodes' file is written last, so a shard is there whole or not at all.

    An episode that cannot be put together, or in which something but the planner raises, is given up; the others are run.

    Args:
        plan: of the run. job: to do. watch: is told how it goes on.

    Returns:
        Why episodes were given up, by number.

    Raises:
        ResultsError: the results cannot be written.
    """
    stage, planner = plan.suite.stage(job.stage), plan.planners[job.planner].part
    starts: dict[int, Start] = {}
    given_up: dict[int, str] = {}
    for episode in job.episodes:
        try:
            starts[episode] = plan.suite.start(job.stage, episode)
        except InputError as error:
            given_up[episode] = in_words(error).removeprefix(f"{plan.suite.entry(job.stage, episode)}: ")
            watch.done(1)
    conditions = replace(Conditions.of(stage), perception=plan.told(job))
    return given_up | (_play(plan, replace(job, episodes=tuple(starts)), planner, conditions, starts, watch) if starts else {})


def _play(plan: Plan, job: Job, planner: Any, conditions: Conditions, starts: Mapping[int, Start], watch: Watch) -> dict[int, str]:
    """Run the episodes of a job side by side; where something raises, one by one, to learn in which."""
    ended = 0

    def done(count: int) -> None:
        nonlocal ended
        ended += count
        try:
            watch.done(count)
        except Exception as error:
            raise _UnheardError from error

    try:
        episodes = Episodes(
            [starts[k] for k in job.episodes],
            planner,
            conditions,
            worlds=plan.worlds,
            threads=plan.threads,
            slots=plan.slots,
            before=watch.before,
            after=watch.after,
            unmade=job.unmade,
        )
        write(plan, job, starts, ((job.episodes[index], recordings) for index, recordings in episodes), done)
        return {}
    except ResultsError:
        raise
    except _UnheardError as error:
        assert error.__cause__ is not None
        raise error.__cause__ from None
    except Exception as error:  # noqa: BLE001 - a stranger's crowd model or metric may raise anything
        reason = f"{in_words(error)}{_place(error)}"
    finally:
        watch.after()
    if len(job.episodes) == 1:
        watch.done(1 - ended)
        return {job.episodes[0]: reason}
    watch.done(-ended)
    alone = (replace(job, episodes=(k,)) for k in job.episodes)
    return {k: why for one in alone for k, why in _play(plan, one, planner, conditions, starts, watch).items()}


def _place(error: Exception) -> str:
    """Where something was raised that is not Agora's own."""
    frames = traceback.extract_tb(error.__traceback__)
    return "" if isinstance(error, AgoraError) or not frames else f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"


def write(
    plan: Plan,
    job: Job,
    starts: Mapping[int, Start],
    played: Iterable[tuple[int, list[Recording]]],
    done: Callable[[int], None] = lambda count: None,
) -> None:
    """Write the shard of a job.

    Args:
        plan: of the run. job: that was done.
        starts: by number of the episode.
        played: number of each episode and a recording of each of its robots.
        done: called with the number of episodes that have ended since the last call.
    """
    measures = metrics()
    lasting = [m for m in measures if m.name not in TIMING]
    fleeting = [m for m in measures if m.name in TIMING]
    rows, timing, kept = [], [], {}
    for episode, recordings in played:
        for robot, recording in enumerate(recordings):
            row = row_of(plan, job, episode, robot, starts[episode].robots[robot].model.name, recording, lasting)
            rows.append(row)
            identity = {name: row[name] for name in store.IDENTITY}
            timing.append(identity | {m.name: m(recording) for m in fleeting} | {store.CALLS: recording.planning_time})
            if store.is_kept(row, plan.trajectories):
                kept[row["key"]] = recording
        done(1)
    rows.sort(key=lambda r: r["key"])
    timing.sort(key=lambda r: r["key"])
    if kept:
        store.write_recordings(plan.folder / "trajectories" / f"{job.shard}.parquet", dict(sorted(kept.items())), plan.run)
    store.write_rows(plan.folder / "timing" / f"{job.shard}.parquet", timing, plan.run)
    store.write_rows(plan.folder / "episodes" / f"{job.shard}.parquet", rows, plan.run)
