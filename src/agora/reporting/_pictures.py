"""Pictures of stages for the report, as inline SVG: a map, its pedestrians, and the path driven by each planner in the same
episode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.benchmark.results.store import Row
from agora.core.recording import Recording
from agora.core.state import Array
from agora.reporting._charts import fill_markup, join_markup
from agora.viewer.replay import encode_map
from agora.viewer.scene import COLOURS, OUTCOME_COLOURS, Extent, Scene

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_STAGES, MOST_PLANNERS = 40, 7
"""Maximum number of stages that have a picture, and maximum number of planners drawn in a picture."""

_FINEST = 0.05
"""Minimum distance between drawn points of a path, m; closer points are left out."""


def pictured_keys(rows: Sequence[Row], planners: Sequence[str]) -> list[str]:
    """Return the keys of the recordings shown in the stages' pictures. Each stage shows the episode that most of the drawn planners
    have run; of several such episodes, the first.
    """
    keys, rows = [], [row for row in rows if row["planner"] in planners[:MOST_PLANNERS]]
    for stage in list(dict.fromkeys(row["stage"] for row in rows))[:MOST_STAGES]:
        episodes: dict[Any, list[str]] = {}
        robots = [row["robot"] for row in rows if row["stage"] == stage]
        for row in rows:
            if row["stage"] == stage and row["robot"] == robots[0]:
                episodes.setdefault(row["episode"], []).append(row["key"])
        first = min(episodes, key=lambda episode: (-len(episodes[episode]), episode))
        keys += episodes[first]
    return keys


def stage_pictures(rows: Sequence[Row], recordings: Mapping[str, Recording], planners: Sequence[str]) -> list[dict[str, Any]]:
    """Return the name, the episode, the picture and one line per planner for each stage that has recordings.

    Args:
        rows: rows of the run.
        recordings: recordings by key, of one episode per stage.
        planners: labels of planners; a planner's colour depends on its position in this sequence.
    """
    planners = planners[:MOST_PLANNERS]
    colours = dict(zip(planners, _COLOURS, strict=False))
    stages: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["key"] in recordings and row["planner"] in planners:
            shown = stages.setdefault(str(row["stage"]), {"name": row["stage"], "episode": row["episode"], "ways": {}})
            shown["ways"][row["planner"]] = recordings[row["key"]]
    for shown in stages.values():
        ways: dict[str, Recording] = shown.pop("ways")
        drawn = [(ways[planner], colours[planner]) for planner in planners if planner in ways]
        shown["picture"] = _picture(drawn, f"Stage {shown['name']}, episode {shown['episode']}")
        shown["ways"] = [
            {
                "planner": planner,
                "colour": colours[planner],
                "outcome": ways[planner].outcome.label.replace("_", " "),
                "mark": OUTCOME_COLOURS[ways[planner].outcome.label],
            }
            for planner in planners
            if planner in ways
        ]
    return list(stages.values())


_COLOURS = ("#0072B2", "#CC79A7", "#D55E00", "#56B4E9", "#7A5195", "#66A61E", "#1B1F24")
"""Colours of paths, which differ from the colours of people and of the goal."""


def _picture(drawn: Sequence[tuple[Recording, str]], title: str) -> Markup:
    """Return a picture with the map, the people in the first recording, the start, the goal and all paths."""
    extents = [Scene(recording).extent for recording, _ in drawn]
    extent = Extent(*(min(e[k] for e in extents) for k in (0, 1)), *(max(e[k] for e in extents) for k in (2, 3)))
    size = [_m(v) for v in (extent.left, -extent.top, extent.right - extent.left, extent.top - extent.bottom)]
    first = drawn[0][0]
    body = [fill_markup('<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>', *size, COLOURS["ground"])]
    if first.map is not None:
        body += _walls(encode_map(first.map))
    for slot in np.flatnonzero(first.pedestrian_present.any(axis=0)):
        seen = first.pedestrian_present[:, slot]
        place, radius = first.pedestrian_position[seen, slot], float(first.pedestrian_radius[slot])
        body.append(_line(place, COLOURS["pedestrian"], 1.0, 0.6))
        body.append(_disc(place[0], radius, COLOURS["pedestrian"], 0.75))
    body.append(_disc(first.goal[:2], first.goal_tolerance, COLOURS["goal"], 0.45))
    for recording, colour in drawn:
        body.append(_line(recording.pose[:, :2], colour, 2.0, 1.0))
        body.append(_disc(recording.pose[-1, :2], recording.radius, colour, 0.45))
    body.append(_disc(first.pose[0, :2], first.radius, COLOURS["ink"], 0.6))
    head = fill_markup('<svg class="stage-picture" role="img" aria-label="{}" viewBox="{}">', title, " ".join(size))
    return join_markup([head, *body, fill_markup("</svg>")])


def _walls(drawn: Mapping[str, Any]) -> list[Markup]:
    """Return the shapes of an encoded map."""
    wall, parts = COLOURS["wall"], []
    if drawn["cells"]:
        left, bottom, right, top = drawn["extent"]
        box = [_m(v) for v in (left, -top, right - left, top - bottom)]
        words = '<image x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none" href="{}"/>'
        parts.append(fill_markup(words, *box, drawn["cells"]))
    for x0, y0, x1, y1 in drawn["segments"]:
        parts.append(_line(np.array([[x0, y0], [x1, y1]]), wall, 1.5, 1.0))
    parts += [_disc((x, y), radius, wall, 1.0) for x, y, radius in drawn["discs"]]
    for polygon in drawn["polygons"]:
        parts.append(fill_markup('<path d="{}Z" fill="{}"/>', _path(np.array(polygon)), wall))
    return parts


def _line(points: Array, colour: str, width: float, opacity: float) -> Markup:
    words = '<path class="way" d="{}" stroke="{}" stroke-width="{}" opacity="{}"/>'
    return fill_markup(words, _path(_thin(points)), colour, width, opacity)


def _disc(place: Sequence[float] | Array, radius: float, colour: str, opacity: float) -> Markup:
    words = '<circle cx="{}" cy="{}" r="{}" fill="{}" opacity="{}"/>'
    return fill_markup(words, _m(place[0]), _m(-place[1]), _m(radius), colour, opacity)


def _thin(points: Array) -> Array:
    """Return the first and the last point of a path, and the points in between that are far enough from the previous point
    returned.
    """
    kept = [0]
    for k in range(1, len(points)):
        if np.hypot(*(points[k] - points[kept[-1]])) >= _FINEST:
            kept.append(k)
    return points[list(dict.fromkeys([*kept, len(points) - 1]))]


def _path(points: Array) -> str:
    return "M" + "L".join(f"{_m(x)} {_m(-y)}" for x, y in points)


def _m(value: float) -> str:
    """Return a coordinate as text, rounded to a centimetre."""
    return f"{float(value):.2f}".rstrip("0").rstrip(".")
