"""Work in a thread that this one asks to stop, without a signal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from agora.benchmark.stop_token import StopToken
from agora.errors import StoppedError


def stopped(work: Callable[[StopToken], Iterator[Any]], is_time: Callable[[list[Any]], bool]) -> tuple[str, list[Any]]:
    """The message of work that another thread iterates over, and all that it told.

    Args:
        work: begins with a token.
        is_time: of all that was told so far, whether this thread is to ask the token now; the work waits until it has.
    """
    token, reached, asked, said, told = StopToken(), threading.Event(), threading.Event(), [], []

    def run() -> None:
        try:
            for event in work(token):
                told.append(event)
                if not asked.is_set() and is_time(told):
                    reached.set()
                    asked.wait(120)
        except StoppedError as error:
            said.append(str(error))
        finally:
            reached.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert reached.wait(120)
    token.stop()
    asked.set()
    thread.join(120)
    assert not thread.is_alive()
    assert len(said) == 1, "it was not stopped"
    return said[0], told
