"""Invitations created at the terminal, without signing in."""

from __future__ import annotations

from agora.web._accounts.users import Users
from agora.web.database import open_database
from agora.web.settings import Settings


def invite(settings: Settings, role: str, user: str = "") -> str:
    """Create an invitation, and return its secret.

    Args:
        settings: settings of the server.
        role: role that the invitation grants.
        user: name of a user who should set a new password; empty for a new person.

    Raises:
        UnknownNameError: there is no such user. InputError: the role is unknown, or the database cannot be reached.
    """
    with open_database(settings.url) as engine:
        return Users(engine, settings.limits.quotas).invite(role, user)
