"""The server: its addresses (`agora.web.addresses`), its answers to mistakes, and the built front end.

`agora.web.guard` says who asks. Runs are worked on by a worker in a process of its own (`agora.web.worker`).
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
from agora.web.accounts.keys import Keys
from agora.web.accounts.needs import demands
from agora.web.accounts.quotas import Ledger
from agora.web.accounts.things import Things
from agora.web.accounts.users import Users
from agora.web.addresses.accounts import add_accounts, looked_up
from agora.web.addresses.administration import add_administration, add_state
from agora.web.addresses.code import add_code
from agora.web.addresses.editor import add_scenarios
from agora.web.addresses.health import add_health
from agora.web.addresses.lives import add_lives
from agora.web.addresses.names import add_names
from agora.web.addresses.results import add_results
from agora.web.addresses.runs import add_runs
from agora.web.addresses.suites import add_suites
from agora.web.addresses.trainings import add_trainings
from agora.web.addresses.uploads import add_uploads
from agora.web.addresses.worlds import add_worlds
from agora.web.disk import database_words, no_room
from agora.web.events import Events
from agora.web.guard import Guard
from agora.web.health import Numbers, Timed
from agora.web.lives import Live, Lives
from agora.web.opening import Opener
from agora.web.own import Own
from agora.web.policies import Policies
from agora.web.previews import Previews
from agora.web.queue import RunQueue
from agora.web.settings import Settings
from agora.web.trainings import Trainings

STATIC = Path(__file__).parent / "static"
"""The built front end."""

UNBUILT = (
    "<!doctype html><title>Agora</title><p>The pages are not built. In a clone: <code>make web</code> (it needs npm). "
    "The programs' interface is at <a href='/api/docs'>/api/docs</a>."
)
LOOKS = 0.3
"""Period at which the server looks for changes of runs that workers make, s."""


def create_app(settings: Settings, engine: Engine) -> FastAPI:
    """Return the server of a folder.

    Args:
        settings: the folder, which is there, and limits.
        engine: engine of the database (`agora.web.database.opened`).
    """
    queue, events = RunQueue(engine), Events()
    own, previews, policies = Own(settings), Previews(settings.folder), Policies(settings)
    things = Things(engine, _places(settings, own, policies))
    users, keys, ledger = Users(engine, settings.limits.quotas), Keys(engine), Ledger(queue, settings.runs, things)
    lives: list[Lives] = []
    owners: dict[str, Callable[[str], str | None]] = {
        "run": queue.owner,
        "live": lambda id: lives[0].owner(id),
        **{kind: partial(things.owner, kind) for kind in things.kinds},
    }

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        keep = partial(_keep, queue)
        tell = partial(_tell_live, events)
        lives.append(Lives(settings.limits.lives, settings.runs, tell, keep, own.suite, policies))
        looking = asyncio.create_task(_look(queue, events))
        yield
        looking.cancel()
        lives.pop().close()
        previews.close()

    app = FastAPI(
        title="Agora",
        version=__version__,
        lifespan=lifespan,
        dependencies=[Depends(demands(owners))],
        docs_url="/api/docs",
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    _answer_errors(app)
    numbers = Numbers(queue, settings.folder, lambda: lives[0])
    app.add_middleware(Guard, settings=settings, known=looked_up(users, keys))
    if settings.accounts:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=["127.0.0.1", "::1", *settings.proxies])
    app.add_middleware(Timed, requests=numbers.requests)
    add_health(app, settings, queue, numbers)
    add_accounts(app, settings, users, keys, ledger)
    add_administration(app, users, keys, ledger)
    add_state(app, settings, queue, lambda: lives[0])
    add_names(app, settings, own, policies)
    add_runs(app, settings, queue, own.suite, policies, ledger)
    add_trainings(app, settings, queue, Trainings(policies, own.suite), ledger)
    add_results(app, settings, queue)
    add_lives(app, events, lambda: lives[0], ledger)
    _add_own(app, own, policies, previews, things, ledger)
    _pages(app)
    return app


def _places(settings: Settings, own: Own, policies: Policies) -> dict[str, Callable[[str], Path]]:
    """The places of all things that people own besides runs, by kind."""
    return {
        "scenario": own.scenarios.store.place,
        "suite": own.suites.store.place,
        "world": lambda name: settings.worlds / name,
        "policy": policies.uploaded.path,
        "planner": policies.code.path,
    }


def _add_own(app: FastAPI, own: Own, policies: Policies, previews: Previews, things: Things, ledger: Ledger) -> None:
    """Add the addresses of what people own besides runs."""
    add_worlds(app, own.worlds, own.scenarios, things, ledger)
    add_scenarios(app, own.scenarios, things, ledger)
    add_uploads(app, Opener(own.worlds, own.scenarios), policies, things, ledger)
    add_code(app, policies, things, ledger)
    add_suites(app, own, previews, things, ledger)


def _keep(queue: RunQueue, drive: Mapping[str, Any]) -> None:
    """Enter a drive that was kept among the runs."""
    queue.put_finished(drive["id"], drive["title"], drive["form"], drive["count"], drive["owner"])


def _tell_live(events: Events, live: Live) -> None:
    """Tell who listens how a live episode changes."""
    events.tell({"live": live.plain()})


async def _look(queue: RunQueue, events: Events) -> None:
    """Tell who listens how runs change."""
    known: dict[str, dict[str, Any]] = {}
    while True:
        if events.listened:
            for run in await run_in_threadpool(queue.runs):
                if known.get(run.id) != (said := run.plain()):
                    known[run.id] = said
                    events.tell({"run": said})
        await asyncio.sleep(LOOKS)


def _answer_errors(app: FastAPI) -> None:
    """Say mistakes in words."""

    @app.exception_handler(AgoraError)
    async def refuse(request: Request, error: AgoraError) -> JSONResponse:
        missing = isinstance(error, UnknownNameError) and request.method in ("GET", "DELETE")
        return JSONResponse({"error": str(error)}, 404 if missing else 422)

    @app.exception_handler(RequestValidationError)
    async def correct(request: Request, error: RequestValidationError) -> JSONResponse:
        said = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        return JSONResponse({"error": said}, 422)

    @app.exception_handler(HTTPException)
    async def say(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    @app.exception_handler(OSError)
    async def fail(request: Request, error: OSError) -> JSONResponse:
        return JSONResponse({"error": no_room(error, "nothing was saved")}, 507)

    @app.exception_handler(SQLAlchemyError)
    async def wait(request: Request, error: SQLAlchemyError) -> JSONResponse:
        return JSONResponse({"error": database_words(error)}, 503)


class _Hashed(StaticFiles):
    """Files whose names say what is in them: a browser may keep them for ever."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a file, and say so."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def _pages(app: FastAPI) -> None:
    """Add the front end: its files, and its one page for every other path."""
    if (STATIC / "index.html").is_file():
        app.mount("/static", _Hashed(directory=STATIC), name="static")

    @app.get("/{path:path}", include_in_schema=False)
    def page(path: str) -> Response:
        if path.startswith("api/"):
            raise UnknownNameError("address", f"/{path}", [route.path for route in app.routes if hasattr(route, "path")])
        index = STATIC / "index.html"
        kept = {"Cache-Control": "no-cache"}
        return FileResponse(index, headers=kept) if index.is_file() else HTMLResponse(UNBUILT)
