"""Socket addresses: paths of Unix sockets, and ``HOST:PORT``."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
from dataclasses import dataclass

from agora.errors import InputError

_PATH = 107  # maximum length of a Unix socket's path in Linux, bytes


@dataclass(frozen=True)
class Address:
    """A socket address: the ``path`` of a Unix socket or, if it is empty, a ``host`` and ``port``."""

    path: str = ""
    host: str = ""
    port: int = 0

    @staticmethod
    def of(text: str, where: str = "address", *, anywhere: bool = False) -> Address:
        """Parse an address; a string that contains "/" is a path.

        Args:
            text: a path or HOST:PORT.
            where: name of the text in errors.
            anywhere: whether the host may be another machine; otherwise it must be this machine's loopback interface.

        Raises:
            InputError: the path is too long, the host is not this machine, or there is no port.
        """
        host, colon, port = text.rpartition(":")
        if "/" in text or not colon:
            if not text or "\0" in text or len(os.fsencode(text)) > _PATH:
                raise InputError(f"{where} {text!r}: expected a path of 1 to {_PATH} bytes, or HOST:PORT")
            return Address(path=text)
        if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise InputError(f"{where} {text!r}: expected a port from 1 to 65535 after the colon")
        if not anywhere and host != "localhost" and not _is_loopback(host):
            raise InputError(f"{where} {text!r}: connections from other machines are not accepted; expected localhost or 127.0.0.1")
        if not host:
            raise InputError(f"{where} {text!r}: expected a host before the colon, such as 127.0.0.1")
        return Address(host="127.0.0.1" if host == "localhost" else host, port=int(port))

    def __str__(self) -> str:
        return self.path or f"{self.host}:{self.port}"

    def socket(self) -> socket.socket:
        """Return a new socket of the right kind."""
        return socket.socket(socket.AF_UNIX if self.path else socket.AF_INET, socket.SOCK_STREAM)

    @property
    def target(self) -> str | tuple[str, int]:
        """The address in the form that a socket binds or connects to."""
        return self.path or (self.host, self.port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return False


def connect(address: Address, patience: float) -> socket.socket:
    """Return a connection. A process that does not accept the connection, or data sent over it, within ``patience`` seconds counts
    as not listening.

    Raises:
        OSError: nothing is listening at the address.
    """
    connection = address.socket()
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(patience), int(patience % 1 * 1e6)))
        connection.connect(address.target)
    except OSError:
        connection.close()
        raise
    return connection
