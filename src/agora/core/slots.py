"""Numbered slots that users share: keeps track of each object's slot and of the free slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from agora.errors import InputError

T = TypeVar("T")


class Slots(Generic[T]):
    """A limited number of slots for the objects of many users; an object that several users share occupies one slot.

    Unused objects stay in their slots until the slots are needed, so that a later user can find them there.

    Args:
        count: number of slots.
        fill: puts an object into a slot; called only if the object is not in a slot yet.
    """

    def __init__(self, count: int, fill: Callable[[int, T], None]) -> None:
        self._fill = fill
        self._slot_of: dict[int, int] = {}
        self._things: dict[int, T] = {}
        self._users = [0] * count
        self._idle = dict.fromkeys(range(count))
        self._held: dict[int, list[int]] = {}

    def assign(self, user: int, things: Iterable[T]) -> list[int]:
        """Assign exactly the given objects to a user, and return their slots.

        Objects are distinguished by identity.

        Raises:
            InputError: other users occupy all slots.
        """
        for slot in self._held.pop(user, []):
            self._users[slot] -= 1
            if not self._users[slot]:
                self._idle[slot] = None
        held = self._held[user] = [self._slot(thing) for thing in things]
        return held

    def _slot(self, thing: T) -> int:
        slot = self._slot_of.get(id(thing))
        if slot is None:
            if not self._idle:
                raise InputError(f"all {len(self._users)} slots are in use, but one more is needed")
            slot = next(iter(self._idle))
            self._slot_of.pop(id(self._things.get(slot)), None)
            self._fill(slot, thing)
            self._slot_of[id(thing)], self._things[slot] = slot, thing
        self._idle.pop(slot, None)
        self._users[slot] += 1
        return slot
