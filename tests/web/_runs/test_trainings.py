"""Trainings that a page or a program asks for: refused in words, worked on, stopped, taken up again."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from agora.cli.app import app as commands
from agora.config import load
from agora.errors import DivergedError
from agora.learning.card import PolicyCard
from agora.learning.checkpoint import read_curve
from agora.planners.presets import named_planner
from agora.web._runs.queue import RunQueue
from agora.web._runs.worker import work
from agora.web._user_planners.policies import Policies
from agora.web.app import create_app
from agora.web.database import open_database

SMALL = {
    "trainer.steps": 120, "trainer.worlds": 2, "trainer.horizon": 5, "trainer.batches": 1, "trainer.epochs": 1, "trainer.lap": 1,
    "trainer.validate": 3, "test": "demo", "stages": ["crossing"], "elsewhere": "demo", "planner": "policy", "cannot": "anything",
}  # fmt: skip
"""Changes that make three rounds of a training, with a checkpoint after each, and a validation after the first and the last."""

FORM = {"training": "ga3c_cadrl", "changes": SMALL}

HELD = """
import sys, threading
import agora.learning.seeds as seeds
import agora.web._runs.training as conduct
from agora.learning.events import Saved
from agora.web.settings import Settings
from agora.web._runs.worker import work

def held(*given, **named):
    for seed, event in seeds.train_seeds(*given, **named):
        yield seed, event
        if isinstance(event, Saved):
            print("saved", flush=True)
            threading.Event().wait()

conduct.train_seeds = held
work(Settings(sys.argv[1]), threading.Event())
"""
"""A worker that hangs once the first checkpoint is on the disk."""


@pytest.fixture
def queue(settings):
    with open_database(settings.url) as engine:
        yield RunQueue(engine)


@pytest.fixture
def client(settings):
    with open_database(settings.url) as engine, TestClient(create_app(settings, engine), base_url="http://127.0.0.1") as found:
        yield found


def worked_on(settings, holds) -> None:
    """Have a worker of this process take runs until something holds."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(settings, stop))
    thread.start()
    while not holds():
        threading.Event().wait(0.02)
    stop.set()
    thread.join()


def asked(client, **more) -> dict:
    answer = client.post("/api/trainings", json=FORM | more)
    assert answer.status_code == 201, answer.text
    return answer.json()


def curve_of(place) -> list[dict]:
    return [{name: value for name, value in point.items() if name != "seconds"} for point in read_curve(place / "curve.jsonl")]


@pytest.fixture(scope="module")
def in_a_terminal(tmp_path_factory):
    """The folder of the same training by ``agora train``, of the file that the server keeps."""
    place = tmp_path_factory.mktemp("terminal")

    def trained(file):
        if not (place / "out").exists():
            CliRunner().invoke(commands, ["train", str(file), "--output", str(place / "out")], catch_exceptions=False)
        return place / "out"

    return trained


def test_trainings_are_listed_with_what_they_take_and_reach(client):
    listed = {one["name"]: one for one in client.get("/api/trainings").json()}
    assert listed["bc"]["took"]["steps"] == 192000 and listed["bc"]["results"][0]["stage"] == "challenge_easy"
    assert (listed["bc"]["trainer"], listed["bc"]["missing"]) == ("cloning", "")
    fields = {one["name"]: one for one in client.get("/api/trainings/ga3c_cadrl").json()["fields"]}
    inside = {one["name"]: one for one in fields["trainer"]["fields"]}
    assert (inside["trainer.steps"]["default"], inside["trainer.worlds"]["most"]) == (3000000, 10000)
    assert [one["name"] for one in inside["trainer.network"]["fields"]] == ["trainer.network.width"]
    assert client.get("/api/trainings/ga3c").status_code == 404


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"training": "ga3c_cadr"}, "did you mean 'ga3c_cadrl'"),
        ({"training": "../../etc/passwd"}, "no training called"),
        ({"changes": {"trainer.worlds": 0}}, "trainer.worlds: expected an integer in [1, 10000], got 0"),
        ({"changes": {"trainer.wrlds": 4}}, "did you mean 'worlds'"),
        ({"changes": {"trainer.steps.few": 4}}, "trainer.steps.few: steps has no fields"),
        ({"changes": {"trainer": "ppoo"}}, "did you mean 'ppo'"),
        ({"changes": {"suite": "/etc/passwd"}}, "expected a name"),
        ({"changes": {"suite": "ga3c"}}, "training on a test suite is not allowed"),
        ({"changes": {"trainer.lessons": "{teacher: 'policy:file=/etc/passwd'}"}}, "or own/NAME of a policy on this server"),
        ({"changes": {"name": "../up"}}, "name"),
        ({"changes": {"stages": "[agents_2"}}, "stages"),
        ({"seeds": [1, 1]}, "expected at least one seed and no duplicates"),
        ({"minutes": -1}, "minutes"),
        ({"output": "/tmp"}, "output"),
    ],
)
def test_a_wrong_training_is_refused_in_words_and_nothing_is_kept(client, settings, form, said):
    answer = client.post("/api/trainings", json={"training": "ga3c_cadrl"} | form)
    assert answer.status_code == 422 and said in answer.json()["error"]
    assert client.get("/api/runs").json() == [] and list(settings.runs.iterdir()) == []


def test_a_training_whose_packages_are_missing_is_listed_with_the_reason_and_refused(client, monkeypatch):
    monkeypatch.setattr(
        "agora.web._runs.trainings.lacking", lambda extras: "packages of the extra learning are not installed: torch"
    )
    assert {one["missing"] for one in client.get("/api/trainings").json()} == {
        "packages of the extra learning are not installed: torch"
    }
    assert "torch" in client.post("/api/trainings", json=FORM).json()["error"]


def test_a_training_from_the_page_has_curve_test_and_policy_of_agora_train(client, settings, queue, in_a_terminal):
    run = asked(client)
    assert (run["kind"], run["title"], run["state"]) == ("training", "training of ga3c_cadrl", "queued")
    worked_on(settings, lambda: queue.run(run["id"]).state == "finished")
    assert queue.run(run["id"]).done == queue.run(run["id"]).total == 1000
    here = settings.runs / run["id"]
    there = in_a_terminal(here / "training.yaml")
    assert curve_of(here / "seed_1") == curve_of(there / "seed_1")
    mine, theirs = (load(place / "card.yaml", PolicyCard) for place in (here, there))
    assert mine.seeds[0].results == theirs.seeds[0].results and mine.training == theirs.training
    assert (here / "policy.safetensors").read_bytes() == (there / "policy.safetensors").read_bytes()
    assert mine.training["label"] == "own" and "Changed: trainer.steps 120" in mine.training["method"]
    _look_at(client, run["id"], settings)


def _look_at(client, id, settings) -> None:
    """Read a training that has ended as its page does, and name its policy as a planner."""
    said = client.get(f"/api/runs/{id}/training").json()
    name = f"own/ga3c_cadrl-{id[-6:]}"
    assert (said["policy"]["name"], said["policy"]["planner"]) == (name, f"policy:file={name}")
    assert [(one["seed"], one["whole"], one["checkpoint"]) for one in said["seeds"]] == [(1, True, 120.0)]
    (settings.runs / "strange").mkdir()
    (settings.runs / "strange" / "training.yaml").write_text("[no, training")
    assert client.get("/api/policies").json()[0]["name"] == name
    whole = client.get(f"/api/runs/{id}/curve/1").json()
    assert [point["steps"] for point in whole["points"]] == [40, 40, 80, 120, 120] and whole["fresh"]
    again = client.get(f"/api/runs/{id}/curve/1?version={whole['version']}&offset={whole['offset']}").json()
    assert (again["points"], again["fresh"]) == ([], False)
    assert client.get(f"/api/runs/{id}/curve/9").status_code == 404
    for file in said["files"]:
        assert client.get(f"/api/runs/{id}/training/{file}").content
    assert client.get(f"/api/runs/{id}/training/..%2F..%2Fagora.sqlite").status_code == 404
    form = {"suite": "demo", "planners": [said["policy"]["planner"]], "stages": ["crossing"], "episodes": 1, "control": False}
    bench = client.post("/api/runs", json=form)
    assert bench.json()["title"] == f"demo: ga3c_cadrl-{id[-6:]}"
    assert client.get(f"/api/runs/{bench.json()['id']}/training").status_code == 422
    assert (
        "did you mean" in client.post("/api/runs", json=form | {"planners": ["policy:file=own/ga3c_cadrl-000000"]}).json()["error"]
    )
    path = settings.runs / id / "policy.safetensors"
    for text in (f"policy:file={path}", "policy:file=own/../x", 'policy:file="\\x2fetc"', f"policy:file=x+aggressive:file={path}"):
        assert client.post("/api/runs", json=form | {"planners": [text]}).status_code == 422
        assert client.post("/api/live", json={"suite": "demo", "planner": text}).status_code == 422
    label, _ = named_planner(Policies(settings).planner(said["policy"]["planner"]))
    assert Policies(settings).label(label) == f"ga3c_cadrl-{id[-6:]}"


def test_a_training_whose_worker_is_killed_is_taken_up_again_to_the_same_curve(client, settings, queue, in_a_terminal, monkeypatch):
    run = asked(client)
    with subprocess.Popen([sys.executable, "-c", HELD, str(settings.folder)], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout.readline() == "saved\n"
        os.kill(worker.pid, signal.SIGKILL)
    assert queue.run(run["id"]).state == "running"
    monkeypatch.setattr("agora.web._runs.queue.SILENT", timedelta(0))
    worked_on(settings, lambda: queue.run(run["id"]).state == "finished")
    here = settings.runs / run["id"]
    assert curve_of(here / "seed_1") == curve_of(in_a_terminal(here / "training.yaml") / "seed_1")


def test_a_stopped_training_keeps_checkpoint_policy_and_card_and_goes_on(client, settings, queue, monkeypatch):
    from agora.learning import seeds

    def stopping(*given, **named):
        for seed, event in seeds.train_seeds(*given, **named):
            yield seed, event
            if run and "checkpoint" not in said:
                client.post(f"/api/runs/{run['id']}/cancel")
                said["checkpoint"] = True
                named["token"].stop()

    said: dict = {}
    run: dict = {}
    monkeypatch.setattr("agora.web._runs.training.train_seeds", stopping)
    run |= asked(client)
    worked_on(settings, lambda: queue.run(run["id"]).state == "cancelled")
    assert queue.run(run["id"]).message == "stopped before its first checkpoint; continuing would restart it"
    card = load(settings.runs / run["id"] / "card.yaml", PolicyCard)
    assert (card.seeds[0].stopped, card.seeds[0].results) == (True, ())
    assert client.post(f"/api/runs/{run['id']}/resume", json={"steps": 3}).status_code == 422
    assert client.post(f"/api/runs/{run['id']}/resume", json={"minutes": 0}).json()["form"]["minutes"] == 0
    worked_on(settings, lambda: queue.run(run["id"]).state == "cancelled" and queue.run(run["id"]).ended is not None)
    assert queue.run(run["id"]).message == "its time limit was reached after 40 steps with seed 1; the policy was tested"
    client.post(f"/api/runs/{run['id']}/resume", json={"minutes": None})
    worked_on(settings, lambda: queue.run(run["id"]).state == "finished")
    assert not load(settings.runs / run["id"] / "card.yaml", PolicyCard).seeds[0].stopped
    assert client.delete(f"/api/runs/{run['id']}").status_code == 204
    assert not (settings.runs / run["id"]).exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DivergedError("step 20: weights is not finite any more; the last good checkpoint is in X"), "weights is not finite"),
        (
            OSError(errno.ENOSPC, "No space left on device", "curve.jsonl"),
            "the disk of the server is full (No space left on device)",
        ),
    ],
)
def test_a_training_that_fails_says_why(client, settings, queue, monkeypatch, error, said):
    def failing(*given, **named):
        raise error
        yield

    monkeypatch.setattr("agora.web._runs.training.train_seeds", failing)
    run = asked(client)
    worked_on(settings, lambda: queue.run(run["id"]).state == "failed")
    assert said in queue.run(run["id"]).message


def test_a_full_disk_keeps_no_training_and_says_so(client, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, "No space left on device", "training.yaml")

    monkeypatch.setattr("agora.web._runs.trainings.write_whole", full)
    answer = client.post("/api/trainings", json=FORM)
    assert answer.status_code == 507 and "No space left" in answer.json()["error"]
    assert client.get("/api/runs").json() == []


def test_a_curve_that_was_torn_by_a_kill_is_read_to_its_last_whole_line(client, settings):
    run = asked(client)
    place = settings.runs / run["id"] / "seed_1"
    assert client.get(f"/api/runs/{run['id']}/curve/1").json()["points"] == []
    place.mkdir()
    (place / "curve.jsonl").write_text(json.dumps({"steps": 40}) + '\n{"steps": 8')
    first = client.get(f"/api/runs/{run['id']}/curve/1").json()
    assert [point["steps"] for point in first["points"]] == [40]
    (place / "curve.jsonl").write_text(json.dumps({"steps": 40}) + "\nnothing\n")
    assert (
        "expected a point"
        in client.get(f"/api/runs/{run['id']}/curve/1?version={first['version']}&offset={first['offset']}").json()["error"]
    )
