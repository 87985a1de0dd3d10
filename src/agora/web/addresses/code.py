"""The addresses of planners that are code."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from agora.web.accounts.people import Asker, Person
from agora.web.accounts.quotas import Ledger
from agora.web.accounts.things import Things
from agora.web.addresses.answers import download
from agora.web.addresses.uploads import body_of
from agora.web.policies import Policies


def add_code(app: FastAPI, policies: Policies, things: Things, ledger: Ledger) -> None:
    """Add the addresses of planners that are code."""

    def kept(person: Person, name: str, data: bytes, instead: bool) -> dict[str, Any]:
        card = policies.code.read(name, data)
        with ledger.turn(person):
            ledger.check_upload(person, len(data))
            planner = policies.keep_code(name, data, card, instead=instead)
            things.put(person.name, ("planner", name))
        return planner

    @app.put("/api/uploads/planners/{name}", status_code=201)
    async def keep(name: str, person: Asker, request: Request, instead: bool = False) -> dict[str, Any]:
        """Keep a planner of one's own, where the administrator allows code: the body is a file of Python.

        ``instead`` replaces the own planner of that name; runs that were asked for keep the old one.
        """
        return await run_in_threadpool(kept, person, name, await body_of(request), instead)

    @app.get("/api/own-planners/{name}/file")
    def file(name: str) -> Response:
        """The file of an own planner."""
        return download(policies.code.file(name).read_bytes(), f"{name}.py")

    @app.delete("/api/own-planners/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove an own planner; runs that use it have kept a copy."""
        policies.code.remove(name)
        things.forget("planner", name)
