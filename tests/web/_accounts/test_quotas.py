"""What is people's own, and how much they may have."""

from __future__ import annotations

import io
import json
import sqlite3
from dataclasses import replace

import numpy as np
from PIL import Image
from sqlalchemy import update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from agora.web._accounts import ownership
from agora.web._runs.queue import RunQueue
from agora.web._tables import Run
from agora.web.settings import Limits, Quotas
from tests.web.house import opened_house

FORM = {"suite": "demo", "planners": ["go_to_goal"], "stages": ["doorway"], "episodes": 1}
LIVE = {"suite": "demo", "planner": "go_to_goal", "stage": "doorway"}
SCENE = {"map": "hall", "robots": [{"start": [2, 2, 0], "goal": [6, 6, 0]}], "obstacles": {"dynamic": []}}
SUITE = {"stages": [{"name": "quiet", "episodes": 2, "world": {"name": "folder", "path": "hall"}}]}
ROOM = {"generator": "office"}


def house_with(settings, **quotas: int):
    return opened_house(replace(settings, accounts=True, limits=Limits(quotas=Quotas(**quotas))))


def said(answer) -> str:
    assert answer.status_code == 422, answer.text
    return answer.json()["error"]


def test_a_run_is_its_owners_and_an_administrators(house):
    chief, ann, ben = house.person("chief", "administer"), house.person("ann"), house.person("ben")
    run = ann.post("/api/runs", json=FORM).json()
    assert run["owner"] == "ann"
    assert ben.get(f"/api/runs/{run['id']}").json() == run
    for answer in (ben.post(f"/api/runs/{run['id']}/cancel"), ben.delete(f"/api/runs/{run['id']}")):
        assert (answer.status_code, answer.json()["error"]) == (
            403,
            f"run {run['id']} is ann's: only its owner or an administrator can change or remove it",
        )
    assert ann.post(f"/api/runs/{run['id']}/cancel").json()["state"] == "cancelled"
    assert ben.post(f"/api/runs/{run['id']}/resume").status_code == 403
    assert ann.post(f"/api/runs/{run['id']}/resume").json()["state"] == "queued"
    assert chief.delete(f"/api/runs/{run['id']}").status_code == 204
    assert ben.delete(f"/api/runs/{run['id']}").status_code == 404


def test_a_run_of_nobody_is_the_administrators_to_remove(house):
    run = RunQueue(house.engine).put("before there were accounts", FORM)
    assert "without an owner" in house.person("ann").delete(f"/api/runs/{run.id}").json()["error"]
    assert house.person("chief", "administer").delete(f"/api/runs/{run.id}").status_code == 204


def test_a_scenario_is_changed_and_removed_by_its_owner_alone(house, settings):
    ann, ben = house.person("ann"), house.person("ben")
    kept = ann.put("/api/scenarios/corner", json={"content": SCENE}).json()
    changed = {"content": SCENE | {"robots": []}, "version": kept["version"]}
    assert ben.get("/api/scenarios/corner").json()["version"] == kept["version"]
    assert ben.put("/api/scenarios/corner", json=changed).status_code == 403
    assert ben.put("/api/scenarios/corner", json=changed | {"version": ""}).status_code == 409
    assert [one["owner"] for one in ben.get("/api/scenarios").json()[:2]] == ["ann", ""]
    assert ben.delete("/api/scenarios/corner").status_code == 403
    assert ann.put("/api/scenarios/corner", json=changed).status_code == 200
    assert ann.delete("/api/scenarios/corner").status_code == 204
    assert ben.put("/api/scenarios/corner", json={"content": SCENE}).status_code == 200
    assert ann.delete("/api/scenarios/corner").status_code == 403
    (settings.scenarios / "of_the_disk.json").write_text(json.dumps(SCENE))
    assert ann.delete("/api/scenarios/of_the_disk").status_code == 403


def test_a_live_episode_is_watched_by_all_and_moved_by_its_owner(house):
    ann, ben, eve = house.person("ann"), house.person("ben"), house.person("eve", "look")
    live = ann.post("/api/live", json=LIVE).json()
    assert live["owner"] == "ann"

    def can_pause(person) -> bool:
        """Whether the episode is paused when a person asks, before five further moments have come."""
        with person.websocket_connect(f"/api/live/{live['id']}") as socket:
            socket.send_json({"do": "pause"})
            moments = 0
            while moments < 5:
                message = socket.receive()
                moments += "bytes" in message
                if json.loads(message.get("text", "{}")).get("live", {}).get("state") == "paused":
                    return True
        return False

    assert [can_pause(person) for person in (ben, eve, ann)] == [False, False, True]
    assert [person.delete(f"/api/live/{live['id']}").status_code for person in (eve, ben, ann)] == [403, 403, 204]


def test_runs_that_wait_are_limited_and_the_refusal_says_what_is_used(settings, quick):
    with house_with(settings, runs=2) as house:
        ann = house.person("ann")
        first, _ = (ann.post("/api/runs", json=FORM).json() for _ in range(2))
        assert said(ann.post("/api/runs", json=FORM)) == (
            "quota: 2 of your 2 runs are waiting or running; wait until one ends, or cancel one"
        )
        assert house.person("ben").post("/api/runs", json=FORM).status_code == 201
        ann.post(f"/api/runs/{first['id']}/cancel")
        assert ann.post("/api/runs", json=FORM).status_code == 201
        assert "2 of your 2 runs" in said(ann.post(f"/api/runs/{first['id']}/resume"))
        chief = house.person("chief", "administer")
        assert {chief.post("/api/runs", json=FORM).status_code for _ in range(3)} == {201}


def test_a_person_may_have_quotas_of_their_own(house):
    chief, ann = house.person("chief", "administer"), house.person("ann")
    changed = chief.patch("/api/users/ann", json={"quotas": {"runs": 1}}).json()
    assert (changed["quotas"]["runs"], changed["quotas"]["lives"], changed["own_quotas"]) == (1, Quotas().lives, {"runs": 1})
    assert ann.post("/api/runs", json=FORM).status_code == 201
    assert "1 of your 1 runs" in said(ann.post("/api/runs", json=FORM))
    account = ann.get("/api/me/account").json()
    assert (account["quotas"]["runs"], account["use"]["runs"]) == (1, 1)
    assert chief.get("/api/me/account").json()["quotas"] is None
    assert [user["use"]["runs"] for user in chief.get("/api/users").json()] == [1, 0]


def test_a_run_of_too_many_episodes_or_processors_is_refused(settings, quick):
    with house_with(settings, episodes=5, processors=3) as house:
        ann = house.person("ann")
        assert "has 12 episodes, but you may run 5" in said(
            ann.post("/api/runs", json=FORM | {"episodes": 6, "planners": ["go_to_goal", "pure_pursuit"], "control": False})
        )
        assert "asks for 4 processors" in said(ann.post("/api/runs", json=FORM | {"workers": 2, "threads": 2}))
        assert ann.post("/api/runs", json=FORM | {"workers": 3}).status_code == 201


def test_who_has_no_room_for_results_neither_runs_nor_drives_and_may_watch(settings, quick):
    with house_with(settings, results=1) as house:
        ann = house.person("ann")
        run = ann.post("/api/runs", json=FORM).json()
        (settings.runs / run["id"] / "episodes").mkdir(parents=True)
        (settings.runs / run["id"] / "episodes" / "rows").write_bytes(b"x" * (3 << 19))
        full = "quota: your results use 1.5 of 1 MiB; remove some runs"
        assert said(ann.post("/api/runs", json=FORM)) == said(ann.post("/api/live", json=LIVE | {"drive": True})) == full
        assert ann.post("/api/live", json=LIVE).status_code == 201
        with Session(house.engine) as session:
            session.execute(update(Run).values(state="cancelled"))
            session.commit()
        assert ann.delete(f"/api/runs/{run['id']}").status_code == 204
        assert ann.post("/api/runs", json=FORM).status_code == 201


def test_live_episodes_that_are_watched_are_limited_and_one_that_nobody_watches_makes_room(settings, quick):
    with house_with(settings, lives=1) as house:
        ann, ben = house.person("ann"), house.person("ben")
        others = ben.post("/api/live", json=LIVE).json()
        first = ann.post("/api/live", json=LIVE).json()
        second = ann.post("/api/live", json=LIVE).json()
        assert {live["id"] for live in ann.get("/api/live").json()} == {others["id"], second["id"]} != {first["id"]}
        with ann.websocket_connect(f"/api/live/{second['id']}") as socket:
            socket.receive()
            assert said(ann.post("/api/live", json=LIVE)) == ("quota: 1 of your 1 live episodes are open; close one of them first")


def test_what_a_full_database_does_not_take_is_kept_nowhere_and_said(settings, quick, monkeypatch):
    with house_with(settings) as house:
        ann = house.person("ann")

        def full(session):
            reason = sqlite3.OperationalError("database or disk is full")
            reason.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise OperationalError("INSERT", {}, reason)

        sheet, image = b"image: a.png\nresolution: 0.1\norigin: [0, 0, 0]\n", io.BytesIO()
        Image.new("L", (40, 40), 255).save(image, "png")
        asked = {"file": ["lab.yaml", "a.png"], "size": [len(sheet), len(image.getvalue())]}

        def answers():
            yield ann.put("/api/scenarios/one", json={"content": SCENE})
            yield ann.put("/api/suites/own/two", json={"content": SUITE})
            yield ann.post("/api/worlds/copy", json={"name": "copy", "of": "hall"})
            yield ann.post("/api/uploads/open", params=asked, content=sheet + image.getvalue())
            yield ann.post("/api/runs", json={"suite": "demo", "planners": ["orca"]})
            yield ann.post("/api/trainings", json={"training": "bc"})
            yield ann.post("/api/me/tokens", json={"name": "mine"})

        with monkeypatch.context() as patched:
            patched.setattr(Session, "commit", full)
            for answer in answers():
                assert answer.status_code == 503
                assert "the disk of the database is full" in answer.json()["error"]
        kept = [path for path in settings.folder.rglob("*") if path.is_file() and not path.name.startswith((".", "agora.sqlite"))]
        assert kept == [] and list(settings.runs.iterdir()) == []
        assert [answer.status_code for answer in answers()] == [200, 200, 201, 201, 201, 201, 201]


def test_results_that_have_ended_are_weighed_once_and_again_where_they_change(house, settings, monkeypatch):
    chief, _ = house.person("chief", "administer"), house.person("ann")
    queue, weighed = RunQueue(house.engine), []
    runs = queue.put_finished("ended", "one", {}, 1, owner="ann"), queue.put("under way", {}, owner="ann")
    for run in runs:
        (settings.runs / run.id).mkdir()
        (settings.runs / run.id / "rows").write_bytes(bytes(1 << 20))

    def size_of(place):
        weighed.append(place.name)
        return ownership.size_of(place)

    monkeypatch.setattr("agora.web._accounts.quotas.size_of", size_of)

    def results() -> float:
        weighed.clear()
        return next(one["use"]["results"] for one in chief.get("/api/users").json() if one["name"] == "ann")

    assert (results(), weighed) == (2.0, [runs[1].id, "ended"])
    assert (results(), weighed) == (2.0, [runs[1].id])
    (settings.runs / "ended" / "report").write_bytes(bytes(1 << 20))
    assert (results(), weighed) == (3.0, [runs[1].id, "ended"])


def test_scenarios_and_worlds_are_counted_and_weighed(settings, quick):
    with house_with(settings, uploads=2, upload_size=1) as house:
        ann = house.person("ann")
        kept = ann.put("/api/scenarios/one", json={"content": SCENE}).json()
        picture = io.BytesIO()
        noise = np.random.default_rng(1).integers(0, 255, (900, 1200), dtype=np.uint8)
        Image.fromarray(noise).save(picture, "png")
        sheet, image = b"image: a.png\nresolution: 0.1\norigin: [0, 0, 0]\n", picture.getvalue()
        asked = {"file": ["noise.yaml", "a.png"], "size": [len(sheet), len(image)]}
        large = ann.post("/api/uploads/open", params=asked, content=sheet + image)
        assert "of 1 MiB, and this upload needs 1.0 MiB; remove some" in said(large)
        assert ann.post("/api/worlds", json={"name": "room", **ROOM}).status_code == 201
        full = "quota: you have 2 of 2 scenarios, worlds and other files; remove some"
        assert said(ann.put("/api/scenarios/two", json={"content": SCENE})) == full
        assert said(ann.post("/api/worlds", json={"name": "other", **ROOM})) == full
        assert (
            ann.put("/api/scenarios/one", json={"content": SCENE | {"robots": []}, "version": kept["version"]}).status_code == 200
        )
        assert sorted(path.name for path in settings.worlds.iterdir()) == ["room"]
        assert ann.get("/api/me/account").json()["use"]["uploads"] == 2
        ann.delete("/api/scenarios/one")
        assert ann.put("/api/scenarios/two", json={"content": SCENE}).status_code == 200
