"""Converts Arena 3.0's ``training_config.yaml`` to a training file: reward and PPO parameters.

Places, robots and people come from the suite. If a setting belongs elsewhere in Agora, or does not exist in Agora, it is reported
with its line number and an alternative. Sections that are disabled or empty are ignored.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agora.config import Builder, dump, load, parse
from agora.draft.stage import check_name
from agora.errors import InputError
from agora.learning.arena_reward_file import read_arena_reward
from agora.learning.training import Training
from agora.ranges import Count
from agora.share import folder
from agora.yaml_tree import Node, read_text, tree_of_text

_BASE = "rosnav_rl"
_MOST_WORLDS = 10_000
_SUITE = "the stage of a suite sets it; write your own suite and name it in the training file"
_INSTEAD = {
    "agent_name": "the policy is named after the file",
    "debug_mode": "every training run writes checkpoints",
    "no_gpu": "the trainer runs on CPUs; its key threads sets how many",
    "monitoring": "curve.jsonl and TensorBoard's file are always written",
    "robot": _SUITE,
    "task_mode": _SUITE,
    "tm_robots": _SUITE,
    "tm_obstacles": _SUITE,
    "tm_modules": _SUITE,
    "goal_radius": f"as goal_tolerance {_SUITE}",
    "max_num_moves_per_eps": f"as timeout, moves times control period, {_SUITE}",
    "callbacks.periodic_eval": "the suite's stage `validation` is run every lap * validate rounds of the trainer",
    "callbacks.training_curriculum": "add the module staged to a stage of your suite, and set up_at and down_at of the trainer",
    "rl_agent.architecture_name": "the trainer's network, sizes and activation",
    "rl_agent.space_encoder": "the trainer's observe",
    "rl_agent.resume": "agora train --resume continues an Agora training run; Arena models cannot be read",
    "rl_agent.reward_fnc_kwargs": "the reward file sets all reward parameters",
    "rl_agent.checkpoint": "agora train --resume uses the last checkpoint",
    "rl_agent.weight_transfer": "Arena models cannot be read",
    "rl_agent.laser.full_range_laser": "the robot's lidar sets the scan",
    "rl_agent.rgbd": "observe has no camera",
    "rl_agent.action_space": "actions are continuous",
    "rl_agent.discrete_action_space": "actions are continuous",
    "rl_agent.ppo.use_sde": "noise is sampled at each step",
    "rl_agent.ppo.sde_sample_freq": "noise is sampled at each step",
    "rl_agent.ppo.verbose": "curve.jsonl and TensorBoard's file are always written",
    "rl_agent.normalize": "observations are already in [-1, 1], and rewards are multiplied by the trainer's scale",
}
"""Advice for settings that are not imported, by key or group of keys."""


@dataclass(frozen=True)
class _Beams:
    enabled: bool = False
    num_beams: int = 90


@dataclass(frozen=True)
class _Laser:
    reduce_num_beams: _Beams = field(default_factory=_Beams)


@dataclass(frozen=True)
class _Stack:
    enabled: bool = False
    stack_size: int = 1


@dataclass(frozen=True)
class _Rates:
    initial_value: float = 3e-4
    final_value: float = 0.0


@dataclass(frozen=True)
class _Schedule:
    enabled: bool = False
    type: str = "linear"
    settings: _Rates = field(default_factory=_Rates)


@dataclass(frozen=True)
class _Ppo:
    batch_size: int
    m_batch_size: int
    n_epochs: int
    learning_rate: float
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    n_steps: int = 0
    target_kl: float | None = None

    def __post_init__(self) -> None:
        if self.m_batch_size < 1 or self.batch_size < 1 or self.batch_size % self.m_batch_size:
            raise ValueError(f"m_batch_size must divide batch_size = {self.batch_size}, got {self.m_batch_size}")


@dataclass(frozen=True)
class _Agent:
    ppo: _Ppo
    reward_fnc: str
    subgoal_mode: bool = False
    frame_stacking: _Stack = field(default_factory=_Stack)
    laser: _Laser = field(default_factory=_Laser)
    lr_schedule: _Schedule = field(default_factory=_Schedule)


@dataclass(frozen=True)
class _Stop:
    threshold_type: str = "succ"
    threshold: float = 0.0


@dataclass(frozen=True)
class _Callbacks:
    stop_training: _Stop = field(default_factory=_Stop)


@dataclass(frozen=True)
class _Config:
    """The imported keys, under Arena's names."""

    rl_agent: _Agent
    n_envs: Count
    n_timesteps: int
    safety_distance: float = 0.5
    callbacks: _Callbacks = field(default_factory=_Callbacks)


@dataclass(frozen=True)
class TrainingRead:
    """The training that a configuration describes, and how it differs from Arena's.

    Attributes:
        text: the training file, as YAML text.
        notes: differences in Agora, each ``file:line: key: difference``; differences in the reward file come last.
    """

    text: str
    notes: tuple[str, ...]


def read_arena_training(path: str | Path, name: str, reward: str | Path | None = None) -> TrainingRead:
    """Read a ``training_config.yaml`` of Arena 3.0.

    Args:
        path: path of the file.
        name: name of the new training.
        reward: path of the reward file; by default ``reward_functions/<reward_fnc>.yaml`` in the folder of the configuration.

    Raises:
        InputError: a file cannot be read, has another format, or does not describe a valid training; the message names lines and
            keys.
    """
    check_name(name)
    node = tree_of_text(read_text(path), str(path), is_json=False)
    left: dict[str, tuple[int | None, str]] = {}
    config: _Config = Builder(str(path)).run(_taken(node, _Config, "", left), _Config)
    agent, stop = config.rl_agent, config.callbacks.stop_training
    by_success = stop.threshold_type == "succ"
    if not by_success:
        left["callbacks.stop_training"] = (
            _line(node, "callbacks", "stop_training"),
            "stop_at of the trainer is a success rate",
        )
    if agent.lr_schedule.enabled and agent.lr_schedule.type != "linear":
        left["rl_agent.lr_schedule.type"] = _line(node, "rl_agent", "lr_schedule", "type"), "the learning rate decreases linearly"
    if agent.ppo.n_steps not in (0, agent.ppo.batch_size / config.n_envs):
        instead = f"a round is batch_size = {agent.ppo.batch_size} steps in all environments together"
        left["rl_agent.ppo.n_steps"] = _line(node, "rl_agent", "ppo", "n_steps"), instead
    given = Path(reward) if reward is not None else Path(path).parent / "reward_functions" / f"{agent.reward_fnc}.yaml"
    rewards = read_arena_reward(given, safe_distance=config.safety_distance, subgoals=agent.subgoal_mode)
    base = load(folder("configs") / "training" / f"{_BASE}.yaml", dict[str, Any])
    worlds = _worlds(config, str(path), _line(node, "n_envs"))
    if worlds != config.n_envs:
        left["n_envs"] = (
            _line(node, "n_envs"),
            f"{worlds} worlds are used, so that each mini-batch has at least one and a round has batch_size steps",
        )
    trainer = base["trainer"] | _trainer(config, worlds) | parse(rewards.text, dict[str, Any])
    if "rl_agent.normalize" not in left:
        trainer["scale"] = 1.0
    trainer |= {"observe": base["trainer"]["observe"] | _observe(agent), "stop_at": stop.threshold if by_success else 0.0}
    method = (
        f"PPO with the parameters and the reward of Arena's {Path(path).name}; episodes, network and all other settings are those "
        f"of {_BASE}."
    )
    text = dump(base | {"name": name, "label": "own", "method": method, "trainer": trainer})
    parse(text, Training, f"{path}: as a training")
    notes = [f"{path}:{line}: {key}: not imported: {instead}" for key, (line, instead) in sorted(left.items(), key=_place)]
    return TrainingRead(text, (*notes, *rewards.notes))


def _taken(node: Node, kind: Any, path: str, left: dict[str, tuple[int | None, str]]) -> Node:
    """Return a node that contains only the keys of a dataclass; every other key is added to ``left`` with its line number and
    advice.
    """
    if not isinstance(node.value, dict):
        return node
    hints, kept = typing.get_type_hints(kind), {}
    for key, value in node.value.items():
        if key not in hints:
            if not _off(value):
                left[path + key] = node.key_lines[key], _INSTEAD.get(path + key, "unknown Arena key")
        elif dataclasses.is_dataclass(hints[key]):
            kept[key] = _taken(value, hints[key], f"{path}{key}.", left)
        else:
            kept[key] = value
    return dataclasses.replace(node, value=kept)


def _place(entry: tuple[str, tuple[int | None, str]]) -> int:
    return entry[1][0] or 0


def _off(node: Node) -> bool:
    """Return whether a key is empty, or disables its section."""
    if not isinstance(node.value, dict):
        return node.value is None or node.value is False
    return any(node.value[switch].value is False for switch in ("enabled", "discrete") if switch in node.value)


def _line(node: Node, *keys: str) -> int | None:
    """Return the line number of a nested key."""
    *outer, last = keys
    for key in outer:
        node = node.value[key]
    return node.key_lines.get(last, node.line)


def _worlds(config: _Config, path: str, line: int | None) -> int:
    """Return the smallest number of worlds that divides the steps of a round evenly: at least ``n_envs``, and one per mini-batch.

    Raises:
        InputError: no number of worlds divides the steps evenly.
    """
    steps, batches = config.rl_agent.ppo.batch_size, config.rl_agent.ppo.batch_size // config.rl_agent.ppo.m_batch_size
    least = max(config.n_envs, batches)
    for worlds in range(least, min(steps, _MOST_WORLDS) + 1):
        if steps % worlds == 0:
            return worlds
    raise InputError(
        f"{path}:{line}: n_envs: no number of worlds from {least} to {_MOST_WORLDS} divides batch_size = {steps} evenly"
    )


def _trainer(config: _Config, worlds: int) -> dict[str, Any]:
    """Return the equivalent parameters of the `ppo` trainer.

    Stable-Baselines3, which Arena uses, stops the epochs of a round at a divergence of 1.5 times ``target_kl`` (PPO.train), and
    never stops them if ``target_kl`` is not set.
    """
    ppo, schedule = config.rl_agent.ppo, config.rl_agent.lr_schedule
    rate = (schedule.settings.initial_value, schedule.settings.final_value) if schedule.enabled else (ppo.learning_rate,) * 2
    return {
        "steps": config.n_timesteps,
        "episodes": 0,
        "worlds": worlds,
        "horizon": ppo.batch_size // worlds,
        "epochs": ppo.n_epochs,
        "batches": ppo.batch_size // ppo.m_batch_size,
        "rate": rate[0],
        "last_rate": rate[1],
        "discount": ppo.gamma,
        "trace": ppo.gae_lambda,
        "clip": ppo.clip_range,
        "entropy": ppo.ent_coef,
        "value_weight": ppo.vf_coef,
        "gradient": ppo.max_grad_norm,
        "divergence": 1.5 * (ppo.target_kl or 0.0),
    }


def _observe(agent: _Agent) -> dict[str, Any]:
    """Return the keys of the encoding: beams, number of scans, and whether the policy sees the goal or a point on the path."""
    beams, stack = agent.laser.reduce_num_beams, agent.frame_stacking
    seen: dict[str, Any] = {"beams": beams.num_beams} if beams.enabled else {}
    return (
        seen
        | {"scans": stack.stack_size if stack.enabled else 1}
        | ({} if agent.subgoal_mode else {"lookahead": 0.0, "goal_range": 20.0})
    )
