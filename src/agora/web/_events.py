"""News of a server, told to everyone who listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

_MOST = 1000  # messages that wait for a listener; the oldest go first


class Events:
    """Messages to all listeners of a server; call everything in the loop's thread."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[dict[str, Any]]] = set()

    @property
    def listened(self) -> bool:
        """True where anybody listens."""
        return bool(self._queues)

    def tell(self, message: dict[str, Any]) -> None:
        """Leave a message with each listener; who does not read loses the oldest."""
        for queue in self._queues:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(message)

    async def listen(self) -> AsyncIterator[dict[str, Any]]:
        """Yield messages as they come."""
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_MOST)
        self._queues.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._queues.discard(queue)
