"""Policies, each a network with its weights and its encoding, and their common file format.

The header of a file contains the registered names (`agora.interfaces.network`, `agora.interfaces.encoding`) and the parameters of
the network and of the encoding; the weights follow the header.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from agora.config import parse, plain
from agora.core.state import Bools, Floats, Ints
from agora.errors import InputError, reading
from agora.interfaces import Encoding, Label, Limits, Network, Observation
from agora.policies.dense_layers import Layer, layers_of_torch, weights_of
from agora.policies.weights import check_weights, label_of, read_weights, weights_file, write_weights
from agora.ranges import Checked
from agora.registry import Plug, make
from agora.yaml_tree import require_file as refuse_what_is_no_file

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

__all__ = ["TrainedRobot", "Layer", "Policy", "decides", "load_policy"]

_PART = 1e-3  # tolerance for comparing periods, as a fraction of a period
_A_BEAM, _CLOSE = 0.02, 1e-4  # rad


@dataclass(frozen=True)
class TrainedRobot(Checked):
    """The robot with which a policy was trained.

    Attributes:
        min_vx: minimum forward speed, m/s.
        max_vx: maximum forward speed, m/s.
        max_vy: maximum sideways speed, m/s.
        max_omega: maximum turning rate, rad/s.
        first_beam: direction of the lidar's first beam, rad; 0 without a lidar.
        last_beam: direction of the lidar's last beam, rad; 0 without a lidar.
    """

    min_vx: float
    max_vx: float
    max_vy: float
    max_omega: float
    first_beam: float = 0.0
    last_beam: float = 0.0

    @staticmethod
    def of(robot: RobotModel) -> TrainedRobot:
        """Return the limits and the lidar's field of view of a robot."""
        limits, lidar = robot.limits(1), robot.lidar
        first, last = (0.0, 0.0) if lidar is None else (lidar.angle_min, lidar.angle_max)
        min_vx, max_vx, max_vy, max_omega = (
            float(limit[0]) for limit in (limits.min_vx, limits.max_vx, limits.max_vy, limits.max_omega)
        )
        return TrainedRobot(min_vx, max_vx, max_vy, max_omega, first, last)

    def seen(self, observation: Observation, beams: int) -> Observation:
        """Return the observation that the robots would have with the limits and the lidar used in training.

        If the robot's lidar has a different field of view, its scan is resampled to the directions of the lidar used in training:
        beams outside that lidar's field of view are dropped, and directions that the robot's lidar does not cover are treated as
        free.

        Args:
            observation: observation of N robots.
            beams: number of values of the scan in the policy's observation.
        """
        o = replace(observation, limits=self.limits(observation.limits))
        if o.scan is None or o.scan_angles is None or not beams:
            return o
        angles, ends = o.scan_angles, (self.first_beam, self.last_beam)
        if max(abs(float(angles[end]) - trained) for end, trained in zip((0, -1), ends, strict=True)) <= _A_BEAM:
            return o
        edges = np.linspace(*ends, beams + 1)
        scan = np.full((len(o.scan), beams), o.scan_range, np.float32)
        firsts = np.searchsorted(angles, edges[:-1] - _CLOSE)
        lasts = np.searchsorted(angles, edges[1:] - _CLOSE)
        lasts[-1] = np.searchsorted(angles, edges[-1] + _CLOSE)
        for k, (first, last) in enumerate(zip(firsts.tolist(), lasts.tolist(), strict=True)):
            if first < last:
                scan[:, k] = o.scan[:, first:last].min(1)
            elif 0 < first < len(angles):  # the robot's beams are farther apart than the policy's
                middle = 0.5 * (edges[k] + edges[k + 1])
                scan[:, k] = o.scan[:, first - (middle - angles[first - 1] < angles[first] - middle)]
        return replace(o, scan=scan, scan_angles=(0.5 * (edges[1:] + edges[:-1])).astype(np.float32))

    def limits(self, limits: Limits) -> Limits:
        """Return limits with the maximum speeds used in training, by which the policy's observed twists and actions are scaled."""
        full = functools.partial(np.full, len(limits.max_vx), dtype=np.float32)
        turning = full(self.max_omega)
        return replace(limits, min_vx=full(self.min_vx), max_vx=full(self.max_vx), max_vy=full(self.max_vy), max_omega=turning)


def decides(calls: Ints, trained: float, dt: float) -> Bools:
    """Return, for each of these calls (N,), whether the policy makes a decision; otherwise, it keeps its last action.

    A robot may call the policy more often than the policy was trained to decide. If the trained period is not a multiple of ``dt``,
    a decision can be late by up to one call, but the mean period is correct.

    Args:
        calls: (N,) number of calls so far in the episode.
        trained: time between two decisions in training, s; 0 to decide at every call.
        dt: control period of the robots, s.

    Raises:
        InputError: the robots call the policy less often than the policy was trained to decide.
    """
    if not trained:
        return np.ones(len(calls), np.bool_)
    if dt > (1.0 + _PART) * trained:
        raise InputError(
            f"the policy was trained with a control period of {trained:g} s, and the robot's is {dt:g} s: it decides too rarely"
        )
    periods = calls * (dt / trained) + _PART
    due: Bools = np.floor(periods) > np.floor(periods - dt / trained)
    return due


@dataclass(frozen=True, eq=False)
class Policy:
    """A network with its weights and its encoding, and the robot and the control period used in training.

    Attributes:
        observe: encoding of observations and actions.
        network: network that computes a step.
        arrays: the network's weights by name, float32; inputs first.
        about: notes about the policy, such as the number of training steps.
        body: the robot with which the policy was trained; None if actions span the limits of the robot that uses the policy.
        period: time between two decisions in training, s; 0 to decide at every call.

    Raises:
        InputError: the weights do not fit the network, the network does not fit the encoding, or a weight is non-finite.
    """

    observe: Encoding
    network: Network
    arrays: Mapping[str, Floats]
    about: Mapping[str, str] = field(default_factory=dict)
    body: TrainedRobot | None = None
    period: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.period < math.inf:
            raise InputError(f"period: expected a number of at least 0, got {self.period}")
        check_weights(self.arrays, self.network.shapes(self.observe, self.arrays), type(self.network).__name__)

    @property
    def label(self) -> Label:
        """Return the label in the policy's notes."""
        return label_of(self.about)

    @functools.cached_property
    def state_size(self) -> int:
        """Number of values in the policy's memory, S; all values are zero at the start of an episode."""
        return self.network.state_size(self.observe)

    def see(self, observation: Observation) -> Floats:
        """Return the encoded observations (N, D) of N robots, without the parts that depend on earlier observations."""
        seen = np.empty((len(observation.pose), self.observe.length), np.float32)
        self.observe.write(observation, seen, 0, len(seen))
        return seen

    def step(self, seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, A) for observations (N, D) and memories (N, S), and the next memories (N, S).

        Rows are independent of each other.
        """
        return self.network.step(self.arrays, np.ascontiguousarray(seen, np.float32), state)

    def __call__(self, seen: Floats) -> Floats:
        """Return the actions (N, A) for observations (N, D) at the start of an episode.

        For a policy without memory, this method can be used at any time.
        """
        return self.step(seen, np.zeros((len(seen), self.state_size), np.float32))[0]

    @staticmethod
    def of_layers(
        observe: Encoding,
        layers: Sequence[Layer],
        about: Mapping[str, str] | None = None,
        body: TrainedRobot | None = None,
        period: float = 0.0,
    ) -> Policy:
        """Return a policy with a sequence of layers as its network; see `Policy`.

        Args:
            observe: encoding of observations and actions; the encoded observations are the input of the first layer.
            layers: the layers; the last layer outputs an action in [-1, 1].
            about: notes, as in `Policy`.
            body: robot used in training, as in `Policy`.
            period: control period used in training, as in `Policy`.
        """
        arrays = weights_of(layers)
        sizes, activations = [len(layer.bias) for layer in layers], [layer.activation for layer in layers]
        network = make("networks", "mlp", sizes=tuple(sizes[:-1]), activation=tuple(activations))
        return Policy(observe, network, arrays, about or {}, body, period)

    @staticmethod
    def of_torch(
        observe: Encoding,
        modules: Sequence[Any],
        about: Mapping[str, str] | None = None,
        body: TrainedRobot | None = None,
        period: float = 0.0,
    ) -> Policy:
        """Return a policy with a sequence of PyTorch modules (``Linear``, ``ReLU``, ``Tanh``, ``Sigmoid``, ``Flatten``) as its
        network.

        Args:
            observe: encoding of observations used in training.
            modules: a module such as ``torch.nn.Sequential(...)``, or a list of modules.
            about: notes, as in `Policy`.
            body: robot used in training, as in `Policy`.
            period: control period used in training, as in `Policy`.

        Raises:
            InputError: a module is of another type.
        """
        return Policy.of_layers(observe, layers_of_torch(modules), about, body, period)

    def save(self, path: Path) -> None:
        """Write the policy as a safetensors file.

        Raises:
            InputError: the file cannot be written, or the encoding or the network is not registered and can therefore not be named
                in a file.
        """
        said = _Said(self.network, self.observe, dict(self.about), self.body, self.period)
        try:
            text = json.dumps(plain(said))
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        write_weights(path, text, self.arrays)


@dataclass(frozen=True)
class _Said:
    """The header of a policy file: everything except the weights."""

    network: Annotated[Network, Plug("networks")]
    observe: Annotated[Encoding, Plug("encodings")]
    about: dict[str, str] = field(default_factory=dict)
    body: TrainedRobot | None = None
    period: float = 0.0


def load_policy(name_or_path: str | Path) -> Policy:
    """Return a policy by name (``configs/policies/<name>.safetensors``) or from a file; an unchanged file is read only once.

    Args:
        name_or_path: a name, or a path (a `Path`, or a string that contains a folder or has the extension .safetensors).

    Raises:
        UnknownNameError: no policy has this name.
        InputError: the file is invalid, or its network or encoding is not registered.
    """
    path = weights_file(name_or_path)
    with reading(path, "a policy"):
        refuse_what_is_no_file(path)
        return _load(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=16)
def _load(path: Path, changed: int) -> Policy:
    text, arrays = read_weights(path)
    said = parse(text, _Said, f"{path}: policy", is_json=True)
    try:
        return Policy(said.observe, said.network, arrays, said.about, said.body, said.period)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
