"""Routes for scenarios, used by the scenario editor."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from agora.core.state import REACTIONS
from agora.draft.pedestrian_types import pedestrian_types
from agora.draft.people import People
from agora.draft.scenario import GIVEN, MOVES, TALKS, Pedestrian
from agora.maps.furniture import MODELS
from agora.robots.model import load_robot
from agora.web._accounts.ownership import Ownership
from agora.web._accounts.people import CurrentPerson, Person
from agora.web._accounts.permissions import check_owner
from agora.web._accounts.quotas import Ledger
from agora.web._catalogue import fields_of
from agora.web._routes.http import download, get_text, read_body
from agora.web._schemas.base import CONFLICT, file_response, request_body
from agora.web._schemas.content import CheckRequest, Content, Scenario, ScenarioCheck, ScenarioEntry, ScenarioParts, WorldScenario
from agora.web._user_content.scenarios import ROBOT, Scenarios, furniture_outline, text_of


def add_scenarios(app: FastAPI, scenarios: Scenarios, ownership: Ownership, ledger: Ledger) -> None:
    """Add the routes for scenarios."""

    @app.get("/api/scenarios", response_model=list[ScenarioEntry])
    def all_scenarios() -> list[dict[str, Any]]:
        """All scenarios, your own first, with the names of their owners, which are empty for scenarios without an owner."""
        owners = ownership.owners("scenario")
        return [one | {"owner": owners.get(one["name"], "") if one["origin"] == "own" else ""} for one in scenarios.all()]

    @app.get("/api/scenario-parts", response_model=ScenarioParts)
    def parts() -> dict[str, Any]:
        """The types, states and reactions of people, the furniture models, and the keys of a pedestrian."""
        return _parts()

    @app.post("/api/scenarios/check", response_model=ScenarioCheck, openapi_extra=request_body(CheckRequest))
    async def check(request: Request) -> dict[str, Any]:
        """Check the scenario in ``content`` without storing it: its problems, and sentences that describe how everyone in it will
        behave.
        """
        body = await read_body(request)
        return await run_in_threadpool(scenarios.check, text_of(body["content"]))

    @app.get("/api/scenarios/{name}", response_model=Scenario)
    def scenario(name: str) -> dict[str, Any]:
        """One of your scenarios, with the name of its ``owner``, which is empty if there is no owner."""
        return scenarios.get(name) | {"owner": ownership.owner("scenario", name) or ""}

    @app.get("/api/worlds/{world}/scenarios/{name}", response_model=WorldScenario)
    def of_world(world: str, name: str) -> dict[str, Any]:
        """A scenario that belongs to a world."""
        return scenarios.get_of_world(world, name)

    @app.get("/api/scenarios/{name}/file", **file_response("application/json"))
    def file(name: str) -> Response:
        """The file of one of your scenarios."""
        return download(scenarios.file(name), f"{name}.json", "application/json")

    _add_changes(app, scenarios, ownership, ledger)


def _add_changes(app: FastAPI, scenarios: Scenarios, ownership: Ownership, ledger: Ledger) -> None:
    """Add the routes that change scenarios."""

    def store(person: Person, name: str, text: str, version: str) -> dict[str, Any]:
        if version:
            check_owner(person, "scenario", name, ownership.owner("scenario", name))
        with ledger.turn(person):
            ledger.check_upload(person, len(text), new=not version)
            scenario = scenarios.put(name, text, version)
            if not version:
                ownership.put(person.name, ("scenario", name))
        return scenario | {"owner": ownership.owner("scenario", name) or ""}

    @app.put(
        "/api/scenarios/{name}",
        response_model=Scenario,
        openapi_extra=request_body(Content),
        responses=CONFLICT,
    )
    async def keep(name: str, person: CurrentPerson, request: Request) -> dict[str, Any]:
        """Store a scenario, given its ``content`` as plain data or as the text of a file, and the ``version`` on which it is based,
        if any.
        """
        body = await read_body(request)
        return await run_in_threadpool(store, person, name, text_of(body["content"]), get_text(body, "version"))

    @app.delete("/api/scenarios/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove one of your scenarios."""
        scenarios.remove(name)
        ownership.forget("scenario", name)


@cache
def _parts() -> dict[str, Any]:
    radius, robot = People().radius, load_robot(ROBOT)
    types = pedestrian_types().items()
    return {
        "types": [{"name": name, "radius": round(radius * one.radius, 3), "speed": one.speed} for name, one in types],
        "states": [{"name": name, "walks": name in MOVES, "talks": name in TALKS} for name in GIVEN],
        "reactions": list(REACTIONS),
        "fields": list(fields_of(Pedestrian)),
        "things": [furniture_outline(model) for model in sorted(MODELS)],
        "robot": {"name": ROBOT, "radius": robot.radius, "outline": [list(corner) for corner in robot.footprint]},
    }
