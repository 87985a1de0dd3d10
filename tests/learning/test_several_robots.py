"""Several robots in one training world: a row each, who has ended waits, and nothing is learned from waiting."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from tests.learning.suites import suite
from tests.learning.trainers.runs import Notes, trained

from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Declaration, Shape
from agora.learning.arena_reward import ArenaReward
from agora.learning.env import AgoraVectorEnv
from agora.learning.rewards import Reward
from agora.learning.sb3 import Sb3VecEnv
from agora.learning.single import AgoraEnv
from agora.learning.trainers.imitation import Course, Lessons
from agora.learning.trainers.ppo import Ppo, Sequences, _Worlds, losses_of
from agora.learning.trainers.shares import Shares
from agora.policies.encoding import Observe, to_actions, to_twists
from agora.policies.learners.actor_critic import actor_critic
from agora.policies.learners.distributions import log_density
from agora.policies.networks.mlp import Mlp
from agora.registry import Named
from agora.tasks.suite import Suite

SEE = Observe(20, pedestrians=3)
PLANE = Named.of("worlds", "open", width=14.0, height=9.0, x=-3.0, y=2.0)
AHEAD = Named.of("planners", "go_to_goal").part


def several(count: int = 3, distance: float = 3.0, **stage: Any) -> Suite:
    """A suite of several Jackals a world."""
    robots = Named.of("robots_modes", "random", count=count, distance=distance)
    return suite(**({"robots": robots, "robot": "jackal", "dynamic": 4, "timeout": 9.0} | stage))


@dataclasses.dataclass(frozen=True)
class Rounded:
    """A planner whose twists go the way through actions."""

    planner: Any
    declares = Declaration()

    def act(self, observation: Any, memory: Any) -> Any:
        answer = self.planner.act(observation, memory)
        return dataclasses.replace(answer, twists=to_twists(to_actions(answer.twists, observation.limits), observation.limits))


def actions_of(env: AgoraVectorEnv, planner: Any = AHEAD) -> np.ndarray:
    """Return the actions of a planner in an environment of one part."""
    observation = env._parts[-1].batch.observer.observe()
    return to_actions(planner.act(observation, {}).twists, observation.limits)


def poses(env: AgoraVectorEnv) -> np.ndarray:
    robots = env._parts[-1].batch.world.robots
    return np.stack([robots.x.reshape(-1), robots.y.reshape(-1), robots.heading.reshape(-1)], 1)


@pytest.mark.parametrize("after", ["stay", "remove"])
def test_every_robot_repeats_the_episode_loop_bit_for_bit_in_a_row_of_its_own(after):
    whole = several(episodes=5, after_end=after)
    env = AgoraVectorEnv(whole, "walk", 2, observe=SEE)
    assert (env.num_envs, env.robots, env.action_space.shape) == (6, 3, (6, 2))
    loop = Episodes(env.starts, Rounded(AHEAD), Conditions.of(whole.stage("walk")), worlds=3)
    expected = {(k, r): one for k, recordings in loop for r, one in enumerate(recordings)}
    _, infos = env.reset()
    entries, tapes, compared = infos["entry"], [[pose] for pose in poses(env)], set()
    assert entries.tolist() == [0, 0, 0, 1, 1, 1]
    over = np.zeros(6, np.bool_)
    while len(compared) < 15:
        _, rewards, terminated, truncated, infos = env.step(actions_of(env))
        assert infos["waiting"].tolist() == over.tolist()
        ended = terminated | truncated
        assert not (ended & over).any() and not rewards[over].any() and infos["_waiting"].all()
        began = infos.get("_entry", np.zeros(6, np.bool_))
        for n, pose in enumerate(poses(env)):
            if not over[n] and not began[n]:
                tapes[n].append(pose)
        over |= ended
        for n in np.flatnonzero(ended):
            one, last = expected[int(entries[n]), n % 3], infos["final_info"]
            path = np.array(tapes[n], np.float64)
            assert np.array_equal(path, one.pose[: len(path)]) and len(one.pose) - len(path) == bool(began[n])
            assert (last["outcome"][n], last["time"][n], last["entry"][n]) == (one.outcome.label, one.time[-1], entries[n])
            compared.add((int(entries[n]), n % 3))
        for w in range(2):
            rows = slice(3 * w, 3 * w + 3)
            assert began[rows].tolist() == [over[rows].all()] * 3
        if began.any():
            over, entries = over & ~began, np.where(began, infos["entry"], entries)
            for n in np.flatnonzero(began):
                tapes[n] = [poses(env)[n]]
    assert len({one.outcome for one in expected.values()}) > 1


@pytest.mark.parametrize(("after", "nearest"), [("stay", 0.1 * (1.0 - 0.267)), ("remove", 1.0)])
def test_who_waits_stands_where_it_is_and_is_seen_or_is_gone(after, nearest):
    world = Named.of("worlds", "open", width=30.0, height=30.0)
    robots = Named.of("robots_modes", "circle", count=2, radius=(2.0, 2.0))
    more = {"robot": "jackal", "dynamic": 0, "timeout": 60.0, "goal_tolerance": 1.0, "after_end": after}
    env = AgoraVectorEnv(suite(world=world, robots=robots, **more), "walk", 1, observe=SEE)
    env.reset()
    actions, ended = np.array([[0.5, 0.0], [0.0, 0.0]], np.float32), False
    while not ended:
        _, _, terminated, truncated, infos = env.step(actions)
        ended = bool(terminated[0])
    assert infos["final_info"]["outcome"][0] == "reached" and not truncated.any()
    stood = []
    for _ in range(8):
        seen, rewards, terminated, truncated, infos = env.step(actions)
        stood.append(poses(env)[0])
        assert infos["waiting"].tolist() == [True, False] and rewards[0] == 0.0 and not (terminated | truncated).any()
    assert np.ptp(stood[2:], axis=0) == pytest.approx(0.0, abs=1e-6)
    assert float(seen[1, :20].min()) == pytest.approx(nearest, abs=0.02)


def test_worlds_that_are_reset_by_hand_are_reset_as_a_whole():
    env = AgoraVectorEnv(several(timeout=0.3), "walk", 2, observe=SEE, autoreset=False)
    assert env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    env.reset()
    for _ in range(3):
        *_, truncated, infos = env.step(np.zeros((6, 2), np.float32))
    assert truncated.all() and infos["outcome"].tolist() == ["timeout"] * 6
    with pytest.raises(InputError, match="the same for the 3 robots"):
        env.reset(options={"reset_mask": np.array([1, 1, 0, 0, 0, 0], np.bool_)})
    _, infos = env.reset(options={"reset_mask": np.array([0, 0, 0, 1, 1, 1], np.bool_)})
    assert infos["entry"].tolist() == [0, 0, 0, 3, 3, 3] and infos["_entry"].tolist() == [False] * 3 + [True] * 3


def test_one_robot_a_world_is_never_said_to_wait():
    env = AgoraVectorEnv(suite(timeout=0.3), "walk", 2, observe=SEE)
    env.reset()
    assert all("waiting" not in env.step(np.zeros((2, 2), np.float32))[4] for _ in range(8))


def test_robots_of_several_models_and_learners_that_know_one_robot_are_refused():
    with pytest.raises(InputError, match="small/walk: training requires all robots to be of the same model, got burger, jackal"):
        AgoraVectorEnv(several(count=2, robot=("burger", "jackal")), "walk", 1)
    with pytest.raises(InputError, match="agora/Navigation-v0: stage 'walk' must have one robot per world, got 3"):
        AgoraEnv(several(), "walk")
    with pytest.raises(InputError, match="Stable-Baselines3: stage 'walk' must have one robot per world, got 3"):
        Sb3VecEnv(AgoraVectorEnv(several(), "walk", 1))
    network = Mlp().learner(Shape(SEE, 2))
    with pytest.raises(InputError, match="lessons: stage 'walk' must have one robot"):
        Course(Lessons(teacher="go_to_goal", worlds=1), network, Notes(several(), "walk"), Shares(1), Reward(), 0.9, 1.0)


def test_a_teacher_drives_every_robot():
    env = AgoraVectorEnv(several(), "walk", 2, observe=SEE, teacher=AHEAD)
    env.reset()
    assert env.teach() == pytest.approx(actions_of(env), abs=1e-6)


def test_rewards_read_the_facts_of_every_robot():
    told: list[Any] = []

    @dataclasses.dataclass(frozen=True)
    class Everything(Reward):
        asks = frozenset({"command", "command_before", "nearest", "radius", "elder", "detour", "way", "path_distance"})

        def __call__(self, transition: Any) -> Any:
            told.append(transition)
            return super().__call__(transition)

    env = AgoraVectorEnv(several(dynamic=8), "walk", 2, observe=SEE, reward=Everything())
    alone = AgoraVectorEnv(several(count=1, dynamic=8), "walk", 2, observe=SEE, reward=Everything())
    for one in (env, alone):
        one.reset()
        one.step(np.linspace(-0.5, 0.9, one.num_envs * 2, dtype=np.float32).reshape(-1, 2))
    many, few = told
    assert {name: len(fact) for name, fact in many.facts.items()} == dict.fromkeys(Everything.asks, 6)
    assert len(set(many.facts["nearest"].tolist())) > 3 and len(set(many.clearance.tolist())) == 6
    people, robots = (env._parts[-1].batch.world.pedestrians, env._parts[-1].batch.world.robots)
    for n in range(6):
        w, r = divmod(n, 3)
        gap = np.hypot(people.x[w] - robots.x[w, r], people.y[w] - robots.y[w, r])[people.active[w]].min() - 0.267
        assert gap - 0.6 < many.clearance[n] < gap
    assert len(few.clearance) == 2


def test_steps_in_which_robots_wait_are_left_out_of_the_losses():
    torch.manual_seed(3)
    rng = np.random.default_rng(5)
    network = Mlp((6,)).learner(Shape(Observe(0), 2))
    counts = torch.from_numpy(rng.random((7, 5)) < 0.7)
    seen, actions = (torch.from_numpy(rng.normal(size=(7, 5, k)).astype(np.float32)) for k in (6, 2))
    advantages, returns = (torch.from_numpy(rng.normal(size=(7, 5)).astype(np.float32)) for _ in range(2))
    with torch.no_grad():
        logs = log_density(actions, network(seen, torch.zeros(5, 0), counts)[0], network.log_std) - 0.1
    batch = Sequences(seen, torch.zeros(7, 5, dtype=torch.bool), torch.zeros(5, 0), actions, logs, advantages, returns, counts)
    kept = [batch.apart(), batch]
    wild = batch._replace(advantages=torch.where(counts, advantages, 1e6), returns=torch.where(counts, returns, -1e6))
    for one in (*kept, wild, wild.apart()):
        with torch.no_grad():
            losses = losses_of(network, one, 0.2)
            values = network(seen, torch.zeros(5, 0), counts)[1]
        ratio = torch.full((int(counts.sum()),), 0.1).exp()
        assert float(losses.divergence) == pytest.approx(float((ratio - 1 - 0.1).mean()), abs=1e-6)
        assert float(losses.value) == pytest.approx(float((values - returns)[counts].square().mean()), abs=1e-5)
    assert batch.apart().seen.shape == (1, int(counts.sum()), 6)


def test_the_trainer_counts_the_steps_and_the_ends_of_robots_under_way_alone():
    ppo = Ppo(network=Mlp((8,)), observe=Observe(0), worlds=8, horizon=40, epochs=1, batches=2, lap=2, steps=10**6, log_std=0.5)
    whole = several(world=PLANE, distance=1.0, dynamic=0, timeout=2.0, goal_tolerance=0.6)
    worlds = _Worlds(ppo, Notes(whole, "walk"))  # type: ignore[arg-type]
    network = actor_critic(ppo.network, worlds.shape(ppo))
    worlds.begin(network, 0, 0)
    batch, results = worlds.play(network, torch.Generator().manual_seed(1), Shares(1))
    assert batch.counts.shape == (40, 24) and 0.3 < float(batch.counts.float().mean()) < 1.0
    done = [n for n in range(24) if bool(batch.begins[1:, n].any())]
    assert done and all(batch.begins[:, n].tolist() == batch.begins[:, 3 * (n // 3)].tolist() for n in done)
    assert sum(results.lengths) <= int(batch.counts.sum()) and results.ends.total() == len(results.lengths)
    assert max(results.lengths) <= 20 and results.ends["planner_failed"] == 0
    worlds.close()
    notes = trained(dataclasses.replace(ppo, steps=1000), whole, "walk")
    steps = [point for point, _ in notes.curve]
    assert all(0 < b - a <= 40 * 24 for a, b in zip([0, *steps], steps, strict=False)) and steps[0] % (40 * 24) != 0


@pytest.mark.parametrize(
    ("omega", "outcome", "progress", "reward"),
    [
        (0.3, -1, 0.08, 2.5 * 0.08),
        (-0.9, -1, -0.04, -2.5 * 0.04),
        (-1.2, -1, 0.02, 2.5 * 0.02 - 0.1 * 1.2),
        (0.0, Outcome.REACHED, 0.1, 15.0 + 2.5 * 0.1),
        (1.5, Outcome.ROBOT_COLLISION, 0.1, -15.0 + 2.5 * 0.1 - 0.1 * 1.5),
        (0.0, Outcome.TIMEOUT, 0.0, 0.0),
    ],
)
def test_rlcas_reward_is_that_of_its_code(omega, outcome, progress, reward):
    from agora.interfaces import Transition

    given = ArenaReward(
        reached=15, collision=-15, timeout=0, safe=0, approach=2.5, retreat=2.5, reverse=0, turning=-0.1, turning_rate=1.05
    )
    one = np.ones(1, np.float32)
    commands = np.array([[0.5, 0.0, omega]], np.float32)
    t = Transition(np.array([outcome], np.int32), one * np.float32(progress), one, 0.1, {"command": commands})
    assert given.asks == {"command"}
    assert float(given(t)[0]) == pytest.approx(reward, abs=1e-5)
