from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace

import pyarrow.csv
import pyarrow.parquet
import pytest

from agora.benchmark.bench import run_all
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.run_folder import RunFolder
from agora.registry import KINDS, available
from agora.web import _catalogue
from agora.web._runs.benchmark import form_of
from agora.web._runs.queue import RunQueue
from agora.web._runs.results import short_names
from agora.web._tables import FINISHED
from agora.web.database import open_database

FORM = {"suite": "demo", "planners": ["go_to_goal", "pure_pursuit"], "stages": ["doorway"], "episodes": 3, "workers": 1}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The folder of a run that somebody else has finished."""
    folder = tmp_path_factory.mktemp("played") / "run"
    run_all(form_of(FORM, folder).request())
    return folder


@pytest.fixture
def finished(settings, client, played):
    """The name of a finished run."""
    with open_database(settings.url) as engine:
        queue = RunQueue(engine)
        run = queue.put("three doorways", FORM)
        queue.take("a")
        (settings.runs / run.id).symlink_to(played)
        queue.end(run.id, "a", FINISHED)
    return run.id


def test_a_run_that_is_asked_for_waits_in_the_queue_with_the_names_of_its_planners(client):
    asked = client.post("/api/runs", json=FORM)
    assert asked.status_code == 201
    run = asked.json()
    assert (run["state"], run["title"]) == ("queued", "demo: go_to_goal, pure_pursuit")
    assert client.get("/api/runs").json() == [client.get(f"/api/runs/{run['id']}").json()]
    assert client.post(f"/api/runs/{run['id']}/cancel").json()["state"] == "cancelled"
    assert client.delete(f"/api/runs/{run['id']}").status_code == 204
    assert client.get("/api/runs").json() == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"suite": "demoo"}, "did you mean 'demo'"),
        ({"suite": "demo", "planners": ["dwa:sim_tim=3"]}, "did you mean 'sim_time'"),
        ({"suite": "demo", "planer": ["dwa"]}, "planer: unknown key"),
        ({"suite": "demo", "planners": ["dwa"], "output": "/etc"}, "the server sets 'output'"),
        ({"suite": "demo", "planners": ["dwa"], "title": ["x"]}, "title: expected a string"),
        ({"suite": "demo", "planners": ["dwa"], "workers": -1}, "workers"),
        ({"suite": "demo", "planners": ["dwa"], "workers": 0}, "expected an integer of at least 1"),
    ],
)
def test_a_run_that_cannot_be_is_refused_in_words_and_nothing_is_kept(client, fields, said):
    refused = client.post("/api/runs", json=fields)
    assert refused.status_code == 422
    assert said in refused.json()["error"]
    assert client.get("/api/runs").json() == []


@pytest.mark.parametrize("body", ["{", "[]", '"demo"', "null", ""])
def test_what_is_no_form_is_refused(client, body):
    assert client.post("/api/runs", content=body, headers={"content-type": "application/json"}).status_code == 422


def test_rows_come_by_the_page_and_all_pages_are_the_rows_of_the_run(client, finished, played):
    first, second = (client.get(f"/api/runs/{finished}/rows?offset={offset}&limit=4").json() for offset in (0, 4))
    assert first["total"] == second["total"] == 6
    names = [column["name"] for column in first["columns"]]
    assert names[:4] == ["planner", "stage", "episode", "outcome"]
    rows = [dict(zip(names, row, strict=True)) for row in first["rows"] + second["rows"]]
    for row, kept in zip(rows, sorted(audit_run(played).rows, key=lambda one: one["key"]), strict=True):
        assert {name: value for name, value in row.items() if value is not None} == {k: v for k, v in kept.items() if v is not None}
    assert {"name": "time_to_goal", "unit": "s"} in first["columns"]


def test_rows_are_sorted_and_found_and_those_without_a_value_come_last(client, finished):
    def column(name: str, query: str) -> list:
        got = client.get(f"/api/runs/{finished}/rows?columns={name}&{query}").json()
        return [row[0] for row in got["rows"]]

    up, down = column("path_length", "sort=path_length"), column("path_length", "sort=path_length&down=1")
    assert up == sorted(up) == down[::-1]
    assert set(column("planner", "find=PURSUIT")) == {"pure_pursuit"}
    times = column("time_to_goal", "sort=time_to_goal&down=1")
    known = [time for time in times if time is not None]
    assert times == sorted(known, reverse=True) + [None] * (len(times) - len(known))


@pytest.mark.parametrize("query", ["sort=nothing", "columns=planner,nothing", "limit=0", "limit=100000", "offset=-1"])
def test_a_page_that_there_is_not_is_refused_in_words(client, finished, query):
    refused = client.get(f"/api/runs/{finished}/rows?{query}")
    assert refused.status_code in (404, 422)
    assert refused.json()["error"]


def test_downloads_hold_all_rows(client, finished):
    table = pyarrow.csv.read_csv(io.BytesIO(client.get(f"/api/runs/{finished}/files/csv").content))
    assert table.num_rows == 6
    whole = pyarrow.parquet.read_table(io.BytesIO(client.get(f"/api/runs/{finished}/files/parquet").content))
    assert whole["key"].to_pylist() == sorted(table["key"].to_pylist())
    assert client.get(f"/api/runs/{finished}/files/exe").status_code == 404
    assert r"\begin{tabular}" in client.get(f"/api/runs/{finished}/table?format=latex").text
    assert client.get(f"/api/runs/{finished}/table?format=word").status_code == 422


def test_a_row_says_whether_its_episode_can_be_played_and_a_page_and_a_file_hold_it(client, finished):
    got = client.get(f"/api/runs/{finished}/rows?columns=key,planner&find=go_to").json()
    assert got["recorded"] == [row[0] for row in got["rows"]] == [f"demo/doorway/{k}/go_to_goal/0" for k in range(3)]
    assert got["few"][0] == "success"
    page = client.get(f"/api/runs/{finished}/replay?key={got['recorded'][1]}")
    assert (page.status_code, "demo/doorway/1/go_to_goal" in page.text) == (200, True)
    assert client.get(f"/api/runs/{finished}/replay?key=demo/doorway/9/go_to_goal/0").status_code == 422
    assert client.get(f"/api/runs/{finished}/mcap?key={got['recorded'][1]}").content.startswith(b"\x89MCAP")


def test_a_report_and_a_comparison_reach_nothing_of_the_server(client, finished, settings, played):
    copied = client.post("/api/runs", json=FORM).json()["id"]
    shutil.copytree(played, settings.runs / copied)
    for address in (f"/api/runs/{finished}/report", f"/api/compare?run={finished},{copied}", "/api/leaderboard"):
        got = client.get(address)
        assert got.status_code == 200, got.text
        assert "default-src 'none'" in got.headers["content-security-policy"]
        assert "sandbox" in got.headers["content-security-policy"]
        assert "allow-same-origin" not in got.headers["content-security-policy"]


def test_compared_runs_are_named_by_their_seeds_their_titles_or_their_numbers(played, tmp_path):
    again, seeded = shutil.copytree(played, tmp_path / "a"), shutil.copytree(played, tmp_path / "b")
    record = RunFolder.read(seeded).record
    replace(record, suite={**record.suite, "seed": 1}).write(seeded)
    assert short_names([played, seeded], ["x", "x"]) == ["seed 7", "seed 1"]
    assert short_names([played, again], ["before", "after"]) == ["before", "after"]
    assert short_names([played, again], ["x", "x"]) == short_names([played, again], ["x" * 50, "y" * 50]) == ["run 1", "run 2"]


def test_a_run_without_results_says_so(client):
    run = client.post("/api/runs", json=FORM).json()
    for address in ("rows", "report", "table", "files/csv", "replay?key=demo/doorway/0/go_to_goal/0"):
        refused = client.get(f"/api/runs/{run['id']}/{address}")
        assert (refused.status_code, "has no results yet" in refused.json()["error"]) == (422, True)


def test_a_run_whose_first_episode_is_under_way_has_a_page_of_no_rows_and_a_report(settings, client, finished):
    place = settings.runs / finished
    played = place.resolve()
    place.unlink()
    shutil.copytree(played, place, ignore=shutil.ignore_patterns("episodes", "timing", "trajectories", "report.html"))
    for query in ("", "?sort=key&down=true", "?find=go_to", "?columns=key"):
        got = client.get(f"/api/runs/{finished}/rows{query}")
        assert (got.status_code, got.json()["total"], got.json()["rows"]) == (200, 0, [])
    for address in ("report", "table", "files/csv", "files/parquet"):
        got = client.get(f"/api/runs/{finished}/{address}")
        assert got.status_code in (200, 422), got.text


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..%2fetc", "x" * 5000, "'; DROP TABLE runs; --"])
def test_a_name_that_is_no_run_reaches_no_file(client, name):
    got = client.get(f"/api/runs/{name}/rows")
    assert got.status_code in (404, 422)
    assert client.get("/api/runs").status_code == 200


def test_every_component_says_its_fields_in_json(client):
    for kind in KINDS:
        for name in available(kind):
            got = client.get(f"/api/kinds/{kind}/{name}")
            assert got.status_code == 200, got.text
            for field in got.json()["fields"]:
                assert field["type"] in ("number", "whole", "yes", "choice", "text", "component", "other")


def test_a_form_knows_the_range_the_default_and_the_meaning_of_a_parameter(client):
    fields = {field["name"]: field for field in client.get("/api/kinds/planners/dwa").json()["fields"]}
    horizon = fields["max_vel_x"]
    assert (horizon["type"], horizon["required"], horizon["least"], horizon["most"]) == ("number", False, 0.0, 100.0)
    assert horizon["words"] == "a number in [0, 100] or nothing"
    assert fields["sim_time"]["default"] == 1.7
    assert "m/s" in horizon["help"]
    assert client.get("/api/kinds/planners/dwaa").json()["error"].endswith("did you mean 'dwa'?")
    assert client.get("/api/kinds/plannerz/dwa").status_code == 404


def test_suites_planners_robots_and_policies_are_listed(client):
    suites = {suite["name"]: suite for suite in client.get("/api/suites").json()}
    stages = {stage["name"]: stage for stage in suites["demo"]["stages"]}
    assert stages["doorway"]["count"] == 6
    assert "corridor" in stages["corridor"]["about"]
    assert any("separated by a wall with doors" in stage["about"] for stage in suites["generated"]["stages"])
    assert "stages:" in client.get("/api/suites/demo").json()["text"]
    planners = {planner["name"]: planner for planner in client.get("/api/planners").json()}
    assert (planners["orca"]["missing"], planners["orca"]["learned"], planners["sarl"]["learned"]) == ("", False, True)
    assert planners["dwa_kinetic"]["planner"] == "dwa"
    assert planners["dwa_scan"]["changes"] == {"window.sources": ["map", "people", "scan"]}
    assert planners["dwa_scan"]["summary"].startswith("dwa for a robot that must not trust its map")
    presets = [one for one in planners.values() if one["kind"] == "preset"]
    assert len({(one["planner"], one["summary"], str(one["changes"])) for one in presets}) == len(presets)
    assert "jackal" in {robot["name"] for robot in client.get("/api/robots").json()}
    assert all(policy["name"] for policy in client.get("/api/policies").json())


def test_the_pages_are_served_for_every_path_but_the_programs(client):
    assert client.get("/results/anything").headers["content-type"].startswith("text/html")
    assert client.get("/api/nothing").status_code == 404
    assert "frame-ancestors 'self'" in client.get("/").headers["content-security-policy"]


def test_changes_of_runs_are_told_to_who_listens(client):
    with client.websocket_connect("/api/events") as socket:
        run = client.post("/api/runs", json=FORM).json()
        assert socket.receive_json() == {"run": run}
        client.post(f"/api/runs/{run['id']}/cancel")
        assert socket.receive_json()["run"]["state"] == "cancelled"


def test_the_description_of_the_interface_is_whole(client):
    described = client.get("/api/openapi.json").json()
    assert all(one.get("description") for path in described["paths"].values() for one in path.values())
    assert json.dumps(described)


def test_lists_that_were_read_at_the_start_are_not_read_again(monkeypatch):
    _catalogue.fill_caches()
    monkeypatch.setattr(_catalogue, "load_suite", lambda name: pytest.fail("read again"))
    assert "demo" in [one["name"] for one in _catalogue.suites()]
