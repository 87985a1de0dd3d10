"""Charts of limits as inline SVG: success rate over difficulty, with one curve per planner, between floor and ceiling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agora.reporting._charts import fill_markup, join_markup
from agora.reporting.limits.curve_fit import POINTS
from agora.reporting.limits.measurement import Limit, Limits
from agora.reporting.limits.words import ranked_limits
from agora.viewer.scene import OKABE_ITO

if TYPE_CHECKING:
    from markupsafe import Markup

_LEFT, _TOP, _WIDTH, _HEIGHT, _FOOT, _ROW = 96.0, 10.0, 370.0, 210.0, 44.0, 15.0
_FAINT = "var(--faint)"
_LONGEST = 15  # maximum number of characters in a label


def colours_of(planners: Sequence[str]) -> dict[str, str]:
    """Return a colour for each planner; planners that exceed the number of colours in the palette are grey."""
    return {planner: OKABE_ITO[k] if k < len(OKABE_ITO) - 1 else _FAINT for k, planner in enumerate(planners)}


def limit_chart(limits: Limits, outcome: str, colours: Mapping[str, str]) -> Markup:
    """Return a chart with the curves of all planners on one axis, and below them the planners' limits with intervals.

    The curves of the floor and the ceiling are dashed, and the area between them is shaded.

    Args:
        limits: limits on the axis.
        outcome: column of the rows that contains the outcome.
        colours: colour of each planner other than the references.
    """
    found = {one.planner: one for one in limits.of(outcome)}
    ceiling, floor = found.get(limits.ceiling or ""), found.get(limits.floor or "")
    own = [one for planner, one in found.items() if planner not in (limits.ceiling, limits.floor)]
    body = [_axes(limits)]
    if ceiling is not None and floor is not None:
        outline = [_place(x, y) for x, y in zip(POINTS, ceiling.fits.curve, strict=True)]
        outline += [_place(x, y) for x, y in reversed(list(zip(POINTS, floor.fits.curve, strict=True)))]
        body.append(fill_markup('<path class="between" d="M{}Z"/>', _path(outline)))
    body += [_curve(one, _FAINT, dashed=True) for one in (ceiling, floor) if one is not None]
    for one in reversed(own):
        body += [_curve(one, colours.get(one.planner, _FAINT)), _shares(one, colours.get(one.planner, _FAINT))]
    order = [*ranked_limits(limits, outcome), *(one for one in (ceiling, floor) if one is not None)]
    body += [_limit(one, colours.get(one.planner, _FAINT), place) for place, one in enumerate(order)]
    title = f"{limits.axis.axis}: share of successes over the difficulty"
    head = fill_markup(
        '<svg class="chart limit" role="img" aria-label="{}" viewBox="0 0 {} {}">',
        title,
        _LEFT + _WIDTH + 14,
        _TOP + _HEIGHT + _FOOT + _ROW * len(order) + 4,
    )
    return join_markup([head, *body, fill_markup("</svg>")])


def _axes(limits: Limits) -> Markup:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _place(0.0, share)
        kind = "grid half" if share == 0.5 else "grid"
        parts.append(fill_markup('<path class="{}" d="M{} {}H{}"/>', kind, x, y, _LEFT + _WIDTH))
        parts.append(fill_markup('<text class="tick end" x="{}" y="{}">{}</text>', _LEFT - 6, y + 4, f"{100 * share:.0f}"))
    for fraction, value in ticks(limits):
        x, y = _place(fraction, 0.0)
        parts.append(fill_markup('<path class="grid" d="M{} {}V{}"/>', x, _TOP, y))
        parts.append(fill_markup('<text class="tick" x="{}" y="{}">{}</text>', x, y + 14, f"{value:g}"))
    unit = f" ({limits.axis.unit})" if limits.axis.unit else ""
    words = f"{limits.axis.axis}{unit}, harder to the right"
    parts.append(fill_markup('<text class="tick" x="{}" y="{}">{}</text>', _LEFT + _WIDTH / 2, _TOP + _HEIGHT + 34, words))
    return join_markup(parts)


def ticks(limits: Limits) -> list[tuple[float, float]]:
    """Return the fraction and the value of each tick on the axis; values are round numbers."""
    easy, hard = limits.axis.easy, limits.axis.hard
    low, high = min(easy, hard), max(easy, hard)
    if limits.axis.scale == "log":
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        values = [m * 10.0**k for k in powers for m in (1.0, 2.0, 5.0)]
        return [(math.log(v / easy) / math.log(hard / easy), v) for v in values if low * 0.999 <= v <= high * 1.001]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [((k * step - easy) / (hard - easy), round(k * step, 12)) for k in range(first, last + 1)]


def _curve(limit: Limit, colour: str, *, dashed: bool = False) -> Markup:
    points = [_place(x, y) for x, y in zip(POINTS, limit.fits.curve, strict=True)]
    text = '<path class="{}" style="stroke: {}" d="M{}"><title>{}</title></path>'
    return fill_markup(text, "bound" if dashed else "success", colour, _path(points), limit.planner)


def _limit(limit: Limit, colour: str, place: int) -> Markup:
    """Return a row with a planner's limit and its interval; if the limit may be beyond an end of the axis, an arrow marks this
    end.
    """
    y = _TOP + _HEIGHT + _FOOT + _ROW * (place + 0.5)
    short = limit.planner if len(limit.planner) <= _LONGEST else f"{limit.planner[: _LONGEST - 1]}…"
    parts = [fill_markup('<text class="label" x="{}" y="{}">{}<title>{}</title></text>', _LEFT - 8, y + 4, short, limit.planner)]
    low, high = (_place(end, 0.0)[0] for end in limit.fits.interval)
    parts.append(fill_markup('<path class="range" style="stroke: {}" d="M{} {}H{}"/>', colour, low, y, high))
    for end, x, to in ((0.0, low, -6), (1.0, high, 6)):
        if end in limit.fits.interval:
            parts.append(fill_markup('<path style="fill: {}" d="M{} {}l{} 5l{} 5Z"/>', colour, x, y - 5, to, -to))
    if not limit.bound:
        x = _place(limit.fits.half, 0.0)[0]
        parts.append(fill_markup('<circle class="half" style="fill: {}" cx="{}" cy="{}" r="4"/>', colour, x, y))
    return join_markup(parts)


def _shares(limit: Limit, colour: str) -> Markup:
    """Return the success rates of groups of episodes, as dots."""
    parts = []
    for fraction, share, count in limit.points:
        x, y = _place(fraction, share)
        words = f"{limit.planner}: {share:.0%} of {count} episodes"
        text = '<circle class="share" style="fill: {}" cx="{}" cy="{}" r="2.2"><title>{}</title></circle>'
        parts.append(fill_markup(text, colour, x, y, words))
    return join_markup(parts)


def _place(fraction: float, share: float) -> tuple[float, float]:
    return round(_LEFT + _WIDTH * float(fraction), 1), round(_TOP + _HEIGHT * (1.0 - float(share)), 1)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{x} {y}" for x, y in points)
