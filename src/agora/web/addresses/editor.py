"""The addresses of scenarios: what the scenario editor asks."""

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
from agora.web.accounts.needs import must_own
from agora.web.accounts.people import Asker, Person
from agora.web.accounts.quotas import Ledger
from agora.web.accounts.things import Things
from agora.web.addresses.answers import body_of, download, text_in
from agora.web.catalogue import fields_of
from agora.web.scenarios import ROBOT, Scenarios, text_of, thing


def add_scenarios(app: FastAPI, scenarios: Scenarios, things: Things, ledger: Ledger) -> None:
    """Add the addresses of scenarios."""

    @app.get("/api/scenarios")
    def all_scenarios() -> list[dict[str, Any]]:
        """All scenarios, the own ones first, with the names of their owners, empty for nobody."""
        owners = things.owners("scenario")
        return [one | {"owner": owners.get(one["name"], "") if one["origin"] == "own" else ""} for one in scenarios.all()]

    @app.get("/api/scenario-parts")
    def parts() -> dict[str, Any]:
        """The types, states and reactions of people, the models of things, and the keys of a pedestrian."""
        return _parts()

    @app.post("/api/scenarios/check")
    async def check(request: Request) -> dict[str, Any]:
        """The problems of a scenario, and sentences about what everybody in it will do: ``content``; nothing is kept."""
        body = await body_of(request)
        return await run_in_threadpool(scenarios.check, text_of(body["content"]))

    @app.get("/api/scenarios/{name}")
    def scenario(name: str) -> dict[str, Any]:
        """An own scenario, with the name of its ``owner``, empty for nobody."""
        return scenarios.get(name) | {"owner": things.owner("scenario", name) or ""}

    @app.get("/api/worlds/{world}/scenarios/{name}")
    def of_world(world: str, name: str) -> dict[str, Any]:
        """A scenario of a world."""
        return scenarios.look(world, name)

    @app.get("/api/scenarios/{name}/file")
    def file(name: str) -> Response:
        """The file of an own scenario."""
        return download(scenarios.file(name), f"{name}.json", "application/json")

    _changes(app, scenarios, things, ledger)


def _changes(app: FastAPI, scenarios: Scenarios, things: Things, ledger: Ledger) -> None:
    """Add the addresses that change scenarios."""

    def kept(person: Person, name: str, text: str, version: str) -> dict[str, Any]:
        if version:
            must_own(person, "scenario", name, things.owner("scenario", name))
        with ledger.turn(person):
            ledger.check_upload(person, len(text), new=not version)
            scenario = scenarios.put(name, text, version)
            if not version:
                things.put(person.name, ("scenario", name))
        return scenario | {"owner": things.owner("scenario", name) or ""}

    @app.put("/api/scenarios/{name}")
    async def keep(name: str, person: Asker, request: Request) -> dict[str, Any]:
        """Keep an own scenario: ``content``, plain data or the text of a file, and the ``version`` that it changes, if any."""
        body = await body_of(request)
        return await run_in_threadpool(kept, person, name, text_of(body["content"]), text_in(body, "version"))

    @app.delete("/api/scenarios/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove an own scenario."""
        scenarios.remove(name)
        things.forget("scenario", name)


@cache
def _parts() -> dict[str, Any]:
    radius, robot = People().radius, load_robot(ROBOT)
    types = pedestrian_types().items()
    return {
        "types": [{"name": name, "radius": round(radius * one.radius, 3), "speed": one.speed} for name, one in types],
        "states": [{"name": name, "walks": name in MOVES, "talks": name in TALKS} for name in GIVEN],
        "reactions": list(REACTIONS),
        "fields": list(fields_of(Pedestrian)),
        "things": [thing(model) for model in sorted(MODELS)],
        "robot": {"name": ROBOT, "radius": robot.radius, "outline": [list(corner) for corner in robot.footprint]},
    }
