"""A trained policy: the encoding of observations, the network, and the file that keeps both."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Bools, Floats, Ints
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Label, Limits, Observation
from agora.policies.encoding import Observe
from agora.policies.layers import ACTIVATIONS, dense
from agora.policies.weights import check_names, label_of, loader, read_weights, write_weights

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

__all__ = ["Body", "Layer", "Policy", "decides", "load_policy"]

_FORMAT, _VERSION = "agora.policy", 1
_PART = 1e-3  # of a period, by which periods may differ and still count as equal
_A_BEAM, _CLOSE = 0.02, 1e-4  # rad
_LATER = frozenset({"lookahead", "scans"})  # fields of `Observe` that files of before do not name


@dataclass(frozen=True)
class Layer:
    """A layer of a network in which every output reads every input.

    Attributes:
        weight: (I, O). bias: (O,).
        activation: name of one of `agora.policies.layers.ACTIVATIONS`.
    """

    weight: Floats
    bias: Floats
    activation: str = "none"


@dataclass(frozen=True)
class Body:
    """The robot that a policy was trained with, and how often it decided.

    Attributes:
        control: s between two decisions.
        min_vx: m/s.
        max_vx: m/s.
        max_vy: m/s.
        max_omega: rad/s.
        first_beam: direction of the lidar's first beam, rad; 0 without a lidar.
        last_beam: direction of its last beam, rad; 0 without a lidar.
    """

    control: float
    min_vx: float
    max_vx: float
    max_vy: float
    max_omega: float
    first_beam: float = 0.0
    last_beam: float = 0.0

    @staticmethod
    def of(control: float, robot: RobotModel) -> Body:
        """Return the body of a robot that decides every ``control`` s."""
        limits, lidar = robot.limits(1), robot.lidar
        first, last = (0.0, 0.0) if lidar is None else (lidar.angle_min, lidar.angle_max)
        min_vx, max_vx, max_vy, max_omega = (
            float(limit[0]) for limit in (limits.min_vx, limits.max_vx, limits.max_vy, limits.max_omega)
        )
        return Body(control, min_vx, max_vx, max_vy, max_omega, first, last)

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not math.isfinite(value):
                raise InputError(f"body: {name} must be finite, got {value}")
        if self.control <= 0.0:
            raise InputError(f"body: control must be above 0, got {self.control}")

    def seen(self, observation: Observation, beams: int) -> Observation:
        """Return what robots would see with the limits and the lidar of the training.

        A lidar of another span is read in the directions of the trained one: beams beyond them are left out, and directions that
        the robot's lidar does not see read as if nothing were there.

        Args:
            observation: of N robots.
            beams: how many values of the scan the policy sees.
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
            elif 0 < first < len(angles):  # beams that are farther apart than the policy's
                middle = 0.5 * (edges[k] + edges[k + 1])
                scan[:, k] = o.scan[:, first - (middle - angles[first - 1] < angles[first] - middle)]
        return replace(o, scan=scan, scan_angles=(0.5 * (edges[1:] + edges[:-1])).astype(np.float32))

    def limits(self, limits: Limits) -> Limits:
        """Return limits with the speeds of the training: those by which the policy sees twists, and which its actions span."""
        full = functools.partial(np.full, len(limits.max_vx), dtype=np.float32)
        turning = full(self.max_omega)
        return replace(limits, min_vx=full(self.min_vx), max_vx=full(self.max_vx), max_vy=full(self.max_vy), max_omega=turning)


def decides(calls: Ints, trained: float, dt: float) -> Bools:
    """Return at which calls (N,) a policy decides; at the others its last answer is held.

    A robot may call more often than the policy was trained to decide. Where ``dt`` is no whole part of the trained period, a
    decision comes up to one call late, and the periods are right in the mean.

    Args:
        calls: (N,) calls so far in the episode.
        trained: s between two decisions in training.
        dt: control period of the robots, s.

    Raises:
        InputError: the robots call less often than the policy was trained to decide.
    """
    if dt > (1.0 + _PART) * trained:
        raise InputError(
            f"the policy was trained with a control period of {trained:g} s, and the robot's is {dt:g} s: it decides too rarely"
        )
    periods = calls * (dt / trained) + _PART
    due: Bools = np.floor(periods) > np.floor(periods - dt / trained)
    return due


@dataclass(frozen=True)
class _Said:
    """What a file says of its policy beside the weights."""

    observe: dict[str, float]
    activations: tuple[str, ...]
    about: dict[str, str] = field(default_factory=dict)
    body: Body | None = None


@dataclass(frozen=True, eq=False)
class Policy:
    """A network of layers from what a robot sees to what it does.

    Attributes:
        observe: encoding of observations.
        layers: one after the other; the first reads what `observe` writes, the last gives an action in [-1, 1].
        about: notes for readers, such as steps of training.
        body: the robot that it was trained with; None drives any robot from limit to limit.

    Raises:
        InputError: layers that do not follow on each other, numbers that are not finite, or an unknown activation.
    """

    observe: Observe
    layers: tuple[Layer, ...]
    about: Mapping[str, str] = field(default_factory=dict)
    body: Body | None = None

    def __post_init__(self) -> None:
        size = self.observe.length
        if not self.layers:
            raise InputError("a policy needs at least one layer")
        for number, layer in enumerate(self.layers):
            if layer.activation not in ACTIVATIONS:
                raise UnknownNameError(f"activation of layer {number}:", layer.activation, ACTIVATIONS)
            if layer.weight.ndim != 2 or layer.weight.shape[0] != size or layer.bias.shape != layer.weight.shape[1:]:
                found = f"weight {layer.weight.shape} and bias {layer.bias.shape}"
                raise InputError(f"layer {number}: expected a weight ({size}, O) and a bias (O,), got {found}")
            if not (np.isfinite(layer.weight).all() and np.isfinite(layer.bias).all()):
                raise InputError(f"layer {number}: a weight is not finite")
            size = len(layer.bias)
        if size not in (2, 3):
            raise InputError(f"the last layer gives {size} values; an action has 2 (vx, omega) or 3 (vx, vy, omega)")

    def __call__(self, seen: Floats) -> Floats:
        """Return the actions (N, A) of what N robots see (N, D); a row does not depend on the others."""
        values = np.ascontiguousarray(seen, np.float32)
        for layer in self.layers:
            values = ACTIVATIONS[layer.activation](dense(values, layer.weight, layer.bias))
        return values

    @property
    def label(self) -> Label:
        """What the policy claims to be, by its notes."""
        return label_of(self.about)

    @staticmethod
    def of_torch(
        observe: Observe, modules: Sequence[Any], about: Mapping[str, str] | None = None, body: Body | None = None
    ) -> Policy:
        """Return the policy of a sequence of PyTorch modules: ``Linear``, ``ReLU``, ``Tanh``, ``Sigmoid``, ``Flatten``.

        Args:
            observe: encoding of observations in training.
            modules: such as ``torch.nn.Sequential(...)``, or a list of several of these.
            about: notes for readers.
            body: the robot in training, if the policy is to drive no other.

        Raises:
            InputError: a module of another kind.
        """
        layers: list[Layer] = []
        for module in _flat(modules):
            name = type(module).__name__.lower()
            if name == "linear":
                weight, bias = (tensor.detach().cpu().numpy().astype(np.float32) for tensor in (module.weight, module.bias))
                layers.append(Layer(np.ascontiguousarray(weight.T), bias))
            elif name in ACTIVATIONS and layers:
                layers[-1] = Layer(layers[-1].weight, layers[-1].bias, name)
            elif name not in ("flatten", "identity"):
                raise InputError(f"a policy is made of Linear, ReLU, Tanh and Sigmoid, got {type(module).__name__}")
        return Policy(observe, tuple(layers), about or {}, body)

    def save(self, path: Path) -> None:
        """Write a safetensors file.

        Raises:
            InputError: the file cannot be written, or the policy sees sensors, which a file does not name.
        """
        if self.observe.sensors:
            raise InputError(f"{path}: a file does not name sensors, and the policy sees {self.observe.sensors[0].channel}")
        seen = {name: value for name, value in asdict(self.observe).items() if name != "sensors"}
        said = _Said(seen, tuple(layer.activation for layer in self.layers), dict(self.about), self.body)
        arrays = {f"{k}.{name}": getattr(layer, name) for k, layer in enumerate(self.layers) for name in ("weight", "bias")}
        write_weights(path, _FORMAT, _VERSION, said, arrays)


def _flat(modules: Sequence[Any]) -> list[Any]:
    """The modules in a sequence of modules and of sequences of them."""
    return [m for module in modules for m in (_flat(module) if type(module).__name__ == "Sequential" else [module])]


@loader
def load_policy(path: Path) -> Policy:
    """Return the policy of a name (``configs/policies/<name>.safetensors``) or of a file.

    Args:
        path: a name, or a path (a `Path`, or text with a folder or the ending .safetensors).

    Raises:
        UnknownNameError: no such policy.
        InputError: the file is wrong.
    """
    said, arrays = read_weights(path, _FORMAT, _VERSION, _Said)
    check_names(path, arrays, (f"{k}.{name}" for k in range(len(said.activations)) for name in ("weight", "bias")))
    known = {f.name for f in fields(Observe)} - {"sensors"}
    if not known - _LATER <= set(said.observe) <= known:
        raise InputError(f"{path}: observe: expected {', '.join(sorted(known))}, got {', '.join(sorted(said.observe))}")
    counts = {name: int(said.observe[name]) for name in ("beams", "pedestrians", "scans") if name in said.observe}
    layers = tuple(Layer(arrays[f"{k}.weight"], arrays[f"{k}.bias"], a) for k, a in enumerate(said.activations))
    try:
        return Policy(Observe(**(said.observe | counts)), layers, said.about, said.body)  # type: ignore[arg-type]
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
