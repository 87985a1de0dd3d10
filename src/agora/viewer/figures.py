"""Figures for papers (PNG, PDF, SVG), including that of an episode. They need no screen and are reproducible byte for byte."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.recording import Recording
from agora.errors import InputError
from agora.files import write_whole
from agora.viewer.scene import (
    COLOURS,
    FAMILIES,
    OUTCOME_COLOURS,
    STATES,
    Extent,
    Frame,
    Scene,
    mark_of,
    raster,
    states_seen,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from agora.maps.grid import Map

__all__ = ["save", "style", "trajectory_figure"]

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.hashsalt": "agora",
    "svg.fonttype": "none",
}
"""Settings of all figures; the user's own matplotlib settings are neither used nor changed."""

NEAR = 2.0
"""Distance from the robot within which pedestrians are drawn at every time shown in a figure, m."""


def trajectory_figure(
    recording: Recording,
    *,
    moments: int = 5,
    focus: float | None = None,
    title: str = "",
    width: float = 5.0,
    others: Sequence[Recording] = (),
) -> Figure:
    """Return a figure of an episode: map, path, and the people around the robot at several times; earlier times are drawn fainter.

    At times before the last one, only pedestrians within `NEAR` of the robot are shown.

    Args:
        recording: recording of the episode.
        moments: number of evenly spaced times to show, including the last one.
        focus: distance around the robot's path and goal that is shown, m; None to show everything.
        title: text above the figure.
        width: width of the figure, inches.
        others: recordings of the episode's other robots.

    Raises:
        InputError: the recording has no samples, or ``moments`` is not positive.
    """
    if moments < 1:
        raise InputError(f"moments: expected an integer of at least 1, got {moments}")
    scene = Scene(recording, focus, tuple(others))
    left, bottom, right, top = scene.extent
    height = width * (top - bottom) / (right - left) + 0.75
    with style():
        figure, axes = blank(width, min(height, 2.5 * width))
        axes.set(aspect="equal", xlim=(left, right), ylim=(bottom, top), title=title)
        name_axes(axes, recording.map)
        if recording.map is not None:
            draw_map(axes, recording.map, scene.extent)
        _draw_goal(axes, recording)
        for other in scene.others:
            axes.plot(*other.pose[:, :2].T, color=COLOURS["others"], lw=0.8, zorder=2)
        axes.plot(*scene.path(scene.duration).T, color=COLOURS["robot"], lw=1.2, zorder=3)
        for number in range(moments + 1 if moments > 1 else 1):
            frame = scene.at(scene.duration * number / moments if moments > 1 else scene.duration)
            last = number == moments or moments == 1
            draw_frame(
                axes,
                frame if last else _near(frame, NEAR),
                recording.radius,
                1.0 if last else 0.15 + 0.5 * number / moments,
                trails=last,
            )
            if number or last:
                _mark_time(axes, frame)
        for contact in recording.contacts:
            axes.plot(contact.x, contact.y, "x", color=COLOURS["contact"], ms=7, mew=1.8, zorder=7)
        _legend(figure, scene)
    return figure


def name_axes(axes: Axes, map_: Map | None) -> None:
    """Label the axes of a figure; if the map's file has its own frame, numbers and labels refer to that frame."""
    for axis, letter, far in zip((axes.xaxis, axes.yaxis), "xy", (0.0, 0.0) if map_ is None else map_.offset, strict=True):
        axis.set_label_text(f"{letter} - {far:.0f} (m)" if far > 0 else f"{letter} + {-far:.0f} (m)" if far else f"{letter} (m)")


def draw_frame(axes: Axes, frame: Frame, radius: float, alpha: float = 1.0, *, trails: bool = True) -> list[Artist]:
    """Draw the robot (``radius`` in m), other robots and pedestrians at a given instant on the axes; return the artists."""
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle, Polygon

    others = frame.others
    places = np.concatenate([frame.position, others[:, :2], frame.robot[None, :2]])
    radii = np.concatenate([frame.radius, others[:, 3], [radius]])
    heading = np.concatenate([frame.heading, others[:, 2], frame.robot[2:]])
    marks_of = [(COLOURS["pedestrian"], "")] * len(frame.position) if frame.state is None else [mark_of(s) for s in frame.state]
    colours = [colour for colour, _ in marks_of] + [COLOURS["others"]] * len(others) + [COLOURS["robot"]]
    outlines = frame.outlines or (None,) * (1 + len(others))
    shapes: list[Circle | Polygon] = [Circle((x, y), r) for (x, y), r in zip(places, radii, strict=True)]
    ahead, front = np.stack([np.cos(heading), np.sin(heading)], axis=1), radii.astype(np.float64)
    for k, outline in enumerate((*outlines[1:], outlines[0]), len(frame.position)):
        if outline is not None:
            shapes[k], front[k] = Polygon(outline), ((outline - places[k]) @ ahead[k]).max()
    bodies = PatchCollection(shapes, facecolor=colours, edgecolor=COLOURS["ground"], lw=0.5, alpha=alpha, zorder=4)
    tip = places + ahead * front[:, None]
    marks = LineCollection(list(np.stack([places, tip], axis=1)), colors=COLOURS["ground"], lw=1.0, alpha=alpha, zorder=5)
    added: list[Artist] = [axes.add_collection(bodies), axes.add_collection(marks)]
    if trails:
        for (x, y), (_, letter) in zip(frame.position, marks_of, strict=True):
            if letter:
                added.append(axes.text(x, y, letter, fontsize=5.5, ha="center", va="center", color=COLOURS["ink"], zorder=6))
    if trails and len(frame.trail):
        x, y, faded = frame.trail.T
        added.append(axes.scatter(x, y, s=2.5, color=COLOURS["pedestrian"], alpha=0.8 * alpha * (1 - faded), lw=0, zorder=2))
    return added


def save(figure: Figure, path: Path, *, dpi: int = 200) -> Path:
    """Write a figure as ``.png``, ``.pdf`` or ``.svg``; identical figures give identical bytes.

    Raises:
        InputError: the file type is unknown, or the file cannot be written; an existing file is left unchanged.
    """
    metadata: dict[str, dict[str, Any]] = {
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
        ".svg": {"Date": None, "Creator": None},
    }
    kind = path.suffix.lower()
    if kind not in metadata:
        raise InputError(f"{path}: expected a file name with one of the extensions {', '.join(metadata)}")
    content = io.BytesIO()
    with style():
        figure.savefig(content, format=kind[1:], dpi=dpi, metadata=metadata[kind])
    try:
        write_whole(path, content.getvalue())
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    return path


@contextmanager
def style() -> Iterator[None]:
    """Apply Agora's plot settings, and restore the caller's settings afterwards."""
    import matplotlib.style

    with matplotlib.style.context(["default", STYLE]):
        yield


def blank(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure with a single pair of axes, not attached to any window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def draw_map(axes: Axes, map_: Map, extent: Extent) -> None:
    """Draw the map's cells and shapes on the axes, keeping the axis limits; the leaves of a door are drawn in a pale colour and
    closed.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Circle, Polygon

    cut, limits = raster(map_, extent), (axes.get_xlim(), axes.get_ylim())
    if cut is not None:
        cells, (left, bottom, right, top) = cut
        shown = np.ma.masked_equal(cells.astype(np.uint8), 0)
        axes.imshow(
            shown,
            ListedColormap([COLOURS["wall"]]),
            extent=(left, right, bottom, top),
            origin="lower",
            interpolation="nearest",
            zorder=1,
        )
    for polygon in map_.polygons:
        axes.add_patch(Polygon(np.reshape(polygon, (-1, 2)), closed=True, color=COLOURS["wall"], lw=0, zorder=1))
    for leaf in [] if map_.door is None else map_.door.leaves(0.0):
        axes.add_patch(Polygon(leaf, closed=True, color=COLOURS["wall"], alpha=0.4, lw=0, zorder=1))
    for x, y, radius in np.reshape(map_.discs, (-1, 3)):
        axes.add_patch(Circle((x, y), radius, color=COLOURS["wall"], lw=0, zorder=1))
    axes.add_collection(LineCollection(list(np.reshape(map_.segments, (-1, 2, 2))), colors=COLOURS["wall"], lw=1.5, zorder=1))
    axes.set(xlim=limits[0], ylim=limits[1])


def _draw_goal(axes: Axes, recording: Recording) -> None:
    """Draw the robot's start and goal."""
    from matplotlib.patches import Circle

    goal = (float(recording.goal[0]), float(recording.goal[1]))
    axes.add_patch(Circle(goal, recording.goal_tolerance, fill=False, color=COLOURS["goal"], lw=1.5, zorder=2))
    axes.plot(*goal, "o", color=COLOURS["goal"], ms=3, zorder=2)
    axes.plot(*recording.pose[0, :2], "o", mfc=COLOURS["ground"], mec=COLOURS["robot"], ms=4, zorder=6)


def _near(frame: Frame, distance: float) -> Frame:
    """Return the frame with only the pedestrians whose centre is within ``distance`` of the robot's centre, m."""
    near = np.hypot(*(frame.position - frame.robot[:2]).T) < distance
    state = None if frame.state is None else frame.state[near]
    return frame._replace(
        position=frame.position[near], heading=frame.heading[near], radius=frame.radius[near], id=frame.id[near], state=state
    )


def _mark_time(axes: Axes, frame: Frame) -> None:
    """Write the time next to the robot."""
    from matplotlib.patheffects import AbstractPathEffect, withStroke

    halo: list[AbstractPathEffect] = [withStroke(linewidth=1.5, foreground=COLOURS["ground"])]
    x, y = frame.robot[:2]
    words = axes.annotate(f"{frame.time:.0f} s", (x, y), (0, 6), textcoords="offset points", ha="center", fontsize=6.5, zorder=8)
    words.set_path_effects(halo)


def _legend(figure: Figure, scene: Scene) -> None:
    """Explain the colours and letters, and how the episode ended, below the axes."""
    from matplotlib.lines import Line2D

    recording = scene.recording
    contacts, walls, outcome = bool(recording.contacts), recording.map is not None, recording.outcome.label
    shown = [("robot", "robot", "o"), ("pedestrian", "pedestrian", "o"), ("goal", "goal", "o")]
    shown += [("others", "other robot", "o")] if scene.others else []
    shown += [("wall", "wall", "s")] if walls else []
    shown += [("contact", "contact", "x")] if contacts else []
    handles = [Line2D([], [], ls="", marker=marker, color=COLOURS[role], label=words, ms=5) for role, words, marker in shown]
    ended = outcome.replace("_", " ")
    handles.append(Line2D([], [], ls="", marker="D", color=OUTCOME_COLOURS[outcome], label=f"ended: {ended}", ms=4))
    placed: dict[str, Any] = {"fontsize": 6.5, "handletextpad": 0.2, "columnspacing": 1.2}
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), **placed)
    states = states_seen([recording])
    if states:
        marks = [(FAMILIES[STATES[name][0]], f"{STATES[name][1]}  {name}") for name in states]
        handles = [Line2D([], [], ls="", marker="o", color=colour, label=words, ms=5) for colour, words in marks]
        figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 5), **placed)
