"""The conversations in a scenario: which pedestrians stand and talk with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from agora.draft.scenario import TALKS, Pedestrian
from agora.errors import nearest

FARTHEST = 3.6
"""Default maximum distance between two people who talk, m: Hall's social distance (1966)."""


class WrongConversationError(ValueError):
    """Raised for pedestrians who cannot talk with each other.

    Attributes:
        number: index of the invalid entry.
        key: the invalid key of that entry.
    """

    def __init__(self, number: int, key: str, message: str) -> None:
        super().__init__(message)
        self.number, self.key = number, key


def conversations(entries: Sequence[Pedestrian]) -> tuple[list[Pedestrian], list[int]]:
    """Return the entries of a scenario with partners set to talk with each other, and the conversation number of each entry.

    If a talking person names a partner that has no state of its own, the partner talks for the same time. Entries joined by
    ``with`` form one conversation, and so do the people in a single entry.

    Returns:
        The entries, and for each entry the number of its conversation, or -1 if there is none.

    Raises:
        WrongConversationError: a partner does not exist, does something else or is too far away; or a conversation has only one
            member, or no one in it talks.
    """
    number = {entry.name: k for k, entry in enumerate(entries)}
    whole, root = list(entries), list(range(len(entries)))
    for k, entry in enumerate(entries):
        for name in entry.partners or ():
            if name not in number:
                raise WrongConversationError(k, "with", f"no pedestrian called {name!r}; {nearest(name, {*number} - {entry.name})}")
            j = number[name]
            if whole[j].state is None:
                whole[j] = replace(whole[j], state="talking", state_time=entry.state_time)
            if whole[j].state not in TALKS:
                raise WrongConversationError(k, "with", f"{name!r} is {whole[j].state!r} and does not talk")
            root = [root[k] if r == root[j] else r for r in root]
    members: dict[int, list[int]] = {}
    for k, entry in enumerate(whole):
        if entry.state in TALKS:
            members.setdefault(root[k], []).append(k)
    found = [-1] * len(whole)
    for talk, group in enumerate(members.values()):
        _check([(k, whole[k]) for k in group])
        for k in group:
            found[k] = talk
    return whole, found


def _check(group: list[tuple[int, Pedestrian]]) -> None:
    """Check that people can talk with each other."""
    first, entry = group[0]
    if sum(member.people for _, member in group) < 2:
        raise WrongConversationError(
            first, "state", f"a pedestrian that is {entry.state!r} needs a partner; name one in the key `with`"
        )
    if all(member.state == "listening" for _, member in group):
        raise WrongConversationError(first, "state", "all participants are listening; one must be 'talking' or 'telling'")
    for place, (k, entry) in enumerate(group):
        for _, other in group[place + 1 :]:
            apart = math.dist(entry.pos[:2], other.pos[:2])
            most = max(entry.max_talking_distance or FARTHEST, other.max_talking_distance or FARTHEST)
            if apart > most:
                raise WrongConversationError(
                    k,
                    "pos",
                    f"{entry.name!r} talks with {other.name!r}, who is {apart:.1f} m away; they must stand within {most:g} m",
                )
