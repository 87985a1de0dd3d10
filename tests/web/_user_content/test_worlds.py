from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agora.maps.place import read_place

ROOM = {"label": "left <b>", "category": ["room", "office"], "polygon": [[[0.5, 0.5], [3.0, 0.5], [2.5, 3.3]]]}
SHELF = {"model": "shelf", "x": 3.0, "y": 3.85, "heading": 0.0}


def empty(client, name="lab", **more):
    answer = client.post("/api/worlds/empty", json={"name": name, "width": 9.0, "height": 6.0, **more})
    assert answer.status_code == 201, answer.text
    return client.get(f"/api/worlds/{name}/drawing").json()


def cells_of(drawing) -> np.ndarray:
    data = zlib.decompress(base64.b64decode(drawing["cells"]), 31)
    return np.frombuffer(data, np.uint8).reshape(drawing["rows"], drawing["columns"]).copy()


def packed(cells) -> str:
    return base64.b64encode(zlib.compress(np.asarray(cells, np.uint8).tobytes(), 6, 31)).decode()


def put(client, name, drawing, **change):
    kept = {key: drawing[key] for key in ("version", "zones", "furniture")}
    return client.put(f"/api/worlds/{name}/drawing", json=kept | change)


def agora(*words) -> subprocess.CompletedProcess:
    return subprocess.run([Path(sys.executable).with_name("agora"), *words], capture_output=True, text=True, check=False)


def test_a_world_is_drawn_and_the_command_line_reads_and_accepts_it(client, settings):
    drawing = empty(client)
    cells = cells_of(drawing)
    cells[76:78, 2:120] = 1  # a wall at y = 3.8 m, up to x = 6 m
    cells[3, 5] = 2
    saved = put(client, "lab", drawing, cells=packed(cells), zones=[ROOM], furniture=[SHELF])
    assert saved.status_code == 200, saved.text
    assert saved.json()["problems"] == [] and saved.json()["scenarios"] == []
    found = client.get("/api/worlds/lab/drawing").json()
    assert (cells_of(found) == cells).all(), "walls, also under the furniture, and what is unknown"
    assert (found["zones"], found["furniture"], found["version"]) == ([ROOM], [SHELF], saved.json()["version"])
    place = read_place(settings.worlds / "lab")
    assert place.map.gap([[3.0, 4.5], [7.0, 3.0]]).tolist() == pytest.approx([0.4, np.hypot(1.0, 0.8)]), "shelf and wall"
    assert place.zones[0].category == ("room", "office")
    shown = agora("map", "validate", f"{settings.worlds}/lab/")
    assert shown.returncode == 0 and "1 pieces of furniture, 1 zones" in shown.stdout


def test_furniture_that_is_moved_leaves_no_hole_in_the_wall_behind_it(client):
    drawing = empty(client)
    cells = cells_of(drawing)
    cells[76:78, :] = 1
    version = put(client, "lab", drawing, cells=packed(cells), furniture=[SHELF]).json()["version"]
    put(client, "lab", drawing, version=version, furniture=[])
    assert (cells_of(client.get("/api/worlds/lab/drawing").json()) == cells).all()


@pytest.mark.parametrize("world", ["hall", "hospital"])
def test_a_copy_of_shapes_keeps_them_until_a_wall_is_drawn(client, settings, world):
    client.post("/api/worlds/copy", json={"name": "mine", "of": world})
    drawing = client.get("/api/worlds/mine/drawing").json()
    before = read_place(settings.worlds / "mine").map
    kept = put(client, "mine", drawing, zones=[ROOM]).json()
    after = read_place(settings.worlds / "mine").map
    assert len(after.polygons) == len(before.polygons) and (after.segments == before.segments).all()
    put(client, "mine", drawing, version=kept["version"], cells=drawing["cells"])
    flat = read_place(settings.worlds / "mine").map
    assert not flat.has_shapes and flat.shape == before.shape
    assert flat.occupied[cells_of(drawing) == 1].all() and (flat.gap([[p["x"], p["y"]] for p in drawing["furniture"]]) == 0).all()


def test_a_generated_world_is_drawn_in(client):
    client.post(
        "/api/worlds",
        json={
            "name": "o",
            "generator": "office",
            "seed": 3,
            "parameters": {"width": 18.0, "height": 13.0, "obstacle_num": 4, "meeting_rooms": 1},
        },
    )
    drawing = client.get("/api/worlds/o/drawing").json()
    assert put(client, "o", drawing, cells=drawing["cells"], furniture=drawing["furniture"][1:]).json()["problems"] == []
    found = client.get("/api/worlds/o/drawing").json()
    assert len(found["furniture"]) == len(drawing["furniture"]) - 1 and (cells_of(found) == cells_of(drawing)).all()


def test_scenarios_of_the_world_are_looked_at_again(client):
    drawing = empty(client)
    scene = {
        "map": "lab",
        "robots": [{"start": [1, 1], "goal": [8, 1]}],
        "obstacles": {"dynamic": [{"name": "ada", "pos": [4, 3]}]},
    }
    assert client.put("/api/scenarios/s", json={"content": scene, "version": ""}).json()["problems"] == []
    cells = cells_of(drawing)
    cells[50:70, 70:90] = 1
    (told,) = put(client, "lab", drawing, cells=packed(cells)).json()["scenarios"]
    assert told["name"] == "s" and [("ada" in one["text"], one["element"]) for one in told["problems"]] == [(True, "dynamic.0")]
    refused = client.delete("/api/worlds/lab")
    assert refused.status_code == 422 and "is used by s; remove these first" in refused.json()["error"]
    client.delete("/api/scenarios/s")
    assert client.delete("/api/worlds/lab").status_code == 204 and client.get("/api/worlds/lab").status_code == 404


def test_two_who_draw_in_one_world_never_overwrite_each_other_unseen(client, settings):
    drawing = empty(client)
    mine = put(client, "lab", drawing, zones=[ROOM]).json()
    late = put(client, "lab", drawing, zones=[])
    assert late.status_code == 409 and late.json()["present"] == {"version": mine["version"]}
    assert client.get("/api/worlds/lab/drawing").json()["zones"] == [ROOM]
    assert sorted(path.name for path in (settings.worlds / "lab").iterdir()) == ["map"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cells": "no base64!"}, "expected gzip in base64"),
        ({"cells": base64.b64encode(b"no gzip").decode()}, "expected gzip in base64"),
        ({"cells": np.zeros(10)}, "expected 180 x 120 cells, got fewer"),
        ({"cells": np.zeros(10**8, np.uint8)}, "expected 180 x 120 cells, got more"),
        ({"cells": np.full((120, 180), 7)}, "expected 0 (free), 1 (wall) or 2 (unknown), got 7"),
        ({"zones": [ROOM | {"polygon": [[[0, 0], [1, 1]]]}]}, "three or more corners"),
        ({"zones": [ROOM | {"polygon": [[[0, 0], [20, 0], [3, 3]]]}]}, "partly outside the map"),
        ({"zones": [ROOM | {"category": []}]}, "category must have at least one word"),
        ({"zones": [ROOM | {"label": "a\x00b"}]}, "no control characters"),
        ({"zones": [ROOM | {"label": ""}]}, "1 to 80 characters"),
        ({"zones": 501 * [ROOM]}, "at most 500"),
        ({"furniture": [SHELF | {"model": "shelv"}]}, "did you mean 'shelf'?"),
        ({"furniture": [SHELF | {"x": 30.0}]}, "shelf is outside the map"),
        ({"furniture": [SHELF | {"size": 3}]}, "unknown key"),
        ({"version": 3}, "version"),
        ({"walls": []}, "unknown key"),
    ],
)
def test_a_drawing_that_is_wrong_is_refused_in_words_and_nothing_is_written(client, settings, change, words):
    drawing = empty(client)
    if isinstance(change.get("cells"), np.ndarray):
        change = change | {"cells": packed(change["cells"])}  # here, because a table's values are made wherever tests are collected
    answer = put(client, "lab", drawing, **change)
    assert answer.status_code == 422 and words in answer.json()["error"]
    assert client.get("/api/worlds/lab/drawing").json() == drawing
    assert sorted(path.name for path in (settings.worlds / "lab").iterdir()) == ["map"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"width": 250.0, "height": 240.0}, "the pages can edit at most"),
        ({"resolution": 0.0}, "cells of 0.01 to 1 m"),
        ({"wall": 5.0}, "leave free space inside"),
        ({"width": "x"}, "width: expected a number"),
        ({"name": "../x"}, "a name may only have letters"),
        ({"name": "hall"}, "already"),
    ],
)
def test_an_empty_world_that_cannot_be_is_refused(client, settings, fields, words):
    answer = client.post("/api/worlds/empty", json={"name": "lab"} | fields)
    assert answer.status_code == 422 and words in answer.json()["error"]
    assert not settings.worlds.exists()


def test_only_own_worlds_are_drawn_in_or_removed(client):
    for answer in (client.get("/api/worlds/hall/drawing"), client.delete("/api/worlds/hall")):
        assert answer.status_code == 422 and "not one of your worlds; edit a copy" in answer.json()["error"]
    assert client.get("/api/worlds/hal/drawing").status_code == 404


def test_a_server_that_was_killed_between_two_steps_of_saving_finishes_them(client, settings):
    drawing = empty(client)
    put(client, "lab", drawing, zones=[ROOM])
    own = settings.worlds / "lab"
    (own / "map").rename(own / ".map.next")
    assert client.get("/api/worlds/lab/drawing").json()["zones"] == [ROOM]


def test_a_drawing_that_a_killed_server_had_not_acknowledged_keeps_nobody_from_drawing(client, settings):
    put(client, "lab", empty(client), zones=[ROOM])
    kept, own = client.get("/api/worlds/lab/drawing").json(), settings.worlds / "lab"
    shutil.copytree(own / "map", own / ".map.next")
    answer = put(client, "lab", kept, zones=[])
    assert answer.status_code == 200, answer.text
    assert client.get("/api/worlds/lab/drawing").json()["zones"] == []
    assert sorted(path.name for path in own.iterdir()) == ["map"]


def test_a_full_disk_is_said_and_the_old_drawing_stays(client, settings, monkeypatch):
    drawing = empty(client)

    def full(*args, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", full)
    answer = put(client, "lab", drawing, zones=[ROOM], cells=drawing["cells"])
    assert (
        answer.status_code == 507
        and "disk of the server is full (No space left on device); nothing was saved" in answer.json()["error"]
    )
    made = client.post("/api/worlds/empty", json={"name": "more"})
    assert made.status_code == 507 and "nothing was saved" in made.json()["error"]
    assert client.get("/api/worlds/lab/drawing").json() == drawing
    assert sorted(path.name for path in settings.worlds.rglob("*") if path.is_dir()) == ["lab", "map"]


def test_a_world_goes_out_as_an_archive_and_comes_back_the_same(client, settings):
    drawing = empty(client)
    cells = cells_of(drawing)
    cells[40, 10:50] = 1
    put(client, "lab", drawing, cells=packed(cells), zones=[ROOM], furniture=[SHELF])
    data = client.get("/api/worlds/lab/file").content
    answer = client.post("/api/uploads/open", params={"file": "lab.zip", "name": "again"}, content=data)
    assert answer.status_code == 201 and answer.json()["world"] == "again", answer.text
    one, two = (client.get(f"/api/worlds/{name}/drawing").json() for name in ("lab", "again"))
    assert {key: one[key] for key in ("cells", "zones", "furniture")} == {key: two[key] for key in ("cells", "zones", "furniture")}
