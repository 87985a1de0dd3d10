"""A figure of a situation before it runs: the starts, goals and paths of everyone in it, and any faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Doubles
from agora.draft.people import Person
from agora.draft.task import Task
from agora.tasks.faults import Fault
from agora.viewer.figures import blank, draw_map, name_axes, style
from agora.viewer.scene import COLOURS, FAMILIES, STATES, Extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEADROOM, _LEAST_HEIGHT = 0.9, 1.9  # inches
_NAMED = 40  # maximum number of people whose names are shown


def situation_figure(
    task: Task, *, area: Sequence[Doubles] = (), faults: Sequence[Fault] = (), title: str = "", width: float = 5.0
) -> Figure:
    """Return a figure of a map with robots, goals, pedestrians and their paths.

    Args:
        task: task that is being created.
        area: polygons (V, 2) in which an interaction should occur, m.
        faults: faults to mark.
        title: text above the picture.
        width: width of the figure, inches.
    """
    (left, bottom), (across, up) = task.map.origin, task.map.size
    points = np.array([(f.x, f.y) for f in faults] + [(left, bottom), (left + across, bottom + up)])
    (left, bottom), (right, top) = points.min(0), points.max(0)
    height = max(width * (top - bottom) / (right - left) + _HEADROOM, _LEAST_HEIGHT)
    with style():
        figure, axes = blank(width, min(height, 2.0 * width))
        axes.set(aspect="equal", xlim=(left, right), ylim=(bottom, top), title=title)
        name_axes(axes, task.map)
        draw_map(axes, task.map, Extent(left, bottom, right, top))
        for polygon in area:
            axes.fill(*polygon.T, color=COLOURS["contact"], alpha=0.12, lw=0, zorder=0)
        for start, goals in task.robots:
            _draw_robot(axes, start, goals, task.radius)
        for person in task.pedestrians:
            _draw_person(axes, person)
        _draw_names(axes, task.pedestrians)
        _draw_talks(axes, task.pedestrians)
        for fault in faults:
            axes.plot(fault.x, fault.y, "x", color=COLOURS["contact"], ms=11, mew=2.5, zorder=8)
        _legend(
            figure,
            pedestrian=bool(task.pedestrians),
            company=any(p.company[0] > 0 for p in task.pedestrians),
            area=bool(len(area)),
            talk=any(p.talk >= 0 for p in task.pedestrians),
            fault=bool(faults),
        )
        _explain(figure, task.pedestrians)
    return figure


def _draw_robot(axes: Axes, start: Doubles, goals: Doubles, radius: float) -> None:
    """Draw a robot's body and heading, and its goals with their headings."""
    from matplotlib.patches import Circle

    axes.add_patch(Circle((start[0], start[1]), radius, color=COLOURS["robot"], lw=0, zorder=5))
    tip = start[:2] + radius * np.array([np.cos(start[2]), np.sin(start[2])])
    axes.plot([start[0], tip[0]], [start[1], tip[1]], color=COLOURS["ground"], lw=1.0, zorder=6)
    for goal in goals:
        axes.plot(goal[0], goal[1], "o", mfc="none", mec=COLOURS["goal"], ms=9, mew=1.6, zorder=7)
        axes.plot(goal[0], goal[1], "o", color=COLOURS["goal"], ms=3, zorder=7)
        tip = goal[:2] + 1.6 * radius * np.array([np.cos(goal[2]), np.sin(goal[2])])
        axes.plot([goal[0], tip[0]], [goal[1], tip[1]], color=COLOURS["goal"], lw=1.0, zorder=6)


def _draw_person(axes: Axes, person: Person) -> None:
    """Draw a person's body, heading, letter of the state, and path with an arrow at the end; a dotted circle marks people who
    accompany the robot.
    """
    from matplotlib.patches import Circle

    x, y = person.position
    family, letter = STATES[person.state]
    axes.add_patch(Circle((x, y), person.radius, color=FAMILIES[family], lw=0, zorder=5))
    heading = person.facing()
    ahead = person.radius * np.array([np.cos(heading), np.sin(heading)])
    tip = ahead + person.position
    axes.plot([x, tip[0]], [y, tip[1]], color=COLOURS["ground"], lw=1.0, zorder=6)
    if letter:
        back, below = (person.position - 0.4 * ahead).tolist()
        axes.text(back, below, letter, fontsize=5.5, ha="center", va="center", color=COLOURS["ink"], zorder=7)
    if person.company[0] > 0:
        axes.add_patch(Circle((x, y), person.radius + 0.15, fill=False, ec=COLOURS["pedestrian"], ls=":", lw=1.2, zorder=5))
    way = np.vstack([person.position, person.waypoints])
    if float(np.abs(np.diff(way, axis=0)).max()) < 1e-6:
        return
    axes.plot(*way.T, color=COLOURS["pedestrian"], lw=1.0, ls="--", alpha=0.8, zorder=3)
    last = way[np.flatnonzero(np.hypot(*np.diff(way, axis=0).T) > 1e-6)[-1]]
    arrow = {"arrowstyle": "-|>", "color": COLOURS["pedestrian"], "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tuple(way[-1]), xytext=tuple(way[-1] + 0.01 * (last - way[-1])), arrowprops=arrow, zorder=4)
    if len(way) > 2:
        axes.plot(*way[1:-1].T, ".", color=COLOURS["pedestrian"], ms=4, zorder=4)


def _draw_names(axes: Axes, people: Sequence[Person]) -> None:
    """Write people's names above them, if there are few people."""
    for person in people if len(people) <= _NAMED else ():
        x, y = person.position
        axes.text(x, y + person.radius + 0.08, person.name, fontsize=5.5, ha="center", va="bottom", color=COLOURS["ink"], zorder=7)


def _draw_talks(axes: Axes, people: Sequence[Person]) -> None:
    """Draw a dotted line between people who talk with each other."""
    talkers = [person for person in people if person.talk >= 0]
    for k, person in enumerate(talkers):
        for other in talkers[:k]:
            if other.talk == person.talk:
                axes.plot(*np.stack([person.position, other.position]).T, ls=":", color=COLOURS["ink"], lw=0.9, zorder=4)


def _explain(figure: Figure, people: Sequence[Person]) -> None:
    """Explain above the axes the letters that are in use."""
    from matplotlib.lines import Line2D

    there = {person.state for person in people}
    marks = [(FAMILIES[family], f"{letter}  {name}") for name, (family, letter) in STATES.items() if letter and name in there]
    if marks:
        handles = [Line2D([], [], ls="", marker="o", color=colour, label=words, ms=5) for colour, words in marks]
        figure.legend(
            handles=handles, loc="outside upper center", ncols=len(handles), fontsize=6.5, handletextpad=0.2, columnspacing=1.2
        )


def _legend(figure: Figure, **there: bool) -> None:
    """Explain below the axes the colours that are in use."""
    from matplotlib.lines import Line2D

    looks = {
        "robot": ("robot", "o", "robot", 1.0),
        "goal": ("goal", "o", "goal", 1.0),
        "pedestrian": ("pedestrian and its path", "o", "pedestrian", 1.0),
        "talk": ("in conversation", r"$\cdots$", "ink", 1.0),
        "company": ("stays with the robot", r"$\odot$", "pedestrian", 1.0),
        "area": ("area of the interaction", "s", "contact", 0.2),
        "fault": ("fault", "x", "contact", 1.0),
    }
    shown = [looks[part] for part in looks if there.get(part, True)]
    handles = [
        Line2D([], [], ls="", marker=marker, color=COLOURS[role], alpha=alpha, label=words, ms=5)
        for words, marker, role, alpha in shown
    ]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), fontsize=6.5, handletextpad=0.2, columnspacing=1.2
    )
