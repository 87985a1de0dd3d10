"""The obstacle layer: what a lidar has seen stays, is cleared by looking again, and moves with the map and not with the robot."""

import dataclasses
import math

import numpy as np
import pytest

from agora.core.jit import bind
from agora.costmap.inflation import LETHAL, NO_INFORMATION, cost_of
from agora.costmap.obstacles import Seen, TrustedBeams, put_obstacles
from agora.costmap.window import Window, fill_windows
from agora.errors import InputError
from agora.maps.grid import Map
from agora.maps.store import build_store
from agora.optics.lidar import Lidar

LIDAR = Lidar(beams=121, angle_min=-2.2, angle_max=2.0, range_min=0.05, range_max=4.0, x=0.13, y=-0.04, heading=0.2)
WINDOW = Window(size=3.1, sources=("scan",), inflation_radius=0.31, obstacle_range=1.3, raytrace_range=1.4)
MAP = Map.open((-7.15, 3.3), (14.0, 25.0), resolution=0.05)
RECTANGLE = ((0.21, 0.14), (-0.17, 0.14), (-0.17, -0.14), (0.21, -0.14))


class Layer:
    """N robots with the layer, fed by hand."""

    def __init__(self, window=WINDOW, lidar=LIDAR, rows=1, footprint=RECTANGLE, place=MAP):
        self.window, self.lidar, self.rows = window, lidar, rows
        f = np.float32
        self.pose = np.zeros((rows, 3), f)
        self.cost, self.origin = np.zeros((rows, window.cells, window.cells), np.uint8), np.zeros((rows, 2), f)
        self.seen = Seen.of(rows, window.cells, np.full((rows, lidar.beams), lidar.range_max, f))
        angles = lidar.angles.astype(float) + lidar.heading
        limits = (window.obstacle_range, window.raytrace_range)
        beams = TrustedBeams(
            *(np.cos(angles).astype(f), np.sin(angles).astype(f)),
            *(f(v) for v in (lidar.x, lidar.y, lidar.range_min, lidar.range_max, *limits)),
            np.bool_(window.inf_is_valid),
        )
        corners = window.corners(np.tile(np.array(footprint, f), (rows, 1, 1)), np.full(rows, 0.3, f))
        self.corners, self.inscribed = corners[0].astype(float), window.inscribed(0.14)
        store, index = build_store([place], np.zeros(1, np.int64)), np.zeros(rows, np.int32)
        inscribed = np.full(rows, self.inscribed, f)
        nobody = (np.zeros((rows, 0, 2), f), np.zeros((rows, 0), f), np.zeros((rows, 0), np.bool_))
        self._fill = bind(fill_windows, store, index, window.filling, self.pose, inscribed, *nobody, self.cost, self.origin)
        outline = (corners[..., 0].copy(), corners[..., 1].copy())
        self._put = bind(
            put_obstacles, window.filling, store, index, self.pose, inscribed, *outline, beams, self.seen, self.cost, self.origin
        )

    def update(self, pose, ranges=None, taken=None):
        """Costs (N, H, H) with the robots at ``pose``, and a scan taken there or at ``taken``."""
        self.pose[:] = pose
        if ranges is not None:
            self.seen.ranges[:] = ranges
            self.seen.pose[:] = pose if taken is None else taken
            self.seen.fresh[:] = True
        self._fill(0, self.rows)
        self._put(0, self.rows)
        return self.cost.copy()


class Twin:
    """The same in float64 for one robot: a set of cells of the map's lattice."""

    def __init__(self, layer):
        self.window, self.lidar, self.corners, self.inscribed = layer.window, layer.lidar, layer.corners, layer.inscribed
        self.cells = set()

    def cell(self, point):
        return tuple(np.floor((np.asarray(point, float) - MAP.origin) / self.window.resolution).astype(int).tolist())

    def update(self, pose, ranges=None, taken=None):
        w, lidar = self.window, self.lidar
        side, cell = w.cells, w.resolution
        corner = np.array(self.cell(pose[:2])) - side // 2
        low, high = MAP.origin + corner * cell, MAP.origin + (corner + side) * cell
        self.cells = {c for c in self.cells if all(0 <= c[k] - corner[k] < side for k in (0, 1))}
        if ranges is not None:
            x, y, heading = pose if taken is None else taken
            c, s = math.cos(heading), math.sin(heading)
            eye = np.array([x + c * lidar.x - s * lidar.y, y + s * lidar.x + c * lidar.y])
            hits = []
            for angle, length in zip(lidar.angles.astype(float) + lidar.heading + heading, ranges, strict=True):
                if length <= lidar.range_min or (length >= lidar.range_max and not w.inf_is_valid):
                    continue
                way = length * np.array([math.cos(angle), math.sin(angle)])
                if length < min(w.obstacle_range, lidar.range_max):
                    hits.append(self.cell(eye + way))
                shares = [1.0]
                for k in (0, 1):
                    if eye[k] + way[k] > high[k]:
                        shares.append((high[k] - eye[k]) / way[k])
                    if eye[k] + way[k] < low[k]:
                        shares.append((low[k] - eye[k]) / way[k])
                end = np.clip(self.cell(eye + min(shares) * way), corner, corner + side - 1)
                self.cells -= set(line(self.cell(eye), tuple(end), math.ceil(w.raytrace_range / cell - 1e-6)))
            self.cells |= {h for h in hits if all(0 <= h[k] - corner[k] < side for k in (0, 1))}
        c, s = math.cos(pose[2]), math.sin(pose[2])
        at = [self.cell((pose[0] + c * a - s * b, pose[1] + s * a + c * b)) for a, b in self.corners]
        outline = {p for k in range(len(at)) for p in line(at[k - 1], at[k], 10**6)}
        for row in {r for _, r in outline}:
            across = [q for q, r in outline if r == row]
            self.cells -= {(q, row) for q in range(min(across), max(across) + 1)}
        centre = np.indices((side, side))[::-1].transpose(1, 2, 0) + corner
        gap = np.full((side, side), np.inf)
        for q in self.cells:
            gap = np.minimum(gap, cell * np.linalg.norm(centre - q, axis=-1))
        return cost_of(gap, self.inscribed, w.inflation_radius, w.cost_scaling, touch=0.5 * cell)


def line(a, b, longest):
    """Cells of Bresenham's line from a, cut where it is ``longest`` cells long."""
    across, up = abs(b[0] - a[0]), abs(b[1] - a[1])
    most, least = max(across, up), min(across, up)
    share = min(1.0, longest / math.hypot(across, up)) if most else 0.0
    for i in range(math.floor(most * share + 1e-9) + 1):
        minor = (most // 2 + i * least) // most if most else 0
        d = (minor, i) if up > across else (i, minor)
        yield tuple(a[k] + int(math.copysign(d[k], b[k] - a[k])) for k in (0, 1))


def wall_ahead(pose, distance, lidar=LIDAR, width=math.inf):
    """Ranges of a wall across the robot's heading, ``distance`` before the sensor and ``width`` wide."""
    angle = lidar.angles.astype(float) + lidar.heading
    there = np.cos(angle) > 1e-3
    ranges = np.where(there, distance / np.where(there, np.cos(angle), 1.0), lidar.range_max)
    aside = np.abs(ranges * np.sin(angle)) > width / 2
    return np.where(aside, lidar.range_max, np.minimum(ranges, lidar.range_max)).astype(np.float32)


def test_a_drive_with_scans_equals_the_plain_twin(rng):
    """Scans at every third step, of walls, gaps and lost beams, while the robot drives and turns across cells in all directions."""
    layer = Layer()
    twin = Twin(layer)
    pose, wrong = np.array([0.413, 9.77, -0.6]), 0
    for step in range(24):
        pose = pose + rng.uniform((-0.12, -0.12, -0.3), (0.12, 0.12, 0.3))
        pose = pose.astype(np.float32).astype(float)
        ranges = None
        if step % 3 == 0:
            ranges = np.minimum(wall_ahead(pose, rng.uniform(0.4, 1.2)), rng.uniform(0.3, 5.0, LIDAR.beams)).astype(np.float32)
            ranges[rng.random(LIDAR.beams) < 0.2] = LIDAR.range_max
            ranges[rng.random(LIDAR.beams) < 0.1] = LIDAR.range_min
        got = layer.update(pose, ranges)[0].astype(int)
        expected = twin.update(pose, None if ranges is None else ranges.astype(float)).astype(int)
        wrong += (np.abs(got - expected) > 1).sum()
    assert (expected == LETHAL).sum() > 20
    assert wrong < 2e-3 * 24 * got.size  # a point on a cell's border may fall to either side


def test_what_was_seen_stays_at_its_place_on_the_map_while_the_robot_drives_by():
    layer = Layer()
    pose = np.array([1.0, 8.0, 0.5])
    first = layer.update(pose, wall_ahead(pose, 0.9, width=0.3))[0]
    marked = layer.origin[0] + (np.argwhere(first == LETHAL)[:, ::-1] + 0.5) * 0.05
    for k in range(1, 9):
        layer.update(pose + (0.07 * k, -0.04 * k, 0.1 * k))
    after = layer.origin[0] + (np.argwhere(layer.cost[0] == LETHAL)[:, ::-1] + 0.5) * 0.05
    assert len(marked) > 4
    np.testing.assert_allclose(after, marked, atol=1e-4)


def test_a_beam_that_passes_through_clears_and_one_that_meets_nothing_only_if_that_is_valid():
    pose = np.array([1.0, 8.0, 0.5])
    nothing = np.full(LIDAR.beams, LIDAR.range_max, np.float32)
    for valid in (True, False):
        layer = Layer(dataclasses.replace(WINDOW, inf_is_valid=valid))
        before = layer.update(pose, wall_ahead(pose, 0.9))
        left = (layer.update(pose, nothing) == LETHAL).sum() / (before == LETHAL).sum()
        assert left < 0.1 if valid else left == 1.0  # between two beams a cell may be missed
        layer.update(pose, wall_ahead(pose, 0.9))
        behind = (layer.update(pose, np.full(LIDAR.beams, 1.35, np.float32)) == LETHAL).sum() / (before == LETHAL).sum()
        assert behind < 0.1


def test_marks_end_at_the_obstacle_range_and_clearing_at_the_ray_trace_range():
    pose = np.array([1.0, 8.0, 0.0])
    layer = Layer()
    assert not (layer.update(pose, wall_ahead(pose, 1.31)) == LETHAL).any()
    assert (layer.update(pose, wall_ahead(pose, 1.2)) == LETHAL).any()
    short = Layer(dataclasses.replace(WINDOW, raytrace_range=0.8))
    before = short.update(pose, wall_ahead(pose, 1.2))
    np.testing.assert_array_equal(short.update(pose, np.full(LIDAR.beams, 3.9, np.float32)), before)


def test_the_window_of_a_robot_that_stands_on_a_mark_is_free_under_its_footprint():
    layer = Layer()
    pose = np.array([1.0, 8.0, 0.3])
    layer.update(pose, wall_ahead(pose, 0.2, width=0.3))
    assert (layer.cost == LETHAL).any()
    assert not (layer.update(pose + (0.25 * math.cos(0.3), 0.25 * math.sin(0.3), 0.0)) == LETHAL).any()


def test_a_scan_in_which_no_beam_says_anything_leaves_nothing_known():
    layer = Layer()
    pose = np.array([1.0, 8.0, 0.3])
    for ranges in (np.zeros(LIDAR.beams), np.full(LIDAR.beams, LIDAR.range_min), np.full(LIDAR.beams, np.nan)):
        assert (layer.update(pose, ranges.astype(np.float32)) == NO_INFORMATION).all()
    assert not layer.update(pose, np.full(LIDAR.beams, LIDAR.range_max, np.float32)).any()


def test_a_scan_taken_before_the_robot_turned_is_where_it_was_taken():
    pose = np.array([1.0, 8.0, 0.5])
    wall = wall_ahead(pose, 0.9, width=0.4)
    still = Layer().update(pose, wall)
    turned = Layer().update(pose + (0.0, 0.0, 0.7), wall, taken=pose)
    np.testing.assert_array_equal(still, turned)


def test_walls_of_the_map_and_what_was_seen_both_count():
    post = Map("post", 0.05, (-7.15, 3.3), np.zeros((180, 260), np.bool_), discs=[[0.9, 8.75, 0.12]])
    pose = np.array([1.0, 8.0, 0.0])
    wall = wall_ahead(pose, 0.7, width=0.2)
    costs = {}
    for sources in (("map",), ("scan",), ("map", "scan")):
        layer = Layer(dataclasses.replace(WINDOW, sources=sources), place=post)
        costs[sources] = layer.update(pose, wall if "scan" in sources else None)
    np.testing.assert_array_equal(costs["map", "scan"], np.maximum(costs["map",], costs["scan",]))
    assert all((cost == LETHAL).any() for cost in costs.values())


def test_rows_do_not_depend_on_their_neighbours(rng):
    poses = np.column_stack((rng.uniform(-3, 2, 3), rng.uniform(6, 9, 3), rng.uniform(-3, 3, 3))).astype(np.float32)
    scans = rng.uniform(0.2, 5.0, (2, 3, LIDAR.beams)).astype(np.float32)
    moved = poses + np.float32(0.11)
    together = Layer(rows=3)
    together.update(poses, scans[0])
    whole = together.update(moved, scans[1])
    for n in range(3):
        alone = Layer()
        alone.update(poses[n], scans[0, n])
        np.testing.assert_array_equal(alone.update(moved[n], scans[1, n])[0], whole[n])


def test_sources_that_make_no_sense_are_refused():
    for wrong in ({"sources": ()}, {"sources": ("radar",)}, {"obstacle_range": 0.0}, {"footprint": ((0.1, 0.1), (0.2, 0.1))}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Window(**wrong)
