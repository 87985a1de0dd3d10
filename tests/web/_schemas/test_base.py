from __future__ import annotations

from typing import Annotated, Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from agora.registry import KINDS, available
from agora.web._schemas.base import Documented, DocumentedRoute, Model
from tests.web.documented import model_of
from tests.web.typescript import FILE, document, generate_types

FILES = ("csv", "octet-stream", "parquet", "plain", "yaml", "zip", "html")


class Pair(Model):
    """A pair."""

    one: float
    other: float = 0.0


def served(sent: dict[str, Any]) -> FastAPI:
    """A server that sends a pair, once by a model and once without."""
    app = FastAPI()
    app.router.route_class = DocumentedRoute

    @app.post("/pair", response_model=Pair)
    def pair(fields: Annotated[dict[str, Any], Documented(Pair)]) -> dict[str, Any]:
        return sent

    @app.get("/plain")
    def plain() -> dict[str, Any]:
        return sent

    return app


def test_a_model_documents_a_response_and_changes_no_byte_of_it():
    app = served({"other": 1, "one": 1e-05})
    client, routes = TestClient(app), {route.path: route for route in app.routes if isinstance(route, APIRoute)}
    assert model_of(routes["/pair"].response_field) is Pair
    assert model_of(routes["/plain"].response_field) is None
    assert app.openapi()["components"]["schemas"]["Pair"]["required"] == ["one"]
    assert client.post("/pair", json={"unknown": "key"}).content == client.get("/plain").content == b'{"other":1,"one":0.00001}'


def test_a_test_fails_whose_response_does_not_match_its_model():
    client = TestClient(served({"one": 1.0, "more": 2.0}))
    with pytest.raises(ValueError, match="more"):
        client.post("/pair", json={})


@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        ("worlds", {"name": 3}, "name: expected a string, got 3"),
        ("worlds", {"seed": True}, "seed: expected an integer, got True"),
        ("worlds/preview", {"parameters": ["{a}"]}, "parameters: expected names and values, got ['{a}']"),
        ("worlds/empty", {"width": -1}, "width: expected a number of at least 0, got -1"),
        ("worlds/copy", {"of": None}, "of: expected a string, got None"),
        ("session", {"name": ["a"], "password": {}}, "name: expected a string, got ['a']; password: expected a string, got {}"),
        ("me/tokens", {"name": "a", "days": 367}, "days: expected an integer in [1, 366], got 367"),
        ("invitations", {"role": 1.5}, "role: expected a string, got 1.5"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_key(client, path, fields, said):
    refused = client.post(f"/api/{path}", json=fields)
    assert (refused.status_code, refused.json()) == (422, {"error": said})


def test_every_operation_has_a_schema_of_what_it_receives_and_sends():
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            answers = [answer for code, answer in operation["responses"].items() if code.startswith("2")]
            media = {name: content for answer in answers for name, content in answer.get("content", {}).items()}
            for name, content in media.items():
                is_file = name.endswith(FILES) or path.endswith("/file")
                assert is_file or "$ref" in str(content["schema"]), where
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            assert body is None or "$ref" in str(body) or "properties" in body, where


LISTS = [
    "about",
    "kinds",
    "robots",
    "planners",
    "policies",
    "suites",
    "trainings",
    "scenarios",
    "scenario-parts",
    "suite-parts",
    "worlds",
]


@pytest.mark.parametrize("name", [*LISTS, "server"])
def test_every_list_matches_its_model(client, name):
    assert client.get(f"/api/{name}").status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_every_component_matches_its_model(client, kind):
    for name in available(kind):
        assert client.get(f"/api/kinds/{kind}/{name}").status_code in (200, 422), name


def test_the_types_of_the_pages_are_those_of_the_document():
    assert FILE.read_text(encoding="utf-8") == generate_types(), "run make types"
