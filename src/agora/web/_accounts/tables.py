"""The tables of accounts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index
from sqlalchemy.orm import Mapped, mapped_column

from agora.web._tables import Base

SESSION, TOKEN, INVITATION = "session", "token", "invitation"
"""Kinds of keys."""


class User(Base):
    """A person with an account.

    Attributes:
        name: name as the person has typed it; it never changes.
        key: name by which the person is found: of names that differ in capitals alone there is one.
        role: role of the person (`agora.web._accounts.people.ROLES`).
        password: hash of the password.
        blocked: whether the person may not come in.
        quotas: quotas that differ from the server's, by name.
        created: time at which the invitation was taken.
    """

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    password: Mapped[str]
    blocked: Mapped[bool] = mapped_column(default=False)
    quotas: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created: Mapped[datetime]


class Key(Base):
    """A secret that somebody holds; the database has its hash alone.

    Attributes:
        hash: SHA-256 of the secret, hexadecimal.
        kind: session of a browser, token of a program, or invitation.
        user: name of the user; empty for an invitation of somebody new.
        role: role that an invitation gives; empty where it leaves the role as it is, and for other kinds.
        label: name of a token; for an invitation the name of the administrator, empty for the terminal.
        created: time at which it was made.
        expires: time from which on it opens nothing.
        used: time at which an invitation was taken, or a token was last used.
    """

    __tablename__ = "keys"
    __table_args__ = (Index("keys_by_user", "user", "kind"),)

    hash: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    user: Mapped[str] = mapped_column(default="")
    role: Mapped[str] = mapped_column(default="")
    label: Mapped[str] = mapped_column(default="")
    created: Mapped[datetime]
    expires: Mapped[datetime]
    used: Mapped[datetime | None]


class Owned(Base):
    """A file or folder of the server that belongs to somebody.

    Attributes:
        kind: kind of the thing, such as scenario or world.
        name: name of the thing among those of its kind.
        owner: name of the user.
    """

    __tablename__ = "owned"
    __table_args__ = (Index("owned_by_owner", "owner"),)

    kind: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
