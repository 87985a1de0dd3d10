"""The addresses by which people come in, and look after their own account."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from agora.errors import InputError
from agora.web.accounts.keys import OLDEST_SESSION, Keys, shown_name
from agora.web.accounts.passwords import LONGEST, Passwords, check_password
from agora.web.accounts.people import HERE, Asker, Person, clean_name, key_of
from agora.web.accounts.quotas import Ledger
from agora.web.accounts.rates import Buckets, place_of
from agora.web.accounts.tables import SESSION, TOKEN, Key, User
from agora.web.accounts.users import Users
from agora.web.addresses.answers import text_in
from agora.web.guard import RefusedError, cookie_of, is_safe, secret_of, too_often
from agora.web.settings import Settings
from agora.web.tables import said

WRONG = "name or password is wrong"
"""Said of every name and password that do not open, whichever is wrong."""

_MOST_TOKENS, _MOST_DAYS = 20, 366


class _Door:
    """The door of a server: sessions begin and end here.

    Args:
        settings: settings of the server.
        users: people with an account.
        keys: their keys.
    """

    def __init__(self, settings: Settings, users: Users, keys: Keys) -> None:
        self._users, self._keys, self.passwords = users, keys, Passwords()
        rates = settings.limits.rates
        self._attempts = Buckets(rates.attempts / 60.0, rates.attempts_burst)

    def count(self, request: Request, name: str = "") -> None:
        """Count an attempt of an address, and one with a name; refuse it where there were too many."""
        address = request.client.host if request.client else ""
        for key in [f"address {place_of(address)}", *([f"name {name}"] if name else [])]:
            if wait := self._attempts.take(key):
                raise too_often(wait)

    async def sign_in(self, request: Request, name: str, password: str) -> User:
        """Return the user of a name and a password.

        Raises:
            RefusedError: one of them is wrong, or there were too many attempts, or the account is blocked.
        """
        self.count(request, key_of(name) or "nobody")
        user = await run_in_threadpool(self._users.found, name)
        fits = await self.passwords.fits(password, user.password if user else "")
        if user is None or not fits or len(password) > LONGEST:
            raise RefusedError(401, WRONG)
        if user.blocked:
            raise RefusedError(403, "this account is blocked; ask an administrator")
        self._attempts.refill(f"name {user.key}")
        return user

    async def open(self, request: Request, response: Response, user: User) -> None:
        """Begin a session, and end that which the browser had."""
        if (old := secret_of(request)) != "":
            await run_in_threadpool(self._keys.end, old)
        secret = await run_in_threadpool(self._keys.make, SESSION, user.name)
        age = int(OLDEST_SESSION.total_seconds())
        response.set_cookie(cookie_of(request), secret, max_age=age, httponly=True, samesite="strict", secure=is_safe(request))


def add_accounts(app: FastAPI, settings: Settings, users: Users, keys: Keys, ledger: Ledger) -> None:
    """Add the addresses by which people come in, and look after their own account."""
    door = _Door(settings, users, keys)
    _sessions(app, settings, users, keys, door)
    _invitations(app, users, door)
    _own(app, users, keys, door, ledger)


def _sessions(app: FastAPI, settings: Settings, users: Users, keys: Keys, door: _Door) -> None:
    """Add the addresses of sessions."""

    @app.get("/api/me")
    def me(request: Request) -> dict[str, Any]:
        """The person who asks: whether the server has ``accounts``, ``name`` and ``role``; both empty for who is not signed in."""
        person: Person | None = request.state.person
        said_of = {"name": person.name, "role": person.role} if person else {"name": "", "role": ""}
        return {"accounts": settings.accounts, **said_of}

    @app.post("/api/session")
    async def sign_in(request: Request, response: Response, fields: dict[str, Any]) -> dict[str, Any]:
        """Sign in: ``name`` and ``password``. The answer sets the cookie of a session."""
        _need_accounts(settings)
        user = await door.sign_in(request, text_in(fields, "name"), text_in(fields, "password"))
        if door.passwords.is_old(user.password):
            hashed = await door.passwords.hash(text_in(fields, "password"))
            await run_in_threadpool(users.set_password, user.name, hashed, ends=False)
        await door.open(request, response, user)
        return {"accounts": True, "name": user.name, "role": user.role}

    @app.delete("/api/session", status_code=204)
    def sign_out(request: Request, response: Response) -> None:
        """Sign out: the session of the cookie ends."""
        if (secret := secret_of(request)) != "":
            keys.end(secret)
        response.delete_cookie(cookie_of(request), httponly=True, samesite="strict", secure=is_safe(request))


def _invitations(app: FastAPI, users: Users, door: _Door) -> None:
    """Add the addresses by which invitations are taken."""

    @app.post("/api/invitation/look")
    def look(request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Look at an invitation, ``token``: its ``role``, and the ``name`` of a user who is to set another password."""
        door.count(request)
        key = users.invited(text_in(fields, "token"))
        return {"role": key.role, "name": key.user, "expires": said(key.expires)}

    @app.post("/api/invitation", status_code=201)
    async def take(request: Request, response: Response, fields: dict[str, Any]) -> dict[str, Any]:
        """Take an invitation: ``token``, ``name`` and ``password``. The answer sets the cookie of a session."""
        door.count(request)
        token, password = text_in(fields, "token"), text_in(fields, "password")
        key = await run_in_threadpool(users.invited, token)
        name = key.user or clean_name(text_in(fields, "name"))
        check_password(password, name)
        user = await run_in_threadpool(users.take, token, name, await door.passwords.hash(password))
        if user.blocked:
            raise RefusedError(403, "the password is set, but this account is blocked; ask an administrator")
        await door.open(request, response, user)
        return {"accounts": True, "name": user.name, "role": user.role}


def _own(app: FastAPI, users: Users, keys: Keys, door: _Door, ledger: Ledger) -> None:
    """Add the addresses of one's own account."""

    @app.get("/api/me/account")
    def account(person: Asker) -> dict[str, Any]:
        """The own account: quotas and what is used of them, None where there are none; tokens."""
        _need_name(person)
        return {**ledger.plain(person), "tokens": [_plain(key) for key in keys.all(TOKEN, person.name)]}

    @app.post("/api/me/password")
    async def change(request: Request, response: Response, person: Asker, fields: dict[str, Any]) -> dict[str, Any]:
        """Change the own password: ``old`` and ``new``. Every other session, and every token, ends."""
        _need_name(person)
        new = text_in(fields, "new")
        user = await door.sign_in(request, person.name, text_in(fields, "old"))
        check_password(new, user.name)
        await run_in_threadpool(users.set_password, user.name, await door.passwords.hash(new))
        await door.open(request, response, user)
        return {"accounts": True, "name": user.name, "role": user.role}

    @app.post("/api/me/tokens", status_code=201)
    def make(person: Asker, fields: dict[str, Any]) -> dict[str, Any]:
        """Make a token for programs: ``name`` and ``days``. The answer has the ``token``, which is never shown again."""
        _need_name(person)
        label, days = clean_name(text_in(fields, "name")), fields.get("days", 90)
        if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= _MOST_DAYS:
            raise InputError(f"days: expected a whole number from 1 to {_MOST_DAYS}, got {days!r}")
        if len(keys.all(TOKEN, person.name)) >= _MOST_TOKENS:
            raise InputError(f"you have {_MOST_TOKENS} tokens already; revoke one first")
        return {"token": keys.make(TOKEN, person.name, timedelta(days=days), label=label)}

    @app.delete("/api/me/tokens/{name}", status_code=204)
    def revoke(person: Asker, name: str) -> None:
        """Revoke a token: it opens nothing any more."""
        _need_name(person)
        keys.end_named(TOKEN, name, person.name)


def _plain(key: Key) -> dict[str, Any]:
    """A token as pages read it."""
    times = {"created": said(key.created), "expires": said(key.expires), "used": said(key.used)}
    return {"id": shown_name(key), "name": key.label, **times}


def _need_accounts(settings: Settings) -> None:
    if not settings.accounts:
        raise InputError("this server has no accounts: nobody needs to sign in")


def _need_name(person: Person) -> None:
    if person == HERE:
        raise InputError("this server has no accounts: there is none of yours")


def looked_up(users: Users, keys: Keys) -> Callable[[str, str], Person | None]:
    """Return the function that gives the person of a key, by its kind and secret."""

    def known(kind: str, secret: str) -> Person | None:
        user = keys.user(kind, secret)
        return None if user is None else users.person(user)

    return known
