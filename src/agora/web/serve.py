"""Runs a server with its workers until it is stopped."""

from __future__ import annotations

import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from agora.errors import InputError
from agora.planners.contained.confine import lack, layers
from agora.web import _catalogue
from agora.web._accounts.people import ADMINISTER
from agora.web._accounts.users import Users
from agora.web.app import create_app
from agora.web.database import open_database
from agora.web.settings import Settings
from agora.web.workers import run_workers

HOST = "127.0.0.1"
"""Default address of a server: only this machine can reach it."""

UNREAD = 60.0
"""Time after which a connection is closed if its other end has not read pending data, s."""


def is_loopback(host: str) -> bool:
    """Return whether an address is a loopback address, which other machines cannot reach.

    Raises:
        InputError: the string is not an address.
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError as error:
        raise InputError(f"--host {host}: expected an address of this machine, such as 0.0.0.0 for all of them") from error


def serve(settings: Settings, host: str, port: int, workers: int, *, opens: bool, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        settings: settings of the server.
        host: address of this machine to listen on; an address that other machines can reach requires ``settings.accounts``.
        port: port to listen on; 0 for any free port.
        workers: number of workers.
        opens: whether to open the web interface in a browser.
        say: function that shows lines at the terminal.

    Raises:
        InputError: the port is taken, the folder or the database cannot be used, or the server would be open to anyone.
    """
    if not (settings.accounts or is_loopback(host)):
        raise InputError(f"--host {host}: a server that others can reach needs accounts")
    listening = _listen(host, port)
    _make_folder(settings.runs)
    shown = HOST if ipaddress.ip_address(listening.getsockname()[0]).is_unspecified else host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}/"
    with open_database(settings.url) as engine, run_workers(settings, engine, workers):
        app = create_app(settings, engine)
        config = uvicorn.Config(
            app,
            log_level="warning",
            ws="websockets-sansio",
            timeout_graceful_shutdown=2,
            proxy_headers=False,  # the application itself decides which proxies to trust
            server_header=False,
        )
        server = uvicorn.Server(config)
        if settings.accounts:
            _welcome(Users(engine, settings.limits.quotas), address, settings, say)
        threading.Thread(target=_catalogue.fill_caches, daemon=True, name="catalogue").start()
        if settings.code:
            say(lack() or f"Users with the role run can upload planners as code, which runs confined by {layers()}.")
        say(f"Agora is at {address} ; runs are stored in {settings.runs}; press Ctrl-C to stop")
        if opens:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        server.run([listening])


def _welcome(users: Users, address: str, settings: Settings, say: Callable[[str], None]) -> None:
    """Create an invitation for an administrator if there is no administrator."""
    say("Users sign in here; administrators invite them.")
    if not users.has_administrator:
        place = f"https://{settings.names[0]}/" if settings.names else address
        link = f"{place}invitation#{users.invite(ADMINISTER)}"
        say(f"There is no administrator yet. The first person to open this link within 7 days becomes one: {link}")


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error.strerror}") from error


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port of this machine, so that early requests wait until the server is ready."""
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux only; connections inherit the option
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * UNREAD))
    try:
        listening.bind((host, port))
        listening.listen()
    except OSError as error:
        raise InputError(
            f"{host}, port {port}: {error.strerror}; choose another port with --port, or 0 for any free port"
        ) from error
    return listening
