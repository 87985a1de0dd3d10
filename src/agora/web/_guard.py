"""The guard of a server: it identifies the person behind each request, and rejects unauthorised requests before anything reads
them.

A foreign page in a browser can send requests to a server, through scripts or through a host name that resolves to this machine. The
headers `Host` and `Origin`, which scripts cannot change, identify such requests. A server without accounts lets anyone do
everything, so it only responds to requests that address it by a name of this machine. On a server with accounts, a cookie or a
token identifies the person, and browsers send a cookie only to the name that set it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from fastapi import WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agora.web._accounts.people import LOCAL_PERSON, Person
from agora.web._accounts.permissions import FORBIDDEN, is_open
from agora.web._accounts.rate_limits import Buckets, network_of
from agora.web._accounts.tables import SESSION, TOKEN
from agora.web.settings import Settings

HERE = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Names of this machine in a browser's address."""

LARGEST = 2 << 20
"""Maximum size of a request other than an upload, bytes."""

UPLOADS, LARGEST_UPLOAD = "/api/uploads/", 32 << 20
"""Prefix of the upload routes, and maximum size of their requests, bytes."""

COOKIE, SAFE_COOKIE = "agora_session", "__Host-agora_session"
"""Names of the session cookie over http and over https; no other host can set the latter."""

SIGNED_OUT = 4401
"""Status code with which a socket is closed if its person is not signed in, or is no longer signed in."""

CHECKS = 2.0
"""Period at which the person behind a socket is rechecked, s."""

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
"""Content security policy of the server's own pages."""

REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'self'; "
    "sandbox allow-scripts allow-popups"
)
"""Content security policy of reports, which are self-contained and do not fetch anything; names in them cannot access anything on
the server."""

_HEADS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"}


class RefusedError(HTTPException):
    """Raised for a rejected request.

    Attributes:
        code: status code with which a socket is closed.
    """

    def __init__(self, status: int, words: str, code: int = FORBIDDEN, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, words, headers)
        self.code = code


class Guard:
    """ASGI middleware that guards an application.

    Args:
        app: application that handles accepted requests.
        settings: settings of the server.
        known: function that returns the person who holds a key, given its kind and secret; it returns None if there is no such
            person.
    """

    def __init__(self, app: ASGIApp, settings: Settings, known: Callable[[str, str], Person | None]) -> None:
        self._app, self._settings, self._known = app, settings, known
        rates = settings.limits.rates
        self._buckets = Buckets(rates.requests, rates.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request, or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked, is_socket = HTTPConnection(scope), scope["type"] == "websocket"
        heard = send if is_socket else self._with_heads(send, scope["path"])
        try:
            _check_ours(asked, self._settings)
            if not is_socket:
                _check_length(asked)
            person = await self._person(asked) if self._settings.accounts else LOCAL_PERSON
        except RefusedError as refused:
            if is_socket:
                await _close(WebSocket(scope, receive, send), refused)
            else:
                await JSONResponse({"error": refused.detail}, refused.status_code, refused.headers)(scope, receive, heard)
            return
        scope.setdefault("state", {})["person"] = person
        if is_socket and self._settings.accounts:
            await self._serve_while_valid(asked, receive, send)
        else:
            await self._app(scope, receive, heard)

    async def _person(self, asked: HTTPConnection) -> Person | None:
        """Return the person behind a request to a server with accounts; None if no one is signed in and the request does not
        require signing in.
        """
        address = f"address {network_of(asked.client.host if asked.client else '')}"
        try:
            person = await run_in_threadpool(self._find_person, asked)
        except RefusedError:
            self._count(address)
            raise
        self._count(f"person {person.name}" if person else address)
        method = asked.scope.get("method", "WS")
        if person is None and not is_open(method, asked.scope["path"]):
            raise RefusedError(401, "sign in first", SIGNED_OUT)
        changes = method not in ("GET", "HEAD", "OPTIONS")
        if changes and "origin" not in asked.headers and "authorization" not in asked.headers and secret_of(asked):
            raise RefusedError(403, "a request that changes data must have an Origin header; programs must use a token")
        return person

    def _count(self, key: str) -> None:
        """Count a request, and reject it if there were too many."""
        if wait := self._buckets.take(key):
            raise rate_limit_error(wait)

    def _find_person(self, asked: HTTPConnection) -> Person | None:
        """Look up the person behind a request; if a token is sent, it must be valid."""
        given = asked.headers.get("authorization")
        if given is not None:
            kind, _, token = given.partition(" ")
            person = self._known(TOKEN, token.strip()) if kind.lower() == "bearer" else None
            if person is None:
                raise RefusedError(401, "this token is unknown, revoked or expired", SIGNED_OUT, {"WWW-Authenticate": "Bearer"})
            return person
        secret = secret_of(asked)
        return self._known(SESSION, secret) if secret else None

    async def _serve_while_valid(self, asked: HTTPConnection, receive: Receive, send: Send) -> None:
        """Serve a socket until it closes, or until its person signs out, is blocked, or gets a new role."""
        serving = asyncio.ensure_future(self._app(asked.scope, receive, send))
        leaving = asyncio.create_task(self._wait_for_change(asked))
        try:
            await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
                return
        finally:
            for task in (serving, leaving):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await serving
        with suppress(RuntimeError):  # the other end may have closed the connection
            await send({"type": "websocket.close", "code": SIGNED_OUT, "reason": "you are signed out"})

    async def _wait_for_change(self, asked: HTTPConnection) -> None:
        """Return once the person behind a socket has changed or is signed out."""
        person = asked.state.person
        while True:
            await asyncio.sleep(CHECKS)
            try:
                found = await run_in_threadpool(self._find_person, asked)
            except RefusedError:
                return
            if found != person:
                return

    def _with_heads(self, send: Send, path: str) -> Send:
        """Return a send function that adds the server's policy headers."""

        async def sender(message: Message) -> None:
            if message["type"] == "http.response.start":
                heads = MutableHeaders(scope=message)
                heads.setdefault("Content-Security-Policy", POLICY)
                if self._settings.accounts and path.startswith("/api/"):
                    heads.setdefault("Cache-Control", "no-store")
                for name, value in _HEADS.items():
                    heads[name] = value
            await send(message)

        return sender


def secret_of(asked: HTTPConnection) -> str:
    """Return the session secret from a request's cookie; empty if there is none."""
    return asked.cookies.get(cookie_of(asked), "")


def cookie_of(asked: HTTPConnection) -> str:
    """Return the name of the session cookie for a request."""
    return SAFE_COOKIE if is_safe(asked) else COOKIE


def is_safe(asked: HTTPConnection) -> bool:
    """Return whether a request arrived over https, directly or according to a trusted proxy."""
    return asked.scope.get("scheme") in ("https", "wss")


def rate_limit_error(wait: float) -> RefusedError:
    """Return the error for too many requests; it contains the time to wait, s."""
    seconds = max(1, round(wait + 0.5))
    unit = "second" if seconds == 1 else "seconds"
    return RefusedError(429, f"too many requests; try again in {seconds} {unit}", 4429, {"Retry-After": str(seconds)})


def is_ours(asked: HTTPConnection, settings: Settings | None = None) -> bool:
    """Return whether a request is addressed to a name of this server, and comes from one of the server's own pages or from a
    program.
    """
    host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
    name = (host if host.endswith("]") else host.rpartition(":")[0] or host).lower()
    known = settings.names if settings is not None and settings.accounts else HERE
    if name == "" or (known and name not in HERE and name not in known):
        return False
    if origin is None:
        return True
    scheme, _, place = origin.partition("://")
    return place == host and (scheme == "https" or not is_safe(asked))


def _check_ours(asked: HTTPConnection, settings: Settings) -> None:
    if not is_ours(asked, settings):
        here = "at 127.0.0.1 or localhost, and from programs on this machine"
        known = ", ".join(settings.names) or "at the host name under which it was opened"
        where = f"{known}, and from programs with a token" if settings.accounts else here
        raise RefusedError(403, f"this server only accepts requests from its own pages {where}")


def _check_length(asked: HTTPConnection) -> None:
    length = asked.headers.get("content-length", "0")
    if asked.scope["method"] in ("POST", "PUT", "PATCH") and (not length.isdecimal() or "transfer-encoding" in asked.headers):
        raise RefusedError(411, "a request must state its length (Content-Length)")
    most = LARGEST_UPLOAD if asked.scope["path"].startswith(UPLOADS) else LARGEST
    if length.isdecimal() and int(length) > most:
        raise RefusedError(413, f"expected at most {most >> 20} MiB, got {int(length) / (1 << 20):.1f}")


async def _close(socket: WebSocket, refused: RefusedError) -> None:
    """Close a socket. If the session of one of this server's pages has ended, accept the socket first, so that the page receives
    the reason.
    """
    if refused.code == SIGNED_OUT:
        await socket.accept()
    await socket.close(refused.code, refused.detail)
