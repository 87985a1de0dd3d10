"""The people with accounts, and the invitations with which they create accounts and set passwords."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Engine, delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from agora.config import build
from agora.errors import InputError, UnknownNameError
from agora.web._accounts.keys import Keys, hash_of
from agora.web._accounts.people import ADMINISTER, Person, check_role, clean_name, key_of
from agora.web._accounts.tables import INVITATION, Key, User
from agora.web._tables import now
from agora.web.settings import Quotas

INVALID_INVITATION = "this invitation is unknown, used or expired; ask an administrator for another"
"""Message for every invalid invitation, regardless of the reason."""


class Users:
    """The people with an account.

    Args:
        engine: engine of the database.
        quotas: default quotas.
    """

    def __init__(self, engine: Engine, quotas: Quotas) -> None:
        self._engine, self._quotas, self._keys = engine, quotas, Keys(engine)

    def all(self) -> Sequence[User]:
        """All users, by name."""
        with self._session() as session:
            return session.scalars(select(User).order_by(User.key)).all()

    def find(self, name: str) -> User | None:
        """Return the user with the given name, ignoring case; None if there is no such user."""
        with self._session() as session:
            return session.scalars(select(User).where(User.key == key_of(name))).one_or_none()

    def get(self, name: str) -> User:
        """Return the user with the given name.

        Raises:
            UnknownNameError: there is no such user.
        """
        if (user := self.find(name)) is None:
            raise UnknownNameError("user", name, [one.name for one in self.all()])
        return user

    def person(self, user: User) -> Person:
        """Return the `Person` for a user."""
        return Person(user.name, user.role, None if user.role == ADMINISTER else self.quotas(user))

    def quotas(self, user: User) -> Quotas:
        """Return the quotas of a user."""
        return build({**asdict(self._quotas), **user.quotas}, Quotas, f"quotas of {user.name}")

    @property
    def has_administrator(self) -> bool:
        """Return whether there is an administrator who can sign in."""
        return self._administrators() > 0

    def invite(self, role: str, user: str = "", by: str = "") -> str:
        """Create an invitation, and return its secret.

        Args:
            role: role that the invitation grants; empty to keep the user's current role.
            user: name of a user who should set a new password; empty for a new person.
            by: name of the inviting administrator; empty if invited from the terminal.

        Raises:
            UnknownNameError: there is no such user. InputError: the role is unknown.
        """
        if role or not user:
            check_role(role)
        return self._keys.make(INVITATION, self.get(user).name if user else "", role=role, label=by)

    def get_invitation(self, secret: str) -> Key:
        """Return a valid invitation.

        Raises:
            InputError: the invitation is unknown, already accepted, or expired.
        """
        key = self._keys.invitation(secret)
        if key is None or key.used is not None or key.expires <= now():
            raise InputError(INVALID_INVITATION)
        return key

    def accept_invitation(self, secret: str, name: str, password: str) -> User:
        """Accept an invitation, which is possible only once: create a user, or set a user's password, which ends all of the user's
        sessions and tokens.

        Args:
            secret: secret of the invitation.
            name: name of a new user.
            password: hash of the password.

        Raises:
            InputError: the invitation is invalid, or the name is taken; the invitation stays valid.
        """
        key = self.get_invitation(secret)
        name = key.user or clean_name(name)
        with self._session() as session:
            mine = update(Key).where(Key.hash == hash_of(secret), Key.used.is_(None))
            if not session.execute(mine.values(used=now())).rowcount:  # type: ignore[attr-defined]
                raise InputError(INVALID_INVITATION)
            if key.user:
                changed = {"role": key.role, "blocked": False} if key.role else {}
                session.execute(update(User).where(User.name == name).values(password=password, **changed))
                session.execute(delete(Key).where(Key.user == name))
            else:
                session.add(User(name=name, key=key_of(name), role=key.role, password=password, created=now(), quotas={}))
            try:
                session.commit()
            except IntegrityError as error:
                raise InputError(f"name: {name!r} is already in use; choose another") from error
        return self.get(name)

    def set_password(self, name: str, hashed: str, *, ends: bool = True) -> None:
        """Set a user's password or renew its hash; a new password ends all of the user's sessions and tokens."""
        self._set(name, password=hashed)
        if ends:
            self._keys.end_all(name)

    def change(self, name: str, fields: dict[str, Any]) -> User:
        """Change a user's role or quotas, or block the user; blocking ends all of the user's sessions and tokens.

        Raises:
            UnknownNameError: there is no such user.
            InputError: a field is unknown or invalid, or no administrator would remain.
        """
        user = self.get(name)
        wanted = build(fields, dict[str, Any], "user")
        for key in wanted:
            if key not in ("role", "blocked", "quotas"):
                raise InputError(f"user: {key}: unknown key; expected role, blocked or quotas")
        if "role" in wanted:
            check_role(wanted["role"])
        if not isinstance(wanted.get("blocked", False), bool):
            raise InputError(f"user: blocked: expected true or false, got {wanted['blocked']!r}")
        if "quotas" in wanted:
            build({**asdict(self._quotas), **build(wanted["quotas"], dict[str, Any], "quotas")}, Quotas, "quotas")
        leaves = wanted.get("role", ADMINISTER) != ADMINISTER or wanted.get("blocked", False)
        if leaves and user.role == ADMINISTER and not user.blocked and self._administrators() == 1:
            raise InputError(f"{user.name} is the only administrator; give another user this role first")
        self._set(user.name, **wanted)
        if wanted.get("blocked"):
            self._keys.end_all(user.name)
        return self.get(user.name)

    def _administrators(self) -> int:
        with self._session() as session:
            counted = select(func.count()).where(User.role == ADMINISTER, User.blocked.is_(False))
            return session.scalar(counted) or 0

    def _set(self, name: str, **values: Any) -> None:
        with self._session() as session:
            session.execute(update(User).where(User.name == name).values(**values))
            session.commit()

    def _session(self) -> Session:
        return Session(self._engine, expire_on_commit=False)
