"""Where torso and feet have room: by shapely; and how long a motion takes: by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from shapely import affinity

from agora.core.jit import device
from agora.core.scalar import sincos
from agora.planners._roadmaps.stance import Ground, Pace, Stance, bodies, count_rough, edge_time, is_valid_stance, travel_time

CELL = 0.1
PACE = Pace(*np.float32((0.5, 0.1, 0.5)))
ANYMAL = np.array([[0.655, 0.325], [-0.655, 0.325], [-0.655, -0.325], [0.655, -0.325]], np.float32)
KITE = np.array([[0.5, 0.05], [-0.3, 0.28], [-0.35, -0.22]], np.float32)
FEET = (0.51 / 0.655, 0.2 / 0.325, 0.2 / 1.31)


@device
def _edge_time(pace, dx, dy, turn, heading):
    sine, cosine = sincos(heading)
    return edge_time(pace, dx, dy, turn, sine, cosine)


@device
def _travel_time(pace, a, b):
    return travel_time(pace, a[0], a[1], a[2], b[0], b[1], b[2])


@device
def _holds(ground, stance, x, y, heading):
    count_rough(ground.blocked, ground.foothold, ground.rough)
    sine, cosine = sincos(heading)
    return is_valid_stance(ground, stance, x, y, sine, cosine)


def stance(outline, radius, feet=FEET):
    corners, sizes = bodies(np.array(outline, np.float32).reshape(1, -1, 2), np.array([radius], np.float32), *feet)
    return Stance(corners[0, :, 0].copy(), corners[0, :, 1].copy(), *sizes[0, :5])


def ground(blocked, foothold):
    rows, columns = blocked.shape
    return Ground(blocked, foothold, np.zeros((rows + 1, columns + 1), np.int32), np.float32(CELL), np.float32(0.0))


def cells():
    """A crooked ground: 23 x 31 cells, one of a hundred blocked, three of four without foothold."""
    rng = np.random.default_rng(5)
    return tuple(np.asarray(part, np.uint8) for part in (rng.random((23, 31)) < 0.01, rng.random((23, 31)) > 0.75))


@pytest.mark.parametrize(
    ("motion", "seconds"),
    [
        ((0.3, 0.0, 0.0, 0.0), 0.6),
        ((-0.3, 0.0, 0.0, 0.0), 0.6),
        ((0.3, 0.0, 0.0, math.pi / 2), 3.0),
        ((0.0, 0.02, 0.4, 0.0), 0.8),
        ((0.3, 0.4, 0.1, math.atan2(4, 3)), 1.0),
        ((0.1, 0.1, 0.0, math.pi / 4), 0.2 * math.sqrt(2)),
    ],
    ids=["ahead", "back", "aside", "a turn", "ahead at an angle", "diagonal"],
)
def test_an_edge_takes_as_long_as_the_slowest_of_ahead_aside_and_turn(motion, seconds):
    assert _edge_time(PACE, *np.float32(motion)) == pytest.approx(seconds, abs=1e-5)


def test_a_motion_takes_as_long_as_its_pieces():
    def time(a, b):
        return _travel_time(PACE, np.float32(a), np.float32(b))

    assert time((0.3, 1, 0), (2.5, 1, 0)) == pytest.approx(4.4, abs=1e-4)
    assert time((0, 0, 3.0), (0, 0, -3.0)) == pytest.approx((2 * math.pi - 6) / 0.5, abs=1e-4)
    assert time((0, 0, 0.7), (0, 0, 0.7)) == 0.0
    turning = time((0, 0, 0), (0.2, 0, math.pi))  # in seven pieces, whose parts across cost ten times the length
    assert turning == pytest.approx(sum(max(0.2 / 7 * abs(math.sin(k * math.pi / 7)) / 0.1, math.pi / 7 / 0.5) for k in range(7)))


@pytest.mark.parametrize(("outline", "radius"), [(ANYMAL, 0.732), (KITE, 0.51), ((), 0.35)], ids=["ANYmal", "kite", "disc"])
def test_a_pose_is_valid_where_no_blocked_cell_is_in_the_torso_and_ground_in_the_box_of_each_foot(outline, radius):
    blocked, foothold = cells()
    there, robot = ground(blocked, foothold), stance(outline, radius)
    torso = shapely.Polygon(outline) if len(outline) else shapely.Point(0, 0).buffer(radius, 64)
    half = float(robot.foot_reach)
    middles = [(x * float(robot.foot_x), y * float(robot.foot_y)) for x in (1, -1) for y in (1, -1)]
    boxes = [shapely.box(x - half, y - half, x + half, y + half) for x, y in middles]
    squares = [[shapely.box(j * CELL, i * CELL, (j + 1) * CELL, (i + 1) * CELL) for j in range(31)] for i in range(23)]
    walls = shapely.union_all([squares[i][j] for i, j in np.argwhere(blocked)])
    land = shapely.union_all([squares[i][j] for i, j in np.argwhere((foothold == 1) & (blocked == 0))])
    rng, verdicts = np.random.default_rng(2), []
    for x, y, heading in rng.uniform((0, 0, -math.pi), (3.1, 2.3, math.pi), (400, 3)):

        def placed(shape, x=x, y=y, heading=heading):
            return affinity.translate(affinity.rotate(shape, heading, origin=(0, 0), use_radians=True), x, y)

        gap = placed(torso).distance(walls)
        stands = all(placed(box).distance(land) < 1e-6 for box in boxes)
        firm = all(placed(box).intersection(land).area > 1e-4 for box in boxes)
        verdict = _holds(there, robot, *np.float32((x, y, heading)))
        verdicts.append(verdict)
        if verdict:
            assert gap > -1e-6 and placed(torso).intersection(walls).area < 1e-5
            assert stands
        else:
            assert gap < 0.5 * CELL or not firm
    assert 5 < sum(verdicts) < 395


def test_a_pose_whose_middle_is_off_the_cells_is_not_valid():
    level = ground(np.zeros((20, 30), np.uint8), np.ones((20, 30), np.uint8))
    robot = stance((), 0.2, (0.0, 0.0, 0.0))
    assert _holds(level, robot, *np.float32((2.99, 1.0, 0.3)))
    assert not _holds(level, robot, *np.float32((3.01, 1.0, 0.3)))


def test_sizes_are_the_published_ones_for_the_published_torso():
    _, sizes = bodies(ANYMAL[None], np.array([0.732], np.float32), *FEET)
    radius, foot_x, foot_y, reach, extent, inside, block = sizes[0]
    assert (foot_x, foot_y, 2 * reach) == pytest.approx((0.51, 0.2, 0.2), abs=1e-6)
    assert (radius, extent) == pytest.approx((0.732, 0.732))
    assert inside == pytest.approx(0.325 / math.sqrt(2))
    assert block == pytest.approx((1.31 + 0.65) / 4)


def test_robots_of_all_shapes_are_in_one_batch_and_padding_is_about_each():
    outline = np.zeros((2, 4, 2), np.float32)
    outline[1] = ANYMAL
    corners, sizes = bodies(outline, np.array([0.3, 0.732], np.float32), *FEET, padding=0.06)
    assert not corners[0].any() and corners[1, 0] == pytest.approx([0.715, 0.385])
    assert sizes[:, 0] == pytest.approx([0.36, 0.732 + 0.06 * math.sqrt(2)])
    assert sizes[0, 6] == pytest.approx(0.36)
