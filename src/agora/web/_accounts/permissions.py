"""A single table of the permissions that routes require, and the check that FastAPI runs before each route.

Routes missing from the table are restricted to administrators, and a test fails for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.exceptions import HTTPException, WebSocketException
from starlette.requests import HTTPConnection

from agora.web._accounts.people import ADMINISTER, LOOK, RUN, Person

FORBIDDEN = 4403
"""Status code with which a socket is closed if the person's role does not permit its use."""


@dataclass(frozen=True)
class Permission:
    """The permission that a route requires.

    Attributes:
        role: role that the route requires; empty if no sign-in is required.
        own: kind of content that the person must own; the path names the content. Empty if the person need not own any content;
            routes of sockets check the owner themselves.
    """

    role: str = ""
    own: str = ""


OPEN, READ, WRITE, ALL = Permission(), Permission(LOOK), Permission(RUN), Permission(ADMINISTER)

PERMISSIONS = {
    "GET /{path:path}": OPEN,
    "GET /api/me": OPEN,
    "GET /api/health": OPEN,
    "GET /api/metrics": ALL,
    "POST /api/session": OPEN,
    "DELETE /api/session": OPEN,
    "POST /api/invitation": OPEN,
    "POST /api/invitation/look": OPEN,
    "POST /api/me/password": READ,
    "GET /api/me/account": READ,
    "POST /api/me/tokens": READ,
    "DELETE /api/me/tokens/{name}": READ,
    "GET /api/users": ALL,
    "PATCH /api/users/{name}": ALL,
    "GET /api/invitations": ALL,
    "POST /api/invitations": ALL,
    "DELETE /api/invitations/{name}": ALL,
    "GET /api/server": ALL,
    "GET /api/about": READ,
    "GET /api/suites": READ,
    "GET /api/suites/{name}": READ,
    "GET /api/planners": READ,
    "GET /api/kinds": READ,
    "GET /api/kinds/{kind}/{name}": READ,
    "GET /api/robots": READ,
    "GET /api/policies": READ,
    "GET /api/runs": READ,
    "POST /api/runs": WRITE,
    "GET /api/runs/{id}": READ,
    "GET /api/runs/{id}/suite": READ,
    "POST /api/runs/{id}/cancel": Permission(RUN, "run"),
    "POST /api/runs/{id}/resume": Permission(RUN, "run"),
    "DELETE /api/runs/{id}": Permission(RUN, "run"),
    "GET /api/runs/{id}/training": READ,
    "GET /api/runs/{id}/training/{file}": READ,
    "GET /api/runs/{id}/curve/{seed}": READ,
    "GET /api/trainings": READ,
    "POST /api/trainings": WRITE,
    "GET /api/trainings/{name}": READ,
    "GET /api/runs/{id}/rows": READ,
    "GET /api/runs/{id}/report": READ,
    "GET /api/runs/{id}/table": READ,
    "GET /api/runs/{id}/files/{kind}": READ,
    "GET /api/runs/{id}/mcap": READ,
    "GET /api/runs/{id}/replay": READ,
    "GET /api/compare": READ,
    "GET /api/leaderboard": READ,
    "POST /api/live": WRITE,
    "GET /api/live": READ,
    "DELETE /api/live/{id}": Permission(RUN, "live"),
    "WS /api/live/{id}": READ,
    "WS /api/events": READ,
    "GET /api/worlds": READ,
    "POST /api/worlds": WRITE,
    "POST /api/worlds/preview": WRITE,
    "POST /api/worlds/empty": WRITE,
    "POST /api/worlds/copy": WRITE,
    "GET /api/worlds/{name}": READ,
    "DELETE /api/worlds/{name}": Permission(RUN, "world"),
    "GET /api/worlds/{name}/file": READ,
    "GET /api/worlds/{name}/drawing": READ,
    "PUT /api/worlds/{name}/drawing": Permission(RUN, "world"),
    "POST /api/uploads/open": WRITE,
    "PUT /api/uploads/policies/{name}": Permission(RUN, "policy"),
    "PUT /api/uploads/planners/{name}": Permission(RUN, "planner"),
    "GET /api/own-planners/{name}/file": READ,
    "DELETE /api/own-planners/{name}": Permission(RUN, "planner"),
    "GET /api/own-policies/{name}/file": READ,
    "DELETE /api/own-policies/{name}": Permission(RUN, "policy"),
    "GET /api/scenarios": READ,
    "GET /api/scenario-parts": READ,
    "POST /api/scenarios/check": READ,
    "GET /api/scenarios/{name}": READ,
    "GET /api/worlds/{world}/scenarios/{name}": READ,
    "PUT /api/scenarios/{name}": WRITE,  # the scenario may be new: the route itself checks the owner
    "DELETE /api/scenarios/{name}": Permission(RUN, "scenario"),
    "GET /api/scenarios/{name}/file": READ,
    "GET /api/suite-parts": READ,
    "POST /api/suites/check": READ,
    "POST /api/suites/preview": WRITE,
    "GET /api/suites/own/{name}": READ,
    "PUT /api/suites/own/{name}": WRITE,  # the suite may be new: the route itself checks the owner
    "DELETE /api/suites/own/{name}": Permission(RUN, "suite"),
    "GET /api/suites/own/{name}/file": READ,
}
"""The permission that each route requires, by method (WS for a WebSocket) and path in the notation of the route."""

WORDS = {LOOK: "look", RUN: "run planners", ADMINISTER: "administer"}
"""Phrases for the roles, for use in sentences."""


def is_open(method: str, path: str) -> bool:
    """Return whether a request does not require signing in: the front end's pages and files, and the sign-in routes."""
    return not path.startswith("/api/") or PERMISSIONS.get(f"{method} {path}") == OPEN


def permission_check(owners: Mapping[str, Callable[[str], str | None]]) -> Callable[[HTTPConnection], None]:
    """Return the check that FastAPI runs before every route.

    Args:
        owners: for each kind of content, a function that returns the owner of the content with a given name. It returns None for
            missing content, for which the route has its own message.
    """

    def check(asked: HTTPConnection) -> None:
        person: Person | None = asked.state.person
        method = "WS" if asked.scope["type"] == "websocket" else asked.scope["method"]
        permission = PERMISSIONS.get(f"{method} {asked.scope['route'].path}", ALL)
        if not permission.role:
            return
        if person is None:
            raise _refusal(asked, "sign in first", 401)
        if not person.may(permission.role):
            able = WORDS[permission.role]
            raise _refusal(asked, f"your role is {person.role}: this needs the right to {able}; ask an administrator")
        if permission.own and not person.may(ADMINISTER):
            name = str(asked.path_params.get("id") or asked.path_params.get("name"))
            check_owner(person, permission.own, name, owners[permission.own](name))

    return check


def check_owner(person: Person, kind: str, name: str, owner: str | None) -> None:
    """Reject changes to content that belongs to someone else.

    Args:
        person: person who makes the request.
        kind: kind of the content.
        name: name of the content.
        owner: name of the content's owner; empty if there is no owner, None if the content is missing.

    Raises:
        HTTPException: the content does not belong to the person.
    """
    if owner is not None and not person.owns(owner):
        whose = f"{owner}'s" if owner else "without an owner"
        raise HTTPException(403, f"{kind} {name} is {whose}: only its owner or an administrator can change or remove it")


def _refusal(asked: HTTPConnection, words: str, status: int = 403) -> Exception:
    return WebSocketException(FORBIDDEN, words) if asked.scope["type"] == "websocket" else HTTPException(status, words)
