"""Trees: as many as asked for, in squares of their own."""

import numpy as np
import pytest
from tests.maps.generators.places import generated, models

from agora.errors import PlacementError


@pytest.mark.parametrize("number", [0, 1, 17])
def test_there_are_as_many_trees_as_asked_for(number):
    assert models(generated("rosmap_outdoor", obstacle_num=number, height=14.0)) == ({"tree": number} if number else {})


def test_trees_keep_their_squares():
    place = generated("rosmap_outdoor", 2, obstacle_num=9, obstacle_extra_radius=2.2, width=17.0, height=23.0)
    trees = np.array([(f.x, f.y) for f in place.furniture])
    assert np.abs(trees[:, None] - trees).max(-1)[~np.eye(9, dtype=bool)].min() >= 4.4 - 1e-9


def test_the_last_tree_that_fits_is_placed_and_one_more_is_an_error():
    size = {"width": 12.0, "height": 9.0, "obstacle_extra_radius": 1.5}
    # 12 - 0.2 of walls - 1.4 of a way leaves 10.4 m for three squares of 3 m; 7.4 m for two
    for n in range(5):
        assert models(generated("rosmap_outdoor", n, obstacle_num=6, **size))["tree"] == 6
    with pytest.raises(PlacementError, match="obstacle_num 7: there is room for only 6 trees, each in a 3.00 m square"):
        generated("rosmap_outdoor", obstacle_num=7, **size)


def test_trees_are_everywhere_alike():
    places = [generated("rosmap_outdoor", n, obstacle_num=3, resolution=0.25, width=16.0, height=12.0) for n in range(200)]
    trees = np.array([(f.x + 7.35, f.y - 4.2) for place in places for f in place.furniture])
    for axis, length in ((0, 16.0), (1, 12.0)):
        assert trees[:, axis].mean() == pytest.approx(length / 2, abs=4 * length / np.sqrt(12 * len(trees)))
