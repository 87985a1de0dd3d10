"""Places are written as world folders and read back."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from tests.places import FURNITURE, furnished, shaped

from agora.errors import InputError
from agora.maps.io import read_shapes
from agora.maps.place import Place, read_place, write_place


def check_same(a: Place, b: Place) -> None:
    assert (a.map.resolution, a.map.origin, a.map.shape, a.furniture) == (b.map.resolution, b.map.origin, b.map.shape, b.furniture)
    np.testing.assert_array_equal(a.map.occupied, b.map.occupied)
    assert [(z.label, z.category) for z in a.zones] == [(z.label, z.category) for z in b.zones]
    for one, other in zip(a.zones, b.zones, strict=True):
        np.testing.assert_array_equal(one.polygons, other.polygons)


def test_cells_furniture_and_zones_come_back_as_they_were(tmp_path):
    place = furnished()
    unknown = np.zeros_like(place.map.occupied)
    unknown[5:9, 20:33] = True
    place = dataclasses.replace(place, map=dataclasses.replace(place.map, unknown=unknown))
    write_place(place, tmp_path)
    there = {path.name for path in (tmp_path / "map").iterdir()}
    assert there == {"map.yaml", "map.png", "map.world.yaml", "furniture.json", "zones.yaml"}
    read = read_place(tmp_path)
    check_same(read, place)
    np.testing.assert_array_equal(read.map.unknown, unknown)
    assert read.map.name == tmp_path.name


def test_a_map_of_shapes_comes_back_exactly_and_has_an_image_too(tmp_path):
    m = dataclasses.replace(shaped().map, occupied=np.zeros((90, 130), bool))
    write_place(Place(m), tmp_path)
    assert {path.name for path in (tmp_path / "map").iterdir()} == {"map.yaml", "map.png", "map.world.yaml", "shapes.yaml"}
    read = read_place(tmp_path).map
    assert (read.name, read.origin, read.shape) == (m.name, m.origin, m.shape)
    for ours, theirs in ((read.segments, m.segments), (read.discs, m.discs), (read.polygons[0], m.polygons[0])):
        np.testing.assert_array_equal(ours, theirs)
    (tmp_path / "map" / "shapes.yaml").unlink()
    assert read_place(tmp_path).map.occupied.sum() > 500


def test_furniture_is_added_to_the_shapes_of_a_file_and_left_out_where_it_is_written(tmp_path):
    place = furnished(exact=True)
    walls = np.array([[3.0, 2.0], [3.2, 2.0], [3.2, 5.0], [3.0, 5.0]])
    m = dataclasses.replace(place.map, occupied=np.zeros((90, 130), bool), polygons=(walls, *place.map.polygons))
    write_place(dataclasses.replace(place, map=m), tmp_path)
    assert len(read_shapes(tmp_path / "map" / "shapes.yaml").polygons) == 1
    read = read_place(tmp_path)
    assert len(read.map.polygons) == len(m.polygons) > 3 and len(read.map.discs) == len(m.discs) > 1
    for ours, theirs in zip(read.map.polygons, m.polygons, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(read.map.discs, m.discs)


def test_what_is_both_cells_and_shapes_becomes_cells(tmp_path):
    write_place(shaped(), tmp_path)
    read = read_place(tmp_path).map
    assert not read.has_shapes and not (tmp_path / "map" / "shapes.yaml").exists()
    assert read.occupied[read.cell_of([6.5, 3.6])] and read.occupied[read.cell_of([1.0, 7.0])]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"model": "chai", "x": 1.0, "y": 2.0},
            r"furniture\.json:1: \[1\]\.model: no furniture model called 'chai'; did you mean 'chair'",
        ),
        ({"model": "chair", "x": 1.0}, r"furniture\.json:\d+: \[1\]\.y: expected a number, got nothing"),
        ({"model": "chair", "x": 1.0, "y": 2.0, "angle": 1}, r"\[1\]\.angle: unknown key"),
    ],
)
def test_a_wrong_piece_of_furniture_is_named_with_file_line_and_key(tmp_path, row, message):
    write_place(furnished(), tmp_path)
    path = tmp_path / "map" / "furniture.json"
    path.write_text(json.dumps([dataclasses.asdict(FURNITURE[0]), row]))
    with pytest.raises(InputError, match=message):
        read_place(tmp_path)


def test_a_folder_without_a_map_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"not a world: expected map/map\.yaml or map/shapes\.yaml, found neither"):
        read_place(tmp_path)
