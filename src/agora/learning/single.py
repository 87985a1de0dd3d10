"""A single world as a Gymnasium environment: ``agora/Navigation-v0``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from agora.core.state import Array, Floats
from agora.interfaces import Encoding, Rewarding
from agora.learning import ENV_ID
from agora.learning.env import AgoraVectorEnv
from agora.learning.film import HUMAN, RGB
from agora.registry import Named
from agora.tasks.suite import Suite


class AgoraEnv(gymnasium.Env[Floats, Floats]):
    """One world with a single robot; otherwise, the arguments, spaces and infos are the same as for `AgoraVectorEnv`."""

    metadata: dict[str, Any] = {"render_modes": [HUMAN, RGB], "render_fps": 10}

    def __init__(
        self,
        suite: Suite | str | Path = "demo",
        stage: str = "hall",
        *,
        episodes: int = 0,
        seed: int | None = None,
        observe: Encoding | Mapping[str, Any] | str | None = None,
        reward: Rewarding | Mapping[str, Any] | str | None = None,
        simulator: Named | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        chosen: dict[str, Any] = {"observe": observe, "reward": reward, "simulator": simulator, "render_mode": render_mode}
        self._worlds = AgoraVectorEnv(suite, stage, episodes=episodes, seed=seed, **chosen, autoreset=False)
        self._worlds.refuse_several(ENV_ID)
        self.render_mode = render_mode
        self.metadata = self.metadata | {name: self._worlds.metadata[name] for name in self.metadata}
        self.observation_space, self.action_space = self._worlds.single_observation_space, self._worlds.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin the next episode; see `AgoraVectorEnv.reset` for seeds and the ``entry`` option."""
        super().reset(seed=seed)
        observations, infos = self._worlds.reset(seed=seed, options=options)
        return observations[0], _of_one(infos)

    def step(self, action: Array) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Advance by one control period."""
        observations, rewards, terminated, truncated, infos = self._worlds.step(np.asarray(action)[None])
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), _of_one(infos)

    def render(self) -> Array | None:
        """Return an image like `AgoraVectorEnv.render`; after the end of an episode, the image shows the outcome."""
        pictures = self._worlds.render()
        return None if pictures is None else pictures[0]

    def close(self) -> None:
        """Stop the engine's threads and workers, and close the window."""
        self._worlds.close()


def _of_one(infos: dict[str, Any]) -> dict[str, Any]:
    """Return the infos of the only environment in a batch of size 1, as copies with built-in Python types."""
    return {key: _first(value) for key, value in infos.items() if key[0] != "_"}


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        return _of_one(value)
    return value[0].item() if isinstance(value[0], np.generic) else value[0]
