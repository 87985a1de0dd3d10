"""The server: the addresses that pages and programs ask, and the built front end.

It listens on this machine alone and knows no users. Runs are worked on by a worker in a process of its own (`agora.web.worker`).
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, WebSocket, WebSocketDisconnect
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from agora import __version__
from agora.benchmark import leaderboard
from agora.benchmark.kept import report
from agora.benchmark.run_folder import RunFolder
from agora.config import build
from agora.errors import AgoraError, InputError, UnknownNameError, in_words
from agora.web import catalogue, results
from agora.web.drawing_board import add_scenarios, add_worlds
from agora.web.events import Events
from agora.web.guard import REPORT_POLICY, put_heads, refusal, refused
from agora.web.live_episode import LiveForm
from agora.web.lives import Live, Lives
from agora.web.queue import RunQueue
from agora.web.scenarios import Scenarios
from agora.web.settings import Settings
from agora.web.worker import form_of
from agora.web.worlds import Worlds

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
    worlds = Worlds(settings.worlds)
    scenarios = Scenarios(settings.scenarios, worlds)
    lives: list[Lives] = []

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        keep = partial(_keep, queue)
        lives.append(Lives(settings.lives, settings.runs, lambda live: events.tell({"live": live.plain()}), keep, scenarios.suite))
        looking = asyncio.create_task(_look(queue, events))
        yield
        looking.cancel()
        lives.pop().close()

    app = FastAPI(
        title="Agora",
        version=__version__,
        lifespan=lifespan,
        docs_url="/api/docs",
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    _answer_errors(app)
    _names(app, settings, scenarios)
    _runs(app, settings, queue, scenarios)
    folder = _folders(settings, queue)
    _results(app, folder)
    _comparisons(app, settings, folder)
    _lives(app, events, lambda: lives[0])
    add_worlds(app, worlds)
    add_scenarios(app, scenarios)
    _pages(app)
    return app


def _keep(queue: RunQueue, drive: Mapping[str, Any]) -> None:
    """Enter a drive that was kept among the runs."""
    queue.put_finished(drive["id"], drive["title"], drive["form"], drive["count"])


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
    """Say mistakes in words, and send our policies along."""

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
        return JSONResponse({"error": str(error.detail)}, error.status_code)

    @app.exception_handler(OSError)
    async def fail(request: Request, error: OSError) -> JSONResponse:
        return JSONResponse({"error": in_words(error)}, 507)

    @app.middleware("http")
    async def head(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        response = refusal(request) or await answer(request)
        put_heads(response)
        return response


def _names(app: FastAPI, settings: Settings, scenarios: Scenarios) -> None:
    """Add the addresses of everything that has a name."""

    @app.get("/api/about")
    def about() -> dict[str, Any]:
        """This server."""
        return {"version": __version__, "folder": str(settings.folder)}

    @app.get("/api/suites")
    def suites() -> list[dict[str, Any]]:
        """All suites with their stages, and the own scenarios, each a suite of one episode."""
        return [*catalogue.suites(), *scenarios.suites()]

    @app.get("/api/suites/{name}")
    def suite(name: str) -> dict[str, Any]:
        """A suite with its file."""
        return catalogue.suite(name)

    @app.get("/api/planners")
    def planners() -> list[dict[str, Any]]:
        """All planners and presets."""
        return catalogue.planners()

    @app.get("/api/kinds")
    def kinds() -> dict[str, Any]:
        """The names of every kind of component."""
        return catalogue.kinds()

    @app.get("/api/kinds/{kind}/{name}")
    def component(kind: str, name: str) -> dict[str, Any]:
        """A component with its fields."""
        return catalogue.component(kind, name)

    @app.get("/api/robots")
    def robots() -> list[dict[str, Any]]:
        """All robots."""
        return catalogue.robots()

    @app.get("/api/policies")
    def policies() -> list[dict[str, Any]]:
        """All policies with their cards."""
        return catalogue.policies()


def _runs(app: FastAPI, settings: Settings, queue: RunQueue, scenarios: Scenarios) -> None:
    """Add the addresses of the queue."""

    @app.get("/api/runs")
    def runs() -> list[dict[str, Any]]:
        """All runs, the newest first."""
        return [run.plain() for run in queue.runs()]

    @app.post("/api/runs", status_code=201)
    def ask(fields: dict[str, Any]) -> dict[str, Any]:
        """Put a run into the queue: the fields of a `RequestForm`, and ``title``."""
        form = {name: value for name, value in fields.items() if name != "title"}
        for name in ("output", "resume", "add", "executor"):
            if name in form:
                raise InputError(f"run: {name!r} is the server's to choose")
        if form.get("workers") == 0:
            raise InputError("run: workers: expected at least 1: in its own process a planner could end the server's worker")
        planned = form_of(form, settings.runs / "asked", suite=scenarios.suite).request()
        title = fields.get("title") or f"{planned.suite.name}: {', '.join(planned.planners)}"
        if not isinstance(title, str):
            raise InputError(f"run: title: expected a text, got {title!r}")
        return queue.put(title[:200], form).plain()

    @app.get("/api/runs/{id}")
    def run(id: str) -> dict[str, Any]:
        """A run."""
        return queue.run(id).plain()

    @app.post("/api/runs/{id}/cancel")
    def cancel(id: str) -> dict[str, Any]:
        """Stop a run; what is finished stays."""
        return queue.cancel(id).plain()

    @app.post("/api/runs/{id}/resume")
    def resume(id: str) -> dict[str, Any]:
        """Go on with a run that was stopped."""
        return queue.resume(id).plain()

    @app.delete("/api/runs/{id}", status_code=204)
    def remove(id: str) -> None:
        """Remove a run and its results."""
        queue.remove(id)
        shutil.rmtree(settings.runs / id, ignore_errors=True)


def _folders(settings: Settings, queue: RunQueue) -> Callable[[str], Path]:
    """Return the function that finds the folder of a run by its name."""

    def folder(id: str) -> Path:
        place = settings.runs / queue.run(id).id
        if not RunFolder.is_at(place):
            raise InputError(f"run {id} has no results yet")
        return place

    return folder


def _whole(page: str) -> HTMLResponse:
    """A page that holds all that it needs, and reaches nothing of the server's."""
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


def _download(data: bytes, name: str, media: str = "application/octet-stream") -> Response:
    """A file for the disk of whoever asks."""
    return Response(data, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _results(app: FastAPI, folder: Callable[[str], Path]) -> None:
    """Add the addresses of results."""

    @app.get("/api/runs/{id}/rows")
    def rows(
        id: str, offset: int = 0, limit: int = 100, sort: str = "", down: bool = False, find: str = "", columns: str = ""
    ) -> dict[str, Any]:
        """A page of the rows of a run."""
        names = [name for name in columns.split(",") if name]
        return results.page(folder(id), offset=offset, limit=limit, sort=sort, down=down, find=find, columns=names)

    @app.get("/api/runs/{id}/report")
    def page(id: str) -> HTMLResponse:
        """The report of a run."""
        place = folder(id) / "report.html"
        text = (place if place.is_file() else report(folder(id))).read_text(encoding="utf-8")
        return _whole(text)

    @app.get("/api/runs/{id}/table")
    def table(id: str, format: str = "markdown", metric: str = "") -> PlainTextResponse:
        """The table of a run for a paper."""
        return PlainTextResponse(results.paper(folder(id), format, [name for name in metric.split(",") if name]))

    @app.get("/api/runs/{id}/files/{kind}")
    def file(id: str, kind: str) -> Response:
        """The rows of a run as a file."""
        makers = {"csv": (results.csv_of, "text/csv"), "parquet": (results.parquet_of, "application/vnd.apache.parquet")}
        if kind not in makers:
            raise UnknownNameError("file", kind, makers)
        make, media = makers[kind]
        return _download(make(folder(id)), f"{id}.{kind}", media)

    @app.get("/api/runs/{id}/mcap")
    def mcap(id: str, key: str) -> Response:
        """The recording of an episode as an MCAP file."""
        return _download(results.mcap_of(folder(id), key), f"{id}.mcap")

    @app.get("/api/runs/{id}/replay")
    def replay(id: str, key: Annotated[list[str], Query()]) -> HTMLResponse:
        """The page that plays some episodes."""
        return _whole(results.replay(folder(id), key))


def _comparisons(app: FastAPI, settings: Settings, folder: Callable[[str], Path]) -> None:
    """Add the addresses of what compares several runs."""

    @app.get("/api/compare")
    def compare(run: str) -> HTMLResponse:
        """The page that compares runs, whose names stand between commas."""
        return _whole(results.comparison([folder(id) for id in run.split(",") if id]))

    @app.get("/api/leaderboard")
    def board() -> HTMLResponse:
        """The leaderboard of the entries that come with Agora, and of those in the folder ``leaderboard``."""
        own = settings.folder / "leaderboard"
        place = settings.folder / "leaderboard.html"
        leaderboard.write([own] if own.is_dir() else [], place)
        return _whole(place.read_text(encoding="utf-8"))


def _lives(app: FastAPI, events: Events, lives: Callable[[], Lives]) -> None:
    """Add the addresses of live episodes."""

    @app.post("/api/live", status_code=201)
    async def begin(fields: dict[str, Any]) -> dict[str, Any]:
        """Begin a live episode: the fields of a `LiveForm`."""
        form = build(fields, LiveForm, "live")
        await run_in_threadpool(lives().played(form).chosen)
        return lives().begin(form).plain()

    @app.get("/api/live")
    async def each() -> list[dict[str, Any]]:
        """All live episodes."""
        return [live.plain() for live in lives().all()]

    @app.delete("/api/live/{id}", status_code=204)
    async def end(id: str) -> None:
        """End a live episode."""
        lives().end(id)

    @app.websocket("/api/live/{id}")
    async def watch(socket: WebSocket, id: str) -> None:
        if await refused(socket):
            return
        await socket.accept()
        try:
            live = lives().get(id)
        except UnknownNameError as error:
            await socket.send_json({"error": str(error)})
            await socket.close(4404)
            return
        await _serve(socket, live)

    @app.websocket("/api/events")
    async def listen(socket: WebSocket) -> None:
        if await refused(socket):
            return
        await socket.accept()
        with suppress(WebSocketDisconnect, RuntimeError):
            async for message in events.listen():
                await socket.send_text(json.dumps(message))


async def _serve(socket: WebSocket, live: Live) -> None:
    """Send a watcher what happens, and take its wishes, until it goes."""
    watcher = live.watch()

    async def send() -> None:
        while True:
            message = await watcher.next()
            await (socket.send_bytes(message) if isinstance(message, bytes) else socket.send_text(message))

    async def hear() -> None:
        while True:
            with suppress(ValueError):
                live.do(json.loads(await socket.receive_text()))

    tasks = [asyncio.create_task(send()), asyncio.create_task(hear())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        live.leave(watcher)
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await task


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
