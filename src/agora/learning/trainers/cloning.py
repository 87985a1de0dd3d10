"""Behaviour cloning: a network learns a driver's actions from a planner that drives or from recorded demonstrations.

D. A. Pomerleau, "ALVINN: an autonomous land vehicle in a neural network", NIPS 1988; this is the BC planner of DynaBARN (A. Nair et
al., SSRR 2022). With ``lessons.mixing``, the network drives an increasing fraction of the worlds, and the planner provides the
actions that it would take in the same states (DAgger: S. Ross, G. J. Gordon, J. A. Bagnell, AISTATS 2011). The lessons are
implemented in `agora.learning.trainers.imitation`.

A lap consists of several rounds. Every lap starts with new episodes in all worlds, and ends with a checkpoint of the network, the
optimiser and the stored lessons, so a resumed training run reproduces the curve exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import torch

from agora.core.state import Array
from agora.errors import InputError
from agora.interfaces import Encoding, Network, Savable, Shape, TrainingRun
from agora.learning.demonstrations import read_samples
from agora.learning.env import AgoraVectorEnv
from agora.learning.rewards import Reward
from agora.learning.trainers.checkpoint import restore, state_of
from agora.learning.trainers.episodes import is_early
from agora.learning.trainers.imitation import Course, Lesson, Lessons, Round
from agora.learning.trainers.shares import Shares
from agora.policies.encoding import Observe
from agora.policies.learners.actor_critic import ActorCritic, actor_critic
from agora.policies.networks.mlp import Mlp
from agora.policies.policy import TrainedRobot
from agora.ranges import Checked, Count
from agora.registry import Plug

_RECORDED = 2  # number that marks this purpose in the seeds of random streams


@dataclass(frozen=True)
class Cloning(Checked):
    """Learns the actions of a driver.

    Attributes:
        network: network to train: any registered network with an actor and a critic.
        observe: encoding of observations and actions; demonstrations require the ``observe`` encoding.
        lessons: teacher and rounds; without ``mixing`` the teacher always drives. Behaviour cloning does not need the critic, so
            ``value_weight`` is 0 by default.
        demonstrations: folder of ``.npz`` files (`agora.learning.demonstrations`) that replace the teacher; empty to use the
            teacher.
        lap: number of rounds between two checkpoints.
        validate: number of laps between two validations; additional validations take place after rounds 1, 2, 4, 8 and so on.
        threads: number of threads for gradient descent; results do not depend on the number of threads.
    """

    network: Annotated[Network, Plug("networks", "mlp")] = field(default_factory=lambda: Mlp((256, 256), "tanh"))
    observe: Annotated[Encoding, Plug("encodings", "observe")] = field(default_factory=lambda: Observe(90, scan_range=5.0))
    lessons: Lessons = field(default_factory=lambda: Lessons(mixing=0, value_weight=0.0))
    demonstrations: str = ""
    lap: Count = 10
    validate: Count = 1
    threads: Count = 1

    def files(self) -> list[Path]:
        """Return the folder of demonstrations, if there is one."""
        return [Path(self.demonstrations).expanduser()] if self.demonstrations else []

    def train(self, run: TrainingRun) -> Iterator[Savable]:
        """Train for the given number of rounds of lessons."""
        shares = Shares(self.threads)
        torch.manual_seed(run.seed)
        network = actor_critic(self.network, self._shape(run))
        course = self._course(network, run, shares)
        number, steps = 0, 0
        if run.resumed:
            numbers, arrays = run.resumed
            number, steps = int(numbers["rounds"]), int(numbers["steps"])
            restore(arrays, network, course.descent)
            course.restore(arrays)
        while number < self.lessons.rounds:
            course.begin(steps)
            for _ in range(min(self.lap, self.lessons.rounds - number)):
                progress = course.round(number)
                number, steps = number + 1, progress.steps
                run.log(steps, number / self.lessons.rounds, **progress.values)
                yield network.policy(run.about(steps))
                if is_early(number):
                    run.validate(network.policy(run.about(steps)), steps, number / self.lessons.rounds)
            if not is_early(number) and (-(-number // self.lap) % self.validate == 0 or number == self.lessons.rounds):
                run.validate(network.policy(run.about(steps)), steps, number / self.lessons.rounds)
            run.save(steps, {"rounds": number}, state_of(network, course.descent) | course.arrays)
        shares.close()
        course.close()

    def _shape(self, run: TrainingRun) -> Shape:
        """Return the shape of the training: encoding, action size, control period and robot."""
        env = AgoraVectorEnv(run.suite, run.stage, 1, seed=run.seed, observe=self.observe)
        robot, period, actions = env.robot, env.period, self.observe.action_size(env.limits)
        env.close()
        return Shape(self.observe, actions, period, body=TrainedRobot.of(robot))

    def _course(self, network: ActorCritic, run: TrainingRun, shares: Shares) -> Course | _Recorded:
        if self.demonstrations:
            return _Recorded(self, network, run, shares)
        return Course(self.lessons, network, run, shares, Reward(), discount=0.0, scale=1.0)


class _Recorded:
    """Lessons from recorded demonstrations, without a teacher that drives.

    Args:
        cloning: the trainer.
        network: network to train.
        run: the training run; its stage defines the robot.
        shares: threads for gradient descent.

    Raises:
        InputError: there are no demonstrations, the demonstrations were recorded with another lidar, or all are shorter than
            ``horizon`` steps.
    """

    def __init__(self, cloning: Cloning, network: ActorCritic, run: TrainingRun, shares: Shares) -> None:
        self._lessons, self._network, self._seed, self._shares = cloning.lessons, network, run.seed, shares
        self.descent = torch.optim.Adam(network.parameters(), lr=cloning.lessons.rate)
        folder, horizon = Path(cloning.demonstrations).expanduser(), cloning.lessons.horizon
        seen: list[Array] = []
        wanted: list[Array] = []
        if not isinstance(cloning.observe, Observe):
            raise InputError(f"cloning: demonstrations need the encoding observe, got {type(cloning.observe).__name__}")
        samples = read_samples(folder, cloning.observe, run.suite.start(run.stage, 0).robots[0].model)
        for looked, done in samples:
            last = len(done) - horizon
            for first in [*range(0, last, horizon), last] if last >= 0 else []:  # the last two sequences may overlap
                seen.append(looked[first : first + horizon])
                wanted.append(done[first : first + horizon])
        if not seen:
            raise InputError(f"{folder}: all {len(samples)} demonstrations are shorter than horizon = {horizon} steps")
        looked_at, wished = (torch.from_numpy(np.stack(part, 1)) for part in (seen, wanted))
        begins, nothing = torch.zeros(wished.shape[:2], dtype=torch.bool), torch.zeros(wished.shape[:2])
        begins[0] = True
        self._lesson = Lesson(looked_at, begins, torch.zeros(len(seen), network.state_size), wished, nothing)

    def begin(self, steps: int) -> None:
        """Do nothing, because there are no episodes."""

    def round(self, number: int) -> Round:
        """Learn from the demonstrations; the returned ``steps`` is the total number of steps in the demonstrations.

        Raises:
            DivergedError: a loss is non-finite.
        """
        chance = np.random.default_rng((self._seed, _RECORDED, number))
        losses = self._lessons.learn(self._network, self.descent, [self._lesson], chance, self._shares)
        return Round(self._lesson.begins.numel(), losses)

    @property
    def arrays(self) -> dict[str, Array]:
        """An empty dictionary, because checkpoints do not contain the demonstrations."""
        return {}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Do nothing, because there is no state to restore."""

    def close(self) -> None:
        """Do nothing, because there is nothing to close."""
