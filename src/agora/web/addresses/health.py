"""The addresses for whoever keeps watch over a server."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from agora.web.health import Numbers, problems
from agora.web.queue import RunQueue
from agora.web.settings import Settings


def add_health(app: FastAPI, settings: Settings, queue: RunQueue, numbers: Numbers) -> None:
    """Add the addresses of health and numbers."""

    @app.get("/api/health")
    def health() -> JSONResponse:
        """All that keeps the server from working: ``problems``, with status 503 where there are any."""
        found = problems(queue, settings.folder)
        return JSONResponse({"problems": found}, 503 if found else 200)

    @app.get("/api/metrics")
    def metrics() -> Response:
        """The numbers of the server for Prometheus."""
        return Response(numbers.text(), media_type=CONTENT_TYPE_LATEST)
