"""The addresses of worlds: what their list and their drawing ask."""

from __future__ import annotations

import base64
import json
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from agora.errors import InputError
from agora.web.addresses.answers import download
from agora.web.drawings import Drawings
from agora.web.scenarios import Scenarios
from agora.web.world_files import zipped
from agora.web.worlds import Worlds, drawn, generated


def add_worlds(app: FastAPI, worlds: Worlds, scenarios: Scenarios) -> None:
    """Add the addresses of worlds."""
    drawings = Drawings(worlds, scenarios)

    @app.get("/api/worlds")
    def all_worlds() -> list[dict[str, Any]]:
        """All worlds."""
        return worlds.all()

    @app.post("/api/worlds", status_code=201)
    def make(fields: dict[str, Any]) -> dict[str, Any]:
        """Make an own world by a generator: ``name``, ``generator``, ``parameters``, ``seed``."""
        return worlds.make(_text(fields, "name"), *_asked(fields))

    @app.post("/api/worlds/preview")
    def preview(fields: dict[str, Any]) -> dict[str, Any]:
        """The world that a generator would make: ``generator``, ``parameters``, ``seed``; nothing is kept."""
        return drawn(generated(*_asked(fields)))

    @app.post("/api/worlds/empty", status_code=201)
    def empty(fields: dict[str, Any]) -> dict[str, Any]:
        """Make an own world to draw in: ``name``, ``width``, ``height``, ``resolution`` and ``wall`` around it, m."""
        size = _number(fields, "width", 10.0), _number(fields, "height", 8.0)
        return worlds.make_empty(_text(fields, "name"), size, _number(fields, "resolution", 0.05), _number(fields, "wall", 0.1))

    @app.post("/api/worlds/copy", status_code=201)
    def copy(fields: dict[str, Any]) -> dict[str, Any]:
        """Make an own world of the map of another: ``name``, ``of``."""
        return worlds.copy(_text(fields, "name"), _text(fields, "of"))

    @app.post("/api/worlds/map", status_code=201)
    def take(fields: dict[str, Any]) -> dict[str, Any]:
        """Make an own world of a map of map_server: ``name``, ``yaml`` (its text) and ``image`` (base64)."""
        try:
            image = base64.b64decode(_text(fields, "image"), validate=True)
        except ValueError as error:
            raise InputError("image: expected base64") from error
        return worlds.take(_text(fields, "name"), _text(fields, "yaml"), image)

    @app.get("/api/worlds/{name}")
    def world(name: str) -> dict[str, Any]:
        """A world as the page draws it."""
        return worlds.world(name)

    @app.delete("/api/worlds/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove an own world in which no own scenario is played."""
        if playing := scenarios.names_in(name):
            raise InputError(f"world: {name!r} is the world of {', '.join(playing)}; remove these first")
        worlds.remove(name)

    @app.get("/api/worlds/{name}/file")
    def file(name: str) -> Response:
        """The folder of an own world, as a zip archive."""
        return download(zipped(worlds.own_folder(name)), f"{name}.zip", "application/zip")

    @app.get("/api/worlds/{name}/drawing")
    def drawing(name: str) -> dict[str, Any]:
        """The drawing of an own world: its cells (gzip, base64), zones and furniture, and its version."""
        return drawings.get(name)

    @app.put("/api/worlds/{name}/drawing")
    async def draw(name: str, request: Request) -> dict[str, Any]:
        """Keep a drawing: ``version``, ``zones``, ``furniture``, and ``cells`` where walls were drawn."""
        try:
            fields = json.loads(await request.body())
        except (ValueError, RecursionError) as error:
            raise InputError("drawing: expected JSON, an object with version, zones and furniture") from error
        return await run_in_threadpool(drawings.put, name, fields)


def _text(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{key}: expected a text, got {value!r}")
    return value


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
    return _text(fields, "generator"), parameters, seed
