"""Routes for monitoring a server."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from agora.web._health import ServerMetrics, find_problems
from agora.web._runs.queue import RunQueue
from agora.web._schemas.base import file_response
from agora.web._schemas.live import HealthReport
from agora.web.settings import Settings


def add_health(app: FastAPI, settings: Settings, queue: RunQueue, server_metrics: ServerMetrics) -> None:
    """Add the routes for health and metrics."""

    @app.get("/api/health", response_model=HealthReport)
    def health() -> JSONResponse:
        """All ``problems`` that keep the server from working; the status is 503 if there are any."""
        found = find_problems(queue, settings.folder)
        return JSONResponse({"problems": found}, 503 if found else 200)

    @app.get("/api/metrics", **file_response("text/plain"))
    def metrics() -> Response:
        """The metrics of the server for Prometheus."""
        return Response(server_metrics.text(), media_type=CONTENT_TYPE_LATEST)
