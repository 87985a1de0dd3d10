"""Map generators, which create places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agora.maps.place import Place
    from agora.seeds import Stream


class MapGenerator(Protocol):
    """Generates places; a frozen dataclass whose fields are its parameters."""

    def generate(self, stream: Stream) -> Place:
        """Return a place that depends only on the parameters and the stream.

        Raises:
            PlacementError: the parameters cannot be satisfied; the message says which ones and why.
        """
