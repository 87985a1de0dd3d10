"""Service calls over persistent connections, with separate methods for request and response, so that several calls can run
concurrently.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from typing import Any

import rospy
from rospy.core import parse_rosrpc_uri
from rospy.exceptions import ROSException, TransportException, TransportTerminated
from rospy.impl.tcpros_base import TCPROSTransport

_SLICE = 0.02  # s between two checks of whether to give up


class CallError(Exception):
    """A service failed or did not answer; the message names the service and the remedy."""


class RefusedError(CallError):
    """A service rejected a request."""


class Call(rospy.ServiceProxy):
    """A persistent service proxy whose call is split into `send` and `answer`.

    Args:
        name: name of the service.
        kind: class of the service.
        patience: maximum time to wait for an answer, s of wall time.
    """

    def __init__(self, name: str, kind: Any, patience: float) -> None:
        super().__init__(name, kind, persistent=True)
        self._patience = patience

    @property
    def standing(self) -> bool:
        """True if the connection to the node that answered last still exists."""
        if self.transport is None or self.transport.socket is None:
            return False
        line = self.transport.socket
        try:
            return not select.select([line], [], [], 0)[0] or bool(line.recv(1, socket.MSG_PEEK))
        except (OSError, ValueError):  # closed in the meantime
            return False

    def send(self, request: Any) -> None:
        """Send a request, connecting first if necessary.

        Raises:
            CallError: the service does not exist or is gone.
        """
        try:
            if self.transport is None:
                uri = self._get_service_uri(request)
                line = socket.create_connection(parse_rosrpc_uri(uri), self._patience)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                transport = TCPROSTransport(self.protocol, self.resolved_name)
                transport.set_socket(line, uri)
                transport.write_header()
                transport.read_header()
                self.transport = transport
            self.seq += 1
            self.transport.send_message(request, self.seq)
        except (rospy.ServiceException, ROSException, TransportException, OSError) as error:
            self.drop()
            raise CallError(f"{self.resolved_name} cannot be called ({error}); is its node running?") from error

    def answer(self, give_up: Callable[[], bool]) -> Any:
        """Return the response to the last request.

        Args:
            give_up: function that is called while waiting; once it returns True, waiting ends.

        Raises:
            CallError: the response did not arrive in time, or the node is gone.
            RefusedError: the service failed.
        """
        end = time.monotonic() + self._patience
        try:
            while not select.select([self.transport.socket], [], [], _SLICE)[0]:
                if give_up() or rospy.is_shutdown():
                    raise CallError(f"{self.resolved_name} was cancelled for another request")
                if time.monotonic() > end:
                    raise CallError(f"{self.resolved_name} did not answer within {self._patience:g} s; see the log of its node")
            return self.transport.receive_once()[0]
        except TransportTerminated as error:
            self.drop()
            raise CallError(f"the connection to {self.resolved_name} was lost; its node ended during a call") from error
        except rospy.ServiceException as error:
            self.drop()
            raise RefusedError(f"{self.resolved_name} failed: {error}") from error
        except (ROSException, TransportException, OSError) as error:
            self.drop()
            raise CallError(f"the connection to {self.resolved_name} was lost: {error}") from error
        except CallError:
            self.drop()
            raise

    def drop(self) -> None:
        """Close the connection; an outstanding answer is discarded."""
        if self.transport is not None:
            self.transport.close()
            self.transport = None
