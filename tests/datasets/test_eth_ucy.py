"""ETH and UCY: hand-made scenes, and the real ones against the numbers of their README."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from agora.datasets import eth_ucy
from agora.datasets.eth_ucy import read_annotation, read_groups, read_homography, read_scene, scene_sources
from agora.errors import InputError, UnknownNameError
from agora.tasks.worlds.eth_ucy import EthUcy

VSP = """2 - the number of splines
3 - Num of control points
10.0 -20.0 25 91.9 - (2D point, m_id)
20.0 -20.0 50 96.3 - (2D point, m_id)
20.0 30.0 100 96.3 - (2D point, m_id)
2 - Num of control points
0.0 0.0 0 0.0 - (2D point, m_id)
5.0 5.0 25 0.0 - (2D point, m_id)
1 - number of line obstacles
-379.0 -300.0 380.0 -300.0 1 - left(x,y) right(x,y), type
"""
SCALE = np.diag([0.1, 0.2, 1.0])
MEAN_SPEED = {"eth": 1.38, "hotel": 1.04, "zara01": 1.11, "zara02": 0.82, "students001": 0.56, "students003": 0.71}
COUNT = {"eth": 360, "hotel": 390, "zara01": 148, "zara02": 204, "students001": 415, "students003": 434}


def test_splines_become_straight_lines_in_metres_and_seconds_and_obstacles_after_them_are_left(tmp_path):
    path = tmp_path / "annotation.vsp"
    path.write_text(VSP)
    people = read_annotation(path, SCALE, 25.0)
    assert people.id.tolist() == [1, 2]
    moment = people.at(3.0)
    np.testing.assert_allclose(moment.position[0], [2.0, 1.0])
    np.testing.assert_allclose(moment.velocity[0], [0.0, 5.0])
    assert moment.present.tolist() == [True, False]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2 - the", "3 - the", r":9: expected 4 numbers, got '-379|vsp:\d+: expected"),
        ("3 - Num", "x - Num", r":2: expected a number of splines or control points"),
        ("20.0 -20.0 50", "20.0 -20.0", r":4: expected 4 finite numbers"),
        ("20.0 -20.0 50", "20.0 -20.0 25", "the times of pedestrian 1 do not increase"),
        ("20.0 -20.0 50", "20.0 inf 50", r":4: expected 4 finite numbers"),
        (VSP, "0 - the number of splines\n", ":1: expected splines, got none"),
        (VSP, "", ":1: expected a number of splines"),
        (VSP, "1 - n\n9999999 - points\n1 1 1 1\n", ":4: expected 4 finite numbers, got ''"),
    ],
)
def test_a_broken_annotation_is_an_error_with_a_line(tmp_path, old, new, message):
    path = tmp_path / "annotation.vsp"
    path.write_text(VSP.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_annotation(path, SCALE, 25.0)


def test_groups_lose_repeated_ids_and_lines_of_one_number(tmp_path):
    path = tmp_path / "groups.txt"
    path.write_text("103\n 241 242 238 238\n \n7\t8\n")
    assert read_groups(path) == [(241, 242, 238), (7, 8)]
    path.write_text("1 2\n3 four\n")
    with pytest.raises(InputError, match=r"groups\.txt:2: expected the ids of a group, got '3 four'"):
        read_groups(path)


def test_a_homography_without_inverse_is_refused(tmp_path):
    path = tmp_path / "H.txt"
    path.write_text("1 0 0\n2 0 0\n0 0 1\n")
    with pytest.raises(InputError, match="expected an invertible"):
        read_homography(path)


def test_an_image_lands_where_its_homography_says_also_when_turned_and_off_the_origin(tmp_path):
    pixels = np.zeros((40, 70), np.uint8)
    pixels[5:12, 50:66] = 255
    Image.fromarray(pixels).save(tmp_path / "map.png")
    angle = np.radians(33.0)
    homography = np.array(
        [[0.1 * np.cos(angle), -0.1 * np.sin(angle), -7.0], [0.1 * np.sin(angle), 0.1 * np.cos(angle), 3.0], [0.0, 0.0, 1.0]]
    )
    surroundings = eth_ucy.map_of_image(tmp_path / "map.png", homography, name="crooked")
    inside = eth_ucy.project(homography, np.array([[8.0, 58.0], [5.5, 50.5], [11.0, 64.5]]))
    outside = eth_ucy.project(homography, np.array([[8.0, 40.0], [20.0, 58.0], [2.0, 58.0]]))
    beyond = eth_ucy.project(homography, np.array([[-2.0, 3.0], [41.0, 60.0]]))
    assert surroundings.occupied[surroundings.cell_of(inside)].all()
    assert not surroundings.occupied[surroundings.cell_of(outside)].any()
    assert not surroundings.unknown[surroundings.cell_of(outside)].any()
    rows, columns = surroundings.cell_of(beyond)
    held = (rows >= 0) & (columns >= 0) & (rows < surroundings.shape[0]) & (columns < surroundings.shape[1])
    assert held.any()
    assert surroundings.unknown[rows[held], columns[held]].all()
    assert surroundings.occupied.sum() * 0.05**2 == pytest.approx(7 * 16 * 0.01, rel=0.05), "the area is kept"


TURN, MOVE = np.array([[0.0, -0.8], [1.2, 0.0]]), np.array([3.0, 5.0])


def test_the_annotation_of_zara_takes_walls_and_goals_along_into_its_own_frame(crooked_zara, tmp_path):
    folder = crooked_zara(tmp_path)
    turned = read_scene("zara01", "annotation", folder=folder)
    straight = read_scene("zara01", "obsmat", folder=folder)
    assert turned.trajectories.group.tolist() == [0, 0]
    np.testing.assert_allclose(straight.destinations, [[0.0, 0.0]], atol=1e-9)
    np.testing.assert_allclose(straight.map.segments[4], [4.0, 0.0, 4.0, 2.0])
    np.testing.assert_allclose(straight.map.segments[0], [1.3, 15.66, 1.3, 17.66])
    np.testing.assert_allclose(turned.destinations @ TURN.T + MOVE, straight.destinations, atol=1e-9)
    back = (turned.map.segments.reshape(-1, 2) @ TURN.T + MOVE).reshape(-1, 4)
    np.testing.assert_allclose(back, straight.map.segments, atol=1e-9)


def test_a_scene_is_a_folder_with_the_published_files(crooked_zara, tmp_path, monkeypatch):
    folder = crooked_zara(tmp_path / "eth_ucy")
    for name in ("zara03", "square", "uni_examples"):
        (folder / name).mkdir()
        (folder / name / "annotation.vsp").write_text(VSP)
    (folder / "square" / "square.txt").write_text("0 7 1.5 2\n25 7 2.5 4\n")
    (folder / "notes").mkdir()
    twin = read_scene("zara03", folder=folder)
    assert (twin.source, twin.trajectories.id.tolist()) == ("annotation", [1, 2])
    np.testing.assert_allclose(twin.trajectories.at(3.0).position[0], [2.0, 1.0])  # by zara01's homography
    square = read_scene("square", folder=folder)
    assert square.source == "table" and scene_sources("square", folder) == ("table", "annotation")
    np.testing.assert_allclose(square.trajectories.at(0.5).velocity, [[1.0, 2.0]])
    with pytest.raises(InputError, match=r"square/annotation\.vsp: its positions are in pixels; add H\.txt"):
        read_scene("square", "annotation", folder=folder)
    with pytest.raises(UnknownNameError, match="did you mean 'square'"):
        read_scene("squares", folder=folder)
    with pytest.raises(UnknownNameError, match="notes"):
        read_scene("notes", folder=folder)
    monkeypatch.setenv("AGORA_DATA", str(tmp_path))
    assert EthUcy(scenes=("square",)).names() == ["square"]
    with pytest.raises(ValueError, match="scenes: .* did you mean 'square'"):
        EthUcy(scenes=("sqare",))


def test_a_scene_or_source_that_is_not_there_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'zara01'"):
        read_scene("zara1", folder=tmp_path)
    with pytest.raises(UnknownNameError, match="no source of scene 'students001' called 'obsmat'"):
        read_scene("students001", "obsmat", folder=tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_scene("eth", folder=tmp_path)


@pytest.mark.parametrize("text", ["<a>", "<a><Line x1='1' y1='2' x2='x' y2='3'/></a>", "<a><Line x1='1'/></a>"])
def test_a_broken_map_of_lines_is_an_input_error(crooked_zara, tmp_path, text):
    folder = crooked_zara(tmp_path)
    (folder / "zara01" / "map.xml").write_text(text)
    with pytest.raises(InputError, match=r"map\.xml"):
        read_scene("zara01", folder=folder)


@pytest.mark.data
@pytest.mark.parametrize("name", COUNT)
def test_a_scene_has_as_many_pedestrians_as_annotated_and_they_walk_as_fast(data, name):
    people = read_scene(name, folder=data / "eth_ucy").trajectories
    assert people.count == COUNT[name]
    assert people.mean_speed() == pytest.approx(MEAN_SPEED[name], abs=0.01)


@pytest.mark.data
def test_the_other_sources_have_their_own_counts_and_speeds(data):
    folder = data / "eth_ucy"
    assert read_scene("students003", "obsmat", folder=folder).trajectories.count == 428
    assert read_scene("students003", "annotation", folder=folder).trajectories.count == 434
    assert read_scene("zara01", "annotation", folder=folder).trajectories.mean_speed() == pytest.approx(1.30, abs=0.006)
    assert read_scene("zara02", "annotation", folder=folder).trajectories.mean_speed() == pytest.approx(0.95, abs=0.006)
    table = read_scene("students001", folder=folder).trajectories
    splines = read_scene("students001", "annotation", folder=folder).trajectories
    now = table.at(60.0), splines.at(60.0)
    both = now[0].present & now[1].present
    assert both.sum() > 20
    assert np.median(np.hypot(*(now[0].position - now[1].position)[both].T)) < 0.1, "students001 is in students003's metres"


@pytest.mark.data
@pytest.mark.parametrize("walls", ["image", "lines"])
@pytest.mark.parametrize("name", ["eth", "hotel"])
def test_hardly_anybody_of_eth_and_hotel_walks_through_a_wall(data, name, walls):
    scene = read_scene(name, walls=walls, folder=data / "eth_ucy")
    places = np.column_stack((scene.trajectories.knot_x, scene.trajectories.knot_y))
    assert (scene.map.gap(places, 1.0) < 0.02).mean() < 0.003
    assert scene.map.origin[0] != scene.map.origin[1]


@pytest.mark.data
def test_both_zara_scenes_share_their_building_in_the_frame_of_the_annotation(data):
    one, two = (read_scene(name, "annotation", folder=data / "eth_ucy").map.segments[:4] for name in ("zara01", "zara02"))
    np.testing.assert_allclose(one, two, atol=0.1)


@pytest.mark.data
def test_pedestrians_of_zara_stay_out_of_the_building_but_for_the_17_who_enter_it_in_zara02(data):
    for name, most in (("zara01", 0), ("zara02", 17)):
        scene = read_scene(name, folder=data / "eth_ucy")
        corner = scene.map.segments[0]
        people = scene.trajectories
        inside = (people.knot_x < corner[0]) & (people.knot_x > corner[2] + 0.05) & (people.knot_y < corner[1] - 0.05)
        inside &= people.knot_y > scene.map.segments[1, 3] + 0.05
        who = np.unique(np.searchsorted(people.first, np.flatnonzero(inside), side="right"))
        assert len(who) <= most


@pytest.mark.data
def test_members_of_a_group_walk_near_each_other(data):
    for name, source in (("eth", None), ("zara01", None), ("zara01", "annotation"), ("students003", "obsmat")):
        people = read_scene(name, source, folder=data / "eth_ucy").trajectories
        apart = []
        for group in range(people.group.max() + 1):
            members = np.flatnonzero(people.group == group)
            together = people.start[members].max(), people.end[members].min()
            if together[0] < together[1]:
                place = people.at(sum(together) / 2).position[members]
                apart.append(np.hypot(*(place - place.mean(0)).T).max())
        assert len(apart) > 25
        assert np.median(apart) < 0.8


@pytest.mark.data
def test_students_have_groups_only_with_the_ids_that_the_groups_are_written_in(data):
    folder = data / "eth_ucy"
    assert read_scene("students003", "obsmat", folder=folder).trajectories.group.max() > 80
    for name, source in (("students003", "table"), ("students003", "annotation"), ("students001", "table")):
        assert (read_scene(name, source, folder=folder).trajectories.group == -1).all()
