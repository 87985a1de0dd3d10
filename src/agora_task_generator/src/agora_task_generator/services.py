"""Calls services of other nodes, which may start late, answer late or die. The node waits for them, logs a line from time to time,
and reconnects; failures are never fatal.
"""

from __future__ import annotations

import time
from typing import Any

import rospy
from agora_ros.calls import Call, CallError, RefusedError

_EVERY = 5.0  # s between two log lines about the same wait


class Service(Call):
    """A service of another node. A call waits for the service, and raises an error if the service rejects the request.

    Args:
        name: name of the service, relative to the graph's namespace.
        kind: class of the service.
        patience: time to wait for an answer, s.
    """

    def ask(self, *arguments: Any) -> Any:
        """Wait for the service, call it, and return its answer.

        Raises:
            CallError: the node that offers the service died in the meantime, or did not answer in time.
            RefusedError: the service rejected the request.
        """
        if not self.standing:
            self._wait()
        try:
            self.send(self.request_class(*arguments))
            answer = self.answer(_Word(self.resolved_name + " has not answered for {}").is_said)
        except CallError as error:
            if rospy.is_shutdown():
                raise rospy.ROSInterruptException("shutdown") from error
            raise
        if not getattr(answer, "success", True):
            raise RefusedError(f"{self.resolved_name}: {answer.message}")
        return answer

    def _wait(self) -> None:
        self.drop()
        word = _Word(f"waiting for {self.resolved_name} for {{}}: its node is not running, or is still compiling kernels")
        while not self._is_there():
            word.is_said()

    def _is_there(self) -> bool:
        try:
            rospy.wait_for_service(self.resolved_name, 1.0)
        except rospy.ROSInterruptException:
            raise
        except rospy.ROSException:
            return False
        return True


class _Word:
    """Logs a line about a wait from time to time; ``{}`` stands for the time waited so far."""

    def __init__(self, line: str) -> None:
        self._line, self._begun, self._told = line, time.monotonic(), 0.0

    def is_said(self) -> bool:
        """Log the time waited so far, if a log line is due, and always return False, so that waiting continues."""
        waited = time.monotonic() - self._begun
        if waited - self._told >= _EVERY:
            self._told = waited
            rospy.logwarn(self._line.format(f"{waited:.0f} s"))
        return False
