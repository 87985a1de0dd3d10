"""Deep V-learning: the training of CADRL, LSTM-RL, SA-CADRL and SARL.

Y. F. Chen et al., ICRA 2017, algorithm 2; C. Chen et al., ICRA 2019, algorithm 1, and its code (crowd_nav/train.py). First, the
network imitates a teacher: it learns the discounted return of every state in the teacher's episodes. Then the network explores: it
takes the velocity with the highest expected return, or occasionally a random velocity, and learns from the reward and from the
value that an older copy of the network assigns to the next state. As in the authors' code, only episodes that end at the goal or in
a collision are used.

One policy drives all robots in a world, and each robot sees the others as people. Each robot contributes a separate episode,
without the steps in which it waits for other robots. If a world has several robots, episodes that run out of time are used as well,
because robots can give way to each other forever.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import torch
from torch import nn

from agora.config import parse_component
from agora.core.state import Array, Floats
from agora.errors import DivergedError, InputError
from agora.interfaces import Limits, Network, Savable, Shape, TrainingRun, Transition
from agora.learning.env import AgoraVectorEnv
from agora.learning.players import EnvironmentFacts
from agora.learning.rewards import Reward
from agora.learning.settings_env import SettingsEnv
from agora.learning.stages import StagesVectorEnv, worlds_of
from agora.learning.trainers.checkpoint import restore, state_of
from agora.learning.trainers.episodes import WITHOUT_END
from agora.policies.encoding import FromLimitToLimit, to_actions
from agora.policies.joint_state import SPEED, JointState
from agora.policies.learners.values import ValueLearner
from agora.policies.look_ahead import LookAhead, norm_rewards, pairs_of
from agora.policies.networks.sarl import SarlNetwork
from agora.policies.networks.value import ValueNetwork, to_robot_frame
from agora.policies.policy import Policy
from agora.ranges import Chance, Checked, Count, Quantity, Rate
from agora.registry import Named, Plug, name_of

_IMITATION, _EXPLORATION, _SAMPLES = range(3)  # purpose numbers in the seeds of random streams
_TOLD = 10  # number of points on the curve during imitation
_ENDS = {"reached", "pedestrian_collision", "wall_collision", "robot_collision"}  # outcomes of episodes used for learning


@dataclass(frozen=True)
class ValueLearning(Checked):
    """Imitation of a teacher, then exploration.

    Attributes:
        network: network to train: any registered network that evaluates states; its ``ahead`` defines the candidate velocities and
            the reward.
        observe: encoding of the joint states.
        teacher: planner to imitate.
        demonstrations: number of the teacher's episodes in each stage; in a world with several robots, each robot contributes a
            separate episode.
        epochs: number of passes over the demonstrations.
        imitation_rate: learning rate during imitation.
        more_stages: additional stages of the suite to train on.
        episodes: minimum number of exploration episodes in each stage.
        rate: learning rate during exploration.
        momentum: momentum of the gradient descent.
        round: number of exploration episodes between two updates of the target network.
        updates: number of batches after each round.
        batch: number of states in a batch.
        memory: capacity of the memory, in states.
        epsilon: initial and final probability of taking a random velocity.
        decay: number of exploration episodes over which ``epsilon`` falls linearly.
        worlds: total number of worlds, across all stages.
        threads: number of PyTorch threads.
        validate: number of rounds between two validations; the first validation takes place during imitation.
    """

    network: Annotated[Network, Plug("networks", "sarl")] = field(default_factory=SarlNetwork)
    observe: JointState = field(default_factory=JointState)
    teacher: str = "orca:padding=0.16,follow_path=false,wall_horizon=0,preferred_speed=1"
    demonstrations: Quantity = 3000
    epochs: Count = 50
    imitation_rate: Rate = 0.01
    more_stages: tuple[str, ...] = ()
    episodes: Quantity = 10_000
    rate: Rate = 0.01
    momentum: Chance = 0.9
    round: Count = 200
    updates: Quantity = 2000
    batch: Count = 500
    memory: Quantity = 100_000
    epsilon: tuple[float, float] = (0.5, 0.1)
    decay: Count = 4000
    worlds: Count = 100
    threads: Count = 1
    validate: Count = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.network, ValueNetwork):
            raise InputError(
                f"network {name_of('networks', self.network)!r} does not output state values, so value_learning cannot train it"
            )

    @property
    def ahead(self) -> LookAhead:
        """The look-ahead of the network: candidate velocities and reward."""
        assert isinstance(self.network, ValueNetwork)
        return self.network.ahead

    def named_parts(self) -> list[Named]:
        """Return the teacher."""
        return [parse_component("planners", self.teacher, "teacher")]

    def train(self, run: TrainingRun) -> Iterator[Savable | None]:
        """Train until all episodes have been played.

        Raises:
            DivergedError: the loss is non-finite, or no episode ended in a way that can be used for learning.
        """
        torch.set_num_threads(self.threads)
        seed, of = run.seed, self.demonstrations + self.episodes
        torch.manual_seed(seed)
        network: ValueLearner = self.network.learner(Shape(self.observe, 2))
        descent = torch.optim.SGD(network.parameters(), lr=self.rate, momentum=self.momentum)
        memory, episode, rounds, steps = _Memory(self.memory, self.observe.length), 0, 0, 0
        if run.resumed:
            numbers, arrays = run.resumed
            episode, rounds, steps = (int(numbers[name]) for name in ("episode", "rounds", "steps"))
            restore(arrays, network, descent)
            memory.restore(arrays)
        worlds = self._worlds(run)
        robots = sum(part.robots for part in _parts(worlds))
        learned = _ENDS | {"timeout"} if worlds.num_envs > self.worlds else _ENDS
        while episode < of:
            learns = rounds > 0  # the first round imitates
            count = self.round if learns else self.demonstrations
            older = self._policy(network, run, steps, episode)
            ends: list[str] = []
            for states, rewards, outcome in self._episodes(run, worlds, older if learns else None, episode, count):
                yield None
                ends.append(outcome)
                steps += len(states)
                if not learns and len(ends) % self.round == 0:
                    run.log(steps, len(ends) / robots / of, episode=len(ends) // robots, **_shares(ends))
                if outcome in learned:
                    memory.add(states, self._targets(states, rewards, older) if learns else self._returns(states, rewards))
            rng = np.random.default_rng((seed, _SAMPLES, rounds))
            if not memory.filled:
                raise DivergedError(
                    f"step {steps}: none of {len(ends)} episodes ended at the goal or in a collision: {Counter(ends)}"
                )
            episode, rounds = episode + count, rounds + 1
            batches = self.updates if learns else self.epochs * (memory.filled // self.batch)
            last = 1 if learns else min(_TOLD, batches) or 1
            for told in range(1, last + 1):
                some = batches * told // last - batches * (told - 1) // last
                loss = self._learn(network, descent, memory, some, self.rate if learns else self.imitation_rate, rng)
                if not math.isfinite(loss):
                    raise DivergedError(f"step {steps}: the loss is {loss}; the last good checkpoint is kept")
                if told < last:
                    run.log(steps, episode / of, loss=loss, episode=episode)
                    yield None
                if told == 1 < last:
                    run.validate(self._policy(network, run, steps, episode), steps, episode / of)
            epsilon = self._epsilon(episode) if learns else 0.0
            run.log(steps, episode / of, loss=loss, epsilon=epsilon, episode=episode, **_shares(ends))
            yield self._policy(network, run, steps, episode)
            if rounds == 1 or rounds % self.validate == 0 or episode >= of:
                run.validate(self._policy(network, run, steps, episode), steps, episode / of)
            state = state_of(network, descent) | memory.arrays
            run.save(steps, {"episode": episode, "rounds": rounds, "steps": steps}, state)
        worlds.close()

    def _worlds(self, run: TrainingRun) -> AgoraVectorEnv | StagesVectorEnv:
        ahead = self.ahead
        reward = _Comfort(0.0, ahead.reached, ahead.collision, ahead.discomfort, ahead.discomfort_distance)
        [teacher] = self.named_parts()
        observe = _Driven(**vars(self.observe))
        chosen: dict[str, Any] = {"observe": observe, "reward": reward, "teacher": teacher.part, "episodes": WITHOUT_END}
        worlds = worlds_of(run.suite, (run.stage, *self.more_stages), self.worlds, seed=run.seed, **chosen)
        assert not isinstance(worlds, SettingsEnv)  # actions are twists
        return worlds

    def _episodes(
        self, run: TrainingRun, worlds: AgoraVectorEnv | StagesVectorEnv, policy: Policy | None, first: int, count: int
    ) -> Iterator[tuple[Floats, Floats, str]]:
        """Play the episodes ``first`` to ``first + count - 1`` of each stage with a policy, or with the teacher.

        Every episode is played to its end, so that long episodes are not under-represented. Other episodes that worlds play in the
        meantime are discarded.

        Yields:
            States (T, D), rewards (T,) and outcome of each robot's episode, in the order in which the episodes end.
        """
        rng = np.random.default_rng((run.seed, _EXPLORATION, first))
        kept: list[list[tuple[Floats, np.float32]]] = [[] for _ in range(worlds.num_envs)]
        nobody = np.zeros(worlds.num_envs, np.bool_)
        seen, _ = worlds.reset(options={"entry": first})
        parts = _parts(worlds)
        limits = Limits(
            *map(np.concatenate, zip(*(vars(part.robot.limits(part.num_envs)).values() for part in parts), strict=True))
        )
        scale, robots = self.observe.scale(limits), sum(part.robots for part in parts)
        done = 0
        while done < count * robots:
            if policy:
                velocities = self._explore(policy, seen, self._epsilon(first + done // robots), rng)
                twists = np.column_stack([to_robot_frame(velocities, seen) * scale[:, None], np.zeros(len(seen), np.float32)])
                actions = to_actions(twists, limits)
            else:
                actions = worlds.teach()
            after, rewards, terminated, truncated, infos = worlds.step(actions)
            for n in np.flatnonzero(~infos.get("waiting", nobody)).tolist():
                kept[n].append((seen[n], rewards[n]))
            for n in np.flatnonzero(terminated | truncated).tolist():
                if infos["final_info"]["entry"][n] < first + count:
                    done += 1
                    states, gains = zip(*kept[n], strict=True)
                    seen_by = np.stack(states)
                    rewards_of = self._with_norm(seen_by, np.array(gains, np.float32))
                    yield seen_by, rewards_of, infos["final_info"]["outcome"][n]
                kept[n] = []
            seen = after

    def _with_norm(self, states: Floats, rewards: Floats) -> Floats:
        """Return the rewards (T,) of an episode, with the norm's rewards added in all steps except the last, whose next state is
        unknown.
        """
        if self.ahead.norm:
            rewards[:-1] += norm_rewards(states[:-1], states[1:], self.ahead)
        return rewards

    def _explore(self, policy: Policy, seen: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
        """Return velocities (W, 2) in the goal frame, m/s: the policy's best velocity, or a random candidate."""
        ahead = self.ahead
        random, chosen = rng.random(len(seen)) < epsilon, rng.integers(0, len(ahead.velocities), len(seen))
        chosen[~random] = np.argmax(_network_of(policy).returns(policy.arrays, seen[~random]), 1)
        velocities: Floats = ahead.velocities[chosen] * seen[:, SPEED, None]
        return velocities

    def _epsilon(self, episode: int) -> float:
        share = min(1.0, max(0.0, (episode - self.demonstrations) / max(self.decay, 1)))
        return self.epsilon[0] + (self.epsilon[1] - self.epsilon[0]) * share

    def _discount(self, states: Floats) -> Floats:
        return np.asarray(self.ahead.discount ** (self.ahead.step * states[:, 1]), np.float32)

    def _returns(self, states: Floats, rewards: Floats) -> Floats:
        """Return the discounted return of every state in an episode (T,)."""
        returns, discount = np.zeros_like(rewards), self._discount(states)
        follows = np.float32(0.0)
        for t in range(len(rewards) - 1, -1, -1):
            follows = returns[t] = rewards[t] + discount[t] * follows
        return returns

    def _targets(self, states: Floats, rewards: Floats, older: Policy) -> Floats:
        """Return, for every state (T,) of an episode, the reward plus the discounted value of the next state; the last state has no
        next state.
        """
        follows = np.zeros_like(rewards)
        if len(states) > 1:
            follows[:-1] = _network_of(older).values(older.arrays, *pairs_of(states[1:]))
        return rewards + self._discount(states) * follows

    def _learn(
        self, network: nn.Module, descent: torch.optim.SGD, memory: _Memory, batches: int, rate: float, rng: np.random.Generator
    ) -> float:
        """Perform gradient steps on random states from the memory; return the mean loss."""
        for group in descent.param_groups:
            group["lr"] = rate
        pairs, present = (torch.from_numpy(array) for array in pairs_of(memory.states[: memory.filled]))
        targets = torch.from_numpy(memory.values[: memory.filled])
        total = 0.0
        for _ in range(batches):
            chosen = torch.from_numpy(rng.integers(0, memory.filled, self.batch))
            loss = nn.functional.mse_loss(network(pairs[chosen], present[chosen]), targets[chosen])
            descent.zero_grad()
            loss.backward()
            descent.step()
            total += float(loss.detach())
        return total / max(batches, 1)

    def _policy(self, network: ValueLearner, run: TrainingRun, steps: int, episodes: int) -> Policy:
        return network.policy(run.about(steps) | {"episodes": str(episodes)})


def _parts(worlds: AgoraVectorEnv | StagesVectorEnv) -> Sequence[AgoraVectorEnv | EnvironmentFacts]:
    """Return each stage's worlds, or facts about the worlds."""
    return worlds.parts if isinstance(worlds, StagesVectorEnv) else [worlds]


def _shares(ends: Sequence[str]) -> dict[str, float]:
    """Return the fraction of episodes with each outcome."""
    return {name: ends.count(name) / len(ends) for name in ("reached", "pedestrian_collision", "robot_collision", "timeout")}


class _Driven(FromLimitToLimit, JointState):
    """Encodes joint states; actions span the robot's limits, so that the teacher and the exploring policy can drive any robot."""


class _Comfort(Reward):
    """The reward of the look-ahead; other robots count as people, with their distance measured at the end of the control period."""

    @property
    def asks(self) -> frozenset[str]:
        """Names of the required facts, including the clearance to other robots."""
        return super().asks | {"robots"}

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the weighted terms (N,) by name."""
        clearance = np.minimum(transition.clearance, transition.facts["robots"])
        return super().terms(replace(transition, clearance=clearance))


def _network_of(policy: Policy) -> ValueNetwork:
    """Return the network of a policy that evaluates states."""
    assert isinstance(policy.network, ValueNetwork)
    return policy.network


class _Memory:
    """A memory of states and their values; the newest states replace the oldest.

    Args:
        size: capacity in states.
        length: length of a state.
    """

    def __init__(self, size: int, length: int) -> None:
        self.states, self.values = np.zeros((size, length), np.float32), np.zeros(size, np.float32)
        self.filled = self._next = 0

    def add(self, states: Floats, values: Floats) -> None:
        """Store states (T, D) with their values (T,)."""
        places = (self._next + np.arange(len(states))) % len(self.states)
        self.states[places], self.values[places] = states, values
        self._next = int((self._next + len(states)) % len(self.states))
        self.filled = min(self.filled + len(states), len(self.states))

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays for a checkpoint."""
        kept = {"memory.states": self.states[: self.filled], "memory.values": self.values[: self.filled]}
        return kept | {"memory.next": np.array([self._next])}

    def restore(self, arrays: Any) -> None:
        """Restore the memory from a checkpoint."""
        self.filled = len(arrays["memory.values"])
        self.states[: self.filled], self.values[: self.filled] = arrays["memory.states"], arrays["memory.values"]
        self._next = int(arrays["memory.next"][0])
