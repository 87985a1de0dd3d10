"""A server on this machine, with its workers, until it is stopped."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from agora.errors import InputError
from agora.web.app import create_app
from agora.web.database import opened
from agora.web.settings import Settings
from agora.web.workers import working

HOST = "127.0.0.1"


def serve(settings: Settings, port: int, workers: int, *, opens: bool, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        settings: settings of the server.
        port: port on this machine; 0 for any that is free.
        workers: number of workers.
        opens: whether a browser opens the page.
        say: is given lines for the person at the terminal.

    Raises:
        InputError: the port is taken, or the folder or the database cannot be used.
    """
    listening = _listening(port)
    _make(settings.runs)
    address = f"http://{HOST}:{listening.getsockname()[1]}/"
    with opened(settings.url) as engine, working(settings, workers):
        app = create_app(settings, engine)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="websockets-sansio", timeout_graceful_shutdown=2))
        say(f"Agora is at {address} ; runs are kept in {settings.runs}; Ctrl-C ends it")
        if opens:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        server.run([listening])


def _make(folder: Path) -> None:
    """Make a folder with all that it is in."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error


def _listening(port: int) -> socket.socket:
    """A socket that listens on a port of this machine; who comes before the server is ready waits for it."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        raise InputError(f"port {port}: {error.strerror}; choose another by --port, or 0 for any") from error
    return listening
