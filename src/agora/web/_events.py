"""Event messages of a server, sent to all listeners."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

_MOST = 1000  # queued messages per listener; the oldest are dropped first


class Events:
    """Sends messages to all listeners of a server; call the methods in the event loop's thread."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[dict[str, Any]]] = set()

    @property
    def listened(self) -> bool:
        """Return whether there are listeners."""
        return bool(self._queues)

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message to each listener; if a listener's queue is full, its oldest message is dropped."""
        for queue in self._queues:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(message)

    async def listen(self) -> AsyncIterator[dict[str, Any]]:
        """Yield messages as they arrive."""
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_MOST)
        self._queues.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._queues.discard(queue)
