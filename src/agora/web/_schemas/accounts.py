"""Schemas of accounts and of the administration of a server."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from agora.web._accounts.quotas import Use
from agora.web._schemas.base import ALL_KEYS, Model, RequestBody, Text, expect, is_whole
from agora.web._schemas.live import Live
from agora.web._schemas.runs import Run
from agora.web.settings import Quotas

Role = Literal["look", "run", "administer"]


class Me(Model):
    """The signed-in person; name and role are empty if no one is signed in."""

    accounts: bool
    name: str
    role: Role | Literal[""]


class Offer(Model):
    """An invitation as seen by the person invited."""

    role: Role | Literal[""]
    name: str
    expires: str


class Token(Model):
    """A token for programs."""

    id: str
    name: str
    created: str
    expires: str
    used: str | None


class Account(Model):
    """The account of the signed-in person; administrators have no quotas."""

    model_config = ALL_KEYS

    quotas: Quotas | None
    use: Use
    tokens: list[Token]


class NewSecret(Model):
    """A secret that is shown once."""

    token: str


class User(Model):
    """A person with an account."""

    model_config = ALL_KEYS

    name: str
    role: Role
    blocked: bool
    created: str
    sessions: int
    own_quotas: dict[str, float]
    quotas: Quotas
    use: Use


class Invitation(Model):
    """An open invitation."""

    id: str
    role: Role | Literal[""]
    user: str
    by: str
    created: str
    expires: str


class LiveWorker(Model):
    """A live worker and its current run, if any."""

    name: str
    heard: str
    run: str


class Disk(Model):
    """The size and the free space of a disk, bytes."""

    total: int
    free: int


class ServerState(Model):
    """The queue, the live episodes, the workers and the disk of a server."""

    runs: list[Run]
    lives: list[Live]
    workers: list[LiveWorker]
    disk: Disk


class SignIn(RequestBody):
    """A request to sign in."""

    name: Text = ""
    password: Text = ""


class OfferRequest(RequestBody):
    """A request to look up an invitation."""

    token: Text = ""


class Acceptance(RequestBody):
    """A request to accept an invitation; a user who sets a new password already has a name."""

    token: Text = ""
    name: Text = ""
    password: Text = ""


class PasswordChange(RequestBody):
    """A request to change one's own password."""

    old: Text = ""
    new: Text = ""


_MOST_DAYS = 366


class TokenRequest(RequestBody):
    """A request for a token that is valid for some days."""

    name: Text = ""
    days: Annotated[int, expect(f"an integer in [1, {_MOST_DAYS}]", lambda days: is_whole(days) and 1 <= days <= _MOST_DAYS)] = 90


class UserChange(RequestBody):
    """A change to a user; omitted keys keep their values."""

    role: Role = "look"
    blocked: bool = False
    quotas: dict[str, Any] = {}


class InvitationRequest(RequestBody):
    """A request to invite a new user, or to let a user set a new password."""

    role: Text = ""
    user: Text = ""
