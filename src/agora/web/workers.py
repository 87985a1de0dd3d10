"""Workers in processes of their own, which are kept alive."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from agora.web.settings import Settings
from agora.web.worker import main as work


@contextmanager
def working(settings: Settings, count: int) -> Iterator[None]:
    """Keep as many workers of a server alive; one that dies is followed by another."""
    context, over = multiprocessing.get_context("spawn"), threading.Event()

    def keep() -> None:
        while not over.is_set():
            worker = context.Process(target=work, args=(settings,), name="agora worker")
            worker.start()
            while worker.is_alive() and not over.is_set():
                worker.join(0.5)
            if over.is_set():
                worker.terminate()
                worker.join()
            else:
                over.wait(1.0)

    threads = [threading.Thread(target=keep, name=f"worker {k}") for k in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
