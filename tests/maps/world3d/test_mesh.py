"""Meshes are closed, face outwards, stand where the solids stand, and are read back."""

from __future__ import annotations

import json
import math
import struct
from collections import Counter

import numpy as np
import pytest
from tests.places import CONCAVE, furnished, rooms, shaped, turned

from agora.errors import InputError
from agora.maps.furniture import Box, Cylinder
from agora.maps.world3d.mesh import glb, obj
from agora.maps.world3d.solids import Prism, solids
from agora.maps.world3d.triangles import SIDES, mesh, triangulate

PARTS = {
    "box": (Box(0.3, -0.4, 0.2, 1.2, 0.5, 0.9), 1.2 * 0.5 * 0.9),
    "cylinder": (Cylinder(-1.0, 2.0, 0.1, 0.4, 1.5), 0.5 * SIDES * math.sin(math.tau / SIDES) * 0.4**2 * 1.5),
    "prism": (Prism(CONCAVE, 0.0, 2.0), None),
}


def area(polygon):
    x, y = polygon.T
    return 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))


def check_closed(corners, triangles):
    """Every edge is used once in each direction, corners of the same place taken as one."""
    _, same = np.unique(np.round(corners, 5), axis=0, return_inverse=True)
    ends = same.reshape(-1)[triangles]
    edges = Counter(map(tuple, np.concatenate([ends[:, [0, 1]], ends[:, [1, 2]], ends[:, [2, 0]]]).tolist()))
    assert all(edges[b, a] == count for (a, b), count in edges.items())


def volume(corners, triangles):
    a, b, c = np.moveaxis(corners[triangles], 1, 0)
    return np.sum(np.cross(a, b) * c) / 6


@pytest.mark.parametrize("kind", PARTS)
def test_a_part_is_a_closed_surface_with_normals_outwards_and_its_volume(kind):
    part, expected = PARTS[kind]
    corners, normals, triangles = mesh(part)
    check_closed(corners, triangles)
    assert volume(corners, triangles) == pytest.approx(area(CONCAVE) * 2.0 if expected is None else expected)
    a, b, c = np.moveaxis(corners[triangles], 1, 0)
    facing = np.cross(b - a, c - a)
    for k in range(3):
        assert (np.sum(facing * normals[triangles[:, k]], axis=1) >= 0.999 * np.linalg.norm(facing, axis=1)).all()
    assert np.hypot(np.hypot(*normals.T[:2]), normals[:, 2]) == pytest.approx(1.0)
    assert corners[:, 2].min() == pytest.approx(part.z) and corners[:, 2].max() == pytest.approx(part.z + part.height)


def test_a_comb_is_cut_into_triangles_of_its_area_and_crossing_edges_are_refused():
    teeth = [[x, 2.0 if k % 2 else 0.5] for k, x in enumerate(np.linspace(6.0, 0.0, 13))]
    comb = np.array([[0.0, 0.0], [3.0, 0.0], [6.0, 0.0], *teeth])
    triangles = triangulate(comb)
    assert len(triangles) == len(comb) - 2
    parts = [area(comb[list(t)]) for t in triangles]
    assert min(parts) >= 0 and sum(parts) == pytest.approx(area(comb))
    with pytest.raises(InputError, match="cross"):
        triangulate(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 1.9]]))


def read_glb(data):
    """Meshes as (corners, normals, triangles) lists by number, and the document; checks the layout of glTF 2.0, section 4.4."""
    magic, version, size = struct.unpack_from("<4sII", data)
    assert (magic, version, size) == (b"glTF", 2, len(data))
    length, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON" and length % 4 == 0
    document = json.loads(data[20 : 20 + length])
    size, kind = struct.unpack_from("<I4s", data, 20 + length)
    assert kind == b"BIN\0" and size % 4 == 0
    binary = data[28 + length :]
    assert len(binary) == size == document["buffers"][0]["byteLength"]
    assert document["asset"]["version"] == "2.0"

    def values(number):
        entry = document["accessors"][number]
        view = document["bufferViews"][entry["bufferView"]]
        width, dtype = {("VEC3", 5126): (3, "<f4"), ("SCALAR", 5125): (1, "<u4")}[entry["type"], entry["componentType"]]
        assert view["byteOffset"] % 4 == 0 and view["byteLength"] == 4 * width * entry["count"]
        array = np.frombuffer(binary, dtype, entry["count"] * width, view["byteOffset"]).reshape(-1, width)
        if width == 3:
            assert (array.min(0).tolist(), array.max(0).tolist()) == (entry["min"], entry["max"])
        return array

    meshes = []
    for one in document["meshes"]:
        parts = []
        for primitive in one["primitives"]:
            attributes = primitive["attributes"]
            triangles = values(primitive["indices"]).reshape(-1, 3)
            corners, normals = values(attributes["POSITION"]), values(attributes["NORMAL"])
            assert triangles.max() < len(corners) == len(normals)
            assert primitive["material"] < len(document["materials"])
            parts.append((corners.astype(float), normals, triangles))
        meshes.append(parts)
    return meshes, document


def rotate(quaternion, points):
    u, w = np.array(quaternion[:3]), quaternion[3]
    return points + 2 * np.cross(u, np.cross(u, points) + w * points)


def test_a_glb_holds_closed_meshes_that_pieces_share_and_stands_with_y_up():
    place = furnished()
    meshes, document = read_glb(glb(solids(place, height=2.2)))
    nodes = {node["name"]: node for node in document["nodes"]}
    assert list(nodes) == ["floor", "cells", "chair_0", "table_0", "shelf_0", "tree_0", "chair_1"]
    assert nodes["chair_0"]["mesh"] == nodes["chair_1"]["mesh"]
    for parts in meshes:
        for corners, normals, triangles in parts:
            check_closed(corners, triangles)
            assert volume(corners, triangles) > 0
            assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0, abs=1e-6)
    walls = meshes[nodes["cells"]["mesh"]][0]
    assert volume(walls[0], walls[2]) == pytest.approx(0.01 * 2.2 * rooms().occupied.sum(), rel=1e-5)
    assert (walls[0][:, 1].min(), walls[0][:, 1].max()) == pytest.approx((0.0, 2.2))
    shelf = nodes["shelf_0"]
    corners = rotate(shelf["rotation"], meshes[shelf["mesh"]][0][0]) + shelf["translation"]
    x, y = turned(place.furniture[2], 0.9, 0.25)
    assert np.abs(corners - (x, 2.0, -y)).max(axis=1).min() < 1e-5
    assert np.linalg.norm(shelf["rotation"]) == pytest.approx(1.0)


def test_an_obj_is_read_back_to_the_corners_and_volumes_of_the_solids():
    made = solids(shaped())
    text, materials = obj(made, "den.mtl")
    defined = [line.split()[1] for line in materials.splitlines() if line.startswith("newmtl")]
    vertices, normals, objects, used = [], [], {}, []
    for words in map(str.split, text.splitlines()):
        if words[0] == "v":
            vertices.append([float(v) for v in words[1:]])
        elif words[0] == "vn":
            normals.append([float(v) for v in words[1:]])
        elif words[0] == "o":
            faces = objects.setdefault(words[1], [])
        elif words[0] == "usemtl":
            used.append(words[1])
        elif words[0] == "f":
            pairs = [tuple(map(int, word.split("//"))) for word in words[1:]]
            assert all(a == b for a, b in pairs)
            faces.append([a - 1 for a, _ in pairs])
    assert text.startswith("mtllib den.mtl\n") and set(used) == set(defined) and len(vertices) == len(normals)
    assert list(objects) == ["floor", "cells", "segment_0", "disc_0", "polygon_0"]
    corners = np.array(vertices)
    for faces in objects.values():
        check_closed(corners, np.array(faces))
        assert volume(corners, np.array(faces)) > 0
    faces = np.array(objects["polygon_0"])
    assert volume(corners, faces) == pytest.approx(area(CONCAVE) * 2.5, rel=1e-6)
    floor = corners[np.unique(objects["floor"])]
    assert np.unique(floor, axis=0).min(0) == pytest.approx([-3.2, -0.1, -10.7])
    assert np.unique(floor, axis=0).max(0) == pytest.approx([9.8, 0.0, -1.7])


def test_furniture_is_turned_in_an_obj():
    place = furnished()
    text, _ = obj(solids(place), "den.mtl")
    corners = np.array([[float(v) for v in line.split()[1:]] for line in text.splitlines() if line.startswith("v ")])
    x, y = turned(place.furniture[2], 0.9, 0.25)
    assert np.abs(corners - (x, 2.0, -y)).max(axis=1).min() < 1e-5
    normals = np.array([[float(v) for v in line.split()[1:]] for line in text.splitlines() if line.startswith("vn ")])
    assert np.abs(normals - (math.cos(2.0), 0.0, -math.sin(2.0))).max(axis=1).min() < 1e-5
