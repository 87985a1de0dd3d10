"""The result of tuning: its trials, the comparison on the held-out suite, and the preset with the best parameters."""

from __future__ import annotations

import dataclasses
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agora import __version__
from agora.benchmark.results.copies import distinct
from agora.config import dump, plain
from agora.registry import Named
from agora.reporting.statistics import Estimate, bootstrap, paired_difference, wilson
from agora.tuning.objective import Objective
from agora.written import key_of

if TYPE_CHECKING:
    from agora.tuning.tune import Tuning


@dataclass(frozen=True)
class Trial:
    """A parameter set that was tried.

    Attributes:
        number: number of the trial; trial 0 is the original planner.
        parameters: parameters by name.
        value: mean of the objective over all episodes or, if the trial was given up, over the first episodes; None if episodes were
            interrupted.
        episodes: number of rows from which the value was computed.
        whole: whether all episodes were run; only a whole trial can be the best.
    """

    number: int
    parameters: dict[str, float]
    value: float | None
    episodes: int
    whole: bool


@dataclass(frozen=True)
class Tried:
    """Event: a parameter set was tried.

    Attributes:
        trial: the parameter set and its value.
        done: number of trials so far.
        total: planned number of trials.
        best: the best trial so far.
    """

    trial: Trial
    done: int
    total: int
    best: Trial


@dataclass(frozen=True)
class TunedComparison:
    """Comparison of a quantity on the held-out suite before and after tuning, with 95 % intervals.

    Attributes:
        name: name of the quantity.
        before: mean of the original planner.
        after: mean of the tuned planner.
        difference: ``after`` minus ``before``, paired by episode.
    """

    name: str
    before: Estimate
    after: Estimate
    difference: Estimate

    @property
    def gained(self) -> bool:
        """True if the mean difference is positive."""
        return self.difference.value is not None and self.difference.value > 0


@dataclass(frozen=True)
class Tuned:
    """The result of a parameter search.

    Attributes:
        trials: all trials, by number.
        best: trial with the highest value among the trials in which all episodes were run.
        planner: planner with the best parameters.
        rows: rows of the original and the tuned planner on the held-out suite, with the labels ``before`` and ``after``.
    """

    trials: list[Trial]
    best: Trial
    planner: Named
    rows: list[dict[str, Any]]
    before: str
    after: str

    @property
    def better(self) -> bool:
        """True if a trial was better than the original planner on the suite used for tuning."""
        return self.best.number > 0

    def comparisons(self, objective: Objective) -> list[TunedComparison]:
        """Return the comparisons of the objective and of the success rate on the held-out suite."""
        rows = [{**row, "objective": objective.of_row(row)} for row in distinct(self.rows)]
        found = []
        for name, column in {objective.text: "objective", "success": "success"}.items():
            of = [[float(row[column]) for row in rows if row["planner"] == label] for label in (self.before, self.after)]
            before, after = (_share(values) if column == "success" else bootstrap(values) for values in of)
            found.append(TunedComparison(name, before, after, paired_difference(rows, column, self.after, self.before)))
        return found


def _share(values: list[float]) -> Estimate:
    won = round(sum(values))
    return Estimate(len(values), won / len(values), *wilson(won, len(values)))


def estimate_text(estimate: Estimate, plus: str = "") -> str:
    """Return an estimate with its interval, such as ``0.412 [0.380, 0.441]``."""
    value = "none" if estimate.value is None else f"{estimate.value:{plus}.3f}"
    return (
        value if estimate.low is None or estimate.high is None else f"{value} [{estimate.low:{plus}.3f}, {estimate.high:{plus}.3f}]"
    )


def preset_text(tuning: Tuning, tuned: Tuned) -> str:
    """Return the text of a preset file for ``configs/planners``: the parameters that differ from the defaults, and a comment on
    their origin.
    """
    from importlib.metadata import version

    first, best, suite, held_out = tuned.trials[0], tuned.best, tuning.suite, tuning.held_out
    given_up = sum(not trial.whole for trial in tuned.trials)
    lines = [
        f"{tuning.label} tuned by `agora tune` (Agora {__version__}, Optuna {version('optuna')}).",
        f"Split: training, suite {suite.name} version {suite.version}, seed {suite.seed}, {best.episodes} episodes.",
        f"Budget: {len(tuned.trials)} trials, {given_up} of them stopped early; seed {tuning.seed}; best is trial {best.number}.",
        f"Objective: {tuning.objective.text}, {first.value:.3f} before and {best.value:.3f} after on the training suite.",
        f"Held out: suite {held_out.name} version {held_out.version}, {len(tuned.rows) // 2} episodes, means with "
        "intervals of 95 %, and the difference paired by episode:",
    ]
    lines += [
        f"- {c.name}: {estimate_text(c.before)} before, {estimate_text(c.after)} after, {estimate_text(c.difference, '+')}."
        for c in tuned.comparisons(tuning.objective)
    ]
    head = "\n".join(textwrap.fill(line, 128, initial_indent="# ", subsequent_indent="#   ") for line in lines)
    return f"{head}\n{dump({'name': tuned.planner.name, **changed_parameters(tuned.planner.part)})}"


def changed_parameters(part: Any) -> dict[str, Any]:
    """Return the parameters that differ from the defaults."""
    different = {}
    for field in dataclasses.fields(part):
        usual = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
        value = getattr(part, field.name)
        if field.init and value != usual:
            different[key_of(field)] = plain(value)
    return different
