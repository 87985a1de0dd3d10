"""The lidar against plain float64 twins, closed forms, symmetries and ir-sim."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt

from agora.core import state
from agora.core.jit import bind
from agora.errors import InputError
from agora.optics.lidar import WALK, Lidar, perturb
from agora.seeds import key_of

EMPTY = (np.zeros((2, 2), bool), 1.0, (-3.1, 4.7))


def store(grids, index=(0,), segments=(), discs=()):
    """Maps from (occupied, resolution, origin) each; segments and discs belong to the first."""
    fields = [distance_transform_edt(~g) * r if g.any() else np.full(g.shape, 1e3) for g, r, _ in grids]
    sizes = [g.size for g, _, _ in grids]
    start = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)
    distance = np.concatenate([f.ravel() for f in fields]).astype(np.float32)
    bounds = [np.array([0] + [len(shapes)] * len(grids), np.int32) for shapes in (segments, discs)]
    return state.Maps(
        np.asarray(index, np.int32),
        start,
        start.copy(),
        np.array([len(g) for g, _, _ in grids], np.int32),
        np.array([len(g[0]) for g, _, _ in grids], np.int32),
        np.array([r for _, r, _ in grids], np.float32),
        np.array([o[0] for _, _, o in grids], np.float32),
        np.array([o[1] for _, _, o in grids], np.float32),
        np.concatenate([g.ravel() for g, _, _ in grids]).astype(np.uint8),
        distance,
        distance.copy(),
        np.asarray(segments, np.float32).reshape(-1, 4),
        np.asarray(discs, np.float32).reshape(-1, 3),
        *(edge for both in bounds for edge in (both[:-1].copy(), both[1:].copy())),
    )


def room(rng, rows, columns, furniture=9):
    """A closed room with boxes, thin walls and single cells."""
    grid = np.zeros((rows, columns), bool)
    grid[[0, -1]] = grid[:, [0, -1]] = True
    for k in range(furniture):
        r, c = rng.integers(0, rows), rng.integers(0, columns)
        h, w = ((1, 1), (1, 17), (13, 1), (9, 6))[k % 4]
        grid[r : r + h, c : c + w] = True
    return grid


def free_poses(rng, grids, index, count):
    """Poses (W, count, 3) in free cells, off their centres."""
    poses = np.empty((len(index), count, 3), np.float32)
    for w, m in enumerate(index):
        grid, resolution, origin = grids[m]
        rows, columns = np.nonzero(~grid)
        pick = rng.integers(0, len(rows), count)
        cells = np.column_stack([columns[pick], rows[pick]]) + rng.uniform(0.05, 0.95, (count, 2))
        poses[w, :, :2] = np.array(origin) + resolution * cells
        poses[w, :, 2] = rng.uniform(-math.pi, math.pi, count)
    return poses


def crowd(worlds, slots=16, place=(), radius=0.3):
    """Pedestrians at (world, slot, x, y)."""
    people, traits = state.pedestrians(worlds, slots), state.traits(worlds, slots)
    traits.radius[:] = radius
    for w, j, x, y in place:
        people.x[w, j], people.y[w, j], people.active[w, j] = x, y, True
        traits.count[w] = max(traits.count[w], j + 1)
    return people, traits


def fleet(poses, radius=0.3, corners=0):
    """Robots at poses (W, R, 3)."""
    poses = np.asarray(poses, np.float32)
    robots, traits = state.robots(*poses.shape[:2]), state.robot_traits(*poses.shape[:2], corners)
    robots.x[:], robots.y[:], robots.heading[:] = np.moveaxis(poses, 2, 0)
    robots.active[:] = True
    traits.radius[:] = radius
    return robots, traits


def take(lidar, maps, robots, people=None):
    """Ranges (W, R, B)."""
    people = crowd(len(maps.index)) if people is None else people
    out = np.full((*robots[0].x.shape, lidar.beams), np.nan, np.float32)
    lidar.bind(*people, *robots, maps, out)(0, len(out))
    return out


def sensor(lidar, robots, w=0, r=0):
    """Place (x, y) of a robot's sensor and directions (B, 2) of its beams, float64."""
    x, y, heading = (float(a[w, r]) for a in (robots[0].x, robots[0].y, robots[0].heading))
    c, s = math.cos(heading), math.sin(heading)
    angle = heading + lidar.heading + lidar.angle_min + lidar.increment * np.arange(lidar.beams)
    place = np.array([x + c * lidar.x - s * lidar.y, y + s * lidar.x + c * lidar.y])
    return place, np.column_stack([np.cos(angle), np.sin(angle)])


def walk(grid, resolution, origin, place, directions, range_max):
    """Twin: every beam from cell to cell (Amanatides and Woo 1987), from a place inside the grid, float64."""
    resolution, origin = float(np.float32(resolution)), np.asarray(origin, np.float32).astype(float)
    start = (place - origin) / resolution
    cell = np.tile(np.floor(start).astype(int), (len(directions), 1))
    step = np.where(directions > 0, 1, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = np.abs(1 / directions)
        crossing = np.where(directions != 0, (cell + (step > 0) - start) / directions, np.inf)
    t, ranges = np.zeros(len(directions)), np.full(len(directions), range_max)
    going = np.ones(len(directions), bool)
    while going.any():
        inside = ((cell >= 0) & (cell < grid.shape[::-1])).all(axis=1)
        hit = going & inside
        hit[hit] = grid[cell[hit, 1], cell[hit, 0]]
        ranges[hit] = np.minimum(t[hit] * resolution, range_max)
        going &= inside & ~hit & (t * resolution < range_max)
        axis = np.argmin(crossing, axis=1)
        rows = np.flatnonzero(going)
        t[rows] = crossing[rows, axis[rows]]
        cell[rows, axis[rows]] += step[rows, axis[rows]]
        crossing[rows, axis[rows]] += delta[rows, axis[rows]]
    return ranges


def meet(place, directions, range_max, discs=(), segments=()):
    """Twin: nearest of discs (x, y, radius) and segments on each beam, and whether a beam passes an edge by less than 1e-3 rad."""
    ranges, edge = np.full(len(directions), range_max), np.zeros(len(directions), bool)

    def along(p):
        return directions @ p

    def aside(p):
        return directions[:, 0] * p[1] - directions[:, 1] * p[0]

    for x, y, r in discs:
        p = np.array([x, y]) - place
        a, d = along(p), aside(p)
        t = a - np.sqrt(np.maximum(r * r - d * d, 0))
        ranges = np.where((np.abs(d) < r) & (t > 0), np.minimum(ranges, t), ranges)
        edge |= (a > 0) & (np.abs(np.arctan2(np.abs(d), a) - math.asin(min(r / np.hypot(*p), 1))) < 1e-3)
    for s in np.asarray(segments, float).reshape(-1, 4):
        a, b = s[:2] - place, s[2:] - place
        e = b - a
        across = directions[:, 0] * e[1] - directions[:, 1] * e[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            t, u = (a[0] * e[1] - a[1] * e[0]) / across, -aside(a) / across
        ranges = np.where((t > 0) & (u >= 0) & (u <= 1), np.minimum(ranges, t), ranges)
        for p in (a, b):
            edge |= (along(p) > 0) & (np.abs(aside(p)) < 1e-3 * np.hypot(*p))
    return ranges, edge


def close(ours, twin):
    """Every beam to a millimetre, all but one in a thousand to a tenth of one."""
    difference = np.abs(ours - twin)
    assert difference.max() < 1e-3
    assert (difference > 1e-4).mean() < 1e-3


def test_a_scan_walks_every_cell_on_crooked_maps_of_different_size_in_one_batch(rng):
    grids = [
        (room(rng, 143, 218), 0.05, (-3.713, 8.291)),
        (room(rng, 251, 97), 0.037, (12.04, -5.55)),
        (room(rng, 61, 76, 4), 0.2, (-7.3, -1.9)),
    ]
    index = [2, 0, 1, 1, 0]
    lidar = Lidar(beams=357, range_max=6.5)
    robots = fleet(free_poses(rng, grids, index, 7), radius=1e-3)
    for r in range(7):
        robots[0].active[:] = np.arange(7) == r
        ours = take(lidar, store(grids, index), robots)
        twin = [walk(*grids[m], *sensor(lidar, robots, w, r), lidar.range_max) for w, m in enumerate(index)]
        close(ours[:, r], np.array(twin))
        assert (np.array(twin) < lidar.range_max).mean() > 0.5


def test_a_sensor_mounted_off_centre_and_yawed_sees_from_there(rng):
    grids = [(room(rng, 120, 173), 0.05, (1.37, -2.21))]
    lidar = Lidar(beams=270, angle_min=-2.1, angle_max=1.9, x=0.31, y=-0.17, heading=0.77, range_max=8.0)
    poses = free_poses(rng, grids, [0], 40)[0]
    inner = (np.abs(poses[:, :2] - [1.37 + 173 * 0.025, -2.21 + 120 * 0.025]) < [3.5, 2.2]).all(axis=1)
    for pose in poses[inner]:
        robots = fleet(pose[None, None])
        close(take(lidar, store(grids), robots)[0, 0], walk(*grids[0], *sensor(lidar, robots), lidar.range_max))


def test_outside_the_grid_all_is_free_and_a_grid_is_seen_from_outside(rng):
    grid, resolution, origin = room(rng, 40, 57, 5)[3:-2, 2:-4], 0.05, (-0.63, 0.41)
    margin = 80
    wide = np.pad(grid, margin), resolution, tuple(np.float32(o) - margin * resolution for o in origin)
    lidar = Lidar(beams=360, range_max=3.3)
    seen = 0
    for x, y, heading in ((-2.0, -1.1, 0.3), (0.7, 4.6, 1.1), (4.1, 1.3, -2.0), (0.4, 1.1, 2.9), (-0.63 - 0.01, 1.2, 0.0)):
        robots = fleet([[[x, y, heading]]])
        place, directions = sensor(lidar, robots)
        ours = take(lidar, store([(grid, resolution, origin)]), robots)[0, 0]
        close(ours, walk(*wide, place, directions, lidar.range_max))
        seen += (ours < lidar.range_max).sum()
        assert (ours == np.float32(lidar.range_max)).any()
    assert seen > 200
    assert np.all(take(lidar, store([(grid, resolution, origin)]), fleet([[[5e5, -3e7, 0.2]]])) == np.float32(3.3))


def test_an_empty_plane_reads_range_max_from_anywhere():
    lidar = Lidar(beams=17, range_max=7.7)
    robots = fleet([[[-2.5, 5.1, 0.4]], [[103.0, -55.0, -2.4]]])
    assert np.all(take(lidar, store([EMPTY], [0, 0]), robots) == np.float32(7.7))


@pytest.mark.parametrize(
    "lidar", [Lidar(beams=361, angle_min=-2.9, angle_max=3.0), Lidar(beams=90, angle_min=0.4, angle_max=0.9), Lidar()]
)
def test_discs_and_segments_of_the_map_are_met_where_geometry_says(rng, lidar):
    discs = np.column_stack([rng.uniform(-9, 9, (25, 2)), rng.uniform(0.1, 0.6, 25)]).astype(np.float32)
    segments = rng.uniform(-9, 9, (25, 4)).astype(np.float32)
    checked = 0
    for _ in range(12):
        robots = fleet([[[*rng.uniform(-6, 6, 2), rng.uniform(-3.1, 3.1)]]])
        place, directions = sensor(lidar, robots)
        if (np.hypot(*(discs[:, :2] - place).T) < discs[:, 2]).any():
            continue
        twin, edge = meet(place, directions, lidar.range_max, discs, segments)
        ours = take(lidar, store([EMPTY], [0], segments, discs), robots)[0, 0]
        assert np.abs(ours - twin)[~edge].max() < 1e-4
        checked += (~edge & (twin < lidar.range_max)).sum()
    assert checked > 300


def test_the_walls_of_a_turned_room_are_closed_at_their_corners():
    turn, corners = 0.37, np.array([[-4.0, -2.5], [3.0, -2.5], [3.0, 4.5], [-4.0, 4.5]])
    c, s = math.cos(turn), math.sin(turn)
    x, y = (corners @ np.array([[c, s], [-s, c]]) + [12.3, -7.1]).T.astype(np.float32)
    segments = np.column_stack([x, y, np.roll(x, -1), np.roll(y, -1)])
    for k in range(4):
        aim = math.atan2(y[k] + 7.0, x[k] - 12.0)
        lidar = Lidar(beams=401, angle_min=-2e-5, angle_max=2e-5, range_max=20.0)
        ours = take(lidar, store([EMPTY], [0], segments), fleet([[[12.0, -7.0, aim]]]))[0, 0]
        assert np.abs(ours - math.hypot(x[k] - 12.0, y[k] + 7.0)).max() < 1e-3


def test_one_pedestrian_is_seen_as_a_disc_and_none_is_not_seen():
    lidar, robots = Lidar(beams=720, range_max=5.0), fleet([[[1.3, -0.4, 2.2]], [[1.3, -0.4, 2.2]]])
    ours = take(lidar, store([EMPTY], [0, 0]), robots, crowd(2, place=[(1, 5, -0.9, 0.8)], radius=0.27))
    twin, edge = meet(*sensor(lidar, robots), 5.0, [(-0.9, 0.8, 0.27)])
    assert np.all(ours[0] == 5.0)
    assert np.abs(ours[1, 0] - twin)[~edge].max() < 1e-5
    assert ours.min() == pytest.approx(math.hypot(2.2, 1.2) - 0.27, abs=1e-4)


@pytest.mark.parametrize("gap", [1e-3, 0.05])
def test_a_pillar_almost_touched_fills_half_of_the_view(gap):
    lidar, at = Lidar(beams=720, range_max=9.0), 2.7
    for heading in (0.3, 1.9, -2.4):
        robots = fleet([[[0.4, -0.3, heading]]])
        pillar = (0.4 + (0.8 + gap) * math.cos(at), -0.3 + (0.8 + gap) * math.sin(at), 0.8)
        twin, edge = meet(*sensor(lidar, robots), 9.0, [pillar])
        ours = take(lidar, store([EMPTY], discs=[pillar]), robots)[0, 0]
        assert np.abs(ours - twin)[~edge].max() < 1e-4
        assert (ours < 9.0).mean() == pytest.approx(math.asin(0.8 / (0.8 + gap)) / math.pi, abs=0.005)


def test_a_rim_within_reach_is_seen_when_its_centre_is_not():
    ours = take(
        Lidar(beams=9, range_max=5.0), store([EMPTY], discs=[(5.2, 0.0, 0.4), (-5.2, 0.0, 0.1)]), fleet([[[0.0, 0.0, math.pi]]])
    )
    assert ours[0, 0, 0] == pytest.approx(4.8, abs=1e-5)
    assert np.all(ours[0, 0, 1:] == 5.0)


def test_a_disc_behind_a_wall_and_a_wall_behind_a_disc_are_hidden():
    grid = np.zeros((100, 140), bool)
    grid[:, 90] = True
    lidar, maps = Lidar(beams=1, angle_min=0.0, angle_max=0.0), store([(grid, 0.05, (-2.0, -2.2))])
    for x, expected in ((1.0, 1.0 - 0.25), (3.0, 90 * 0.05 - 2.0)):
        ours = take(lidar, maps, fleet([[[0.0, 0.0, 0.0]]]), crowd(1, place=[(0, 3, x, 0.0)], radius=0.25))
        assert ours[0, 0, 0] == pytest.approx(expected, abs=1e-5)


def test_robots_see_each_other_and_not_themselves(rng):
    lidar = Lidar(beams=200, x=0.1, range_max=6.0)
    robots = fleet([[[0.0, 0.0, 0.3], [2.0, 1.0, -2.0], [-1.0, 1.5, 0.9]]], radius=[[0.3, 0.4, 0.2]])
    robots[0].active[0, 2] = False
    ours = take(lidar, store([EMPTY]), robots)[0]
    for me, other, radius in ((0, (2.0, 1.0), 0.4), (1, (0.0, 0.0), 0.3)):
        twin, edge = meet(*sensor(lidar, robots, 0, me), 6.0, [(*other, radius)])
        assert np.abs(ours[me] - twin)[~edge].max() < 1e-5
        assert (twin < 6.0).any()
    assert np.all(ours[2] == 6.0)


def test_a_robot_with_a_polygon_is_seen_as_its_turned_edges():
    lidar = Lidar(beams=512, range_max=6.0)
    robots = fleet([[[0.4, -0.2, 0.0], [2.1, 1.3, 0.6]]], corners=5)
    outline = np.array([[0.5, 0.0], [0.1, 0.3], [-0.4, 0.2], [-0.3, -0.3]])
    robots[1].vertices[0, 1], robots[1].radius[0, 1] = 4, 0.5
    robots[1].footprint_x[0, 1, :4], robots[1].footprint_y[0, 1, :4] = outline.T
    c, s = math.cos(0.6), math.sin(0.6)
    corners = outline @ np.array([[c, s], [-s, c]]) + [2.1, 1.3]
    twin, edge = meet(*sensor(lidar, robots), 6.0, segments=np.hstack([corners, np.roll(corners, -1, axis=0)]))
    ours = take(lidar, store([EMPTY]), robots)[0, 0]
    assert np.abs(ours - twin)[~edge].max() < 1e-5
    assert 20 < (ours < 6.0).sum() < 60


def test_a_sensor_inside_an_obstacle_reads_range_min():
    lidar, pose = Lidar(beams=24, range_min=0.05, x=0.2), [[0.3, 0.1, 0.5]]
    at = np.array([0.3 + 0.2 * math.cos(0.5), 0.1 + 0.2 * math.sin(0.5)])
    grid = np.ones((10, 12), bool)
    boxed = fleet([[pose[0], [*at, 1.0]]], corners=4)
    boxed[1].vertices[0, 1] = 4
    boxed[1].footprint_x[0, 1], boxed[1].footprint_y[0, 1] = [0.2, -0.1, -0.1, 0.2], [0.2, 0.2, -0.1, -0.1]
    cases = (
        (store([(grid, 0.1, at - 0.5)]), fleet([pose]), None),
        (store([EMPTY], discs=[(*at, 0.1)]), fleet([pose]), None),
        (store([EMPTY]), fleet([pose]), crowd(1, place=[(0, 2, *at)])),
        (store([EMPTY]), fleet([[pose[0], [*at, 0.0]]]), None),
        (store([EMPTY]), boxed, None),
    )
    for maps, robots, people in cases:
        assert np.all(take(lidar, maps, robots, people)[0, 0] == np.float32(0.05))
    near = take(Lidar(beams=24, range_min=0.5), store([EMPTY], discs=[(0.8, 0.1, 0.3)]), fleet([pose]))
    assert near.min() == 0.5


def crowded(rng, worlds, slots):
    """Four pedestrians with a gap in the middle, the same whatever the number of slots."""
    people, traits = crowd(worlds, slots, [(w, j, *rng.uniform(-4, 4, 2)) for w in range(worlds) for j in (0, 1, 9, 13)])
    people.vx[:, :14], people.heading[:, :14] = rng.uniform(0, 1, (worlds, 14)), rng.uniform(-3, 3, (worlds, 14))
    idle = ~people.active
    people.x[idle], people.y[idle], traits.radius[idle] = 0.1, -0.2, 50.0
    return people, traits


@pytest.mark.parametrize("legs", [False, True])
def test_bits_depend_on_neither_padding_nor_batch_nor_idle_slots(legs):
    grids = [(room(np.random.default_rng(3), 160, 190), 0.05, (-4.03, -4.41)), EMPTY]
    index, lidar = [1, 0, 0, 1, 0], Lidar(beams=123, legs=legs, range_max=5.0)
    robots = fleet(free_poses(np.random.default_rng(4), grids, [0] * 5, 2))
    small, large = (crowded(np.random.default_rng(5), 5, slots) for slots in (16, 64))
    whole = take(lidar, store(grids, index), robots, small)
    assert np.array_equal(whole, take(lidar, store(grids, index), robots, large))
    parts = np.full_like(whole, -1)
    part = lidar.bind(*small, *robots, store(grids, index), parts)
    part(3, 5)
    assert np.array_equal(parts[3:], whole[3:]) and np.all(parts[:3] == -1)
    part(0, 3)
    assert np.array_equal(parts, whole)
    for w in range(5):
        alone = [type(record)(*(a[w : w + 1] for a in record)) for record in (*small, *robots)]
        assert np.array_equal(take(lidar, store(grids, [index[w]]), alone[2:], alone[:2])[0], whole[w])
    assert np.unique(whole).size > 500


def test_moving_and_turning_the_scene_changes_no_range(rng):
    segments, discs = rng.uniform(-5, 5, (9, 4)), np.column_stack([rng.uniform(-5, 5, (7, 2)), np.full(7, 0.3)])
    people = [(0, j, *rng.uniform(-5, 5, 2)) for j in (0, 4, 11)]
    lidar, turn, shift = Lidar(beams=333, heading=0.2), 1.234, np.array([3.3, -8.1])
    c, s = math.cos(turn), math.sin(turn)

    def move(points):
        return np.asarray(points) @ np.array([[c, s], [-s, c]]) + shift

    before = take(lidar, store([EMPTY], [0], segments, discs), fleet([[[0.2, 0.1, 0.5]]]), crowd(1, place=people))
    after = take(
        lidar,
        store([EMPTY], [0], move(segments.reshape(-1, 2)).reshape(-1, 4), np.column_stack([move(discs[:, :2]), discs[:, 2]])),
        fleet([[[*move([0.2, 0.1]), 0.5 + turn]]]),
        crowd(1, place=[(w, j, *move([x, y])) for w, j, x, y in people]),
    )
    difference = np.sort(np.abs(before - after).ravel())
    assert difference[-4] < 1e-4  # up to three beams may touch an edge on one side only
    assert before.std() > 1


def legs_at(x, speed, heading=0.8, **fields):
    """Centres (2, 2) of the left and right leg of a pedestrian ``x`` m along its way (along, across), from their nearest points."""
    lidar = Lidar(beams=4000, angle_min=-0.6, angle_max=0.6, legs=True, range_max=50.0, **fields)
    people, traits = crowd(1, place=[(0, 2, x * math.cos(heading), x * math.sin(heading))])
    people.heading[0, 2], people.vx[0, 2], people.vy[0, 2] = heading, speed * math.cos(heading), speed * math.sin(heading)
    c, s = math.cos(heading), math.sin(heading)
    found = []
    for side in (1, -1):  # look across the way, from 3 m to the left or right: the leg of that side hides nothing of itself
        eye = np.array([people.x[0, 2] - side * 3 * s, people.y[0, 2] + side * 3 * c])
        robots = fleet([[[*eye, heading - side * math.pi / 2]]])
        ranges = take(lidar, store([EMPTY]), robots, (people, traits))[0, 0]
        k = int(np.argmin(ranges))
        _, directions = sensor(lidar, robots)
        found.append(eye + (ranges[k] + lidar.leg_radius) * directions[k] - [people.x[0, 2], people.y[0, 2]])
    return np.array(found) @ np.array([[c, -s], [s, c]])


def test_a_standing_pedestrian_has_its_legs_side_by_side():
    assert np.abs(legs_at(0.4, 0.0, leg_gap=0.24) - [[0, 0.12], [0, -0.12]]).max() < 3e-3


def test_a_foot_on_the_ground_is_where_it_was_half_a_stride_before():
    stride = 1.3
    first, second = legs_at(stride / 4, float(WALK)), legs_at(3 * stride / 4, float(WALK))
    assert np.abs(first[:, 0] - [stride / 4, -stride / 4]).max() < 0.02
    assert second[0, 0] + stride / 2 == pytest.approx(first[0, 0], abs=0.02)
    slow = legs_at(stride / 4, float(WALK) / 2)
    assert slow[0, 0] == pytest.approx(first[0, 0] / 2, abs=0.02)


def test_noise_has_the_asked_deviation_and_spares_beams_that_met_nothing():
    worlds, lidar = 40, Lidar(beams=500, range_max=10.0, noise=0.03)
    ranges = np.full((worlds, 2, 500), 4.0, np.float32)
    ranges[:, :, ::5] = 10.0
    keys = np.array([key_of("test", w, "lidar") for w in range(worlds)])
    lidar.perturb(keys, np.arange(worlds), ranges)
    errors = np.delete(ranges, np.s_[::5], axis=2) - 4.0
    assert np.all(ranges[:, :, ::5] == 10.0)
    assert abs(errors.mean()) < 4 * 0.03 / math.sqrt(errors.size)
    assert errors.std() == pytest.approx(0.03, rel=4 / math.sqrt(2 * errors.size))
    assert np.abs(np.corrcoef(errors[:, 0].ravel(), errors[:, 1].ravel())[0, 1]) < 4 / math.sqrt(errors[:, 0].size)


def test_readings_stay_between_range_min_and_range_max():
    ranges = np.tile(np.array([0.11, 9.99], np.float32), (1, 1, 400))
    Lidar(beams=800, range_min=0.1, noise=0.5).perturb(np.array([7], np.uint64), np.array([3]), ranges)
    assert ranges.min() == np.float32(0.1) and ranges.max() == 10.0


def test_beams_are_lost_as_often_as_asked():
    ranges = np.full((30, 1, 1000), 2.0, np.float32)
    Lidar(beams=1000, dropout=0.07).perturb(np.arange(30, dtype=np.uint64), np.zeros(30, int), ranges)
    lost = (ranges == 10.0).mean()
    assert set(np.unique(ranges)) == {2.0, 10.0}
    assert lost == pytest.approx(0.07, abs=4 * math.sqrt(0.07 * 0.93 / ranges.size))


def test_a_reading_is_repeated_by_key_step_robot_and_beam_alone():
    lidar = Lidar(beams=64, noise=0.1, dropout=0.1)
    keys, steps = np.array([3, 5, 3, 3], np.uint64), np.array([8, 8, 8, 9])
    ranges = np.full((4, 3, 64), 5.0, np.float32)
    lidar.perturb(keys, steps, ranges)
    assert np.array_equal(ranges[0], ranges[2])
    rows = [ranges[0, 0], ranges[0, 1], ranges[1, 0], ranges[3, 0]]
    assert all((a != b).mean() > 0.7 for i, a in enumerate(rows) for b in rows[:i])
    alone = np.full((1, 1, 64), 5.0, np.float32)
    arguments = (np.float32(v) for v in (0.1, 0.1, 0.0, 10.0))
    bind(perturb, keys[1:2], steps[1:2], *arguments, alone)(0, 1)
    assert np.array_equal(alone[0, 0], ranges[1, 0])
    lost = np.full((2, 1, 64), 5.0, np.float32)
    Lidar(beams=64, dropout=0.5).perturb(keys[:1].repeat(2), steps[2:], lost)
    assert 10 < (lost[0] != lost[1]).sum() < 54
    quiet = np.full((1, 1, 64), 5.0, np.float32)
    Lidar(beams=64).perturb(keys[:1], steps[:1], quiet)
    assert np.all(quiet == 5.0)


def test_beams_run_from_the_first_angle_to_the_last_and_a_full_turn_repeats_none():
    part, full = Lidar(beams=5, angle_min=-0.4, angle_max=0.6), Lidar(beams=8)
    assert np.allclose(part.angles, [-0.4, -0.15, 0.1, 0.35, 0.6])
    assert full.increment == pytest.approx(math.pi / 4)
    assert full.angles[-1] == pytest.approx(3 * math.pi / 4)
    rounded = Lidar(beams=8, angle_min=0.0, angle_max=6.2832)
    assert rounded.increment == 2 * math.pi / 8


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"beams": 0}, "beams"),
        ({"beams": 2.5}, "beams"),
        ({"beams": 5000}, "beams"),
        ({"angle_min": 1.0, "angle_max": 0.5}, "angle_max"),
        ({"angle_min": -4.0, "angle_max": 4.0}, "2 pi"),
        ({"angle_min": 0.0, "angle_max": 6.2834}, "2 pi"),
        ({"range_min": -0.1}, "range_min"),
        ({"range_max": 0.0}, "range_max"),
        ({"range_max": math.inf}, "range_max"),
        ({"heading": math.nan}, "heading"),
        ({"rate": 0.0}, "rate"),
        ({"noise": "low"}, "noise"),
        ({"dropout": 1.1}, "dropout"),
        ({"leg_radius": 0.0}, "leg_radius"),
    ],
)
def test_what_no_lidar_can_have_is_refused(fields, message):
    with pytest.raises(InputError, match=message):
        Lidar(**fields)


def test_a_scan_agrees_with_ir_sim(tmp_path, monkeypatch, rng):
    import logging

    monkeypatch.chdir(tmp_path)
    irsim = pytest.importorskip("irsim")
    circles = np.column_stack([rng.uniform(-6, 6, (9, 2)), rng.uniform(0.2, 0.8, 9)])
    circles = circles[np.hypot(circles[:, 0] - 0.7, circles[:, 1] + 0.4) > 1.5]
    walls = rng.uniform(-7, 7, (4, 4))
    obstacles = [f"  - {{shape: {{name: circle, radius: {r}}}, state: [{x}, {y}, 0]}}" for x, y, r in circles]
    obstacles += [
        f"  - {{shape: {{name: linestring, vertices: [[{a}, {b}], [{c}, {d}]]}}, state: [0, 0, 0]}}" for a, b, c, d in walls
    ]
    (tmp_path / "world.yaml").write_text(
        "world: {height: 20, width: 20, offset: [-10, -10]}\n"
        "robot:\n  - kinematics: {name: diff}\n    shape: {name: circle, radius: 0.2}\n    state: [0.7, -0.4, 0.9]\n"
        "    sensors: [{name: lidar2d, range_min: 0, range_max: 8, angle_range: 4.2, number: 300, offset: [0.1, 0.05, -0.3]}]\n"
        "obstacle:\n" + "\n".join(obstacles) + "\n"
    )
    level = logging.getLogger().level
    env = irsim.make(str(tmp_path / "world.yaml"), display=False, disable_all_plot=True, log_level="ERROR")
    theirs = np.asarray(env.robot.get_lidar_scan()["ranges"])
    env.end()
    logging.getLogger().setLevel(level)
    lidar = Lidar(beams=300, angle_min=-2.1, angle_max=2.1, range_max=8.0, x=0.1, y=0.05, heading=-0.3)
    robots = fleet([[[0.7, -0.4, 0.9]]])
    _, edge = meet(*sensor(lidar, robots), 8.0, circles, walls)
    difference = np.abs(take(lidar, store([EMPTY], [0], walls, circles), robots)[0, 0] - theirs)[~edge]
    assert difference.max() < 0.01  # its circles are polygons
    assert (theirs < 8.0).mean() > 0.3
