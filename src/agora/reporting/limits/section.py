"""Builds the section on limits in a report: tables, sentences, curves side by side, and replays of episodes just beyond a limit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from agora.reporting.limits.chart import colours_of, limit_chart
from agora.reporting.limits.measurement import OUTCOMES, Limit, Limits
from agora.reporting.limits.words import (
    better_than,
    fails_first,
    leader_sentences,
    limit_sentence,
    limit_text,
    ranked_limits,
    relative_area_text,
)

__all__ = ["beyond", "limit_section"]

_REPLAYS = 1  # number of replayed episodes per planner and axis


def beyond(found: Sequence[Limits]) -> list[str]:
    """Return the keys of failed episodes just beyond the planners' limits: one episode per planner and axis, axis by axis."""
    return [
        str(row["key"])
        for limits in found
        for limit in ranked_limits(limits, next(iter(OUTCOMES)))
        for row in limit.beyond[:_REPLAYS]
    ]


def limit_section(found: Sequence[Limits], replayed: Collection[str]) -> dict[str, Any]:
    """Return the limits in the form that the page template uses; empty if there are no axes.

    Args:
        found: limits of the run.
        replayed: keys of the episodes that can be replayed on the page.
    """
    if not found:
        return {}
    names = [limit.planner for limit in ranked_limits(found[0], next(iter(OUTCOMES)))]
    colours = colours_of(names)
    outcomes = list(dict.fromkeys(outcome for limits in found for outcome in limits.outcomes))
    return {
        "best": [(OUTCOMES[outcome], leader_sentences(found, outcome)) for outcome in outcomes],
        "colours": list(colours.items()),
        "outcomes": [OUTCOMES[outcome] for outcome in outcomes],
        "axes": [_axis(limits, colours, replayed) for limits in found],
        "scores": _scores(found, names, outcomes),
    }


def _axis(limits: Limits, colours: dict[str, str], replayed: Collection[str]) -> dict[str, Any]:
    return {
        "name": limits.axis.axis,
        "unit": limits.axis.unit,
        "stages": ", ".join(limits.stages),
        "easy": f"{limits.axis.easy:g}",
        "hard": f"{limits.axis.hard:g}",
        "parts": [
            {
                "outcome": OUTCOMES[outcome],
                "chart": limit_chart(limits, outcome, colours),
                "lines": [
                    _line(limits, one, colours, replayed) for one in [*ranked_limits(limits, outcome), *_bounds(limits, outcome)]
                ],
            }
            for outcome in limits.outcomes
        ],
    }


def _bounds(limits: Limits, outcome: str) -> list[Limit]:
    return [one for name in (limits.ceiling, limits.floor) for one in limits.of(outcome) if one.planner == name]


def _line(limits: Limits, limit: Limit, colours: dict[str, str], replayed: Collection[str]) -> dict[str, Any]:
    marks = {limits.ceiling: "knows the future, the ceiling", limits.floor: "sees nobody, the floor"}
    return {
        "planner": limit.planner,
        "mark": marks.get(limit.planner, ""),
        "colour": colours.get(limit.planner, "var(--faint)"),
        "limit": limit_text(limits, limit),
        "sort": limit.fits.half,
        "score": relative_area_text(limit) if limit.planner in colours else "",
        "better": ", ".join(better_than(limits, limit)),
        "sentence": limit_sentence(limits, limit),
        "first": fails_first(limit),
        "plays": [(row["key"], f"{row['stage']} {row['episode']}") for row in limit.beyond[:_REPLAYS] if row["key"] in replayed],
    }


def _scores(found: Sequence[Limits], names: Sequence[str], outcomes: Sequence[str]) -> list[dict[str, Any]]:
    """Return each planner's relative area on every axis for the first outcome, and the mean of these areas; largest mean first."""
    lines = []
    for name in names:
        areas = [one.relative for limits in found for one in limits.of(outcomes[0]) if one.planner == name]
        known = [area for area in areas if area is not None]
        mean = sum(known) / len(known) if known and len(known) == len(areas) else None
        cells = ["—" if area is None else f"{area:.2f}" for area in areas]
        lines.append({"planner": name, "cells": cells, "mean": mean})
    return sorted(lines, key=lambda line: -1.0 if line["mean"] is None else line["mean"], reverse=True)
