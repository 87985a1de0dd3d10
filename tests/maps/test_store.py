"""The flat store: maps of different size side by side."""

import numpy as np
import pytest

from agora.errors import InputError
from agora.maps.grid import Map
from agora.maps.store import MapRoom, MapStore, build_store


@pytest.fixture
def four(rng):
    return [
        Map("cells", 0.1, (-1.0, 2.0), rng.random((7, 11)) < 0.2),
        Map.from_shapes(discs=[[1.0, 0.5, 0.3]], polygons=[[[2, 1], [3, 1], [2.5, 2]]], bounds=(0, -1, 4, 2), resolution=0.25),
        Map("both", 0.2, (3.0, -4.0), rng.random((13, 5)) < 0.2, segments=[[3, -4, 4, -2]], discs=[[3.5, -3, 0.2], [4, -2, 0.1]]),
        Map.open((5.0, 5.0), (8.0, 6.0), resolution=0.5),
    ]


def grid(store, values, start, m):
    rows, columns = store.rows[m], store.columns[m]
    return values[start[m] : start[m] + rows * columns].reshape(rows, columns)


def test_every_map_is_read_back_as_it_was(four):
    store = build_store(four, [3, 2, 1, 0, 0])
    assert store.index.tolist() == [3, 2, 1, 0, 0]
    assert store.index.dtype == np.int32
    for m, original in enumerate(four):
        np.testing.assert_array_equal(grid(store, store.occupied, store.start, m), original.occupied)
        np.testing.assert_array_equal(grid(store, store.distance, store.start, m), original.distance)
        np.testing.assert_array_equal(grid(store, store.clearance, store.clearance_start, m), original.clearance)
        np.testing.assert_allclose(store.segments[store.segment_start[m] : store.segment_end[m]], original.walls)
        np.testing.assert_allclose(store.discs[store.disc_start[m] : store.disc_end[m]], original.discs)
        assert (store.resolution[m], store.origin_x[m], store.origin_y[m]) == pytest.approx((original.resolution, *original.origin))


def test_polygons_are_stored_as_their_edges(four):
    store = build_store(four, [0])
    assert (store.segment_end - store.segment_start).tolist() == [0, 3, 1, 0]
    assert (store.disc_end - store.disc_start).tolist() == [0, 1, 2, 0]


def test_a_map_given_twice_is_stored_once(four):
    cells, both = four[0], four[2]
    store = build_store([both, cells, both, both], [0, 3, 1, 2])
    assert len(store.rows) == 2
    assert store.index.tolist() == [0, 0, 1, 0]


def test_the_bytes_are_those_that_are_documented(rng):
    def megabytes(maps):
        store = build_store(maps, np.zeros(1, np.int64))
        return sum(a.nbytes for a in {id(a): a for a in store}.values()) / 1e6

    occupied = np.zeros((400, 400), bool)
    occupied[0, 0] = True
    cell_count = 8 * 160_000 / 1e6
    disc = [[1.0, 1.0, 0.5]]
    assert megabytes([Map(f"{i}", 0.05, (0, 0), occupied) for i in range(8)]) == pytest.approx(5 * cell_count, rel=1e-3)
    assert megabytes([Map(f"{i}", 0.05, (0, 0), occupied, discs=disc) for i in range(8)]) == pytest.approx(9 * cell_count, rel=1e-3)
    shapes = [Map.from_shapes(discs=disc, bounds=(0, 0, 20, 20), resolution=0.05) for _ in range(8)]
    assert megabytes(shapes) == pytest.approx(4 * cell_count + 5 * cell_count / 8, rel=1e-3)
    assert 256 * 160_000 * 9 < 400e6


@pytest.mark.parametrize("index", [[2], [-1], [0.5], [[0]]])
def test_a_number_that_is_no_map_is_refused(four, index):
    with pytest.raises(InputError, match="from 0 to 1"):
        build_store(four[:2], index)


def test_a_store_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least one"):
        build_store([], [])


def test_a_map_takes_the_place_of_one_on_which_no_world_is_any_more(four):
    store = MapStore(3, MapRoom.of(four, 3))
    for world, one in enumerate(four[:3]):
        store.use(world, one)
    kept = store.arrays.index.tolist()
    store.use(1, four[0])
    assert store.arrays.index.tolist() == [kept[0], kept[0], kept[2]]
    store.use(0, four[3])
    store.use(2, four[3])
    numbers = store.arrays.index.tolist()
    assert numbers[0] == numbers[2] == kept[1] and numbers[1] == kept[0]
    for number, one in ((numbers[0], four[3]), (numbers[1], four[0])):
        np.testing.assert_array_equal(
            grid(store.arrays, store.arrays.clearance, store.arrays.clearance_start, number), one.clearance
        )
    with pytest.raises(InputError, match="all 3 slots are in use"):
        crowded = MapStore(4, MapRoom.of(four, 3))
        for world, one in enumerate(four):
            crowded.use(world, one)
