"""The code that map generators share: the size of a place, and the plan on which it is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from agora.core.state import Bools, Doubles, Ints
from agora.errors import PlacementError
from agora.maps.covered import TINY, cover, cover_disc, cut
from agora.maps.distance import cell_distance, gap_to_cells
from agora.maps.furniture import Furniture
from agora.maps.generators.layout import Pose, Rectangle, Set
from agora.maps.grid import LARGEST, Map
from agora.maps.place import Place
from agora.maps.zones import Zone
from agora.ranges import Checked, NotNegative, Positive, Within
from agora.seeds import Stream

_MOST_CELLS = 1 << 26
_FARTHEST = 10_000.0  # m
_DEEP = 1.0  # depth of the strip in front of an entrance, m
_HALF_DIAGONAL = math.sqrt(0.5)  # of a cell, in cells


class Blocked(Exception):  # noqa: N818
    """Raised inside a generator when a draw fails; after several failed draws, the generator raises `PlacementError` instead."""


@dataclass(frozen=True, kw_only=True)
class Area(Checked):
    """The size and grid of a generated place.

    Attributes:
        width: size along x, m, including a wall of one cell all around; rounded up to whole cells.
        height: size along y, m, including a wall of one cell all around; rounded up to whole cells.
        resolution: length of a cell, m.
        x: lower-left corner, x, m.
        y: lower-left corner, y, m.
        passage: radius of a robot that must be able to reach every place, m.
    """

    width: float = 20.0
    height: float = 20.0
    resolution: Positive = 0.1
    x: Annotated[float, Within(-_FARTHEST, _FARTHEST)] = 0.0
    y: Annotated[float, Within(-_FARTHEST, _FARTHEST)] = 0.0
    passage: NotNegative = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("width", "height"):
            least, most = 8 * self.resolution, LARGEST * self.resolution
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name}: must be {least:g} to {most:g} m (8 to {LARGEST} cells), got {getattr(self, name)}")
        if self.width * self.height > _MOST_CELLS * self.resolution**2:
            raise ValueError(f"width and height give more than {_MOST_CELLS} cells of {self.resolution} m")

    def check_cells(self, *names: str, cells: float = 1.0) -> None:
        """Check that the lengths with the given names are at least ``cells`` cells long.

        Raises:
            ValueError: a length is too short.
        """
        for name in names:
            if not getattr(self, name) >= cells * self.resolution:
                raise ValueError(f"{name}: must be at least {cells * self.resolution:g}, got {getattr(self, name)}")

    @property
    def opening(self) -> float:
        """Minimum width of an axis-aligned door or corridor through which a robot of radius ``passage`` fits, m."""
        return math.ceil(2 * self.passage / self.resolution + 2 - TINY) * self.resolution

    @property
    def lane(self) -> float:
        """Minimum gap between objects through which the robot fits on the grid of cells, whatever the angle of the gap, m."""
        return 2 * self.passage + 4 * self.resolution

    def fail(self, parameter: str, why: str) -> PlacementError:
        """Return the error for a parameter that cannot be satisfied."""
        return PlacementError(f"{parameter} {getattr(self, parameter):g}: {why}, in a place of {self.width:g} x {self.height:g} m")


class FloorPlan:
    """A place while it is being generated: walls as cells, furniture and zones, in metres from the lower-left corner.

    The plan may be rotated; its lower side then becomes the right, the upper or the left side of the place.

    Attributes:
        area: size and grid of the place.
        turns: number of quarter turns by which the finished plan is rotated counter-clockwise.
        width: width of the plan, a whole number of cells, m.
        height: height of the plan, a whole number of cells, m.
        inner: rectangle inside the outer wall.
        walls: (rows, columns) cells that are walls.
        furniture: pieces of furniture placed so far.
        reached: (rows, columns) cells whose centre the robot can occupy; set when the plan is finished.
    """

    reached: Bools

    def __init__(self, area: Area, *, turns: int = 0, solid: bool = False) -> None:
        self.area, self.turns = area, turns
        columns, rows = (math.ceil(length / area.resolution - TINY) for length in (area.width, area.height))
        if turns % 2:
            columns, rows = rows, columns
        self.walls: Bools = np.full((rows, columns), solid)
        self._border()
        self.width, self.height = columns * area.resolution, rows * area.resolution
        self.inner: Rectangle = (area.resolution, area.resolution, self.width - area.resolution, self.height - area.resolution)
        self.furniture: list[Furniture] = []
        self._zones: list[tuple[str, str, Doubles]] = []

    def _border(self) -> None:
        self.walls[[0, -1]] = True
        self.walls[:, [0, -1]] = True

    def snap(self, length: float) -> float:
        """Return the cell boundary nearest to a coordinate along one axis, m."""
        return round(length / self.area.resolution) * self.area.resolution

    def wall(self, box: Rectangle) -> None:
        """Fill every cell that a rectangle touches."""
        x0, y0, x1, y1 = (v / self.area.resolution for v in box)
        self.walls[cut(y0 + TINY, y1 - TINY), cut(x0 + TINY, x1 - TINY)] = True

    def carve(self, box: Rectangle) -> None:
        """Clear every cell inside a rectangle, except the outer wall."""
        x0, y0, x1, y1 = (v / self.area.resolution for v in box)
        rows, columns = (slice(max(math.ceil(a - TINY), 0), max(math.floor(b + TINY), 0)) for a, b in ((y0, y1), (x0, x1)))
        self.walls[rows, columns] = False
        self._border()

    def put(self, set_: Set, pose: Pose) -> None:
        """Place a set of furniture at a pose."""
        c, s = math.cos(pose[2]), math.sin(pose[2])
        for model, x, y, heading in set_:
            turn = math.remainder(pose[2] + heading, math.tau)
            self.furniture.append(Furniture(model, pose[0] + c * x - s * y, pose[1] + s * x + c * y, turn))

    def zone(self, label: str, category: str, *boxes: Rectangle) -> None:
        """Add a zone: a named part of the place."""
        corners = np.array([[[x0, y0], [x1, y0], [x1, y1], [x0, y1]] for x0, y0, x1, y1 in boxes])
        self._zones.append((label, category, corners))

    def entrance(self, side: int, low: float, high: float, box: Rectangle | None = None) -> None:
        """Add an entrance zone: a strip along a side where people come in and leave, as if there were a door in the wall.

        Args:
            side: number of the side: 0 lower, 1 right, 2 upper, 3 left.
            low: start of the strip along the side, x or y, m.
            high: end of the strip along the side, x or y, m.
            box: rectangle to which the side belongs; the inner rectangle if not given.
        """
        x0, y0, x1, y1 = box or self.inner
        strip = ((low, y0, high, y0 + _DEEP), (x1 - _DEEP, low, x1, high), (low, y1 - _DEEP, high, y1), (x0, low, x0 + _DEEP, high))
        count = sum(category == "entrance" for _, category, _ in self._zones)
        self.zone(f"entrance {count}", "entrance", strip[side])

    def finish(self, name: str, *, fill: bool = False) -> Place:
        """Return the finished place.

        Args:
            name: name of the map.
            fill: whether to fill the cells that the robot cannot reach; if False, unreachable cells count as a failure.

        Raises:
            Blocked: the robot cannot get everywhere; with ``fill``, it can reach less than half of the cells in which it fits, or
                less than a tenth of the place.
        """
        area, occupied = self.area, self.walls.copy()
        for piece in self.furniture:
            for corners in piece.polygons():
                cover(occupied, corners / area.resolution)
            for disc in piece.discs():
                cover_disc(occupied, disc / area.resolution)
        labels, count = reachable(occupied, area)
        before = np.count_nonzero(labels)
        while fill and count > 1:
            occupied |= _pockets(labels, area)
            labels, count = reachable(occupied, area)
        self.reached = labels == 1
        if count != 1 or (fill and np.count_nonzero(labels) < max(0.5 * before, 0.1 * labels.size)):
            how = "fits nowhere" if not count else "reaches too little of the place" if fill else "cannot get everywhere"
            raise Blocked(f"a robot with a passage width of {area.passage:g} m {how}")
        return self._turned(name, occupied)

    def _turned(self, name: str, occupied: Bools) -> Place:
        """Return the place, rotated, with its lower-left corner at its position in the map frame."""
        width, height, turn = self.width, self.height, self.turns * math.pi / 2
        points = np.array([(f.x, f.y) for f in self.furniture]).reshape(-1, 2)
        zones = [corners for _, _, corners in self._zones]
        for _ in range(self.turns):
            occupied = occupied.T[:, ::-1]
            points, *zones = ([height, 0.0] + part[..., ::-1] * [-1.0, 1.0] for part in (points, *zones))
            width, height = height, width
        origin = self.area.x, self.area.y
        pieces = zip(self.furniture, (points + origin).tolist(), strict=True)
        return Place(
            Map(name, self.area.resolution, origin, occupied),
            tuple(Furniture(f.model, x, y, math.remainder(f.heading + turn, math.tau)) for f, (x, y) in pieces),
            tuple(Zone.of(z[0], z[1], *(part + origin)) for z, part in zip(self._zones, zones, strict=True)),
        )


def reachable(occupied: Bools, area: Area) -> tuple[Ints, int]:
    """Label the connected components of the cells whose centre the robot can occupy. Return the labels (rows, columns), in which 1
    is the largest component, and the number of components.

    The robot is a disc of radius ``passage``, and occupied cells are squares. The robot moves between cells that share a side.
    During such a move, it gets no closer to a square than it is at one of the two cell centres.
    """
    from scipy.ndimage import label

    distance, cell = cell_distance(occupied, area.resolution), area.resolution
    fits = distance > np.float32(area.passage + _HALF_DIAGONAL * cell)
    unsure = (distance > np.float32(area.passage)) & ~fits
    row, column = np.nonzero(unsure)
    gap = np.empty(len(row))
    gap_to_cells((np.column_stack([column, row]) + 0.5) * cell, distance, cell, distance[unsure].astype(np.float64), gap)
    fits[unsure] = gap >= area.passage - 1e-9
    labels, count = label(fits)
    if count > 1:
        largest = 1 + int(np.argmax(np.bincount(labels.ravel())[1:]))
        labels = np.where(labels == largest, 1, labels + (labels > 0))
    return labels, count


def _pockets(labels: Ints, area: Area) -> Bools:
    """Return the cells that robots in components other than the largest would cover, except for cells too close to the largest
    component.
    """
    inside, beside = cell_distance(labels > 1, area.resolution), cell_distance(labels == 1, area.resolution)
    near = area.passage + _HALF_DIAGONAL * area.resolution
    return np.asarray((labels > 1) | ((inside <= np.float32(near)) & (beside > np.float32(near))))


def drawn(area: Area, draw: Callable[[], Place], blame: str, tries: int = 20) -> Place:
    """Return the first place that the function ``draw`` completes without a failure.

    Raises:
        PlacementError: all tries failed; the error names the parameter ``blame`` as the cause and gives the reason for the last
            failure.
    """
    reason = ""
    for _ in range(tries):
        try:
            return draw()
        except Blocked as blocked:
            reason = str(blocked)
    raise area.fail(blame, f"{reason}, in {tries} tries")


def either_way(stream: Stream, draw: Callable[[int], Place]) -> Place:
    """Return a place drawn with a random number of quarter turns; if it does not fit, it is drawn with one more quarter turn.

    Raises:
        PlacementError: the place does not fit either way; this is the error from the first attempt.
    """
    turns = stream.integer(0, 3)
    try:
        return draw(turns)
    except PlacementError as error:
        try:
            return draw((turns + 1) % 4)
        except PlacementError:
            raise error from None
