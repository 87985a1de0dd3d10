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
        name: name as entered by the person; it never changes.
        key: name used for look-ups; names that differ only in case share a key.
        role: role of the person (`agora.web._accounts.people.ROLES`).
        password: hash of the password.
        blocked: whether the person is locked out.
        quotas: quotas that differ from the server's defaults, by name.
        created: time at which the invitation was accepted.
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
    """A secret that a person holds; the database stores only its hash.

    Attributes:
        hash: SHA-256 of the secret, hexadecimal.
        kind: browser session, program token, or invitation.
        user: name of the user; empty if a new person is invited.
        role: role that an invitation grants; empty for other kinds of keys, and for invitations that do not change the role.
        label: name of a token; for an invitation, the name of the inviting administrator, or empty if the invitation was created at
            the terminal.
        created: time of creation.
        expires: time at which the secret becomes invalid.
        used: time at which an invitation was accepted, or a token was last used.
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
    """A file or folder of the server that has an owner.

    Attributes:
        kind: kind of the content, such as scenario or world.
        name: name of the content, unique within its kind.
        owner: name of the user who owns the content.
    """

    __tablename__ = "owned"
    __table_args__ = (Index("owned_by_owner", "owner"),)

    kind: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
