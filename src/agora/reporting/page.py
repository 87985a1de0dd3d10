"""Renders the report of a run: a single page, with tables, intervals, distributions and replays, that works offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agora.benchmark.informed import INFORMED
from agora.benchmark.results.copies import copy_notes, distinct
from agora.benchmark.results.store import Row
from agora.core.recording import Recording
from agora.core.state import Array
from agora.errors import UnknownNameError
from agora.interfaces import Metric
from agora.metrics.registered import HEADLINE
from agora.reporting import _charts, tables
from agora.reporting._answers import answers, asked_of
from agora.reporting._facts import facts, words_of
from agora.reporting._pictures import pictured_keys, stage_pictures
from agora.reporting._sweeps import curve_metrics, sweeps
from agora.reporting.clean_arrivals import CLEAN, COLOURS, clean_words
from agora.reporting.failures import failure_lines, titles
from agora.reporting.headline import ARENA, comparisons, headline
from agora.reporting.limits.section import limit_section
from agora.reporting.published_numbers import compare_with_published, words
from agora.reporting.ranking import ranking
from agora.reporting.statistics import RATE, Estimate, comparable
from agora.viewer.replay import replay_html, source, templates

GROUPS = {
    "outcome": "Outcome",
    "clean": "Clean arrival",
    "blame": "Blame",
    "efficiency": "Time and path",
    "proxemics": "Distance to people and walls",
    "space": "Shared space",
    "intrusion": "Intrusion into people's spaces",
    "conflict": "Time to collision",
    "encounters": "Encounters",
    "groups": "Groups of people",
    "attention": "Attention",
    "following": "Finding people and giving way",
    "effect": "Effects of robots on people",
    "forces": "Social forces",
    "motion": "Motion and smoothness",
    "smoothness": "Driving of the robot",
    "notes": "Notes of planners",
    "composite": "Scores of challenges",
    "socnavbench_code": "SocNavBench's code",
    "taga": "TAGA's rates",
    "crowdnav_code": "CrowdNav's and AG-RL's code",
}
"""Groups of metrics (`Metric.group`) and their headings, in the order of the page."""

OTHER = "Others"
"""Heading of the group of metrics that do not come with Agora."""

ARROWS = {"higher": "↑", "lower": "↓", "neutral": ""}


def render(
    run: Mapping[str, Any],
    rows: Sequence[Row],
    metrics: Sequence[Metric],
    recordings: Mapping[str, Recording],
    *,
    baseline: str | None = None,
    timing: Mapping[str, Array] | None = None,
    pictures: Mapping[str, Recording] | None = None,
    reasons: Mapping[str, str] | None = None,
) -> str:
    """Return the report page of a run.

    Args:
        run: description of the run; ``suite``, ``planners``, ``version``, ``commit``, ``hardware``, ``seeds``, ``trajectories``,
            ``interrupted``, ``problems``, ``notes`` and the entries of `agora.reporting._facts.setting` are shown if given.
            Planners in ``blind`` or ``controls`` are marked; the first answers are about the planners that are not in ``controls``.
            Failures of planners in ``blind`` or ``unaware`` are labelled accordingly. ``folder`` is the folder of the run, which
            the shown commands refer to. ``places`` contains the folder and the original key of each row if the rows come from
            several runs. If ``incomplete`` is True, no planner is called the best. ``names`` contains the names of planners, by
            label, if a planner has a separate label for each level of perception. ``parameters`` contains the planners as plain
            data, by label, for the curves of sweeps. If ``part`` says that the run covers only a part of a suite, no published
            numbers are shown. ``limits`` contains the limits on the suite's axes (`agora.reporting.limits.measurement.limits_of`).
        rows: one row per episode and robot, with ``key``, ``stage``, ``planner``, ``robot``, ``outcome``, ``seed`` and metrics.
        metrics: metrics to show if the rows contain them.
        recordings: recordings of the episodes that can be replayed on the page, by key.
        baseline: label of the planner with which all other planners are compared; if None, the first planner.
        timing: wall time of each control call, s, by key of the row; if None, taken from the recordings.
        pictures: recordings for the pictures of the stages, by key, from one episode per stage; if None, ``recordings`` is used.
        reasons: descriptions of how episodes ended, by key; if None, taken from the recordings.

    Raises:
        UnknownNameError: the baseline is unknown.
    """
    notes, given = [*(run.get("notes") or ()), *copy_notes(rows)], distinct(rows)
    rows = _name_robots(given)
    names = _names(run.get("names") or {}, given, rows)
    planners = _planners(run, rows)
    if baseline is not None and baseline not in planners:
        raise UnknownNameError("planner", baseline, planners)
    first = baseline or (planners[0] if planners else "")
    shown, undefined = tables.shown_metrics(rows, metrics)
    calls = {key: recording.planning_time for key, recording in recordings.items()} if timing is None else timing
    others = [planner for planner in planners if planner != first]
    title = words_of(run.get("suite", "")) or "Benchmark"
    control, whole = _among(planners, run.get("controls")), not run.get("incomplete")
    asked = asked_of(planners, control)
    ranks = [found for metric in (tables.REACHED, CLEAN) if whole and (found := rank_lines(rows, asked, metric))]
    said = answers(rows, planners, shown, control) if whole else []
    page = {
        "title": f"{title}: results",
        "lead": _lead(rows, planners, not whole, bool(said or ranks)),
        "answers": said,
        "limits": limit_section(run.get("limits") or (), recordings.keys()),
        "control": control,
        "informed": INFORMED,
        "blind": _among(planners, run.get("blind")),
        "rankings": ranks,
        "counterfactual": any(row.get("pedestrian_delay_max") is not None for row in rows),
        "published": [] if run.get("part") else _published_lines(words_of(run.get("suite", "")), rows),
        "problems": [words_of(problem) for problem in run.get("problems") or ()],
        "notes": [words_of(note) for note in notes],
        "facts": facts(run, rows, planners),
        "version": words_of(run.get("version", "")),
        "hardware": words_of(run.get("hardware", "")),
        "stages": _stages(rows, shown, planners, calls, names),
        "pictures": stage_pictures(rows, _drawable(rows, recordings, planners) if pictures is None else pictures, planners),
        "outcome_names": [name.replace("_", " ") for name in tables.outcome_names(rows)],
        "clean_colours": COLOURS,
        "outcome_key": [(name.replace("_", " "), colour) for name, colour in _colours(rows).items()],
        "interrupted": [words_of(episode) for episode in run.get("interrupted") or ()],
        "levels": levels if len(levels := tables.levels_of(rows)) > 1 else [],
        "undefined": undefined,
        "baseline": first,
        "others": others,
        "comparisons": comparisons(rows, shown, others, first),
        "differences": _group_lines(tables.difference_lines(rows, shown, others, first)) if others else [],
        "arena": _cards(rows, [metric for name in ARENA for metric in shown if metric.name == name], planners, compared=True),
        "cards": _group_lines(_cards(rows, shown, planners)),
        "many": "" if len(rows) <= _charts.MOST_DOTS * max(1, len(planners)) else f" (at most {_charts.MOST_DOTS} are drawn)",
        "sweeps": _sweeps(run.get("parameters") or {}, given, shown),
        "planning": tables.planning_lines(_by_planner(rows, calls)),
        **failure_lines(run, rows, planners, recordings, reasons, _colours(rows)),
        "replay": replay_html(recordings, titles=titles(rows, run.get("blind") or ())) if recordings else "",
        "arrows": ARROWS,
        "css": source("page.css") + source("report.css"),
        "script": source("report.js"),
    }
    return templates().get_template("report.html").render(page)


def _name_robots(rows: Sequence[Row]) -> list[Row]:
    """Return the rows; if an episode has robots of several models, or if models are unknown, the robot's name is added to the
    planners' labels.
    """
    models: dict[tuple[Any, ...], set[Any]] = {}
    for row in rows:
        episode = (row["planner"], row["stage"], row["episode"], row.get("seed"))
        models.setdefault(episode, set()).add(row.get("model") or row.get("robot"))
    several = any(len(names) > 1 for names in models.values())
    return [{**row, "planner": f"{row['planner']} · {row.get('robot')}"} for row in rows] if several else list(rows)


def _names(names: Mapping[str, str], rows: Sequence[Row], labelled: Sequence[Row]) -> dict[str, str]:
    """Return the names of planners by their labels on the page. A name does not contain the level of perception, but contains the
    robot if the label does.
    """
    found = {}
    for row, shown in zip(rows, labelled, strict=True):
        label = str(row["planner"])
        found[str(shown["planner"])] = names.get(label, label) + str(shown["planner"]).removeprefix(label)
    return found


def _planners(run: Mapping[str, Any], rows: Sequence[Row]) -> list[str]:
    """Return the planners that have rows and the run's planners that have none, in the order of the run."""
    asked = [words_of(p.get("name", p)) if isinstance(p, Mapping) else str(p) for p in run.get("planners") or ()]
    present = dict.fromkeys(row["planner"] for row in rows)
    ordered = []
    for name in asked:
        mine = [label for label in present if label == name or label.startswith(f"{name} · ")]
        ordered += mine or [name]
    return list(dict.fromkeys([*ordered, *present]))


def _among(planners: Sequence[str], labels: Sequence[str] | None) -> list[str]:
    """Return the planners on the page that have one of the given labels."""
    return [planner for planner in planners if planner.split(" · ")[0] in (labels or ())]


def _lead(rows: Sequence[Row], planners: Sequence[str], incomplete: bool, ranked: bool) -> str:
    """Return a text with the size of the run. If there is no ranking and all planners have the same episodes, the text also names
    the best planner.
    """
    if not rows:
        return "No episode was finished."
    stages = len({row["stage"] for row in rows})
    counts = ((len(planners), "planner"), (stages, "stage"), (len(rows), "episode"))
    size = ", ".join(f"{n} {word}{'s' if n != 1 else ''}" for n, word in counts)
    groups = tables.by_planner(rows, planners)
    if not tables.same_episodes(groups) or (incomplete and len(planners) > 1):
        return f"{size}. Some planners lack planned episodes, so no best planner is named."
    if ranked:
        return f"{size}."
    shares = {planner: tables.share(members) for planner, members in groups.items() if members}
    most = max(estimate.value or 0.0 for estimate in shares.values())
    best = [planner for planner, estimate in shares.items() if estimate.value == most]
    names = " and ".join(best) if len(best) < 3 else f"{len(best)} planners"
    who = f"{names}{' each' if len(best) > 1 else ''} reached"
    top = tables.cell(shares[best[0]], rate=True)
    clean = f" Clean: {clean_words(groups[best[0]])}." if len(best) == 1 else ""
    return f"{size}. {who} the goal in {top.value} % {top.interval} of episodes.{clean}"


def rank_lines(rows: Sequence[Row], planners: Sequence[str], metric: Metric = tables.REACHED) -> dict[str, Any]:
    """Return the planners ranked by success rate or another metric, and the pairs of planners that differ significantly on the same
    episodes; empty for fewer than two planners.
    """
    marked = [{**row, tables.REACHED.name: float(row["outcome"] == "reached")} for row in rows]
    ranked, pairs, count = ranking(marked, metric, planners)
    if not ranked:
        return {}
    lines = []
    for place in ranked:
        rest = [other.planner for other in ranked if other is not place]
        apart = {
            pair.second if pair.first == place.planner else pair.first
            for pair in pairs
            if pair.apart and place.planner in (pair.first, pair.second)
        }
        ranks = str(place.low) if place.low == place.high else f"{place.low} to {place.high}"
        lines.append(
            {
                "planner": place.planner,
                "reached": place.mean,
                "ranks": ranks,
                "low": place.low,
                "best": place.best,
                "beats": "all others" if len(place.beats) == len(rest) else ", ".join(place.beats),
                "unclear": ", ".join(name for name in rest if name not in apart),
            }
        )
    return {
        "words": "Reached" if metric is tables.REACHED else HEADLINE[metric.name],
        "lines": lines,
        "pairs": pairs,
        "count": count,
    }


def _published_lines(suite: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the published numbers of planners on a suite, next to the numbers computed from the rows."""
    return [
        {"line": one.row, "metric": tables.metric_description(one.metric), **words(one)}
        for one in compare_with_published(suite, rows)
    ]


def _group_lines(lines: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """Return lines or cards grouped by the group of their metric, in the order of `GROUPS`; other groups come last."""
    groups: dict[str, list[Any]] = {words: [] for words in (*GROUPS.values(), OTHER)}
    for line in lines:
        metric = line["metric"] if isinstance(line, dict) else line.metric
        groups[GROUPS.get(metric["group"], OTHER)].append(line)
    return [(words, some) for words, some in groups.items() if some]


def _stages(
    rows: Sequence[Row],
    metrics: Sequence[Metric],
    planners: Sequence[str],
    calls: Mapping[str, Array],
    names: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return the tables for all stages together, then for each stage if there are several."""
    stages = list(dict.fromkeys(row["stage"] for row in rows))
    parts = {"All stages" if len(stages) != 1 else str(stages[0]): rows}
    if len(stages) > 1:
        parts |= {str(stage): [row for row in rows if row["stage"] == stage] for stage in stages}
    return [_stage(name, part, rows, metrics, planners, calls, names) for name, part in parts.items()]


def _stage(
    name: str,
    part: Sequence[Row],
    rows: Sequence[Row],
    metrics: Sequence[Metric],
    planners: Sequence[str],
    calls: Mapping[str, Array],
    names: Mapping[str, str],
) -> dict[str, Any]:
    """Return the tables for the rows of one stage; the columns are those that all rows of the page need."""
    ends, groups, counts, lines = tables.outcome_names(rows), tables.by_planner(part, planners), {}, []
    for planner, members in groups.items():
        counts[planner] = {end: sum(row["outcome"] == end for row in members) for end in ends}
        cells = [tables.cell(tables.share(members, end), rate=True) for end in ends]
        lines.append({"planner": planner, "n": len(members), "cells": cells})
    reached = {planner: tables.share(members) for planner, members in groups.items()}
    return {
        "name": name,
        "chart": _charts.outcomes(counts, reached, _colours(rows)),
        "outcomes": lines,
        "clean": tables.clean_lines(part, planners),
        "planners": [(planner, len(members)) for planner, members in groups.items()],
        "reached": [tables.cell(estimate, rate=True) for estimate in reached.values()],
        "headline": headline(part, metrics, planners, _colours(rows), calls),
        "metrics": _group_lines(tables.metric_lines(part, metrics, planners)),
        "price": tables.price_lines(part, tables.levels_of(rows), names),
    }


def _colours(rows: Sequence[Row]) -> dict[str, str]:
    return tables.outcome_colours(tables.outcome_names(rows))


def _cards(
    rows: Sequence[Row], metrics: Sequence[Metric], planners: Sequence[str], *, compared: bool = False
) -> list[dict[str, Any]]:
    """Return one chart per metric, computed over all episodes or, if ``compared`` is True, over the episodes on which planners are
    compared (`comparable`).
    """
    groups = tables.by_planner(rows, planners)
    reached = {planner: tables.percent(tables.share(members).value) for planner, members in groups.items()}
    cards, kinds = [], {metric.over: metric for metric in metrics}
    found: dict[tuple[str, str], Estimate] = {}
    counted = {over: comparable(rows, metric) if compared else rows for over, metric in kinds.items()}
    parts = {over: tables.by_planner(some, planners) for over, some in counted.items()}
    for over, some in counted.items():
        found |= tables.summaries(some, [metric for metric in metrics if metric.over == over])
    for metric in metrics:
        means = {planner: found.get((metric.name, planner), Estimate(0, None, None, None)) for planner in planners}
        notes = {planner: f"{means[planner].n} of {len(members)}, {reached[planner]}" for planner, members in groups.items()}
        if metric.unit == RATE:
            chart = _charts.rates(metric.name, means, notes)
        else:
            values = {planner: tables.values(members, metric) for planner, members in parts[metric.over].items()}
            chart = _charts.distributions(metric.name, metric.unit, values, means, notes)
        cards.append({"metric": tables.metric_description(metric), "chart": chart})
    return cards


def _sweeps(parameters: Mapping[str, Any], rows: Sequence[Row], metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Return the curves of each sweep that the planners contain."""
    found = []
    for sweep in sweeps(parameters, rows):
        cards = []
        for metric in curve_metrics(metrics):
            points, rate = sweep.points(rows, metric), metric.unit == RATE
            if rate:
                points = {
                    v: Estimate(e.n, *(None if x is None else 100.0 * x for x in (e.value, e.low, e.high)))
                    for v, e in points.items()
                }
            unit, ends = ("%", (0.0, 100.0)) if rate else (metric.unit, (None, None))
            counts = sorted({estimate.n for estimate in points.values()})
            episodes = f"{counts[0]} to {counts[-1]} episodes" if len(counts) > 1 else f"{counts[0]} episodes"
            chart = _charts.curve(metric.name, unit, sweep.parameter, points, *ends)
            cards.append({"metric": tables.metric_description(metric), "episodes": episodes, "chart": chart})
        found.append({"planner": sweep.planner, "parameter": sweep.parameter, "cards": cards})
    return found


def _percent(share: Estimate) -> Estimate:
    return Estimate(share.n, *(None if value is None else 100.0 * value for value in (share.value, share.low, share.high)))


def _drawable(rows: Sequence[Row], recordings: Mapping[str, Recording], planners: Sequence[str]) -> dict[str, Recording]:
    """Return the recordings to draw: those of one episode per stage."""
    return {key: recordings[key] for key in pictured_keys([row for row in rows if row["key"] in recordings], planners)}


def _by_planner(rows: Sequence[Row], calls: Mapping[str, Array]) -> dict[str, Array]:
    """Return the wall times of all control calls of each planner, s."""
    found: dict[str, list[Array]] = {}
    for row in rows:
        if row["key"] in calls:
            found.setdefault(row["planner"], []).append(np.asarray(calls[row["key"]], float))
    return {name: np.concatenate(parts) for name, parts in found.items()}
