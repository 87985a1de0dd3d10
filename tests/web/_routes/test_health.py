"""A monitor learns how the server stands: what keeps it from working in words, and its numbers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from agora.web import _health
from agora.web._runs.queue import RunQueue
from agora.web.app import create_app
from agora.web.database import open_database


@pytest.fixture
def engine(settings):
    with open_database(settings.url) as found:
        yield found


@pytest.fixture
def client(settings, engine):
    with TestClient(create_app(settings, engine), base_url="http://127.0.0.1") as found:
        yield found


def numbers(client) -> dict[tuple[str, ...], float]:
    """The numbers of a server by name and labels."""
    families = text_string_to_metric_families(client.get("/api/metrics").text)
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


def test_health_reports_a_waiting_run_if_no_worker_is_alive(client, engine, monkeypatch):
    queue = RunQueue(engine)
    assert client.get("/api/health").json() == {"problems": []}
    queue.put("one", {})
    said = client.get("/api/health")
    assert said.status_code == 503 and "no worker is alive" in said.json()["problems"][0]
    queue.note_heartbeat("a")
    queue.note_heartbeat("a")
    assert client.get("/api/health").status_code == 200
    monkeypatch.setattr("agora.web._runs.queue.SILENT", timedelta(0))
    assert client.get("/api/health").status_code == 503
    queue.note_heartbeat("b")
    queue.remove_worker("b")
    assert client.get("/api/health").status_code == 503


def test_a_disk_that_is_nearly_full_is_said(client, monkeypatch):
    monkeypatch.setattr(_health, "LOW", 1 << 62)
    assert "MiB left" in client.get("/api/health").json()["problems"][0]


def test_the_numbers_are_those_of_runs_workers_and_requests(client, engine):
    queue = RunQueue(engine)
    queue.put("one", {})
    queue.cancel(queue.put("two", {}).id)
    queue.note_heartbeat("a")
    client.get("/api/runs")
    client.get("/api/runs/none")
    found = numbers(client)
    assert found["agora_runs", "queued"] == found["agora_runs", "cancelled"] == 1 and found["agora_runs", "running"] == 0
    assert found["agora_workers",] == 1 and found["agora_watchers",] == 0
    assert found["agora_request_seconds_count", "/api/runs", "GET", "200"] == 1
    assert found["agora_request_seconds_count", "/api/runs/{id}", "GET", "404"] == 1
    assert found["agora_disk_free_bytes",] > 0


def test_with_accounts_everybody_sees_the_health_and_administrators_the_numbers(house):
    assert house.stranger().get("/api/health").status_code == 200
    assert house.stranger().get("/api/metrics").status_code == 401
    assert house.person("A runner", "run").get("/api/metrics").status_code == 403
    assert house.person("An administrator", "administer").get("/api/metrics").status_code == 200
