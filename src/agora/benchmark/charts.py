"""Charts of the report as inline SVG; colours come from the page's style sheet, so they follow light, dark and print."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agora.benchmark.statistics import Estimate
from agora.core.state import Doubles

if TYPE_CHECKING:
    from markupsafe import Markup

LABEL, PLOT, NOTE, ROW, TOP, AXIS = 150.0, 300.0, 118.0, 26.0, 6.0, 34.0
"""Widths of the three columns of a chart and heights of its rows, head and axis, px."""

MOST_DOTS = 200
"""Of more values only evenly spaced ranks are drawn as dots; quartiles and mean stand on all of them."""

LONGEST_LABEL = 20


def distributions(
    name: str,
    unit: str,
    values: Mapping[str, Sequence[float]],
    means: Mapping[str, Estimate],
    notes: Mapping[str, str],
) -> Markup:
    """Return a row for each planner: its values as dots, quartiles, and the mean with its interval.

    Args:
        name: of the metric.
        unit: of the metric.
        values: of each planner; there may be none.
        means: of each planner, with intervals.
        notes: words at the right of each row.
    """
    scale = _Scale.of([v for some in values.values() for v in some])
    body = [scale.axis(len(values), f"{name} ({unit})" if unit else name)]
    for index, (planner, some) in enumerate(values.items()):
        body.append(_row(scale, index, planner, np.sort(np.asarray(some, float)), means[planner], notes[planner]))
    return _svg(f"{name} of each planner", len(values), body)


def rates(name: str, shares: Mapping[str, Estimate], notes: Mapping[str, str]) -> Markup:
    """Return a row for each planner: a rate with its interval, on 0 to 100 %."""
    scale = _Scale(0.0, 100.0)
    body = []
    for index, (planner, share) in enumerate(shares.items()):
        percent = Estimate(share.n, *(None if v is None else 100.0 * v for v in (share.value, share.low, share.high)))
        body.append(_row(scale, index, planner, np.zeros(0), percent, notes[planner]))
    return _svg(f"{name} of each planner", len(shares), [scale.axis(len(shares), f"{name} (%)"), *body])


def outcomes(counts: Mapping[str, Mapping[str, int]], reached: Mapping[str, Estimate], colours: Mapping[str, str]) -> Markup:
    """Return stacked bars of the outcomes of each planner, with the interval of the share that reached the goal."""
    scale, body = _Scale(0.0, 100.0), []
    for index, (planner, count) in enumerate(counts.items()):
        y, start, total = _middle(index), 0.0, sum(count.values())
        body.append(_label(planner, y))
        for outcome, number in count.items():
            share = 100.0 * number / total if total else 0.0
            if number:
                box = _format(
                    '<rect x="{}" y="{}" width="{}" height="16" fill="{}"><title>{}: {} of {}</title></rect>',
                    *(_px(scale(start)), _px(y - 8), _px(scale(start + share) - scale(start)), colours[outcome]),
                    *(outcome.replace("_", " "), number, total),
                )
                body.append(box)
            start += share
        low, high = reached[planner].low, reached[planner].high
        if low is not None and high is not None:
            body.append(_interval(scale(100 * low), scale(100 * high), y, "whisker"))
        body.append(_note(f"{total} episodes" if total != 1 else "1 episode", y))
    return _svg("Outcomes of each planner", len(counts), [scale.axis(len(counts), "episodes (%)"), *body])


class _Scale:
    """Values to pixels, with round ticks."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    @classmethod
    def of(cls, values: Sequence[float]) -> _Scale:
        low, high = (min(values), max(values)) if any(values) else (0.0, 1.0)
        margin = 0.04 * (high - low) or 0.05 * abs(low) or 0.5
        return cls(low - margin, high + margin)

    def __call__(self, value: float) -> float:
        return LABEL + PLOT * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]

    def axis(self, rows: int, title: str) -> Markup:
        """Grid lines, numbers and a title below ``rows`` rows."""
        bottom, marks = TOP + rows * ROW, []
        for tick in self.ticks():
            x = _px(self(tick))
            marks.append(_format('<path class="grid" d="M{} {}V{}"/>', x, TOP, bottom))
            marks.append(_format('<text class="tick" x="{}" y="{}">{}</text>', x, bottom + 12, f"{tick + 0.0:.6g}"))
        words = _format('<text class="tick" x="{}" y="{}">{}</text>', LABEL + PLOT / 2, bottom + 28, title)
        return _join([*marks, words])


def _row(scale: _Scale, index: int, planner: str, values: Doubles, mean: Estimate, note: str) -> Markup:
    """Label, dots, box, mean and note of one planner."""
    y = _middle(index)
    parts = [_label(planner, y), _note(note, y)]
    if len(values):
        ranks = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_DOTS)).round().astype(int))
        heights = y + ((ranks * 0.618034) % 1.0 - 0.5) * 15
        dots = "".join(f"M{_px(scale(v))} {_px(h)}h0" for v, h in zip(values[ranks], heights, strict=True))
        parts.append(_format('<path class="dots" d="{}"/>', dots))
    if len(values) > 1:
        low, middle, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
        reach = 1.5 * (high - low)
        ends = float(values[values >= low - reach][0]), float(values[values <= high + reach][-1])
        box = f"M{_px(scale(ends[0]))} {y}H{_px(scale(low))}M{_px(scale(high))} {y}H{_px(scale(ends[1]))}"
        box += f"M{_px(scale(low))} {y - 7}H{_px(scale(high))}V{y + 7}H{_px(scale(low))}ZM{_px(scale(middle))} {y - 7}V{y + 7}"
        parts.append(_format('<path class="box" d="{}"/>', box))
    if mean.value is not None:
        if mean.low is not None and mean.high is not None:
            parts.append(_interval(scale(mean.low), scale(mean.high), y, "interval"))
        x = scale(mean.value)
        parts.append(_format('<path class="mean" d="M{} {}l4 4l-4 4l-4 -4Z"/>', _px(x), _px(y - 4)))
    return _join(parts)


def _middle(index: int) -> float:
    return TOP + (index + 0.5) * ROW


def _px(value: float) -> str:
    """A coordinate to a tenth of a pixel, without a trailing zero."""
    return f"{value:.1f}".removesuffix(".0")


def _label(planner: str, y: float) -> Markup:
    short = planner if len(planner) <= LONGEST_LABEL else planner[: LONGEST_LABEL - 1] + "…"
    return _format('<text class="label" x="{}" y="{}">{}<title>{}</title></text>', LABEL - 8, y + 4, short, planner)


def _note(words: str, y: float) -> Markup:
    return _format('<text class="note" x="{}" y="{}">{}</text>', LABEL + PLOT + 8, y + 4, words)


def _interval(low: float, high: float, y: float, kind: str) -> Markup:
    return _format('<path class="{}" d="M{} {}H{}"/>', kind, _px(low), _px(y), _px(high))


def _svg(title: str, rows: int, body: Sequence[Markup]) -> Markup:
    width, height = LABEL + PLOT + NOTE, TOP + rows * ROW + AXIS
    head = _format('<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {} {}">', title, _px(width), _px(height))
    return _join([head, *body, _format("</svg>")])


def _format(text: str, *values: object) -> Markup:
    """Fill a template of ours; what is filled in is escaped."""
    from markupsafe import Markup

    return Markup(text).format(*values)  # noqa: S704 - the template is ours


def _join(parts: Sequence[Markup]) -> Markup:
    from markupsafe import Markup

    return Markup("").join(parts)
