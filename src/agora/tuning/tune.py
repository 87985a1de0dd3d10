"""Tunes a planner's parameters on a training suite, and checks the result on a suite that was not used in the search.

The search (`agora.tuning.search`) requests `TOGETHER` parameter sets at a time, and an executor runs their episodes. A set is given
up, and cannot become the best, if its objective over the first quarter of every stage is worse than the median of all sets so far
over the same episodes. The original planner is never given up. The suggested sets do not depend on the workers, so the result does
not depend on them either. A resumed run suggests the same sets again and finds their episodes in its folder.
"""

from __future__ import annotations

import dataclasses
import math
import shutil
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from agora import __version__
from agora.benchmark.bench import bench, check, jobs_for, rows_of
from agora.benchmark.conductor import conduct
from agora.benchmark.events import GivenUp, Kept, RunEvent
from agora.benchmark.job import RunPlan, key_of
from agora.benchmark.provenance.inputs import inputs
from agora.benchmark.provenance.packages import manifest, packages
from agora.benchmark.request import Options, Request
from agora.benchmark.results import store
from agora.benchmark.results.open_run import OpenRun, open_run
from agora.benchmark.results.run_folder import RunFolder, episodes_kept
from agora.benchmark.results.run_record import RunRecord
from agora.benchmark.stop_token import StopToken
from agora.config import dump, plain
from agora.errors import InputError, ResultsError, StoppedError
from agora.files import write_whole
from agora.metrics.registered import metrics
from agora.ranges import Checked, Natural, Whole
from agora.registry import Named
from agora.tasks.suite import Suite
from agora.tuning.objective import DEFAULT, Objective
from agora.tuning.result import Trial, Tried, Tuned
from agora.tuning.search import TOGETHER, Study, round_parameters, space, with_parameters

__all__ = ["Tuning", "tune"]

_QUARTER = 4

TuneEvent = RunEvent | Tried | Tuned
"""The events of a parameter search; the last event is `Tuned`."""


@dataclass(frozen=True)
class Tuning(Checked):
    """The planner, the suites and the budget of a search, i.e. everything that determines the result.

    Attributes:
        label: label of the planner.
        planner: original planner; the search starts from its parameters, and the result is compared with it.
        suite: suite for tuning; the suite's split must be ``training``.
        held_out: suite for the final comparison.
        objective: objective that is maximised.
        trials: number of parameter sets to try; the first is the original planner's set.
        seed: seed of the search.
        prune: whether sets with poor results in the first episodes are given up.
    """

    label: str
    planner: Named
    suite: Suite
    held_out: Suite
    objective: Objective = field(default_factory=lambda: Objective.of(DEFAULT))
    trials: Natural = 64
    seed: Whole = 0
    prune: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.suite.split != "training":
            raise InputError(f"suite {self.suite.name!r} is for tests; tune on a suite whose split is training")
        if self.held_out.split == "training":
            raise InputError(f"suite {self.held_out.name!r} is for training; compare the result on a suite whose split is test")

    def describe(self) -> RunRecord:
        """Return the values that determine the result."""
        return RunRecord(
            suite=plain(self.suite),
            planners={self.label: plain(self.planner)},
            version=__version__,
            inputs=inputs(self.suite, self.planner),
            packages=packages(self.suite, self.planner, metrics()),
            tuning={
                "held_out": plain(self.held_out),
                "objective": self.objective.text,
                "trials": self.trials,
                "seed": self.seed,
                "prune": self.prune,
                "space": plain(space(self.planner)),
                "optuna": version("optuna"),
            },
        )


def tune(
    tuning: Tuning,
    folder: Path,
    options: Options | None = None,
    *,
    resume: bool = False,
    minutes: float | None = None,
    token: StopToken | None = None,
) -> Iterator[TuneEvent]:
    """Search for better parameters, compare the best set with the original planner, and yield events; the last event is the result,
    `Tuned`.

    Episode events (`agora.benchmark.events`) belong first to the sets that are tried together, and later to the comparison. Nothing
    runs until the first event is requested. The iterator may run in any thread. To stop the search, close the iterator, or call
    ``token.stop()`` from another thread. A search that is continued with ``resume`` ends with the same result.

    Args:
        tuning: planner, suites and budget.
        folder: folder of the results, created by this function.
        options: options of the runs; the recordings of trials are not kept.
        resume: whether to continue the search in ``folder``.
        minutes: time after which no further sets are tried, in minutes; the result then covers only the finished trials.
        token: token through which another thread can stop the search.

    Raises:
        StoppedError: the token requested a stop; the message says what is kept.
        InputError: the planner has no parameters to tune, a suite cannot be built, or Optuna is not installed.
        ResultsError: the folder cannot be used, or episodes of the original planner were interrupted.
    """
    token, folder = token or StopToken(), folder.absolute()
    try:
        token.check()
        yield from _tune(tuning, folder, options or Options(), resume, minutes, token)
    except StoppedError:
        raise StoppedError(f"stopped: {episodes_kept(folder)}; repeat the tuning with resume to continue") from None


def _tune(
    tuning: Tuning, folder: Path, options: Options, resume: bool, minutes: float | None, token: StopToken
) -> Iterator[TuneEvent]:
    """Yield the events of a search."""
    begun, search = time.monotonic(), _Search(tuning, token)
    options.runs.prepare()
    check(tuning.suite)
    check(tuning.held_out)
    record, code = tuning.describe(), manifest(tuning.suite, tuning.planner, metrics())
    with open_run(folder, record, code, episodes=tuning.trials, resume=resume) as search.folder:
        search.rows, trials = store.read_rows(folder / "episodes"), search.trials
        while len(trials) < tuning.trials and not (trials and minutes is not None and time.monotonic() - begun > 60.0 * minutes):
            known = len(trials)
            yield from search.try_next(min(TOGETHER, tuning.trials - known), options)
            best = _best(trials)
            write_whole(folder / "trials.yaml", dump(trials))
            for done, trial in enumerate(trials[known:], known + 1):
                yield Tried(trial, done, tuning.trials, best)
        now = tuning.describe()
        search.folder.check_unchanged(now.inputs or {}, now.packages or {})
    before, after = tuning.label, f"{tuning.label} tuned"
    planners = {before: tuning.planner, after: with_parameters(tuning.planner, best.parameters)}
    checked = folder / "held_out"
    if RunFolder.is_at(checked) and RunFolder.read(checked).record.planners != {
        label: plain(one) for label, one in planners.items()
    }:
        shutil.rmtree(checked)  # the existing comparison belongs to the best set of a shorter search
    yield from bench(Request(tuning.held_out, planners, checked, options, resume=RunFolder.is_at(checked)), token)
    yield Tuned(trials, best, planners[after], rows_of(checked), before, after)


class _Search:
    """The Optuna study, and the values of its trials.

    Attributes:
        folder: folder of the search, opened before the first trial is requested.
        rows: rows of all episodes so far.
        trials: finished trials.
    """

    folder: OpenRun
    rows: list[dict[str, Any]]

    def __init__(self, tuning: Tuning, token: StopToken) -> None:
        self.tuning, self.token, self.trials = tuning, token, list[Trial]()
        self.begun: list[float] = []  # mean objective of each set over the first episodes
        self.study = Study(tuning.planner, tuning.seed)

    def try_next(self, count: int, options: Options) -> Iterator[RunEvent]:
        """Request ``count`` parameter sets, run their episodes, yield the events, and report the sets' values to the study."""
        numbers = range(len(self.trials), len(self.trials) + count)
        asked = {f"trial_{number:04d}": self.study.ask() for number in numbers}
        sets = {label: round_parameters(trial.params) for label, trial in asked.items()}
        planners = {label: with_parameters(self.tuning.planner, values) for label, values in sets.items()}
        worth = yield from self._worth(planners, _beginning(self.tuning.suite), options)
        for label, (early, _) in worth.items():
            asked[label].report(early, 1)
            self.begun.append(early)
        least = median(self.begun) if self.begun and self.tuning.prune else -math.inf
        kept = [label for k, label in zip(numbers, asked, strict=True) if label in worth and (k == 0 or worth[label][0] >= least)]
        whole = yield from self._worth({label: planners[label] for label in kept}, self.tuning.suite, options)
        for number, (label, trial) in zip(numbers, asked.items(), strict=True):
            self.study.tell(trial, whole[label][0] if label in whole else None)
            value, episodes = (worth | whole).get(label, (None, 0))
            self.trials.append(Trial(number, sets[label], value, episodes, label in whole))
        if not self.trials[0].whole:
            raise ResultsError(
                f"{self.folder.path}: episodes of the original planner were interrupted; there is nothing to compare with"
            )

    def _worth(
        self, planners: Mapping[str, Named], suite: Suite, options: Options
    ) -> Generator[RunEvent, None, dict[str, tuple[float, int]]]:
        """Run the sets' episodes and yield the events; return the mean objective and the number of rows of each set, except for
        sets with an interrupted episode.
        """
        sizes, mark = (options.worlds, options.threads, options.slots), self.folder.record.mark()
        plan = RunPlan(suite, dict(planners), *sizes, "none", run=mark, token=self.token)
        jobs, lost = jobs_for(suite, planners, self.folder.finished, options), set[str]()
        for event in conduct(plan, jobs, self.folder.path, options.runs):
            match event:
                case Kept(stage, planner, episodes, shard):
                    self.folder.keep_rows(key_of(suite, stage, episode, planner, 0) for episode in episodes)
                    self.rows += store.read_rows(self.folder.path / "episodes" / f"{shard}.parquet")
                case GivenUp(_, planner, _, _):
                    lost.add(planner)
            yield event
        wanted = set(suite.entries())
        mine = {
            label: [row for row in self.rows if row["planner"] == label and (row["stage"], row["episode"]) in wanted]
            for label in planners
            if label not in lost
        }
        return {label: (self.tuning.objective.mean(some), len(some)) for label, some in mine.items()}


def _beginning(suite: Suite) -> Suite:
    """Return the suite with only the first quarter of every stage's episodes."""
    stages = (dataclasses.replace(stage, episodes=-(-stage.count // _QUARTER)) for stage in suite.stages)
    return dataclasses.replace(suite, stages=tuple(stages))


def _best(trials: Sequence[Trial]) -> Trial:
    """Return the completed trial with the highest value; if several values are equal, return the first trial, so that parameters do
    not change without a gain.
    """
    return max((t for t in trials if t.whole and t.value is not None), key=lambda t: (t.value, -t.number))
