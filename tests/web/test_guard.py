from __future__ import annotations

import json

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine
from starlette.requests import Request
from starlette.websockets import WebSocketDisconnect

from agora.web._guard import LARGEST, is_ours
from agora.web.app import create_app
from agora.web.database import migrate

FORM = {"suite": "demo", "planners": ["go_to_goal"]}


@pytest.fixture
def client(settings):
    engine = create_engine(settings.url)
    migrate(engine)
    with TestClient(create_app(settings, engine), headers={"host": "127.0.0.1:8080"}) as found:
        yield found
    engine.dispose()


def asked(**headers: str) -> Request:
    return Request({"type": "http", "headers": [(name.encode(), value.encode()) for name, value in headers.items()]})


@pytest.mark.parametrize(
    ("headers", "ours"),
    [
        ({"host": "127.0.0.1:8080"}, True),
        ({"host": "localhost"}, True),
        ({"host": "[::1]:9000", "origin": "http://[::1]:9000"}, True),
        ({"host": "localhost:8080", "origin": "http://localhost:8080"}, True),
        ({"host": "localhost:8080", "origin": "http://localhost:8081"}, False),
        ({"host": "localhost:8080", "origin": "null"}, False),
        ({"host": "localhost:8080", "origin": "http://evil.example"}, False),
        ({"host": "evil.example:8080", "origin": "http://evil.example:8080"}, False),
        ({"host": "127.0.0.1.evil.example"}, False),
        ({}, False),
    ],
)
def test_only_pages_of_this_server_and_programs_here_are_answered(headers, ours):
    assert is_ours(asked(**headers)) is ours


def test_a_page_of_somebody_else_changes_nothing_and_reads_nothing(client):
    for headers in ({"origin": "http://evil.example"}, {"host": "evil.example"}):
        refused = client.post("/api/runs", json=FORM, headers=headers)
        assert (refused.status_code, "this server only accepts requests from its own pages" in refused.json()["error"]) == (
            403,
            True,
        )
        assert client.get("/api/runs", headers=headers).status_code == 403
    assert client.get("/api/runs").json() == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_what_a_page_may_send_without_asking_first_is_no_form(client, kind):
    assert client.post("/api/runs", content=json.dumps(FORM), headers={"content-type": kind}).status_code == 422
    assert client.get("/api/runs").json() == []


def test_a_request_that_is_too_large_or_of_no_length_is_refused_unread(client):
    large = client.post("/api/runs", content=b"[" * (LARGEST + 1), headers={"content-type": "application/json"})
    assert (large.status_code, large.json()["error"]) == (413, "expected at most 2 MiB, got 2.0")
    endless = client.post("/api/runs", content=(b"[" for _ in range(3)), headers={"content-type": "application/json"})
    assert endless.status_code == 411


def test_a_deeply_nested_form_is_refused_in_words(client):
    deep = client.post("/api/runs", content="[" * 100_000, headers={"content-type": "application/json"})
    assert deep.status_code in (400, 422)
    assert deep.json()["error"]


def test_a_page_of_another_server_gets_no_socket(client):
    for address in ("/api/events", "/api/live/any"):
        with (
            pytest.raises(WebSocketDisconnect) as refused,
            client.websocket_connect(address, headers={"origin": "http://evil.example"}),
        ):
            pass
        assert refused.value.code == 4403


def test_every_answer_says_what_it_may_reach(client):
    for address in ("/", "/api/runs", "/api/nothing"):
        heads = client.get(address).headers
        assert "script-src 'self'" in heads["content-security-policy"]
        assert "unsafe-inline" not in heads["content-security-policy"].partition("script-src")[2].partition(";")[0]
        assert (heads["x-content-type-options"], heads["cross-origin-resource-policy"]) == ("nosniff", "same-origin")
