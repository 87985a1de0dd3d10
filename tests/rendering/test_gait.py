"""People who walk: feet that stand stay where they are, whoever walks and however fast; looks belong to people, not to slots."""

from __future__ import annotations

import numpy as np
import pytest

from agora.core.state import SOCIAL_STATES, TYPES
from agora.rendering.gait import Moving, frames, steps, stride
from agora.rendering.meshes import library
from agora.rendering.shapes import PARTS, looks_of

NAMES = tuple(library())
WALKING, RUNNING, SITTING = (SOCIAL_STATES.index(name) for name in ("walking", "running", "sitting"))


def looks(kinds=(0, 0, 1, 2), ids=None, body=None, key=7):
    kinds, count = np.array(kinds, np.int32), len(kinds)
    ids = np.arange(3, 3 + count) if ids is None else np.array(ids)
    body = np.full(count, -1) if body is None else np.array(body)
    return looks_of(np.uint64(key), ids.astype(np.int32), kinds, body.astype(np.int32), np.full(count, 0.3), NAMES)


def moving(count, speed=0.0, phase=0.0, state=WALKING, x=0.0, heading=0.0):
    given = (np.full(count, x, float), np.full(count, 2.0), np.full(count, heading), np.full(count, speed), np.full(count, phase))
    return Moving(*given, np.full(count, state, np.int32), 1.3)


@pytest.mark.parametrize("speed", [0.2, 0.5, 0.9, 1.3, 1.8])
def test_a_foot_that_stands_stays_where_it_is(speed):
    people = looks()
    way = np.linspace(0.0, 3.0, 1500)
    here = []
    for gone in way:
        step = steps(people, np.full(4, speed), people.phase + gone / stride(people, np.full(4, speed)), np.zeros(4))
        pivot = np.where(step.up > 0.0, -0.24, 0.42) * people.foot[:, None]  # heel or ball, which touches the ground
        x, z = step.x + pivot * np.cos(step.up), step.z + pivot * np.sin(step.up)
        here.append((np.where(step.stands, x + gone, np.nan), np.where(step.stands, z, 0.0), step.up > 0.0))
    place, height, on_heel = (np.array(values) for values in zip(*here, strict=True))
    slid = np.abs(np.diff(place, axis=0))
    same = on_heel[1:] == on_heel[:-1]
    assert np.nanmax(slid[same & np.isfinite(slid)]) < 1e-6
    assert np.abs(height).max() < 1e-9


def test_the_legs_reach_their_feet_and_knees_bend_forward():
    people = looks()
    for speed, state in ((1.3, WALKING), (3.0, RUNNING), (0.0, SITTING)):
        for phase in np.linspace(0.0, 1.0, 11):
            found = frames(people, moving(4, speed, phase, state))
            for side in ("left", "right"):
                thigh, shank, foot = (found.place[:, PARTS.index(f"{part}_{side}")] for part in ("thigh", "shank", "foot"))
                assert np.linalg.norm(shank - thigh, axis=1) == pytest.approx(people.thigh)
                assert (foot[:, 2] > -1e-3).all() and (shank[:, 2] > foot[:, 2]).all() and (thigh[:, 2] > foot[:, 2]).all()


def test_strides_grow_with_the_speed_and_elders_take_shorter_ones():
    people = looks(kinds=(0, 1), ids=(4, 4))
    slow, fast = stride(people, np.full(2, 0.5)), stride(people, np.full(2, 1.5))
    assert (slow < fast).all() and fast[1] < fast[0]


def test_looks_belong_to_ids_and_episodes():
    first, turned = looks(kinds=(0, 1, 2), ids=(5, 6, 7)), looks(kinds=(2, 1, 0), ids=(7, 6, 5))
    for mine, other in zip(first, turned, strict=True):
        assert np.array_equal(mine, other[::-1])
    assert not np.array_equal(first.colour, looks(kinds=(0, 1, 2), ids=(5, 6, 7), key=8).colour)


def test_kinds_differ_as_people_do():
    people = looks(kinds=range(4), ids=(9, 9, 9, 9))
    adult, elder, child, wheelchair = people.height
    assert child < elder < adult == wheelchair
    shown = frames(people, moving(4)).shown
    assert shown[:, PARTS.index("stick")].tolist() == [TYPES[k] == "elder" for k in range(4)]
    assert shown[:, PARTS.index("chair")].tolist() == [TYPES[k] == "wheelchair" for k in range(4)]


def test_the_discs_of_a_body_are_posts():
    shown = frames(looks(kinds=(0, 0), body=(-1, 2)), moving(2)).shown
    assert shown[1].sum() == 1 and shown[1, PARTS.index("post")] and not shown[0, PARTS.index("post")]


def test_every_mesh_faces_outward():
    for name, mesh in library().items():
        if name.startswith(("torso", "thigh", "shank", "foot", "pelvis", "phone", "post")):
            a, b, c = (mesh.corners[mesh.triangles[:, k]] for k in range(3))
            assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0.0, name
