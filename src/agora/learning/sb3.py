"""A Stable-Baselines3 vector environment for a batch of worlds, without a wrapper for each world."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.learning.env import AgoraVectorEnv

__all__ = ["Sb3VecEnv"]


class Sb3VecEnv(VecEnv):
    """Adapts an `AgoraVectorEnv` to Stable-Baselines3; wrap it in SB3's ``VecMonitor`` to get episode returns and lengths.

    If an episode has ended, ``infos[i]`` contains ``terminal_observation``, ``outcome``, ``is_success``, ``entry`` and ``time``.
    Every info contains ``TimeLimit.truncated`` and ``rewards``, the terms of the reward by name. SB3 reports the success rate as
    ``success_rate``. Its ``VecVideoRecorder`` requires worlds with ``render_mode="rgb_array"``.

    Args:
        worlds: the environments, with automatic reset and one robot per world, because SB3 does not support robots that wait for
            other robots.
    """

    def __init__(self, worlds: AgoraVectorEnv) -> None:
        if worlds.metadata["autoreset_mode"] is not AgoraVectorEnv.metadata["autoreset_mode"]:
            raise InputError("Stable-Baselines3 needs an environment with autoreset")
        worlds.refuse_several("Stable-Baselines3")
        self.worlds = worlds
        self._actions: Array = np.zeros(0)
        super().__init__(worlds.num_envs, worlds.single_observation_space, worlds.single_action_space)

    def reset(self) -> Floats:
        """Begin the next episode in all environments; if ``seed`` was called before, the seed's entries are played."""
        observations, infos = self.worlds.reset(seed=self._seeds[0])
        self.reset_infos = [{"entry": int(entry)} for entry in infos["entry"]]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: Array) -> None:
        """Store the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Floats, Array, Array, list[dict[str, Any]]]:
        """Perform the step; return observations, rewards, flags for episodes that ended, and infos."""
        observations, rewards, terminated, truncated, infos = self.worlds.step(self._actions)
        terms = {name: term.tolist() for name, term in infos["rewards"].items() if name[0] != "_"}
        parts = (dict(zip(terms, values, strict=True)) for values in zip(*terms.values(), strict=True))
        each: list[dict[str, Any]] = [
            {"TimeLimit.truncated": late, "rewards": part} for late, part in zip(truncated.tolist(), parts, strict=True)
        ]
        ended = terminated | truncated
        for i in np.flatnonzero(ended):
            last = infos["final_info"]
            each[i] |= {"terminal_observation": infos["final_obs"][i], "outcome": last["outcome"][i]}
            each[i] |= {name: last[name][i].item() for name in ("is_success", "entry", "time")}
            self.reset_infos[i] = {"entry": int(infos["entry"][i])}
        return observations, rewards, ended, each

    def get_images(self) -> list[Array | None]:
        """Return an image of every environment; None without ``render_mode="rgb_array"``."""
        return list(self.worlds.render() or [None] * self.num_envs)

    def close(self) -> None:
        """Stop the threads."""
        self.worlds.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the batch, repeated for each environment."""
        return [getattr(self.worlds, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Raise an error, because the environments are a single object."""
        raise NotImplementedError(f"{attr_name}: all worlds are a single object; set the attribute on `worlds`")

    def env_method(self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any) -> list[Any]:
        """Raise an error, because the environments are a single object."""
        raise NotImplementedError(f"{method_name}: all worlds are a single object; call the method on `worlds`")

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:
        """Return False for every environment, because none is wrapped."""
        return [False for _ in self._get_indices(indices)]
