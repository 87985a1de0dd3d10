"""Secrets that people hold: browser sessions, program tokens, and invitations. The database stores only their hashes."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from agora.errors import UnknownNameError
from agora.web._accounts.tables import INVITATION, SESSION, TOKEN, Key, User
from agora.web._tables import now

LIVES = {SESSION: timedelta(days=14), TOKEN: timedelta(days=90), INVITATION: timedelta(days=7)}
"""Validity periods by kind of key; a session's period restarts whenever the session is used."""

OLDEST_SESSION = timedelta(days=90)
"""A session ends after this time even if it is in use."""

_STEP = timedelta(hours=1)  # minimum time between two updates of a session
_SHOWN = 16  # number of characters of the hash that identify a key in the web interface


class Keys:
    """The keys in a database.

    Args:
        engine: engine of the database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def make(self, kind: str, user: str = "", life: timedelta | None = None, **said: Any) -> str:
        """Create a key, and return its secret, which cannot be read again.

        Args:
            kind: kind of the key.
            user: name of the user who holds the key.
            life: validity period of the key; if None, the default for its kind.
            said: values for other columns of the key.
        """
        secret = secrets.token_urlsafe(32)
        key = Key(hash=hash_of(secret), kind=kind, user=user, created=now(), expires=now() + (life or LIVES[kind]), **said)
        with Session(self._engine) as session:
            session.execute(delete(Key).where(Key.expires < now() - timedelta(days=30)))
            session.add(key)
            session.commit()
        return secret

    def user(self, kind: str, secret: str) -> User | None:
        """Return the user of a session or token; None if the secret is unknown or expired, or the user is blocked."""
        with Session(self._engine, expire_on_commit=False) as session:
            mine = select(Key, User).join(User, User.name == Key.user)
            found = session.execute(mine.where(Key.hash == hash_of(secret), Key.kind == kind)).one_or_none()
            if found is None or found[1].blocked or found[0].expires <= now():
                return None
            key, user = found
            if kind == SESSION:
                until = min(now() + LIVES[SESSION], key.created + OLDEST_SESSION)
                changed = {"expires": until} if until - key.expires > _STEP else {}
            else:
                changed = {"used": now()} if key.used is None or now() - key.used > _STEP else {}
        if changed:
            with suppress(SQLAlchemyError), Session(self._engine) as session:  # a full disk must not lock people out
                session.execute(update(Key).where(Key.hash == key.hash).values(**changed))
                session.commit()
        return user

    def invitation(self, secret: str) -> Key | None:
        """Return an invitation, even if it has been used or has expired; None if it is unknown."""
        with Session(self._engine, expire_on_commit=False) as session:
            key = session.get(Key, hash_of(secret))
        return key if key is not None and key.kind == INVITATION else None

    def all(self, kind: str, user: str = "") -> Sequence[Key]:
        """Return the valid keys of a kind, newest first, for the given user or, if ``user`` is empty, for all users."""
        wanted = [Key.kind == kind, Key.expires > now(), *([Key.user == user] if user else [])]
        if kind == INVITATION:
            wanted.append(Key.used.is_(None))
        with Session(self._engine, expire_on_commit=False) as session:
            return session.scalars(select(Key).where(*wanted).order_by(Key.created.desc(), Key.hash)).all()

    def end(self, secret: str) -> None:
        """Invalidate a key."""
        self._delete(Key.hash == hash_of(secret))

    def end_all(self, user: str) -> None:
        """Invalidate all keys of a user."""
        self._delete(Key.user == user)

    def end_named(self, kind: str, name: str, user: str = "") -> None:
        """Invalidate the key of a kind that the web interface shows under the given name.

        Raises:
            UnknownNameError: the key does not exist, or belongs to another user.
        """
        known = {shown_name(key): key for key in self.all(kind, user)}
        if name not in known:
            raise UnknownNameError(kind, name, known)
        self._delete(Key.hash == known[name].hash)

    def _delete(self, *which: Any) -> None:
        with Session(self._engine) as session:
            session.execute(delete(Key).where(*which))
            session.commit()


def hash_of(secret: str) -> str:
    """Return the hash of a secret. A fast hash is sufficient because secrets are long and random."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def shown_name(key: Key) -> str:
    """Return the name under which the web interface shows a key; the name does not grant access."""
    return key.hash[:_SHOWN]
