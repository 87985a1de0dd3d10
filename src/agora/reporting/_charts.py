"""Charts of the report as inline SVG. Colours are defined in the page's style sheet, so charts adapt to light mode, dark mode and
print.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Doubles
from agora.reporting.statistics import Estimate

if TYPE_CHECKING:
    from markupsafe import Markup

LABEL, PLOT, NOTE, ROW, TOP, AXIS = 150.0, 300.0, 118.0, 26.0, 6.0, 34.0
"""Widths of the three columns of a chart, and heights of its rows, heading and axis, px."""

_CURVE = 150.0  # height of the plot of a curve, px
MOST_DOTS = 200
"""Maximum number of values drawn as dots; if there are more values, only those at evenly spaced ranks are drawn. Quartiles and mean
use all values.
"""

LONGEST_LABEL = 20
"""Maximum number of characters per line in a planner's label."""


_VIOLIN, _SMALL_WIDTH, _SMALL_HEIGHT = 32, 120.0, 26.0
"""Number of points of a violin's outline, and the size of a small chart, px."""


def small(values: Sequence[float], mean: Estimate, low: float, high: float) -> Markup:
    """Return a small chart of a distribution with the mean and its interval; the axis ranges from ``low`` to ``high``."""
    scale, data, y = _Scale(low, high, 4.0, _SMALL_WIDTH - 8.0), np.sort(np.asarray(values, float)), _SMALL_HEIGHT / 2
    return _small([_violin(scale, data, y, 11.0), _mean(scale, mean, y)])


def small_outcomes(counts: Mapping[str, int], colours: Mapping[str, str]) -> Markup:
    """Return a small stacked bar of outcomes."""
    return _small(_bar(_Scale(0.0, 100.0, 2.0, _SMALL_WIDTH - 4.0), counts, colours, _SMALL_HEIGHT / 2))


def _small(body: Sequence[Markup]) -> Markup:
    size = (_px(_SMALL_WIDTH), _px(_SMALL_HEIGHT))
    head = fill_markup('<svg class="small" aria-hidden="true" viewBox="0 0 {} {}" width="{}" height="{}">', *size, *size)
    return join_markup([head, *body, fill_markup("</svg>")])


def distributions(
    name: str,
    unit: str,
    values: Mapping[str, Sequence[float]],
    means: Mapping[str, Estimate],
    notes: Mapping[str, str],
) -> Markup:
    """Return a chart with one row per planner: values as a violin and dots, quartiles, and the mean with its interval.

    Args:
        name: name of the metric.
        unit: unit of the metric.
        values: values of each planner; a planner may have no values.
        means: mean of each planner, with its interval.
        notes: text to the right of each row.
    """
    scale = _Scale.of([v for some in values.values() for v in some])
    body = [scale.axis(len(values), f"{name} ({unit})" if unit else name)]
    short = short_labels(values)
    for index, (planner, some) in enumerate(values.items()):
        body.append(
            _row(
                scale,
                index,
                _label(planner, short[planner], _middle(index)),
                np.sort(np.asarray(some, float)),
                means[planner],
                notes[planner],
            )
        )
    return _svg(f"{name} of each planner", len(values), body)


def rates(name: str, shares: Mapping[str, Estimate], notes: Mapping[str, str]) -> Markup:
    """Return a chart with one row per planner, which shows a rate with its interval on an axis from 0 to 100 %."""
    scale, short = _Scale(0.0, 100.0), short_labels(shares)
    body = []
    for index, (planner, share) in enumerate(shares.items()):
        percent = Estimate(share.n, *(None if v is None else 100.0 * v for v in (share.value, share.low, share.high)))
        body.append(_row(scale, index, _label(planner, short[planner], _middle(index)), np.zeros(0), percent, notes[planner]))
    return _svg(f"{name} of each planner", len(shares), [scale.axis(len(shares), f"{name} (%)"), *body])


def outcomes(counts: Mapping[str, Mapping[str, int]], reached: Mapping[str, Estimate], colours: Mapping[str, str]) -> Markup:
    """Return a stacked bar of outcomes for each planner, with the interval of the success rate."""
    scale, short = _Scale(0.0, 100.0), short_labels(counts)
    body: list[Markup] = []
    for index, (planner, count) in enumerate(counts.items()):
        y, total = _middle(index), sum(count.values())
        body += [_label(planner, short[planner], y), *_bar(scale, count, colours, y)]
        low, high = reached[planner].low, reached[planner].high
        if low is not None and high is not None:
            body.append(_interval(scale(100 * low), scale(100 * high), y, "whisker"))
        body.append(_note(f"{total} episodes" if total != 1 else "1 episode", y))
    return _svg("Outcomes of each planner", len(counts), [scale.axis(len(counts), "episodes (%)"), *body])


def curve(
    name: str, unit: str, parameter: str, points: Mapping[float, Estimate], low: float | None = None, high: float | None = None
) -> Markup:
    """Return a chart of a metric's mean over the values of a parameter, with intervals.

    Args:
        name: name of the metric.
        unit: unit of the metric.
        parameter: name of the parameter.
        points: mean with its interval at each value of the parameter, in increasing order of the values.
        low: lower end of the metric's axis; if None, the lowest end of any interval.
        high: upper end of the metric's axis; if None, the highest end of any interval.
    """
    ends = [v for one in points.values() for v in (one.value, one.low, one.high) if v is not None]
    own = _Scale.of(ends)
    across, up = _Scale.of(list(points)), _Scale(own.low if low is None else low, own.high if high is None else high)
    right, bottom = LABEL / 2 + PLOT, TOP + _CURVE

    def place(value: float, mean: float) -> tuple[str, str]:
        return _px(across(value) - LABEL / 2), _px(bottom - _CURVE * (mean - up.low) / (up.high - up.low))

    body = []
    for tick in up.ticks():
        y = place(across.low, tick)[1]
        body.append(fill_markup('<path class="grid" d="M{} {}H{}"/>', LABEL / 2, y, right))
        body.append(fill_markup('<text class="tick end" x="{}" y="{}">{}</text>', LABEL / 2 - 6, float(y) + 4, f"{tick + 0.0:.6g}"))
    for tick in across.ticks():
        body.append(
            fill_markup('<text class="tick" x="{}" y="{}">{}</text>', place(tick, up.low)[0], bottom + 14, f"{tick + 0.0:.6g}")
        )
    words = f"{parameter}; {name} ({unit})" if unit else f"{parameter}; {name}"
    body.append(fill_markup('<text class="tick" x="{}" y="{}">{}</text>', LABEL / 2 + PLOT / 2, bottom + 30, words))
    known = {value: one for value, one in points.items() if one.value is not None}
    means = [place(value, one.value or 0.0) for value, one in known.items()]
    if len(means) > 1:
        body.append(fill_markup('<path class="curve" d="M{}"/>', "L".join(f"{x} {y}" for x, y in means)))
    for (value, one), (x, y) in zip(known.items(), means, strict=True):
        if one.low is not None and one.high is not None:
            body.append(
                fill_markup('<path class="interval" d="M{} {}V{}"/>', x, place(value, one.low)[1], place(value, one.high)[1])
            )
        body.append(fill_markup('<path class="mean" d="M{} {}l4 4l-4 4l-4 -4Z"/>', x, float(y) - 4))
    head = '<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {} {}">'
    size = (f"{name} over {parameter}", _px(right + 20), _px(bottom + AXIS))
    return join_markup([fill_markup(head, *size), *body, fill_markup("</svg>")])


def _bar(scale: _Scale, counts: Mapping[str, int], colours: Mapping[str, str], y: float) -> list[Markup]:
    """Return a stacked bar of outcomes, in percent."""
    start, total, boxes = 0.0, sum(counts.values()), []
    for outcome, number in counts.items():
        share = 100.0 * number / total if total else 0.0
        if number:
            box = fill_markup(
                '<rect x="{}" y="{}" width="{}" height="16" fill="{}"><title>{}: {} of {}</title></rect>',
                *(_px(scale(start)), _px(y - 8), _px(scale(start + share) - scale(start)), colours[outcome]),
                *(outcome.replace("_", " "), number, total),
            )
            boxes.append(box)
        start += share
    return boxes


class _Scale:
    """Maps values to pixels on an axis that starts at ``left`` and is ``width`` wide, with ticks at round values."""

    def __init__(self, low: float, high: float, left: float = LABEL, width: float = PLOT) -> None:
        self.low, self.high, self.left, self.width = low, high, left, width

    @classmethod
    def of(cls, values: Sequence[float]) -> _Scale:
        low, high = (min(values), max(values)) if any(values) else (0.0, 1.0)
        margin = 0.04 * (high - low) or 0.05 * abs(low) or 0.5
        return cls(low - margin, high + margin)

    def __call__(self, value: float) -> float:
        return self.left + self.width * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]

    def axis(self, rows: int, title: str) -> Markup:
        """Return the grid lines of ``rows`` rows, and the numbers and the title of the axis below them."""
        bottom, marks = TOP + rows * ROW, []
        for tick in self.ticks():
            x = _px(self(tick))
            marks.append(fill_markup('<path class="grid" d="M{} {}V{}"/>', x, TOP, bottom))
            marks.append(fill_markup('<text class="tick" x="{}" y="{}">{}</text>', x, bottom + 12, f"{tick + 0.0:.6g}"))
        words = fill_markup('<text class="tick" x="{}" y="{}">{}</text>', LABEL + PLOT / 2, bottom + 28, title)
        return join_markup([*marks, words])


def _row(scale: _Scale, index: int, label: Markup, values: Doubles, mean: Estimate, note: str) -> Markup:
    """Return the label, dots, box, mean and note of one planner."""
    y = _middle(index)
    parts = [label, _note(note, y), _violin(scale, values, y, 12.0)]
    if len(values):
        ranks = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_DOTS)).round().astype(int))
        heights = (y + ((ranks * 0.618034) % 1.0 - 0.5) * 15).tolist()
        dots = "".join(f"M{_px(scale(v))} {_px(h)}h0" for v, h in zip(values[ranks].tolist(), heights, strict=True))
        parts.append(fill_markup('<path class="dots" d="{}"/>', dots))
    if len(values) > 1:
        low, middle, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
        reach = 1.5 * (high - low)
        ends = float(values[values >= low - reach][0]), float(values[values <= high + reach][-1])
        box = f"M{_px(scale(ends[0]))} {y}H{_px(scale(low))}M{_px(scale(high))} {y}H{_px(scale(ends[1]))}"
        box += f"M{_px(scale(low))} {y - 7}H{_px(scale(high))}V{y + 7}H{_px(scale(low))}ZM{_px(scale(middle))} {y - 7}V{y + 7}"
        parts.append(fill_markup('<path class="box" d="{}"/>', box))
    return join_markup([*parts, _mean(scale, mean, y)])


def _mean(scale: _Scale, mean: Estimate, y: float) -> Markup:
    """Return a diamond at the mean, and a bar for its interval; empty if there is no mean."""
    if mean.value is None:
        return join_markup([])
    parts = []
    if mean.low is not None and mean.high is not None:
        parts.append(_interval(scale(mean.low), scale(mean.high), y, "interval"))
    return join_markup([*parts, fill_markup('<path class="mean" d="M{} {}l4 4l-4 4l-4 -4Z"/>', _px(scale(mean.value)), _px(y - 4))])


def _violin(scale: _Scale, values: Doubles, y: float, half: float) -> Markup:
    """Return the outline of the values' density, at most ``half`` px to either side of the axis; empty if there are fewer than
    three values or all values are equal.

    The density is a kernel estimate with normal kernels and Silverman's bandwidth (1986, Density Estimation, eq. 3.31), cut off at
    the minimum and maximum value.
    """
    if len(values) < 3 or values[0] == values[-1]:
        return join_markup([])
    spread = float(np.subtract(*np.quantile(values, (0.75, 0.25)))) / 1.34
    deviation = float(values.std(ddof=1))
    width = 0.9 * min(deviation, spread or deviation) * len(values) ** -0.2
    at = np.linspace(values[0], values[-1], _VIOLIN)
    density = np.exp(-0.5 * ((at[:, None] - values) / width) ** 2).sum(axis=1)
    heights = half * density / density.max()
    points = list(zip(at.tolist(), heights.tolist(), strict=True))
    edge = [(scale(x), y - h) for x, h in points] + [(scale(x), y + h) for x, h in reversed(points)]
    return fill_markup('<path class="violin" d="M{}Z"/>', "L".join(f"{_px(x)} {_px(h)}" for x, h in edge))


def _middle(index: int) -> float:
    return TOP + (index + 0.5) * ROW


def _px(value: float) -> str:
    """Return a coordinate as text, rounded to a tenth of a pixel, without a trailing zero."""
    return f"{value:.1f}".removesuffix(".0")


def short_labels(planners: Iterable[str]) -> dict[str, str]:
    """Return planner labels of at most two lines.

    Long labels are shortened in the middle, and a number is added if two labels would be equal.
    """
    most = 2 * LONGEST_LABEL
    cut = {name: name if len(name) <= most else f"{name[: LONGEST_LABEL - 1]}…{name[-LONGEST_LABEL:]}" for name in planners}
    counts = Counter(cut.values())
    return {name: short if counts[short] == 1 else f"{short[: most - 5]} #{k}" for k, (name, short) in enumerate(cut.items(), 1)}


def _label(planner: str, short: str, y: float) -> Markup:
    """Return a planner's label to the left of its row, on two lines if it is long; the full label is the tooltip."""
    if len(short) <= LONGEST_LABEL:
        return fill_markup('<text class="label" x="{}" y="{}">{}<title>{}</title></text>', LABEL - 8, y + 4, short, planner)
    lines = ((y - 1.5, short[:LONGEST_LABEL]), (y + 9.5, short[LONGEST_LABEL:]))
    spans = [fill_markup('<tspan x="{}" y="{}">{}</tspan>', LABEL - 8, _px(height), line) for height, line in lines]
    return fill_markup('<text class="label">{}<title>{}</title></text>', join_markup(spans), planner)


def _note(words: str, y: float) -> Markup:
    return fill_markup('<text class="note" x="{}" y="{}">{}</text>', LABEL + PLOT + 8, y + 4, words)


def _interval(low: float, high: float, y: float, kind: str) -> Markup:
    return fill_markup('<path class="{}" d="M{} {}H{}"/>', kind, _px(low), _px(y), _px(high))


def _svg(title: str, rows: int, body: Sequence[Markup]) -> Markup:
    width, height = LABEL + PLOT + NOTE, TOP + rows * ROW + AXIS
    head = fill_markup('<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {} {}">', title, _px(width), _px(height))
    return join_markup([head, *body, fill_markup("</svg>")])


def fill_markup(text: str, *values: object) -> Markup:
    """Fill values, which are escaped, into one of Agora's own templates."""
    from markupsafe import Markup, escape

    return Markup(text.format(*map(escape, values)))  # noqa: S704 - the template is Agora's own


def join_markup(parts: Sequence[Markup]) -> Markup:
    """Concatenate markup."""
    from markupsafe import Markup

    return Markup("").join(parts)
