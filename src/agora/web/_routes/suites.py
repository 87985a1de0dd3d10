"""Routes for users' suites, used by the suite editor."""

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
from agora.web._accounts.ownership import Ownership
from agora.web._accounts.people import CurrentPerson, Person
from agora.web._accounts.permissions import check_owner
from agora.web._accounts.quotas import Ledger
from agora.web._accounts.restrictions import check_restrictions
from agora.web._catalogue import records_of
from agora.web._live.previews import Previews
from agora.web._routes.http import download, get_text, read_body
from agora.web._schemas.base import CONFLICT, file_response, request_body
from agora.web._schemas.content import CheckRequest, Content, OwnSuite, PreviewRequest, SuiteCheck, SuiteParts
from agora.web._schemas.live import Preview
from agora.web._user_content.collection import UserContent
from agora.web._user_content.store import ConflictError
from agora.web._user_content.suites import Suites, named_parts, read_content


def add_suites(app: FastAPI, own: UserContent, previews: Previews, ownership: Ownership, ledger: Ledger) -> None:
    """Add the routes for users' suites."""
    suites = own.suites

    @app.exception_handler(ConflictError)
    async def answer_conflict(request: Request, error: ConflictError) -> JSONResponse:
        kind, name = "suite" if request.url.path.startswith("/api/suites/") else "scenario", error.present.get("name")
        present = error.present | ({"owner": ownership.owner(kind, name) or ""} if name else {})
        return JSONResponse({"error": str(error), "present": present}, 409)

    @app.get("/api/suite-parts", response_model=SuiteParts)
    def parts() -> dict[str, Any]:
        """The records that make up a suite file, with their fields."""
        return _parts()

    @app.post("/api/suites/check", response_model=SuiteCheck, openapi_extra=request_body(CheckRequest))
    async def check(request: Request) -> dict[str, Any]:
        """Check a suite, given its ``name`` and ``content``, without storing it: the problems found, by key, its stages, and the
        text of its file.
        """
        body = await read_body(request)
        return await run_in_threadpool(suites.check, get_text(body, "name") or "suite", body["content"])

    @app.post("/api/suites/preview", response_model=Preview, openapi_extra=request_body(PreviewRequest))
    async def preview(person: CurrentPerson, request: Request) -> dict[str, Any]:
        """A preview of the start of an episode, given the ``content`` of a suite, the name of a ``stage``, and the number of an
        ``episode``.
        """
        body = await read_body(request)
        content, episode = body["content"], body.get("episode", 0)
        if not isinstance(content, dict):
            raise InputError("content: expected an object")
        if not isinstance(episode, int) or isinstance(episode, bool) or episode < 0:
            raise InputError(f"episode: expected an integer of at least 0, got {episode!r}")
        check_restrictions(person, named_parts(content))
        return await run_in_threadpool(previews.picture, content, get_text(body, "stage"), episode)

    @app.get("/api/suites/own/{name}", response_model=OwnSuite)
    def suite(name: str) -> dict[str, Any]:
        """One of your suites, with the name of its ``owner``, which is empty if there is no owner."""
        found = suites.get(name) | {"owner": ownership.owner("suite", name) or ""}
        Thread(target=previews.start, daemon=True).start()
        return found

    @app.get("/api/suites/own/{name}/file", **file_response("application/yaml"))
    def file(name: str) -> Response:
        """The file of one of your suites."""
        return download(suites.store.path(name).read_bytes(), f"{name}.yaml", "application/yaml")

    _add_changes(app, suites, ownership, ledger)


def _add_changes(app: FastAPI, suites: Suites, ownership: Ownership, ledger: Ledger) -> None:
    """Add the routes that change suites."""

    def store(person: Person, name: str, content: Any, version: str) -> dict[str, Any]:
        check_restrictions(person, named_parts(read_content(content)))
        if version:
            check_owner(person, "suite", name, ownership.owner("suite", name))
        with ledger.turn(person):
            ledger.check_upload(person, len(json.dumps(content)), new=not version)
            suite = suites.put(name, content, version)
            if not version:
                ownership.put(person.name, ("suite", name))
        return suite | {"owner": ownership.owner("suite", name) or ""}

    @app.put(
        "/api/suites/own/{name}",
        response_model=OwnSuite,
        openapi_extra=request_body(Content),
        responses=CONFLICT,
    )
    async def keep(name: str, person: CurrentPerson, request: Request) -> dict[str, Any]:
        """Store a suite, given its ``content`` as plain data or as the text of a file, and the ``version`` on which it is based, if
        any.
        """
        body = await read_body(request)
        return await run_in_threadpool(store, person, name, body["content"], get_text(body, "version"))

    @app.delete("/api/suites/own/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove one of your suites."""
        suites.store.remove(name)
        ownership.forget("suite", name)


@cache
def _parts() -> dict[str, Any]:
    return {"records": records_of(Suite)}
