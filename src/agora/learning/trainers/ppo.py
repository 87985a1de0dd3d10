"""Proximal policy optimisation (J. Schulman et al., arXiv 1707.06347), on thousands of worlds at once.

In each round, T steps are played in each of W worlds, the advantage of every action is estimated (J. Schulman et al., arXiv
1506.02438), and the network is improved on mini-batches of these steps. A lap consists of several rounds. Every lap begins with new
episodes in all worlds and ends with a checkpoint, and every round has a separate stream of random numbers, so a resumed training
run reproduces the curve exactly.

One policy drives all robots in a world, and each robot contributes a separate sequence. Steps in which a robot waits for other
robots are ignored.

Read `Ppo.train` first. `_Worlds` plays the episodes, `losses_of` and `agora.learning.trainers.episodes.advantages_of` contain the
equations, and `Ppo._learn` performs the gradient descent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from agora.core.state import Bools, Floats
from agora.errors import DivergedError, InputError
from agora.interfaces import Encoding, Network, Rewarding, Savable, Shape, TrainingRun
from agora.learning.env import AgoraVectorEnv
from agora.learning.rewards import Reward
from agora.learning.settings_env import check_planner
from agora.learning.stages import StagesVectorEnv, worlds_of
from agora.learning.trainers.checkpoint import restore, state_of
from agora.learning.trainers.episodes import WITHOUT_END, Results, Tally, advantages_of, is_early, seed_of_round
from agora.learning.trainers.imitation import Course, Lessons
from agora.learning.trainers.shares import Shares, ranges, ranges_of_sequences
from agora.policies.encoding import Observe
from agora.policies.learners.actor_critic import ActorCritic, actor_critic, look
from agora.policies.networks.mlp import Mlp
from agora.policies.planner_settings import PlannerSettings
from agora.policies.policy import TrainedRobot
from agora.ranges import Chance, Checked, Count, Number, Positive, PositiveRate, Rate, Steps, Weight, Within
from agora.registry import Plug

_ROWS = 256  # minimum number of rows that a thread evaluates together in a step


@dataclass(frozen=True)
class Ppo(Checked):
    """Runs the current policy, and improves it with a clipped objective (PPO).

    Attributes:
        network: network to train: any registered network with an actor and a critic.
        log_std: initial logarithm of the standard deviation of the actions; an action is in [-1, 1].
        observe: encoding of observations and actions.
        planner: planner whose settings are learned, as a string, if the encoding is ``rollout_settings``.
        every: number of control periods per step, if actions are settings of a planner (`agora.learning.settings_env`).
        reward: reward for each control period.
        lessons: imitation of a planner before the first round; null for no imitation.
        scale: factor by which rewards are multiplied for learning; choose it so that returns are about 1.
        steps: minimum number of environment steps, counted over all robots.
        more_stages: additional stages of the suite to train on. If their robots differ, actions span each robot's limits, and the
            encoding must describe the robot.
        episodes: number of different episodes per stage, which are played repeatedly; 0 for an unlimited number of new episodes.
        worlds: total number of worlds across all stages, W.
        horizon: number of steps in each world in a round, T.
        epochs: number of passes over the steps of a round.
        batches: number of mini-batches in a pass.
        rate: initial learning rate.
        last_rate: final learning rate; the rate changes linearly over the course of training.
        discount: discount factor per step.
        trace: lambda of the generalised advantages.
        clip: maximum relative change in an action's probability that is rewarded.
        entropy: weight of the entropy of the actions.
        value_weight: weight of the squared error of the value.
        gradient: maximum norm of a gradient; larger gradients are scaled down.
        divergence: approximate Kullback-Leibler divergence from the policy that played the round; once it is reached, the round's
            updates end. 0 for no limit.
        lap: number of rounds between two checkpoints.
        validate: number of laps between two validations; additional validations take place after the first round, and after lessons
            1, 2, 4, 8 and so on.
        stop_at: success rate in a validation at which the training ends early; 0 for never.
        up_at: success rate in a lap at or above which the curriculum advances by one stage; 0 for never.
        down_at: success rate in a lap at or below which the curriculum goes back by one stage; 0 for never.
        threads: number of threads for the worlds and for the network; results do not depend on the number of threads.
        workers: number of processes that generate episodes in advance.
        processes: number of processes that run the worlds if there are ``more_stages``; 0 uses the current process.
    """

    network: Annotated[Network, Plug("networks", "mlp")] = field(default_factory=Mlp)
    log_std: float = -0.5
    observe: Annotated[Encoding, Plug("encodings", "observe")] = field(default_factory=lambda: Observe(36, pedestrians=6))
    planner: str = ""
    every: Count = 1
    reward: Annotated[Rewarding, Plug("rewards", "weighted")] = field(default_factory=Reward)
    lessons: Lessons | None = None
    scale: Positive = 1.0
    steps: Annotated[int, Within(1, 10**12)] = 2_000_000
    more_stages: tuple[str, ...] = ()
    episodes: Steps = 0
    worlds: Count = 256
    horizon: Count = 64
    epochs: Count = 4
    batches: Count = 4
    rate: PositiveRate = 3e-4
    last_rate: Rate = 0.0
    discount: Chance = 0.99
    trace: Chance = 0.95
    clip: Chance = 0.2
    entropy: Weight = 0.0
    value_weight: Weight = 0.5
    gradient: Positive = 0.5
    divergence: Rate = 0.03
    lap: Count = 20
    validate: Count = 2
    stop_at: Chance = 0.0
    up_at: Chance = 0.0
    down_at: Chance = 0.0
    threads: Count = 1
    workers: Number = 0
    processes: Number = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.up_at and self.down_at >= self.up_at:
            raise InputError(f"ppo: down_at must be below up_at = {self.up_at:g}, got {self.down_at:g}")
        if self.more_stages and self.up_at:
            raise InputError("ppo: up_at must be 0 with more_stages: a curriculum uses one stage")
        check_planner(self.observe, self.planner, self.every)
        if self.lessons and isinstance(self.observe, PlannerSettings):
            raise InputError("ppo: lessons must be null if actions are settings of a planner: no teacher provides such actions")
        if self.batches > self.worlds:
            raise InputError(f"ppo: batches must be at most worlds = {self.worlds}, got {self.batches}")

    def train(self, run: TrainingRun) -> Iterator[Savable]:
        """Train until all steps have been played, or a validation reaches ``stop_at``."""
        shares = Shares(self.threads)
        torch.manual_seed(run.seed)
        worlds = _Worlds(self, run)
        network = actor_critic(self.network, worlds.shape(self))
        descent = torch.optim.Adam(network.parameters(), lr=self.rate, eps=1e-5)
        steps, laps, stage, ended = 0, 0, worlds.stage, False
        if run.resumed:
            numbers, arrays = run.resumed
            steps, laps, stage = (int(numbers[name]) for name in ("steps", "laps", "stage"))
            ended = bool(numbers["ended"])
            restore(arrays, network, descent)
        elif self.lessons:
            given = (self.reward, self.discount, self.scale, self.more_stages, self.processes)
            for number, lesson in enumerate(Course(self.lessons, network, run, shares, *given).whole(), 1):
                steps = lesson.steps
                run.log(steps, min(1.0, steps / self.steps), **lesson.values)
                yield network.policy(run.about(steps))
                if is_early(number):
                    run.validate(network.policy(run.about(steps)), steps, min(1.0, steps / self.steps))
        while not ended:
            worlds.begin(network, steps, stage)
            ends: Counter[str] = Counter()
            for number in range(self.lap):
                chance = torch.Generator().manual_seed(seed_of_round(run.seed, steps))
                played, results = worlds.play(network, chance, shares)
                losses = self._learn(network, descent, played, steps, chance, shares)
                steps += int(played.counts.sum())
                ends += results.ends
                reached = {"stage": stage} if self.up_at else {}
                run.log(steps, min(1.0, steps / self.steps), **results.shares, **losses, **reached)
                yield network.policy(run.about(steps))
                if laps == number == 0:
                    run.validate(network.policy(run.about(steps)), steps, min(1.0, steps / self.steps))
                if steps >= self.steps:
                    break
            laps, ended = laps + 1, steps >= self.steps
            stage = self._next_stage(stage, ends, worlds.stages)
            if laps % self.validate == 0 or ended:
                found = run.validate(network.policy(run.about(steps)), steps, min(1.0, steps / self.steps))
                ended = ended or (0 < self.stop_at <= found.success[0] and stage == worlds.stages - 1)
            run.save(steps, {"laps": laps, "stage": stage, "ended": int(ended)}, state_of(network, descent))
        shares.close()
        worlds.close()

    def _next_stage(self, stage: int, ends: Counter[str], stages: int) -> int:
        """Return the curriculum stage that follows a lap in ``stage`` with the outcomes ``ends``."""
        success = ends["reached"] / max(ends.total(), 1)
        if not self.up_at or not ends:
            return stage
        return min(stage + 1, stages - 1) if success >= self.up_at else max(stage - 1, 0) if success <= self.down_at > 0 else stage

    def _learn(
        self,
        network: ActorCritic,
        descent: torch.optim.Adam,
        played: Sequences,
        steps: int,
        chance: torch.Generator,
        shares: Shares,
    ) -> dict[str, float]:
        """Train the network on the steps of a round; return the mean losses.

        Raises:
            DivergedError: a loss or a gradient is non-finite.
        """
        share = min(1.0, steps / self.steps)
        for group in descent.param_groups:
            group["lr"] = self.rate + (self.last_rate - self.rate) * share
        seen: list[PpoLosses] = []
        for batch in self._batches(played if network.state_size else played.apart(), chance):
            losses, total = self._slope(network, batch.standard(), shares)
            seen.append(losses)
            if 0 < self.divergence < float(losses.divergence):
                break
            norm = torch.nn.utils.clip_grad_norm_(network.parameters(), self.gradient)
            if not math.isfinite(total + float(norm)):
                raise DivergedError(f"step {steps}: the loss is {total} and the norm of its gradient is {float(norm)}")
            descent.step()
        means = {
            name: float(torch.stack(some).mean()) for name, some in zip(PpoLosses._fields, zip(*seen, strict=True), strict=True)
        }
        return {f"{name}_loss" if name in ("policy", "value") else name: value for name, value in means.items()}

    def _slope(self, network: ActorCritic, batch: Sequences, shares: Shares) -> tuple[PpoLosses, float]:
        """Write the gradients for a mini-batch into the network; return the mini-batch's losses and their weighted sum.

        Each share is weighted by the number of its valid steps.
        """
        steps, rows = batch.counts.shape
        count = int(batch.counts.sum())

        def part(first: int, last: int) -> tuple[Tensor, Tensor]:
            share = batch.between(first, last)
            losses = losses_of(network, share, self.clip)
            total = losses.policy + self.value_weight * losses.value - self.entropy * losses.entropy
            weight = int(share.counts.sum()) / count
            return torch.stack([*losses, total]).detach() * weight, weight * total

        several = [(first, last) for first, last in ranges_of_sequences(rows, steps) if batch.counts[:, first:last].any()]
        *losses, total = shares.slope(list(network.parameters()), part, several)
        return PpoLosses(*losses), float(total)

    def _batches(self, played: Sequences, chance: torch.Generator) -> Iterator[Sequences]:
        """Yield the mini-batches of all passes; in each pass, every sequence belongs to exactly one mini-batch."""
        for _ in range(self.epochs):
            order = torch.randperm(played.seen.shape[1], generator=chance)
            for rows in order.tensor_split(self.batches):
                yield played.of(rows)


class Sequences(NamedTuple):
    """Sequences of T steps of N robots.

    Attributes:
        seen: (T, N, D) encoded observations.
        begins: (T, N) bool, whether an episode begins with the step.
        state: (N, S) state of the network before the first step.
        actions: (T, N, A) sampled actions, not clipped.
        logs: (T, N) logarithms of the actions' probabilities, or of their densities.
        advantages: (T, N) generalised advantages.
        returns: (T, N) targets of the value.
        counts: (T, N) bool, whether the step is valid; False while a robot waits. Invalid steps are not used for learning.
    """

    seen: Tensor
    begins: Tensor
    state: Tensor
    actions: Tensor
    logs: Tensor
    advantages: Tensor
    returns: Tensor
    counts: Tensor

    def of(self, rows: Tensor) -> Sequences:
        """Return the sequences of the given robots."""
        return Sequences(*(part.index_select(int(name != "state"), rows) for name, part in self._asdict().items()))

    def between(self, first: int, last: int) -> Sequences:
        """Return the sequences of the robots ``first <= n < last``, as views."""
        return Sequences(*(part[first:last] if name == "state" else part[:, first:last] for name, part in self._asdict().items()))

    def standard(self) -> Sequences:
        """Return the sequences with advantages normalised to mean 0 and standard deviation 1 over the valid steps."""
        some = self.advantages if self.counts.all() else self.advantages[self.counts]
        return self._replace(advantages=(self.advantages - some.mean()) / (some.std() + 1e-8))

    def apart(self) -> Sequences:
        """Return every valid step as a separate sequence, for networks without state."""
        count = int(self.counts.sum())
        kept = slice(None) if count == self.counts.numel() else self.counts
        state = self.state.new_zeros(count, 0)
        return Sequences(
            *(state if name == "state" else part[kept].reshape(1, count, *part.shape[2:]) for name, part in self._asdict().items())
        )


class PpoLosses(NamedTuple):
    """Terms of the loss of a mini-batch, and statistics for the log; all are scalars.

    Attributes:
        policy: negative clipped objective.
        value: mean squared error of the value.
        entropy: entropy of the distribution of actions.
        divergence: approximate Kullback-Leibler divergence from the policy that played (J. Schulman's third estimator).
        clipped: fraction of actions whose change in probability was clipped.
    """

    policy: Tensor
    value: Tensor
    entropy: Tensor
    divergence: Tensor
    clipped: Tensor


def losses_of(network: ActorCritic, batch: Sequences, clip: float) -> PpoLosses:
    """Return the losses on the valid steps of a mini-batch, or of a share of a mini-batch, with advantages from
    `Sequences.standard`.
    """
    answers, values, _ = network(batch.seen, batch.state, batch.begins)
    if not batch.counts.all():
        learned = {name: getattr(batch, name)[batch.counts] for name in ("actions", "logs", "advantages", "returns")}
        batch, answers, values = batch._replace(**learned), answers[batch.counts], values[batch.counts]
    log_ratio = network.distribution.logs(batch.actions, answers) - batch.logs
    ratio = log_ratio.exp()
    policy = -torch.minimum(batch.advantages * ratio, batch.advantages * ratio.clamp(1.0 - clip, 1.0 + clip)).mean()
    value = torch.nn.functional.mse_loss(values, batch.returns)
    entropy = network.distribution.entropy(answers)
    with torch.no_grad():
        divergence = (ratio - 1.0 - log_ratio).mean()
        clipped = ((ratio - 1.0).abs() > clip).float().mean()
    return PpoLosses(policy, value, entropy, divergence, clipped)


class _Worlds:
    """The worlds of a training run, and their current state.

    Args:
        ppo: the trainer.
        run: the training run.

    Attributes:
        stage: index of the curriculum stage; 0 without a curriculum.
        stages: number of curriculum stages; 1 without a curriculum.
    """

    def __init__(self, ppo: Ppo, run: TrainingRun) -> None:
        self._ppo = ppo
        chosen: dict[str, Any] = {"observe": ppo.observe, "reward": ppo.reward, "threads": ppo.threads, "workers": ppo.workers}
        chosen |= {"episodes": ppo.episodes or WITHOUT_END, "seed": run.seed, "planner": ppo.planner, "every": ppo.every}
        stages = (run.stage, *ppo.more_stages)
        self._env = worlds_of(run.suite, stages, ppo.worlds, processes=ppo.processes, **chosen)
        self._parts = self._env.parts if isinstance(self._env, StagesVectorEnv) else [self._env]
        self._actions = self._parts[0].actions
        self._curriculum = self._env if ppo.up_at and isinstance(self._env, AgoraVectorEnv) else None
        self.stages = self._curriculum.curriculum_stages if self._curriculum else 1
        self._seen: Floats = np.zeros(0, np.float32)
        self._begins: Bools = np.zeros(0, np.bool_)
        self._nobody: Bools = np.zeros(self._env.num_envs, np.bool_)
        self._state = torch.zeros(0)
        self._tally = Tally(0)

    @property
    def stage(self) -> int:
        return self._curriculum.curriculum_stage if self._curriculum else 0

    def shape(self, ppo: Ppo) -> Shape:
        """Return the shape of the training: encoding, action size, control period, initial standard deviation and robot."""
        robots = {part.robot.name: part.robot for part in self._parts}
        body = TrainedRobot.of(self._parts[0].robot) if len(robots) == 1 else None
        return Shape(ppo.observe, self._actions, self._env.period, ppo.log_std, body)

    def close(self) -> None:
        """Stop threads and workers."""
        self._env.close()

    def begin(self, network: ActorCritic, steps: int, stage: int) -> None:
        """Begin new episodes in all worlds; the episodes depend only on the number of previous steps and the curriculum stage.

        Each previous step has started at most one episode, so with an unlimited number of episodes, none of the new episodes has
        been played before.
        """
        if self._curriculum and stage != self.stage:
            self._curriculum.change_stage(stage - self.stage)
        count = self._env.num_envs
        self._seen, _ = self._env.reset(options={"entry": steps})
        self._begins = np.ones(count, np.bool_)
        self._state = torch.zeros(count, network.state_size)
        self._tally = Tally(count)

    @torch.no_grad()
    def play(self, network: ActorCritic, chance: torch.Generator, shares: Shares) -> tuple[Sequences, Results]:
        """Play one round; return the round's sequences and the results of its episodes."""
        ppo = self._ppo
        steps, count = ppo.horizon, len(self._nobody)
        seen = np.empty((steps, count, ppo.observe.length), np.float32)
        begins, ends, counts = np.empty((3, steps, count), np.bool_)
        rewards = np.empty((steps, count), np.float32)
        values, actions, answers = torch.empty(steps, count), torch.empty(steps, count, self._actions), []
        noise, first = network.distribution.noise(steps, count, chance), self._state
        late, results = _Late(), Results(Counter(), [], [])
        for t in range(steps):
            seen[t], begins[t] = self._seen, self._begins
            answer, values[t], self._state = self._look(network, shares)
            actions[t] = network.distribution.draw(answer, noise[t])
            answers.append(answer)
            self._seen, rewards[t], terminated, truncated, infos = self._env.step(actions[t].numpy())
            ends[t], counts[t] = terminated | truncated, ~infos.get("waiting", self._nobody)
            self._begins = infos.get("_entry", self._nobody)
            self._tally.count(rewards[t], ends[t], infos, results, counts[t])
            late.add(t, np.flatnonzero(truncated).tolist(), infos, self._state)
        rewards *= np.float32(ppo.scale)
        rewards += late.values(network, rewards.shape) * np.float32(ppo.discount)
        _, after, _ = self._look(network, shares)
        known = values.numpy()
        advantages = advantages_of(rewards, known, after.numpy(), ends, ppo.discount, ppo.trace)
        logs = network.distribution.drawn(actions, answers, noise)
        learned = (torch.from_numpy(array) for array in (advantages, advantages + known, counts))
        return Sequences(torch.from_numpy(seen), torch.from_numpy(begins), first, actions, logs, *learned), results

    def _look(self, network: ActorCritic, shares: Shares) -> tuple[Tensor, ...]:
        """Return the outputs of the network for the current observations, like `look`."""

        def one(first: int, last: int) -> tuple[Tensor, Tensor, Tensor]:
            return look(network, self._seen[first:last], self._state[first:last], self._begins[first:last])

        answers = shares.each(one, ranges(len(self._seen), _ROWS))
        return tuple(map(torch.cat, zip(*answers, strict=True)))


class _Late:
    """The final observations at time-outs. An episode that ran out of time would have continued, so the remainder has a value."""

    def __init__(self) -> None:
        self._at: list[tuple[int, int]] = []
        self._seen: list[Floats] = []
        self._states: list[Tensor] = []

    def add(self, t: int, worlds: list[int], infos: dict[str, Any], state: Tensor) -> None:
        """Add the worlds whose episodes ran out of time in step t, with the network's state (N, S) after the step."""
        for w in worlds:
            self._at.append((t, w))
            self._seen.append(infos["final_obs"][w])
            self._states.append(state[w])

    def values(self, network: ActorCritic, shape: tuple[int, ...]) -> Floats:
        """Return the values (T, N) of the final observations at time-outs; 0 elsewhere."""
        out = np.zeros(shape, np.float32)
        if self._at:
            seen, states = torch.from_numpy(np.stack(self._seen)), torch.stack(self._states)
            _, values, _ = network(seen[None], states, torch.zeros(1, len(seen), dtype=torch.bool))
            out[tuple(np.array(self._at).T)] = values[0].numpy()
        return out
