"""Texts about limits: numbers with their intervals, sentences, and the lines of tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from agora.reporting.limits.measurement import Limit, Limits

__all__ = ["limit_sentence", "limit_text"]

_NAMES = {
    "pedestrian_collision": "hit a person",
    "wall_collision": "hit a wall",
    "robot_collision": "hit a robot",
    "timeout": "ran out of time",
    "out_of_map": "left the map",
    "planner_failed": "failed to plan",
    "reached": "reached the goal, but not clean",
}


def limit_text(limits: Limits, limit: Limit) -> str:
    """Return a planner's limit with its interval as text, such as ``0.31 [0.27, 0.36]``; if the limit is beyond an end of the axis,
    return a bound.
    """
    low, high = limit.fits.interval
    return f"{_at(limits, limit.fits.half)} [{_at(limits, low)}, {_at(limits, high)}]"


def relative_area_text(limit: Limit) -> str:
    """Return a planner's area relative to floor and ceiling, with its interval, as text; empty if the area is undefined."""
    if limit.relative is None or limit.relative_interval is None:
        return ""
    low, high = limit.relative_interval
    return f"{limit.relative:.2f} [{low:.2f}, {high:.2f}]"


def limit_sentence(limits: Limits, limit: Limit) -> str:
    """Return a sentence about the limit of a planner and the limit of the informed robot."""
    unit = f" {limits.axis.unit}" if limits.axis.unit else ""
    doing = "fails" if limit.outcome == "success" else "fails to arrive clean in"
    half = "half of its episodes" if limit.bound == "" else "fewer than half of its episodes"
    half = "more than half of its episodes" if limit.bound == "below" else half
    low, high = limit.fits.interval
    if limit.bound == "above":
        where = f"up to the hard end of the axis, {_number(limits, 1.0)}{unit} (limit beyond {_at(limits, low)})"
    elif limit.bound == "below":
        where = f"from the easy end of the axis on, {_number(limits, 0.0)}{unit} (limit before {_at(limits, high)})"
    else:
        where = f"from {limit_text(limits, limit)}{unit} on"
    ceiling = next((one for one in limits.of(limit.outcome) if one.planner == limits.ceiling), None)
    beside = "" if ceiling is None or ceiling is limit else f"; the informed robot from {limit_text(limits, ceiling)}"
    return f"{limit.planner} {doing} {half} {where}{beside}."


def better_than(limits: Limits, limit: Limit) -> list[str]:
    """Return the planners whose limits are significantly worse than the given limit."""
    return [pair.worse for pair in limits.pairs if pair.outcome == limit.outcome and pair.better == limit.planner and pair.sure]


def leaders(limits: Limits, outcome: str) -> tuple[list[str], list[str]]:
    """Return the planners with the limit closest to the hard end, and the planners that do not differ significantly from them.

    Several planners lead together if their limits and the areas under their curves are equal.
    """
    ranked = ranked_limits(limits, outcome)
    if not ranked:
        return [], []
    first = [one.planner for one in ranked if (one.fits.half, one.fits.area) == (ranked[0].fits.half, ranked[0].fits.area)]
    beaten = set(better_than(limits, ranked[0]))
    return first, [one.planner for one in ranked if one.planner not in beaten and one.planner not in first]


def ranked_limits(limits: Limits, outcome: str) -> list[Limit]:
    """Return the limits for one outcome, without the references, sorted from the hard end of the axis to the easy end."""
    own = [one for one in limits.of(outcome) if one.planner not in (limits.ceiling, limits.floor)]
    return sorted(own, key=lambda one: (one.fits.half, one.fits.area), reverse=True)


def fails_first(limit: Limit, most: int = 20) -> str:
    """Return a text that says how the first ``most`` failed episodes beyond the limit ended, most frequent outcome first; empty if
    no episode failed.
    """
    ends = Counter(str(row["outcome"]) for row in limit.beyond[:most])
    return ", ".join(f"{count} {_NAMES.get(end, end.replace('_', ' '))}" for end, count in ends.most_common())


def leader_sentences(found: Sequence[Limits], outcome: str = "success") -> list[str]:
    """Return one sentence per axis about the planners with the highest limits for one outcome."""
    said = []
    for limits in found:
        first, level = leaders(limits, outcome)
        if first:
            beside = f"; {_join_words(level)} cannot be distinguished from {'it' if len(first) == 1 else 'them'}" if level else ""
            rest = [one.planner for one in ranked_limits(limits, outcome) if one.planner not in (*first, *level)]
            beside += f"; significantly better than {_join_words(rest)}" if rest else ""
            said.append(
                f"{limits.axis.axis.capitalize()}: {_join_words(first)} {'goes' if len(first) == 1 else 'go'} farthest{beside}."
            )
    return said


def _join_words(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _at(limits: Limits, fraction: float) -> str:
    """Return the value of an axis at a fraction as text, with a comparison sign if the limit is beyond an end of the axis."""
    rising = limits.axis.hard > limits.axis.easy
    sign = "" if 0.0 < fraction < 1.0 else ">" if (fraction >= 1.0) == rising else "<"
    return f"{f'{sign} ' if sign else ''}{_number(limits, fraction)}"


def _number(limits: Limits, fraction: float) -> str:
    """Return the value of an axis at a fraction as text, rounded to about a hundredth of the axis."""
    span = abs(limits.axis.hard - limits.axis.easy)
    return f"{limits.value(fraction):.{max(0, 2 - math.floor(math.log10(span) + 0.5))}f}"
