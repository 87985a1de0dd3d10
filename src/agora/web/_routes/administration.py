"""Routes for administrators: people, invitations, and the state of the server."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from agora.web._accounts.keys import Keys, shown_name
from agora.web._accounts.people import CurrentPerson
from agora.web._accounts.quotas import Ledger
from agora.web._accounts.tables import INVITATION, SESSION, Key
from agora.web._accounts.tables import User as UserRow
from agora.web._accounts.users import Users
from agora.web._live.sessions import LiveSessions
from agora.web._runs.queue import RunQueue
from agora.web._schemas.accounts import Invitation, InvitationRequest, NewSecret, ServerState, User, UserChange
from agora.web._schemas.base import Documented
from agora.web._tables import QUEUED, RUNNING, iso_time
from agora.web.settings import Settings


def add_administration(app: FastAPI, users: Users, keys: Keys, ledger: Ledger) -> None:
    """Add the routes for people and invitations."""

    def describe(user: UserRow) -> dict[str, Any]:
        return {
            "name": user.name,
            "role": user.role,
            "blocked": user.blocked,
            "created": iso_time(user.created),
            "sessions": len(keys.all(SESSION, user.name)),
            "own_quotas": user.quotas,
            "quotas": asdict(users.quotas(user)),
            "use": asdict(ledger.use(user.name)),
        }

    @app.get("/api/users", response_model=list[User])
    def all_users() -> list[dict[str, Any]]:
        """All users, with their roles, quotas and usage, and whether they are blocked."""
        return [describe(user) for user in users.all()]

    @app.patch("/api/users/{name}", response_model=User)
    def change(name: str, fields: Annotated[dict[str, Any], Documented(UserChange)]) -> dict[str, Any]:
        """Change a user's ``role``, ``blocked``, or ``quotas`` that differ from the server's. Blocking ends all of the user's
        sessions and tokens.
        """
        return describe(users.change(name, fields))

    @app.get("/api/invitations", response_model=list[Invitation])
    def invitations() -> list[dict[str, Any]]:
        """All open invitations."""
        return [_invitation(key) for key in keys.all(INVITATION)]

    @app.post("/api/invitations", status_code=201, response_model=NewSecret)
    def invite(person: CurrentPerson, fields: InvitationRequest) -> dict[str, Any]:
        """Invite a new person with a ``role``, or let a ``user`` set a new password. The response contains the ``token`` for the
        link.
        """
        return {"token": users.invite(fields.role, fields.user, person.name)}

    @app.delete("/api/invitations/{name}", status_code=204)
    def withdraw(name: str) -> None:
        """Withdraw an invitation."""
        keys.end_named(INVITATION, name)


def add_server_state(app: FastAPI, settings: Settings, queue: RunQueue, sessions: Callable[[], LiveSessions]) -> None:
    """Add the route for the state of the server."""

    @app.get("/api/server", response_model=ServerState)
    async def server() -> dict[str, Any]:
        """The queue and the live episodes of all users, the workers, and the size and free space of the disk, bytes."""
        runs = [run for run in await run_in_threadpool(queue.runs) if run.state in (QUEUED, RUNNING)]
        under_way = {run.worker: run.id for run in runs}
        disk = shutil.disk_usage(settings.folder)
        return {
            "runs": [run.plain() for run in runs],
            "lives": [live.plain() for live in sessions().all()],
            "workers": [
                {"name": one.worker, "heard": iso_time(one.beat), "run": under_way.get(one.worker, "")}
                for one in await run_in_threadpool(queue.workers)
            ],
            "disk": {"total": disk.total, "free": disk.free},
        }


def _invitation(key: Key) -> dict[str, Any]:
    times = {"created": iso_time(key.created), "expires": iso_time(key.expires)}
    return {"id": shown_name(key), "role": key.role, "user": key.user, "by": key.label, **times}
