"""Figures for papers that compare planners; every value has an interval and is shown with the success rate.

For metrics that look better when a robot fails, only the episodes in which all planners reached the goal are used
(`agora.reporting.statistics.comparable`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agora.benchmark.results.copies import PLACE
from agora.benchmark.results.store import Row
from agora.core.state import Doubles
from agora.errors import InputError
from agora.interfaces import Metric
from agora.reporting import tables
from agora.reporting._sweeps import Sweep
from agora.reporting.statistics import Estimate, comparable, over_places, wilson
from agora.reporting.tables import REACHED
from agora.viewer.figures import blank, style
from agora.viewer.scene import COLOURS, OKABE_ITO, OUTCOME_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCH_PER_PLANNER = 0.34
_ABREAST = 3  # number of panels per row of an overview


def comparison_figure(rows: Sequence[Row], metric: Metric, *, width: float = 5.0) -> Figure:
    """Return the distribution of a metric for each planner: violin, values, quartiles, and the mean with its bootstrap interval.

    A planner's label gives the number of episodes that the values come from, and the number of episodes that reached the goal.

    Raises:
        InputError: there are no rows.
    """
    groups = _by_planner(rows)
    with style():
        figure, axes = blank(width, 0.9 + INCH_PER_PLANNER * len(groups))
        drawn = _draw(axes, rows, metric, groups)
        labels = [
            f"{planner}\n{drawn[planner]} of {len(members)}, {_share_in_words(members)}" for planner, members in groups.items()
        ]
        axes.set_xlabel(_label(metric, len(groups)))
        axes.set_yticklabels(labels, fontsize=7)
        axes.grid(axis="x", lw=0.4, color="#dddddd")
    return figure


def overview_figure(rows: Sequence[Row], metrics: Sequence[Metric], *, width: float = 7.5) -> Figure:
    """Return several metrics side by side, three per row, each as in `comparison_figure`; a planner has the same colour in all
    panels.

    With the metrics of `agora.reporting.headline.ARENA`, the figure corresponds to Figure 6 of Arena 3.0 (Kästner et al. 2024).

    Raises:
        InputError: there are no rows or no metrics.
    """
    if not metrics:
        raise InputError("no metrics to draw")
    groups, lines = _by_planner(rows), -(-len(metrics) // _ABREAST)
    with style():
        figure, only = blank(width, lines * (0.75 + 0.24 * len(groups)))
        only.remove()
        panels = figure.subplots(lines, min(len(metrics), _ABREAST), sharey=True, squeeze=False)
        for axes in panels.flat[len(metrics) :]:
            axes.set_visible(False)
        for axes, metric in zip(panels.flat, metrics, strict=False):
            _draw(axes, rows, metric, groups)
            axes.set_yticklabels([f"{planner}\n{_share_in_words(members)}" for planner, members in groups.items()], fontsize=7)
            axes.set_xlabel(_label(metric, len(groups)), fontsize=6.5)
            axes.grid(axis="x", lw=0.4, color="#dddddd")
    return figure


def outcome_figure(rows: Sequence[Row], *, width: float = 5.0) -> Figure:
    """Return a figure of each planner's outcomes, with 95 % intervals of the success rate (Wilson's interval and the interval by
    place).

    Raises:
        InputError: there are no rows.
    """
    groups = _by_planner(rows)
    seen = [label for label in OUTCOME_COLOURS if any(row["outcome"] == label for row in rows)]
    with style():
        figure, axes = blank(width, 1.1 + INCH_PER_PLANNER * len(groups))
        start = np.zeros(len(groups))
        for label in seen:
            share = np.array([sum(row["outcome"] == label for row in members) / len(members) for members in groups.values()])
            axes.barh(
                range(len(groups)), 100 * share, 0.62, 100 * start, color=OUTCOME_COLOURS[label], label=label.replace("_", " ")
            )
            start += share
        for place, members in enumerate(groups.values()):
            reached = sum(row["outcome"] == "reached" for row in members)
            low, high = wilson(reached, len(members))
            axes.plot([100 * low, 100 * high], [place, place], color=COLOURS["ink"], lw=1.1, marker="|", ms=5, zorder=3)
            wide = tables.share(members).by_place
            if wide is not None and wide.low is not None and wide.high is not None:
                axes.plot([100 * wide.low, 100 * wide.high], [place + 0.14] * 2, color=COLOURS["ink"], lw=0.7, ls=":", zorder=3)
        line = "line: 95 % interval of reached, dotted: by place"
        axes.set(xlim=(0, 100), ylim=(len(groups) - 0.4, -0.6), xlabel=f"episodes (%); {line}")
        axes.set_yticks(range(len(groups)), [f"{planner} (n = {len(members)})" for planner, members in groups.items()])
        figure.legend(loc="outside upper center", ncols=4, fontsize=7)
    return figure


def planner_matrix(rows: Sequence[Row], metric: Metric | None = None, *, by: str = "stage", width: float = 5.0) -> Figure:
    """Return a matrix of planners and stages that shows the success rate, or a metric's mean with the success rate below it.

    Args:
        rows: rows of results.
        metric: metric to show; if None, only the success rate is shown.
        by: column of the rows whose values are the columns of the figure.
        width: width of the figure, inches.

    Raises:
        InputError: there are no rows, or the column is unknown.
    """
    groups = _by_planner(rows)
    if any(by not in row for row in rows):
        raise InputError(f"the rows have no column {by!r}")
    columns = list(dict.fromkeys(row[by] for row in rows))
    cells = [[[row for row in members if row[by] == column] for column in columns] for members in groups.values()]
    counted = {id(row) for row in (rows if metric is None else comparable(rows, metric))}
    value = np.array([[_cell_value([row for row in cell if id(row) in counted], metric) for cell in line] for line in cells])
    better = "viridis_r" if metric is not None and metric.direction == "lower" else "viridis"
    with style():
        figure, axes = blank(width, 1.1 + 0.42 * len(groups))
        low, high = (0.0, 1.0) if metric is None else (None, None)
        image = axes.imshow(np.ma.masked_invalid(value), cmap=better, aspect="auto", vmin=low, vmax=high)
        for (row, column), number in np.ndenumerate(value):
            if cells[row][column]:
                shade = image.cmap(image.norm(number))[:3] if np.isfinite(number) else (1.0, 1.0, 1.0)
                ink = "black" if np.dot(shade, (0.3, 0.6, 0.1)) > 0.5 else "white"
                axes.text(
                    column, row, _cell_words(cells[row][column], number, metric), ha="center", va="center", fontsize=6, color=ink
                )
        axes.set_xticks(range(len(columns)), [str(column) for column in columns], rotation=30, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(groups)), list(groups))
        axes.spines[:].set_visible(False)
        figure.colorbar(
            image, ax=axes, label="share that reached the goal" if metric is None else _label(metric, len(groups)), shrink=0.9
        )
    return figure


def sweep_figure(rows: Sequence[Row], sweep: Sweep, metrics: Sequence[Metric], *, width: float = 7.5) -> Figure:
    """Return a figure of a planner's success rate and metrics as functions of one parameter, with 95 % intervals.

    Raises:
        InputError: there are no rows.
    """
    if not rows:
        raise InputError("no rows to draw")
    shown = [REACHED, *metrics]
    lines = -(-len(shown) // _ABREAST)
    with style():
        figure, only = blank(width, 1.9 * lines)
        only.remove()
        panels = figure.subplots(lines, min(len(shown), _ABREAST), squeeze=False)
        for axes in panels.flat[len(shown) :]:
            axes.set_visible(False)
        for axes, metric in zip(panels.flat, shown, strict=False):
            known = {value: one for value, one in sweep.points(rows, metric).items() if one.value is not None}
            means = [one.value for one in known.values()]
            axes.plot(list(known), means, "o-", color=OKABE_ITO[0], ms=4, lw=1.2)
            for value, one in known.items():
                if one.low is not None and one.high is not None:
                    axes.plot([value, value], [one.low, one.high], color=COLOURS["ink"], lw=1.1, marker="_", ms=5)
            axes.set_ylim((0.0, 1.02) if metric is REACHED else None)
            axes.set_xlabel(sweep.parameter)
            axes.set_ylabel(_upright(metric, len(sweep.labels)), fontsize=6.5)
            axes.grid(lw=0.4, color="#dddddd")
    return figure


def _draw(axes: Axes, rows: Sequence[Row], metric: Metric, groups: Mapping[str, Sequence[Row]]) -> dict[str, int]:
    """Draw the distribution of each planner's values, one line per planner, and return the number of values per planner."""
    counted, drawn = comparable(rows, metric), dict.fromkeys(groups, 0)
    for place, planner in enumerate(groups):
        mine = [row for row in counted if row["planner"] == planner and row.get(metric.name) is not None]
        drawn[planner] = len(mine)
        if mine:
            values = np.array([row[metric.name] for row in mine], float)
            mean = over_places(values.tolist(), [row.get(PLACE) for row in mine])
            _distribution(axes, place, values, mean, OKABE_ITO[place % 7])
    if not counted:
        axes.text(0.5, 0.5, "no episode in which all planners reached the goal", transform=axes.transAxes, ha="center", fontsize=7)
    axes.set(yticks=range(len(groups)), ylim=(len(groups) - 0.4, -0.6))
    return drawn


def _share_in_words(rows: Sequence[Row]) -> str:
    """Return the success rate of rows, as text."""
    return f"{sum(row['outcome'] == 'reached' for row in rows) / len(rows):.0%} reached"


def _distribution(axes: Axes, place: int, values: Doubles, mean: Estimate, colour: str) -> None:
    """Draw one planner's values: a violin of their density, dots, quartiles, and the mean with its interval."""
    if len(values) > 2 and np.ptp(values) > 0:
        drawn = axes.violinplot([values], positions=[place], orientation="horizontal", widths=0.84, showextrema=False)
        for body in drawn["bodies"]:  # type: ignore[attr-defined]
            body.set(facecolor=colour, alpha=0.22, lw=0, zorder=1)
    spread = ((np.arange(len(values)) * 0.618034) % 1.0 - 0.5) * 0.5
    axes.scatter(values, place + spread, s=6, color=colour, alpha=0.5, lw=0, zorder=2)
    if len(values) > 1:
        axes.boxplot(
            [values],
            positions=[place],
            orientation="horizontal",
            widths=0.56,
            showfliers=False,
            manage_ticks=False,
            boxprops={"lw": 0.8},
            medianprops={"color": COLOURS["ink"], "lw": 1.2},
        )
    axes.plot([float(values.mean())], [place], "D", color=COLOURS["ink"], mec="white", mew=0.6, ms=5, zorder=5)
    if mean.low is not None and mean.high is not None:
        axes.plot([mean.low, mean.high], [place, place], color=COLOURS["ink"], lw=2.2, solid_capstyle="butt", zorder=4)


def _by_planner(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows of each planner, in the order of the planners' first rows."""
    if not rows:
        raise InputError("no rows to draw")
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["planner"], []).append(row)
    return groups


def _label(metric: Metric, planners: int) -> str:
    """Return the label of a metric: its name, unit and better direction, and the episodes that the values come from."""
    better = {"higher": ", higher is better", "lower": ", lower is better", "neutral": ""}[metric.direction]
    unit = f" ({metric.unit})" if metric.unit else ""
    of = "\nepisodes in which all reached the goal" if metric.over == "reached" and planners > 1 else ""
    return f"{metric.name}{unit}{better}{of}"


def _upright(metric: Metric, planners: int) -> str:
    """Return a metric's label for the short axis of a panel, with the details on a line below the name."""
    said = _label(metric, planners).removeprefix(metric.name).lstrip(", ")
    return "\n".join(filter(None, (metric.name.replace(".", ".\n"), said)))


def _cell_value(cell: Sequence[Row], metric: Metric | None) -> float:
    """Return the success rate or the mean of a metric; NaN if it is undefined."""
    if metric is None:
        values = [float(row["outcome"] == "reached") for row in cell]
    else:
        values = [float(row[metric.name]) for row in cell if row.get(metric.name) is not None]
    return float(np.mean(values)) if values else float("nan")


def _cell_words(cell: Sequence[Row], number: float, metric: Metric | None) -> str:
    """Return the text in a cell of the matrix: the value, and the success rate with its interval."""
    reached = sum(row["outcome"] == "reached" for row in cell)
    share = f"{reached / len(cell):.0%} of {len(cell)}"
    if metric is None:
        low, high = wilson(reached, len(cell))
        return f"{share}\n[{low:.0%}, {high:.0%}]"
    return f"{number:.3g}\n({share} reached)" if np.isfinite(number) else f"none\n({share} reached)"
