"""Placement: the clearance is kept, the distribution is uniform, everything is connected, and failing is loud."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from agora.draft.placement import component_of, place
from agora.errors import InputError, PlacementError
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners.global_.astar import AStar
from agora.seeds import Stream


def stream(seed=1):
    return Stream("tests/placement", seed, "place")


def brute_gap(m, point):
    """Distance from a point to the nearest occupied or unknown square, by looking at every one."""
    blocked = m.occupied if m.unknown is None else m.occupied | m.unknown
    centres = m.centre_of(*np.nonzero(blocked))
    beyond = np.maximum(np.abs(centres - point) - 0.5 * m.resolution, 0)
    return np.hypot(beyond[:, 0], beyond[:, 1]).min(initial=np.inf)


@pytest.mark.parametrize("resolution", [0.05, 0.4])
def test_the_clearance_is_kept_to_squares_unknown_cells_shapes_and_the_border(rng, resolution):
    shape = (int(9 / resolution), int(14 / resolution))
    occupied, unknown = rng.random(shape) < 0.01 * resolution, rng.random(shape) < 0.01 * resolution
    m = Map("mixed", resolution, (-3.0, 11.0), occupied, unknown & ~occupied, [[2, 12, 5, 15]], [[8, 14, 0.7]])
    points = place(stream(), m, 0.35, 300)
    assert points.shape == (300, 2)
    assert min(brute_gap(m, p) for p in points) >= 0.35
    assert np.hypot(*(points - [8, 14]).T).min() >= 1.05
    along = (points - [2, 12]) @ [1, 1] / math.sqrt(2)
    beside = abs((points - [2, 12]) @ [1, -1]) / math.sqrt(2)
    assert beside[(along > 0) & (along < 3 * math.sqrt(2))].min() >= 0.35
    low, high = np.array(m.origin) + 0.35, np.array(m.origin) + m.size - 0.35
    assert ((points >= low) & (points <= high)).all()
    assert m.clearance_at(points).min() >= np.float32(0.35)
    assert not m.unknown[m.cell_of(points)].any()


def test_the_clearance_is_used_up_on_every_side_alike():
    # Arena's convolution was off by half a window: touching walls on one side, far from them on the other
    occupied = np.zeros((40, 60), bool)
    occupied[[0, -1]] = True
    occupied[:, [0, -1]] = True
    m = Map("room", 0.1, (2.0, -7.0), occupied)
    points = place(stream(3), m, 0.4, 3000)
    inner = np.array([2.1, -6.9]), np.array([7.9, -3.1])
    gaps = np.concatenate([points.min(0) - inner[0], inner[1] - points.max(0)])
    assert (gaps >= 0.4).all()
    assert (gaps < 0.47).all()


def test_points_are_uniform_over_the_room_that_is_left():
    m = Map.from_shapes(discs=[[3.1, 1.2, 0.8]], bounds=(-2, -1, 6, 5), resolution=0.1)
    points = place(stream(5), m, 0.3, 6000, attempts=10)
    fine = np.stack(np.meshgrid(np.arange(-2, 6, 0.01) + 0.005, np.arange(-1, 5, 0.01) + 0.005), -1).reshape(-1, 2)
    inside = (fine > [-1.7, -0.7]).all(1) & (fine < [5.7, 4.7]).all(1) & (np.hypot(*(fine - [3.1, 1.2]).T) > 1.1)
    edges = np.linspace(-2, 6, 9), np.linspace(-1, 5, 7)
    area = np.histogram2d(*fine[inside].T, bins=edges)[0]
    counted = np.histogram2d(*points.T, bins=edges)[0]
    expected = 6000 * area / area.sum()
    assert counted[expected < 1e-9].sum() == 0
    used = expected > 15
    statistic = ((counted - expected)[used] ** 2 / expected[used]).sum()
    assert used.sum() > 35
    assert chi2.sf(statistic, used.sum() - 1) > 1e-3


def test_points_keep_their_distance_and_stay_out_of_two_zones():
    # Arena accepted a point as soon as one zone was far, so that two zones cancelled each other
    m = Map.open((10.0, -20.0), (18.0, -15.0), resolution=0.1)
    zones = [[12.0, -18.0, 1.5], [16.5, -16.0, 1.2]]
    points = place(stream(7), m, 0.2, 30, apart=0.6, keep_out=zones)
    for x, y, radius in zones:
        assert np.hypot(*(points - [x, y]).T).min() >= radius
    distances = np.linalg.norm(points[:, None] - points, axis=-1)[~np.eye(30, dtype=bool)]
    assert distances.min() >= 0.6
    assert distances.min() < 0.9


def test_a_region_is_a_polygon_or_a_box_with_corners_in_any_order():
    m = Map.open((-5.0, 30.0), (7.0, 38.0), resolution=0.25)
    triangle = np.array([[-4.0, 31.0], [3.0, 32.0], [0.0, 37.0]])
    points = place(stream(), m, 0.1, 400, region=triangle)
    for a, b in zip(triangle, np.roll(triangle, -1, axis=0), strict=True):
        assert ((b - a)[0] * (points - a)[:, 1] - (b - a)[1] * (points - a)[:, 0] >= 0).all()
    box = place(stream(), m, 0.1, 400, region=[[3.0, 34.5], [1.0, 31.2]])
    assert (box.min(0) >= [1.0, 31.2]).all()
    assert (box.max(0) <= [3.0, 34.5]).all()
    assert (np.ptp(box, axis=0) > [1.9, 3.2]).all()


def two_rooms():
    """A large and a small room with a 0.8 m door into a third."""
    return Map.from_shapes(
        segments=[[5, 0, 5, 4], [0, 4, 9, 4], [5, 4, 5, 5.0], [5, 5.8, 5, 8]], bounds=(0, 0, 9, 8), resolution=0.05, name="rooms"
    )


def test_components_are_numbered_by_size_and_depend_on_the_radius():
    m = two_rooms()
    wide, narrow = component_of(m, 0.45), component_of(m, 0.3)
    assert wide.max() == 4
    assert narrow.max() == 3
    sizes = np.bincount(wide.ravel())[1:]
    assert (np.diff(sizes) <= 0).all()
    upper = narrow[m.cell_of([[1.0, 7.0], [8.0, 7.0]])]
    assert upper[0] == upper[1] == 1
    assert wide[m.cell_of([1.0, 2.0])] == 1 + np.argmax(sizes == (wide == wide[m.cell_of([1.0, 2.0])]).sum())


def test_points_are_connected_to_each_other_and_to_what_is_asked():
    m = two_rooms()
    planner = AStar()
    points = place(stream(9), m, 0.4, 12, connected_to=[7.0, 2.0])
    assert ((points > [5, 0]).all(1) & (points < [9, 4]).all(1)).all()
    points = place(stream(9), m, 0.45, 12, passage=0.3)
    assert (points[:, 1] > 4).all()
    assert len(np.unique(points[:, 0] > 5)) == 2
    for goal in points[1:]:
        assert planner.path(PathRequest(m, np.append(points[0], np.nan), np.append(goal, np.nan), 0.3)) is not None


def test_points_are_on_one_side_of_a_wall_that_leaves_too_narrow_a_gap_to_the_border():
    """Pedestrians may squeeze through there, half off the map; robots do not."""
    m = Map.from_shapes(segments=[[4.0, 0.6, 4.0, 5.0]], bounds=(0.0, 0.0, 9.0, 5.0), resolution=0.1)
    assert component_of(m, 0.35).max() == 1 and component_of(m, 0.35, inside=True).max() == 2
    points = place(stream(3), m, 0.35, 40)
    assert (points[:, 0] > 4.0).all()  # the larger part
    assert (place(stream(3), m, 0.35, 40, connected_to=(1.0, 1.0))[:, 0] < 4.0).all()
    assert len(set(place(stream(3), m, 0.25, 40)[:, 0] > 4.0)) == 2  # where a smaller disc passes, they are on both


def test_a_diagonal_chain_of_cells_separates():
    occupied = np.eye(20, 24, 2, dtype=bool)
    m = Map("diagonal", 0.1, (1.0, 0.0), occupied)
    labels = component_of(m, 0.0)
    assert labels[15, 3] != labels[3, 15]
    points = place(stream(), m, 0.05, 40)
    assert len(np.unique(labels[m.cell_of(points)])) == 1


def test_the_same_stream_gives_the_same_points_and_another_gives_others():
    m = two_rooms()
    first, again, other = (place(stream(seed), m, 0.3, 8, apart=0.5) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first, again)
    assert not np.isclose(first, other).any()
    assert place(stream(), m, 0.3, 0).shape == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"clearance": 2.6}, "5 points with 2.6 m clearance"),
        ({"apart": 6.0}, "6 m apart"),
        ({"keep_out": [[4.5, 4.0, 9.0]]}, "outside 1 discs"),
        ({"region": [[20, 20], [30, 30]]}, "in the region"),
        ({"connected_to": [5.0, 2.0]}, "does not fit there"),
        ({"connected_to": [-50.0, 2.0]}, "does not fit there"),
    ],
)
def test_without_room_placing_fails_loudly_and_says_what_was_asked(arguments, said):
    arguments = {"clearance": 0.3, **arguments}
    with pytest.raises(PlacementError, match=said) as error:
        place(stream(), two_rooms(), arguments.pop("clearance"), 5, attempts=100, **arguments)
    assert "rooms" in str(error.value)


@pytest.mark.parametrize(
    "arguments", [{"count": -1}, {"apart": -0.1}, {"passage": 0.5}, {"clearance": math.nan}, {"region": [[0, 0]]}, {"attempts": 0}]
)
def test_arguments_that_make_no_sense_are_refused(arguments):
    with pytest.raises(InputError):
        place(stream(), two_rooms(), **{"clearance": 0.3, "count": 2, **arguments})


def test_points_that_keep_a_distance_are_the_first_that_do_so_however_many_there_are():
    m = Map.open((30.0, -70.0), (101.0, -12.0), resolution=0.25)
    drawn, kept = place(stream(9), m, 0.3, 4000), np.empty((0, 2))
    for point in drawn:
        if (np.hypot(*(kept - point).T) >= 0.45).all():
            kept = np.vstack((kept, point))
    assert 2500 < len(kept) < 3900
    assert (place(stream(9), m, 0.3, 2500, apart=0.45) == kept[:2500]).all()
