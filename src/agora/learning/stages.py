"""A vector environment that combines several stages of a suite, each with its own worlds. For a single stage, see
`agora.learning.env`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from agora.core.state import Array, Bools, Floats
from agora.errors import InputError
from agora.learning.env import AgoraVectorEnv
from agora.learning.players import Call, EnvironmentFacts, Player, PlayerApart, PlayerHere
from agora.learning.settings_env import SettingsEnv, environment
from agora.tasks.suite import Suite, load_suite

__all__ = ["StagesVectorEnv", "worlds_of"]


class StagesVectorEnv(VectorEnv[Floats, Floats, Array]):
    """Worlds of several stages, stepped together; the worlds of a stage are contiguous, in the order of the stages.

    Stages may have different robot models. The encoding must then describe the robot to the policy, and actions must have the same
    length for all models. Steps, infos and automatic resets work as in `AgoraVectorEnv`.

    Args:
        suite: the suite, its name or its file.
        stages: names of stages of the suite, with equal control periods.
        num_envs: total number of worlds, at least one per stage; the numbers of worlds per stage differ by at most one.
        processes: number of processes that run the stages; 0 runs them in this process. A script that uses processes needs the
            usual ``if __name__ == "__main__":``.
        chosen: further arguments of `agora.learning.settings_env.environment`, for all stages.

    Attributes:
        parts: facts about the environment of each stage.
        num_envs: total number of robots in all worlds.
        period: control period, s.

    Raises:
        InputError: as for `AgoraVectorEnv`, or the stages are incompatible.
    """

    def __init__(
        self, suite: Suite | str | Path, stages: Sequence[str], num_envs: int, *, processes: int = 0, **chosen: Any
    ) -> None:
        if not len(stages) <= num_envs:
            raise InputError(f"{len(stages)} stages need at least {len(stages)} worlds, got {num_envs}")
        whole = suite if isinstance(suite, Suite) else load_suite(suite)
        shares = [len(part) for part in np.array_split(np.arange(num_envs), len(stages))]
        made: list[Call] = [((whole, stage, count), chosen) for stage, count in zip(stages, shares, strict=True)]
        self._players: list[Player] = []
        try:
            self._hire(made, processes)
            self.parts = [facts for player in self._players for facts in player.facts]
            _check(stages, self.parts)
        except BaseException:
            self.close_extras()
            raise
        first = self.parts[0]
        self.observe, self.period, self.metadata = first.observe, first.period, first.metadata
        self.num_envs = sum(part.num_envs for part in self.parts)
        self.single_observation_space, self.single_action_space = first.single_observation_space, first.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._ends = np.cumsum([part.num_envs for part in self.parts])[:-1]

    def _hire(self, made: Sequence[Call], processes: int) -> None:
        if not processes:
            self._players.append(PlayerHere(made))
            return
        for some in np.array_split(np.arange(len(made)), min(processes, len(made))):
            self._players.append(PlayerApart([made[k] for k in some]))
        for player in self._players:
            player.facts = player.answer()

    def _all(self, name: str, calls: Sequence[Call]) -> list[Any]:
        """Call a method of every stage's environment, in parallel if there are processes.

        If some environments raise errors, the first error is raised only after all environments have answered, so that no answer is
        mistaken for the answer to a later call.
        """
        calls, answers, failures = list(calls), list[Any](), list[Exception]()
        for player in self._players:
            player.ask(name, calls[: len(player.facts)])
            del calls[: len(player.facts)]
        for player in self._players:
            try:
                answers += player.answer()
            except Exception as error:  # noqa: BLE001 - raised below
                failures.append(error)
        if failures:
            raise failures[0]
        return answers

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin the next episode in all environments, or in the selected ones.

        Args:
            seed: as for `AgoraVectorEnv.reset`, for every stage.
            options: as for `AgoraVectorEnv.reset`; ``reset_mask`` (N,) covers all stages.
        """
        super().reset(seed=seed)
        options = options or {}
        masks = np.split(np.broadcast_to(options.get("reset_mask", True), self.num_envs), self._ends)
        calls: list[Call] = [((), {"seed": seed, "options": options | {"reset_mask": np.array(mask)}}) for mask in masks]
        seen, infos = zip(*self._all("reset", calls), strict=True)
        return np.concatenate(seen), self._joined(infos)

    def step(self, actions: Array) -> tuple[Floats, Array, Bools, Bools, dict[str, Any]]:
        """Advance all worlds by one control period.

        Args:
            actions: (N, A) in [-1, 1].

        Returns:
            Observations (N, D), rewards (N,), terminated (N,), truncated (N,) and infos.
        """
        if np.shape(actions) != self.action_space.shape:
            raise InputError(f"actions must be of shape {self.action_space.shape}, got {np.shape(actions)}")
        made = self._all("step", [((some,), {}) for some in np.split(actions, self._ends)])
        seen, rewards, terminated, truncated, infos = zip(*made, strict=True)
        return *(np.concatenate(each) for each in (seen, rewards, terminated, truncated)), self._joined(infos)  # type: ignore[return-value]

    def _joined(self, infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Concatenate the infos of all stages; entries that a stage does not have are filled with zeros, False or None."""
        counts = [part.num_envs for part in self.parts]
        out: dict[str, Any] = {}
        for name in dict.fromkeys(name for some in infos for name in some):
            like = next(some[name] for some in infos if name in some)
            if isinstance(like, dict):
                out[name] = self._joined([some.get(name, {}) for some in infos])
            else:
                blanks = (np.full(n, None, object) if like.dtype == object else np.zeros(n, like.dtype) for n in counts)
                out[name] = np.concatenate([some.get(name, blank) for some, blank in zip(infos, blanks, strict=True)])
        return out

    def refuse_several(self, who: str) -> None:
        """Raise an `InputError` if worlds have several robots, because ``who`` cannot exclude the steps of waiting robots."""
        if any(part.robots > 1 for part in self.parts):
            raise InputError(f"{who}: stages must have one robot per world")

    def teach(self) -> Floats:
        """Return the teacher's actions (N, A) for the current observations, like `AgoraVectorEnv.teach`."""
        return np.concatenate(self._all("teach", [((), {})] * len(self.parts)))

    def render(self) -> tuple[Array, ...] | None:
        """Return an image of every environment, like `AgoraVectorEnv.render`."""
        pictures = self._all("render", [((), {})] * len(self.parts))
        return None if None in pictures else tuple(one for some in pictures for one in some)

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads, the workers and the processes."""
        for player in self._players:
            player.close()


def _check(stages: Sequence[str], parts: Sequence[EnvironmentFacts]) -> None:
    """Reject incompatible stages."""
    first = parts[0]
    for stage, part in zip(stages, parts, strict=True):
        for what, here, there in (
            ("control period", f"{part.period:g} s", f"{first.period:g} s"),
            ("length of an action", part.actions, first.actions),
        ):
            if here != there:
                raise InputError(f"stages {stages[0]!r} and {stage!r}: the {what} must be the same, got {there} and {here}")


def worlds_of(
    suite: Suite, stages: Sequence[str], num_envs: int, *, processes: int = 0, **chosen: Any
) -> AgoraVectorEnv | SettingsEnv | StagesVectorEnv:
    """Return an environment for one or several stages.

    Args:
        suite: the suite.
        stages: names of stages of the suite.
        num_envs: total number of worlds.
        processes: number of processes that run the stages, if there are several.
        chosen: further arguments of `agora.learning.settings_env.environment`.

    Raises:
        InputError: as for `StagesVectorEnv`.
    """
    if len(stages) == 1:
        return environment(suite, stages[0], num_envs, **chosen)
    return StagesVectorEnv(suite, stages, num_envs, processes=processes, **chosen)
