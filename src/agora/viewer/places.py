"""Figures of places: walls, furniture in its own colours, and zones coloured by category."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agora.errors import InputError
from agora.maps.furniture import Box, Furniture, model_of
from agora.maps.place import Place
from agora.viewer.figures import draw_map, style
from agora.viewer.scene import Extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

__all__ = ["place_figure"]

_TINTS = (
    *("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948", "#76b7b2", "#e15759", "#9c755f", "#ff9da7", "#bab0ac"),
    *("#1b9e77", "#8c2d04", "#7570b3", "#a6d854", "#2f2f7f"),
)
_EDGE = "#2a2a2a"
_BESIDE, _ABOUT, _LEGEND = 0.45, 0.6, 0.35  # inches for tick labels next to a panel, for title and ticks, and for the legend
_TALLEST = 2.0  # maximum height of a panel, as a multiple of its width


def place_figure(places: Sequence[Place], *, columns: int = 4, width: float = 10.0) -> Figure:
    """Return a figure with a panel for each place, titled with the place's name, and a legend of the zone categories.

    Args:
        places: places to draw.
        columns: number of panels side by side.
        width: width of the figure, inches.

    Raises:
        InputError: no place is given.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    if not places:
        raise InputError("a figure needs at least one place")
    categories = sorted({zone.category[0] for place in places for zone in place.zones})
    tints = {category: _TINTS[k % len(_TINTS)] for k, category in enumerate(categories)}
    across, shapes = width / columns - _BESIDE, [min(place.map.size[1] / place.map.size[0], _TALLEST) for place in places]
    heights = [across * max(shapes[k : k + columns]) + _ABOUT for k in range(0, len(places), columns)]
    with style():
        figure = Figure(figsize=(width, sum(heights) + _LEGEND), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights).ravel()
        for axes, place in zip(grid, places, strict=False):
            draw_place(axes, place, tints)
        for axes in grid[len(places) :]:
            axes.set_axis_off()
        handles = [Patch(facecolor=tint, alpha=0.35, label=category) for category, tint in tints.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 10) or 1)
    return figure


def draw_place(axes: Axes, place: Place, tints: dict[str, str]) -> None:
    """Draw a place on the axes. ``tints`` gives the colour of each zone category; zones of other categories are omitted."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Polygon

    (x, y), (width, height) = place.map.origin, place.map.size
    extent = Extent(x, y, x + width, y + height)
    axes.set(aspect="equal", xlim=(x, x + width), ylim=(y, y + height), title=place.map.name)
    for zone in place.zones:
        if tint := tints.get(zone.category[0]):
            for polygon in zone.polygons:
                axes.add_patch(Polygon(polygon, closed=True, facecolor=tint, alpha=0.25, lw=0, zorder=0.5))
    draw_map(axes, place.map, extent)
    shapes = [patch for piece in place.furniture for patch in _outlines(piece)]
    axes.add_collection(PatchCollection(shapes, match_original=True, zorder=2))


def _outlines(piece: Furniture) -> list[Patch]:
    """Return the parts of a piece of furniture seen from above, lower parts first."""
    from matplotlib.patches import Circle, Rectangle
    from matplotlib.transforms import Affine2D

    shown: list[Patch] = []
    turn = Affine2D().rotate(piece.heading).translate(piece.x, piece.y)
    for part in sorted(model_of(piece.model).parts, key=lambda part: part.z + part.height):
        if isinstance(part, Box):
            corner = (part.x - part.length / 2, part.y - part.width / 2)
            shown.append(Rectangle(corner, part.length, part.width, facecolor=part.colour, edgecolor=_EDGE, lw=0.25))
        else:
            shown.append(Circle((part.x, part.y), part.radius, facecolor=part.colour, edgecolor=_EDGE, lw=0.25))
        shown[-1].set_transform(turn)
    return shown
