"""BARN: static worlds of cylinders between a start and a goal ten metres ahead.

D. Perille, A. Truong, X. Xiao, P. Stone, "Benchmarking metric ground navigation", IEEE SSRR 2020; worlds and paths are from
Daffan/the-barn-challenge (bf5a226f), which contains 270 of the 300 worlds: worlds whose number ends in 7 are missing.

The map frame is Gazebo's world frame. Row r of a world's grid corresponds to x, and column c to y, the driving direction; a filled
cell is a cylinder at x = -4.425 + 0.15 r, y = 5.175 + 0.15 c. The challenge's scoring code places the same cells at x = -4.575 +
0.15 r, y = 5.075 + 0.15 c; this error of the original affects the published numbers. `BarnWorld.scored_path` and
`BarnWorld.optimal_time` reproduce this error, `BarnWorld.path` does not.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from agora.config import load
from agora.core.state import Bools, Doubles
from agora.datasets.catalogue import data_folder
from agora.datasets.tables import once_per_file
from agora.errors import InputError, UnknownNameError
from agora.maps.grid import Map
from agora.yaml_tree import read_text

CHALLENGE_WORLDS = tuple(range(0, 300, 6))
"""The worlds on which the challenge tests each entry, with ten runs per world."""

CELL = 0.15
RADIUS = 0.075
TOP_SPEED = 2.0

_CELLS = 30
_FIRST = np.array([-4.425, 5.175])
_SCORED_FIRST = np.array([-4.575, 5.075])
_BACK = 0.075
_MARGIN = 13
_BEYOND_GOAL = 36


@dataclass(frozen=True, eq=False)
class BarnWorld:
    """A BARN world; poses are x, y, heading, in m and rad.

    Attributes:
        number: number of the world, 0 to 299.
        grid: (30, 30) whether each cell contains a cylinder, [row along x, column along y].
        map: map with the field of cylinders and the corridor of cylinders that leads to the field.
        start: start pose of the robot.
        goal: goal pose of the robot.
        path: (K, 2) reference path from start to goal, for driving or drawing, m.
        scored_path: (K, 2) the reference path at the positions used by the challenge's scoring code, m.
    """

    number: int
    grid: Bools
    map: Map
    start: tuple[float, float, float]
    goal: tuple[float, float, float]
    path: Doubles
    scored_path: Doubles

    @property
    def optimal_time(self) -> float:
        """The reference time of the challenge's score, which is the time needed to drive `scored_path` at 2 m/s, s."""
        return float(np.hypot(*np.diff(self.scored_path, axis=0).T).sum()) / TOP_SPEED


def world_numbers(folder: Path | None = None) -> list[int]:
    """Return the numbers of the available worlds.

    Raises:
        InputError: the data set is missing, or a file is invalid.
    """
    return sorted(_grids(_root(folder) / "grids.txt"))


def read_world(
    number: int,
    folder: Path | None = None,
    *,
    obstacles: Literal["discs", "cells"] = "discs",
    start_x: float = -2.25,
    resolution: float = 0.05,
) -> BarnWorld:
    """Read a world.

    Args:
        number: number of the world, one of `world_numbers`.
        folder: folder of the data set; None for its place in the data folder.
        obstacles: whether the cylinders are exact discs of radius 0.075 m, or cells of 0.15 m.
        start_x: x coordinate of start and goal, m; -2.25, or -2 as in the challenge of 2022.
        resolution: resolution of the distance field around discs, m.

    Raises:
        UnknownNameError: the world is unknown.
        InputError: the data set is missing, or a file is invalid.
    """
    root = _root(folder)
    grids, paths = _grids(root / "grids.txt"), _paths(root / "paths.json")
    if number not in grids or str(number) not in paths:
        raise UnknownNameError("BARN world", str(number), map(str, grids))
    cells = np.array(paths[str(number)], np.float64)
    cells = cells[1:] if len(cells) > 1 and (cells[0] == cells[1]).all() else cells
    ends = np.array([[start_x, 3.0], [start_x, 13.0]])
    return BarnWorld(
        number=number,
        grid=grids[number],
        map=_map(grids[number], f"barn_{number}", obstacles, resolution),
        start=(start_x, 3.0, math.pi / 2),
        goal=(start_x, 13.0, math.pi / 2),
        path=np.concatenate((ends[:1], _FIRST + CELL * cells, ends[1:])),
        scored_path=np.concatenate((ends[:1], _SCORED_FIRST + CELL * cells, ends[1:])),
    )


def _map(grid: Bools, name: str, obstacles: str, resolution: float) -> Map:
    """Return a map of field and corridor on a common grid; the corridor's cells continue the grid of the field towards the
    robot.
    """
    before = round((_FIRST[1] - _BACK) / CELL)
    whole = np.zeros((before + _CELLS, _CELLS), np.bool_)
    whole[before:] = grid.T
    whole[0] = True
    whole[1:before, [0, -1]] = True
    corner = np.array([_FIRST[0], _BACK]) - CELL / 2 - CELL * _MARGIN
    if obstacles == "cells":
        room = np.pad(whole, ((_MARGIN, _BEYOND_GOAL), (_MARGIN, _MARGIN)))
        return Map(name, CELL, (float(corner[0]), float(corner[1])), room)
    row, column = np.nonzero(whole)
    discs = np.column_stack((_FIRST[0] + CELL * column, _BACK + CELL * row, np.full(len(row), RADIUS)))
    size = CELL * np.array([_CELLS + 2 * _MARGIN, len(whole) + _MARGIN + _BEYOND_GOAL])
    bounds = (float(corner[0]), float(corner[1]), float(corner[0] + size[0]), float(corner[1] + size[1]))
    return Map.from_shapes(discs=discs, bounds=bounds, resolution=resolution, name=name)


def free_space(grid: Bools) -> Bools:
    """Return the cells (30, 30) where the data set's robot, a block of 5 x 5 cells, fits (the C-space); cells outside the grid are
    free.
    """
    blocked = np.zeros((_CELLS + 4, _CELLS + 4), np.bool_)
    for row in range(5):
        for column in range(5):
            blocked[row : row + _CELLS, column : column + _CELLS] |= grid
    return ~blocked[2:-2, 2:-2]


@once_per_file
def _grids(path: Path) -> dict[int, Bools]:
    """Return the grids in ``grids.txt``, by number of the world. For each world, the file contains a line ``world N`` and 30 lines
    of 30 digits 0 or 1.
    """
    lines = [(i, line) for i, line in enumerate(read_text(path).splitlines(), 1) if line.strip() and not line.startswith("#")]
    grids: dict[int, Bools] = {}
    for at in range(0, len(lines), _CELLS + 1):
        number, title = lines[at]
        words = title.split()
        if len(words) != 2 or words[0] != "world" or not words[1].isdecimal() or len(words[1]) > 6 or int(words[1]) in grids:
            raise InputError(f"{path}:{number}: expected 'world' and a unique number, got {title[:40]!r}")
        rows = lines[at + 1 : at + 1 + _CELLS]
        for line, text in rows:
            if len(text) != _CELLS or set(text) - {"0", "1"}:
                raise InputError(f"{path}:{line}: expected {_CELLS} digits 0 or 1, got {text[:40]!r}")
        if len(rows) < _CELLS:
            raise InputError(f"{path}:{lines[-1][0]}: world {words[1]} has {len(rows)} of {_CELLS} rows")
        grid = np.array([[digit == "1" for digit in text] for _, text in rows])
        grid.flags.writeable = False
        grids[int(words[1])] = grid
    return grids


@once_per_file
def _paths(path: Path) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the paths in ``paths.json``, which contains a list of [row, column] for each world."""
    paths = load(path, dict[str, tuple[tuple[int, int], ...]])
    for world, cells in paths.items():
        if not cells or any(not 0 <= value < _CELLS for cell in cells for value in cell):
            raise InputError(f"{path}: {world}: expected cells within 0..{_CELLS - 1}, got {json.dumps(cells)[:40]}")
    return paths


def _root(folder: Path | None) -> Path:
    return data_folder("barn") if folder is None else folder


def check(folder: Path) -> None:
    """Read every world in a folder, and check that the robot fits everywhere along each reference path.

    Raises:
        InputError: a file is invalid.
    """
    paths = _paths(folder / "paths.json")
    for number, grid in _grids(folder / "grids.txt").items():
        if str(number) not in paths:
            raise InputError(f"{folder / 'paths.json'}: world {number} of grids.txt has no path")
        rows, columns = np.array(paths[str(number)]).T
        if not free_space(grid)[rows, columns].all():
            raise InputError(f"{folder / 'paths.json'}: {number}: the path is too close to a cylinder of grids.txt")
