"""The people who use a server, and the roles that define their permissions."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from agora.errors import InputError, nearest
from agora.web.settings import Quotas
from agora.yaml_tree import value_text

LOOK, RUN, ADMINISTER = "look", "run", "administer"

ROLES = (LOOK, RUN, ADMINISTER)
"""Roles, in ascending order; each includes the permissions of the roles before it."""

LONGEST_NAME = 60
"""Maximum number of characters in a person's name."""


@dataclass(frozen=True)
class Person:
    """A person who makes a request.

    Attributes:
        name: name of the account; empty if the server has no accounts.
        role: role of the person.
        quotas: limits that apply to the person; None if there are none.
    """

    name: str = ""
    role: str = ADMINISTER
    quotas: Quotas | None = None

    def may(self, role: str) -> bool:
        """Return whether the person has the permissions of a role."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def owns(self, owner: str) -> bool:
        """Return whether the person may change content with the given owner, which may be empty."""
        return self.role == ADMINISTER or (self.name != "" and self.name == owner)


LOCAL_PERSON = Person()
"""The person behind every request to a server without accounts."""


def _person_of(asked: HTTPConnection) -> Person:
    person: Person = asked.state.person
    return person


CurrentPerson = Annotated[Person, Depends(_person_of)]
"""Route parameter: the person behind a request that `agora.web._guard` has accepted."""


def check_role(role: str) -> None:
    """Reject unknown roles.

    Raises:
        InputError: the role is unknown.
    """
    if role not in ROLES:
        raise InputError(f"role: expected look, run or administer, got {value_text(role)}; {nearest(str(role), ROLES)}")


def clean_name(name: str) -> str:
    """Return a person's name in normalised form.

    Raises:
        InputError: the name is empty or too long, or contains invisible characters.
    """
    found = unicodedata.normalize("NFKC", name).strip()
    if not 1 <= len(found) <= LONGEST_NAME:
        raise InputError(f"name: expected 1 to {LONGEST_NAME} characters, got {len(found)}")
    if not found.isprintable() or "  " in found:
        raise InputError("name: expected printable characters and single spaces between words")
    return found


def key_of(name: str) -> str:
    """Return the look-up key of a name. Names that differ only in case share a key; the key of an invalid name is empty."""
    try:
        return clean_name(name).casefold()
    except InputError:
        return ""
