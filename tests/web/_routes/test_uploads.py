from __future__ import annotations

import asyncio
import io
import json
import stat
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest
from fastapi import HTTPException
from PIL import Image
from starlette.requests import Request

from agora.draft.scenario import read_scenario
from agora.share import folder
from agora.tasks.arena_tools import convert
from agora.web._guard import LARGEST, LARGEST_UPLOAD
from agora.web._routes.uploads import read_upload
from agora.web._user_content.scenarios import LARGEST as LARGEST_SCENARIO
from tests.tasks.test_arena_tools import FILE as OLD

SCENE = {"robots": [{"start": [1.5, 5.1], "goal": [13.2, 4.6]}], "obstacles": {"dynamic": [{"name": "ada", "pos": [6, 5.5]}]}}
SHEET = "image: lab.png\nresolution: 0.05\norigin: [-1.0, 2.0, 0.0]\n"


def bring(client, files, **more):
    asked = {"file": list(files), "size": [len(data) for data in files.values()]} | more
    return client.post("/api/uploads/open", params=asked, content=b"".join(files.values()))


def picture(width=160, height=100, kind="PNG", noise=False) -> bytes:
    pixels = np.full((height, width), 255, np.uint8)
    pixels[:2] = 0
    if noise:
        pixels[2:] = np.random.default_rng(1).integers(0, 256, (height - 2, width))
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def archive(entries, mode=None) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, data in entries:
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            if mode is not None and path.endswith("lab.png"):
                entry.external_attr = mode << 16
            packed.writestr(entry, data)
    return file.getvalue()


WORLD = [("lab/map/map.yaml", SHEET), ("lab/map/lab.png", picture()), ("lab/scenarios/one.json", json.dumps(SCENE))]


def nothing_is_kept(settings) -> bool:
    kept = [path for path in settings.folder.rglob("*") if path.is_file() and not path.name.startswith("agora.sqlite")]
    return kept == [] and not any(path.name.startswith(".") for path in settings.folder.rglob("*"))


def test_a_scenario_of_arena_tools_becomes_one_of_ours_and_each_key_is_accounted_for(client, settings, tmp_path):
    found = bring(client, {"my old.json": json.dumps(OLD).encode()}, world="hall").json()
    (name,) = found["scenarios"]
    assert name == "my-old"
    (tmp_path / "old.json").write_text(json.dumps(OLD))
    meant, own = convert(tmp_path / "old.json"), read_scenario(settings.scenarios / "my-old.json")
    assert (own.robots, own.obstacles, own.map) == (meant.robots, meant.obstacles, "hall")
    understood, dropped = ({line["key"] for line in found[part]} for part in ("understood", "dropped"))
    assert {"robot_position, robot_goal", "pedsim_agents", "map_path"} <= understood
    assert dropped == {"pedsim_agents[…].id", "pedsim_agents[…].yaml_file", "map"}


def test_keys_of_other_cases_are_read_and_strange_ones_left_out_with_words(client, settings):
    scene = {
        "Robots": SCENE["robots"],
        "obstacles": {"Dynamic": [{"name": "b", "pos": [5, 5], "Wait-Time": 3.0, "vmx": 1}]},
        "map": "hall",
    }
    found = bring(client, {"s.json": json.dumps(scene).encode()}).json()
    assert [line["key"] for line in found["understood"] if line["words"].startswith("read as")] == [
        "Robots",
        "obstacles.Dynamic",
        "obstacles.Dynamic[…].Wait-Time",
    ]
    assert found["dropped"] == [
        {"file": "s.json", "key": "obstacles.Dynamic[…].vmx", "words": "Agora has no such key; did you mean 'vmax'?"}
    ]
    assert read_scenario(settings.scenarios / "s.json").obstacles.dynamic[0].wait_time == 3.0
    assert bring(client, {"s.json": json.dumps(scene).encode()}).json()["scenarios"] == ["s-2"]


def test_a_map_and_scenarios_come_together(client, settings):
    files = {"lab.yaml": (SHEET + "Negate: 0\ncolour: red\n").encode(), "lab.png": picture(), "s.json": json.dumps(SCENE).encode()}
    found = bring(client, files).json()
    assert (found["world"], found["scenarios"]) == ("lab", ["s"])
    assert {(line["file"], line["key"]) for line in found["dropped"]} == {("lab.yaml", "colour"), ("s.json", "map")}
    assert read_scenario(settings.scenarios / "s.json").map == "lab"
    assert client.get("/api/worlds/lab").json()["size"] == [8.0, 5.0]


@pytest.mark.parametrize("name", ["hospital", "doorway"])
def test_a_world_folder_comes_as_an_archive(client, settings, name):
    place = folder("scenarios") / "worlds" / name
    entries = [(f"deep/{name}/{p.relative_to(place)}", p.read_bytes()) for p in sorted(place.rglob("*")) if p.is_file()]
    found = bring(client, {f"{name}.zip": archive([*entries, ("deep/README.md", "hello")])}, name="own").json()
    assert found["world"] == "own" and "deep/README.md" in {line["file"] for line in found["dropped"]}
    one, two = (client.get(f"/api/worlds/{world}").json() for world in (name, "own"))
    assert (one["map"], one["size"]) == (two["map"], two["size"])
    scenarios = {one["name"] for one in client.get("/api/scenarios").json() if one["world"] == "own"}
    assert scenarios == {path.stem for path in (place / "scenarios").glob("*.json")}


def test_a_map_of_arenas_former_layout_comes_as_an_archive(client):
    entries = [("maps/lab/map.yaml", SHEET), ("maps/lab/lab.png", picture()), ("maps/lab/map.world.yaml", "layers: []")]
    found = bring(client, {"lab.zip": archive(entries)}).json()
    assert found["world"] == "lab" and [line["file"] for line in found["dropped"]] == ["maps/lab/map.world.yaml"]


def test_an_image_larger_than_other_requests_may_be_is_taken(client):
    image = picture(1900, 1900, noise=True)
    assert len(image) > LARGEST
    found = bring(client, {"lab.yaml": SHEET.encode(), "lab.png": image})
    assert found.status_code == 201 and client.get("/api/worlds/lab").json()["size"] == [95.0, 95.0]


def bomb(count=70) -> bytes:
    return archive([("lab/map/map.yaml", SHEET), *((f"lab/{k}.txt", bytes(1 << 20)) for k in range(count))])


def liar() -> bytes:
    """An archive whose head says that an entry is short."""
    whole = archive([("lab/map/map.yaml", SHEET), ("lab/map/lab.png", bytes(80 << 20))])
    return whole.replace((80 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little"))


def crowd() -> bytes:
    return archive([*WORLD, *((f"lab/{k}", "") for k in range(2_000))])


def declared(width, height) -> bytes:
    """An image that says it is larger than it is."""
    whole = bytearray(picture())
    whole[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    whole[29:33] = zlib.crc32(whole[12:29]).to_bytes(4, "big")
    return bytes(whole)


ALIASES = "a: &a [x, x, x]\n" + "".join(f"b{k}: &b{k} [{', '.join(9 * [f'*b{k - 1}' if k else '*a'])}]\n" for k in range(9))
LINK = stat.S_IFLNK | 0o777


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"lab.zip": bomb}, "larger than 64 MiB when it is unpacked"),
        ({"lab.zip": liar}, "not a readable zip archive"),
        ({"lab.zip": archive([*WORLD, ("../../evil.json", "{}")])}, "points outside the archive's root folder"),
        ({"lab.zip": archive([*WORLD, ("/etc/passwd", "x")])}, "points outside the archive's root folder"),
        ({"lab.zip": archive([*WORLD, ("lab\\..\\evil", "x")])}, "points outside the archive's root folder"),
        ({"lab.zip": archive([*WORLD, ("C:/evil", "x")])}, "points outside the archive's root folder"),
        ({"lab.zip": archive(WORLD, LINK)}, "is a link or a device"),
        ({"lab.zip": crowd}, "2,003 entries; expected at most 2,000"),
        ({"lab.zip": archive([*WORLD, ("lab/<script>", "x")])}, "control characters or < >"),
        ({"lab.zip": archive([*WORLD, ("lab/a\nb", "x")])}, "control characters or < >"),
        ({"lab.zip": archive([*WORLD, ("two/map/map.yaml", SHEET)])}, "contains 2 maps"),
        ({"lab.zip": archive([("lab/readme", "x")])}, "contains no world"),
        ({"lab.zip": archive(WORLD[:1])}, "'lab.png' is not in the archive"),
        ({"lab.zip": archive([("m/map.yaml", SHEET.replace("lab.png", "../lab.png")), WORLD[1]])}, "the name of a file next to it"),
        ({"lab.zip": archive([*WORLD[:2], ("lab/scenarios/one.json", "[" * 100_000)])}, "one.json"),
        ({"lab.zip": archive([*WORLD[:2], ("lab/map/furniture.json", '[{"model": "shelv", "x": 1, "y": 3}]')])}, "'shelf'"),
        ({"lab.zip": archive([*WORLD[:2], ("lab/map/ground.npz", "x")])}, "ground.npz: not a NumPy file"),
        ({"lab.zip": b"PK\x03\x04" + bytes(40)}, "not a readable zip archive"),
        ({"lab.yaml": SHEET.encode()}, "a map consists of two files"),
        ({"lab.yaml": SHEET.encode(), "lab.png": b"GIF89a nothing"}, "not an image of a map"),
        ({"lab.yaml": SHEET.encode(), "lab.png": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"}, "not an image of a map"),
        ({"lab.yaml": SHEET.encode(), "lab.png": declared(60_000, 60_000)}, "too many pixels"),
        ({"lab.yaml": SHEET.encode(), "lab.png": declared(9_000, 9_000)}, "9000 x 9000 pixels; the pages accept maps of"),
        ({"lab.yaml": SHEET.encode(), "lab.png": picture(2_500, 2_500)}, "the pages accept maps of"),
        ({"lab.yaml": SHEET.replace("0.05", "-1.0").encode(), "lab.png": picture()}, "resolution: expected a number above 0"),
        ({"hall.yaml": SHEET.encode(), "lab.png": picture()}, "already"),
        ({"lab.yaml": SHEET.encode(), "lab.png": declared(1_600, 1_000)}, "lab.png"),
        ({"lab.yaml": ALIASES.encode(), "lab.png": picture()}, "too many values"),
        ({"lab.yaml": b"&a [*a]", "lab.png": picture()}, "refer to themselves"),
        ({"lab.yaml": b"!!python/object/apply:os.system [ls]", "lab.png": picture()}, "expected plain YAML, got the tag"),
        ({"s.json": b"[" * 500_000}, "s.json"),
        ({"s.json": b'{"robots": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"}, "s.json"),
        ({"s.json": b"{"}, "s.json:1: not valid JSON"),
        ({"s.json": b"\xff\xfe{}"}, "not UTF-8 text"),
        ({"s.json": b'{"scenarios": []}'}, "before arena-tools"),
        ({"s.json": b'{"a": 1}'}, "neither robots nor obstacles"),
        ({"s.json": json.dumps(SCENE).encode()}, "no world given; choose a world"),
        ({"s.json": json.dumps(SCENE | {"robots": [{"start": "here", "goal": [1, 2]}]}).encode()}, "robots[0].start"),
        ({"s.json": json.dumps(SCENE | {"map": "a\x07b"}).encode()}, "map: has control characters"),
        ({"s.json": b'"' + b"x" * LARGEST_SCENARIO + b'"'}, "larger than 1 MiB"),
        ({"a/b.json": b"{}"}, "characters that are not allowed in file names"),
        ({"<img src=x>.json": b"{}"}, "characters that are not allowed in file names"),
        ({"a\x00.json": b"{}"}, "characters that are not allowed in file names"),
        ({"run.exe": b"MZ\x90"}, "expected a scenario (.json), a map_server map"),
        ({"s.xml": b"<scenario/>"}, "expected a scenario (.json), a map_server map"),
    ],
)  # fmt: skip
def test_what_is_none_of_this_is_refused_in_words_and_nothing_is_kept(client, settings, files, words):
    files = {name: data() if callable(data) else data for name, data in files.items()}  # those that take long are made here
    answer = bring(client, files)
    assert answer.status_code == 422 and words in answer.json()["error"], answer.text
    assert str(settings.folder) not in answer.json()["error"] and nothing_is_kept(settings)


def test_an_encrypted_archive_and_one_of_a_rare_kind_are_refused(client, settings):
    whole = bytearray(archive(WORLD))
    for head, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        whole[whole.find(head) + at] |= 1
    assert "is encrypted" in bring(client, {"lab.zip": bytes(whole)}).json()["error"]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("lab/map/map.yaml", SHEET)
    assert "uses an unsupported compression" in bring(client, {"lab.zip": file.getvalue()}).json()["error"]
    assert nothing_is_kept(settings)


def test_markup_in_names_stays_text(client, settings):
    scene = SCENE | {"map": "hall", "obstacles": {"dynamic": [{"name": "<img src=x onerror=alert(1)>", "pos": [6, 5.5]}]}}
    assert bring(client, {"s.json": json.dumps(scene).encode()}).status_code == 201
    assert read_scenario(settings.scenarios / "s.json").obstacles.dynamic[0].name == "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize("sizes", [[3], [1, 1], [-1, 6], [5, 1]])
def test_lengths_that_are_not_those_of_the_files_are_refused(client, settings, sizes):
    asked = {"file": ["a.yaml", "b.png"], "size": sizes}
    answer = client.post("/api/uploads/open", params=asked, content=b"12345")
    assert answer.status_code == 422 and "the length of each file, 5 bytes in all" in answer.json()["error"]


def test_a_file_may_be_larger_than_other_requests_but_not_endless(client, settings):
    assert client.post("/api/worlds/empty", content=bytes(LARGEST + 1)).status_code == 413
    large = client.post("/api/uploads/open", params={"file": "x.zip"}, content=bytes(LARGEST_UPLOAD + 1))
    assert large.status_code == 413 and large.json()["error"].startswith("expected at most 32 MiB")
    assert nothing_is_kept(settings)


def test_no_more_is_read_than_a_file_may_have_whatever_its_head_says():
    told = 0

    async def receive():
        nonlocal told
        told += 1
        return {"type": "http.request", "body": bytes(1 << 20), "more_body": True}

    request = Request({"type": "http", "method": "POST", "headers": [(b"content-length", b"10")]}, receive)
    with pytest.raises(HTTPException) as refused:
        asyncio.run(read_upload(request))
    assert refused.value.status_code == 413 and told == (LARGEST_UPLOAD >> 20) + 1


LITTLE = """
import json, resource, sys
from pathlib import Path
from fastapi.testclient import TestClient
from agora.web.app import create_app
from agora.web.database import open_database
from agora.web.settings import Settings

settings = Settings(Path(sys.argv[1]))
with open_database(settings.url) as engine, TestClient(create_app(settings, engine), headers={"host": "127.0.0.1"}) as client:
    scene = {"map": "hall", "robots": []}
    kept = client.put("/api/scenarios/s", json={"content": scene, "version": ""}).json()
    resource.setrlimit(resource.RLIMIT_FSIZE, (80_000, 80_000))
    people = [{"name": f"person number {k}", "pos": [5, 5], "type": "adult"} for k in range(1_500)]
    long = scene | {"obstacles": {"dynamic": people}}
    told = [
        client.put("/api/scenarios/s", json={"content": long, "version": kept["version"]}),
        client.put("/api/uploads/policies/p", content=Path(sys.argv[2]).read_bytes()),
        client.post("/api/uploads/open", params={"file": "s2.json"}, content=json.dumps(long).encode()),
    ]
    print(json.dumps([[one.status_code, one.json()["error"]] for one in told]))
    assert client.get("/api/scenarios/s").json() == kept
"""
"""A server whose files cannot grow beyond 80 kB, which is what a full disk is to a write."""


def test_where_there_is_no_room_it_is_said_and_nothing_is_half_kept(settings):
    policy = folder("configs") / "policies" / "hall.safetensors"
    ran = subprocess.run([sys.executable, "-c", LITTLE, settings.folder, policy], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    for status, words in json.loads(ran.stdout):
        assert status == 507 and words == "the disk of the server is full (File too large); nothing was saved"
    kept = sorted(str(path.relative_to(settings.folder)) for path in settings.folder.rglob("*") if path.is_file())
    assert [path for path in kept if "sqlite" not in path] == [".editing", "scenarios/s.json"]
