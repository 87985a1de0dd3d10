"""The web application: its routes (`agora.web._routes`), error responses, and the built front end.

`agora.web._guard` identifies the person behind each request. Workers in separate processes execute runs (`agora.web._runs.worker`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from agora import __version__
from agora.errors import AgoraError, UnknownNameError
from agora.web._accounts.keys import Keys
from agora.web._accounts.ownership import Ownership
from agora.web._accounts.permissions import permission_check
from agora.web._accounts.quotas import Ledger
from agora.web._accounts.users import Users
from agora.web._events import Events
from agora.web._guard import Guard
from agora.web._health import RequestTimer, ServerMetrics
from agora.web._live.previews import Previews
from agora.web._live.sessions import LiveSession, LiveSessions
from agora.web._routes.accounts import add_accounts, make_person_lookup
from agora.web._routes.administration import add_administration, add_server_state
from agora.web._routes.catalogue import add_catalogue
from agora.web._routes.health import add_health
from agora.web._routes.live_sessions import add_live_sessions
from agora.web._routes.planners import add_planners
from agora.web._routes.results import add_results
from agora.web._routes.runs import add_runs
from agora.web._routes.scenarios import add_scenarios
from agora.web._routes.suites import add_suites
from agora.web._routes.trainings import add_trainings
from agora.web._routes.uploads import add_uploads
from agora.web._routes.worlds import add_worlds
from agora.web._runs.queue import RunQueue
from agora.web._runs.trainings import Trainings
from agora.web._schemas.base import EXPECTED, DocumentedRoute, ErrorMessage
from agora.web._storage_errors import database_message, disk_message
from agora.web._user_content.collection import UserContent
from agora.web._user_content.imports import Importer
from agora.web._user_planners.policies import Policies
from agora.web.settings import Settings

STATIC = Path(__file__).parent / "static"
"""The built front end."""

UNBUILT = (
    "<!doctype html><title>Agora</title><p>The pages have not been built. In a clone of the repository, run "
    "<code>make web</code>, which needs npm. "
    "The API is described at <a href='/api/docs'>/api/docs</a>."
)
LOOKS = 0.3
"""Period at which the server looks for changes that workers make to runs, s."""


def create_app(settings: Settings, engine: Engine) -> FastAPI:
    """Return the application that serves a folder.

    Args:
        settings: settings of the server; the folder must exist.
        engine: engine of the database (`agora.web.database.open_database`).
    """
    queue, events = RunQueue(engine), Events()
    own, previews, policies = UserContent(settings), Previews(settings.folder), Policies(settings)
    ownership = Ownership(engine, _places(settings, own, policies))
    users, keys, ledger = Users(engine, settings.limits.quotas), Keys(engine), Ledger(queue, settings.runs, ownership)
    sessions: list[LiveSessions] = []
    owners: dict[str, Callable[[str], str | None]] = {
        "run": queue.owner,
        "live": lambda id: sessions[0].owner(id),
        **{kind: partial(ownership.owner, kind) for kind in ownership.kinds},
    }

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        keep = partial(_keep, queue)
        tell = partial(_tell_live, events)
        sessions.append(LiveSessions(settings.limits.lives, settings.runs, tell, keep, own.suite, policies))
        looking = asyncio.create_task(_tell_changes(queue, events))
        yield
        looking.cancel()
        sessions.pop().close()
        previews.close()

    app = FastAPI(
        title="Agora",
        version=__version__,
        lifespan=lifespan,
        dependencies=[Depends(permission_check(owners))],
        docs_url="/api/docs",
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses={"default": {"model": ErrorMessage, "description": "The request was rejected or could not be answered."}},
    )
    app.router.route_class = DocumentedRoute
    _add_error_handlers(app)
    metrics = ServerMetrics(queue, settings.folder, lambda: sessions[0])
    app.add_middleware(Guard, settings=settings, known=make_person_lookup(users, keys))
    if settings.accounts:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=["127.0.0.1", "::1", *settings.proxies])
    app.add_middleware(RequestTimer, requests=metrics.requests)
    add_health(app, settings, queue, metrics)
    add_accounts(app, settings, users, keys, ledger)
    add_administration(app, users, keys, ledger)
    add_server_state(app, settings, queue, lambda: sessions[0])
    add_catalogue(app, settings, own, policies)
    add_runs(app, settings, queue, own.suite, policies, ledger)
    add_trainings(app, settings, queue, Trainings(policies, own.suite), ledger)
    add_results(app, settings, queue)
    add_live_sessions(app, events, lambda: sessions[0], ledger)
    _add_own(app, own, policies, previews, ownership, ledger)
    _add_pages(app)
    return app


def _places(settings: Settings, own: UserContent, policies: Policies) -> dict[str, Callable[[str], Path]]:
    """Return, for each kind of owned content, a function that returns the path of the content with a given name."""
    return {
        "scenario": own.scenarios.store.place,
        "suite": own.suites.store.place,
        "world": lambda name: settings.worlds / name,
        "policy": policies.uploaded.path,
        "planner": policies.code.path,
    }


def _add_own(app: FastAPI, own: UserContent, policies: Policies, previews: Previews, ownership: Ownership, ledger: Ledger) -> None:
    """Add the routes for owned content other than runs."""
    add_worlds(app, own.worlds, own.scenarios, ownership, ledger)
    add_scenarios(app, own.scenarios, ownership, ledger)
    add_uploads(app, Importer(own.worlds, own.scenarios), policies, ownership, ledger)
    add_planners(app, policies, ownership, ledger)
    add_suites(app, own, previews, ownership, ledger)


def _keep(queue: RunQueue, drive: Mapping[str, Any]) -> None:
    """Add a stored, manually driven episode to the runs."""
    queue.put_finished(drive["id"], drive["title"], drive["form"], drive["count"], drive["owner"])


def _tell_live(events: Events, live: LiveSession) -> None:
    """Notify listeners of changes to a live episode."""
    events.tell({"live": live.plain()})


async def _tell_changes(queue: RunQueue, events: Events) -> None:
    """Notify listeners of changes to runs."""
    known: dict[str, dict[str, Any]] = {}
    while True:
        if events.listened:
            for run in await run_in_threadpool(queue.runs):
                if known.get(run.id) != (said := run.plain()):
                    known[run.id] = said
                    events.tell({"run": said})
        await asyncio.sleep(LOOKS)


def _add_error_handlers(app: FastAPI) -> None:
    """Turn errors into responses with a message."""

    @app.exception_handler(AgoraError)
    async def answer_refusal(request: Request, error: AgoraError) -> JSONResponse:
        missing = isinstance(error, UnknownNameError) and request.method in ("GET", "DELETE")
        return JSONResponse({"error": str(error)}, 404 if missing else 422)

    @app.exception_handler(RequestValidationError)
    async def answer_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        said = "; ".join(f"{_key_of(one)}: {one['msg']}" for one in error.errors())
        return JSONResponse({"error": said}, 422)

    @app.exception_handler(HTTPException)
    async def answer_http_error(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    @app.exception_handler(OSError)
    async def answer_disk_error(request: Request, error: OSError) -> JSONResponse:
        return JSONResponse({"error": disk_message(error, "nothing was saved")}, 507)

    @app.exception_handler(SQLAlchemyError)
    async def answer_database_error(request: Request, error: SQLAlchemyError) -> JSONResponse:
        return JSONResponse({"error": database_message(error)}, 503)


def _key_of(error: Mapping[str, Any]) -> str:
    """Return the key of the request that an error concerns; errors from Agora's own checks always concern the body."""
    place = error["loc"][1:] if error["type"] == EXPECTED else error["loc"]
    return ".".join(map(str, place))


class _ImmutableFiles(StaticFiles):
    """Files whose names contain a hash of their content, so that browsers may cache them forever."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a file, with headers that allow caching."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def _add_pages(app: FastAPI) -> None:
    """Add the front end: its files, and a single page that is returned for every other path."""
    if (STATIC / "index.html").is_file():
        app.mount("/static", _ImmutableFiles(directory=STATIC), name="static")

    @app.get("/{path:path}", include_in_schema=False)
    def page(path: str) -> Response:
        if path.startswith("api/"):
            raise UnknownNameError("address", f"/{path}", [route.path for route in app.routes if hasattr(route, "path")])
        index = STATIC / "index.html"
        kept = {"Cache-Control": "no-cache"}
        return FileResponse(index, headers=kept) if index.is_file() else HTMLResponse(UNBUILT)
