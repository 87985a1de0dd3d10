"""The health of a server, and its metrics for monitoring (Prometheus)."""

from __future__ import annotations

import shutil
import time
from collections import Counter as Count
from collections.abc import Callable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agora.web._live.sessions import LiveSessions
from agora.web._runs.queue import RunQueue
from agora.web._tables import CANCELLED, FAILED, FINISHED, QUEUED, RUNNING

LOW = 256 << 20
"""Free disk space below which a server reports a problem, bytes."""


def find_problems(queue: RunQueue, folder: Path) -> list[str]:
    """Return descriptions of all problems that keep a server from working; empty if the server is healthy."""
    found = []
    if (free := shutil.disk_usage(folder).free) < LOW:
        found.append(f"the disk has {free >> 20} MiB left; expected at least {LOW >> 20}")
    try:
        if queue.counts().get(QUEUED) and not queue.workers():
            found.append("runs are waiting, but no worker is alive: start one with agora server worker")
    except SQLAlchemyError:
        found.append("the database does not answer")
    return found


class ServerMetrics(Collector):
    """The metrics of a server.

    Args:
        queue: queue of the server's runs.
        folder: folder of the server.
        lives: function that returns the server's live episodes.
    """

    def __init__(self, queue: RunQueue, folder: Path, lives: Callable[[], LiveSessions]) -> None:
        self._queue, self._folder, self._lives = queue, folder, lives
        self._registry = CollectorRegistry()
        self._registry.register(self)
        names = ["method", "address", "status"]
        self.requests = Histogram("agora_request_seconds", "Response time of requests, by route.", names, registry=self._registry)

    def text(self) -> bytes:
        """Return the metrics in Prometheus's text format (https://prometheus.io/docs/instrumenting/exposition_formats/)."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield the current metrics."""
        counts = self._queue.counts()
        runs = GaugeMetricFamily("agora_runs", "Runs by state.", labels=["state"])
        for state in (QUEUED, RUNNING, FINISHED, FAILED, CANCELLED):
            runs.add_metric([state], counts.get(state, 0))
        yield runs
        yield GaugeMetricFamily("agora_workers", "Live workers.", len(self._queue.workers()))
        lives = self._lives().all()
        episodes = GaugeMetricFamily("agora_live_episodes", "Live episodes by state.", labels=["state"])
        for state, count in Count(live.state for live in lives).items():
            episodes.add_metric([state], count)
        yield episodes
        yield GaugeMetricFamily("agora_watchers", "Viewers of live episodes.", sum(len(live.watchers) for live in lives))
        disk = shutil.disk_usage(self._folder)
        yield GaugeMetricFamily("agora_disk_bytes", "Size of the disk of the server folder.", disk.total)
        yield GaugeMetricFamily("agora_disk_free_bytes", "Free space of that disk.", disk.free)

    def describe(self) -> Iterator[Metric]:
        """Yield nothing, because the metrics need a running server."""
        yield from ()


class RequestTimer:
    """Measures how long requests take.

    Args:
        app: application that handles the requests.
        requests: histogram of the durations of requests by method, address and status.
    """

    def __init__(self, app: ASGIApp, requests: Histogram) -> None:
        self._app, self._requests = app, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), "500"

        async def sender(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, sender)
        finally:
            route = scope.get("route")
            address = getattr(route, "path", "refused")
            self._requests.labels(scope["method"], address, status).observe(time.perf_counter() - began)
