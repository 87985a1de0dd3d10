"""Twin delayed deep deterministic policy gradient (TD3), on many worlds at once.

S. Fujimoto, H. van Hoof, D. Meger, "Addressing function approximation error in actor-critic methods", ICML 2018: the lower of two
critics' values is used, a little noise is added to the actions of the targets, and the actor is updated less often than the
critics. N-step returns are used as in Z. Xu et al., "Benchmarking reinforcement learning techniques for autonomous navigation",
ICRA 2023, and their code (Daffan/ros_jackal).

In each round, T steps are played in each of N worlds and stored in a replay memory, followed by gradient steps on random samples
from the memory. A lap consists of several rounds. Every lap begins with new episodes in all worlds and ends with a checkpoint of
the networks, their optimisers and the memory, and every round has a separate stream of random numbers, so a resumed training run
reproduces the curve exactly.

Read `Td3.train` first. `_Worlds` plays the episodes, `returns_of` and `targets_of` contain the equations, and `Td3._learn` performs
the gradient descent.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from agora.core.state import Array, Bools, Floats, Ints
from agora.errors import DivergedError
from agora.interfaces import Encoding, Rewarding, Savable, TrainingRun
from agora.learning.rewards import Reward
from agora.learning.settings_env import check_planner, environment
from agora.learning.trainers.checkpoint import restore, state_of
from agora.learning.trainers.episodes import WITHOUT_END, Results, Tally, seed_of_round
from agora.policies.encoding import Observe
from agora.policies.learners.mlp import tower
from agora.policies.policy import Policy, TrainedRobot
from agora.ranges import Chance, Checked, Count, Number, Positive, PositiveRate, Quantity, Rate, Steps, Within
from agora.registry import Plug


@dataclass(frozen=True)
class Td3(Checked):
    """Runs the current policy with noise, and learns from a replay memory (TD3).

    Attributes:
        sizes: sizes of the hidden layers of the actor, which is an ``mlp`` network, and of both critics.
        activation: activation of the hidden layers, "relu", "tanh" or "sigmoid".
        observe: encoding of observations and actions.
        reward: reward for each control period.
        planner: planner whose settings are learned, as a string: a preset of trajectory_rollout; empty if actions are twists. With
            a planner, the encoding is ``rollout_settings``, and a step consists of ``every`` control periods
            (`agora.learning.settings_env`).
        every: number of control periods per step, with a planner.
        scale: factor by which rewards are multiplied for learning; choose it so that returns are about 1.
        steps: minimum number of environment steps.
        episodes: number of different episodes, which are played repeatedly; 0 for an unlimited number of new episodes.
        worlds: number of worlds, N.
        horizon: number of steps in each world in a round, T.
        updates: number of gradient steps after each round.
        batch: number of samples from the replay memory in a gradient step.
        memory: capacity of the replay memory in steps; the newest steps replace the oldest. A step with D observed values takes 8 D
            bytes, both in memory and in the checkpoint.
        warm_up: number of initial steps with uniformly distributed actions and without learning.
        n_step: number of rewards that are summed before the critic's value is added.
        discount: discount factor per step.
        noise: initial standard deviation of the exploration noise; an action is in [-1, 1].
        last_noise: final standard deviation of the exploration noise; the deviation changes linearly over the course of training.
        target_noise: standard deviation of the noise added to the actions of the targets.
        noise_clip: maximum noise added to the actions of the targets.
        delay: number of gradient steps of the critics per gradient step of the actor.
        mixing: weight of the trained networks in each update of the target networks.
        actor_rate: learning rate of the actor.
        critic_rate: learning rate of the critics.
        lap: number of rounds between two checkpoints.
        validate: number of laps between two validations; the first validation takes place after the first round.
        threads: number of threads for PyTorch and for the worlds.
        workers: number of processes that generate episodes in advance.
    """

    sizes: tuple[int, ...] = (256, 256)
    activation: str = "relu"
    observe: Annotated[Encoding, Plug("encodings", "observe")] = field(default_factory=lambda: Observe(90, scan_range=5.0))
    reward: Annotated[Rewarding, Plug("rewards", "weighted")] = field(default_factory=lambda: Reward(1.0, 20.0, -1.0, 0.0))
    planner: str = ""
    every: Count = 20
    scale: Positive = 0.05
    steps: Annotated[int, Within(1, 10**12)] = 500_000
    episodes: Steps = 0
    worlds: Count = 64
    horizon: Count = 16
    updates: Number = 256
    batch: Count = 128
    memory: Quantity = 200_000
    warm_up: Steps = 10_000
    n_step: Count = 4
    discount: Chance = 0.99
    noise: Rate = 0.1
    last_noise: Rate = 0.1
    target_noise: Rate = 0.2
    noise_clip: Rate = 0.5
    delay: Count = 2
    mixing: Chance = 0.005
    actor_rate: PositiveRate = 3e-4
    critic_rate: PositiveRate = 3e-4
    lap: Count = 25
    validate: Count = 2
    threads: Count = 1
    workers: Number = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_planner(self.observe, self.planner)

    def train(self, run: TrainingRun) -> Iterator[Savable]:
        """Train until all steps have been played."""
        torch.set_num_threads(self.threads)
        torch.manual_seed(run.seed)
        worlds = _Worlds(self, run)
        learner = Learner(self, worlds.actions)
        memory = _Memory(self.memory, self.observe.length, worlds.actions)
        steps, laps = 0, 0
        if run.resumed:
            numbers, arrays = run.resumed
            steps, laps, learner.descents = (int(numbers[name]) for name in ("steps", "laps", "descents"))
            learner.restore(arrays)
            memory.restore(arrays)
        while steps < self.steps:
            worlds.begin(steps)
            for number in range(self.lap):
                chance = torch.Generator().manual_seed(seed_of_round(run.seed, steps))
                share = min(1.0, steps / self.steps)
                noise = math.inf if steps < self.warm_up else self.noise + (self.last_noise - self.noise) * share
                played, results = worlds.play(learner.actor, noise, chance)
                memory.add(played)
                steps += self.worlds * self.horizon
                losses = self._learn(learner, memory, steps, chance) if steps >= self.warm_up else {}
                run.log(steps, min(1.0, steps / self.steps), **results.shares, **losses)
                policy = Policy.of_torch(self.observe, [learner.actor], run.about(steps), worlds.body, worlds.period)
                yield policy
                if laps == number == 0:
                    run.validate(policy, steps, min(1.0, steps / self.steps))
                if steps >= self.steps:
                    break
            laps += 1
            if laps % self.validate == 0 or steps >= self.steps:
                run.validate(policy, steps, min(1.0, steps / self.steps))
            run.save(steps, {"laps": laps, "descents": learner.descents}, learner.arrays | memory.arrays)
        worlds.close()

    def _learn(self, learner: Learner, memory: _Memory, steps: int, chance: torch.Generator) -> dict[str, float]:
        """Perform the gradient steps of a round; return the mean losses.

        Raises:
            DivergedError: a loss is non-finite.
        """
        critic: list[Tensor] = []
        actor: list[Tensor] = []
        chosen = torch.randint(memory.filled, (self.updates, self.batch), generator=chance)
        for rows in chosen:
            losses = learner.descend(memory.of(rows), chance)
            critic.append(losses.critic)
            actor += [] if losses.actor is None else [losses.actor]
        means = {f"{name}_loss": float(torch.stack(of).mean()) for name, of in (("critic", critic), ("actor", actor)) if of}
        if not all(map(math.isfinite, means.values())):
            raise DivergedError(f"step {steps}: the losses are {means}; the last good checkpoint is kept")
        return means


class Played(NamedTuple):
    """M steps, one per row, with their n-step returns.

    Attributes:
        seen: (M, D) encoded observations.
        actions: (M, A) actions in [-1, 1].
        returns: (M,) discounted sums of the rewards of n steps, or of fewer steps if the episode or the round ended earlier.
        after: (M, D) observations after the last of these steps.
        weights: (M,) discount factors for the values of ``after``; 0 if the episode ended for a reason other than a time-out.
    """

    seen: Tensor
    actions: Tensor
    returns: Tensor
    after: Tensor
    weights: Tensor


def returns_of(rewards: Floats, ends: Bools, late: Bools, n: int, discount: float) -> tuple[Floats, Floats, Ints]:
    """Return the discounted sum of the rewards of n steps, the discount factor for the value after these steps, and the index of
    the last step, each (T, N).

    The sum stops at the end of the episode, or at the last of the T steps. The value after a time-out, or after the last step, is
    used; if the episode ends in any other way, the discount factor of the value is 0.

    Args:
        rewards: (T, N) rewards.
        ends: (T, N) whether an episode ended with the step.
        late: (T, N) whether the episode ended with a time-out.
        n: number of steps whose rewards are summed.
        discount: discount factor per step.
    """
    steps = len(rewards)
    returns: Floats = np.zeros(rewards.shape, np.float32)
    weights: Floats = np.ones(rewards.shape, np.float32)
    last: Ints = np.zeros(rewards.shape, np.int32)
    under_way = np.ones(rewards.shape, np.bool_)
    for k in range(min(n, steps)):
        here = under_way[: steps - k]
        returns[: steps - k] += np.where(here, weights[: steps - k] * rewards[k:], np.float32(0.0))
        weights[: steps - k] *= np.where(here, np.float32(discount), np.float32(1.0))
        last[: steps - k] = np.where(here, np.arange(k, steps, dtype=np.int32)[:, None], last[: steps - k])
        under_way[: steps - k] &= ~ends[k:]
    ended = np.take_along_axis(ends & ~late, last, 0)
    return returns, np.where(ended, np.float32(0.0), weights), last


class Td3Losses(NamedTuple):
    """The losses of one gradient step; all are scalars.

    Attributes:
        critic: sum of the critics' mean squared errors.
        actor: negative mean value of the actor's actions; None if the actor was not updated.
    """

    critic: Tensor
    actor: Tensor | None


class _Twins(nn.Module):
    """Two independent critics.

    Args:
        sizes: sizes of the layers; the first layer's input consists of observation and action.
        activation: activation of the hidden layers.
    """

    def __init__(self, sizes: tuple[int, ...], activation: str) -> None:
        super().__init__()
        self.one, self.other = (tower((*sizes, 1), (*[activation] * (len(sizes) - 1), "none"), gain=1.0) for _ in range(2))

    def forward(self, seen: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Return both critics' values (M,) of actions (M, A) for observations (M, D)."""
        both = torch.cat([seen, actions], 1)
        return self.one(both)[:, 0], self.other(both)[:, 0]

    def first(self, seen: Tensor, actions: Tensor) -> Tensor:
        """Return the values (M,) of the first critic alone."""
        values: Tensor = self.one(torch.cat([seen, actions], 1))[:, 0]
        return values


class Learner:
    """The networks and their target networks, with the methods that update them.

    Args:
        td3: the trainer.
        actions: number of values of an action, A.

    Attributes:
        actor: layers that map observations (M, D) to actions (M, A).
        critics: the two critics.
        descents: number of gradient steps so far.
    """

    def __init__(self, td3: Td3, actions: int) -> None:
        self._td3 = td3
        length = td3.observe.length
        hidden = [td3.activation] * len(td3.sizes)
        self.actor = tower((length, *td3.sizes, actions), (*hidden, "tanh"), gain=0.01)
        self.critics = _Twins((length + actions, *td3.sizes), td3.activation)
        self.older_actor, self.older_critics = (copy.deepcopy(one).requires_grad_(False) for one in (self.actor, self.critics))
        self._actor_descent = torch.optim.Adam(self.actor.parameters(), lr=td3.actor_rate, fused=True)
        self._critic_descent = torch.optim.Adam(self.critics.parameters(), lr=td3.critic_rate, fused=True)
        self.descents = 0

    def descend(self, batch: Played, chance: torch.Generator) -> Td3Losses:
        """Update the critics on a batch; every ``delay`` steps, also update the actor and the target networks."""
        td3 = self._td3
        noise = torch.randn(batch.actions.shape, generator=chance) * td3.target_noise
        targets = targets_of(self.older_actor, self.older_critics, batch, noise.clamp(-td3.noise_clip, td3.noise_clip))
        one, other = self.critics(batch.seen, batch.actions)
        critic = nn.functional.mse_loss(one, targets) + nn.functional.mse_loss(other, targets)
        self._critic_descent.zero_grad()
        critic.backward()
        self._critic_descent.step()
        self.descents += 1
        if self.descents % td3.delay:
            return Td3Losses(critic.detach(), None)
        actor = -self.critics.first(batch.seen, self.actor(batch.seen)).mean()
        self._actor_descent.zero_grad()
        actor.backward(inputs=list(self.actor.parameters()))
        self._actor_descent.step()
        for network, older in ((self.actor, self.older_actor), (self.critics, self.older_critics)):
            torch._foreach_lerp_(list(older.parameters()), [p.detach() for p in network.parameters()], td3.mixing)
        return Td3Losses(critic.detach(), actor.detach())

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays for a checkpoint."""
        return {f"{half}.{name}": array for half, pair, descent in self._halves for name, array in state_of(pair, descent).items()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Restore the networks and their optimisers from a checkpoint."""
        for half, pair, descent in self._halves:
            restore({n.removeprefix(f"{half}."): array for n, array in arrays.items() if n.startswith(f"{half}.")}, pair, descent)

    @property
    def _halves(self) -> tuple[tuple[str, nn.Module, torch.optim.Optimizer], ...]:
        """Return the actor and the critics by name, each with its target network and its optimiser."""
        actor, critics = nn.ModuleList([self.actor, self.older_actor]), nn.ModuleList([self.critics, self.older_critics])
        return ("actor", actor, self._actor_descent), ("critics", critics, self._critic_descent)


@torch.no_grad()
def targets_of(actor: nn.Module, critics: nn.Module, batch: Played, noise: Tensor) -> Tensor:
    """Return the critics' targets (M,): the returns plus the discounted value of the observations after the steps, for which the
    lower of both critics' values is used.

    Args:
        actor: target network of the actor.
        critics: target network of the critics.
        batch: the steps.
        noise: (M, A) noise added to the actions that follow the steps.
    """
    actions = (actor(batch.after) + noise).clamp(-1.0, 1.0)
    return batch.returns + batch.weights * torch.minimum(*critics(batch.after, actions))


class _Memory:
    """A replay memory of steps; the newest steps replace the oldest.

    Args:
        size: capacity in steps.
        length: number of values of an observation, D.
        actions: number of values of an action, A.

    Attributes:
        filled: number of stored steps.
    """

    def __init__(self, size: int, length: int, actions: int) -> None:
        self._parts = Played(*(torch.zeros(size, *more) for more in ((length,), (actions,), (), (length,), ())))
        self.filled = self._next = 0

    def add(self, played: Played) -> None:
        """Store steps in order."""
        size = len(self._parts.seen)
        places = (self._next + torch.arange(len(played.seen))) % size
        for part, new in zip(self._parts, played, strict=True):
            part[places[-size:]] = new[-size:]
        self._next = (self._next + len(places)) % size
        self.filled = min(self.filled + len(places), size)

    def of(self, rows: Tensor) -> Played:
        """Return the steps with the given indices."""
        return Played(*(part[rows] for part in self._parts))

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays for a checkpoint."""
        kept = {f"memory.{name}": part[: self.filled].numpy() for name, part in self._parts._asdict().items()}
        return kept | {"memory.next": np.array([self._next])}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Restore the memory from a checkpoint."""
        for name, part in self._parts._asdict().items():
            kept = arrays[f"memory.{name}"]
            self.filled = len(kept)
            part[: self.filled] = torch.from_numpy(kept)
        self._next = int(arrays["memory.next"][0])


class _Worlds:
    """The worlds of a training run, and their current state.

    Args:
        td3: the trainer.
        run: the training run.

    Attributes:
        actions: number of values of an action, A.
        body: the robot.
        period: control period, s.
    """

    def __init__(self, td3: Td3, run: TrainingRun) -> None:
        self._td3 = td3
        chosen: dict[str, Any] = {"reward": td3.reward, "threads": td3.threads, "workers": td3.workers, "seed": run.seed}
        chosen |= {"episodes": td3.episodes or WITHOUT_END}
        chosen |= {"observe": td3.observe, "planner": td3.planner, "every": td3.every}
        self._env = environment(run.suite, run.stage, td3.worlds, **chosen)
        self._env.refuse_several("td3")
        self.actions = self._env.actions
        self.body, self.period = TrainedRobot.of(self._env.robot), self._env.period
        self._seen: Floats = np.zeros(0, np.float32)
        self._tally = Tally(0)

    def close(self) -> None:
        """Stop threads and workers."""
        self._env.close()

    def begin(self, steps: int) -> None:
        """Begin new episodes in all worlds; the episodes depend only on the number of previous steps."""
        self._seen, _ = self._env.reset(options={"entry": steps})
        self._tally = Tally(self._td3.worlds)

    @torch.no_grad()
    def play(self, actor: nn.Module, noise: float, chance: torch.Generator) -> tuple[Played, Results]:
        """Play a round; if ``noise`` is infinite, actions are uniformly distributed."""
        td3 = self._td3
        shape, length = (td3.horizon, td3.worlds), td3.observe.length
        seen, after = (np.empty((*shape, length), np.float32) for _ in range(2))
        rewards, (ends, late) = np.empty(shape, np.float32), np.empty((2, *shape), np.bool_)
        even = math.isinf(noise)
        drawn = torch.rand(*shape, self.actions, generator=chance) if even else torch.randn(*shape, self.actions, generator=chance)
        actions = 2.0 * drawn - 1.0 if even else noise * drawn
        results = Results(Counter(), [], [])
        for t in range(td3.horizon):
            seen[t] = self._seen
            if not even:
                actions[t] = (actions[t] + actor(torch.from_numpy(self._seen))).clamp(-1.0, 1.0)
            self._seen, rewards[t], terminated, late[t], infos = self._env.step(actions[t].numpy())
            ends[t], after[t] = terminated | late[t], self._seen
            for w in np.flatnonzero(ends[t]).tolist():
                after[t, w] = infos["final_obs"][w]
            self._tally.count(rewards[t], ends[t], infos, results)
        returns, weights, last = returns_of(rewards * np.float32(td3.scale), ends, late, td3.n_step, td3.discount)
        after = after[last, np.arange(td3.worlds)]
        parts = (torch.from_numpy(array) for array in (seen, returns, after, weights))
        looked, gained, followed, weighed = (part.flatten(0, 1) for part in parts)
        return Played(looked, actions.flatten(0, 1), gained, followed, weighed), results
