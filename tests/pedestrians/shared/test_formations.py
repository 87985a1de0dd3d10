"""Formations: where people stand about an o-space and walk in rows."""

from __future__ import annotations

import numpy as np
import pytest

from agora.errors import InputError
from agora.pedestrians.shared.formations import KINDS, formation, o_space_radius, row_place

POSE = (3.2, -1.7, 0.6)


@pytest.mark.parametrize("count", [2, 3, 4, 7, 12])
def test_members_of_a_circle_stand_on_one_ring_evenly_and_face_its_middle(count):
    position, heading = formation("circle", count, POSE)
    away = position - POSE[:2]
    assert np.hypot(*away.T) == pytest.approx([float(o_space_radius(count))] * count)
    look = np.stack((np.cos(heading), np.sin(heading)), -1)
    assert look == pytest.approx(-away / np.hypot(*away.T)[:, None])
    neighbours = np.hypot(*(position - np.roll(position, 1, axis=0)).T)
    assert neighbours == pytest.approx([neighbours[0]] * count)
    assert neighbours[0] >= 0.9 - 1e-6
    assert ((heading > -np.pi) & (heading <= np.pi)).all()


def test_the_o_space_grows_with_its_members():
    radii = [float(o_space_radius(n)) for n in range(2, 12)]
    assert radii == sorted(radii) and radii[0] == 0.75
    assert radii[-1] == pytest.approx(0.45 / np.sin(np.pi / 11))


def test_pairs_face_each_other_or_stand_at_a_right_angle_or_beside_each_other():
    gaze = {}
    for kind, angle in KINDS.items():
        position, heading = formation(kind, 2, POSE)
        apart = np.hypot(*(position[1] - position[0]))
        assert apart == pytest.approx(2 * 0.75 * np.sin(angle / 2))
        gaze[kind] = np.cos(heading[0] - heading[1])
        middle = position.mean(0) - POSE[:2]
        if kind != "face_to_face":
            assert np.arctan2(middle[1], middle[0]) == pytest.approx(POSE[2])
    assert gaze["face_to_face"] == pytest.approx(-1.0)
    assert gaze["right_angle"] == pytest.approx(0.0, abs=1e-12)
    assert gaze["side_by_side"] > 0.6


def test_formations_that_do_not_exist_are_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="face_to_face"):
        formation("face_to_fase", 2, POSE)
    with pytest.raises(InputError, match="for 2 people, not 3"):
        formation("right_angle", 3, POSE)
    with pytest.raises(InputError, match="2 or more"):
        formation("circle", 1, POSE)


def places(count, abreast=4, spacing=0.8, bend=0.25, gap=1.0):
    f = np.float32
    return np.array([row_place(k, count, abreast, f(spacing), f(bend), f(gap)) for k in range(count)])


def test_pairs_walk_abreast_and_three_and_four_in_a_v_that_opens_ahead():
    pair, three, four = places(2), places(3), places(4)
    assert pair[0, 0] == pair[1, 0] and pair[1, 1] - pair[0, 1] == pytest.approx(0.8)
    assert three[:, 1] == pytest.approx([-0.8, 0.0, 0.8])
    assert three[0, 0] == three[2, 0] == pytest.approx(three[1, 0] + 0.2)
    assert four[:, 0] == pytest.approx([0.3, 0.1, 0.1, 0.3])


@pytest.mark.parametrize("count", [1, 2, 5, 6, 9, 13])
def test_larger_groups_walk_in_rows_of_at_most_four_and_nobody_shares_a_place(count):
    where = places(count)
    rows = np.round(where[:, 0] - 0.25 * np.abs(where[:, 1])).astype(int)
    sizes = np.bincount(-rows)
    assert sizes.max() <= 4 and sizes.min() >= sizes.max() - 1 and sizes.sum() == count
    apart = np.hypot(*(where[:, None] - where).transpose(2, 0, 1)) + 9 * np.eye(count)
    assert apart.min() >= 0.5
    for row in np.unique(rows):
        assert where[rows == row, 1].mean() == pytest.approx(0.0, abs=1e-6)
