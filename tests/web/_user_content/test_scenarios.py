from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from agora.draft.scenario import read_scenario
from agora.share import folder
from agora.tasks.suite import load_suite
from agora.web._user_content.scenarios import LARGEST

LIBRARY = sorted((folder("scenarios") / "worlds").glob("*/scenarios/*.json"))
ADA, BEN = {"name": "ada", "pos": [6.1, 6.0], "with": "ben"}, {"name": "ben", "pos": [6.9, 5.4], "type": "elder"}


def scene(*people, start=(1.2, 5.0, 0.1), goal=(13.8, 4.6, -0.2), **more):
    return {"map": "hall", "robots": [{"start": list(start), "goal": list(goal)}], "obstacles": {"dynamic": list(people)}} | more


def put(client, name, content, version=""):
    return client.put(f"/api/scenarios/{name}", json={"content": content, "version": version})


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_a_copy_of_a_scenario_means_what_the_original_means(client, settings, path):
    world = path.parents[1].name
    found = client.get(f"/api/worlds/{world}/scenarios/{path.stem}").json()
    assert found["problems"] == [] and found["sentences"]
    kept = put(client, found["name"], found["content"]).json()
    own = settings.scenarios / f"{found['name']}.json"
    meant = read_scenario(path)
    assert read_scenario(own).obstacles == meant.obstacles and read_scenario(own).robots == meant.robots
    assert kept == client.get(f"/api/scenarios/{found['name']}").json()
    assert kept["content"] == found["content"] and kept["sentences"] == found["sentences"]


def test_what_is_kept_is_what_the_command_line_reads(client, settings):
    kept = put(client, "two", scene(ADA, BEN)).json()
    shown = subprocess.run(
        [Path(sys.executable).with_name("agora"), "scenario", "show", settings.scenarios / "two.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    said = [line.strip() for line in shown.stdout.splitlines()[1:]]
    assert said == [one["text"] for one in kept["sentences"]]
    assert [one["element"] for one in kept["sentences"]] == ["robots.0", "dynamic.0", "dynamic.1"]
    start = load_suite(settings.scenarios / "two.json").start("two", 0)
    assert start.names == ("ada", "ben") and start.pedestrians.talk.tolist() == [0, 0]
    (suite,) = [one for one in client.get("/api/suites").json() if one["name"] == "own/two"]
    assert suite["stages"] == [{"name": "two", "count": 1}] and Path(suite["path"]).is_file()


def test_two_editors_never_overwrite_each_other_unseen(client):
    first = put(client, "hall-2", scene(ADA, BEN)).json()
    assert put(client, "hall-2", scene()).status_code == 409, "a new one of the same name"
    mine = put(client, "hall-2", scene(BEN), first["version"]).json()
    late = put(client, "hall-2", scene(ADA | {"with": None}, BEN), first["version"])
    assert late.status_code == 409
    assert late.json()["present"] == client.get("/api/scenarios/hall-2").json() == mine
    client.delete("/api/scenarios/hall-2")
    gone = put(client, "hall-2", scene(BEN), mine["version"])
    assert gone.status_code == 409 and gone.json()["present"] == {} and "no longer exists" in gone.json()["error"]


def test_of_many_who_save_at_once_one_does(client):
    version = put(client, "busy", scene()).json()["version"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda k: put(client, "busy", scene(BEN | {"pos": [5.0 + 0.1 * k, 5.2]}), version), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + 7 * [409]
    (saved,) = [answer.json() for answer in answers if answer.status_code == 200]
    assert client.get("/api/scenarios/busy").json() == saved


@pytest.mark.parametrize(
    "name", ["..", ".", "a.b", "-rf", "a b", "%2e%2e", "a%2Fb", "..%2F..%2Fetc%2Fpasswd", "%00", "x" * 81, "ö"]
)
def test_a_name_that_could_be_a_path_is_refused_and_nothing_is_written(client, settings, name):
    answer = put(client, name, scene(BEN))
    assert answer.status_code in (404, 405, 422)
    assert list(settings.folder.rglob("*.json")) == []
    assert client.get(f"/api/scenarios/{name}").headers["content-type"] != "text/plain"


@pytest.mark.parametrize(
    ("change", "element", "words"),
    [
        (
            {"obstacles": {"dynamic": [BEN, ADA | {"state": "fone"}]}},
            "dynamic.1",
            "state: no state called 'fone'; did you mean 'phone'?",
        ),
        ({"obstacles": {"dynamic": [BEN | {"type": "elderly"}]}}, "dynamic.0", "type: no pedestrian type called 'elderly'"),
        ({"obstacles": {"dynamic": [ADA]}}, "dynamic.0", "with: no pedestrian called 'ben'"),
        (
            {"obstacles": {"dynamic": [ADA | {"with": None}, BEN | {"pos": [7.5, 7.2]}]}},
            "dynamic.1",
            "ben starts at (7.50, 7.20), inside an obstacle",
        ),
        (
            {"obstacles": {"dynamic": [BEN | {"number_of_peds": 4}, ADA | {"with": None, "pos": [-3, 2]}]}},
            "dynamic.1",
            "off the map",
        ),
        ({"obstacles": {"static": [{"name": "s", "model": "shelv", "pos": [3, 3]}]}}, "static.0", "did you mean 'shelf'?"),
        ({"robots": [{"start": [1, 5], "goal": [6.9, 7.2]}]}, "robots.0", "goal of the robot"),
        ({"robots": []}, "", "the scenario has no robot yet"),
        ({"map": "hal"}, "", "no world called 'hal'; did you mean 'hall'?"),
        ({"map": "../hall"}, "", "no world called '../hall'"),
        ({"robot": []}, "", "robot: unknown key"),
    ],
)
def test_a_problem_is_said_with_the_element_that_it_concerns(client, change, element, words):
    found = client.post("/api/scenarios/check", json={"content": scene() | change}).json()
    assert [(one["element"], words in one["text"]) for one in found["problems"]] == [(element, True)]
    assert client.get("/api/scenarios").json()[0]["origin"] != "own", "a check keeps nothing"


def test_a_sentence_of_a_group_belongs_to_its_entry(client):
    found = client.post("/api/scenarios/check", json={"content": scene(BEN | {"number_of_peds": 3}, ADA | {"with": None})}).json()
    assert [one["element"] for one in found["sentences"]] == ["robots.0", *3 * ["dynamic.0"], "dynamic.1"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "expected JSON"),
        (b"[" * 200_000, "expected JSON"),
        (b"[1]", "object with the key content"),
        (b'{"content": null, "version": ""}', "expected"),
        (b'{"content": {"robots": "all"}}', "robots: expected"),
        (b'{"content": "[1, 2", "version": ""}', "scenario"),
        (json.dumps({"content": scene(), "version": 3}).encode(), "version: expected a string"),
        (json.dumps({"content": scene(map=None)}).encode(), "no world given"),
        (json.dumps({"content": scene(BEN | {"vmax": float("nan")})}).encode(), "NaN is not a number"),
        (json.dumps({"content": scene(BEN, note="x" * LARGEST)}).encode(), "larger than 1 MiB"),
    ],
)
def test_what_is_no_scenario_is_refused_in_words_and_nothing_is_kept(client, settings, body, words):
    answer = client.put("/api/scenarios/new", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert list(settings.folder.rglob("*new*")) == []


def test_a_file_is_taken_as_its_text_and_a_key_twice_is_refused(client):
    text = json.dumps(scene(ADA, BEN))
    assert put(client, "file", text).json()["content"] == json.loads(text)
    twice = put(client, "twice", text[:-1] + ', "map": "corridor"}')
    assert twice.status_code == 422 and "map" in twice.json()["error"]


def test_a_script_in_a_name_stays_text(client):
    name = "<img src=x onerror=alert(1)>"
    found = put(client, "script", scene(BEN | {"name": name})).json()
    assert found["content"]["obstacles"]["dynamic"][0]["name"] == name
    answer = client.get("/api/scenarios/script/file")
    assert answer.headers["content-type"] == "application/json" and "attachment" in answer.headers["content-disposition"]
    assert answer.headers["x-content-type-options"] == "nosniff"


SAVES = """
import itertools, json, sys
from pathlib import Path
from agora.web._user_content.scenarios import Scenarios
from agora.web._user_content.worlds import Worlds
place, version, scene = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
own = Scenarios(place, Worlds(place.parent / "worlds"))
for number in itertools.count():
    scene["resets"] = number
    version = own.put("killed", json.dumps(scene), version)["version"]
    print(number, flush=True)
"""
"""Saves one version after another, and acknowledges each."""


@pytest.mark.parametrize("saves", [1, 7])
def test_a_server_that_is_killed_while_it_saves_loses_nothing_that_was_acknowledged(client, settings, saves):
    version = put(client, "killed", scene(ADA, BEN, resets=999)).json()["version"]
    words = [sys.executable, "-c", SAVES, settings.scenarios, version, json.dumps(scene(ADA, BEN))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as saving:
        told = [int(saving.stdout.readline()) for _ in range(saves)]
        saving.kill()
        told += map(int, saving.stdout.read().split())
    found = client.get("/api/scenarios/killed").json()
    assert found["content"]["resets"] in (told[-1], told[-1] + 1)
    assert put(client, "killed", scene(BEN), found["version"]).status_code == 200


def test_a_full_disk_is_said_and_the_old_version_stays(client, settings, monkeypatch):
    kept = put(client, "full", scene(ADA, BEN)).json()

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    answer = put(client, "full", scene(BEN), kept["version"])
    assert answer.status_code == 507 and "No space left" in answer.json()["error"]
    assert client.get("/api/scenarios/full").json() == kept
    assert [path.name for path in settings.scenarios.iterdir()] == ["full.json"]


@pytest.mark.parametrize("suite", ["own/nothing", "own/../x", "/etc/passwd", "results/x.json", "x.yaml"])
def test_a_run_and_a_live_episode_take_names_and_no_paths(client, suite):
    for address, form in (("/api/runs", {"suite": suite, "planners": ["go_to_goal"]}), ("/api/live", {"suite": suite})):
        answer = client.post(address, json=form)
        assert answer.status_code == 422 and answer.json()["error"]


def test_a_run_of_an_own_scenario_is_asked_for_by_its_name(client):
    put(client, "mine", scene(ADA, BEN))
    run = client.post("/api/runs", json={"suite": "own/mine", "planners": ["go_to_goal"], "control": False}).json()
    assert (run["title"], run["form"]["suite"]) == ("mine: go_to_goal", "own/mine")


def test_a_world_is_looked_at_made_and_lived_in(client, settings):
    asked = {"generator": "office", "parameters": {"width": 18.0, "height": 13.0, "obstacle_num": 4, "meeting_rooms": 1}, "seed": 3}
    seen = client.post("/api/worlds/preview", json=asked).json()
    assert seen["size"] == [18.0, 13.0] and not settings.worlds.exists()
    made = client.post("/api/worlds", json=asked | {"name": "office-3"}).json()
    assert made["size"] == seen["size"] and (made["name"], made["origin"]) == ("office-3", "own")
    assert client.post("/api/worlds", json=asked | {"name": "office-3"}).status_code == 422
    assert client.post("/api/worlds", json=asked | {"name": "hall"}).status_code == 422
    assert client.post("/api/worlds", json=asked | {"name": "../x"}).status_code == 422
    put(client, "at-work", scene(map="office-3", start=(1.0, 1.0, 0.0), goal=(1.5, 1.5, 0.0)))
    assert load_suite(settings.scenarios / "at-work.json").start("at-work", 0).map.size == (18.0, 13.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"generator": "offic"}, "did you mean 'office'?"),
        ({"parameters": {"widht": 3.0}}, "did you mean 'width'?"),
        ({"parameters": {"width": 250.0, "height": 240.0, "resolution": 0.1}}, "the pages can generate at most"),
        ({"parameters": {"obstacle_num": 50_000}}, "at most 1000"),
        ({"parameters": []}, "parameters: expected names and values"),
        ({"seed": -1}, "seed: expected an integer of at least 0"),
        ({"seed": True}, "seed: expected an integer"),
    ],
)
def test_a_world_that_cannot_be_is_refused_kindly(client, change, words):
    answer = client.post("/api/worlds/preview", json={"generator": "office", "parameters": {}, "seed": 0} | change)
    assert answer.status_code == 422
    assert words in answer.json()["error"]


def picture(width: int, height: int) -> bytes:
    file, image = io.BytesIO(), Image.new("L", (width, height), 255)
    image.paste(0, (0, 0, width, 2))
    image.save(file, "png")
    return file.getvalue()


def test_a_map_of_map_server_becomes_a_world(client, settings):
    sheet, image = b"image: floor.png\nresolution: 0.05\norigin: [-3.0, 2.0, 0.0]\nnegate: 0\n", picture(160, 100)
    asked = {"file": ["lab.yaml", "floor.png"], "size": [len(sheet), len(image)]}
    assert client.post("/api/uploads/open", params=asked, content=sheet + image).json()["world"] == "lab"
    made = client.get("/api/worlds/lab").json()
    assert (made["size"], made["resolution"]) == ([8.0, 5.0], 0.05)
    assert made["map"]["extent"] == pytest.approx([-3.0, 6.9, 5.0, 7.0])
    kept = put(client, "in-the-lab", scene(map="lab", start=(-2.0, 3.0, 0.0), goal=(3.5, 4.0, 0.0))).json()
    assert kept["problems"] == [], kept
    assert load_suite(settings.scenarios / "in-the-lab.json").start("in-the-lab", 0).map.size == (8.0, 5.0)
