"""A benchmark request as entered by a user on a command line, on a web page or in a file, as names and strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agora.benchmark._extension import extended_request
from agora.benchmark.contest import read_benchmark
from agora.benchmark.control import entrant, with_ceiling, with_control
from agora.benchmark.request import Options, Request, check_levels
from agora.benchmark.results.store import Keep
from agora.config import parse_component
from agora.engine.observers import recordable_channels
from agora.errors import InputError
from agora.interfaces import Executor
from agora.perception.perception import Level
from agora.planners.presets import expand_sweep, names_interplanner, runnable_planners, sort_parameters
from agora.registry import Named
from agora.tasks.suite import Suite, with_seed

__all__ = ["RequestForm"]


@dataclass(frozen=True)
class RequestForm:
    """All options of ``agora bench``; the method `request` converts the form into a `Request`.

    A form is plain data: `agora.config.load` reads a form from a file, and `agora.config.dump` writes a form.

    Attributes:
        suite: name or file of a suite, or the folder of an Arena benchmark.
        planners: planners, each given as NAME, NAME:key=value,key=value or PLANNER+INTERPLANNER, or as NAME:key=value,value for
            several values of one parameter; if empty, all planners that can run on this machine, or the planners of an Arena
            folder's contest.
        interplanner: interplanner for planners that do not name one.
        output: results folder; ``results/SUITE`` if None.
        resume: whether to continue the run in ``output``.
        add: whether to add the planners to the run in ``output``, whose rows are kept.
        stages: names of the stages to run; all if empty.
        episodes: number of episodes to run per stage, starting with the first; all if None.
        seed: seed that replaces the suite's seed; it determines people, starts, goals and generated places
            (`agora.tasks.suite.with_seed`).
        simulator: simulator that moves the robots, as a string; if empty, the stages' simulators.
        pedestrians: levels of perception at which each planner runs; if empty, planners run at the stages' levels.
        counterfactual: whether to run each episode also without robots.
        control: whether to add the control planner `agora.benchmark.control.CONTROL` if it is informative and no channels are
            recorded.
        executor: executor that runs the jobs, as a string; if empty, ``workers`` processes run the jobs.
        workers: as in `Options`.
        threads: as in `Options`.
        batch: as in `Options`.
        trajectories: as in `Options`.
        record: as in `Options`.

    Raises:
        InputError: a field has an invalid value; the message begins with the name of the field.
    """

    suite: str
    planners: tuple[str, ...] = ()
    interplanner: str = ""
    output: Path | None = None
    resume: bool = False
    add: bool = False
    stages: tuple[str, ...] = ()
    episodes: int | None = None
    seed: int | None = None
    simulator: str = ""
    pedestrians: tuple[Level, ...] = ()
    counterfactual: bool = False
    control: bool = True
    executor: str = ""
    workers: int = Options.workers
    threads: int = Options.threads
    batch: int = Options.batch
    trajectories: Keep = Options.trajectories
    record: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_levels(self.pedestrians)
        self._options()
        self._simulator()

    def _options(self) -> Options:
        runs: Executor | None = parse_component("executors", self.executor, "executor").part if self.executor else None
        sizes = {"workers": self.workers, "threads": self.threads, "batch": self.batch}
        return Options(**sizes, trajectories=self.trajectories, record=self.record, executor=runs)

    def prepare(self) -> None:
        """Start the process that workers are forked from. This must happen before any planner is imported, so that workers are not
        affected by side effects of imports.

        Raises:
            InputError: the executor cannot run on this machine.
        """
        self._options().runs.prepare()

    def _simulator(self) -> Named | None:
        return parse_component("simulators", self.simulator, "simulator") if self.simulator else None

    def chosen(self) -> tuple[Suite, dict[str, Named]]:
        """Return the suite, or the requested part of it, and the planners of its contest (empty unless the request is for an Arena
        benchmark folder).

        Raises:
            InputError: the suite cannot be read.
        """
        whole, contestants = read_benchmark(self.suite)
        return self._part(whole), contestants

    def _part(self, whole: Suite) -> Suite:
        """Return the requested part of a suite, with the requested seed and simulator."""
        suite = with_seed(whole.part(self.stages, self.episodes), self.seed).under(self._simulator())
        return suite.compared() if self.counterfactual else suite

    def folder(self, suite: Suite) -> Path:
        """Return the folder of the results of a suite."""
        return self.output or Path("results") / suite.name

    def left_out(self) -> dict[str, str]:
        """Return the reason, by planner, for each planner that is left out because it cannot run on this machine; empty if planners
        are named.
        """
        return {} if self.planners or self.chosen()[1] else runnable_planners()[1]

    def request(self) -> Request:
        """Return the request.

        Raises:
            InputError: a suite, planner or channel is unknown, or a file is invalid.
        """
        whole, contestants = read_benchmark(self.suite)
        suite = self._part(whole)
        texts = self.planners or (() if contestants else tuple(runnable_planners()[0]))
        if self.interplanner and not texts:
            raise InputError("interplanner: a contest specifies its own interplanners; give planners as well")
        if self.interplanner and all(map(names_interplanner, texts)):
            raise InputError("interplanner: has no effect, because every planner specifies its own; leave it out")
        texts = tuple(one for text in texts for one in expand_sweep(text))
        _check_that_all_differ(texts)
        planners = dict(entrant(text, self.interplanner) for text in texts)
        controls: tuple[str, ...] = ()
        if planners and self.control and not self.record and not self.add:  # runs with recorded sensors serve as training data
            asked, planners = planners, with_control(suite, planners, self.folder(suite), self.resume)
            planners = with_ceiling(suite, planners, self.folder(suite), self.resume)
            controls = tuple(name for name in planners if name not in asked)
        recordable_channels(self.record)
        planners = planners or contestants
        planned, counts = ({stage.name: stage.count for stage in one.stages} for one in (whole, suite))
        request = Request(
            suite,
            planners,
            self.folder(suite),
            self._options(),
            pedestrians=self.pedestrians,
            resume=self.resume,
            whole=planned if planned != counts else {},
            controls=controls,
        )
        return extended_request(request) if self.add else request


def _check_that_all_differ(texts: Sequence[str]) -> None:
    """Make sure that no planner is named twice; the order of parameters does not matter.

    Raises:
        InputError: a planner is named twice.
    """
    seen: dict[str, str] = {}
    for text in texts:
        if (key := sort_parameters(text)) in seen:
            raise InputError(f"planner {text!r}: given twice, first as {seen[key]!r}; remove one")
        seen[key] = text
