"""Learning from learned hallucination (LfLH): from drives in the open to a planner among obstacles, without reinforcement.

Z. Wang, X. Xiao, A. J. Nettekoven, K. Umasankar, A. Singh, S. Bommakanti, U. Topcu, P. Stone, "From agile ground to aerial
navigation: learning from learned hallucination", IROS 2021, algorithm 1, and its code. A robot drives at random in the open; a
network learns to hallucinate obstacles among which an optimiser would have planned these drives
(`agora.learning.trainers.hallucinator`); and a policy learns from scans of hallucinated obstacles to do what the robot did.

Every round draws drives of its own by its number, so a resumed training repeats the curve exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor, nn

from agora.core.state import Array, Floats
from agora.errors import DivergedError, InputError
from agora.interfaces import Network, Savable, Shape, TrainingRun
from agora.learning.open_drives import Drives, aims_of, open_drives, scans_of, shrunk
from agora.learning.trainers.checkpoint import restore, state_of
from agora.learning.trainers.episodes import is_early
from agora.learning.trainers.hallucinator import Hallucinator, Loss, loss_of
from agora.learning.trainers.spline_band import SplineBand
from agora.policies.encoding import to_actions
from agora.policies.learners.actor_critic import ActorCritic, actor_critic
from agora.policies.networks.mlp import Mlp
from agora.policies.policy import TrainedRobot
from agora.policies.scan_and_aim import ScanAndAim
from agora.ranges import Checked, Count, Distance, Length, NotNegative, Number, Positive
from agora.registry import Plug
from agora.robots.model import RobotModel

_LARGEST = 1.0  # norm of the hallucinator's gradient
_THIN = 3  # samples of a way from one that obstacles keep away from to the next


@dataclass(frozen=True)
class Imagination(Checked):
    """The training scenes of a policy.

    Attributes:
        margin: distance of obstacles from the path, m; more than half the robot's width.
        more: number of additional obstacles at random places.
        reach: largest distance of these, m.
        sizes: their smallest and largest half axis, m.
        free: time for which none of these is ahead at the current speed, s.
        ahead: half angle of the area ahead, rad.
        noise: standard deviation of the scan's noise, in its range.
        rays: rays of each value of the scan.
    """

    margin: Distance = 0.27
    more: Number = 5
    reach: Length = 3.0
    sizes: tuple[Positive, Positive] = (0.2, 0.5)
    free: NotNegative = 1.0
    ahead: NotNegative = math.pi / 3
    noise: NotNegative = 0.03
    rays: Count = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sizes[0] <= self.sizes[1]:
            raise InputError(f"sizes: must not decrease, are {list(self.sizes)}")


@dataclass(frozen=True)
class Hallucination(Checked):
    """Learns to hallucinate obstacles around drives in open space, and then to drive among them.

    Attributes:
        network: network to train: any registered one with an actor and a critic, without a memory.
        observe: encoding of observations and actions.
        band: optimiser that the hallucinated obstacles are to explain the drives by.
        loss: of the hallucination.
        obstacles: obstacles that are hallucinated about a drive.
        size: values of the recurrent unit of the network that hallucinates.
        hallucination_rounds: rounds of its training.
        hallucination_rate: its learning rate.
        ways: drives in a batch of it.
        imagine: scenes that the policy is shown.
        rounds: rounds in which the policy learns.
        rate: its learning rate.
        samples: drives in one of its rounds, each a scene.
        batch: scenes in a descent.
        passes: over the scenes of a round.
        updates: batches in a round of the hallucination.
        lap: rounds between two checkpoints.
        validate: rounds of the policy between two validations; also after rounds 1, 2, 4, 8 and so on.
        threads: of PyTorch.
    """

    network: Annotated[Network, Plug("networks", "mlp")] = field(default_factory=lambda: Mlp((256, 256), "relu"))
    observe: Annotated[ScanAndAim, Plug("encodings", "scan_and_aim")] = field(default_factory=ScanAndAim)
    band: SplineBand = field(default_factory=SplineBand)
    loss: Loss = field(default_factory=Loss)
    obstacles: Count = 10
    size: Count = 128
    hallucination_rounds: Count = 45
    hallucination_rate: Positive = 1e-3
    ways: Count = 64
    imagine: Imagination = field(default_factory=Imagination)
    rounds: Count = 300
    rate: Positive = 3e-4
    samples: Count = 2048
    batch: Count = 256
    passes: Count = 2
    updates: Count = 32
    lap: Count = 20
    validate: Count = 75
    threads: Count = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.observe, ScanAndAim):
            raise InputError(f"hallucination: its scenes need the encoding scan_and_aim, got {type(self.observe).__name__}")

    def train(self, run: TrainingRun) -> Iterator[Savable | None]:
        """Go through the rounds of the hallucination, and then through those of the policy."""
        torch.set_num_threads(self.threads)
        torch.manual_seed(run.seed)
        school = _School(self, run.suite.start(run.stage, 0).robots[0].model, run.seed)
        number, steps, total = 0, 0, self.hallucination_rounds + self.rounds
        if run.resumed:
            numbers, arrays = run.resumed
            number, steps = int(numbers["rounds"]), int(numbers["steps"])
            restore(arrays, school.both, school.descent)
        while number < total:
            dreams = number < self.hallucination_rounds
            seen, values = school.dream(number) if dreams else school.clone(number)
            number, steps = number + 1, steps + seen
            run.log(steps, number / total, **values)
            policy = None if dreams else school.policy.policy(run.about(steps))
            yield policy
            cloned = number - self.hallucination_rounds
            if policy is not None and (is_early(cloned) or cloned % self.validate == 0 or number == total):
                run.validate(policy, steps, number / total)
            if number % self.lap == 0 or number == total:
                run.save(steps, {"rounds": number}, state_of(school.both, school.descent))


class _School:
    """The two networks, and the descent on both."""

    def __init__(self, trainer: Hallucination, robot: RobotModel, seed: int) -> None:
        if robot.lidar is None:
            raise InputError(f"hallucination: robot {robot.name!r} has no lidar")
        trainer.observe.check(robot)
        self._trainer, self._robot, self._lidar, self._seed = trainer, robot, robot.lidar, seed
        shape = Shape(trainer.observe, trainer.observe.action_size(robot.limits(1)), 0.0, body=TrainedRobot.of(robot))
        self.policy: ActorCritic = actor_critic(trainer.network, shape)
        if self.policy.state_size:
            raise InputError("hallucination: each scene is a single observation, so the network must have no memory")
        step = open_drives(np.random.default_rng(0), 1, 0.02, 1.0, 1.0).step
        knots = np.arange(trainer.band.points - 2) * trainer.band.knot
        self._at = np.round(knots / step).astype(int)
        self._hallucinator = Hallucinator(len(knots), trainer.obstacles, trainer.size)
        self.both = nn.ModuleDict({"hallucinator": self._hallucinator, "policy": self.policy})
        rates = [(self._hallucinator, trainer.hallucination_rate), (self.policy, trainer.rate)]
        self.descent = torch.optim.Adam([{"params": list(one.parameters()), "lr": rate} for one, rate in rates])

    def _drives(self, chance: np.random.Generator, count: int, seconds: float) -> Drives:
        limits = self._robot.limits(1)
        return open_drives(chance, count, seconds, float(limits.max_vx[0]), float(limits.max_omega[0]))

    def _ways(self, drives: Drives) -> Tensor:
        """Places and velocities (N, K, 4) at the knots."""
        pose, speed = drives.pose[:, self._at], drives.twist[:, self._at, :1]
        heading = np.stack([np.cos(pose[..., 2]), np.sin(pose[..., 2])], -1)
        return torch.from_numpy(np.concatenate([pose[..., :2], speed * heading], -1).astype(np.float32))

    def dream(self, number: int) -> tuple[int, dict[str, float]]:
        """Improve the hallucination in round ``number``; return how many drives were seen, and the mean losses by name.

        Raises:
            DivergedError: a loss is not finite.
        """
        trainer, chance = self._trainer, np.random.default_rng((self._seed, number))
        noise = torch.Generator().manual_seed(int(chance.integers(2**62)))
        count = trainer.updates * trainer.ways
        ways = self._ways(self._drives(chance, count, trainer.band.seconds + 0.1))
        totals: dict[str, float] = {}
        for k in range(trainer.updates):
            way = ways[k * trainer.ways : (k + 1) * trainer.ways]
            share = min(1.0, 2.0 * number / trainer.hallucination_rounds)  # annealed over the first half
            loss, parts = loss_of(trainer.loss, trainer.band, way, self._hallucinator(way, noise), share)
            self.descent.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self._hallucinator.parameters(), _LARGEST)
            self.descent.step()
            for name, part in parts.items():
                totals[name] = totals.get(name, 0.0) + part / trainer.updates
        return count, _finite(totals, number)

    def clone(self, number: int) -> tuple[int, dict[str, float]]:
        """Improve the policy in round ``number``; return as `dream`.

        Raises:
            DivergedError: the loss is not finite.
        """
        trainer, chance = self._trainer, np.random.default_rng((self._seed, number))
        seen, wanted = (torch.from_numpy(part) for part in self.scenes(chance))
        state, total, batches = torch.zeros(trainer.batch, 0), 0.0, 0
        for _ in range(trainer.passes):
            order = torch.from_numpy(chance.permutation(len(seen)))
            for rows in order.split(trainer.batch):
                answered = self.policy(seen[None, rows], state[: len(rows)], torch.ones(1, len(rows), dtype=torch.bool))[0]
                loss = nn.functional.mse_loss(answered[0], wanted[rows])
                self.descent.zero_grad()
                loss.backward()
                self.descent.step()
                total, batches = total + float(loss.detach()), batches + 1
        return len(seen), _finite({"action_loss": total / batches}, number)

    def scenes(self, chance: np.random.Generator) -> tuple[Floats, Floats]:
        """Return what the policy would see (N, D) in scenes about fresh drives, and what the robot did there (N, A).

        Drives that do not come as far as the local goal, or whose local goal lies behind them, are left out.
        """
        trainer, imagine = self._trainer, self._trainer.imagine
        drives = self._drives(chance, trainer.samples, trainer.band.seconds + 2.0)
        aims, far = aims_of(drives, trainer.observe.lookahead)
        kept = far & (aims[:, 0] > 0.0)
        drives, aims = Drives(drives.pose[kept], drives.twist[kept], drives.step), aims[kept]
        centre, axes = self._obstacles(drives, chance)
        lidar, observe = self._lidar, trainer.observe
        ends, reach = (lidar.angle_min + lidar.heading, lidar.angle_max + lidar.heading), observe.scan_range
        scan = scans_of(centre - (lidar.x, lidar.y), axes, ends, observe.beams, imagine.rays, reach) / np.float32(reach)
        scan = np.clip(scan + imagine.noise * chance.standard_normal(scan.shape), 0.0, 1.0)
        aim = aims / np.linalg.norm(aims, axis=-1, keepdims=True)
        twist = np.stack([drives.twist[:, 0, 0], np.zeros(len(aim)), drives.twist[:, 0, 1]], -1)
        other = chance.random(len(aim)) < 0.5  # seen in a mirror, where the lidar looks as far to the left as to the right
        if abs(ends[0] + ends[1]) < 1e-3 and not lidar.y:
            scan[other] = scan[other, ::-1]
            aim[other, 1], twist[other, 2] = -aim[other, 1], -twist[other, 2]
        seen = np.concatenate([scan, aim], -1).astype(np.float32)
        return seen, to_actions(twist.astype(np.float32), self._robot.limits(len(aim)))

    def _obstacles(self, drives: Drives, chance: np.random.Generator) -> tuple[Array, Array]:
        """Centres and half axes (N, M, 2) of hallucinated obstacles and of others; none is nearer to the way than the margin."""
        imagine, count = self._trainer.imagine, len(drives.pose)
        noise = torch.Generator().manual_seed(int(chance.integers(2**62)))
        with torch.no_grad():
            dreamt = self._hallucinator(self._ways(drives), noise)
        shape = (count, imagine.more)
        away, bearing = imagine.reach * np.sqrt(chance.random(shape)), chance.uniform(-math.pi, math.pi, shape)
        more = np.stack([away * np.cos(bearing), away * np.sin(bearing)], -1)
        half = chance.uniform(*imagine.sizes, (*shape, 2))
        room = imagine.free * drives.twist[:, :1, 0] + half.max(-1)
        half[(np.abs(bearing) < imagine.ahead) & (away < room)] = 1e-3  # too small to stay
        centre = np.concatenate([dreamt.centre.numpy().astype(float), more], 1)
        axes = np.concatenate([dreamt.axes.numpy().astype(float), half], 1)
        last = int(self._trainer.band.seconds / drives.step)
        return centre, shrunk(drives.pose[:, : last + 1 : _THIN, :2], centre, axes, imagine.margin)


def _finite(values: dict[str, float], number: int) -> dict[str, float]:
    """Return values; refuse those that are not finite."""
    for name, value in values.items():
        if not math.isfinite(value):
            raise DivergedError(f"hallucination: {name} of round {number} is {value}")
    return values


__all__: list[Any] = ["Hallucination", "Imagination"]
