"""Routes for results and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from agora.benchmark.results.run_folder import RunFolder
from agora.errors import InputError, UnknownNameError
from agora.leaderboard import page as leaderboard
from agora.reporting.report import report
from agora.web._guard import REPORT_POLICY
from agora.web._routes.http import download
from agora.web._runs import results
from agora.web._runs.queue import RunQueue
from agora.web._schemas.base import file_response
from agora.web._schemas.runs import RowsPage
from agora.web.settings import Settings


def add_results(app: FastAPI, settings: Settings, queue: RunQueue) -> None:
    """Add the routes for results."""
    folder = _folders(settings, queue)
    _add_run_results(app, folder)
    _add_comparisons(app, settings, queue, folder)


def _folders(settings: Settings, queue: RunQueue) -> Callable[[str], Path]:
    """Return a function that finds the folder of a run by its name."""

    def folder(id: str) -> Path:
        place = settings.runs / queue.run(id).id
        if not RunFolder.is_at(place):
            raise InputError(f"run {id} has no results yet")
        return place

    return folder


def _page_response(page: str) -> HTMLResponse:
    """Return the response for a self-contained page, which cannot access anything else on the server."""
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


def _add_run_results(app: FastAPI, folder: Callable[[str], Path]) -> None:
    """Add the routes for the results of a single run."""

    @app.get("/api/runs/{id}/rows", response_model=RowsPage)
    def rows(
        id: str, offset: int = 0, limit: int = 100, sort: str = "", down: bool = False, find: str = "", columns: str = ""
    ) -> dict[str, Any]:
        """One page of a run's rows."""
        names = [name for name in columns.split(",") if name]
        return results.page(folder(id), offset=offset, limit=limit, sort=sort, down=down, find=find, columns=names)

    @app.get("/api/runs/{id}/report", response_class=HTMLResponse)
    def page(id: str) -> HTMLResponse:
        """The report of a run."""
        place = folder(id) / "report.html"
        text = (place if place.is_file() else report(folder(id))).read_text(encoding="utf-8")
        return _page_response(text)

    @app.get("/api/runs/{id}/table", response_class=PlainTextResponse)
    def table(id: str, format: str = "markdown", metric: str = "") -> PlainTextResponse:
        """The results of a run as a table for papers."""
        return PlainTextResponse(results.table_text(folder(id), format, [name for name in metric.split(",") if name]))

    @app.get("/api/runs/{id}/files/{kind}", **file_response("text/csv", "application/vnd.apache.parquet"))
    def file(id: str, kind: str) -> Response:
        """The rows of a run as a CSV or Parquet file."""
        makers = {"csv": (results.csv_of, "text/csv"), "parquet": (results.parquet_of, "application/vnd.apache.parquet")}
        if kind not in makers:
            raise UnknownNameError("file", kind, makers)
        make, media = makers[kind]
        return download(make(folder(id)), f"{id}.{kind}", media)

    @app.get("/api/runs/{id}/mcap", **file_response())
    def mcap(id: str, key: str) -> Response:
        """The recording of an episode as an MCAP file."""
        return download(results.mcap_of(folder(id), key), f"{id}.mcap")

    @app.get("/api/runs/{id}/replay", response_class=HTMLResponse)
    def replay(id: str, key: Annotated[list[str], Query()]) -> HTMLResponse:
        """A page that replays some episodes."""
        return _page_response(results.replay(folder(id), key))


def _add_comparisons(app: FastAPI, settings: Settings, queue: RunQueue, folder: Callable[[str], Path]) -> None:
    """Add the routes for comparisons of several runs."""

    @app.get("/api/compare", response_class=HTMLResponse)
    def compare(run: str) -> HTMLResponse:
        """A page that compares the runs with the given names, which are separated by commas."""
        ids = [id for id in run.split(",") if id]
        return _page_response(results.comparison([folder(id) for id in ids], [queue.run(id).title for id in ids]))

    @app.get("/api/leaderboard", response_class=HTMLResponse)
    def board() -> HTMLResponse:
        """The leaderboard of the entries included in Agora and the entries in the server's folder ``leaderboard``."""
        own = settings.folder / "leaderboard"
        place = settings.folder / "leaderboard.html"
        leaderboard.write([own] if own.is_dir() else [], place)
        return _page_response(place.read_text(encoding="utf-8"))
