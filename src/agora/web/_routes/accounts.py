"""Routes for signing in and for managing one's own account."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from agora.errors import InputError
from agora.web._accounts.keys import OLDEST_SESSION, Keys, shown_name
from agora.web._accounts.passwords import LONGEST, Passwords, check_password
from agora.web._accounts.people import LOCAL_PERSON, CurrentPerson, Person, clean_name, key_of
from agora.web._accounts.quotas import Ledger
from agora.web._accounts.rate_limits import Buckets, network_of
from agora.web._accounts.tables import SESSION, TOKEN, Key, User
from agora.web._accounts.users import Users
from agora.web._guard import RefusedError, cookie_of, is_safe, rate_limit_error, secret_of
from agora.web._schemas.accounts import (
    Acceptance,
    Account,
    Me,
    NewSecret,
    Offer,
    OfferRequest,
    PasswordChange,
    SignIn,
    TokenRequest,
)
from agora.web._tables import iso_time
from agora.web.settings import Settings

WRONG_CREDENTIALS = "wrong name or password"
"""Message for an invalid name or password, regardless of which of the two is wrong."""

_MOST_TOKENS = 20


class _SignIn:
    """Signs people in: starts sessions, and limits the rate of attempts.

    Args:
        settings: settings of the server.
        users: people with accounts.
        keys: keys of the people.
    """

    def __init__(self, settings: Settings, users: Users, keys: Keys) -> None:
        self._users, self._keys, self.passwords = users, keys, Passwords()
        rates = settings.limits.rates
        self._attempts = Buckets(rates.attempts / 60.0, rates.attempts_burst)

    def count(self, request: Request, name: str = "") -> None:
        """Count a sign-in attempt for an address and for a name; reject the attempt if there were too many."""
        address = request.client.host if request.client else ""
        for key in [f"address {network_of(address)}", *([f"name {name}"] if name else [])]:
            if wait := self._attempts.take(key):
                raise rate_limit_error(wait)

    async def sign_in(self, request: Request, name: str, password: str) -> User:
        """Return the user with the given name and password.

        Raises:
            RefusedError: the name or password is wrong, there were too many attempts, or the account is blocked.
        """
        self.count(request, key_of(name) or "nobody")
        user = await run_in_threadpool(self._users.find, name)
        fits = await self.passwords.fits(password, user.password if user else "")
        if user is None or not fits or len(password) > LONGEST:
            raise RefusedError(401, WRONG_CREDENTIALS)
        if user.blocked:
            raise RefusedError(403, "this account is blocked; ask an administrator")
        self._attempts.refill(f"name {user.key}")
        return user

    async def open(self, request: Request, response: Response, user: User) -> None:
        """Start a session, and end the browser's previous session."""
        if (old := secret_of(request)) != "":
            await run_in_threadpool(self._keys.end, old)
        secret = await run_in_threadpool(self._keys.make, SESSION, user.name)
        age = int(OLDEST_SESSION.total_seconds())
        response.set_cookie(cookie_of(request), secret, max_age=age, httponly=True, samesite="strict", secure=is_safe(request))


def add_accounts(app: FastAPI, settings: Settings, users: Users, keys: Keys, ledger: Ledger) -> None:
    """Add the routes for signing in and for managing one's own account."""
    sign_ins = _SignIn(settings, users, keys)
    _add_sessions(app, settings, users, keys, sign_ins)
    _add_invitations(app, users, sign_ins)
    _add_own_account(app, users, keys, sign_ins, ledger)


def _add_sessions(app: FastAPI, settings: Settings, users: Users, keys: Keys, sign_ins: _SignIn) -> None:
    """Add the routes for sessions."""

    @app.get("/api/me", response_model=Me)
    def me(request: Request) -> dict[str, Any]:
        """The person making the request: ``name`` and ``role``, which are empty if no one is signed in, and whether the server has
        ``accounts``.
        """
        person: Person | None = request.state.person
        who = {"name": person.name, "role": person.role} if person else {"name": "", "role": ""}
        return {"accounts": settings.accounts, **who}

    @app.post("/api/session", response_model=Me)
    async def sign_in(request: Request, response: Response, fields: SignIn) -> dict[str, Any]:
        """Sign in with ``name`` and ``password``. The response sets a session cookie."""
        _check_accounts(settings)
        user = await sign_ins.sign_in(request, fields.name, fields.password)
        if sign_ins.passwords.is_old(user.password):
            hashed = await sign_ins.passwords.hash(fields.password)
            await run_in_threadpool(users.set_password, user.name, hashed, ends=False)
        await sign_ins.open(request, response, user)
        return {"accounts": True, "name": user.name, "role": user.role}

    @app.delete("/api/session", status_code=204)
    def sign_out(request: Request, response: Response) -> None:
        """Sign out, which ends the cookie's session."""
        if (secret := secret_of(request)) != "":
            keys.end(secret)
        response.delete_cookie(cookie_of(request), httponly=True, samesite="strict", secure=is_safe(request))


def _add_invitations(app: FastAPI, users: Users, sign_ins: _SignIn) -> None:
    """Add the routes for accepting invitations."""

    @app.post("/api/invitation/look", response_model=Offer)
    def look(request: Request, fields: OfferRequest) -> dict[str, Any]:
        """Look up the invitation with a ``token``: its ``role``, and the ``name`` of a user who should set a new password."""
        sign_ins.count(request)
        key = users.get_invitation(fields.token)
        return {"role": key.role, "name": key.user, "expires": iso_time(key.expires)}

    @app.post("/api/invitation", status_code=201, response_model=Me)
    async def take(request: Request, response: Response, fields: Acceptance) -> dict[str, Any]:
        """Accept an invitation with ``token``, ``name`` and ``password``. The response sets a session cookie."""
        sign_ins.count(request)
        token, password = fields.token, fields.password
        key = await run_in_threadpool(users.get_invitation, token)
        name = key.user or clean_name(fields.name)
        check_password(password, name)
        user = await run_in_threadpool(users.accept_invitation, token, name, await sign_ins.passwords.hash(password))
        if user.blocked:
            raise RefusedError(403, "the password is set, but this account is blocked; ask an administrator")
        await sign_ins.open(request, response, user)
        return {"accounts": True, "name": user.name, "role": user.role}


def _add_own_account(app: FastAPI, users: Users, keys: Keys, sign_ins: _SignIn, ledger: Ledger) -> None:
    """Add the routes for one's own account."""

    @app.get("/api/me/account", response_model=Account)
    def account(person: CurrentPerson) -> dict[str, Any]:
        """Your account: your quotas and usage (None if you have no quotas), and your tokens."""
        _check_name(person)
        return {**ledger.plain(person), "tokens": [_plain(key) for key in keys.all(TOKEN, person.name)]}

    @app.post("/api/me/password", response_model=Me)
    async def change(
        request: Request,
        response: Response,
        person: CurrentPerson,
        fields: PasswordChange,
    ) -> dict[str, Any]:
        """Change your password from ``old`` to ``new``. This ends all other sessions and all tokens."""
        _check_name(person)
        new = fields.new
        user = await sign_ins.sign_in(request, person.name, fields.old)
        check_password(new, user.name)
        await run_in_threadpool(users.set_password, user.name, await sign_ins.passwords.hash(new))
        await sign_ins.open(request, response, user)
        return {"accounts": True, "name": user.name, "role": user.role}

    @app.post("/api/me/tokens", status_code=201, response_model=NewSecret)
    def make(person: CurrentPerson, fields: TokenRequest) -> dict[str, Any]:
        """Create a token for programs with ``name`` and ``days``. The response has the ``token``, which is never shown again."""
        _check_name(person)
        label = clean_name(fields.name)
        if len(keys.all(TOKEN, person.name)) >= _MOST_TOKENS:
            raise InputError(f"you have {_MOST_TOKENS} tokens already; revoke one first")
        return {"token": keys.make(TOKEN, person.name, timedelta(days=fields.days), label=label)}

    @app.delete("/api/me/tokens/{name}", status_code=204)
    def revoke(person: CurrentPerson, name: str) -> None:
        """Revoke a token, which makes it invalid."""
        _check_name(person)
        keys.end_named(TOKEN, name, person.name)


def _plain(key: Key) -> dict[str, Any]:
    """Return a token in the format used by the front end."""
    times = {"created": iso_time(key.created), "expires": iso_time(key.expires), "used": iso_time(key.used)}
    return {"id": shown_name(key), "name": key.label, **times}


def _check_accounts(settings: Settings) -> None:
    if not settings.accounts:
        raise InputError("this server has no accounts: signing in is not needed")


def _check_name(person: Person) -> None:
    if person == LOCAL_PERSON:
        raise InputError("this server has no accounts, so you have no account page")


def make_person_lookup(users: Users, keys: Keys) -> Callable[[str, str], Person | None]:
    """Return a function that looks up the person who holds a key, given the key's kind and secret."""

    def find_person(kind: str, secret: str) -> Person | None:
        user = keys.user(kind, secret)
        return None if user is None else users.person(user)

    return find_person
