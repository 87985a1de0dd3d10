"""Requests to run a benchmark: the suite, the planners, the results folder and the options of the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agora.benchmark.defaults import BATCH, THREADS, TRAJECTORIES, WORKERS
from agora.benchmark.executors.in_process import InProcess
from agora.benchmark.executors.outside import External, Outside
from agora.benchmark.executors.processes import DEADLINE, Processes
from agora.benchmark.labels import at_levels
from agora.benchmark.results.store import Keep
from agora.errors import InputError
from agora.interfaces import Executor
from agora.perception.perception import LEVELS, Level
from agora.ranges import Checked, Natural, Whole
from agora.registry import Named
from agora.tasks.suite import Suite

__all__ = ["Options", "Request"]

_LEAST = {"workers": 0, "batch": 1, "worlds": 0, "threads": 1, "slots": 0}


@dataclass(frozen=True)
class Options(Checked):
    """The options of a run; none of them changes a result.

    Attributes:
        workers: number of worker processes; with 0, the jobs run in this process.
        batch: maximum number of episodes per job.
        worlds: maximum number of worlds simulated at once; 0 for all worlds of a job.
        threads: number of threads per worker; the worlds are divided among them.
        slots: number of pedestrian slots per world; 0 for as few as possible.
        trajectories: which recordings are kept.
        record: names of channels whose readings are kept in the recordings.
        deadline: maximum time for one planner call, one step of the world or one metric, s.
        executor: executor that runs the jobs; if None, ``workers`` processes run them with this ``deadline``.

    Raises:
        InputError: a number is too small, or ``trajectories`` has an unknown value.
    """

    workers: Whole = WORKERS
    batch: Natural = BATCH
    worlds: Whole = 0
    threads: Natural = THREADS
    slots: Whole = 0
    trajectories: Keep = TRAJECTORIES
    record: tuple[str, ...] = ()
    deadline: float = DEADLINE
    executor: Executor | None = None

    @property
    def runs(self) -> Executor:
        """The executor that runs the jobs."""
        return self.executor or (Processes(self.workers, self.deadline) if self.workers else InProcess())


@dataclass(frozen=True)
class Request:
    """A request to run a suite with planners.

    Attributes:
        suite: suite of the run.
        planners: planners by label.
        folder: folder of the results, created when the run is opened; an absolute path.
        options: options of the run.
        resume: whether to continue the run in the folder.
        pedestrians: levels of perception at which each planner runs; if empty, planners run at the stages' levels.
        whole: number of episodes in the whole suite, by stage, if ``suite`` is only a part of that suite; empty otherwise.
        begun: names of the planners that are already in the run, if this request adds planners to it; empty otherwise.
        controls: names of planners that were not requested but run for comparison (`agora.benchmark.control`).

    Raises:
        InputError: there is no planner, a label is invalid, or a level is unknown.
    """

    suite: Suite
    planners: Mapping[str, Named]
    folder: Path
    options: Options = field(default_factory=Options)
    pedestrians: tuple[Level, ...] = ()
    resume: bool = False
    whole: Mapping[str, int] = field(default_factory=dict)
    begun: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder).absolute())
        object.__setattr__(self, "planners", dict(self.planners))
        object.__setattr__(self, "pedestrians", tuple(dict.fromkeys(self.pedestrians)))
        if not self.planners:
            raise InputError("no planner given")
        for label in self.planners:
            if not label or "/" in label or not label.isprintable():
                raise InputError(f"planner {label!r}: expected a label of printable characters without '/'")
        check_levels(self.pedestrians)

    @staticmethod
    def outside(suite: Suite, label: str, folder: Path, executor: Outside, *, resume: bool = False) -> Request:
        """Return a request to run a suite with an external planner.

        Args:
            suite: suite of the run.
            label: label of the external planner.
            folder: folder of the results.
            executor: executor that delegates episodes to the external runner.
            resume: whether to continue the run in the folder.
        """
        return Request(suite, {label: Named("external", External())}, folder, Options(batch=1, executor=executor), resume=resume)

    @property
    def before(self) -> Request:
        """The request for the run that already exists in the folder, without the added planners."""
        if not self.begun:
            return self
        return replace(self, planners={name: self.planners[name] for name in self.begun}, begun=())

    @property
    def entrants(self) -> dict[str, Named]:
        """The planners by label, with one entry per planner and level of perception."""
        return at_levels(self.planners, self.pedestrians, self.controls)[0]

    @property
    def levels(self) -> dict[str, Level]:
        """The levels of perception of the entrants, by label; entrants that are missing run at the stages' levels."""
        return at_levels(self.planners, self.pedestrians, self.controls)[1]

    @property
    def episodes(self) -> int:
        """The total number of episodes of all entrants."""
        return len(self.suite.entries()) * len(self.entrants)

    @property
    def repeats(self) -> bool:
        """True if repeating an episode is guaranteed to give the same result; False with external planners."""
        return not any(isinstance(planner.part, External) for planner in self.planners.values())


def check_levels(levels: Iterable[str]) -> None:
    """Make sure that all names are names of levels of perception.

    Raises:
        InputError: a name is not the name of a level of perception.
    """
    for level in levels:
        if level not in LEVELS:
            raise InputError(f"pedestrians: expected {', '.join(LEVELS)}, got {level!r}")
