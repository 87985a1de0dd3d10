"""Planners that somebody brings along as code: where that is allowed, and only there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from agora.benchmark.bench import run_all
from agora.benchmark.request_form import RequestForm
from agora.benchmark.results.audit import audit_run
from agora.planners.contained.confine import lack
from agora.web._runs.queue import RunQueue
from agora.web.app import create_app
from agora.web.database import open_database
from agora.web.settings import Limits, read_limits
from tests.planners.contained.raider import TRIES
from tests.planners.contained.test_planner import PLANNER, told
from tests.planners.contained.victims import WALLS, victims, walled
from tests.web._runs.test_worker import worked_on

needs_landlock = pytest.mark.skipif(bool(lack()), reason=lack())

CODE = PLANNER.format(body="pass").replace(
    "class Mine:\n", 'class Mine:\n    """Drives <b>slowly</b>.\n\n    Attributes:\n        speed: at most, m/s.\n    """\n\n'
)
FORM = {"suite": "demo", "stages": ["doorway"], "episodes": 1, "workers": 1, "control": False}


@pytest.fixture
def allowed(settings):
    return replace(settings, allow_code=True)


@pytest.fixture
def client(allowed):
    with open_database(allowed.url) as engine, TestClient(create_app(allowed, engine), headers={"host": "127.0.0.1:8080"}) as found:
        yield found


def keep(client, code=CODE, name="mine", **query):
    return client.put(f"/api/uploads/planners/{name}", content=code, params=query)


def listed(client, name="own/mine"):
    return [one for one in client.get("/api/planners").json() if one["name"] == name]


@needs_landlock
def test_a_planner_that_was_brought_drives_with_the_rows_of_the_command_line_even_where_it_is_removed_meanwhile(
    client, allowed, tmp_path
):
    assert keep(client).status_code == 201
    (mine,) = listed(client)
    assert (mine["summary"], mine["needs"], mine["missing"]) == ("Drives <b>slowly</b>.", ["path"], "")
    card = client.get(f"/api/kinds/planners/{mine['planner']}").json()
    assert [(one["name"], one["default"], one["help"]) for one in card["fields"]] == [("speed", 1.0, "at most, m/s.")]
    assert client.get("/api/own-planners/mine/file").text == CODE
    asked = client.post("/api/runs", json=FORM | {"planners": ["own/mine", "own/mine:speed=0.5+polite"]})
    assert asked.status_code == 201, asked.text
    run = asked.json()["id"]
    client.delete("/api/own-planners/mine").raise_for_status()
    assert listed(client) == [] and list(allowed.planners.iterdir()) == []
    with open_database(allowed.url) as engine:
        queue = RunQueue(engine)
        worked_on(allowed, lambda: queue.run(run).state not in ("queued", "running"))
        assert (queue.run(run).state, queue.run(run).message) == ("finished", "")
    rows = {row["planner"]: row for row in audit_run(allowed.runs / run).rows}
    assert set(rows) == {"mine", "own|mine:speed=0.5+polite"}
    kept = allowed.runs / run / "asked" / "planners" / "mine.py"
    assert kept.read_text() == CODE
    texts = (f'contained:file="{kept}"', f'contained:file="{kept}",values={{speed: 0.5}}+polite')
    form = RequestForm("demo", texts, output=tmp_path / "out", stages=("doorway",), episodes=1, control=False, workers=1)
    typed = sorted(run_all(form.request()), key=lambda row: len(row["planner"]))
    assert told(typed) == told([rows["mine"], rows["own|mine:speed=0.5+polite"]])
    assert {row["outcome"] for row in typed} != {"planner_failed"}


@needs_landlock
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("class Mine:\n    (", "mine.py: cannot be imported: SyntaxError: '(' was never closed (mine.py, line 2)"),
        ("x = 1", "it has no planner class"),
        ("import torch_or_not", "No module named 'torch_or_not'"),
        ("import os; os._exit(3)", "its process ended with exit code 3"),
        ("x = bytearray(8 << 30)", "MemoryError"),
        ("open('/tmp/x', 'w')", "write files"),
        (CODE.replace("speed: float = 1.0", "speed: float"), "its parameter speed has no default; give it one"),
        (CODE.replace('needs=("path",)', 'needs=("pat",)'), "mine.py: no sensor called 'pat'"),
        (b"\xff\x00 no text", "cannot be imported"),
    ],
)
def test_a_file_that_is_no_planner_is_refused_in_words_and_nothing_is_kept(client, allowed, code, words):
    answer = keep(client, code)
    assert answer.status_code == 422 and words in answer.json()["error"], answer.text
    assert not allowed.planners.exists()


@needs_landlock
@pytest.mark.parametrize("walls", WALLS)
def test_a_file_that_is_only_read_for_its_card_gets_nowhere_and_harms_nobody(client, tmp_path, walls):
    with victims() as they, walled(walls):
        before = they.state()
        answer = keep(client, they.raider(tmp_path, **{"at once": True}).read_text())
        assert f"{len(TRIES)} tries, not refused: {{}}" in answer.json()["error"]
        assert they.state() == before


@needs_landlock
def test_code_that_hangs_when_it_is_read_is_ended(client, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("agora.web._user_planners.uploaded_planners.PATIENCE", 2.0)
        assert "it was not imported within 2 s" in keep(client, "while True: pass").json()["error"]
    assert keep(client).status_code == 201


@needs_landlock
def test_a_card_says_what_a_form_can_show_and_nothing_else(client):
    """The process that reads a file is the file's own: what it says is checked."""
    shout = "import json, os, sys\nos.write(int(sys.argv[1]), json.dumps({said}).encode())\nos._exit(0)\n"
    for said in ("{'fields': [{'name': 1}]}", "[[[]]]", "{'text': 3}", "{'more': 'x'}"):
        assert "sent no valid description of the planner" in keep(client, shout.replace("{said}", said)).json()["error"]


@needs_landlock
def test_names_are_taken_once_and_a_file_is_replaced_where_that_is_asked_for(client, allowed):
    keep(client)
    assert "choose another name" in keep(client).json()["error"]
    assert keep(client, "x = 1", instead=True).status_code == 422 and allowed.planners.joinpath("mine.py").read_text() == CODE
    assert keep(client, CODE.replace("slowly", "fast"), instead=True).status_code == 201
    assert listed(client)[0]["summary"] == "Drives <b>fast</b>."
    assert keep(client, name="..x").status_code == 422
    assert "at most 256 KiB" in keep(client, "#" * (300 << 10), "much").json()["error"]


REACHING = [
    "contained:file=x.py",
    "contained(file=x.py)",
    "recovering:planner=contained(file=x.py)",
    "recovering:planner=own/mine",
    "policy:file=own/mine",
    "own/min",
    "own/mine:sped=1",
    "own/mine:speed=1},memory=64,values={speed=1",
    'own/mine:speed="{"},memory=64,values={speed=1',
    "own/mine:speed=1,file=/etc/passwd",
]


@needs_landlock
def test_a_text_reaches_no_other_code_and_no_limit(client):
    keep(client)
    for text in REACHING:
        assert client.post("/api/runs", json=FORM | {"planners": [text]}).status_code == 422, text
        assert client.post("/api/live", json={"suite": "demo", "planner": text}).status_code == 422, text


def test_code_runs_nowhere_unless_it_is_allowed(settings, monkeypatch):
    settings.planners.mkdir()
    (settings.planners / "mine.py").write_text(CODE)
    with (
        open_database(settings.url) as engine,
        TestClient(create_app(settings, engine), headers={"host": "127.0.0.1:8080"}) as client,
    ):
        assert "agora web --allow-code" in client.get("/api/about").json()["code"]
        assert "--allow-code" in keep(client, name="other").json()["error"]
        assert "--allow-code" in client.post("/api/runs", json=FORM | {"planners": ["own/mine"]}).json()["error"]
        assert "--allow-code" in client.post("/api/live", json={"suite": "demo", "planner": "own/mine"}).json()["error"]
        assert "does not run users' code" in listed(client)[0]["missing"]
    (settings.folder / "web.yaml").write_text("code: true\n")
    assert replace(settings, limits=read_limits(settings.folder)).code and not replace(settings, limits=Limits()).code


def test_code_runs_nowhere_where_the_system_cannot_confine_it(client, monkeypatch):
    monkeypatch.setattr("agora.web._user_planners.uploaded_planners.lack", lambda: "this kernel has no Landlock")
    assert client.get("/api/about").json()["code"] == "this kernel has no Landlock"
    assert keep(client).json()["error"] == "planner: this kernel has no Landlock"


@needs_landlock
def test_code_that_fails_in_a_run_fails_in_its_rows_and_the_worker_goes_on(client, allowed):
    """It is well when it is brought, and ends, hangs or eats memory when it drives."""
    bodies = {
        "ends": "import ctypes; ctypes.CDLL(None)._exit(3)",
        "eats": "bytearray(8 << 30)",
        "turns": "return (float('nan'),) * 3, 0",
    }
    for name, body in bodies.items():
        assert keep(client, PLANNER.format(body=body), name).status_code == 201
    planners = [*(f"own/{name}" for name in bodies), "pure_pursuit"]
    run = client.post("/api/runs", json=FORM | {"planners": planners}).json()["id"]
    with open_database(allowed.url) as engine:
        queue = RunQueue(engine)
        worked_on(allowed, lambda: queue.run(run).state not in ("queued", "running"))
        assert queue.run(run).state == "finished", queue.run(run).message
    failed = {row["planner"]: row["failure"] for row in audit_run(allowed.runs / run).rows if row["outcome"] == "planner_failed"}
    assert set(failed) == set(bodies)
    for name, words in {"ends": "exit code 3", "eats": "MemoryError", "turns": "expected three finite numbers"}.items():
        assert words in failed[name], failed
    assert Path(allowed.runs / run / "report.html").is_file()
