"""Arena's ``training_config.yaml``: what a training takes of it, and what it says of the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
from typer.testing import CliRunner

from agora.cli.app import app
from agora.config import parse
from agora.errors import InputError
from agora.interfaces import Rewarding
from agora.learning.arena_reward_file import read_arena_reward
from agora.learning.arena_training_file import TrainingRead, read_arena_training
from agora.learning.training import Training, load_training
from agora.registry import Plug

CONFIG = """\
debug_mode: false
n_envs: 6
n_timesteps: 70000
goal_radius: 0.35
safety_distance: 0.9
robot: burger
callbacks:
  periodic_eval: {eval_freq: 500}
  stop_training: {threshold_type: succ, threshold: 0.93}
rl_agent:
  architecture_name: AGENT_26
  resume: null
  reward_fnc: careful
  subgoal_mode: true
  frame_stacking: {enabled: true, stack_size: 3}
  laser:
    full_range_laser: true
    reduce_num_beams: {enabled: true, num_beams: 70}
  normalize: {enabled: true}
  action_space: {discrete: false, custom_discretization: {enabled: true}}
  lr_schedule:
    enabled: true
    type: linear
    settings: {initial_value: 0.0007, final_value: 0.00002}
  ppo:
    batch_size: 720
    n_steps: 1200
    m_batch_size: 90
    n_epochs: 5
    learning_rate: 0.002
    gamma: 0.97
    gae_lambda: 0.91
    clip_range: 0.17
    ent_coef: 0.003
    vf_coef: 0.31
    max_grad_norm: 0.7
"""
REWARD = "goal_reached: {reward: 11}\nsafe_distance: {}\nobs_safe_distance: {}\n"


def read(folder: Path, config: str = CONFIG) -> TrainingRead:
    (folder / "reward_functions").mkdir(exist_ok=True)
    (folder / "reward_functions" / "careful.yaml").write_text(REWARD)
    (folder / "training_config.yaml").write_text(config)
    return read_arena_training(folder / "training_config.yaml", "careful_burger")


def training(folder: Path, config: str = CONFIG) -> Training:
    (folder / "mine.yaml").write_text(read(folder, config).text)
    return load_training(folder / "mine.yaml")


def test_the_numbers_of_the_training_are_arenas(tmp_path):
    made = training(tmp_path)
    ppo = made.trainer.part
    assert (made.name, made.label, made.planner) == ("careful_burger", "own", "rosnav_rl")
    assert (ppo.steps, ppo.epochs, ppo.batches, ppo.episodes) == (70_000, 5, 8, 0)
    assert (ppo.rate, ppo.last_rate, ppo.discount, ppo.trace) == (0.0007, 0.00002, 0.97, 0.91)
    assert (ppo.clip, ppo.entropy, ppo.value_weight, ppo.gradient, ppo.divergence) == (0.17, 0.003, 0.31, 0.7, 0.0)
    assert (ppo.observe.beams, ppo.observe.scans, ppo.observe.lookahead) == (70, 3, 5.0)
    assert (ppo.reward.reached, ppo.reward.safe, ppo.reward.safe_distance, ppo.reward.collision) == (11.0, -0.15, 0.9, 0.0)
    assert ppo.reward.along_path
    assert ppo.stop_at == 0.93


def test_a_round_has_arenas_steps_and_each_mini_batch_a_world(tmp_path):
    ppo = training(tmp_path).trainer.part
    assert (ppo.worlds, ppo.horizon) == (8, 90)
    notes = read(tmp_path).notes
    assert any(":2: n_envs: not imported: 8 worlds" in note for note in notes)
    enough = CONFIG.replace("n_envs: 6", "n_envs: 12").replace("n_steps: 1200", "n_steps: 60")
    ppo = training(tmp_path, enough).trainer.part
    assert (ppo.worlds, ppo.horizon) == (12, 60)
    assert not any(word in note for note in read(tmp_path, enough).notes for word in ("n_envs", "n_steps"))


def test_what_is_not_taken_is_told_with_its_line_and_what_is_off_is_not(tmp_path):
    notes = [note.removeprefix(f"{tmp_path}/") for note in read(tmp_path).notes]
    assert [note.split(": ")[:2] for note in notes] == [
        ["training_config.yaml:2", "n_envs"],
        ["training_config.yaml:4", "goal_radius"],
        ["training_config.yaml:6", "robot"],
        ["training_config.yaml:8", "callbacks.periodic_eval"],
        ["training_config.yaml:11", "rl_agent.architecture_name"],
        ["training_config.yaml:17", "rl_agent.laser.full_range_laser"],
        ["training_config.yaml:19", "rl_agent.normalize"],
        ["training_config.yaml:27", "rl_agent.ppo.n_steps"],
        ["reward_functions/careful.yaml:3", "obs_safe_distance"],
    ]
    other = (
        CONFIG.replace("type: linear", "type: square_root").replace("threshold_type: succ", "threshold_type: rew")
        + "wandb_key: none\n"
    )
    notes = [note.removeprefix(f"{tmp_path}/") for note in read(tmp_path, other).notes]
    assert "training_config.yaml:23: rl_agent.lr_schedule.type: not imported: the learning rate decreases linearly" in notes
    assert "training_config.yaml:9: callbacks.stop_training: not imported: stop_at of the trainer is a success rate" in notes
    assert "training_config.yaml:37: wandb_key: not imported: unknown Arena key" in notes
    assert training(tmp_path, other).trainer.part.stop_at == 0.0


def test_the_commands_write_a_training_and_print_a_reward(tmp_path):
    read(tmp_path)
    source, output = str(tmp_path / "training_config.yaml"), tmp_path / "new" / "slow.yaml"
    first = CliRunner().invoke(app, ["import", "arena-training", source, "-o", str(output)])
    assert first.exit_code == 0
    assert "training_config.yaml:6: robot: not imported" in first.output
    assert load_training(output).name == "slow"
    again = CliRunner().invoke(app, ["import", "arena-training", source, "-o", str(output)])
    assert "slow.yaml: already exists" in str(again.exception)
    blocked = CliRunner().invoke(app, ["import", "arena-training", source, "-o", f"{source}/slow.yaml"])
    assert "slow.yaml: cannot be written" in str(blocked.exception)
    reward = str(tmp_path / "reward_functions" / "careful.yaml")
    printed = CliRunner().invoke(app, ["import", "arena-reward", reward, "--safe-distance", "0.65", "--subgoals"])
    assert (
        parse(printed.stdout, dict[str, Annotated[Rewarding, Plug("rewards")]])["reward"]
        == read_arena_reward(reward, safe_distance=0.65, subgoals=True).reward
    )
    assert "careful.yaml:3: obs_safe_distance: not imported" in printed.stderr


def test_without_a_schedule_the_rate_stays_and_without_normalisation_rewards_are_arenas(tmp_path):
    plain = CONFIG.replace("    enabled: true\n    type", "    enabled: false\n    type").replace(
        "normalize: {enabled: true}", "normalize: false"
    )
    ppo = training(tmp_path, plain).trainer.part
    assert (ppo.rate, ppo.last_rate, ppo.scale) == (0.002, 0.002, 1.0)
    assert training(tmp_path).trainer.part.scale == 0.1


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "batch_size: 720",
            "batch_size: 730",
            r"training_config.yaml:\d+: rl_agent.ppo: m_batch_size must divide batch_size = 730, got 90",
        ),
        (
            "n_envs: 6",
            "n_envs: 721",
            "training_config.yaml:2: n_envs: no number of worlds from 721 to 10000 divides batch_size = 720",
        ),
        ("n_envs: 6", "n_envs: many", "training_config.yaml:2: n_envs: expected an integer, got 'many'"),
        ("reward_fnc: careful", "reward_fnc: carefull", "carefull.yaml: there is no such file; did you mean 'careful.yaml'"),
        ("gamma: 0.97", "gamma: 1.7", "training_config.yaml: as a training.*discount"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path, before, after, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, CONFIG.replace(before, after))
