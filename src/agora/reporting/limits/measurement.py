"""Measures the limit of each planner along each axis of a run (`agora.tasks.modules.axis`), which is the difficulty up to which the
planner succeeds at least half the time.

All planners run the same episodes, so the interval of each planner and the comparison of two planners use the same resamples of
places. This is a cluster bootstrap, because episodes in the same place are correlated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from agora.benchmark.results.store import Row
from agora.core.state import Doubles, Ints
from agora.reporting.limits.curve_fit import Fits, fit
from agora.seeds import Stream
from agora.tasks.modules.axis import Axis, axis_of
from agora.tasks.suite import Suite

__all__ = ["Limit", "Limits", "OUTCOMES", "limits_of"]

OUTCOMES = {"success": "reached", "clean_arrival": "reached clean"}
"""Columns of rows for which limits are measured, if the run has these columns, with their names in the report."""

RESAMPLES = 400
_SURE = 0.05
_NORMAL = NormalDist()
_SHARES = 8  # number of groups of episodes whose success rates are plotted with a curve


@dataclass(frozen=True)
class Limit:
    """The limit of a planner on an axis, for one outcome.

    Attributes:
        planner: label of the planner.
        outcome: column of the rows that contains the outcome.
        fits: fitted curve over fractions of the axis.
        points: fraction of the axis, success rate and number of episodes, for each group of episodes of similar difficulty.
        relative: area under the curve, scaled so that the floor has 0 and the ceiling has 1; None if the floor or the ceiling is
            missing, or if the ceiling's area is not larger than the floor's area.
        relative_interval: 95 % interval of ``relative``.
        beyond: rows of failed episodes beyond the limit, nearest to the limit first.
    """

    planner: str
    outcome: str
    fits: Fits
    points: tuple[tuple[float, float, int], ...]
    relative: float | None
    relative_interval: tuple[float, float] | None
    beyond: tuple[Row, ...]

    @property
    def bound(self) -> str:
        """``above`` if the probability of success is above one half on the whole axis, ``below`` if the probability is below one
        half on the whole axis, otherwise empty.
        """
        return "above" if self.fits.half >= 1.0 else "below" if self.fits.half <= 0.0 else ""


@dataclass(frozen=True)
class Apart:
    """A comparison between the limits of two planners on the same episodes.

    Attributes:
        better: planner whose limit is closer to the hard end.
        worse: planner whose limit is closer to the easy end.
        outcome: column of the rows that contains the outcome.
        p: two-sided p-value for the order of the two limits, adjusted for the number of comparisons (Holm 1979).
    """

    better: str
    worse: str
    outcome: str
    p: float

    @property
    def sure(self) -> bool:
        """True if the difference is significant."""
        return self.p <= _SURE


@dataclass(frozen=True)
class Limits:
    """The limits of all planners on one axis.

    Attributes:
        axis: axis along which the limits were measured.
        stages: names of the stages that form the axis.
        limits: limits of the planners for each outcome, in the order of the planners.
        pairs: comparisons between the planners other than the references.
        ceiling: label of the informed robot; None if it is not in the run.
        floor: label of the control planner; None if it is not in the run.
    """

    axis: Axis
    stages: tuple[str, ...]
    limits: tuple[Limit, ...]
    pairs: tuple[Apart, ...]
    ceiling: str | None
    floor: str | None

    def of(self, outcome: str) -> list[Limit]:
        """Return the limits for one outcome."""
        return [limit for limit in self.limits if limit.outcome == outcome]

    @property
    def outcomes(self) -> list[str]:
        """The outcomes for which there are limits, in order."""
        return list(dict.fromkeys(limit.outcome for limit in self.limits))

    def value(self, fraction: float) -> float:
        """Return the value of the axis at a fraction."""
        return self.axis.value(fraction)


def limits_of(
    suite: Suite, rows: Sequence[Row], planners: Sequence[str], ceiling: str | None = None, floor: str | None = None
) -> list[Limits]:
    """Return the limits of planners on each axis of a suite; empty for a suite without axes.

    Args:
        suite: suite of the run.
        rows: rows of the run.
        planners: labels of the planners, in the order of the result.
        ceiling: label of the informed robot.
        floor: label of the control planner.
    """
    found: dict[str, list[tuple[str, Axis]]] = {}
    for stage in suite.stages:
        if (axis := axis_of(stage)) is not None:
            found.setdefault(axis.axis, []).append((stage.name, axis))
    return [made for stages in found.values() if (made := _limits(suite, dict(stages), rows, planners, ceiling, floor)) is not None]


@dataclass(frozen=True)
class _Episodes:
    """The episodes on an axis that all planners have run.

    Attributes:
        x: (N,) fraction of the axis.
        counts: (B, N) how often each resample of the places contains each episode.
        rows: rows of each planner, in the order of ``x``.
    """

    x: Doubles
    counts: Ints
    rows: Mapping[str, Sequence[Row]]


def _limits(
    suite: Suite,
    stages: Mapping[str, Axis],
    rows: Sequence[Row],
    planners: Sequence[str],
    ceiling: str | None,
    floor: str | None,
) -> Limits | None:
    found = _episodes(suite, stages, rows, planners)
    if not len(found.x):
        return None
    limits: list[Limit] = []
    pairs: list[Apart] = []
    for outcome in OUTCOMES:
        wins = {planner: [row.get(outcome) for row in mine] for planner, mine in found.rows.items()}
        if any(win is None for some in wins.values() for win in some):
            continue
        fits = {planner: fit(found.x, np.array(some, float), found.counts) for planner, some in wins.items()}
        for planner, made in fits.items():
            relative, interval = _relative(made, fits.get(ceiling or ""), fits.get(floor or ""))
            won = np.array(wins[planner], float)
            limits.append(
                Limit(
                    planner,
                    outcome,
                    made,
                    _points(found.x, won),
                    relative,
                    interval,
                    _beyond(made, found.x, won, found.rows[planner]),
                )
            )
        pairs += _pairs({planner: made for planner, made in fits.items() if planner not in (ceiling, floor)}, outcome)
    present = found.rows.keys()
    ends = (ceiling if ceiling in present else None, floor if floor in present else None)
    return Limits(next(iter(stages.values())), tuple(stages), tuple(limits), tuple(pairs), *ends) if limits else None


def _episodes(suite: Suite, stages: Mapping[str, Axis], rows: Sequence[Row], planners: Sequence[str]) -> _Episodes:
    """Return the episodes on an axis for which every planner that has rows has a row."""
    by_planner: dict[str, dict[tuple[str, int], Row]] = {planner: {} for planner in planners}
    for row in rows:
        if row["stage"] in stages and row["planner"] in by_planner:
            by_planner[row["planner"]][row["stage"], row["episode"]] = row
    present = {planner: mine for planner, mine in by_planner.items() if mine}
    shared = sorted(set.intersection(*(set(mine) for mine in present.values()))) if present else []
    x = [stages[stage].fraction(f"{suite.name}/{stage}", suite.seed_of(stage), episode) for stage, episode in shared]
    worlds = {name: len(suite.stage(name).world.part.names()) for name in stages}
    places = [(stage, episode % worlds[stage] if worlds[stage] > 1 else episode) for stage, episode in shared]
    return _Episodes(np.array(x), resamples(places), {planner: [mine[one] for one in shared] for planner, mine in present.items()})


def resamples(places: Sequence[tuple[str, int]]) -> Ints:
    """Return the counts (B, N) of each episode in each resample of the places; a resample has the original number of places per
    stage.

    Args:
        places: (N,) stage and place of each episode.
    """
    counts = np.zeros((RESAMPLES, len(places)), np.int32)
    stages = np.array([stage for stage, _ in places])
    for stage in dict.fromkeys(stage for stage, _ in places):
        mine = np.flatnonzero(stages == stage)
        numbers, inverse = np.unique(np.array([place for _, place in places])[mine], return_inverse=True)
        drawn = Stream(stage, len(numbers), "limits").uniform(0.0, len(numbers), (RESAMPLES, len(numbers))).astype(np.int32)
        often = np.stack([np.bincount(row, minlength=len(numbers)) for row in drawn])
        counts[:, mine] = often[:, inverse]
    return counts


def _points(x: Doubles, won: Doubles) -> tuple[tuple[float, float, int], ...]:
    parts = np.array_split(np.argsort(x), min(_SHARES, len(x)))
    return tuple((float(x[part].mean()), float(won[part].mean()), len(part)) for part in parts)


def _beyond(made: Fits, x: Doubles, won: Doubles, rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows of failed episodes beyond the limit, nearest to the limit first; all failed episodes, if most episodes fail
    even at the easy end.
    """
    return tuple(rows[k] for k in np.argsort(x, kind="stable") if x[k] >= made.half and not won[k])


def _relative(made: Fits, ceiling: Fits | None, floor: Fits | None) -> tuple[float | None, tuple[float, float] | None]:
    """Return the area under a curve, scaled so that the floor has 0 and the ceiling has 1, and the 95 % interval of this area."""
    if ceiling is None or floor is None or ceiling.area <= floor.area:
        return None, None
    spans = np.maximum(ceiling.areas - floor.areas, 1e-9)
    low, high = np.quantile((made.areas - floor.areas) / spans, (0.025, 0.975))
    return (made.area - floor.area) / (ceiling.area - floor.area), (float(low), float(high))


def _pairs(fits: Mapping[str, Fits], outcome: str) -> list[Apart]:
    """Compare all pairs of planners by their limits."""
    found = []
    for a, b in itertools.combinations(fits, 2):
        better, worse = (a, b) if (fits[a].half, fits[a].area) >= (fits[b].half, fits[b].area) else (b, a)
        found.append(Apart(better, worse, outcome, _compare(fits[better], fits[worse])))
    return list(_holm(found))


def _compare(better: Fits, worse: Fits) -> float:
    """Return the two-sided p-value for the order of two limits, which is twice the fraction of resamples that contradict the order.

    If no resample contradicts the order, this fraction is too coarse for comparisons of many planners. In this case, p is computed
    for a normally distributed difference whose standard error is the larger of the standard errors obtained from the resamples and
    from the likelihood ratio.
    """
    differences = better.halves - worse.halves
    against = (np.count_nonzero(differences < 0) + 0.5 * np.count_nonzero(differences == 0) + 1) / (len(differences) + 1)
    share = min(1.0, 2.0 * float(against))
    if (differences <= 0).any():
        return share
    likely = (np.subtract(*one.likely[::-1]) / (2.0 * _NORMAL.inv_cdf(0.975)) for one in (better, worse))
    error = max(float(differences.std(ddof=1)), math.hypot(*likely))
    return min(share, 2.0 * _NORMAL.cdf((worse.half - better.half) / error)) if error > 0.0 else share


def _holm(pairs: Sequence[Apart]) -> Iterator[Apart]:
    """Yield the comparisons with p-values adjusted for the number of comparisons, smallest p-value first."""
    least = 0.0
    for done, pair in enumerate(sorted(pairs, key=lambda one: one.p)):
        least = max(least, min(1.0, pair.p * (len(pairs) - done)))
        yield Apart(pair.better, pair.worse, pair.outcome, least)
