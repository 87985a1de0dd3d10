"""Tuning of a planner's parameters on a training suite, and the check on a suite that the search never saw.

The search (`agora.benchmark.study`) asks for `TOGETHER` sets of parameters at a time, whose episodes an executor runs. A set that
over the first quarter of every stage is worse than the median of all sets so far over the same episodes is given up and
cannot win; the planner as it is is never given up. What the search asks for depends on no worker, so neither does its result. A run
that was killed asks for the same sets again and finds their episodes in its folder.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from agora import __version__
from agora.benchmark import store
from agora.benchmark.bench import Options, alone, bench, check, check_space, jobs_for, prepare
from agora.benchmark.conductor import conduct
from agora.benchmark.inputs import inputs
from agora.benchmark.job import Plan, metrics
from agora.benchmark.objective import DEFAULT, Objective
from agora.benchmark.packages import packages
from agora.benchmark.study import TOGETHER, Study, rounded, space, with_parameters
from agora.benchmark.tuned import Trial, Tuned
from agora.config import dump, plain
from agora.errors import InputError, ResultsError
from agora.files import write_whole
from agora.registry import Named
from agora.tasks.suite import Suite

_QUARTER = 4


@dataclass(frozen=True)
class Tuning:
    """Planner, suite and budget of a search: all values that decide the result.

    Attributes:
        label: of the planner. planner: where the search begins, and what the result is compared with.
        suite: to tune on; its split must be training. held_out: to compare on.
        objective: what to make large.
        trials: sets of parameters to try, the first is the planner's own. seed: of the search.
        prune: whether sets that begin badly are given up.
    """

    label: str
    planner: Named
    suite: Suite
    held_out: Suite
    objective: Objective = field(default_factory=lambda: Objective.of(DEFAULT))
    trials: int = 64
    seed: int = 0
    prune: bool = True

    def __post_init__(self) -> None:
        if self.suite.split != "training":
            raise InputError(f"suite {self.suite.name!r} is for tests; a planner is tuned on a suite whose split is training")
        if self.held_out.split == "training":
            raise InputError(f"suite {self.held_out.name!r} is for training; what was tuned is compared on one for tests")
        if self.trials < 1 or self.seed < 0:
            raise InputError(f"trials must be at least 1 and the seed at least 0, got {self.trials} and {self.seed}")

    def describe(self) -> dict[str, Any]:
        """The values that decide the result, as plain data."""
        return {
            "suite": plain(self.suite),
            "planners": {self.label: plain(self.planner)},
            "version": __version__,
            "inputs": inputs(self.suite, self.planner),
            "packages": packages(self.suite, self.planner, metrics()),
            "tuning": {
                "held_out": plain(self.held_out),
                "objective": self.objective.text,
                "trials": self.trials,
                "seed": self.seed,
                "prune": self.prune,
                "space": plain(space(self.planner)),
                "optuna": version("optuna"),
            },
        }


def tune(
    tuning: Tuning,
    folder: Path,
    options: Options | None = None,
    *,
    resume: bool = False,
    minutes: float | None = None,
    progress: Callable[[int, float], None] = lambda done, best: None,
) -> Tuned:
    """Search for better parameters and compare the best with the planner as it was.

    Args:
        tuning: what decides the result. folder: of the results, made here. options: how; the trajectories of trials are not kept.
        resume: go on with a run that was begun in ``folder``.
        minutes: no further sets are asked for after that long; the result is then that of as many trials as there are.
        progress: called with the number of trials done and the best value.

    Raises:
        InputError: the planner has nothing to tune, a suite cannot be put together, or Optuna is not installed.
        ResultsError: the folder cannot be used, or episodes of the planner as it is were interrupted.
    """
    options, begun = options or Options(), time.monotonic()
    search = _Search(tuning)
    options.runs.prepare()
    check(tuning.suite)
    check(tuning.held_out)
    folder = folder.absolute()
    check_space(folder, tuning.trials)
    with alone(folder):
        search.run = prepare(folder, tuning.describe(), resume)
        trials: list[Trial] = []
        while len(trials) < tuning.trials and not (trials and minutes is not None and time.monotonic() - begun > 60.0 * minutes):
            trials += search.next(min(TOGETHER, tuning.trials - len(trials)), folder, options)
            best = _best(trials)
            write_whole(folder / "trials.yaml", dump(trials))
            progress(len(trials), best.value or 0.0)
    before, after = tuning.label, f"{tuning.label} tuned"
    planners = {before: tuning.planner, after: with_parameters(tuning.planner, best.parameters)}
    checked = folder / "held_out"
    rows = bench(tuning.held_out, planners, checked, options, resume=(checked / "run.yaml").exists())
    return Tuned(trials, best, planners[after], rows, before, after)


class _Search:
    """Optuna's study, and what its trials are worth."""

    def __init__(self, tuning: Tuning) -> None:
        self.tuning, self.done, self.run = tuning, 0, ""
        self.begun: list[float] = []  # the objective of each set over the first episodes
        self.study = Study(tuning.planner, tuning.seed)

    def next(self, count: int, folder: Path, options: Options) -> list[Trial]:
        """Ask for some sets, run their episodes, and tell what they are worth."""
        numbers = range(self.done, self.done + count)
        asked = {f"trial_{number:04d}": self.study.ask() for number in numbers}
        sets = {label: rounded(trial.params) for label, trial in asked.items()}
        planners = {label: with_parameters(self.tuning.planner, values) for label, values in sets.items()}
        worth = self._worth(planners, _beginning(self.tuning.suite), folder, options)
        for label, (early, _) in worth.items():
            asked[label].report(early, 1)
            self.begun.append(early)
        least = median(self.begun) if self.begun and self.tuning.prune else -math.inf
        kept = [label for k, label in zip(numbers, asked, strict=True) if label in worth and (k == 0 or worth[label][0] >= least)]
        whole = self._worth({label: planners[label] for label in kept}, self.tuning.suite, folder, options)
        trials = []
        for number, (label, trial) in zip(numbers, asked.items(), strict=True):
            self.study.tell(trial, whole[label][0] if label in whole else None)
            value, episodes = (worth | whole).get(label, (None, 0))
            trials.append(Trial(number, sets[label], value, episodes, label in whole))
        if self.done == 0 and not trials[0].whole:
            raise ResultsError(f"{folder}: episodes of the planner as it is were interrupted; there is nothing to compare with")
        self.done += count
        return trials

    def _worth(self, planners: Mapping[str, Named], suite: Suite, folder: Path, options: Options) -> dict[str, tuple[float, int]]:
        """The objective of each set, and over how many rows; not of one with an episode that was interrupted."""
        plan = Plan(suite, dict(planners), options.worlds, options.threads, options.slots, "none", run=self.run)
        jobs = jobs_for(suite, planners, store.finished(folder / "episodes"), options)
        lost = {key.split("/")[3] for key in conduct(plan, jobs, folder, options.runs)}
        wanted, rows = set(suite.entries()), store.read_rows(folder / "episodes")
        mine = {
            label: [row for row in rows if row["planner"] == label and (row["stage"], row["episode"]) in wanted]
            for label in planners
            if label not in lost
        }
        return {label: (self.tuning.objective.mean(some), len(some)) for label, some in mine.items()}


def _beginning(suite: Suite) -> Suite:
    """The first quarter of every stage."""
    stages = (dataclasses.replace(stage, episodes=-(-stage.count // _QUARTER)) for stage in suite.stages)
    return dataclasses.replace(suite, stages=tuple(stages))


def _best(trials: Sequence[Trial]) -> Trial:
    """The whole one with the largest value; of equals the first, so that nothing is changed for nothing."""
    return max((t for t in trials if t.whole and t.value is not None), key=lambda t: (t.value, -t.number))
