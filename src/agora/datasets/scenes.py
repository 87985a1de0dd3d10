"""Scenes of recorded pedestrians: reads the file ``scene.yaml``, and converts rows (frame, pedestrian, position) to
trajectories.
"""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from agora.config import load
from agora.core.state import Doubles
from agora.datasets.tables import read_numbered
from agora.errors import InputError
from agora.ranges import Within
from agora.world.trajectories import Trajectories

LONGEST_GAP = 2.0
"""Maximum gap between two rows with the same id, s, over which the person is assumed to walk on. An id that reappears later belongs
to a different person.
"""

PLAUSIBLE = 0.3, 2.5
"""Range of plausible mean speeds of people, m/s. A warning is logged for scenes outside this range."""

FrameRate = Annotated[float, Within(0.0, 10_000.0, above=True)]
"""Frames per second."""
Scale = Annotated[float, Within(0.0, 10_000.0, above=True)]
"""Length of one unit of the file, for instance a pixel, m."""
Columns = Literal["frame pedestrian x y", "pedestrian frame x y"]
"""Order of the columns of a table."""

FRAME_RATE = {name: 15.0 for name in ("eth", "seq_eth", "biwi_eth")} | {
    name: 25.0
    for name in (
        *("hotel", "seq_hotel", "biwi_hotel", "zara01", "zara02", "zara03", "crowds_zara01", "crowds_zara02", "crowds_zara03"),
        *("students001", "students003", "students01", "students03", "crowds_students001", "crowds_students003", "univ"),
        *("uni_examples", "crowds_uni_examples", "arxiepiskopi1", "arxiepiskopi2"),
    )
}
"""Frames per second, according to how frames are numbered in the scenes of ETH and UCY, by folder name in the public collections.

The collections are the data set itself, OpenTraj and TrajNet. ETH's first scene has 15 frames per second, all other scenes have 25.
"""

SCENE_FILE = "scene.yaml"
"""Name of the file in a scene's folder (`SceneFile`)."""

_UNKNOWN_RATE = 25.0
_SMOOTHER = 0.5  # ratio of roughnesses below which the smoother column order is certainly correct
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class SceneFile:
    """The contents of ``scene.yaml`` next to the files of a scene.

    Attributes:
        frame_rate: frames per second, according to how frames are numbered in the scene's files.
        scale: length of one unit of the positions, m, for positions in pixels.
        columns: order of the columns in a table with four columns.
    """

    frame_rate: FrameRate | None = None
    scale: Scale | None = None
    columns: Columns | None = None

    def over(self, other: SceneFile) -> SceneFile:
        """Return a copy in which missing values are taken from the other file."""
        return SceneFile(self.frame_rate or other.frame_rate, self.scale or other.scale, self.columns or other.columns)


def said_of(place: Path) -> SceneFile:
    """Return the contents of a scene's ``scene.yaml``; empty if the scene has no such file.

    Raises:
        InputError: the file is invalid.
    """
    return load(scene_file(place), SceneFile) if scene_file(place).is_file() else SceneFile()


def scene_file(place: Path) -> Path:
    """Return the path of a scene's ``scene.yaml``.

    The file is in the folder of the scene or, for a scene that is a single file, next to that file.
    """
    return (place if place.is_dir() else place.parent) / SCENE_FILE


@dataclass(frozen=True, eq=False)
class Rows:
    """Annotated positions of pedestrians.

    Attributes:
        path: path of the file from which the rows were read.
        line: (N,) line of each row in the file.
        frame: (N,) number of the frame of each row.
        id: (N,) number of the pedestrian of each row.
        x: (N,) x coordinate, in units of the file.
        y: (N,) y coordinate, in units of the file.
        rate: frames per second stated by the file; None if the file does not state it.
    """

    path: Path
    line: Sequence[int]
    frame: Doubles
    id: Doubles
    x: Doubles
    y: Doubles
    rate: float | None = None


def rows_of_table(path: Path, columns: int, order: Columns | None = None) -> Rows:
    """Read a table: frame, pedestrian, x, y (4 columns); or frame, pedestrian, x, z, y, vx, vz, vy (8 columns, OpenTraj's obsmat).

    With 8 columns, the frame rate is derived from the velocities, so that path lengths match the velocities.

    Args:
        path: path of the file.
        columns: number of columns.
        order: order of the columns in a table with four columns; if None, the documented order is used unless the numbers show that
            the pedestrian column comes first.

    Raises:
        InputError: the file is invalid; the message gives the line.
    """
    line, table = read_numbered(path, columns)
    if columns == 4 and (order == "pedestrian frame x y" or (order is None and _pedestrians_first(path, table))):
        table = table[:, [1, 0, 2, 3]]
    frame, who, x = table[:, 0], table[:, 1], table[:, 2]
    y = table[:, 4] if columns == 8 else table[:, 3]
    rate = _rate_of_velocities(frame, who, x, y, np.hypot(table[:, 5], table[:, 7])) if columns == 8 else None
    return Rows(path, line, frame, who, x, y, rate)


def _pedestrians_first(path: Path, table: Doubles) -> bool:
    """Return whether the first column contains pedestrians and the second frames; log a message if so, or if the numbers are
    ambiguous.

    The correct column order gives the smoother paths: successive positions of one pedestrian lie on a line, whereas the positions
    of successive pedestrians in one frame do not. If the difference is small, a column with evenly spaced numbers (0, 10, 20) is
    taken as the frames.
    """
    apart = [int(np.gcd.reduce(np.diff(np.unique(table[:, k])).astype(np.int64), initial=0)) for k in (0, 1)]
    usual, other = (_roughness(table[:, 1 - k], table[:, k], table[:, 2:]) for k in (0, 1))  # with frames in column k
    if other > usual / _SMOOTHER or other == math.inf or (apart[0] > 1 >= apart[1] and other > usual * _SMOOTHER):
        return False
    if other < usual * _SMOOTHER and usual < math.inf or (apart[1] > 1 >= apart[0] and other < usual / _SMOOTHER):
        _tell(
            f"{path}: its columns are read as pedestrian, frame, x, y; if they are not, write columns: frame pedestrian x y "
            f"into {SCENE_FILE}"
        )
        return True
    _tell(
        f"{path}: its columns are read as frame, pedestrian, x, y, but may be pedestrian, frame, x, y; "
        f"write columns: frame pedestrian x y, or columns: pedestrian frame x y, into {SCENE_FILE}"
    )
    return False


def _roughness(who: Doubles, frame: Doubles, places: Doubles) -> float:
    """Return the median step of paths plus their median bend, in units of the file; infinite if there are no steps."""
    order = np.lexsort((frame, who))
    who, places = who[order], places[order]
    same = who[1:] == who[:-1]
    step = np.diff(places, axis=0)
    if not same.any():
        return math.inf
    bend = np.diff(step, axis=0)[same[1:] & same[:-1]]
    steps, bends = (float(np.median(np.hypot(*rows.T))) if len(rows) else math.nan for rows in (step[same], bend))
    return steps + (bends if len(bend) else steps)


def _rate_of_velocities(frame: Doubles, who: Doubles, x: Doubles, y: Doubles, speed: Doubles) -> float | None:
    """Return the frame rate at which most steps of walking people match the stated speeds; None if no one walks."""
    order = np.lexsort((frame, who))
    step, way = np.diff(frame[order]), np.hypot(np.diff(x[order]), np.diff(y[order]))
    walks = (np.diff(who[order]) == 0) & (speed[order][:-1] > PLAUSIBLE[0]) & (way > 0) & (step > 0)
    if not walks.any():
        return None
    return float(np.round(2.0 * np.median(speed[order][:-1][walks] * step[walks] / way[walks])) / 2.0) or None


def people_of(rows: Rows, place: Path, said: SceneFile) -> Trajectories:
    """Return the trajectories of the pedestrians in the given rows, in seconds and metres; time 0 is frame 0.

    An id that reappears after more than `LONGEST_GAP` seconds belongs to a different person, who gets the next unused id.

    Args:
        rows: rows of the scene.
        place: folder of the scene.
        said: values from the caller, which override the values in ``scene.yaml`` and in the rows, and the values implied by the
            scene's name.

    Raises:
        InputError: an id occurs twice in a frame (the message gives the line), or is invalid; or ``scene.yaml`` is invalid.
    """
    known = said.over(said_of(place))
    rate = rate_of(place, known, rows.rate)
    _refuse_twice(rows)
    scale = known.scale or 1.0
    try:
        people = Trajectories.of_rows(rows.frame / rate, rows.id, rows.x * scale, rows.y * scale, longest_gap=LONGEST_GAP)
    except InputError as error:
        raise InputError(f"{rows.path}: {error}") from error
    return plausible(people, rows.path, rate)


def rate_of(place: Path, known: SceneFile, read: float | None = None) -> float:
    """Return the frame rate of a scene, which is given or taken from the scene's files or name.

    If it is unknown, return 25, and log a note.
    """
    rate = known.frame_rate or read or FRAME_RATE.get(place.name.lower())
    if rate is None:
        _tell(
            f"{place}: the frame rate is unknown; {_UNKNOWN_RATE:g} frames per second are assumed, as in UCY. "
            f"Write frame_rate: N into {scene_file(place)}"
        )
    return rate or _UNKNOWN_RATE


def plausible(people: Trajectories, path: Path, rate: float) -> Trajectories:
    """Return the same people, and log a warning if they are implausibly slow or fast on average."""
    speed = people.mean_speed()
    if people.count and not PLAUSIBLE[0] <= speed <= PLAUSIBLE[1]:
        _tell(
            f"{path}: its people walk at {speed:.2f} m/s on average with {rate:g} frames per second; expected "
            f"{PLAUSIBLE[0]:g} to {PLAUSIBLE[1]:g} m/s. Are frame_rate and scale right ({path.parent / SCENE_FILE})?"
        )
    return people


@functools.cache
def _tell(text: str) -> None:
    """Log a message once."""
    _LOG.warning("%s", text)


def _refuse_twice(rows: Rows) -> None:
    order = np.lexsort((np.asarray(rows.line), rows.frame, rows.id))
    same = (np.diff(rows.frame[order]) == 0) & (np.diff(rows.id[order]) == 0)
    if same.any():
        k = int(np.argmax(same))
        first, again = order[k], order[k + 1]
        raise InputError(
            f"{rows.path}:{rows.line[again]}: pedestrian {rows.id[again]:g} occurs twice in frame {rows.frame[again]:g}; "
            f"first in line {rows.line[first]}"
        )
