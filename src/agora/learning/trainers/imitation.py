"""Imitation of a planner: behaviour cloning and DAgger, for any network with an actor and a critic.

Behaviour cloning (D. A. Pomerleau, "ALVINN: an autonomous land vehicle in a neural network", NIPS 1988): the teacher drives, and
the network learns the teacher's actions. DAgger (S. Ross, G. J. Gordon, J. A. Bagnell, "A reduction of imitation learning and
structured prediction to no-regret online learning", AISTATS 2011): the network drives an increasing fraction of the worlds, and the
teacher provides the actions that it would take in the same states. The critic learns the returns of the driver, so that
`agora.learning.trainers.ppo` can continue the training from there.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from agora.config import parse_component
from agora.core.state import Array, Bools, Floats
from agora.errors import DivergedError
from agora.interfaces import Rewarding, TrainingRun
from agora.learning.env import AgoraVectorEnv
from agora.learning.settings_env import SettingsEnv
from agora.learning.stages import StagesVectorEnv, worlds_of
from agora.learning.trainers.episodes import WITHOUT_END, shares_of
from agora.learning.trainers.shares import Shares, ranges_of_sequences
from agora.policies.learners.actor_critic import ActorCritic, look
from agora.ranges import Checked, Count, Number
from agora.registry import Named

_LESSONS = 1  # number that marks this purpose in the seeds of random streams


class Lesson(NamedTuple):
    """Observations from T steps of N worlds, and the actions that the teacher would have taken.

    Attributes:
        seen: (T, N, D) encoded observations.
        begins: (T, N) bool, whether an episode begins with the step.
        state: (N, S) state of the network before the first step.
        wanted: (T, N, A) actions of the teacher.
        returns: (T, N) discounted sum of the rewards from each step onwards.
    """

    seen: Tensor
    begins: Tensor
    state: Tensor
    wanted: Tensor
    returns: Tensor


class Round(NamedTuple):
    """A round of lessons.

    Attributes:
        steps: number of environment steps since the start of the lessons.
        values: values to log, by name.
    """

    steps: int
    values: dict[str, float]


@dataclass(frozen=True)
class Lessons(Checked):
    """Rounds in which a network drives among people and learns to imitate a planner's actions.

    Attributes:
        teacher: planner to imitate.
        rounds: number of rounds.
        mixing: number of rounds over which the fraction of worlds driven by the teacher falls from 1 to 0; with 0, the teacher
            always drives (behaviour cloning).
        worlds: number of worlds, N.
        horizon: number of steps in each world in a round, T.
        memory: number of most recent rounds to learn from.
        updates: number of batches after each round.
        batch: number of sequences of T steps in a batch.
        rate: learning rate.
        value_weight: weight of the squared error of the value.
    """

    teacher: str = "orca"
    rounds: Count = 100
    mixing: Number = 30
    worlds: Count = 128
    horizon: Count = 30
    memory: Count = 50
    updates: Count = 40
    batch: Count = 32
    rate: float = 1e-3
    value_weight: float = 0.5

    def named_parts(self) -> list[Named]:
        """Return the teacher."""
        return [parse_component("planners", self.teacher, "teacher")]

    def learn(
        self,
        network: ActorCritic,
        descent: torch.optim.Adam,
        kept: Sequence[Lesson],
        chance: np.random.Generator,
        shares: Shares,
    ) -> dict[str, float]:
        """Perform gradient steps on random sequences from the lessons; return the mean losses.

        Raises:
            DivergedError: a loss is non-finite.
        """
        totals = np.zeros(2)
        for _ in range(self.updates):
            lesson = kept[int(chance.integers(0, len(kept)))]
            rows = torch.from_numpy(chance.permutation(lesson.wanted.shape[1])[: self.batch])
            several = ranges_of_sequences(len(rows), len(lesson.wanted))
            totals += shares.slope(list(network.parameters()), self._part(network, lesson, rows), several).numpy()
            descent.step()
        if not np.isfinite(totals).all():
            raise DivergedError(f"lessons: the action and value losses are {totals[0]} and {totals[1]}")
        return {"action_loss": totals[0] / self.updates, "value_loss": totals[1] / self.updates}

    def _part(self, network: ActorCritic, lesson: Lesson, rows: Tensor) -> Callable[[int, int], tuple[Tensor, Tensor]]:
        """Return a function that computes, for a range of rows, the losses of action and value (2,), and the weighted sum of the
        losses.
        """

        def part(first: int, last: int) -> tuple[Tensor, Tensor]:
            some, weight = rows[first:last], (last - first) / len(rows)
            answers, values, _ = network(lesson.seen[:, some], lesson.state[some], lesson.begins[:, some])
            action = weight * network.distribution.error(lesson.wanted[:, some], answers)
            value = weight * torch.nn.functional.mse_loss(values, lesson.returns[:, some])
            return torch.stack([action, value]), action + self.value_weight * value

        return part


class Course:
    """Lessons in progress: the worlds, the stored lessons, and the optimiser.

    Args:
        lessons: parameters of the lessons.
        network: network to train.
        run: the training run; its stage is played.
        shares: threads for gradient descent.
        reward: reward whose returns the critic learns.
        discount: discount factor per step.
        scale: factor by which rewards are multiplied.
        more_stages: additional stages of the suite to play.
        processes: number of processes that run the stages.

    Attributes:
        descent: optimiser of the network.
    """

    def __init__(
        self,
        lessons: Lessons,
        network: ActorCritic,
        run: TrainingRun,
        shares: Shares,
        reward: Rewarding,
        discount: float,
        scale: float,
        more_stages: Sequence[str] = (),
        processes: int = 0,
    ) -> None:
        self._lessons, self._network, self._seed, self._shares = lessons, network, run.seed, shares
        self.descent = torch.optim.Adam(network.parameters(), lr=lessons.rate)
        [teacher] = lessons.named_parts()
        chosen: dict[str, Any] = {"observe": network.shape.observe, "reward": reward, "teacher": teacher.part}
        chosen |= {"episodes": WITHOUT_END, "seed": run.seed}
        env = worlds_of(run.suite, (run.stage, *more_stages), lessons.worlds, processes=processes, **chosen)
        assert not isinstance(env, SettingsEnv)  # a teacher's actions are never planner settings
        self._env = env
        self._env.refuse_several("lessons")
        self._school = _School(self._env, network, discount, scale)
        self._kept: deque[Lesson] = deque(maxlen=lessons.memory)

    def whole(self) -> Iterator[Round]:
        """Run all rounds of lessons, and yield the result of each round.

        Raises:
            DivergedError: a loss is non-finite.
        """
        self.begin(0)
        for number in range(self._lessons.rounds):
            yield self.round(number)
        self.close()

    def begin(self, steps: int) -> None:
        """Start new episodes in all worlds; the episodes depend only on the number of previous steps."""
        self._school.begin(steps)

    def round(self, number: int) -> Round:
        """Play round ``number``, counted from 0, and learn from this round and the stored earlier rounds.

        Raises:
            DivergedError: a loss is non-finite.
        """
        lessons = self._lessons
        chance = np.random.default_rng((self._seed, _LESSONS, number))
        share = max(0.0, 1.0 - number / lessons.mixing) if lessons.mixing else 1.0
        lesson, ends = self._school.play(lessons.horizon, chance.random(lessons.worlds) < share)
        self._kept.append(lesson)
        losses = lessons.learn(self._network, self.descent, self._kept, chance, self._shares)
        return Round((number + 1) * lessons.worlds * lessons.horizon, shares_of(ends) | losses | {"teacher_drives": share})

    @property
    def arrays(self) -> dict[str, Array]:
        """The stored lessons, for a checkpoint."""
        parts = zip(Lesson._fields, zip(*self._kept, strict=True), strict=True)
        return {f"lessons.{name}": torch.stack(part).numpy() for name, part in parts}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Restore the lessons from a checkpoint."""
        parts = [torch.from_numpy(arrays[f"lessons.{name}"]) for name in Lesson._fields]
        self._kept.extend(Lesson(*one) for one in zip(*parts, strict=True))

    def close(self) -> None:
        """Stop the threads."""
        self._env.close()


class _School:
    """Worlds in which a network and its teacher drive.

    Args:
        env: the worlds.
        network: network to train.
        discount: discount factor per step.
        scale: factor by which rewards are multiplied.
    """

    def __init__(self, env: AgoraVectorEnv | StagesVectorEnv, network: ActorCritic, discount: float, scale: float) -> None:
        self._env, self._network, self._discount, self._scale = env, network, np.float32(discount), np.float32(scale)
        self._seen: Floats = np.zeros(0, np.float32)
        self._begins: Bools = np.zeros(0, np.bool_)
        self._state = torch.zeros(0)

    def begin(self, first: int) -> None:
        """Begin new episodes in all worlds; the episode of world 0 has the number ``first``."""
        self._seen, _ = self._env.reset(options={"entry": first})
        self._begins = np.ones(self._env.num_envs, np.bool_)
        self._state = torch.zeros(self._env.num_envs, self._network.state_size)

    @torch.no_grad()
    def play(self, horizon: int, led: Bools) -> tuple[Lesson, Counter[str]]:
        """Play ``horizon`` steps, in which the teacher drives the robots with ``led`` (N,); return the lesson and the counts of
        outcomes.
        """
        seen, begins, wanted, rewards, ended = [], [], [], [], []
        first, ends = self._state, Counter[str]()
        for _ in range(horizon):
            answers, _, self._state = look(self._network, self._seen, self._state, self._begins)
            actions = self._env.teach()
            seen.append(self._seen)
            begins.append(self._begins)
            wanted.append(actions)
            driven = np.where(led[:, None], actions, self._network.distribution.likeliest(answers).numpy())
            self._seen, gains, terminated, truncated, infos = self._env.step(driven)
            self._begins = terminated | truncated
            gains = gains * self._scale
            for w in np.flatnonzero(truncated).tolist():  # add the value of the remainder of a truncated episode
                gains[w] += self._discount * self._value(infos["final_obs"][w], self._state[w])
            rewards.append(gains)
            ended.append(self._begins)
            if self._begins.any():
                ends.update(infos["final_info"]["outcome"][self._begins].tolist())
        _, after, _ = look(self._network, self._seen, self._state, self._begins)
        returns = self._returns(rewards, ended, after.numpy())
        looked, began, done = (torch.from_numpy(np.stack(part)) for part in (seen, begins, wanted))
        return Lesson(looked, began, first, done, torch.from_numpy(returns)), ends

    def _value(self, seen: Floats, state: Tensor) -> float:
        """Return the value of an observation (D,) with a state (S,)."""
        _, value, _ = look(self._network, seen[None], state[None], np.zeros(1, np.bool_))
        return float(value[0])

    def _returns(self, rewards: list[Floats], ended: list[Bools], after: Floats) -> Floats:
        """Return the discounted sum of rewards from each step onwards (T, N); ``after`` (N,) is the value after the last step."""
        out = np.zeros((len(rewards), len(after)), np.float32)
        for t in range(len(rewards) - 1, -1, -1):
            after = out[t] = rewards[t] + self._discount * after * ~ended[t]
        return out
