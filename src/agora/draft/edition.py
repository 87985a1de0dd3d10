"""Editions: suites whose worlds are generated after the planners were frozen, from a text that was unknown at that time."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from agora.seeds import derived

__all__ = ["Edition"]

_COMMIT = re.compile(r"[0-9a-f]{40}")
MARK = "@"
"""Separates the name of a suite from the name of its edition."""


@dataclass(frozen=True)
class Edition:
    """The draw of an edition of a suite.

    The seed of the suite is the first 32 bits of the SHA-256 of three lines: its name, the commit, and the text
    (`agora.seeds.derived`). The worlds are thus determined by a text that did not exist when the commit was made.

    Attributes:
        commit: commit at which the planners were frozen, 40 hexadecimal digits.
        committed: time of the commit, ISO 8601 with a time zone.
        text: public text from which the seed is derived, one line.
        published: time at which the text was published, which is later than the commit, ISO 8601 with a time zone.
        source: address at which the text can be read.
        drawn: date of the draw, UTC, ISO 8601.
        version: version of the suite from which the edition was drawn.
        planners: digest of each planner's code, parameters and weights at the draw, by name.
    """

    commit: str
    committed: str
    text: str
    published: str
    source: str
    drawn: str
    version: int = 1
    planners: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _COMMIT.fullmatch(self.commit):
            raise ValueError(f"commit must have 40 hexadecimal digits, got {self.commit!r}")
        for name in ("text", "source"):
            value = getattr(self, name)
            if value != value.strip() or not value.isprintable() or not value:
                raise ValueError(f"{name} must be one line of printable characters, without outer spaces, got {value!r}")
        times = [_time(name, getattr(self, name)) for name in ("committed", "published")]
        if times[1] <= times[0]:
            raise ValueError(f"published must be later than the commit, {self.committed}, got {self.published}")
        try:
            day = date.fromisoformat(self.drawn)
        except ValueError as error:
            raise ValueError(f"drawn must be a date such as 2026-12-03, got {self.drawn!r}") from error
        if times[1].astimezone(UTC).date() > day:
            raise ValueError(f"published must not be later than the date of the draw, {self.drawn}, got {self.published}")

    def seed_of(self, name: str) -> int:
        """Return the seed of the edition with the given name."""
        return derived(name, self.commit, self.text)


def _time(name: str, text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{name} must be a time such as 2026-12-03T12:00:00+00:00, got {text!r}") from error
    if time.tzinfo is None:
        raise ValueError(f"{name} must have a time zone, such as +00:00, got {text!r}")
    return time
