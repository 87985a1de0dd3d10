"""Stanford Drone data set: reads the ``annotations.txt`` files of its videos.

A. Robicquet, A. Sadeghian, A. Alahi, S. Savarese, "Learning social etiquette: human trajectory understanding in crowded scenes",
ECCV 2016. A row contains: track, xmin, ymin, xmax, ymax, frame, lost, occluded, generated, "label". Boxes are in pixels, with y
pointing down.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from agora.datasets.scenes import Rows
from agora.datasets.tables import numbers
from agora.errors import InputError
from agora.yaml_tree import read_text

FRAME_RATE = 30.0
"""Frames per second of the videos."""

_PEOPLE = ("pedestrian",)
_COLUMNS = 9


def read_annotations(path: Path) -> Rows:
    """Read the positions of all pedestrians that are not marked as lost: the centres of their boxes, in pixels with y pointing up.

    Bikers, skaters, carts, cars and buses are omitted. The centre of the box can be used because the camera looks straight down.

    Raises:
        InputError: the file is invalid; the message gives the line.
    """
    lines: list[int] = []
    rows: list[list[float]] = []
    for number, text in enumerate(read_text(path).splitlines(), 1):
        if not text.strip():
            continue
        found, _, label = text.strip().partition('"')
        row = numbers(found, _COLUMNS, f"{path}:{number}")
        if not label.endswith('"'):
            raise InputError(f"{path}:{number}: expected {_COLUMNS} numbers and a label in quotes, got {text.strip()[:60]!r}")
        if label[:-1].lower() in _PEOPLE and row[6] == 0:
            rows.append(row)
            lines.append(number)
    if not rows:
        raise InputError(f'{path}:1: expected rows of pedestrians, 9 numbers and "Pedestrian", got none')
    table = np.array(rows)
    x, y = (table[:, 1] + table[:, 3]) / 2, -(table[:, 2] + table[:, 4]) / 2
    return Rows(path, lines, table[:, 5], table[:, 0], x, y, FRAME_RATE)
