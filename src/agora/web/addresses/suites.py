"""The addresses of own suites: what the suite editor asks."""

from __future__ import annotations

import json
from functools import cache
from threading import Thread
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from agora.errors import InputError
from agora.tasks.suite import Suite
from agora.web.accounts.needs import must_own
from agora.web.accounts.people import Asker, Person
from agora.web.accounts.quotas import Ledger
from agora.web.accounts.reach import check_reach
from agora.web.accounts.things import Things
from agora.web.addresses.answers import body_of, download, text_in
from agora.web.catalogue import records_of
from agora.web.own import Own
from agora.web.previews import Previews
from agora.web.store import OlderError
from agora.web.suites import Suites, content_in, reach_of


def add_suites(app: FastAPI, own: Own, previews: Previews, things: Things, ledger: Ledger) -> None:
    """Add the addresses of own suites."""
    suites = own.suites

    @app.exception_handler(OlderError)
    async def older(request: Request, error: OlderError) -> JSONResponse:
        kind, name = "suite" if request.url.path.startswith("/api/suites/") else "scenario", error.present.get("name")
        present = error.present | ({"owner": things.owner(kind, name) or ""} if name else {})
        return JSONResponse({"error": str(error), "present": present}, 409)

    @app.get("/api/suite-parts")
    def parts() -> dict[str, Any]:
        """The records of a suite's file with their fields."""
        return _parts()

    @app.post("/api/suites/check")
    async def check(request: Request) -> dict[str, Any]:
        """The problems of a suite by key, its stages, and the text of its file: ``name``, ``content``; nothing is kept."""
        body = await body_of(request)
        return await run_in_threadpool(suites.check, text_in(body, "name") or "suite", body["content"])

    @app.post("/api/suites/preview")
    async def preview(person: Asker, request: Request) -> dict[str, Any]:
        """An episode of a suite as it begins: ``content``, the name of a ``stage``, the number of an ``episode``."""
        body = await body_of(request)
        content, episode = body["content"], body.get("episode", 0)
        if not isinstance(content, dict):
            raise InputError("content: expected an object")
        if not isinstance(episode, int) or isinstance(episode, bool) or episode < 0:
            raise InputError(f"episode: expected a whole number of at least 0, got {episode!r}")
        check_reach(person, reach_of(content))
        return await run_in_threadpool(previews.picture, content, text_in(body, "stage"), episode)

    @app.get("/api/suites/own/{name}")
    def suite(name: str) -> dict[str, Any]:
        """An own suite, with the name of its ``owner``, empty for nobody."""
        found = suites.get(name) | {"owner": things.owner("suite", name) or ""}
        Thread(target=previews.begin, daemon=True).start()
        return found

    @app.get("/api/suites/own/{name}/file")
    def file(name: str) -> Response:
        """The file of an own suite."""
        return download(suites.store.path(name).read_bytes(), f"{name}.yaml", "application/yaml")

    _changes(app, suites, things, ledger)


def _changes(app: FastAPI, suites: Suites, things: Things, ledger: Ledger) -> None:
    """Add the addresses that change suites."""

    def kept(person: Person, name: str, content: Any, version: str) -> dict[str, Any]:
        check_reach(person, reach_of(content_in(content)))
        if version:
            must_own(person, "suite", name, things.owner("suite", name))
        with ledger.turn(person):
            ledger.check_upload(person, len(json.dumps(content)), new=not version)
            suite = suites.put(name, content, version)
            if not version:
                things.put(person.name, ("suite", name))
        return suite | {"owner": things.owner("suite", name) or ""}

    @app.put("/api/suites/own/{name}")
    async def keep(name: str, person: Asker, request: Request) -> dict[str, Any]:
        """Keep an own suite: ``content``, plain data or the text of a file, and the ``version`` that it changes, if any."""
        body = await body_of(request)
        return await run_in_threadpool(kept, person, name, body["content"], text_in(body, "version"))

    @app.delete("/api/suites/own/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove an own suite."""
        suites.store.remove(name)
        things.forget("suite", name)


@cache
def _parts() -> dict[str, Any]:
    return {"records": records_of(Suite)}
