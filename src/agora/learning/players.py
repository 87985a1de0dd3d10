"""Players run environments in this process or in a separate process. Results do not depend on which process runs them."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from multiprocessing.connection import Connection
from typing import Any, Protocol

from gymnasium.spaces import Box

from agora.errors import AgoraError
from agora.interfaces import Encoding
from agora.learning.env import AgoraVectorEnv
from agora.learning.settings_env import SettingsEnv, environment
from agora.robots.model import RobotModel

__all__ = ["Call", "EnvironmentFacts", "Player", "PlayerApart", "PlayerHere"]

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and named arguments."""


@dataclass(frozen=True)
class EnvironmentFacts:
    """The constant attributes of an `AgoraVectorEnv`, under the same names."""

    num_envs: int
    robots: int
    robot: RobotModel
    actions: int
    period: float
    observe: Encoding
    metadata: dict[str, Any]
    single_observation_space: Box
    single_action_space: Box

    @staticmethod
    def of(env: AgoraVectorEnv | SettingsEnv) -> EnvironmentFacts:
        """Return the facts about an environment."""
        return EnvironmentFacts(**{field.name: getattr(env, field.name) for field in fields(EnvironmentFacts)})


class Player(Protocol):
    """Runs some environments; every call of `ask` must be followed by a call of `answer`.

    Attributes:
        facts: facts about each environment.
    """

    facts: list[EnvironmentFacts]

    def ask(self, name: str, calls: Sequence[Call]) -> None:
        """Request that each environment call its method ``name`` with the arguments in ``calls``."""

    def answer(self) -> list[Any]:
        """Return the results of the method calls.

        Raises:
            AgoraError: the process that runs the environments has died.
            Exception: the exception that an environment raised.
        """

    def close(self) -> None:
        """Close the environments."""


class PlayerHere:
    """Runs the environments in this process.

    Args:
        made: for each environment, the arguments of `agora.learning.settings_env.environment`.
    """

    def __init__(self, made: Sequence[Call]) -> None:
        self._envs = [environment(*given, **named) for given, named in made]
        self.facts = [EnvironmentFacts.of(env) for env in self._envs]
        self._asked: tuple[str, Sequence[Call]] = ("", ())

    def ask(self, name: str, calls: Sequence[Call]) -> None:
        """Store the request until `answer` is called."""
        self._asked = name, calls

    def answer(self) -> list[Any]:
        """Execute the request and return the results."""
        name, calls = self._asked
        return [getattr(env, name)(*given, **named) for env, (given, named) in zip(self._envs, calls, strict=True)]

    def close(self) -> None:
        """Stop the threads and workers of all environments."""
        for env in self._envs:
            env.close()


class PlayerApart:
    """Runs the environments in a separate process; the first `answer` returns the facts, which the creator stores in `facts`.

    Args:
        made: for each environment, the arguments of `agora.learning.settings_env.environment`.
    """

    facts: list[EnvironmentFacts]

    def __init__(self, made: Sequence[Call]) -> None:
        context = multiprocessing.get_context("forkserver")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_play, args=(there,), daemon=True)
        self._process.start()
        there.close()
        self._send(made)

    def ask(self, name: str, calls: Sequence[Call]) -> None:
        """Send the request; if the process has died, `answer` raises the error."""
        self._send((name, calls))

    def answer(self) -> list[Any]:
        """Wait for the results and return them."""
        try:
            failure, answer = self._here.recv()
        except (EOFError, ConnectionResetError):
            self._process.join(1.0)
            raise AgoraError(f"a process that simulates worlds died (exit code {self._process.exitcode})") from None
        if failure is not None:
            raise failure
        return list(answer)

    def close(self) -> None:
        """End the process; further calls have no effect."""
        if self._here.closed:
            return
        self._send(None)
        self._process.join(5.0)
        if self._process.is_alive():
            self._process.kill()
        self._here.close()

    def _send(self, request: Any) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            self._here.send(request)


def _play(connection: Connection) -> None:
    """Run the process of a `PlayerApart`: it receives the environments' arguments, then requests, and finally None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    player: PlayerHere | None = None
    with suppress(EOFError, BrokenPipeError):
        while (request := connection.recv()) is not None:
            try:
                if player is None:
                    player = PlayerHere(request)
                    answer: list[Any] = player.facts
                else:
                    player.ask(*request)
                    answer = player.answer()
            except Exception as error:  # noqa: BLE001 - the parent raises it
                connection.send((error, None))
            else:
                connection.send((None, answer))
    if player is not None:
        player.close()
