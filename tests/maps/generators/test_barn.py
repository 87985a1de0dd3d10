"""Barn: the automaton by hand, the share that is filled, a way from left to right, giving up."""

import numpy as np
import pytest
from tests.maps.generators.places import clear_cells, flooded, generated

from agora.errors import InputError, PlacementError
from agora.maps.generators.barn import smoothed


def by_hand(filled, passes):
    rows, columns = filled.shape
    state = {(r, c): bool(filled[r, c]) or r in (0, rows - 1) for r in range(rows) for c in range(columns)}
    for _ in range(passes):
        after = {}
        for r, c in state:
            around = 0
            for near in [(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]:
                outside = near[0] in (-1, rows) and 0 <= near[1] < columns
                around += outside or state.get(near, False)
            after[r, c] = True if around > 4 else False if around < 2 else state[r, c]
        state = after
    return np.array([[state[r, c] for c in range(columns)] for r in range(rows)])


@pytest.mark.parametrize("passes", [0, 1, 4])
def test_the_automaton_is_the_published_one(rng, passes):
    filled = rng.random((13, 22)) < 0.3
    assert (smoothed(filled, passes) == by_hand(filled, passes)).all()


def test_a_larger_share_fills_more():
    shares = [
        np.mean([generated("barn", n, fill_pct=share, passage=0.3, width=18.0, height=13.0).map.occupied.mean() for n in range(6)])
        for share in (0.0, 0.1, 0.2, 0.3)
    ]
    assert (np.diff(shares) > 0.01).all()


def test_smoothing_leaves_fewer_single_blocks():
    rough = [generated("barn", n, smooth_iter=0, fill_pct=0.12, passage=0.2) for n in range(4)]
    smooth = [generated("barn", n, smooth_iter=5, fill_pct=0.12, passage=0.2) for n in range(4)]

    def edges(place):
        grid = place.map.occupied.astype(int)
        return abs(np.diff(grid)).sum() + abs(np.diff(grid, axis=0)).sum()

    assert sum(map(edges, smooth)) < 0.6 * sum(map(edges, rough))


def test_there_is_a_way_from_left_to_right():
    for n in range(6):
        place = generated("barn", n, fill_pct=0.25, passage=0.4, cell=0.45, height=14.0)
        columns = np.flatnonzero(flooded(clear_cells(place, 0.4)).any(0)) * 0.1
        assert columns[0] < 2.0
        assert columns[-1] > 18.0


def test_blocks_have_the_size_asked_for():
    grid = generated("barn", fill_pct=0.1, smooth_iter=0, cell=0.8, passage=0.2, width=16.0, height=12.0).map.occupied[1:-1, 1:-1]
    begins = np.concatenate([np.nonzero(np.diff(part.astype(int)))[1] + 2 for part in (grid, grid.T)])
    assert (begins % 8 == 0).mean() > 0.9


def test_a_field_that_is_too_full_is_an_error_that_names_the_share_and_the_tries():
    with pytest.raises(
        PlacementError, match=r"^smooth_iter 0: a robot with a passage width of 0.5 m reaches too little of the place, in 4 tries"
    ):
        generated("barn", smooth_iter=0, tries=4)
    assert generated("barn", smooth_iter=0, fill_pct=0.05).map.occupied.any()
    assert generated("barn", smooth_iter=0, cell=1.0).map.occupied.any()
    with pytest.raises(PlacementError, match=r"^fill_pct 0.9: a robot with a passage width of 0.5 m .*, in 7 tries, in a place"):
        generated("barn", fill_pct=0.9, tries=7)


@pytest.mark.parametrize("values", [{"fill_pct": 1.2}, {"smooth_iter": -1}, {"cell": 0.01}, {"tries": 0}])
def test_values_that_make_no_sense_are_refused(values):
    with pytest.raises(InputError, match=next(iter(values))):
        generated("barn", **values)
