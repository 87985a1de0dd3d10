"""Routes for planners uploaded as code."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from agora.web._accounts.ownership import Ownership
from agora.web._accounts.people import CurrentPerson, Person
from agora.web._accounts.quotas import Ledger
from agora.web._routes.http import download
from agora.web._routes.uploads import read_upload
from agora.web._schemas.base import file_response
from agora.web._schemas.catalogue import Planner
from agora.web._user_planners.policies import Policies


def add_planners(app: FastAPI, policies: Policies, ownership: Ownership, ledger: Ledger) -> None:
    """Add the routes for planners uploaded as code."""

    def store(person: Person, name: str, data: bytes, instead: bool) -> dict[str, Any]:
        card = policies.code.read(name, data)
        with ledger.turn(person):
            ledger.check_upload(person, len(data))
            planner = policies.keep_code(name, data, card, instead=instead)
            ownership.put(person.name, ("planner", name))
        return planner

    @app.put("/api/uploads/planners/{name}", status_code=201, response_model=Planner)
    async def keep(name: str, person: CurrentPerson, request: Request, instead: bool = False) -> dict[str, Any]:
        """Upload a planner as code, if the administrator allows this. The body is a Python file.

        With ``instead``, your existing planner with that name is replaced; runs requested earlier keep the old planner.
        """
        return await run_in_threadpool(store, person, name, await read_upload(request), instead)

    @app.get("/api/own-planners/{name}/file", **file_response())
    def file(name: str) -> Response:
        """The file of one of your planners."""
        return download(policies.code.file(name).read_bytes(), f"{name}.py")

    @app.delete("/api/own-planners/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove one of your planners; runs that use it keep a copy."""
        policies.code.remove(name)
        ownership.forget("planner", name)
