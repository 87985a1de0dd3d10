"""The limits of planners on the axes of the `limits` suite, computed from the episode outcomes stored in the manual."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from episodes import FOLDER, read_episodes
from matplotlib.figure import Figure
from rows import STALE, marked, stale_in, table

from agora.benchmark.control import CONTROL
from agora.benchmark.informed import INFORMED
from agora.reporting.limits.chart import ticks
from agora.reporting.limits.curve_fit import POINTS
from agora.reporting.limits.measurement import OUTCOMES, Limit, Limits, limits_of
from agora.reporting.limits.words import better_than, fails_first, leader_sentences, limit_text, ranked_limits, relative_area_text
from agora.tasks.modules.axis import axis_of
from agora.tasks.suite import load_suite
from agora.viewer.figures import save
from agora.viewer.scene import OKABE_ITO

SUITE = "limits"
PICTURE = Path(__file__).resolve().parent / "images" / "limits.png"

_COLOURED = 7  # number of planners shown in colour, counted from the first; all others are grey
_GREY = "0.82"
_COLUMNS = 2


def measured_limits(folder: Path = FOLDER) -> list[Limits]:
    """Return the limits of all planners with stored outcomes, one entry per axis.

    Args:
        folder: folder of the outcomes (`episodes`).

    Raises:
        SystemExit: a planner has outcomes of some stages of an axis, but not of all.
    """
    suite, rows = load_suite(SUITE), read_episodes(SUITE, folder)
    planners = sorted({row["planner"] for row in rows})
    played = {planner: {row["stage"] for row in rows if row["planner"] == planner} for planner in planners}
    axes: dict[str, set[str]] = {}
    for stage in suite.stages:
        if (axis := axis_of(stage)) is not None:
            axes.setdefault(axis.axis, set()).add(stage.name)
    for name, stages in axes.items():
        for planner in planners:
            if (lacking := stages - played[planner]) and lacking != stages:
                raise SystemExit(f"{planner} lacks stages of the axis {name}: {', '.join(sorted(lacking))}")
    return limits_of(suite, rows, planners, INFORMED, CONTROL)


def limits_page() -> str:
    """Return a sentence and a table per axis and outcome."""
    parts = []
    for limits in measured_limits():
        parts.append(f"## {limits.axis.axis.capitalize()}\n")
        for outcome in limits.outcomes:
            head = [
                "planner",
                f"half {OUTCOMES[outcome]}, {limits.axis.unit}",
                "score",
                "better than",
                "first 20 failures beyond the limit",
            ]
            lines = [_line(limits, one) for one in _ordered(limits, outcome)]
            parts += [f"{' '.join(leader_sentences([limits], outcome))}\n", table(head, lines)]
    return "\n".join(parts)


def _ordered(limits: Limits, outcome: str) -> list[Limit]:
    """Return the limits for one outcome: the planners from the hard end of the axis to the easy end, then both references."""
    references = [one for name in (limits.ceiling, limits.floor) for one in limits.of(outcome) if one.planner == name]
    return [*ranked_limits(limits, outcome), *references]


def _line(limits: Limits, limit: Limit) -> list[str]:
    marks = {limits.ceiling: "knows the future, the ceiling", limits.floor: "sees nobody, the floor"}
    stale = STALE if limit.planner in stale_in(f"limits, {limits.axis.axis}") else ""
    name, count = marked(limit.planner, marks.get(limit.planner, ""), stale), str(len(better_than(limits, limit)))
    if limit.planner in marks:
        return [name, limit_text(limits, limit), "", "", fails_first(limit)]
    return [name, limit_text(limits, limit), relative_area_text(limit), count, fails_first(limit)]


def draw_limits(found: Sequence[Limits], path: Path = PICTURE) -> Path:
    """Draw the success rate of all planners over each axis, between the curves of both references, and return the path."""
    columns = min(_COLUMNS, len(found))
    rows = -(-len(found) // columns)
    figure = Figure((5.5 * columns, 3.4 * rows), layout="constrained")
    for place, limits in enumerate(found):
        axes = figure.add_subplot(rows, columns, place + 1)
        ranked = ranked_limits(limits, "success")
        values = [limits.value(float(x)) for x in POINTS]
        for number, limit in reversed([*enumerate(ranked)]):
            named = number < _COLOURED
            axes.plot(values, limit.fits.curve, color=OKABE_ITO[number] if named else _GREY, label=limit.planner if named else None)
        for name in (limits.ceiling, limits.floor):
            for limit in (one for one in limits.of("success") if one.planner == name):
                axes.plot(values, limit.fits.curve, color="0.2", linestyle="--", linewidth=1.0)
                axes.annotate(limit.planner, (values[20], limit.fits.curve[20]), fontsize=7, color="0.2")
        if limits.axis.scale == "log":
            axes.set_xscale("log")
        axes.set_xticks([], minor=True)
        marks = [value for _, value in ticks(limits)]
        axes.set_xticks(marks, [f"{mark:g}" for mark in marks])
        axes.set(xlim=(values[0], values[-1]), ylim=(0.0, 1.02))
        axes.set(xlabel=f"{limits.axis.axis} ({limits.axis.unit})", ylabel="success rate")
        axes.axhline(0.5, color="0.6", linewidth=0.6)
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], fontsize=7, loc="lower left")
    return save(figure, path, dpi=110)
