"""The guard of a server on this machine, which answers its own pages and programs here.

A browser that shows somebody else's page may be made to ask a server on this machine, by that page's scripts or by a name that
leads here. The headers `Host` and `Origin`, which scripts cannot change, tell such requests apart.
"""

from __future__ import annotations

from fastapi import WebSocket
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

HERE = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Names of this machine in a browser's address."""

LARGEST = 2 << 20
"""Most bytes of a request."""

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
"""Content security policy of our own pages."""

REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'self'; "
    "sandbox allow-scripts allow-popups"
)
"""Policy of reports, which hold all that they need and fetch nothing; names in them can reach nothing of the server's."""


def is_ours(asked: HTTPConnection) -> bool:
    """Return whether a request is for this machine by its own name, and from a page of this server or from a program."""
    host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return name in HERE and (origin is None or origin.partition("//")[2] == host)


def refusal(request: Request) -> Response | None:
    """Return the answer to a request that is not to be answered; None for one that is."""
    if not is_ours(request):
        return JSONResponse(
            {"error": "this server answers its own pages, at 127.0.0.1 or localhost, and programs on this machine"}, 403
        )
    length = request.headers.get("content-length", "0")
    if request.method in ("POST", "PUT") and (not length.isdecimal() or "transfer-encoding" in request.headers):
        return JSONResponse({"error": "a request needs a length"}, 411)
    if length.isdecimal() and int(length) > LARGEST:
        return JSONResponse({"error": f"expected at most {LARGEST >> 20} MiB, got {int(length) / (1 << 20):.1f}"}, 413)
    return None


async def refused(socket: WebSocket) -> bool:
    """Close a socket that is not to be answered; return whether it was."""
    if is_ours(socket):
        return False
    await socket.close(4403, "this page is not of this server")
    return True


def put_heads(response: Response) -> None:
    """Send our policies along."""
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
