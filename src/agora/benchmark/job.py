"""One job of a benchmark: some episodes of one stage with one planner, run as a batch and stored in one shard."""

from __future__ import annotations

import functools
import hashlib
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agora.benchmark.defaults import THREADS, TRAJECTORIES
from agora.benchmark.informed import Foreseen, Informed
from agora.benchmark.provenance.inputs import inputs
from agora.benchmark.provenance.packages import packages
from agora.benchmark.results import store
from agora.benchmark.results.copies import PLACE, START
from agora.benchmark.results.rows import EndedEpisode, ShardRows
from agora.benchmark.results.store import Keep
from agora.benchmark.stop_token import StopToken
from agora.core import float_mode
from agora.core.recording import Recording
from agora.core.untrusted_calls import Signalled
from agora.core.untrusted_calls import guard_items as within
from agora.datasets.played import PlayedRobot
from agora.engine.undisturbed import walk_undisturbed
from agora.episode import WORLD, Conditions, Episodes
from agora.errors import AgoraError, InputError, StoppedError, in_words, place
from agora.interfaces import Done, Event, Finished, Metric, Progress, Watch
from agora.metrics.registered import metrics
from agora.perception.perception import Level, Perception
from agora.registry import Named, own_alone
from agora.tasks.copies import digest_of, place_of
from agora.tasks.suite import Suite

if TYPE_CHECKING:
    from agora.world.start import Start


_UNWATCHED = Watch()
_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Job:
    """Episodes that are run together.

    Attributes:
        stage: name of the stage.
        planner: label of the planner.
        episodes: numbers of the episodes.
        unmade: number, from 1, of the planner call that killed a worker and is now skipped, and how the worker ended; None unless
            the job is a repeated single episode.
        starts: starts of the episodes by number, or the reason why a start cannot be created; None if the worker creates them from
            files.
    """

    stage: str
    planner: str
    episodes: tuple[int, ...]
    unmade: tuple[int, str] | None = None
    starts: Mapping[int, Start | str] | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The name of the job, which is also the name of its shard."""
        text = "/".join((self.stage, self.planner, *map(str, self.episodes)))
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def finished(self, rows: ShardRows) -> Finished:
        """Return the event that reports the job's episodes and their rows as finished."""
        return Finished(self.name, self.name, tuple(sorted(rows.episodes)), rows.files())


@dataclass(frozen=True)
class RunPlan:
    """The settings that all jobs of a run have in common, and the function that runs a job (`agora.interfaces.Work`).

    Attributes:
        suite: suite of the run.
        planners: planners by label.
        worlds: maximum number of worlds simulated at once; 0 for all worlds of a job.
        threads: number of threads; the worlds are divided among them.
        slots: number of pedestrian slots per world; 0 for as few as possible.
        trajectories: which recordings are kept.
        pedestrians: levels of perception of planners, by label; other planners have the stage's level.
        run: mark of the run's shards (`agora.benchmark.results.run_record.RunRecord.id`).
        record: names of channels whose readings are kept in the recordings.
        own: whether rows contain only Agora's own metrics, and the processes that simulate the worlds import no other package.
        token: token that requests a stop; it works only in the benchmark's own process.
    """

    suite: Suite
    planners: dict[str, Named]
    worlds: int = 0
    threads: int = THREADS
    slots: int = 0
    trajectories: Keep = TRAJECTORIES
    pedestrians: dict[str, Level] = field(default_factory=dict)
    run: str = ""
    record: tuple[str, ...] = ()
    own: bool = False
    token: StopToken = field(default_factory=StopToken, compare=False, repr=False)

    def told(self, job: Job) -> Perception:
        """Return the perception settings of a job's robots, with the planner's level of perception."""
        own = self.suite.stage(job.stage).perception
        return replace(own, source=self.pedestrians.get(job.planner, own.source))

    def starts(self, job: Job) -> Mapping[int, Start | str]:
        """Return the starts of a job's episodes by number, or the reason why a start cannot be created."""
        float_mode.set_usual()  # importing a planner's modules may have changed the floating-point mode
        return job.starts or {episode: self._start(job.stage, episode) for episode in job.episodes}

    def _start(self, stage: str, episode: int) -> Start | str:
        try:
            return self.suite.start(stage, episode)
        except InputError as error:
            return in_words(error).removeprefix(f"{self.suite.entry(stage, episode)}: ")

    def shard(self, watch: Watch = _UNWATCHED) -> ShardRows:
        """Return an empty shard of the run; ``watch`` is called before and after every metric."""
        return ShardRows([_watched_metric(one, watch) for one in metrics(own=self.own)], self.trajectories, self.run)

    def ended(
        self, job: Job, episode: int, start: Start, recordings: Sequence[Recording], beside: Mapping[str, str] = _NOTHING
    ) -> EndedEpisode:
        """Return an ended episode of a job; ``recordings`` contains one recording per robot, and ``beside`` the strings to add to
        the episode's rows.
        """
        robots = tuple(PlayedRobot(job.planner, robot.model.name, one) for robot, one in zip(start.robots, recordings, strict=True))
        which = (self.suite.name, job.stage, episode, self.suite.seed_of(job.stage))
        stands = {START: digest_of(self.suite.stage(job.stage), start), PLACE: place_of(start)}
        return EndedEpisode(*which, robots, self.told(job).source, {**stands, **beside})

    def of(self, planner: str) -> RunPlan:
        """Return the plan for the jobs of one planner, given by label. A process that unpickles the plan imports no other
        planner.
        """
        return replace(self, planners={label: part for label, part in self.planners.items() if label == planner})

    def files(self) -> Mapping[str, str]:
        """The digests of the files that the episodes depend on, by name (`agora.benchmark.provenance.inputs`)."""
        return inputs(self.suite, self.planners)

    def packages(self) -> Mapping[str, str]:
        """The versions of the packages of components and metrics, by name (`agora.benchmark.provenance.packages`)."""
        return packages(self.suite, self.planners, metrics())

    def carrying(self, job: Job) -> Job:
        """Return the job with the starts of its episodes, which include maps, robots, pedestrians and recorded tracks.

        Files that a planner or a crowd model reads itself are not included; they must exist on the worker's machine.
        """
        return replace(job, starts=self.starts(job))

    def __call__(self, job: Job, watch: Watch = _UNWATCHED) -> Iterator[Event]:
        """Run a job, and yield its events.

        An episode is given up if it cannot be created, or if anything other than the planner raises an exception. The other
        episodes of the job are still run.
        """
        with own_alone(self.own):
            yield from self._events(job, self._stoppable(watch))

    def _events(self, job: Job, watch: Watch) -> Iterator[Event]:
        """Run a job with the given watch; see `__call__`."""
        stage, planner, all_starts = self.suite.stage(job.stage), self.planners[job.planner].part, self.starts(job)
        starts = {k: start for k, start in all_starts.items() if not isinstance(start, str)}
        given_up = {k: why for k, why in all_starts.items() if isinstance(why, str)}
        conditions = replace(Conditions.of(stage), perception=self.told(job))
        if given_up:
            yield Progress(job.name, len(given_up))
        if starts:
            for event in within(_play(self, replace(job, episodes=tuple(starts)), planner, conditions, starts, watch)):
                match event:
                    case _GivenUp(episode, reason):
                        given_up[episode] = reason
                    case _Ended(count):
                        yield Progress(job.name, len(all_starts) - len(starts) + count)
                    case _:
                        yield replace(event, job=job.name)
        yield Done(job.name, given_up)

    def _stoppable(self, watch: Watch) -> Watch:
        """Return a watch that also checks the token, so that a job in the benchmark's own process stops before the next call."""

        def before(what: str) -> None:
            self.token.check()
            watch.before(what)

        return Watch(before, watch.after)


def key_of(suite: Suite, stage: str, episode: int, planner: str, robot: int) -> str:
    """Return the key of a row."""
    return store.episode_key({"suite": suite.name, "stage": stage, "episode": episode, "planner": planner, "robot": robot})


def _watched_metric(measure: Metric, watch: Watch) -> Metric:
    """A metric that calls a watch before and after it is computed."""

    @functools.wraps(measure.function)
    def function(recording: Recording) -> float | None:
        watch.before(f"metric {measure.name}")
        try:
            return measure.function(recording)
        finally:
            watch.after()

    return replace(measure, function=function)


@dataclass(frozen=True)
class _Ended:
    """The number of episodes that have ended in a part of a job."""

    count: int


@dataclass(frozen=True)
class _GivenUp:
    """An episode without a row, and the reason."""

    episode: int
    reason: str


def _play(
    plan: RunPlan, job: Job, planner: Any, conditions: Conditions, starts: Mapping[int, Start], watch: Watch
) -> Iterator[_Ended | _GivenUp | Finished]:
    """Run the episodes of a job together; if an exception is raised, run them one by one to find the episode that causes the
    exception.
    """
    try:
        episodes = _episodes(plan, job, planner, conditions, starts, watch)
        rows = plan.shard(watch)
        ended = (
            episodes
            if not plan.suite.stage(job.stage).counterfactual
            else with_undisturbed_pedestrians(episodes, conditions, watch)
        )
        for index, recordings in ended:
            rows.add(plan.ended(job, job.episodes[index], starts[job.episodes[index]], recordings))
            yield _Ended(len(rows.episodes))
        yield job.finished(rows)
        return
    except (Signalled, GeneratorExit, StoppedError):
        raise
    except BaseException as error:  # noqa: BLE001 - an external crowd model or metric may raise anything
        reason = f"{in_words(error)}{_place(error)}"
    finally:
        watch.after()
    if len(job.episodes) == 1:
        yield _GivenUp(job.episodes[0], reason)
        yield _Ended(1)
        return
    yield _Ended(0)
    for number, episode in enumerate(job.episodes):
        for event in _play(plan, replace(job, episodes=(episode,)), planner, conditions, starts, watch):
            yield _Ended(number + event.count) if isinstance(event, _Ended) else event


def _episodes(
    plan: RunPlan, job: Job, planner: Any, conditions: Conditions, starts: Mapping[int, Start], watch: Watch
) -> Episodes | Foreseen:
    """Return the episodes of a job, ready to run."""
    chosen = [starts[k] for k in job.episodes]
    if isinstance(planner, Informed):
        return planner.episodes(chosen, conditions, watch)
    return Episodes(
        chosen,
        planner,
        conditions,
        worlds=plan.worlds,
        threads=plan.threads,
        slots=plan.slots,
        record=plan.record,
        before=watch.before,
        after=watch.after,
        unmade=job.unmade,
    )


def with_undisturbed_pedestrians(
    episodes: Episodes | Foreseen, conditions: Conditions, watch: Watch = _UNWATCHED
) -> Iterator[tuple[int, list[Recording]]]:
    """Yield the number and the recordings of each ended episode.

    The recordings include the positions that pedestrians would have had without robots.
    """
    ended = list(episodes)
    starts = [episodes.starts[index] for index, _ in ended]
    ends = [max(one.time[-1] for one in recordings) for _, recordings in ended]
    alone = walk_undisturbed(starts, conditions, ends, before=lambda: watch.before(WORLD), after=watch.after)
    float_mode.check(WORLD)
    for (index, recordings), places in zip(ended, alone, strict=True):
        yield index, [replace(one, undisturbed=places[: len(one.time)]) for one in recordings]


def _place(error: BaseException) -> str:
    """Return a description of the source line of an exception; empty for Agora's own exceptions."""
    calls = list(traceback.walk_tb(error.__traceback__))
    return "" if isinstance(error, AgoraError) or not calls else f" ({place(calls)})"
