"""Routes for worlds, used by the list of worlds and the drawing page."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from agora.errors import InputError
from agora.web._accounts.ownership import Ownership
from agora.web._accounts.people import CurrentPerson, Person
from agora.web._accounts.quotas import Ledger
from agora.web._routes.http import download
from agora.web._schemas.base import CONFLICT, file_response, request_body
from agora.web._schemas.content import (
    CopyRequest,
    DrawingRequest,
    EmptyWorldRequest,
    GeneratorRequest,
    KeptDrawing,
    Place,
    World,
    WorldDrawing,
    WorldEntry,
    WorldRequest,
)
from agora.web._user_content.archives import pack_folder
from agora.web._user_content.drawings import Drawings
from agora.web._user_content.scenarios import Scenarios
from agora.web._user_content.worlds import Worlds, describe_place, generate_place


def add_worlds(app: FastAPI, worlds: Worlds, scenarios: Scenarios, ownership: Ownership, ledger: Ledger) -> None:
    """Add the routes for worlds."""
    _add_views(app, worlds, ownership)
    _add_drawings(app, Drawings(worlds, scenarios), ownership, ledger)

    def store(person: Person, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        with ledger.turn(person):
            ledger.check_upload(person)
            world = make()
            ownership.put(person.name, ("world", name))
        return world

    @app.post("/api/worlds", status_code=201, response_model=World)
    def make(person: CurrentPerson, fields: WorldRequest) -> dict[str, Any]:
        """Create a world with a generator, given ``name``, ``generator``, ``parameters`` and ``seed``."""
        make_world = partial(worlds.make, fields.name, fields.generator, fields.parameters, fields.seed)
        return store(person, fields.name, make_world)

    @app.post("/api/worlds/empty", status_code=201, response_model=World)
    def empty(person: CurrentPerson, fields: EmptyWorldRequest) -> dict[str, Any]:
        """Create an empty world to draw in, given its ``name``, its ``width``, ``height`` and ``resolution``, and the thickness of
        the ``wall`` around it, m.
        """
        size = fields.width, fields.height
        return store(person, fields.name, partial(worlds.make_empty, fields.name, size, fields.resolution, fields.wall))

    @app.post("/api/worlds/copy", status_code=201, response_model=World)
    def copy(person: CurrentPerson, fields: CopyRequest) -> dict[str, Any]:
        """Create a world called ``name`` with the map of the world ``of``."""
        return store(person, fields.name, partial(worlds.copy, fields.name, fields.of))

    @app.delete("/api/worlds/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove one of your worlds, unless one of your scenarios uses it."""
        if playing := scenarios.names_in_world(name):
            raise InputError(f"world: {name!r} is used by {', '.join(playing)}; remove these first")
        worlds.remove(name)
        ownership.forget("world", name)


def _add_views(app: FastAPI, worlds: Worlds, ownership: Ownership) -> None:
    """Add the routes for viewing worlds."""

    @app.get("/api/worlds", response_model=list[WorldEntry])
    def all_worlds() -> list[dict[str, Any]]:
        """All worlds, with the names of their owners, which are empty for worlds without an owner."""
        owners = ownership.owners("world")
        return [one | {"owner": owners.get(one["name"], "") if one["origin"] == "own" else ""} for one in worlds.all()]

    @app.post("/api/worlds/preview", response_model=Place)
    def preview(fields: GeneratorRequest) -> dict[str, Any]:
        """Preview a generated world without storing it, given ``generator``, ``parameters`` and ``seed``."""
        return describe_place(generate_place(fields.generator, fields.parameters, fields.seed))

    @app.get("/api/worlds/{name}", response_model=World)
    def world(name: str) -> dict[str, Any]:
        """A world in the format used by the front end."""
        return worlds.world(name)

    @app.get("/api/worlds/{name}/file", **file_response("application/zip"))
    def file(name: str) -> Response:
        """The folder of one of your worlds as a zip archive."""
        return download(pack_folder(worlds.own_folder(name)), f"{name}.zip", "application/zip")


def _add_drawings(app: FastAPI, drawings: Drawings, ownership: Ownership, ledger: Ledger) -> None:
    """Add the routes for drawings."""

    @app.get("/api/worlds/{name}/drawing", response_model=WorldDrawing)
    def drawing(name: str) -> dict[str, Any]:
        """The drawing of one of your worlds: its cells (gzip, base64), its zones and furniture, its version, and its ``owner``."""
        return drawings.get(name) | {"owner": ownership.owner("world", name) or ""}

    def store(person: Person, name: str, body: bytes) -> dict[str, Any]:
        try:
            fields = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise InputError("drawing: expected JSON, an object with version, zones and furniture") from error
        with ledger.turn(person):
            ledger.check_upload(person, len(body), new=False)
            return drawings.put(name, fields)

    @app.put(
        "/api/worlds/{name}/drawing",
        response_model=KeptDrawing,
        openapi_extra=request_body(DrawingRequest),
        responses=CONFLICT,
    )
    async def draw(name: str, person: CurrentPerson, request: Request) -> dict[str, Any]:
        """Store a drawing, given ``version``, ``zones``, ``furniture`` and, if walls were drawn, ``cells``."""
        return await run_in_threadpool(store, person, name, await request.body())
