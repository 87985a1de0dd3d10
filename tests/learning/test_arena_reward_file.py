"""Reward files of Arena 3.0: every unit's value in the file's own terms, and every difference told with its line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from tests.learning.test_arena_reward import brought

from agora.config import parse
from agora.core.recording import Outcome
from agora.errors import InputError
from agora.interfaces import Rewarding
from agora.learning.arena_reward import BASE_SEMANTIC, DEFAULT, NOTHING, ArenaReward
from agora.learning.arena_reward_file import read_arena_reward
from agora.learning.rewards import Transition
from agora.registry import Plug

WHOLE = """\
goal_reached:
  reward: 17
collision:
  reward: -13
  bumper_zone: 0.05
max_steps_exceeded:
  penalty: 7
safe_distance:
  reward: -0.3
approach_goal:
  pos_factor: 0.4
  neg_factor: 0.7
  _goal_update_threshold: 0.25
  _on_safe_dist_violation: true
reverse_drive:
  reward: -0.06
  threshold: -0.2
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def worth(reward: ArenaReward, transition: Transition) -> float:
    return float(reward(transition)[0])


def test_a_file_is_worth_what_it_says(tmp_path):
    taken = read_arena_reward(written(tmp_path, WHOLE), safe_distance=0.8)
    reward = taken.reward
    assert worth(reward, brought(Outcome.REACHED, 0.1)) == pytest.approx(17 + 0.04)
    assert worth(reward, brought(Outcome.WALL_COLLISION, nearest=0.2)) == pytest.approx(-13.3)
    assert worth(reward, brought(Outcome.TIMEOUT, -0.1)) == pytest.approx(-7.07)
    assert worth(reward, brought(nearest=1.09)) == pytest.approx(-0.3)
    assert worth(reward, brought(nearest=1.11)) == 0.0
    assert worth(reward, brought(command=(-0.3, 0.0, 0.0))) == pytest.approx(-0.06)
    assert worth(reward, brought(command=(-0.1, 0.0, 0.0))) == 0.0
    assert [note.removeprefix(f"{tmp_path}/mine.yaml") for note in taken.notes] == [
        ":5: collision.bumper_zone: not imported: a collision is a contact with the outline",
        ":13: approach_goal._goal_update_threshold: not needed: in Agora a new goal is not progress, at any distance",
    ]


@pytest.mark.parametrize(
    ("text", "transition", "value"),
    [
        ("no_movement: {}", brought(command=(0.05, 0.0, 0.0)), -0.01),
        ("no_movement:", brought(command=(0.05, 0.0, 0.0)), -0.01),
        ("distance_travelled: {consumption_factor: 0.02, lin_vel_scalar: 0.0, ang_vel_scalar: 0.5}", brought(), -0.02 * 0.5 * 0.4),
        ("distance_travelled: {}", brought(command=(0.9, 0.0, -3.0)), -0.005 * (0.9 - 0.003)),
        ("approach_globalplan: {pos_factor: 0.2}", brought(path_approach=0.3), 0.06),
        ("approach_globalplan: {pos_factor: 0.2}", brought(path_approach=-0.3), -0.15),
        ("follow_globalplan: {min_dist_to_path: 1.7}", brought(path_distance=1.6), 0.07),
        ("follow_globalplan: {min_dist_to_path: 1.7}", brought(path_distance=1.8), 0.0),
        ('abrupt_velocity_change: {vel_factors: {"0": 0.5, 2: 0.1}}', brought(command=(1.7, 4.0, 2.4)), -(0.5 + 0.1 * 16) / 100),
        ("abrupt_velocity_change: {}", brought(command=(0.7, 1.0, 0.4)), -0.07 / 100),
        ("root_velocity_difference: {k: 40}", brought(command=(1.7, 0.0, 2.4)), (1 - math.hypot(1, 4)) / 40),
        ("root_velocity_difference: {k: 4}", brought(command=(1.7, 0.0, 2.4)), 0.0),
        ("two_factor_velocity_difference: {beta: 0.3}", brought(command=(1.7, 0.0, 2.4)), -0.01 - 1.2),
        ("active_heading_direction: {theta_m: 0.9}", brought(detour=0.2), 0.6 * 0.7),
        ("ped_safe_distance: {}", brought(clearance=0.5), -0.14),
        ("ped_type_safety_distance: {safety_distance: 1.5}", brought(elder=1.4), -0.25),
        ("ped_type_collision: {}", brought(elder=0.04), -10.0),
        ("ped_type_vel_constraint: {active_distance: 2.0}", brought(elder=1.9), -0.05 * 0.7),
        ("angular_vel_constraint: {threshold: 0.3}", brought(command=(0.7, 0.0, -0.4)), -0.02),
        ("angular_vel_constraint: {}", brought(command=(0.7, 0.0, -9.0)), 0.0),
    ],
)
def test_every_unit_has_arenas_formula_and_defaults(tmp_path, text, transition, value):
    reward = read_arena_reward(written(tmp_path, text)).reward
    assert worth(reward, transition) == pytest.approx(value, abs=1e-6)


def test_units_below_safe_distance_may_count_nothing_where_it_is_breached(tmp_path):
    flag = "{_on_safe_dist_violation: false}"
    text = (
        f"no_movement: {flag}\nsafe_distance: {{}}\napproach_goal: {flag}\ngoal_reached: {flag}\nroot_velocity_difference: {{}}\n"
    )
    reward = read_arena_reward(written(tmp_path, text)).reward
    assert set(reward.only_safe) == {"approach", "retreat", "reached", "smooth"}
    calm, near = (brought(Outcome.REACHED, 0.1, nearest=nearest, command=(0.0, 0.0, 0.4)) for nearest in (5.0, 0.6))
    assert worth(reward, near) == pytest.approx(-0.15 - 0.01)
    assert worth(reward, calm) == pytest.approx(15 + 0.03 + (1 - 0.49) / 500 - 0.01)
    alone = read_arena_reward(written(tmp_path, f"approach_goal: {flag}")).reward
    assert worth(alone, brought(progress=0.1, nearest=0.1)) == pytest.approx(0.03)


def test_the_presets_are_arenas_files(tmp_path):
    text = "goal_reached: {reward: 15}\nsafe_distance: {reward: -0.25}\ncollision: {reward: -20}\nmax_steps_exceeded: {}\n"
    text += "approach_goal: {pos_factor: 0.5, neg_factor: 0.8}\nreverse_drive: {reward: -0.1}\n"
    assert read_arena_reward(written(tmp_path, text)).reward == DEFAULT
    text = "ped_type_safety_distance: {reward: -0.15, safety_distance: 1.5}\nped_type_collision: {reward: -5}\n"
    taken = read_arena_reward(written(tmp_path, text)).reward
    assert (taken.elder, taken.elder_distance, taken.elder_hit) == (BASE_SEMANTIC.elder, 1.5, BASE_SEMANTIC.elder_hit)


def test_what_agora_has_not_is_told_with_its_line(tmp_path):
    text = """\
goal_reached:
  _follow_subgoal: true
obs_safe_distance:
  reward: -0.2
ped_type_safety_distance:
  ped_type: 2
ped_type_collision:
  reward: -4
ped_type_vel_constraint:
  active_distance: 2.1
"""
    taken = read_arena_reward(written(tmp_path, text))
    said = [note.removeprefix(f"{tmp_path}/mine.yaml:").split(": ", 2)[:2] for note in taken.notes]
    assert said == [
        ["2", "goal_reached._follow_subgoal"],
        ["3", "obs_safe_distance"],
        ["6", "ped_type_safety_distance.ped_type"],
        ["7", "ped_type_collision"],
        ["10", "ped_type_vel_constraint.active_distance"],
    ]
    assert "use safe_distance" in taken.notes[1]
    assert (taken.reward.safe, taken.reward.elder, taken.reward.elder_hit) == (0.0, 0.0, -4.0)
    clash = "ped_type_vel_constraint: {active_distance: 2.1}\nped_type_safety_distance: {}\n"
    taken = read_arena_reward(written(tmp_path, clash))
    assert (taken.reward.elder, taken.reward.elder_speed) == (0.0, -0.05)
    assert "mine.yaml:2: ped_type_safety_distance: not imported" in taken.notes[-1]


ROSNAV_RL = """\
reward:
  reward_function_dict:
    goal_reached: {reward: 9, _follow_subgoal: false, _following_subgoal: false, _on_safe_dist_violation: true}
    factored_safe_distance: {factor: -0.3}
    collision: {reward: -8, bumper_zone: 0.1}
    approach_goal: {pos_factor: 0.2, neg_factor: 0.6, factor: 0.4, gamma: 0.98, _potential_based: true, _follow_subgoal: true}
    reverse_drive: {reward: -0.05, threshold: -0.1}
    factored_reverse_drive: {factor: 0.07, threshold: -0.1, _on_safe_dist_violation: true}
    two_factor_velocity_difference: {alpha: 0.03, beta: 0.02}
    root_velocity_difference: {k: 400}
    abrupt_velocity_change: {vel_factors: {"0": 0.2}}
    distance_travelled: {consumption_factor: 0.01, lin_vel_scalar: 1.0, ang_vel_scalar: 0.001}
    no_movement: {reward: -0.02}
    active_heading_direction: {r_angle: 0.5, iters: 40, _following_subgoal: true}
    ped_safe_distance: {reward: -0.1, safe_dist: 0.4}
    obs_safe_distance: {reward: -0.1}
    ped_type_safety_distance: {type_reward_pairs: {0: -0.4, 1: -0.6}, safety_distance: 1.1}
    ped_type_factored_safety_distance: {type_factor_pairs: {0: -0.1, 1: -0.2, 5: -0.9}, safety_distance: 1.1}
    ped_type_collision: {type_reward_pairs: {0: -2, 1: -3}, bumper_zone: 0.05}
    ped_type_vel_constraint: {ped_type: 0, penalty_factor: 0.05, active_distance: 1.1}
    max_steps_exceeded: {reward: -6}
    angular_vel_constraint: {penalty_factor: -0.04, threshold: 0.0}
    linear_vel_boost: {reward_factor: 0.02, threshold: 0.0}
    proxemic_intrusion: {weight: 0.1}
    social_potential: {factor: 0.2}
    tgrf_discomfort: {weight: 0.25}
"""


def test_every_unit_and_parameter_of_rosnav_rl_is_read_or_named(tmp_path):
    taken = read_arena_reward(written(tmp_path, ROSNAV_RL), safe_distance=0.6)
    reward, names = taken.reward, [note.split(": ")[1] for note in taken.notes]
    assert (reward.safe_depth, reward.safe_distance) == (-0.3, 0.6)
    assert (reward.reverse_rate, reward.reverse_speed, reward.boost, reward.boost_speed) == (-0.07, -0.1, 0.02, 0.0)
    assert (reward.adult, reward.adult_depth, reward.adult_hit, reward.adult_speed) == (-0.4, -0.1, -2.0, -0.05)
    assert (reward.elder, reward.elder_depth, reward.elder_hit) == (-0.6, -0.2, -3.0)
    assert (reward.timeout, reward.approach, reward.retreat, reward.along_path) == (-6.0, 0.4, 0.4, True)
    assert (reward.jump_vx, reward.jump_omega, reward.change_vx, reward.change_omega) == (-0.03, -0.02, 0.0, 0.0)
    assert (reward.turning, reward.turning_rate) == (-0.04, 0.0)
    assert {
        "max_steps_exceeded.reward", "factored_reverse_drive.factor", "approach_goal.gamma", "linear_vel_boost.threshold",
        "ped_type_factored_safety_distance.type_factor_pairs", "proxemic_intrusion", "social_potential", "tgrf_discomfort",
    } <= set(names)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "transition", "value"),
    [
        ("factored_safe_distance: {factor: -0.5}", brought(nearest=0.4), -0.5 * (0.5 + 0.3 - 0.4)),
        ("factored_reverse_drive: {factor: 0.05, threshold: 0.0}", brought(command=(-0.6, 0.0, 0.0)), 0.05 * -0.6),
        ("factored_reverse_drive: {factor: -0.05, threshold: 0.0}", brought(command=(-0.6, 0.0, 0.0)), -0.05 * 0.6),
        ("linear_vel_boost: {reward_factor: 0.01, threshold: 0.5}", brought(command=(0.8, 0.0, 0.0)), 0.008),
        ("linear_vel_boost: {reward_factor: 0.01, threshold: 0.5}", brought(command=(0.4, 0.0, 0.0)), 0.0),
        ("linear_vel_boost: {reward_factor: 0.01}", brought(), 0.0),
        ("ped_type_factored_safety_distance: {type_factor_pairs: {0: -0.1}, safety_distance: 1.2}", brought(adult=0.7), -0.05),
        ("ped_type_factored_safety_distance: {}", brought(elder=0.25), -0.5),
        ("ped_type_collision: {type_reward_pairs: {0: -2.5, 1: -5}}", brought(adult=0.01, elder=0.01), -7.5),
        ("max_steps_exceeded: {reward: -15}", brought(Outcome.TIMEOUT), -15.0),
        ("two_factor_velocity_difference: {alpha: 0.3, beta: 0.0}", brought(command=(1.7, 0.0, 0.4)), -0.3),
        ("two_factor_velocity_difference: {alpha: 0.3, beta: 0.0}", brought(command=(2.7, 0.0, 0.4)), -0.3 * 4),
        (
            "two_factor_velocity_difference: {alpha: 0.3, beta: 0.0}\nlinear_vel_boost: {reward_factor: 0.0, threshold: 0.0}",
            brought(command=(2.7, 0.0, 0.4)),
            -0.3 * 2,
        ),
    ],
)
def test_the_units_of_rosnav_rl_are_worth_what_its_code_says(tmp_path, text, transition, value):
    assert worth(read_arena_reward(written(tmp_path, text)).reward, transition) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("goal_reached: {reward: 3}\ngoal_aproached: {pos_factor: 0.1}", "mine.yaml:2: goal_aproached: unknown key"),
        ("goal_reached:\n  rewrad: 3", "mine.yaml:2: goal_reached.rewrad: unknown key; did you mean 'reward'"),
        ("collision: {reward: hard}", "mine.yaml:1: collision.reward: expected a number, got 'hard'"),
        ("abrupt_velocity_change: {vel_factors: {-1: 0.2}}", "keys 0 .vx., 1 .vy. and 2 .omega., got -1"),
        ("root_velocity_difference: {k: 0}", "k: expected a number above 0"),
        ("[1, 2]", "mine.yaml:1: expected a mapping"),
    ],
)
def test_wrong_files_are_refused_with_line_and_key(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_arena_reward(written(tmp_path, text))


A_REWARD = Annotated[Rewarding, Plug("rewards")]


def test_the_text_gives_the_same_reward_again(tmp_path):
    taken = read_arena_reward(written(tmp_path, WHOLE), safe_distance=0.8, subgoals=True)
    again = parse(taken.text, dict[str, A_REWARD])["reward"]
    assert again == taken.reward
    assert again.along_path
    assert np.isclose(again.safe_distance, 0.8)
    assert parse(read_arena_reward(written(tmp_path, "no_movement: {reward: 0}")).text, dict[str, A_REWARD])["reward"] == NOTHING
