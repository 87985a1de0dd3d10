"""Routes for live episodes and event messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Annotated, Any

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from starlette.concurrency import run_in_threadpool

from agora.config import build
from agora.errors import UnknownNameError
from agora.web._accounts.people import RUN, CurrentPerson
from agora.web._accounts.quotas import Ledger
from agora.web._accounts.restrictions import check_restrictions
from agora.web._events import Events
from agora.web._live.episode import LiveForm
from agora.web._live.sessions import LiveSession, LiveSessions
from agora.web._schemas.base import Documented
from agora.web._schemas.live import Live, LiveRequest


def add_live_sessions(app: FastAPI, events: Events, sessions: Callable[[], LiveSessions], ledger: Ledger) -> None:
    """Add the routes for live episodes."""

    @app.post("/api/live", status_code=201, response_model=Live)
    async def begin(
        person: CurrentPerson, fields: Annotated[dict[str, Any], Documented(LiveRequest)], instead: str = ""
    ) -> dict[str, Any]:
        """Start a live episode with the fields of a `LiveForm`; the episodes named in ``instead``, separated by commas, may be
        ended if the limit has been reached.
        """
        check_restrictions(person, fields)
        form = build(fields, LiveForm, "live")
        if form.drive:
            await run_in_threadpool(ledger.check_results, person)
        await run_in_threadpool(sessions().resolve_names(form).resolve)
        most = person.quotas.lives if person.quotas else None
        return sessions().begin(form, person.name, most, instead.split(",")).plain()

    @app.get("/api/live", response_model=list[Live])
    async def all_sessions() -> list[dict[str, Any]]:
        """All live episodes."""
        return [live.plain() for live in sessions().all()]

    @app.delete("/api/live/{id}", status_code=204)
    async def end(id: str) -> None:
        """End a live episode."""
        sessions().end(id)

    @app.websocket("/api/live/{id}")
    async def watch(socket: WebSocket, id: str, person: CurrentPerson) -> None:
        await socket.accept()
        try:
            live = sessions().get(id)
        except UnknownNameError as error:
            await socket.send_json({"error": str(error)})
            await socket.close(4404)
            return
        await _serve(socket, live, person.may(RUN) and person.owns(live.owner))

    @app.websocket("/api/events")
    async def listen(socket: WebSocket) -> None:
        await socket.accept()

        async def send() -> None:
            async for message in events.listen():
                await socket.send_text(json.dumps(message))

        async def receive() -> None:
            while True:
                await socket.receive_text()

        await _run_both(send(), receive())


async def _serve(socket: WebSocket, live: LiveSession, may: bool) -> None:
    """Send messages to a watcher, and receive the watcher's commands if these are allowed, until the watcher leaves."""
    watcher = live.watch()

    async def send() -> None:
        while True:
            message = await watcher.next()
            await (socket.send_bytes(message) if isinstance(message, bytes) else socket.send_text(message))

    async def receive() -> None:
        while True:
            text = await socket.receive_text()
            with suppress(ValueError):
                if may:
                    live.do(json.loads(text))

    try:
        await _run_both(send(), receive())
    finally:
        live.leave(watcher)


async def _run_both(*ways: Coroutine[Any, Any, None]) -> None:
    """Serve both directions of a socket until one of them finishes because the other end is gone."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await task
