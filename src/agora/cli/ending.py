"""Start and end of the command-line process: handles streams that are closed at the start, and threads still running at exit."""

from __future__ import annotations

import os
import sys
import threading

__all__ = ["end_in_time", "open_streams"]

_PATIENCE = 5.0  # s


def open_streams() -> None:
    """Open the standard streams that the parent process has closed, so that reads return nothing and writes are discarded.

    Otherwise, the next file to be opened would get the file descriptor of a closed stream and receive its output.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, mode))
            setattr(sys, f"__{name}__", getattr(sys, name))


def end_in_time(code: int) -> None:
    """End the process with an exit code soon after its main thread, without waiting for other threads as Python would.

    A planner that runs in this process may have started such threads.
    """
    threading.Thread(target=_end, args=(code,), daemon=True).start()


def _end(code: int) -> None:
    threading.main_thread().join()
    threading.Event().wait(_PATIENCE)
    running = [one.name for one in threading.enumerate() if not one.daemon and one is not threading.main_thread()]
    print(
        f"threads of a component are still running: {', '.join(running)}; the process ends without waiting for them",
        file=sys.stderr,
    )
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
