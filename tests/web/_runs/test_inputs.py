"""A run keeps what it was asked for with, whoever edits that meanwhile."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from agora.benchmark.results.audit import audit_run
from agora.reporting.merged_runs import merged
from agora.web._runs.queue import RunQueue
from agora.web.app import create_app
from agora.web.database import open_database
from tests.web._runs.test_worker import holding, is_kept, worked_on
from tests.web._user_content.test_suites import SCENE, put, stage, suite
from tests.web._user_planners.test_policies import HALL, keep, trained

__all__ = ["holding"]

OWN = stage(name="own", world={"name": "folder", "path": "mine"}, obstacles={"name": "random", "dynamic": [1, 1]})
DRAWN = {
    "name": "drawn",
    "world": {"name": "folder", "path": "hall", "scenarios": ["own/alone"]},
    "robots": "scenario",
    "obstacles": "scenario",
}
FORM = {"suite": "own/both", "planners": ["go_to_goal", "own/drives"], "workers": 1, "batch": 1, "control": False}


@pytest.fixture
def served(settings):
    with (
        open_database(settings.url) as engine,
        TestClient(create_app(settings, engine), headers={"host": "127.0.0.1:8080"}) as client,
    ):
        client.post("/api/worlds", json={"name": "mine", "generator": "corridor", "parameters": {}, "seed": 3}).raise_for_status()
        client.put("/api/scenarios/alone", json={"content": SCENE, "version": ""}).raise_for_status()
        put(client, "both", suite(OWN, DRAWN)).raise_for_status()
        keep(client, HALL, "drives").raise_for_status()
        yield client, RunQueue(engine)


def rows(place):
    return {row["key"]: {k: v for k, v in row.items() if "planning" not in k} for row in audit_run(place).rows}


def finished(settings, queue, id):
    worked_on(settings, lambda: queue.run(id).state not in ("queued", "running"))
    assert (queue.run(id).state, queue.run(id).message) == ("finished", "")


def test_a_run_goes_on_with_suite_world_scenario_and_policy_as_they_were(served, settings, holding, tmp_path):
    client, queue = served
    shutil.copytree(settings.folder, tmp_path / "before", ignore=shutil.ignore_patterns("*.sqlite*"))
    id = client.post("/api/runs", json=FORM).json()["id"]
    worked_on(settings, lambda: is_kept(settings.runs / id))
    assert (queue.run(id).state, len(rows(settings.runs / id))) == ("queued", 1)
    suite_now = client.get("/api/suites/own/both").json()
    assert client.get(f"/api/runs/{id}/suite").json()["text"] == suite_now["text"]
    put(client, "both", suite(DRAWN | {"name": "other"}), suite_now["version"]).raise_for_status()
    there = client.get("/api/scenarios/alone").json()
    moved = SCENE | {"robots": [{"start": [1.2, 5.0, 0.1], "goal": [6.0, 4.6]}]}
    client.put("/api/scenarios/alone", json={"content": moved, "version": there["version"]}).raise_for_status()
    shutil.rmtree(settings.worlds / "mine")
    client.delete("/api/own-policies/drives").raise_for_status()
    holding()
    finished(settings, queue, id)
    said = client.get(f"/api/runs/{id}/suite").json()
    assert (said["text"], said["now"]) == (suite_now["text"], "changed")
    words = ["bench", "suites/both.yaml", "--no-control", "--planner", "go_to_goal"]
    words += ["--planner", 'policy:file="policies/drives.safetensors"', "--output", tmp_path / "typed"]
    agora = Path(sys.executable).with_name("agora")
    subprocess.run([agora, *words], cwd=tmp_path / "before", check=True, capture_output=True)
    shown, typed = rows(settings.runs / id), rows(tmp_path / "typed")
    label = next(row["planner"] for row in typed.values() if "policy" in row["planner"])
    for row in typed.values():  # the page has a shorter name for the policy
        row |= {name: row[name].replace(label, "drives") for name in ("key", "planner")}
    assert {row["key"]: row for row in typed.values()} == shown and len(shown) == 6
    assert client.delete(f"/api/runs/{id}").status_code == 204 and not (settings.runs / id).exists()


def test_two_runs_of_one_own_suite_are_paired_and_those_of_an_edited_one_are_not(served, settings):
    client, queue = served
    form = FORM | {"stages": ["drawn"], "planners": ["go_to_goal"]}
    one = client.post("/api/runs", json=form).json()["id"]
    two = client.post("/api/runs", json=form | {"planners": ["go_to_goal", "own/drives"]}).json()["id"]
    there = client.get("/api/scenarios/alone").json()
    moved = SCENE | {"robots": [{"start": [1.2, 5.0, 0.1], "goal": [6.0, 4.6]}]}
    client.put("/api/scenarios/alone", json={"content": moved, "version": there["version"]}).raise_for_status()
    three = client.post("/api/runs", json=form).json()["id"]
    for id in (one, two, three):
        finished(settings, queue, id)
    found = merged([settings.runs / one, settings.runs / two])
    assert found.planners == ["go_to_goal", "drives"] and len(found.rows) == 2
    apart = merged([settings.runs / one, settings.runs / three], ["one", "three"])
    assert apart.planners == ["go_to_goal (one)", "go_to_goal (three)"] and len(apart.rows) == 2


def test_a_run_drives_with_a_trained_policy_as_it_was(served, settings):
    client, queue = served
    name = trained(settings)
    form = {"suite": "demo", "stages": ["doorway"], "episodes": 1, "planners": [f"own/{name}"], "workers": 1, "control": False}
    id = client.post("/api/runs", json=form).json()["id"]
    shutil.rmtree(settings.runs / "1-abc123")
    finished(settings, queue, id)
    assert [row["planner"] for row in audit_run(settings.runs / id).rows] == [name]


def test_a_run_of_an_own_scenario_is_that_of_its_file(served, settings):
    client, queue = served
    id = client.post("/api/runs", json=FORM | {"suite": "own/alone", "planners": ["go_to_goal"]}).json()["id"]
    client.delete("/api/scenarios/alone").raise_for_status()
    finished(settings, queue, id)
    said = client.get(f"/api/runs/{id}/suite").json()
    assert (said["name"], said["now"]) == ("own/alone", "gone") and '"goal"' in said["text"]
    library = client.post("/api/runs", json=FORM | {"suite": "demo", "planners": ["go_to_goal"]}).json()["id"]
    assert client.get(f"/api/runs/{library}/suite").json()["text"] == client.get("/api/suites/demo").json()["text"]
    assert not (settings.runs / library).exists()
