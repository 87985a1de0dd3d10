"""Meshes: glTF 2.0 (one binary ``.glb``) and Wavefront OBJ with its MTL.

Both are right-handed with y up, as glTF requires: a point (x, y, z) in the map frame, where z is up, is written as (x, z, -y).
Lengths are in metres. In glTF, each furniture model is a single mesh shared by all pieces of that model; in OBJ, each body is an
object.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np

from agora import __version__
from agora.core.state import Array, Doubles, Ints
from agora.maps.furniture import Box, Colour, Cylinder
from agora.maps.world3d.solids import FLOOR, Prism, SolidGroup, Solids
from agora.maps.world3d.triangles import mesh

_FLOAT, _UNSIGNED, _VERTICES, _INDICES = 5126, 5125, 34962, 34963  # glTF 2.0, sections 3.6.2.2 and 3.6.2.4


def y_up(points: Doubles) -> Doubles:
    """Convert points (..., 3) from the map frame to the frame of the files."""
    return np.stack([points[..., 0], points[..., 2], -points[..., 1]], axis=-1)


def floor(world: Solids) -> SolidGroup:
    """Return the ground as a body: a slab below z = 0."""
    x0, y0, x1, y1 = world.bounds
    slab = Box(0.0, 0.0, -0.1, x1 - x0, y1 - y0, 0.1, FLOOR)
    return SolidGroup("floor", (x0 + x1) / 2, (y0 + y1) / 2, 0.0, (slab,))


def _by_colour(body: SolidGroup) -> dict[Colour, tuple[Doubles, Doubles, Ints]]:
    """Return the corners, normals and triangles of a body's parts in its own frame, with z up, grouped by colour."""
    groups: dict[Colour, list[Box | Cylinder | Prism]] = {}
    for part in body.parts:
        groups.setdefault(part.colour, []).append(part)
    result = {}
    for colour, parts in groups.items():
        pieces = [mesh(part) for part in parts]
        starts = np.cumsum([0, *(len(corners) for corners, _, _ in pieces)])
        triangles = np.vstack([piece[2] + start for piece, start in zip(pieces, starts, strict=False)])
        result[colour] = np.vstack([p[0] for p in pieces]), np.vstack([p[1] for p in pieces]), triangles.astype(np.int32)
    return result


class _Gltf:
    """A glTF document under construction."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.colours: dict[Colour, int] = {}

    def accessor(self, values: Array, kind: str, component: int, target: int) -> int:
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": values.nbytes, "target": target})
        self.data += values.tobytes()
        entry = {"bufferView": len(self.views) - 1, "componentType": component, "count": len(values), "type": kind}
        if kind == "VEC3":
            entry |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def mesh(self, name: str, body: SolidGroup) -> int:
        primitives = []
        for colour, (corners, normals, triangles) in _by_colour(body).items():
            material = self.colours.setdefault(colour, len(self.colours))
            attributes = {
                "POSITION": self.accessor(y_up(corners).astype("<f4"), "VEC3", _FLOAT, _VERTICES),
                "NORMAL": self.accessor(y_up(normals).astype("<f4"), "VEC3", _FLOAT, _VERTICES),
            }
            indices = self.accessor(triangles.ravel().astype("<u4"), "SCALAR", _UNSIGNED, _INDICES)
            primitives.append({"attributes": attributes, "indices": indices, "material": material})
        self.meshes.append({"name": name, "primitives": primitives})
        return len(self.meshes) - 1


def glb(world: Solids) -> bytes:
    """Return the bytes of a binary glTF file."""
    made, nodes = _Gltf(), []
    models: dict[str, int] = {}
    for body in (floor(world), *world.bodies):
        if body.model is None:
            number = made.mesh(body.name, body)
        else:
            number = models[body.model] if body.model in models else made.mesh(body.model, body)
            models[body.model] = number
        turn = [0.0, math.sin(body.heading / 2), 0.0, math.cos(body.heading / 2)]
        nodes.append({"name": body.name, "mesh": number, "translation": [body.x, 0.0, -body.y], "rotation": turn})
    materials = [
        {"pbrMetallicRoughness": {"baseColorFactor": [*colour, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.9}}
        for colour in made.colours
    ]
    document = {
        "asset": {"version": "2.0", "generator": f"agora {__version__}"},
        "scene": 0,
        "scenes": [{"name": world.name, "nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "meshes": made.meshes,
        "materials": materials,
        "accessors": made.accessors,
        "bufferViews": made.views,
        "buffers": [{"byteLength": len(made.data)}],
    }
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    size = 12 + 8 + len(text) + 8 + len(made.data)
    head = struct.pack("<4sII", b"glTF", 2, size) + struct.pack("<I4s", len(text), b"JSON")
    return head + text + struct.pack("<I4s", len(made.data), b"BIN\0") + bytes(made.data)


def obj(world: Solids, materials: str) -> tuple[str, str]:
    """Return the texts of an OBJ file and of its MTL file, which the OBJ file refers to as ``materials``."""
    colours: dict[Colour, str] = {}
    lines, used = [f"mtllib {materials}"], 0
    for body in (floor(world), *world.bodies):
        lines.append(f"o {body.name}")
        c, s = math.cos(body.heading), math.sin(body.heading)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        for colour, (corners, normals, triangles) in _by_colour(body).items():
            lines.append(f"usemtl {colours.setdefault(colour, f'colour_{len(colours)}')}")
            lines += [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in y_up(corners @ turn + (body.x, body.y, 0.0)).tolist()]
            lines += [f"vn {x:.6g} {y:.6g} {z:.6g}" for x, y, z in y_up(normals @ turn).tolist()]
            lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in (triangles + 1 + used).tolist()]
            used += len(corners)
    shown = [f"newmtl {name}\nKd {r:g} {g:g} {b:g}\nKa 0 0 0\nKs 0 0 0\nd 1\nillum 1\n" for (r, g, b), name in colours.items()]
    return "\n".join(lines) + "\n", "\n".join(shown)
