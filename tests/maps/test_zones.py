"""Zones: the file, what is wrong with one, area and points."""

import numpy as np
import pytest

from agora.errors import InputError
from agora.maps.zones import Zone, read_zones, write_zones

ARENA = """\
- label: ward 3
  category: [room, quiet]
  polygon:
    - [[-2.5, 4], [1.5, 4], [1.5, 7]]
    - [[3, 4], [5, 4], [5, 5.5], [3, 5.5]]
- {label: corridor, category: [corridor], polygon: [[[-2.5, 2], [5, 2], [5, 4], [-2.5, 4]]]}
"""


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_arenas_file_is_read_and_what_is_written_is_read_back(tmp_path):
    zones = read_zones(written(tmp_path / "zones.yaml", ARENA))
    assert [(z.label, z.category) for z in zones] == [("ward 3", ("room", "quiet")), ("corridor", ("corridor",))]
    assert [p.tolist() for p in zones[0].polygons][1] == [[3.0, 4.0], [5.0, 4.0], [5.0, 5.5], [3.0, 5.5]]
    write_zones(zones, tmp_path / "again.yaml")
    again = read_zones(tmp_path / "again.yaml")
    for one, other in zip(zones, again, strict=True):
        assert (one.label, one.category) == (other.label, other.category)
        assert all(np.array_equal(a, b) for a, b in zip(one.polygons, other.polygons, strict=True))


def test_an_area_is_that_of_all_polygons_whichever_way_round():
    corners = np.array([[-2.5, 4.0], [1.5, 4.0], [1.5, 7.0]])
    square = np.array([[100.0, 0.0], [102.0, 0.0], [102.0, 2.0], [100.0, 2.0]])
    assert Zone.of("z", "room", corners).area == pytest.approx(6.0)
    assert Zone.of("z", "room", corners[::-1], square).area == pytest.approx(10.0)


def test_points_are_in_a_zone_if_they_are_in_one_of_its_polygons(tmp_path):
    ward, _ = read_zones(written(tmp_path / "zones.yaml", ARENA))
    points = np.array([[[1.0, 4.5], [-2.0, 6.0], [4.0, 5.0]], [[2.0, 5.0], [4.9, 4.1], [9.0, 9.0]]])
    assert ward.contains(points).tolist() == [[True, False, True], [False, True, False]]
    assert ward.contains([1.0, 4.5])
    assert ward.contains(np.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("category: [room, quiet]", "category: []", 2, "category must have at least one word"),
        ("category: [room, quiet]", "category: room", 2, r"\[0\].category: expected a list, got 'room'"),
        ("label: ward 3", "lable: ward 3", 1, r"\[0\].lable: unknown key; did you mean 'label'"),
        ("[1.5, 4], [1.5, 7]", "[1.5, 4]", 4, r"polygon \[0\] must have three or more corners that enclose an area, got 2"),
        ("[1.5, 7]", "[0.5, 4]", 4, r"polygon \[0\] must have three or more corners that enclose an area"),
        ("[5, 5.5]", "[5, .nan]", 5, r"\[0\].polygon\[1\]\[2\]\[1\]: expected a finite number"),
        ("[5, 5.5]", "[5, 5.5, 0]", 5, r"\[0\].polygon\[1\]\[2\]: expected a list of 2 values, got 3"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_line_and_key(tmp_path, old, new, line, message):
    assert old in ARENA
    with pytest.raises(InputError, match=rf"zones\.yaml:{line}: .*{message}"):
        read_zones(written(tmp_path / "zones.yaml", ARENA.replace(old, new, 1)))


def test_a_file_that_is_no_list_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"zones\.yaml:1: expected a list"):
        read_zones(written(tmp_path / "zones.yaml", "zones: 3\n"))
