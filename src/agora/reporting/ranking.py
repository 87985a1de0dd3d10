"""Ranks planners, with the uncertainty of the ranks, and finds pairs that differ significantly on the same episodes.

Planners are compared on the episodes for which all planners have a value. For metrics that look better when a robot fails, all
planners must also have reached the goal. Each episode is one observation: if an episode has several robots, their mean is used, and
copies of an episode count once (`agora.benchmark.results.copies`). Episodes in the same place are correlated, so tests and ranks
resample places with all their episodes (`agora.reporting.clusters.groups_of`). Therefore neither the number of robots nor an easy
draw of episodes can make one planner look better than another.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agora.benchmark.results.copies import PLACE, distinct
from agora.benchmark.results.store import Row
from agora.core.state import Doubles, Ints
from agora.interfaces import Metric
from agora.reporting.clusters import deviation_of_mean, drawn_groups, groups_of
from agora.reporting.statistics import RESAMPLES, has_reached, pairs_needed
from agora.seeds import Stream

__all__ = ["Pair", "Ranked", "ranking"]

LEVEL = 0.05
"""Adjusted p-value below which two planners differ significantly."""

_FLIPS = 9999
_FLIPS_EACH = round(2 / LEVEL)  # random sign vectors per pair; enough for the smallest p to pass Holm's adjustment
_EXACT = 12  # maximum number of observations for which all sign vectors are tried
_BLOCK = 2_000_000


@dataclass(frozen=True)
class Pair:
    """A comparison of two planners on the same episodes.

    Attributes:
        first: planner with the better mean.
        second: planner with the worse mean.
        difference: mean difference of the metric, first planner minus second planner.
        p: two-sided p-value of the sign-flip test over places, with Holm's adjustment over all pairs.
        wins: fraction of episodes in which the first planner has the better value; episodes in neither ``wins`` nor ``losses`` are
            ties.
        losses: fraction of episodes in which the first planner has the worse value.
        needed: number of episodes, distributed over places as in this run, that would detect this difference with a power of 0.8
            before Holm's adjustment (`agora.reporting.statistics.pairs_needed`); None if the difference is 0.
    """

    first: str
    second: str
    difference: float
    p: float
    wins: float
    losses: float
    needed: int | None

    @property
    def apart(self) -> bool:
        """True if the two planners differ significantly."""
        return self.p < LEVEL


@dataclass(frozen=True)
class Ranked:
    """The rank of a planner.

    Attributes:
        planner: label of the planner.
        mean: mean of the metric.
        low: best rank, where 1 is the best; 95 % of resamples of the places give ranks from ``low`` to ``high``.
        high: worst rank of the same interval.
        best: fraction of resamples in which the planner has the best mean; tied planners share a resample equally.
        beats: labels of the planners that are significantly worse.
    """

    planner: str
    mean: float
    low: int
    high: int
    best: float
    beats: tuple[str, ...]


def ranking(rows: Sequence[Row], metric: Metric, planners: Sequence[str]) -> tuple[list[Ranked], list[Pair], int]:
    """Return the planners from the best to the worst mean, all pairs of planners, and the number of their common episodes.

    For metrics that look better when a robot fails (`Metric.over`), only episodes in which all robots of all planners reached the
    goal count. Both lists are empty if there are fewer than two planners or two common episodes, or if the metric has no better
    direction.
    """
    counted = rows if metric.over == "all" else [row if has_reached(row) else {**row, metric.name: None} for row in rows]
    values, places = _common(counted, metric.name, planners)
    if len(planners) < 2 or len(values) < 2 or metric.direction == "neutral":
        return [], [], len(values)
    sign = 1.0 if metric.direction == "higher" else -1.0
    order = np.argsort(-sign * values.mean(0), kind="stable")
    names, values = [planners[k] for k in order], values[:, order]
    groups = groups_of(places)
    pairs = _pairs(names, values, groups, sign)
    ranks = _ranks(sign * values, groups)
    low, high = np.floor(np.quantile(ranks, 0.025, axis=0)), np.ceil(np.quantile(ranks, 0.975, axis=0))
    first = ranks == ranks.min(1, keepdims=True)
    best = (first / first.sum(1, keepdims=True)).mean(0)
    beaten = {name: tuple(pair.second for pair in pairs if pair.first == name and pair.apart) for name in names}
    ranked = zip(names, values.mean(0), low, high, best, strict=True)
    return [Ranked(n, float(m), int(a), int(b), float(c), beaten[n]) for n, m, a, b, c in ranked], pairs, len(values)


def sign_flips(differences: Doubles) -> Doubles:
    """Return the two-sided p-values (C,) of Fisher's randomisation test (1935) for the hypothesis that the mean of paired
    differences (N, C) is 0.

    For up to 12 observations, all sign vectors are used; for more observations, the observed signs and at least 9,999 random sign
    vectors, whose number increases with the number of columns. The same sign vectors are used for all columns.
    """
    count = len(differences)
    total = np.abs(differences.sum(0)) * (1.0 - 1e-9)
    if count <= _EXACT:
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=count)))
        return np.asarray((np.abs(signs @ differences) >= total).mean(0), np.float64)
    flips = max(_FLIPS, _FLIPS_EACH * differences.shape[1])
    extreme, size = np.ones(differences.shape[1]), max(1, _BLOCK // count)
    for begin in range(0, flips, size):
        drawn = Stream("statistics", count, "signs", step=begin).uniform(0.0, 1.0, (min(size, flips - begin), count))
        extreme += (np.abs(np.where(drawn < 0.5, -1.0, 1.0) @ differences) >= total).sum(0)
    return np.asarray(extreme / (flips + 1), np.float64)


def holm(p: Doubles) -> Doubles:
    """Return p-values (C,) adjusted for C comparisons (Holm 1979, step-down procedure)."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p: Doubles) -> Doubles:
    """Return p-values (C,) adjusted for the false discovery rate of C comparisons (Benjamini & Hochberg 1995, step-up
    procedure).
    """
    order = np.argsort(-p, kind="stable")
    stepped = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def paired_p(differences: Sequence[float], places: Sequence[object] | None = None) -> float:
    """Return the two-sided p-value of Student's t test, over places, for the hypothesis that the mean paired difference is 0.

    The p-value is 1 for fewer than two differences. If all differences are equal, it is 0, or 1 if they are all 0.

    Args:
        differences: (N,) paired differences.
        places: (N,) place of each difference (`agora.reporting.clusters.groups_of`); if None, all differences are independent.
    """
    from scipy.special import stdtr  # imported here because it slows down start-up

    values = np.asarray(differences, np.float64)
    groups = groups_of([None] * len(values) if places is None else places)
    mean = float(values.mean()) if len(values) else 0.0
    if len(values) < 2 or mean == 0.0:
        return 1.0
    deviation = deviation_of_mean(values, groups)
    return 2.0 * float(stdtr(int(groups.max()), -abs(mean) / deviation)) if deviation > 0.0 else 0.0


def _common(rows: Sequence[Row], metric: str, planners: Sequence[str]) -> tuple[Doubles, list[object]]:
    """Return the values (N, K) of K planners, averaged over robots, in the N episodes that have values for all planners, and the
    places of these episodes.
    """
    places: dict[object, object] = {}
    found: dict[object, dict[str, list[float | None]]] = {}
    for row in distinct(rows):
        episode = (row.get("suite"), row["stage"], row["episode"], row.get("seed"))
        places.setdefault(episode, row.get(PLACE))
        found.setdefault(episode, {}).setdefault(row["planner"], []).append(row.get(metric))
    table, where = [], []
    for one, members in found.items():
        each = [members.get(planner, [None]) for planner in planners]
        if all(value is not None for values in each for value in values):
            table.append([math.fsum(float(v or 0.0) for v in values) / len(values) for values in each])
            where.append(places[one])
    return np.array(table, np.float64).reshape(-1, len(planners)), where


def _pairs(names: Sequence[str], values: Doubles, groups: Ints, sign: float) -> list[Pair]:
    """Return all pairs of planners; the columns of ``values`` must be sorted from the best mean to the worst."""
    which = list(itertools.combinations(range(len(names)), 2))
    differences = np.stack([values[:, a] - values[:, b] for a, b in which], 1)
    adjusted = holm(sign_flips(_sums(differences, groups)))
    wins, losses = (sign * differences > 0.0).mean(0), (sign * differences < 0.0).mean(0)
    return [
        Pair(
            names[a],
            names[b],
            float(each.mean()),
            float(p),
            float(w),
            float(v),
            pairs_needed(each.tolist(), places=groups.tolist()),
        )
        for (a, b), each, p, w, v in zip(which, differences.T, adjusted, wins, losses, strict=True)
    ]


def _sums(values: Doubles, groups: Ints) -> Doubles:
    """Return the sums (G, C) of values (N, C) over the rows in each group."""
    sums = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return sums


def _ranks(values: Doubles, groups: Ints) -> Doubles:
    """Return the ranks (B, K) of the column means in each resample of the groups of rows. Rank 1 is the largest mean; tied columns
    share a rank.
    """
    sums, sizes, ranks = _sums(values, groups), np.bincount(groups), []
    size = max(1, _BLOCK // len(sums))
    for begin in range(0, RESAMPLES, size):
        often = drawn_groups(len(sums), begin, min(size, RESAMPLES - begin))
        means = np.round(np.einsum("bg,gk->bk", often, sums) / np.einsum("bg,g->b", often, sizes)[:, None], 12)
        above = (means[:, None, :] > means[:, :, None]).sum(2)
        equal = (means[:, None, :] == means[:, :, None]).sum(2)
        ranks.append(above + 0.5 * (equal + 1))
    return np.concatenate(ranks)
