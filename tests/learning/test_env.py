"""The environments step as the episode loop does, and keep Gymnasium's rules."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
import stable_baselines3.common.env_checker
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList
from tests.learning.suites import suite
from tests.suites import plane

from agora.core.recording import Outcome
from agora.draft.periods import Periods
from agora.episode import Conditions, Episodes
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Declaration
from agora.learning import ENV_ID
from agora.learning import env as environments
from agora.learning.cadrl_reward import CadrlReward
from agora.learning.entries import OF_A_SEED
from agora.learning.env import AgoraVectorEnv
from agora.learning.env_part import EnvPart
from agora.learning.facts import empty
from agora.learning.rewards import Reward
from agora.learning.single import AgoraEnv
from agora.planners.local.go_to_goal import GoToGoal
from agora.policies.encoding import Observe, to_actions, to_twists
from agora.registry import Named

PLANE = Named.of("worlds", "open", width=14.0, height=9.0, x=-3.0, y=2.0)
SEE = Observe(20, pedestrians=3)


@dataclass(frozen=True)
class Rounded:
    """A planner whose twists go the way through actions."""

    planner: Any
    declares: ClassVar[Declaration] = Declaration()

    def act(self, observation, memory):
        answer = self.planner.act(observation, memory)
        return replace(answer, twists=to_twists(to_actions(answer.twists, observation.limits), observation.limits))


def part_of(env: AgoraVectorEnv, w: int = 0) -> EnvPart:
    """The part in which an environment is played."""
    return next(part for part in env._parts if part.mine[w])


def actions_of(env: AgoraVectorEnv, planner: Any) -> np.ndarray:
    observation = part_of(env).batch.observer.observe()
    return to_actions(planner.act(observation, {}).twists, observation.limits)


def wander(observations: np.ndarray) -> np.ndarray:
    """Actions that depend on what is seen alone, row by row."""
    return np.stack([0.5 + 0.5 * np.cos(7 * observations[:, 3]), np.sin(11 * observations.sum(1))], axis=1)


def state(env: AgoraVectorEnv, w: int) -> tuple[list[float], np.ndarray]:
    """Pose and twist of a robot, and its world's pedestrians."""
    robots, people = part_of(env).batch.world.robots, part_of(env).batch.world.pedestrians
    fields = (robots.x, robots.y, robots.heading, robots.vx, robots.vy, robots.omega)
    return [field[w, 0] for field in fields], np.stack([people.x[w], people.y[w]], -1)


@pytest.mark.parametrize(("robot", "goals", "worlds"), [("burger", 1, 4), ("ridgeback", 3, 3)])
def test_driven_by_a_planners_actions_it_repeats_the_episode_loop_bit_for_bit(robot, goals, worlds):
    whole = suite(robot=robot, goals=goals, ends=("wall", "out_of_map"), episodes=7)
    planner = Named.of("planners", "go_to_goal").part
    env = AgoraVectorEnv(whole, "walk", worlds, observe=SEE, autoreset=False)
    loop = Episodes(env.starts, Rounded(planner), Conditions.of(whole.stage("walk")), worlds=2)
    expected = {k: recordings[0] for k, recordings in loop}
    _, infos = env.reset()
    entries, tapes = infos["entry"].copy(), [[state(env, w)] for w in range(worlds)]
    compared = set()
    while len(compared) < 7:
        _, _, terminated, truncated, infos = env.step(actions_of(env, planner))
        for w in range(worlds):
            tapes[w].append(state(env, w))
        over = terminated | truncated
        for w in np.flatnonzero(over):
            recording = expected[int(entries[w])]
            path, people = (np.array(values, np.float64) for values in zip(*tapes[w], strict=True))
            assert np.array_equal(path, np.hstack([recording.pose, recording.twist]))
            assert np.array_equal(people[:, : recording.pedestrian_id.size], recording.pedestrian_position)
            assert (infos["outcome"][w], infos["time"][w]) == (recording.outcome.label, recording.time[-1])
            compared.add(int(entries[w]))
        if over.any():
            _, infos = env.reset(options={"reset_mask": over})
            for w in np.flatnonzero(over):
                entries[w], tapes[w] = infos["entry"][w], [state(env, w)]
    assert {r.outcome for r in expected.values()} == {Outcome.WALL_COLLISION, Outcome.TIMEOUT}
    moved_on = [k for k, r in expected.items() if not np.allclose(r.goal, env.starts[k].robots[0].goals[0])]
    assert bool(moved_on) == (goals > 1)


def played(env: AgoraVectorEnv, steps: int) -> dict[int, list[np.ndarray]]:
    """Observations by entry of the episodes of environment 0, driven by what is seen."""
    seen, infos = env.reset(options={"entry": 0})
    entry = int(infos["entry"][0])
    episodes = {entry: [seen[0]]}
    for _ in range(steps):
        seen, _, _, _, infos = env.step(wander(seen))
        if "final_obs" in infos and infos["_final_obs"][0]:
            episodes[entry].append(infos["final_obs"][0])
            entry = int(infos["entry"][0])
            episodes[entry] = []
        episodes[entry].append(seen[0])
    return episodes


def test_larger_episodes_get_more_room_while_those_under_way_go_on(monkeypatch):
    whole = suite(episodes=24, timeout=6.0, obstacles=Named.of("obstacles_modes", "random", dynamic=(1, 19), static=(0, 3)))
    sizes = [whole.start("walk", k).crowd_size for k in range(24)]
    assert max(sizes) > 16 >= sizes[0]
    roomy = played(AgoraVectorEnv(whole, "walk", 3, observe=SEE), 250)
    monkeypatch.setattr(environments, "_EXAMPLES", 1)
    env, parts = AgoraVectorEnv(whole, "walk", 3, observe=SEE), set()
    make = env._make_room
    monkeypatch.setattr(env, "_make_room", lambda starts: (make(starts), parts.add(len(env._parts))))
    tight = played(env, 250)
    assert max(parts) > 1 and len(env._examples) > 2 and len(env._parts) == 1
    assert roomy.keys() == tight.keys()
    for entry, seen in roomy.items():
        assert np.array_equal(seen, tight[entry])


def test_a_teacher_drives_sideways_where_some_episodes_got_more_room():
    env = AgoraVectorEnv(suite(robot="ridgeback"), "walk", 3, observe=SEE, teacher=GoToGoal())
    env.reset()
    env._make_room(env._examples)
    env.reset(options={"reset_mask": np.array([False, True, False])})
    assert len(env._parts) == 2
    assert env.teach().shape == (3, 3)


def test_ten_million_episodes_are_drawn_as_they_begin():
    env = AgoraVectorEnv(suite(timeout=0.5), "walk", 3, episodes=10**7, observe=SEE)
    seen, infos = env.reset(options={"entry": 9_999_990})
    begun = infos["entry"].tolist()
    for _ in range(18):
        infos = env.step(wander(seen))[4]
        if "_entry" in infos:
            begun += infos["entry"][infos["_entry"]].tolist()
    assert begun[:9] == [*range(9_999_990, 9_999_999)] and not env.starts._kept
    again = AgoraVectorEnv(suite(timeout=0.5), "walk", 1, episodes=10**7, observe=SEE)
    assert np.array_equal(again.reset(options={"entry": 9_999_991})[0][0], seen[1])


def test_what_an_episode_shows_does_not_depend_on_how_many_run_beside_it():
    whole = suite(episodes=24, timeout=6.0)
    alone, among = (played(AgoraVectorEnv(whole, "walk", n, observe=SEE), steps) for n, steps in ((1, 700), (4, 150)))
    assert list(among)[:2] == [0, 4]
    compared = 0
    for entry in alone.keys() & among.keys():
        for a, b in zip(alone[entry], among[entry], strict=False):
            assert np.array_equal(a, b)
            compared += 1
    assert compared >= 100


def test_threads_change_no_bit():
    whole = suite(episodes=5)
    one, two = (AgoraVectorEnv(whole, "walk", 32, observe=SEE, threads=t) for t in (1, 2))
    a, b = one.reset()[0], two.reset()[0]
    for _ in range(15):
        assert np.array_equal(a, b)
        (a, ra, *_), (b, rb, *_) = one.step(wander(a)), two.step(wander(b))
        assert np.array_equal(ra, rb)
    one.close()
    two.close()


def test_an_end_is_followed_in_the_same_step_by_the_next_entry():
    whole = suite(episodes=7, timeout=3.0)
    same, masked = AgoraVectorEnv(whole, "walk", 3, observe=SEE), AgoraVectorEnv(whole, "walk", 3, observe=SEE, autoreset=False)
    assert same.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert masked.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    a, b = same.reset()[0], masked.reset()[0]
    entries, ends = np.arange(3), 0
    for _ in range(150):
        actions = wander(a)
        a, rewards, terminated, truncated, infos = same.step(actions)
        b, expected, *over, last = masked.step(actions)
        assert np.array_equal([rewards, terminated, truncated], [expected, *over])
        ended = terminated | truncated
        assert ("final_info" in infos) == ended.any()
        if not ended.any():
            continue
        ends += ended.sum()
        assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == infos["_entry"].tolist() == ended.tolist()
        for w in range(3):
            assert infos["final_obs"][w] is None if not ended[w] else np.array_equal(infos["final_obs"][w], b[w])
        final = infos["final_info"]
        assert final["outcome"].tolist() == last["outcome"].tolist()
        assert final["entry"][ended].tolist() == (entries[ended] % 7).tolist()
        assert final["time"][truncated] == pytest.approx(3.0)
        entries[ended] += 3
        assert infos["entry"][ended].tolist() == (entries[ended] % 7).tolist()
        b, _ = masked.reset(options={"reset_mask": ended})
        assert np.array_equal(a, b)
    assert ends > 7


def outcome_of(action, see=None, reward=None, steps=300, dynamic=0, **more) -> tuple[str, bool, bool, float]:
    env = AgoraVectorEnv(
        suite(dynamic=dynamic, world=PLANE, **more), "walk", 1, observe=see or Observe(4), reward=reward, autoreset=False
    )
    observations, _ = env.reset()
    for _ in range(steps):
        observations, rewards, terminated, truncated, infos = env.step(action(env, observations))
        if terminated[0] or truncated[0]:
            return infos["outcome"][0], bool(terminated[0]), bool(truncated[0]), float(rewards[0])
    raise AssertionError("the episode did not end")


def always(*action):
    return lambda env, seen: np.array([action], np.float32)


def to_goal(env, seen):
    return actions_of(env, Named.of("planners", "go_to_goal").part)


def to_pedestrian(env, seen):
    x, y, *_ = seen[0, env.observe.parts["pedestrians"]]
    return np.array([[0.7 if x > abs(y) else 0.0, np.clip(3 * np.arctan2(y, x), -1, 1)]], np.float32)


def test_every_outcome_either_terminates_or_truncates():
    bare = Reward(progress=0.0)
    fast = {"robot": "jackal", "timeout": 40.0}
    assert outcome_of(to_goal, reward=bare, **fast) == ("reached", True, False, 1.0)
    assert outcome_of(always(0.0, 0.0), reward=bare, timeout=2.0) == ("timeout", False, True, 0.0)
    assert outcome_of(always(1.0, 0.0), reward=bare, **fast) == ("out_of_map", True, False, -0.25)
    assert outcome_of(always(np.nan, 0.0), reward=bare) == ("planner_failed", True, False, 0.0)
    see = Observe(0, pedestrians=1, pedestrian_range=30.0)
    hit = outcome_of(to_pedestrian, see, bare, dynamic=2, **fast)
    assert hit == ("pedestrian_collision", True, False, -0.25)


def test_a_wall_terminates_where_the_suite_says_so():
    env = AgoraVectorEnv(suite(dynamic=0, robot="jackal"), "walk", 4, reward=Reward(progress=0.0))
    env.reset()
    labels = []
    for _ in range(100):
        _, rewards, terminated, _, infos = env.step(np.tile(np.float32([1.0, 0.0]), (4, 1)))
        labels += [label for label in infos["final_info"]["outcome"] if label] if "final_info" in infos else []
        assert (rewards[terminated] == np.float32(-0.25)).all()
    assert set(labels) == {"wall_collision"}
    blind = AgoraVectorEnv(suite(dynamic=0, robot="jackal", ends=("pedestrian",), timeout=5.0), "walk", 4)
    blind.reset()
    for k in range(49):
        assert not blind.step(np.tile(np.float32([1.0, 0.0]), (4, 1)))[2].any(), k


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"progress": 1.5, "step": -0.01}, Reward(progress=1.5, step=-0.01)),
        ({"name": "cadrl", "collision": -2.0}, CadrlReward(collision=-2.0)),
        ("weighted:reached=3", Reward(reached=3.0)),
        ("cadrl", CadrlReward()),
        (CadrlReward(close=0.0), CadrlReward(close=0.0)),
        (None, Reward()),
    ],
)
def test_a_reward_is_an_object_a_text_or_its_parameters(given, expected):
    assert AgoraVectorEnv(suite(), "walk", 1, observe={"beams": 4}, reward=given).reward == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"colision": -1.0}, "colision: unknown key.*collision"),
        ({"progress": "much"}, "progress"),
        ({"discomfort_distance": -1.0}, "discomfort_distance: expected a number of at least 0"),
        ("cardl", "no reward called 'cardl'; did you mean 'cadrl'"),
    ],
)
def test_a_reward_that_is_not_there_is_refused_by_name(given, message):
    with pytest.raises(InputError, match=message):
        AgoraVectorEnv(suite(), "walk", 1, reward=given)


def test_the_terms_of_a_reward_are_told_with_it_and_those_of_gymnasium_s_lists():
    weights = {"progress": 2.0, "collision": -3.0, "step": -0.125}
    env = AgoraVectorEnv(suite(dynamic=0, robot="jackal"), "walk", 3, reward=weights)
    listed, hits = DictInfoToList(env), 0
    listed.reset(seed=2)
    for _ in range(40):
        _, rewards, terminated, _, infos = listed.step(np.tile(np.float32([1.0, 0.0]), (3, 1)))
        for reward, over, info in zip(rewards, terminated, infos, strict=True):
            terms = info["rewards"]
            assert terms.keys() == {"progress", "reached", "collision", "discomfort", "step"}
            assert sum(terms.values()) == pytest.approx(reward, abs=1e-5)
            assert (terms["collision"], terms["step"]) == (-3.0 if over else 0.0, -0.125)
            hits += bool(over)
    assert hits


def test_progress_adds_up_to_the_way_made_good():
    env = AgoraVectorEnv(suite(dynamic=4), "walk", 1, reward=Reward(1.0, 0, 0, 0, 0, 0), autoreset=False)
    env.reset()
    begin, total, over = part_of(env)._goal_distance()[0], 0.0, False
    while not over:
        _, rewards, terminated, truncated, _ = env.step(to_goal(env, None))
        total, over = total + float(rewards[0]), bool(terminated[0] or truncated[0])
    assert total == pytest.approx(begin - part_of(env)._goal_distance()[0], abs=1e-4)
    assert total > 0.5


def test_discomfort_is_that_of_each_period_alone():
    reach, dt = 50.0, 0.1
    reward = Reward(0.0, 0.0, 0.0, -1.0, reach, 0.0)
    env = AgoraVectorEnv(suite(dynamic=8, ends=(), timeout=60.0), "walk", 1, observe=Observe(0, pedestrians=1), reward=reward)

    def gap() -> float:
        (pose, _), people = state(env, 0), part_of(env).batch.world.pedestrians
        apart = np.hypot(people.x[0] - pose[0], people.y[0] - pose[1])[people.active[0]]
        return float(apart.min()) - env.starts[0].robots[0].model.radius - 0.3

    seen, _ = env.reset()
    gaps, clearances = [gap()], []
    for _ in range(200):
        seen, rewards, *_ = env.step(to_pedestrian(env, seen))
        gaps.append(gap())
        clearances.append(reach + float(rewards[0]) / dt)
    ends = np.minimum(gaps[1:], gaps[:-1])
    assert (clearances < ends + 1e-3).all()
    assert (clearances > ends - 0.05).all()
    assert max(gaps) - min(gaps) > 0.5


def test_passing_a_goal_on_the_way_is_progress_to_it_and_not_a_loss():
    env = AgoraVectorEnv(suite(dynamic=0, goals=3, world=PLANE, robot="jackal", timeout=60.0), "walk", 1, autoreset=False)
    env.reset()
    goals, over = set(), False
    while not over:
        goals.add(float(part_of(env).batch.world.status.goals.x[0, 0]))
        _, rewards, terminated, truncated, infos = env.step(to_goal(env, None))
        assert rewards[0] > -0.03
        over = bool(terminated[0] or truncated[0])
    assert infos["outcome"][0] == "reached"
    assert len(goals) == 3


def test_resetting_some_leaves_the_others_as_they_are():
    env = AgoraVectorEnv(suite(), "walk", 3, observe=SEE, autoreset=False)
    seen, _ = env.reset()
    for _ in range(5):
        seen, *_ = env.step(wander(seen))
    after, infos = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert np.array_equal(after[[0, 2]], seen[[0, 2]])
    assert not np.array_equal(after[1], seen[1])
    assert (infos["entry"].tolist(), infos["_entry"].tolist()) == ([0, 4, 0], [False, True, False])
    with pytest.raises(InputError, match="reset_mask must be 3 booleans"):
        env.reset(options={"reset_mask": np.array([1, 0, 0])})
    with pytest.raises(InputError, match="reset_mask must be 3 booleans"):
        env.reset(options={"reset_mask": np.array([True])})


def test_without_a_seed_the_stage_s_own_entries_are_played_from_where_the_option_says():
    env = AgoraVectorEnv(suite(episodes=6), "walk", 2)
    assert env.reset()[1]["entry"].tolist() == [0, 1]
    first, infos = env.reset(options={"entry": 3})
    assert infos["entry"].tolist() == [3, 4]
    assert env.reset()[1]["entry"].tolist() == [5, 0]
    again, _ = env.reset(options={"entry": 9})
    assert np.array_equal(again, first)


@pytest.mark.parametrize("episodes", [0, 5])
def test_no_two_seeds_share_an_episode_and_none_has_one_of_the_stage_s_own(episodes):
    env = AgoraVectorEnv(suite(episodes=2, timeout=0.5), "walk", 2, episodes=episodes, observe=SEE)
    seeds, shown, entries = [0, 1, 2, 24, 1000, 2**40 - 1, 2**40, 2**41, 2**64], {}, {}
    for seed in [None, *seeds]:
        rounds = [env.reset(seed=seed if k == 0 else None) for k in range(4)]
        entries[seed] = [int(entry) for _, infos in rounds for entry in infos["entry"]]
        shown[seed] = {observation.tobytes() for observations, _ in rounds for observation in observations}
    assert set(entries[None]) == set(range(episodes or 2))
    for seed in seeds:
        assert len(shown[seed]) == (episodes or 8) and min(entries[seed]) >= OF_A_SEED
    assert len(set().union(*shown.values())) == sum(map(len, shown.values()))
    other = AgoraVectorEnv(suite(episodes=2, timeout=0.5), "walk", 1, episodes=episodes, observe=SEE)
    assert other.reset(seed=24)[0].tobytes() in shown[24]
    assert other.reset(seed=24)[1]["entry"].tolist() == entries[24][:1]


def test_another_seed_of_the_suite_is_other_episodes():
    a, b, c = (AgoraVectorEnv(suite(seed=4), "walk", 2, seed=s).reset()[0] for s in (None, 4, 5))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_more_episodes_than_the_stage_has_are_made_when_asked_for():
    assert len(AgoraVectorEnv(suite(episodes=2), "walk", 1, episodes=5).starts) == 5
    assert len(AgoraVectorEnv(suite(episodes=2), "walk", 1).starts) == 2


def test_an_episode_that_is_not_under_way_cannot_be_stepped():
    env = AgoraVectorEnv(suite(timeout=0.1), "walk", 2, autoreset=False)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros((2, 2)))
    env.reset()
    assert env.step(np.zeros((2, 2)))[3].all()
    with pytest.raises(ResetNeeded):
        env.step(np.zeros((2, 2)))


@pytest.mark.parametrize(("robot", "size"), [("burger", 2), ("f1tenth", 2), ("ridgeback", 3)])
def test_robots_that_move_sideways_have_three_actions(robot, size):
    env = AgoraVectorEnv(suite(robot=robot), "walk", 2)
    env.reset()
    assert env.action_space.shape == (2, size)
    with pytest.raises(InputError, match="actions must be of shape"):
        env.step(np.zeros((2, 5 - size)))


@pytest.mark.parametrize(
    ("stage", "see", "message"),
    [
        ({"robot": "crowdnav"}, Observe(8), "at most those of robot 'crowdnav', 0, got 8"),
        ({}, Observe(361), "at most those of robot 'burger', 360, got 361"),
        ({"periods": Periods(0.05, 0.1, 0.05, 0.2)}, None, "that divide control = 0.1 s"),
    ],
)
def test_a_stage_that_cannot_be_trained_on_is_refused(stage, see, message):
    with pytest.raises(InputError, match=message):
        AgoraVectorEnv(suite(**stage), "walk", 1, observe=see)


def test_a_stage_that_is_not_there_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'walk'"):
        AgoraVectorEnv(suite(), "walks")


def test_a_robot_without_a_lidar_is_trained_on_what_else_it_sees():
    env = AgoraVectorEnv(suite(robot="crowdnav"), "walk", 2, observe=Observe(0, pedestrians=5))
    seen, _ = env.reset()
    assert seen.shape == (2, 6 + 25)
    assert env.observation_space.contains(env.step(env.action_space.sample())[0])


@pytest.mark.parametrize("robot", ["burger", "ridgeback", "f1tenth"])
def test_the_checkers_of_gymnasium_and_stable_baselines_have_nothing_to_say(robot):
    env = gymnasium.make(ENV_ID, suite=suite(robot=robot), stage="walk", observe=SEE)
    check_env(env.unwrapped)
    stable_baselines3.common.env_checker.check_env(env.unwrapped)


def test_one_world_is_a_batch_of_one():
    whole = suite(timeout=4.0)
    one, batch = AgoraEnv(whole, "walk", observe=SEE), AgoraVectorEnv(whole, "walk", 1, observe=SEE)
    (a, info), (b, infos) = one.reset(seed=2), batch.reset(seed=2)
    assert info == {"entry": 3 * OF_A_SEED}
    over = False
    while not over:
        assert np.array_equal(a, b[0])
        action = wander(b)
        a, reward, terminated, truncated, info = one.step(action[0])
        b, rewards, ends, late, infos = batch.step(action)
        assert (reward, terminated, truncated) == (rewards[0], ends[0], late[0])
        over = terminated or truncated
        assert sum(info["rewards"].values()) == pytest.approx(reward, abs=1e-6)
        assert ("outcome" in info) == over
    assert np.array_equal(a, infos["final_obs"][0])
    assert info.pop("rewards").keys() == Reward().terms(empty(1, 0.1, {})).keys()
    assert info == {key: infos["final_info"][key][0] for key in ("outcome", "is_success", "entry", "time")}
    assert info["is_success"] is (info["outcome"] == "reached")
    assert one.reset()[1] == {"entry": 3 * OF_A_SEED + 1}
    assert one.reset(options={"entry": 1})[1] == {"entry": 1}


def test_gymnasium_makes_both_by_name():
    whole = suite()
    one = gymnasium.make(ENV_ID, suite=whole, stage="walk")
    batch = gymnasium.make_vec(ENV_ID, num_envs=3, suite=whole, stage="walk")
    assert isinstance(one.unwrapped, AgoraEnv)
    assert isinstance(batch, AgoraVectorEnv)
    assert np.array_equal(one.reset()[0], batch.reset()[0][0])


def test_a_fresh_process_makes_it_by_name_alone_and_the_rest_of_agora_knows_no_gymnasium():
    code = """
import sys
import agora.cli.app, agora.episode, agora.benchmark.job
assert not {"gymnasium", "torch", "stable_baselines3"} & sys.modules.keys()
import agora.learning
assert not {"agora.learning.env", "torch", "stable_baselines3"} & sys.modules.keys()
import gymnasium
env = gymnasium.make("agora/Navigation-v0")
observation, info = env.reset(seed=1)
print(observation.shape, info)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "(42,) {'entry': 4194304}\n", done.stderr


CURRICULUM = """
- {dynamic: 2, goal_radius: 0.9}
- {dynamic: 5, goal_radius: 0.6}
- {dynamic: 1}
"""


def test_a_curriculum_is_gone_through_and_back_and_its_ends_are_not_left(tmp_path):
    (tmp_path / "c.yaml").write_text(CURRICULUM)
    obstacles = {"name": "random", "dynamic": [0, 9]}
    staged = plane(obstacles=obstacles, modules=[{"name": "staged", "curriculum": str(tmp_path / "c.yaml")}])
    worlds = AgoraVectorEnv(staged, "plane", 2, observe=Observe(beams=0, pedestrians=2))
    worlds.reset(seed=0)
    seen = []
    for by in (0, 1, 1, 1, -1, -9):
        assert worlds.change_stage(by) == worlds.curriculum_stage
        assert {len(start.pedestrians.id) for start in worlds.starts} == {[2, 5, 1][worlds.curriculum_stage]}
        assert {start.goal_tolerance for start in worlds.starts} == {[0.9, 0.6, 0.3][worlds.curriculum_stage]}
        if seen and seen[-1] != worlds.curriculum_stage:
            with pytest.raises(ResetNeeded):
                worlds.step(np.zeros((2, 2), np.float32))
        worlds.reset()
        worlds.step(np.zeros((2, 2), np.float32))
        seen.append(worlds.curriculum_stage)
    assert seen == [0, 1, 2, 2, 1, 0]
    worlds.close()
    with pytest.raises(InputError, match="has no module 'staged'"):
        AgoraVectorEnv(plane(), "plane", 1, observe=Observe(beams=0)).change_stage()
