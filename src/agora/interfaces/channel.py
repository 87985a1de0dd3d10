"""Channels: what robots perceive, part by part."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class Channel(Protocol):
    """One part of an observation, a frozen dataclass whose fields are its parameters; `Declaration.needs` names it or holds it."""

    @property
    def channel(self) -> str:
        """Its name in ``needs``."""


def channels_of(needs: Collection[str | Channel]) -> dict[str, Channel | None]:
    """Return channels by their names: with parameters of their own where ``needs`` holds them, None where it names them alone."""
    return {name: None for name in needs if isinstance(name, str)} | {one.channel: one for one in needs if not isinstance(one, str)}
