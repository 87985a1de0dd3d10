"""Exports episodes of a run as trajectory files of SocNavData2026, for its raters, its tools and its learned metric ALT.

The format is defined by ``dataset/check_trajectory_format/schema.json`` (SocNavData/SocNav3 4bb85eb, the data set's earlier name):
one JSON file per trajectory, with ``grid``, ``walls`` and ``sequence``. SocNavData2026 reads walls, people and poses; its ALT
metric also looks up the string ``context_description`` among the descriptions that it was trained with.

Rows of the grid grow with y, cells are 0 (free), 1 (occupied) and -1 (unknown). Lengths are in m, angles in rad, times in s,
positions in the map frame and speeds in the robot's frame.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from agora.benchmark.exports.new_files import file_name, write_new
from agora.benchmark.results.selection import RunSelection
from agora.core.recording import Recording
from agora.core.state import Array, Bools, Doubles
from agora.errors import InputError
from agora.maps.grid import Map
from agora.metrics.quantities.outline import corners

__all__ = ["write_socnavdata_files"]

_DIGITS = 5  # number of decimal places
_SIDES = 16  # number of corners of the polygon inscribed in a disc
_PLANE, _MARGIN = 1.0, 1.0  # cell size and margin of a plane without a map, m


def write_socnavdata_files(
    folder: Path,
    source: Path,
    keys: Collection[str] = (),
    context: str = "",
    progress: Callable[[int, int], None] = lambda n, total: None,
) -> list[Path]:
    """Write a trajectory file for each episode of a run, and return the paths. Files are written atomically.

    Args:
        folder: folder for the files, created by this function.
        source: folder of a run.
        keys: keys of episodes, as in `agora.benchmark.exports.mcap.write_mcap_files`; by default, all kept episodes.
        context: description of the robot's task, in English; omitted by default.
        progress: function that is called with the number of finished episodes, and the total number.

    Raises:
        InputError: an episode has several robots, but a trajectory file describes one robot.
        UnknownNameError: no episode has this key.
        ResultsError: a file exists or cannot be written, or no recording was kept.
    """
    run = RunSelection.of(source, keys)
    written: list[Path] = []
    for played in run.episodes():
        if len(played.robots) != 1:
            raise InputError(
                f"{source}: {played.entry} has {len(played.robots)} robots, but a SocNavData2026 trajectory has one; "
                "choose other episodes with --key"
            )
        told = json.dumps(trajectory(played.robots[0].recording, context))
        written.append(write_new(folder / f"{file_name(played)}.json", told.encode()))
        progress(len(written), len(run.groups))
    return written


def trajectory(recording: Recording, context: str = "") -> dict[str, Any]:
    """Return a recording as the contents of a trajectory file.

    Any final heading is accepted, so ``angle_threshold`` is half a turn. A polygonal robot is described by the smallest rectangle
    that contains the polygon and is centred on the robot's base. Furniture is part of the grid and the walls; ``objects`` is empty.

    Args:
        recording: recording of an episode with one robot.
        context: value of ``context_description``; omitted if empty.
    """
    place = recording.map or _plane(recording)
    told = {"context_description": context} if context else {}
    return told | {"grid": _grid(place), "walls": _round(walls_of(place)), "sequence": _sequence(recording)}


def _round(values: Array) -> Any:
    return np.round(values.astype(np.float64), _DIGITS).tolist()


def _plane(recording: Recording) -> Map:
    """Return an empty map that is large enough for all positions and the goal."""
    people = recording.pedestrian_position[recording.pedestrian_present]
    points = np.concatenate((recording.pose[:, :2], recording.goal[None, :2], people))
    (left, bottom), (right, top) = points.min(0) - _MARGIN, points.max(0) + _MARGIN
    return Map.open((left, bottom), (right, top), resolution=_PLANE)


def _grid(place: Map) -> dict[str, Any]:
    rows, columns = place.shape
    cells = np.zeros(place.shape, np.int8)
    if place.unknown is not None:
        cells[place.unknown] = -1
    cells[place.cells] = 1
    return {
        "width": columns,
        "height": rows,
        "cell_size": place.resolution,
        "x_orig": place.origin[0],
        "y_orig": place.origin[1],
        "angle_orig": 0.0,
        "data": cells.tolist(),
    }


def walls_of(place: Map) -> Doubles:
    """Return the walls (W, 4) of a map: x0, y0, x1, y1, m.

    The walls are the map's segments, the edges of its polygons, the edges of a polygon inscribed in each disc, and the straight
    borders between occupied cells and all other cells. The edge of the map is not a wall.
    """
    upright, level = _runs(np.diff(place.occupied.T, axis=0)), _runs(np.diff(place.occupied, axis=0))
    borders = np.concatenate((upright[:, [0, 1, 0, 2]], level[:, [1, 0, 2, 0]])) * place.resolution
    turn = 2.0 * math.pi / _SIDES * np.arange(_SIDES + 1)
    x, y = (place.discs[:, i, None] + place.discs[:, 2, None] * wave for i, wave in enumerate((np.cos(turn), np.sin(turn))))
    rings = np.stack((x[:, :-1], y[:, :-1], x[:, 1:], y[:, 1:]), axis=-1).reshape(-1, 4)
    return np.concatenate((place.walls, rings, borders + np.tile(place.origin, 2)))


def _runs(change: Bools) -> Doubles:
    """Return the contiguous runs (R, 3) of changes between adjacent lines of cells: the index of the border, and the start and end
    of the run along the border, in cells.
    """
    padded = np.pad(change.astype(np.int8), ((0, 0), (1, 1)))
    step = np.diff(padded, axis=1)
    line, begin = np.nonzero(step == 1)
    return np.stack((line + 1, begin, np.nonzero(step == -1)[1]), axis=1).astype(np.float64)


def _shape(recording: Recording) -> dict[str, Any]:
    """Return the shape of the robot; the length is measured along the heading."""
    polygon = corners(recording)
    if polygon is None:
        return {"type": "circle", "width": 2.0 * recording.radius, "length": 2.0 * recording.radius}
    length, width = _round(2.0 * np.abs(polygon).max(axis=0))
    return {"type": "rectangle", "width": width, "length": length}


def _sequence(recording: Recording) -> list[dict[str, Any]]:
    """Return the robot and the people at each sample."""
    x, y, angle = _round(recording.goal)
    goal = {"type": "go-to", "human": None, "x": x, "y": y, "angle": angle}
    goal |= {"pos_threshold": recording.goal_tolerance, "angle_threshold": math.pi}
    shape, numbers = _shape(recording), recording.pedestrian_id.tolist()
    robots = _round(np.concatenate((recording.pose, recording.twist), axis=1))
    people = _round(np.concatenate((recording.pedestrian_position, recording.pedestrian_heading[:, :, None]), axis=2))
    return [
        {
            "timestamp": time,
            "robot": {"shape": shape} | dict(zip(("x", "y", "angle", "speed_x", "speed_y", "speed_a"), robot, strict=True)),
            "goal": goal,
            "people": [
                {"id": number} | dict(zip(("x", "y", "angle"), one, strict=True))
                for number, one, there in zip(numbers, crowd, present, strict=True)
                if there
            ],
            "objects": [],
        }
        for time, robot, crowd, present in zip(recording.time.tolist(), robots, people, recording.pedestrian_present, strict=True)
    ]
