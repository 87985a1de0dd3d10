"""Imperative learning of paths (iPlanner): the cost of a path on the map is the loss, and there are no labels.

F. Yang, C. Wang, C. Cadena, M. Hutter, "iPlanner: imperative path planning", RSS 2023. The network outputs the key points of a
path. The lower level of the optimisation, a spline through these points, has a closed form. The upper level is the cost from
`agora.learning.trainers.path_cost` on the map, which is known only during training. An additional output, the fear, learns to
predict whether the path collides.

Robots drive around in the worlds of the stages: one third along the network's paths, one third towards their goals, and one third
randomly, so that goals lie in all directions. Noise is added to all twists. A lap consists of several rounds and begins with new
episodes in all worlds, so a resumed training run reproduces the curve.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from agora.core.state import Array, Floats
from agora.errors import DivergedError, InputError
from agora.interfaces import Channel, Network, Observation, Savable, Shape, TrainingRun
from agora.learning.env import AgoraVectorEnv
from agora.learning.trainers.checkpoint import restore, state_of
from agora.learning.trainers.episodes import is_early
from agora.learning.trainers.path_cost import Fields, PathCost
from agora.maps.grid import Map
from agora.policies.encoding import FromLimitToLimit, to_actions
from agora.policies.key_points import KeyPoints, spline
from agora.policies.learners.actor_critic import ActorCritic, actor_critic
from agora.policies.networks.mlp import Mlp
from agora.policies.policy import TrainedRobot
from agora.ranges import Chance, Checked, Count, NotNegative, Positive
from agora.registry import Plug
from agora.world.start import Start

_KEEP = 0.9  # correlation of the noise between consecutive steps
_WANDER, _SPIN = (
    0.7,
    0.4,
)  # random driving: speed, m/s; deviation of the turning rate, relative to the maximum


@dataclass(frozen=True)
class Imperative(Checked):
    """Learns paths from their costs on maps.

    Attributes:
        network: network to train: any registered network with an actor and a critic, but without a memory.
        observe: encoding of observations and actions.
        cost: cost of a path.
        more_stages: additional stages of the suite to train on.
        episodes: number of episodes of each stage; the episodes are played repeatedly, and their maps are kept in memory.
        worlds: total number of worlds, across all stages.
        horizon: number of steps in each world in a round.
        passes: number of passes over the samples of a round.
        kept: number of the lap's most recent rounds from which samples are used.
        batch: number of samples in a gradient step.
        rounds: number of rounds.
        rate: initial learning rate, which decays to a tenth over the course of training.
        decay: weight decay.
        noise: standard deviation of the noise added to turning rates, relative to the robot's maximum.
        mirror: fraction of the samples that are mirrored.
        lap: number of rounds between two checkpoints.
        validate: number of laps between two validations; additional validations take place after rounds 1, 2, 4, 8 and so on.
        threads: number of PyTorch threads.
    """

    network: Annotated[Network, Plug("networks", "mlp")] = field(default_factory=lambda: Mlp((256, 256), "relu"))
    observe: Annotated[KeyPoints, Plug("encodings", "key_points")] = field(default_factory=KeyPoints)
    cost: PathCost = field(default_factory=PathCost)
    more_stages: tuple[str, ...] = ()
    episodes: Count = 512
    worlds: Count = 126
    horizon: Count = 64
    passes: Count = 6
    kept: Count = 1
    batch: Count = 256
    rounds: Count = 48
    rate: Positive = 1e-3
    decay: NotNegative = 1e-3
    noise: NotNegative = 0.2
    mirror: Chance = 0.5
    lap: Count = 12
    validate: Count = 1
    threads: Count = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.observe, KeyPoints):
            raise InputError(
                f"imperative: the encoding must be key_points, whose actions are paths, got {type(self.observe).__name__}"
            )

    def train(self, run: TrainingRun) -> Iterator[Savable]:
        """Train for all rounds."""
        torch.set_num_threads(self.threads)
        torch.manual_seed(run.seed)
        school = _School(self, run)
        number, steps = 0, 0
        if run.resumed:
            numbers, arrays = run.resumed
            number, steps = int(numbers["rounds"]), int(numbers["steps"])
            restore(arrays, school.network, school.descent)
        while number < self.rounds:
            school.begin(steps)
            for _ in range(min(self.lap, self.rounds - number)):
                seen, values = school.round(number)
                number, steps = number + 1, steps + seen
                run.log(steps, number / self.rounds, **values)
                yield school.network.policy(run.about(steps))
                if is_early(number):
                    run.validate(school.network.policy(run.about(steps)), steps, number / self.rounds)
            if not is_early(number) and (-(-number // self.lap) % self.validate == 0 or number == self.rounds):
                run.validate(school.network.policy(run.about(steps)), steps, number / self.rounds)
            run.save(steps, {"rounds": number}, state_of(school.network, school.descent))
        school.close()


_Arrays = TypeVar("_Arrays", Array, Tensor)


class _Samples(NamedTuple, Generic[_Arrays]):
    """N samples: observations (N, D), the robots' poses (N, 3), and the indices (N,) of the grids of costs and of the grids of path
    lengths to the goal.
    """

    seen: _Arrays
    pose: _Arrays
    maps: _Arrays
    ways: _Arrays


class _School:
    """The worlds, the maps, the network and the optimiser."""

    def __init__(self, trainer: Imperative, run: TrainingRun) -> None:
        self._trainer, self._seed = trainer, run.seed
        stages = (run.stage, *trainer.more_stages)
        shares = [len(part) for part in np.array_split(np.arange(trainer.worlds), len(stages))]
        self._fields = _Grounds(trainer.cost)
        chosen: dict[str, Any] = {"episodes": trainer.episodes, "seed": run.seed, "observe": _Placed(trainer.observe)}
        envs = [AgoraVectorEnv(run.suite, stage, count, **chosen) for stage, count in zip(stages, shares, strict=True)]
        self._yards = [_Yard(trainer, env, self._fields) for env in envs]
        self._kept: deque[_Samples[Array]] = deque(maxlen=trainer.kept)
        robot = self._yards[0].env.robot
        size = trainer.observe.action_size(robot.limits(1))
        self.network: ActorCritic = actor_critic(trainer.network, Shape(trainer.observe, size, 0.0, body=TrainedRobot.of(robot)))
        if self.network.state_size:
            raise InputError("imperative: each sample is a single observation, so the network must have no memory")
        self.descent = torch.optim.AdamW(self.network.parameters(), lr=trainer.rate, weight_decay=trainer.decay)

    def begin(self, steps: int) -> None:
        """Begin new episodes in all worlds; the episodes depend only on the number of previous steps."""
        self._kept.clear()
        for yard in self._yards:
            yard.begin(steps)

    def round(self, number: int) -> tuple[int, dict[str, float]]:
        """Drive and learn; return the number of new samples, and the mean losses by name.

        Raises:
            DivergedError: a loss is non-finite.
        """
        trainer, chance = self._trainer, np.random.default_rng((self._seed, number))
        given = [yard.drive(self.network, chance) for yard in self._yards]
        self._kept.append(_Samples(*(np.concatenate(part) for part in zip(*given, strict=True))))
        samples = _Samples(*(torch.from_numpy(np.concatenate(part)) for part in zip(*self._kept, strict=True)))
        for group in self.descent.param_groups:
            group["lr"] = trainer.rate * (1.0 - 0.9 * number / trainer.rounds)
        totals, batches = np.zeros(3), 0
        for _ in range(trainer.passes):
            order = torch.from_numpy(chance.permutation(len(samples.seen)))
            for rows in order.split(trainer.batch):
                mirrored = torch.from_numpy(chance.random(len(rows)) < trainer.mirror)
                parts = self._losses(_Samples(*(part[rows] for part in samples)), mirrored)
                self.descent.zero_grad()
                (parts[0] + parts[1]).backward()
                self.descent.step()
                totals, batches = totals + [float(part.detach()) for part in parts], batches + 1
        if not np.isfinite(totals).all():
            raise DivergedError(f"imperative: the path and fear losses are {totals[0]} and {totals[1]}")
        return len(self._kept[-1].seen), dict(zip(("path_cost", "fear_loss", "feared"), (totals / batches).tolist(), strict=True))

    def _losses(self, given: _Samples[Tensor], mirrored: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the mean cost of the paths, the loss of the fear, and the fraction of colliding paths; the samples in ``mirrored``
        are mirrored.
        """
        observe, pose = self._trainer.observe, given.pose
        state, begins = torch.zeros(len(pose), 0), torch.ones(1, len(pose), dtype=torch.bool)
        order, sign = (torch.from_numpy(part) for part in observe.mirror)
        other = given.seen[:, order] * sign
        answered = self.network(torch.where(mirrored[:, None], other, given.seen)[None], state, begins)[0][0]
        points = observe.reach * answered[:, :-1].reshape(-1, observe.points, 2)
        path = torch.from_numpy(spline(observe.points, observe.samples)) @ points
        path = path * torch.stack([torch.ones(len(pose)), 1.0 - 2.0 * mirrored], -1)[:, None]
        cosine, sine = pose[:, 2].cos()[:, None], pose[:, 2].sin()[:, None]
        x = pose[:, :1] + cosine * path[..., 0] - sine * path[..., 1]
        y = pose[:, 1:2] + sine * path[..., 0] + cosine * path[..., 1]
        places = torch.stack([x, y], -1)
        cost, left = self._fields.costs.at(places, given.maps), self._fields.ways.at(places[:, [0, -1]], given.ways)
        path_cost, feared = self._trainer.cost.of_paths(path, cost, left)
        fear = nn.functional.binary_cross_entropy_with_logits(answered[:, -1], feared)
        return path_cost, fear, feared.mean()

    def close(self) -> None:
        """Stop the threads."""
        for yard in self._yards:
            yard.env.close()


class _Grounds:
    """The costs of positions on maps, and the path lengths to goals; each grid is computed only once."""

    def __init__(self, cost: PathCost) -> None:
        self._cost = cost
        self.costs, self.ways = Fields(), Fields()
        self._maps: dict[int, tuple[Map, int]] = {}  # keyed by id(), which stays unique because the map is kept alive

    def number(self, start: Start) -> tuple[int, int]:
        """Add the grids of a new episode; return the indices of the grid of costs and of the grid of path lengths to the goal."""
        map_ = start.map
        if id(map_) not in self._maps:
            self._maps[id(map_)] = map_, self.costs.add(map_, self._cost.of_map(map_))
        return self._maps[id(map_)][1], self.ways.add(map_, self._cost.way_left(map_, start.robots[0].goals[0, :2]))


class _Yard:
    """The worlds of one stage, in which robots drive around."""

    def __init__(self, trainer: Imperative, env: AgoraVectorEnv, grounds: _Grounds) -> None:
        env.refuse_several("imperative")
        self._trainer, self.env, self._grounds = trainer, env, grounds
        self._known: dict[int, tuple[int, int]] = {}
        self._seen: Floats = np.zeros(0, np.float32)
        self._numbers, self._noise = np.zeros((env.num_envs, 2), np.int64), np.zeros((env.num_envs, 2))

    def begin(self, first: int) -> None:
        """Begin new episodes in all worlds; the episode of world 0 has the number ``first``."""
        self._seen, infos = self.env.reset(options={"entry": first})
        self._place(infos)
        self._noise = np.zeros((self.env.num_envs, 2))

    def _place(self, infos: dict[str, Any]) -> None:
        """Look up the costs and path lengths of the episodes that have begun."""
        for n in np.flatnonzero(infos.get("_entry", ())).tolist():
            entry = int(infos["entry"][n])
            if entry not in self._known:
                self._known[entry] = self._grounds.number(self.env.starts[entry])
            self._numbers[n] = self._known[entry]

    @torch.no_grad()
    def drive(self, network: ActorCritic, chance: np.random.Generator) -> _Samples[Array]:
        """Drive the robots for ``horizon`` steps; return the samples."""
        observe, limits, given = self._trainer.observe, self.env.limits, list[_Samples[Array]]()
        begins, kind = torch.ones(1, self.env.num_envs, dtype=torch.bool), np.arange(self.env.num_envs)[:, None] % 3
        for _ in range(self._trainer.horizon):
            seen, pose = np.split(self._seen, [observe.length], 1)
            given.append(_Samples(seen.copy(), pose.astype(np.float64), *self._numbers.T.copy()))
            answered = network(torch.from_numpy(seen[None].copy()), torch.zeros(len(seen), 0), begins)[0][0].numpy()
            bearing = np.arctan2(seen[:, -1], seen[:, -2])
            seeking = np.stack([np.cos(bearing).clip(0.2) * seen[:, -3] * observe.reach * 0.4, 0.0 * bearing, 1.5 * bearing], -1)
            self._noise = _KEEP * self._noise + math.sqrt(1.0 - _KEEP**2) * chance.standard_normal(self._noise.shape)
            wander = np.stack([0.0 * bearing + _WANDER, 0.0 * bearing, _SPIN * limits.max_omega * self._noise[:, 1]], -1)
            twists = np.where(kind == 0, observe.twists(answered, limits, pose, pose), np.where(kind == 1, seeking, wander))
            twists[:, 0] *= 1.0 + 0.3 * self._noise[:, 0]
            twists[:, 2] += self._trainer.noise * limits.max_omega * self._noise[:, 1]
            self._seen, _, _, _, infos = self.env.step(to_actions(twists.astype(np.float32), limits))
            self._place(infos)
        return _Samples(*(np.concatenate(part) for part in zip(*given, strict=True)))


@dataclass(frozen=True)
class _Placed(FromLimitToLimit):
    """Wraps an encoding: observations are the wrapped encoding's values followed by the robot's pose, and actions span the robot's
    limits.
    """

    observe: KeyPoints
    beams: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "beams", self.observe.beams)

    def check(self, robot: Any) -> None:
        """Reject robots that the wrapped encoding rejects."""
        self.observe.check(robot)

    @property
    def needs(self) -> frozenset[str | Channel]:
        """Channels that the wrapped encoding needs."""
        return self.observe.needs

    @property
    def length(self) -> int:
        """Number of values, D."""
        return self.observe.length + 3

    @property
    def low(self) -> Floats:
        """Minimum values (D,)."""
        return np.append(self.observe.low, np.full(3, -np.inf, np.float32))

    @property
    def high(self) -> Floats:
        """Maximum values (D,)."""
        return np.append(self.observe.high, np.full(3, np.inf, np.float32))

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the vectors of the rows ``first <= n < last`` into ``out`` (N, D)."""
        self.observe.write(observation, out[:, :-3], first, last)
        out[first:last, -3:] = observation.pose[first:last]
