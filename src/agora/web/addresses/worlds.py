"""The addresses of worlds: what their list and their drawing ask."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from agora.errors import InputError
from agora.web.accounts.people import Asker, Person
from agora.web.accounts.quotas import Ledger
from agora.web.accounts.things import Things
from agora.web.addresses.answers import download, text_in
from agora.web.drawings import Drawings
from agora.web.scenarios import Scenarios
from agora.web.world_files import zipped
from agora.web.worlds import Worlds, drawn, generated


def add_worlds(app: FastAPI, worlds: Worlds, scenarios: Scenarios, things: Things, ledger: Ledger) -> None:
    """Add the addresses of worlds."""
    _add_looks(app, worlds, things)
    _add_drawings(app, Drawings(worlds, scenarios), things, ledger)

    def made(person: Person, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        with ledger.turn(person):
            ledger.check_upload(person)
            world = make()
            things.put(person.name, ("world", name))
        return world

    @app.post("/api/worlds", status_code=201)
    def make(person: Asker, fields: dict[str, Any]) -> dict[str, Any]:
        """Make an own world by a generator: ``name``, ``generator``, ``parameters``, ``seed``."""
        name, asked = text_in(fields, "name"), _asked(fields)
        return made(person, name, lambda: worlds.make(name, *asked))

    @app.post("/api/worlds/empty", status_code=201)
    def empty(person: Asker, fields: dict[str, Any]) -> dict[str, Any]:
        """Make an own world to draw in: ``name``, ``width``, ``height``, ``resolution`` and ``wall`` around it, m."""
        name, size = text_in(fields, "name"), (_number(fields, "width", 10.0), _number(fields, "height", 8.0))
        resolution, wall = _number(fields, "resolution", 0.05), _number(fields, "wall", 0.1)
        return made(person, name, lambda: worlds.make_empty(name, size, resolution, wall))

    @app.post("/api/worlds/copy", status_code=201)
    def copy(person: Asker, fields: dict[str, Any]) -> dict[str, Any]:
        """Make an own world of the map of another: ``name``, ``of``."""
        name, of = text_in(fields, "name"), text_in(fields, "of")
        return made(person, name, lambda: worlds.copy(name, of))

    @app.delete("/api/worlds/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove an own world in which no own scenario is played."""
        if playing := scenarios.names_in(name):
            raise InputError(f"world: {name!r} is the world of {', '.join(playing)}; remove these first")
        worlds.remove(name)
        things.forget("world", name)


def _add_looks(app: FastAPI, worlds: Worlds, things: Things) -> None:
    """Add the addresses at which worlds are looked at."""

    @app.get("/api/worlds")
    def all_worlds() -> list[dict[str, Any]]:
        """All worlds, with the names of the owners of own ones, empty for nobody."""
        owners = things.owners("world")
        return [one | {"owner": owners.get(one["name"], "") if one["origin"] == "own" else ""} for one in worlds.all()]

    @app.post("/api/worlds/preview")
    def preview(fields: dict[str, Any]) -> dict[str, Any]:
        """The world that a generator would make: ``generator``, ``parameters``, ``seed``; nothing is kept."""
        return drawn(generated(*_asked(fields)))

    @app.get("/api/worlds/{name}")
    def world(name: str) -> dict[str, Any]:
        """A world as the page draws it."""
        return worlds.world(name)

    @app.get("/api/worlds/{name}/file")
    def file(name: str) -> Response:
        """The folder of an own world, as a zip archive."""
        return download(zipped(worlds.own_folder(name)), f"{name}.zip", "application/zip")


def _add_drawings(app: FastAPI, drawings: Drawings, things: Things, ledger: Ledger) -> None:
    """Add the addresses of drawings."""

    @app.get("/api/worlds/{name}/drawing")
    def drawing(name: str) -> dict[str, Any]:
        """The drawing of an own world: its cells (gzip, base64), zones and furniture, its version and its ``owner``."""
        return drawings.get(name) | {"owner": things.owner("world", name) or ""}

    def kept(person: Person, name: str, body: bytes) -> dict[str, Any]:
        try:
            fields = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise InputError("drawing: expected JSON, an object with version, zones and furniture") from error
        with ledger.turn(person):
            ledger.check_upload(person, len(body), new=False)
            return drawings.put(name, fields)

    @app.put("/api/worlds/{name}/drawing")
    async def draw(name: str, person: Asker, request: Request) -> dict[str, Any]:
        """Keep a drawing: ``version``, ``zones``, ``furniture``, and ``cells`` where walls were drawn."""
        return await run_in_threadpool(kept, person, name, await request.body())


def _number(fields: dict[str, Any], key: str, usual: float) -> float:
    value = fields.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e6:
        raise InputError(f"{key}: expected a number from 0 on, got {value!r}")
    return float(value)


def _asked(fields: dict[str, Any]) -> tuple[str, dict[str, Any], int]:
    parameters, seed = fields.get("parameters", {}), fields.get("seed", 0)
    if not isinstance(parameters, dict):
        raise InputError(f"parameters: expected names and values, got {parameters!r}")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise InputError(f"seed: expected a whole number, got {seed!r}")
    return text_in(fields, "generator"), parameters, seed
