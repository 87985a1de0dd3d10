"""Invitations made at the terminal, where nobody is signed in."""

from __future__ import annotations

from agora.web._accounts.users import Users
from agora.web.database import open_database
from agora.web.settings import Settings


def invite(settings: Settings, role: str, user: str = "") -> str:
    """Make an invitation, and return its secret.

    Args:
        settings: settings of the server.
        role: role that the invitation gives.
        user: name of a user who is to set another password; empty for somebody new.

    Raises:
        UnknownNameError: there is no such user. InputError: there is no such role, or the database cannot be reached.
    """
    with open_database(settings.url) as engine:
        return Users(engine, settings.limits.quotas).invite(role, user)
