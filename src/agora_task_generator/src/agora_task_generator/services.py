"""Services of other nodes that come late, answer late, or die: waited for with a word now and then, opened again, never fatal."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import rospy

from agora.errors import AgoraError

_EVERY = 5.0  # s between two lines about the same wait
_GLANCE = 0.2  # s between two looks whether the node is to end


class LostError(AgoraError):
    """A node went away, or did not answer in time."""


class RefusedError(AgoraError):
    """A node answered that it cannot do what it was asked."""


class Service:
    """A service on a connection that is kept, which also tells whether the node that answered last is still the same.

    Args:
        name: of the service, relative to the graph's namespace.
        kind: its type.
        patience: s to wait for an answer.
    """

    def __init__(self, name: str, kind: Any, patience: float) -> None:
        self.name, self._kind, self._patience = name, kind, patience
        self._proxy: Any = None

    @property
    def standing(self) -> bool:
        """Whether the node that answered last has been there ever since."""
        transport = None if self._proxy is None else self._proxy.transport
        if transport is None or transport.socket is None:
            return False
        try:
            return bool(transport.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        """Let the connection go; the next call makes another."""
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None

    def call(self, *arguments: Any) -> Any:
        """Wait for the service, call it, and return its answer.

        Raises:
            LostError: its node died meanwhile, or did not answer in time.
            RefusedError: it answered that it cannot.
        """
        if not self.standing:
            self._open()
        answer = self._ask(arguments)
        if not getattr(answer, "success", True):
            raise RefusedError(f"{self.name}: {answer.message}")
        return answer

    def _open(self) -> None:
        self.close()
        begun, told = time.monotonic(), 0.0
        while not self._there():
            waited = time.monotonic() - begun
            if waited - told >= _EVERY:
                told = waited
                rospy.logwarn(f"waiting for {self.name} since {waited:.0f} s: does its node run, or compile kernels?")
        self._proxy = rospy.ServiceProxy(self.name, self._kind, persistent=True)

    def _there(self) -> bool:
        try:
            rospy.wait_for_service(self.name, 1.0)
        except rospy.ROSInterruptException:
            raise
        except rospy.ROSException:
            return False
        return True

    def _ask(self, arguments: tuple[Any, ...]) -> Any:
        answers: list[Any] = []
        asked = threading.Thread(target=self._ask_now, args=(self._proxy, arguments, answers), daemon=True)
        begun, told = time.monotonic(), 0.0
        asked.start()
        while asked.is_alive():
            asked.join(_GLANCE)
            waited = time.monotonic() - begun
            if rospy.is_shutdown():
                raise rospy.ROSInterruptException("shutdown")
            if asked.is_alive() and waited > self._patience:
                self.close()
                raise LostError(f"{self.name} has not answered for {waited:.0f} s")
            if asked.is_alive() and waited - told >= _EVERY:
                told = waited
                rospy.logwarn(f"{self.name} has not answered for {waited:.0f} s; waiting for up to {self._patience:.0f} s")
        answer = answers[0]
        if isinstance(answer, AgoraError):
            self.close()
            raise answer
        return answer

    def _ask_now(self, proxy: Any, arguments: tuple[Any, ...], answers: list[Any]) -> None:
        try:
            answers.append(proxy(*arguments))
        except rospy.ServiceException as error:
            if "responded with an error" in str(error):
                answers.append(RefusedError(f"{self.name}: {error}"))
            else:
                answers.append(LostError(f"the node of {self.name} went away"))
        except (rospy.ROSException, OSError, AttributeError):  # the connection was closed under the call
            answers.append(LostError(f"the node of {self.name} went away"))
