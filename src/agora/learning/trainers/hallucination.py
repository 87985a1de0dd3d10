"""Learning from learned hallucination (LfLH): trains a policy to drive among obstacles on trajectories driven in open space,
without reinforcement learning.

Z. Wang, X. Xiao, A. J. Nettekoven, K. Umasankar, A. Singh, S. Bommakanti, U. Topcu, P. Stone, "From agile ground to aerial
navigation: learning from learned hallucination", IROS 2021, algorithm 1, and its code. A robot drives randomly in open space. A
network learns to hallucinate obstacles for which an optimiser would have planned these trajectories
(`agora.learning.trainers.hallucinator`). A policy then learns to reproduce the robot's actions from scans of hallucinated
obstacles.

The trajectories of a round depend only on the seed and the round's number, so a resumed training run reproduces the curve exactly.
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

_LARGEST = 1.0  # maximum norm of the hallucinator's gradient
_THIN = 3  # only every third sample of a trajectory is tested against obstacles


@dataclass(frozen=True)
class Imagination(Checked):
    """The training scenes of a policy.

    Attributes:
        margin: minimum distance of obstacles from the trajectory, m; more than half the robot's width.
        more: number of additional obstacles at random positions.
        reach: maximum distance of the additional obstacles, m.
        sizes: minimum and maximum half axis of the additional obstacles, m.
        free: minimum time until the robot, at its current speed, would reach an additional obstacle ahead, s.
        ahead: half the opening angle of the sector that counts as ahead, rad.
        noise: standard deviation of the noise added to the scan, as a fraction of the scan's range.
        rays: number of rays per value of the scan.
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
            raise InputError(f"sizes: must not decrease, got {list(self.sizes)}")


@dataclass(frozen=True)
class Hallucination(Checked):
    """Learns to hallucinate obstacles around trajectories driven in open space, and then to drive among such obstacles.

    Attributes:
        network: network to train: any registered network with an actor and a critic, but without a memory.
        observe: encoding of observations and actions.
        band: optimiser whose plans among the hallucinated obstacles should reproduce the driven trajectories.
        loss: weights of the hallucinator's loss.
        obstacles: number of obstacles hallucinated per trajectory.
        size: size of the hallucinator's recurrent unit.
        hallucination_rounds: number of rounds of hallucinator training.
        hallucination_rate: learning rate of the hallucinator.
        ways: number of trajectories in a batch for the hallucinator.
        imagine: training scenes of the policy.
        rounds: number of rounds of policy training.
        rate: learning rate of the policy.
        samples: number of trajectories per round of policy training; each trajectory becomes one scene.
        batch: number of scenes in a gradient step.
        passes: number of passes over the scenes of a round.
        updates: number of batches per round of hallucinator training.
        lap: number of rounds between two checkpoints.
        validate: number of rounds of policy training between two validations; additional validations take place after rounds 1,
            2, 4, 8 and so on of the policy training.
        threads: number of PyTorch threads.
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
        """Train the hallucinator, and then the policy."""
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
    """The two networks, and the optimiser that trains both."""

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
        """Return the positions and velocities (N, K, 4) at the knots, m and m/s."""
        pose, speed = drives.pose[:, self._at], drives.twist[:, self._at, :1]
        heading = np.stack([np.cos(pose[..., 2]), np.sin(pose[..., 2])], -1)
        return torch.from_numpy(np.concatenate([pose[..., :2], speed * heading], -1).astype(np.float32))

    def dream(self, number: int) -> tuple[int, dict[str, float]]:
        """Train the hallucinator in round ``number``; return the number of trajectories used, and the mean losses by name.

        Raises:
            DivergedError: a loss is non-finite.
        """
        trainer, chance = self._trainer, np.random.default_rng((self._seed, number))
        noise = torch.Generator().manual_seed(int(chance.integers(2**62)))
        count = trainer.updates * trainer.ways
        ways = self._ways(self._drives(chance, count, trainer.band.seconds + 0.1))
        totals: dict[str, float] = {}
        for k in range(trainer.updates):
            way = ways[k * trainer.ways : (k + 1) * trainer.ways]
            share = min(1.0, 2.0 * number / trainer.hallucination_rounds)  # the weight grows over the first half of the training
            loss, parts = loss_of(trainer.loss, trainer.band, way, self._hallucinator(way, noise), share)
            self.descent.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self._hallucinator.parameters(), _LARGEST)
            self.descent.step()
            for name, part in parts.items():
                totals[name] = totals.get(name, 0.0) + part / trainer.updates
        return count, _finite(totals, number)

    def clone(self, number: int) -> tuple[int, dict[str, float]]:
        """Train the policy in round ``number``; return the number of scenes used, and the mean loss by name.

        Raises:
            DivergedError: the loss is non-finite.
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
        """Return the policy's observations (N, D) in scenes around new trajectories, and the robot's actions (N, A) along these
        trajectories.

        Trajectories that do not reach the local goal, or whose local goal lies behind the robot, are omitted.
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
        other = chance.random(len(aim)) < 0.5  # mirrored, if the lidar's view is symmetric
        if abs(ends[0] + ends[1]) < 1e-3 and not lidar.y:
            scan[other] = scan[other, ::-1]
            aim[other, 1], twist[other, 2] = -aim[other, 1], -twist[other, 2]
        seen = np.concatenate([scan, aim], -1).astype(np.float32)
        return seen, to_actions(twist.astype(np.float32), self._robot.limits(len(aim)))

    def _obstacles(self, drives: Drives, chance: np.random.Generator) -> tuple[Array, Array]:
        """Return centres and half axes (N, M, 2) of hallucinated and additional obstacles, all at least ``margin`` from the
        trajectory.
        """
        imagine, count = self._trainer.imagine, len(drives.pose)
        noise = torch.Generator().manual_seed(int(chance.integers(2**62)))
        with torch.no_grad():
            dreamt = self._hallucinator(self._ways(drives), noise)
        shape = (count, imagine.more)
        away, bearing = imagine.reach * np.sqrt(chance.random(shape)), chance.uniform(-math.pi, math.pi, shape)
        more = np.stack([away * np.cos(bearing), away * np.sin(bearing)], -1)
        half = chance.uniform(*imagine.sizes, (*shape, 2))
        room = imagine.free * drives.twist[:, :1, 0] + half.max(-1)
        half[(np.abs(bearing) < imagine.ahead) & (away < room)] = 1e-3  # so small that `shrunk` removes it
        centre = np.concatenate([dreamt.centre.numpy().astype(float), more], 1)
        axes = np.concatenate([dreamt.axes.numpy().astype(float), half], 1)
        last = int(self._trainer.band.seconds / drives.step)
        return centre, shrunk(drives.pose[:, : last + 1 : _THIN, :2], centre, axes, imagine.margin)


def _finite(values: dict[str, float], number: int) -> dict[str, float]:
    """Return the values; raise `DivergedError` if any value is non-finite."""
    for name, value in values.items():
        if not math.isfinite(value):
            raise DivergedError(f"hallucination: {name} is {value} in round {number}")
    return values


__all__: list[Any] = ["Hallucination", "Imagination"]
