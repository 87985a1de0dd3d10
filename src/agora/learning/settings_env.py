"""An environment whose actions are settings of a planner, which drives by them for some control periods."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from agora.core.state import Array, Bools, Floats
from agora.errors import InputError
from agora.interfaces import Answer, Channel, Declaration, Encoding, Limits, Memory, Observation
from agora.learning.env import AgoraVectorEnv
from agora.planners.learned.applr import drives
from agora.planners.learned.set_by_policy import Driver
from agora.planners.switch import Switch
from agora.policies.encoding import FromLimitToLimit
from agora.policies.planner_choice import PlannerChoice
from agora.policies.planner_settings import PlannerSettings
from agora.robots.model import RobotModel

__all__ = ["SettingsEnv", "check_planner", "environment"]

_START = np.float32(0.0)  # an action before the first: the middle of all spans


def check_planner(observe: Any, planner: str, every: int = 1) -> None:
    """Check that the actions of an encoding are settings of a planner.

    Args:
        observe: the encoding.
        planner: the planner, as text; empty if actions are twists or name planners.
        every: control periods of an action.

    Raises:
        InputError: they do not belong together, or there is no such planner.
    """
    if every > 1 and not isinstance(observe, PlannerSettings):
        raise InputError(f"every must be 1 where actions are twists, got {every}")
    if bool(planner) != (isinstance(observe, PlannerSettings) and not isinstance(observe, PlannerChoice)):
        raise InputError(
            "a planner with learned settings needs the encoding rollout_settings, and the encoding needs such a planner"
        )
    if isinstance(observe, PlannerSettings):
        _driver_of(observe, planner)


def _driver_of(observe: PlannerSettings, planner: str) -> Driver:
    return Switch(observe.planners) if isinstance(observe, PlannerChoice) else drives(planner)


def environment(*args: Any, observe: Any = None, planner: str = "", every: int = 1, **chosen: Any) -> AgoraVectorEnv | SettingsEnv:
    """Return worlds for the actions of an encoding.

    Args:
        args: arguments of `AgoraVectorEnv`, by their places.
        observe: encoding of what the policy sees and of its actions, or what `AgoraVectorEnv` takes for one.
        planner: planner whose settings actions are, as text, where the encoding does not name it.
        every: control periods of an action that holds settings.
        chosen: further arguments of `AgoraVectorEnv`.
    """
    if isinstance(observe, PlannerSettings):
        return SettingsEnv(observe, _driver_of(observe, planner), every, *args, **chosen)
    return AgoraVectorEnv(*args, observe=observe, **chosen)


class SettingsEnv:
    """`AgoraVectorEnv` of worlds with one robot each, in which an action stands for ``every`` control periods of a planner.

    A robot whose episode begins between two actions is driven with the middle of all settings until the next one. The steps before
    it count for nothing. ``infos`` are those of the control period in which the episode ended.

    Args:
        observe: encoding of what the policy sees and of its actions.
        planner: planner that drives, with the largest settings there may be.
        every: control periods of an action.
        args: arguments of `AgoraVectorEnv`, by their places.
        chosen: further arguments of `AgoraVectorEnv`.

    Attributes:
        observe: encoding, as given.
        num_envs: N.
        robots: 1, the robots of a world.
        actions: A, values of an action.
    """

    def __init__(self, observe: PlannerSettings, planner: Driver, every: int, *args: Any, **chosen: Any) -> None:
        self.observe, self._every = observe, every
        self._driver = _Driver(observe, planner)
        self._env = AgoraVectorEnv(*args, observe=_Seen(observe), teacher=self._driver, **chosen)
        self._env.refuse_several("settings of a planner")
        self.num_envs, self.robots, self.metadata = self._env.num_envs, self._env.robots, self._env.metadata
        self.actions = observe.action_size(self.limits)
        self.single_observation_space = self._env.single_observation_space
        self.single_action_space = Box(-1.0, 1.0, (self.actions,))
        self._driver.chosen = self._middle()

    @property
    def robot(self) -> RobotModel:
        """Model of the robots."""
        return self._env.robot

    @property
    def limits(self) -> Limits:
        """Limits of the robots, each an array (N,)."""
        return self._env.limits

    @property
    def period(self) -> float:
        """Time of an action, s."""
        return self._every * self._env.period

    def refuse_several(self, who: str) -> None:
        """Do nothing: a world has one robot."""

    def close(self) -> None:
        """Stop threads and workers."""
        self._env.close()

    def reset(self, **given: Any) -> tuple[Floats, dict[str, Any]]:
        """Begin episodes, as `AgoraVectorEnv.reset` does."""
        self._driver.chosen = self._middle()
        return self._env.reset(**given)

    def step(self, actions: Array) -> tuple[Floats, Floats, Bools, Bools, dict[str, Any]]:
        """Let the planner drive by actions (N, A); return as `AgoraVectorEnv.step` does, with the rewards added up."""
        count = self.num_envs
        rewards, (terminated, truncated) = np.zeros(count, np.float32), np.zeros((2, count), np.bool_)
        begins: Bools = np.zeros(count, np.bool_)
        last: dict[str, Any] = {}
        self._driver.chosen = np.array(actions, np.float32)
        for _ in range(self._every):
            seen, reward, over, late, infos = self._env.step(self._env.teach())
            before = terminated | truncated
            rewards += np.where(before, np.float32(0.0), reward)
            now = (over | late) & ~before
            terminated |= over & now
            truncated |= late & now
            self._driver.chosen[over | late] = _START
            begins |= over | late
            if now.any():
                _keep(last, infos, now)
        last["_entry"] = begins
        return seen, rewards, terminated, truncated, last

    def _middle(self) -> Floats:
        return np.full((self.num_envs, self.actions), _START, np.float32)


def _keep(last: dict[str, Any], infos: dict[str, Any], rows: Bools) -> None:
    """Keep the final observations, outcomes and entries of the rows that ended now."""
    ends = {"final_obs": infos["final_obs"]} | {f"final_info.{name}": values for name, values in infos["final_info"].items()}
    for name, values in ends.items():
        into, key = (last.setdefault("final_info", {}), name.removeprefix("final_info.")) if "." in name else (last, name)
        into[key] = np.where(rows, values, into[key]) if key in into else values.copy()


class _Driver:
    """The planner as a teacher: it drives by the settings that were chosen last.

    Attributes:
        chosen: (N, A) actions.
    """

    def __init__(self, observe: PlannerSettings, planner: Driver) -> None:
        self._observe, self._planner = observe, planner
        self.chosen: Floats = np.zeros((0, 1), np.float32)

    @property
    def declares(self) -> Declaration:
        mine = self._planner.declares
        return Declaration(needs=mine.needs, label=mine.label, notes=mine.notes)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        return self._planner.act_by(observation, memory, self._observe.settings(self.chosen))


class _Seen(FromLimitToLimit):
    """The vectors of an encoding, with twists as actions."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding, self.beams = encoding, encoding.beams

    @property
    def needs(self) -> Collection[str | Channel]:
        return self._encoding.needs

    @property
    def length(self) -> int:
        return self._encoding.length

    @property
    def low(self) -> Floats:
        return self._encoding.low

    @property
    def high(self) -> Floats:
        return self._encoding.high

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        self._encoding.write(observation, out, first, last)
