"""Situations of the scenario library."""

from __future__ import annotations

from dataclasses import dataclass, field

from agora.draft.surroundings import Surroundings
from agora.errors import InputError
from agora.seeds import Stream
from agora.tasks.cards.card import load_card


@dataclass(frozen=True)
class CardWorld:
    """A card of the scenario library; the card's parameters are drawn for every episode.

    Attributes:
        card: name of the card (`agora scenario list`).
        values: fixed values, by name, of parameters that are not drawn.
    """

    card: str
    values: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            load_card(self.card).check(self.values)
        except InputError as error:
            raise ValueError(f"card: {error}") from error

    def names(self) -> list[str]:
        """Return the name of the card."""
        return [self.card]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Draw a situation."""
        return load_card(self.card).draw(stream, self.values).world()
