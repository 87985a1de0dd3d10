from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agora.benchmark.results.audit import audit_run
from agora.errors import InputError
from agora.share import folder
from agora.tasks.suite import load_suite
from agora.web._catalogue import component
from agora.web._live.previews import Previews
from agora.web._runs.queue import RunQueue
from agora.web._user_content.suite_text import parse_content, rewrite
from agora.web._user_content.suites import LARGEST
from agora.web.database import open_database
from tests.web._runs.test_worker import worked_on

LIBRARY = sorted((folder("configs") / "benchmark").glob("*.yaml"))
HALL = {"name": "quiet", "episodes": 2, "world": {"name": "folder", "path": "hall"}}
SCENE = {"map": "hall", "robots": [{"start": [1.2, 5.0, 0.1], "goal": [4.0, 4.6]}]}


def stage(**keys):
    return HALL | keys


def suite(*stages, **keys):
    return {"stages": list(stages or (HALL,)), **keys}


def put(client, name, content, version=""):
    return client.put(f"/api/suites/own/{name}", json={"content": content, "version": version})


def problems(client, content):
    return client.post("/api/suites/check", json={"name": "mine", "content": content}).json()["problems"]


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_a_copy_of_a_suite_of_the_library_keeps_its_content_and_comments(path):
    text = path.read_text(encoding="utf-8")
    copy = rewrite(text, parse_content(text, "suite") | {"name": "copy"})
    assert parse_content(copy, "copy") == parse_content(text, "suite") | {"name": "copy"}
    assert [line for line in copy.splitlines() if "#" in line] == [line for line in text.splitlines() if "#" in line]
    assert rewrite(text, parse_content(text, "suite")) == text


def test_an_own_suite_runs_from_the_page_and_from_the_command_line_with_the_same_rows(client, settings, tmp_path):
    client.post("/api/worlds", json={"name": "mine", "generator": "corridor", "parameters": {}, "seed": 3}).raise_for_status()
    client.put("/api/scenarios/alone", json={"content": SCENE, "version": ""}).raise_for_status()
    own = stage(name="own", world={"name": "folder", "path": "mine"}, obstacles={"name": "random", "dynamic": [1, 1]})
    drawn = {
        "name": "drawn",
        "world": {"name": "folder", "path": "hall", "scenarios": ["own/alone"]},
        "robots": "scenario",
        "obstacles": "scenario",
    }
    assert put(client, "both", suite(own, drawn)).json()["problems"] == []
    (listed,) = [one for one in client.get("/api/suites").json() if one["name"] == "own/both"]
    assert listed["stages"] == [{"name": "own", "count": 2}, {"name": "drawn", "count": 1}] and listed["kind"] == "suite"
    form = {"suite": "own/both", "planners": ["go_to_goal"], "workers": 1, "control": False}
    run = client.post("/api/runs", json=form).json()
    with open_database(settings.url) as engine:
        worked_on(settings, lambda: RunQueue(engine).run(run["id"]).state not in ("queued", "running"))
        assert RunQueue(engine).run(run["id"]).message == ""
    words = ["bench", "suites/both.yaml", "--planner", "go_to_goal", "--no-control", "--output", tmp_path / "typed"]
    subprocess.run([Path(sys.executable).with_name("agora"), *words], cwd=settings.folder, check=True, capture_output=True)
    shown, typed = (
        {row["key"]: {k: v for k, v in row.items() if "planning" not in k} for row in audit_run(place).rows}
        for place in (settings.runs / run["id"], tmp_path / "typed")
    )
    assert shown == typed and sorted(shown) == [f"both/{name}/go_to_goal/0" for name in ("drawn/0", "own/0", "own/1")]


def test_what_is_left_out_has_its_default_and_the_name_of_the_file_is_the_name_of_the_suite(client, settings):
    kept = put(client, "mine", suite(name="demo", description="<script>alert(1)</script>")).json()
    assert kept["content"]["name"] == "mine" and kept["stages"] == [{"name": "quiet", "count": 2}]
    text = (settings.folder / "suites" / "mine.yaml").read_text(encoding="utf-8")
    assert text == kept["text"] and "world: {name: folder, path: hall}" in text and "timeout" not in text
    assert load_suite(settings.folder / "suites" / "mine.yaml").description == "<script>alert(1)</script>"
    got = client.get("/api/suites/own/mine/file")
    assert (got.text, "attachment" in got.headers["content-disposition"]) == (text, True)


def test_comments_of_a_file_stay_where_what_they_stand_at_does(client):
    text = "# mine\nname: x\nstages:\n  - name: one  # the first\n    world: {name: folder, path: hall}  # large\n    episodes: 3\n"
    kept = put(client, "mine", text).json()
    assert "# mine" in kept["text"] and "name: mine" in kept["text"]
    one = kept["content"]["stages"][0]
    changed = put(client, "mine", suite(stage(name="zero"), one | {"episodes": 4}, name="mine"), kept["version"]).json()
    assert "- name: one  # the first" in changed["text"] and "hall}  # large" in changed["text"]
    assert [entry["name"] for entry in changed["stages"]] == ["zero", "one"]


def test_two_editors_never_overwrite_each_other_unseen(client):
    first = put(client, "mine", suite()).json()
    with ThreadPoolExecutor(6) as pool:
        many = [pool.submit(put, client, "mine", suite(stage(episodes=k + 3)), first["version"]) for k in range(6)]
    assert sorted(one.result().status_code for one in many) == [200] + 5 * [409]
    late = put(client, "mine", suite(), first["version"])
    assert late.json()["present"] == client.get("/api/suites/own/mine").json()
    client.delete("/api/suites/own/mine")
    assert put(client, "mine", suite(), first["version"]).json()["present"] == {}
    assert client.get("/api/suites/own/mine").status_code == 404


def test_a_suite_and_a_scenario_never_share_a_name(client, settings):
    client.put("/api/scenarios/taken", json={"content": SCENE, "version": ""})
    refused = put(client, "taken", suite())
    assert refused.status_code == 409 and "a scenario of this name already exists" in refused.json()["error"]
    put(client, "mine", suite())
    back = client.put("/api/scenarios/mine", json={"content": SCENE, "version": ""})
    assert back.status_code == 409 and "a suite of this name already exists" in back.json()["error"]
    (settings.folder / "suites" / "taken.yaml").write_bytes((settings.folder / "suites" / "mine.yaml").read_bytes())
    asked = client.post("/api/runs", json={"suite": "own/taken", "planners": ["orca"]})
    assert asked.status_code == 422 and "names both a suite and a scenario" in asked.json()["error"]
    missing = client.post("/api/runs", json={"suite": "own/tacken", "planners": ["orca"]})
    assert "did you mean 'taken'?" in missing.json()["error"]


@pytest.mark.parametrize(
    ("content", "key", "words"),
    [
        (suite(stage(episods=3)), "stages[0].episods", "unknown key; did you mean 'episodes'?"),
        (suite(stage(crowd={"model": "orka"})), "stages[0].crowd.model", "did you mean 'orca'?"),
        (suite(HALL, stage(name="b", timeout=-4)), "stages[1].timeout", "expected a number in (0, 36000]"),
        (suite(stage(world={"name": "folder", "path": "hal"})), "stages[0].world.path", "did you mean 'hall'?"),
        (suite(stage(robot="jackel")), "stages[0].robot", "did you mean 'jackal'?"),
        (suite(HALL, HALL), "stages", "stages must have different names"),
        (suite() | {"stages": []}, "stages", "at least one stage"),
        (suite(stage(name="<img src=x>/y")), "stages[0].name", "'<img src=x>/y'"),
        (
            suite(stage(crowd={"people": {"speed": 1.0, "speed_deviation": 0.9}})),
            "stages[0].crowd.people.speed_deviation",
            "speed / 2",
        ),
        (
            suite(stage(world={"name": "folder", "path": "../../etc"})),
            "stages[0].world.path",
            "the pages accept only names, not paths",
        ),
        (
            suite(stage(world={"name": "folder", "path": "hall", "scenarios": ["own/../x"]})),
            "stages[0].world.scenarios",
            "the pages accept only names, not paths",
        ),
        (
            suite(stage(world={"name": "folder", "path": "hall", "scenarios": ["own/nobody"]})),
            "stages[0].world.scenarios",
            "you have no scenario called 'nobody'",
        ),
        (
            suite(stage(robots={"name": "guided", "file": "/etc/passwd"})),
            "stages[0].robots.file",
            "the pages accept only names, not paths",
        ),
        ({"stages": 3}, "stages", "expected a list, got 3"),
        ([], "", "expected a mapping with the keys of a suite"),
    ],
)
def test_what_is_wrong_is_told_at_its_key_and_nothing_is_written(client, settings, content, key, words):
    found = problems(client, content)
    assert [one["key"] for one in found] == [key] and words in found[0]["text"]
    assert put(client, "mine", content).status_code == 422
    assert list((settings.folder).rglob("*.yaml")) == []


def test_a_scenario_of_another_world_is_refused(client):
    client.put("/api/scenarios/alone", json={"content": SCENE, "version": ""})
    found = problems(client, suite(stage(world={"name": "folder", "path": "corridor", "scenarios": ["own/alone"]})))
    assert found[0]["text"] == "own/alone belongs to the world 'hall', not to 'corridor'"


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join(['*' + a] * 10)}]\n" for a, b in zip("abcdef", "bcdefg", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "too many values"),
        ("description: &d '" + "x" * 100_000 + "'\nstages: [*d, *d, *d]\n", "with its aliases expanded"),
        ("name: x\nstages:\n  - name: a\n    world: open\n    wrold: open\n", "suite:5: stages[0].wrold: unknown key"),
        ("!!python/object/apply:os.system ['touch /tmp/x']", "tag"),
        ("just words", "expected"),
        ("{" * 5000, "nested too deeply"),
        ("# " + "x" * LARGEST, "larger than 256 KiB"),
        ("name: x\nname: y\nstages: []\n", "this key occurs twice"),
        ("\0\0\0", "not valid YAML"),
        ("", "empty file"),
    ],
)
def test_a_file_that_is_none_of_a_suite_is_refused_with_its_line_and_nothing_is_written(client, settings, text, words):
    refused = put(client, "mine", text)
    assert refused.status_code == 422 and words in refused.json()["error"]
    assert list(settings.folder.rglob("*.yaml*")) == []


@pytest.mark.parametrize("name", ["..", "a.b", "-rf", "a b", "..%2F..%2Fetc", "x" * 81, "ö", "%00"])
def test_a_name_that_could_be_a_path_is_refused(client, settings, name):
    assert put(client, name, suite()).status_code in (404, 405, 422)
    assert list(settings.folder.rglob("*.yaml")) == []


def test_an_episode_is_shown_as_the_run_will_begin_it(client, settings):
    crowded = stage(name="crowd", obstacles={"name": "random", "dynamic": [1, 1]})
    content = put(client, "mine", suite(stage(), crowded)).json()["content"]
    ask = {"content": content, "stage": "crowd", "episode": 3}
    seen = client.post("/api/suites/preview", json=ask).json()
    start = load_suite(settings.folder / "suites" / "mine.yaml").start("crowd", 1)
    assert (seen["episode"], seen["count"], seen["later"], len(seen["people"])) == (1, 2, 0, 1)
    assert seen["robots"] == [pytest.approx(start.robots[0].pose, abs=1e-3)]
    assert [seen["people"][0]["x"], seen["people"][0]["y"]] == pytest.approx(start.pedestrians.position[0], abs=1e-3)
    assert seen["scene"]["map"]["segments"] or seen["scene"]["map"]["polygons"]
    nobody = client.post("/api/suites/preview", json=ask | {"stage": "quiet"}).json()
    assert (nobody["people"], nobody["ways"]) == ([], [])
    moving = stage(world="dynabarn_arena", robots="scenario", obstacles={"name": "motion_profiles", "count": [5, 5]})
    recorded = client.post("/api/suites/preview", json=ask | {"content": suite(moving, name="x"), "stage": "quiet"}).json()
    assert len(recorded["people"]) == 5 and recorded["people"][0]["radius"] == 0.5
    full = suite(stage(world={"name": "open", "width": 3.0, "height": 3.0}, obstacles={"name": "random", "dynamic": [400, 400]}))
    refused = client.post("/api/suites/preview", json={"content": full | {"name": "x"}, "stage": "quiet", "episode": 0})
    assert refused.status_code == 422 and "x/quiet/0" in refused.json()["error"]
    for crooked in ({"stage": "crwd"}, {"episode": -1}, {"episode": "1"}, {"content": 3}, {"stage": 4}):
        assert client.post("/api/suites/preview", json=ask | crooked).status_code == 422


def test_a_picture_that_takes_too_long_is_given_up_and_the_next_one_is_made(settings, monkeypatch):
    content = suite(name="x")
    previews = Previews(settings.folder)
    with monkeypatch.context() as hasty, pytest.raises(InputError, match="longer than 0 s"):
        hasty.setattr("agora.web._live.previews.PATIENCE", 0.0)
        previews.picture(content, "quiet", 0)
    assert previews.picture(content, "quiet", 0)["count"] == 2
    previews.close()


def test_the_records_of_a_suite_say_how_their_values_are_put_together(client):
    records = client.get("/api/suite-parts").json()["records"]
    fields = {name: {field["name"]: field for field in one["fields"]} for name, one in records.items()}
    assert fields["Suite"]["stages"]["shape"]["record"] == "Stage" and fields["Suite"]["stages"]["shape"]["many"]
    assert fields["Stage"]["pedestrians"]["shape"]["word"] == "source" and "detector" in fields["Perception"]
    assert fields["Stage"]["robot"]["shape"]["single"] and not fields["Stage"]["ends"]["shape"]["single"]
    assert fields["CrowdSettings"]["sidestep"]["shape"]["optional"] and fields["People"]["types"]["shape"]["of"] == "shares"
    assert all(field["help"] for record in fields.values() for field in record.values())
    people = {field["name"]: field for field in component("obstacles_modes", "itineraries")["fields"]}["people"]
    assert (people["shape"]["of"], people["shape"]["length"]) == ("whole", 2)


def test_a_file_that_was_put_there_by_hand_is_shown_with_what_is_wrong(client, settings):
    (settings.folder / "suites").mkdir()
    (settings.folder / "suites" / "hand.yaml").write_text("name: hand\nstages: [{name: a, world: opn}]\n", encoding="utf-8")
    (listed,) = [one for one in client.get("/api/suites").json() if one["name"] == "own/hand"]
    assert "did you mean 'open'?" in listed["missing"] and str(settings.folder) not in listed["missing"]
    got = client.get("/api/suites/own/hand").json()
    assert got["problems"][0]["key"] == "stages[0].world" and got["content"]["stages"] == [{"name": "a", "world": "opn"}]
    (settings.folder / "suites" / "hand.yaml").write_text("name: [\n", encoding="utf-8")
    spoilt = client.get("/api/suites/own/hand")
    assert spoilt.status_code == 422 and "not valid YAML" in spoilt.json()["error"]
    assert client.post("/api/suites/check", json={"name": "hand", "content": suite()}).json()["problems"] == []


def test_who_has_no_account_of_its_owner_changes_no_suite_and_only_administrators_leave_the_house(house):
    ann, ben = house.person("ann"), house.person("ben")
    library = suite(stage(drawn_as="demo/hall"), description="a / b")
    version = put(ann, "mine", library).raise_for_status().json()["version"]
    assert put(ben, "mine", suite(), version).status_code == 403 and ben.delete("/api/suites/own/mine").status_code == 403
    assert ben.get("/api/suites/own/mine").json()["content"]["stages"] == library["stages"]
    away = put(ben, "away", suite(stage(simulator={"name": "remote"})))
    assert away.json()["error"].endswith("only an administrator may name files, programs and addresses")
    looker = house.person("lea", "look")
    assert put(looker, "hers", suite()).status_code == 403
    assert looker.post("/api/suites/preview", json={"content": suite(name="x"), "stage": "quiet"}).status_code == 403


def test_live_episodes_of_a_page_make_room_for_those_that_it_begins(client):
    form = {"suite": "demo", "planner": "go_to_goal", "stage": "doorway"}
    first, *more = [client.post("/api/live", json=form).json()["id"] for _ in range(4)]
    with client.websocket_connect(f"/api/live/{first}") as one, client.websocket_connect(f"/api/live/{more[0]}") as two:
        one.receive_text(), two.receive_text()
        for id in more[1:]:
            client.delete(f"/api/live/{id}")
        kept = [client.post("/api/live", json=form).json()["id"] for _ in range(2)]
        with client.websocket_connect(f"/api/live/{kept[0]}") as three, client.websocket_connect(f"/api/live/{kept[1]}") as four:
            three.receive_text(), four.receive_text()
            assert "already open" in client.post("/api/live", json=form).json()["error"]
            assert client.post(f"/api/live?instead={first},nothing", json=form).status_code == 201
            assert first not in [live["id"] for live in client.get("/api/live").json()]
