"""An environment whose actions are settings of a planner; the planner drives with the settings for several control periods."""

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

_START = np.float32(0.0)  # action used before the first action: the middle of every range


def check_planner(observe: Any, planner: str, every: int = 1) -> None:
    """Check that an encoding, a planner and the duration of an action fit together.

    Args:
        observe: the encoding.
        planner: the planner, as a string; empty if actions are twists or select planners.
        every: number of control periods per action.

    Raises:
        InputError: the arguments do not fit together, or the planner does not exist.
    """
    if every > 1 and not isinstance(observe, PlannerSettings):
        raise InputError(f"every must be 1 if actions are twists, got {every}")
    if bool(planner) != (isinstance(observe, PlannerSettings) and not isinstance(observe, PlannerChoice)):
        raise InputError(
            "a planner with learned settings needs the encoding rollout_settings, and the encoding needs such a planner"
        )
    if isinstance(observe, PlannerSettings):
        _driver_of(observe, planner)


def _driver_of(observe: PlannerSettings, planner: str) -> Driver:
    return Switch(observe.planners) if isinstance(observe, PlannerChoice) else drives(planner)


def environment(*args: Any, observe: Any = None, planner: str = "", every: int = 1, **chosen: Any) -> AgoraVectorEnv | SettingsEnv:
    """Return an environment of the type that the encoding's actions require.

    Args:
        args: positional arguments of `AgoraVectorEnv`.
        observe: encoding of observations and actions, in any form that `AgoraVectorEnv` accepts.
        planner: planner that the actions configure, as a string; used only if the encoding does not name the planner.
        every: number of control periods per action, if actions are settings.
        chosen: further arguments of `AgoraVectorEnv`.
    """
    if isinstance(observe, PlannerSettings):
        return SettingsEnv(observe, _driver_of(observe, planner), every, *args, **chosen)
    return AgoraVectorEnv(*args, observe=observe, **chosen)


class SettingsEnv:
    """An `AgoraVectorEnv` with one robot per world, in which one action controls a planner for ``every`` control periods.

    If an episode begins between two actions, the planner drives with the middle value of every setting until the next action.
    Rewards in these control periods are ignored. ``infos`` are taken from the control period in which an episode ended.

    Args:
        observe: encoding of observations and actions.
        planner: planner that drives the robots, configured with the largest possible settings.
        every: number of control periods per action.
        args: positional arguments of `AgoraVectorEnv`.
        chosen: further arguments of `AgoraVectorEnv`.

    Attributes:
        observe: encoding, as given.
        num_envs: number of environments, N.
        robots: number of robots per world, 1.
        actions: number of values of an action, A.
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
        """Duration of an action, s."""
        return self._every * self._env.period

    def refuse_several(self, who: str) -> None:
        """Do nothing, because every world has one robot."""

    def close(self) -> None:
        """Stop threads and workers."""
        self._env.close()

    def reset(self, **given: Any) -> tuple[Floats, dict[str, Any]]:
        """Begin episodes, like `AgoraVectorEnv.reset`."""
        self._driver.chosen = self._middle()
        return self._env.reset(**given)

    def step(self, actions: Array) -> tuple[Floats, Floats, Bools, Bools, dict[str, Any]]:
        """Let the planner drive with the settings given by actions (N, A); return the same values as `AgoraVectorEnv.step`, with
        summed rewards.
        """
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
    """Store the final observations, outcomes and entries of the rows whose episodes have just ended."""
    ends = {"final_obs": infos["final_obs"]} | {f"final_info.{name}": values for name, values in infos["final_info"].items()}
    for name, values in ends.items():
        into, key = (last.setdefault("final_info", {}), name.removeprefix("final_info.")) if "." in name else (last, name)
        into[key] = np.where(rows, values, into[key]) if key in into else values.copy()


class _Driver:
    """Wraps the planner as a teacher, which drives with the most recent settings.

    Attributes:
        chosen: (N, A) most recent actions.
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
    """An encoding with the observation vectors of another encoding, and with twists as actions."""

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
