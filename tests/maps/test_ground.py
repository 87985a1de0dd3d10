"""Gaps and steps: what is a wall to one robot is a stride to another."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

from agora.errors import InputError
from agora.maps.exact import decode_exact, encode_exact
from agora.maps.grid import Map
from agora.maps.ground import met_by
from agora.maps.place import Place, read_place, write_place

CELL = 0.1


def place(ground, **values):
    return Map("ground", CELL, (-2.3, 4.1), np.zeros(np.shape(ground), bool), ground=np.asarray(ground, np.float32), **values)


def gap(cells, rows=14, columns=24):
    """Level ground with a gap from side to side, 8 columns from the left."""
    ground = np.zeros((rows, columns))
    ground[:, 8 : 8 + cells] = -np.inf
    return place(ground)


def unknown(map_):
    return np.zeros(map_.shape, bool) if map_.unknown is None else map_.unknown


def test_level_ground_is_the_map_itself():
    level = Map("level", CELL, (0.0, 0.0), np.eye(6, 9, dtype=bool))
    assert met_by(level, 0.1, 0.2) is level


@pytest.mark.parametrize("cells", range(1, 6))
@pytest.mark.parametrize("span", [0.0, 0.1, 0.2, 0.3, 0.45])
def test_a_gap_is_crossed_if_it_is_no_wider_than_the_span(cells, span):
    met = met_by(gap(cells), 0.0, span)
    crossed = cells * CELL <= span + 1e-6
    assert met.occupied[:, 8 : 8 + cells].any() != crossed
    assert (met.occupied[:, 8 : 8 + cells] | unknown(met)[:, 8 : 8 + cells]).all()
    assert not met.occupied[:, :8].any() and not met.occupied[:, 8 + cells :].any()
    assert met.ground is None


def test_a_hole_is_bridged_where_its_middle_is_in_reach():
    ground = np.zeros((15, 21))
    ground[5:8, 4:14] = -np.inf  # 0.3 m wide, 1 m long
    assert not met_by(place(ground), 0.0, 0.3).occupied.any()
    assert met_by(place(ground), 0.0, 0.29).occupied.sum() == 8  # the middle line, but for its ends


@pytest.mark.parametrize(
    ("height", "step", "wall", "edge"), [(0.02, 0.0, 0, 0), (0.08, 0.1, 0, 14), (0.08, 0.05, 14, 0), (0.08, 0.0, 14, 0)]
)
def test_the_upper_cell_of_an_edge_is_a_wall_to_who_cannot_step_so_high(height, step, wall, edge):
    ground = np.zeros((14, 24))
    ground[:, 11:] = height
    met = met_by(place(ground), step, 0.1)
    assert (met.occupied[:, 11].sum(), unknown(met)[:, 11].sum()) == (wall, edge)
    assert (met.occupied.sum(), unknown(met).sum()) == (wall, edge)


def test_a_ramp_has_no_edge():
    ground = np.tile(0.015 * np.arange(24), (14, 1))
    assert met_by(place(ground), 0.0, 0.0).occupied.sum() == 0


def test_a_turned_ground_is_met_turned_and_walls_stay():
    rng = np.random.default_rng(4)
    ground = np.where(rng.random((15, 22)) < 0.2, -np.inf, 0.05 * rng.integers(0, 4, (15, 22)))
    walls = rng.random((15, 22)) < 0.05
    here = met_by(replace(place(ground), occupied=walls), 0.1, 0.2)
    there = met_by(replace(place(np.rot90(ground)), occupied=np.rot90(walls)), 0.1, 0.2)
    assert np.array_equal(np.rot90(here.occupied), there.occupied) and np.array_equal(np.rot90(unknown(here)), unknown(there))
    assert here.occupied[walls].all() and not unknown(here)[walls].any()


def test_the_same_robot_meets_the_same_map():
    ground = gap(2)
    assert met_by(ground, 0.1, 0.2) is met_by(ground, 0.1, 0.2)


def test_ground_of_another_size_or_with_no_number_is_refused():
    with pytest.raises(InputError, match=r"ground of map 'g': expected \(5, 6\) cells, like occupied, got \(3, 4\)"):
        Map("g", CELL, (0.0, 0.0), np.zeros((5, 6), bool), ground=np.zeros((3, 4)))
    for value in (np.nan, np.inf):
        with pytest.raises(InputError, match=r"ground of map '.*': heights must be finite, or -inf in a gap"):
            place(np.full((5, 6), value))


def test_heights_are_in_the_files_of_a_world_and_of_a_map_that_was_kept(tmp_path):
    ground = gap(3)
    write_place(Place(ground), tmp_path)
    assert np.array_equal(read_place(tmp_path).map.ground, ground.ground)
    assert np.array_equal(decode_exact(io.BytesIO(encode_exact(ground)), "it").ground, ground.ground)
    (tmp_path / "map" / "ground.npz").write_bytes(b"no heights")
    with pytest.raises(InputError, match=r"ground\.npz: damaged, or not a file of heights with the array ground"):
        read_place(tmp_path)
