"""Prediction by a network trained on recorded and simulated pedestrians.

The network outputs a pedestrian's deviation from motion at constant velocity. Its inputs are the pedestrian's own past and its
nearest neighbours, weighted by attention (A. Vaswani et al. 2017), as in the Gumbel Social Transformer, which AG-RL's code uses for
prediction (Z. Huang et al., "Learning sparse interaction graphs of partially detected pedestrians for trajectory prediction", IEEE
RA-L 7(2), 2022). In other respects this network differs: it is deterministic, represents the past by running means, and outputs a
smooth path in closed form.

The deviation at time t is the sum of ``c_k tau_k (1 - exp(-t / tau_k))``: additional velocities that decay with the time constants
`FADING`. The network outputs the ``c_k``, so the predicted positions at all times lie on one path.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agora.core.state import Floats
from agora.errors import InputError, reading
from agora.interfaces import Memory, Observation, Prediction, PredictorDeclaration
from agora.policies.layers import attend, relu
from agora.policies.named_layers import NamedLayers, shapes_of
from agora.policies.weights import check_weights, read_safetensors
from agora.predictors.motion_seen import OWN, PAIR, Seen, seen, turned
from agora.share import named_file
from agora.world.tracks import onward
from agora.yaml_tree import require_file as refuse_what_is_no_file

FADING = (0.5, 1.5, 5.0)
"""Time constants with which the components of a deviation decay, s."""

SUFFIX, FORMAT = ".safetensors", "agora.motion 1"


@dataclass(frozen=True)
class LearnedMotion:
    """Every pedestrian moves like pedestrians in the training data with a similar past and similar neighbours.

    The network sees neither robots nor walls. A pedestrian that has been standing still is predicted to remain standing.

    Attributes:
        file: name of a set of weights that comes with Agora (``configs/predictors``), or path of a safetensors file written by
            ``python -m agora.learning.motion``.
    """

    file: str = "learned_motion"

    declares = PredictorDeclaration()

    def __post_init__(self) -> None:
        weights_of(self.file)

    def files(self) -> list[Path]:
        """Return the weights file."""
        return [_path(self.file)]

    def predict(self, observation: Observation, steps: int, dt: float, memory: Memory) -> Prediction:
        """Return the predicted positions; the memory keeps mean velocities and speeds."""
        people = observation.pedestrians
        assert people is not None
        looked, kept = seen(people, memory, observation.dt)
        position = onward(people.position, people.velocity, steps, dt)
        off = deviations(weights_of(self.file), looked)
        ways = np.zeros((len(off), steps, 2), np.float32)
        for k, shares in enumerate(faded([dt * (moment + 1) for moment in range(steps)]).T):
            ways += shares[:, None] * off[:, None, k]
        position[people.present] += turned(ways, looked.axis[:, None], back=True)
        return Prediction(position, kept)


def faded(moments: Sequence[float]) -> Floats:
    """Return the effective time (T, K), s, of each component of a deviation at the given times, s."""
    return np.array([[tau * (1.0 - math.exp(-t / tau)) for tau in FADING] for t in moments], np.float32).reshape(-1, len(FADING))


def deviations(arrays: Mapping[str, Floats], looked: Seen) -> Floats:
    """Return the components (M, K, 2) of the deviations of M pedestrians from constant velocity, m/s, in their own frames."""
    layer, near = NamedLayers(arrays).layer, looked.near
    own = relu(layer("person", looked.own))
    pairs = relu(layer("pair", looked.pairs[near]))
    keys, values = (np.zeros((*near.shape, len(arrays[f"{name}.bias"])), np.float32) for name in ("key", "value"))
    keys[near], values[near] = layer("key", pairs), relu(layer("value", pairs))
    about = attend(layer("query", own), keys, values, near)
    hidden = relu(layer("joint", np.concatenate([own, about], 1)))
    parts: Floats = layer("out", hidden).reshape(-1, len(FADING), 2) * looked.sure[:, None, None]
    return parts


def shapes(arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
    """Return the required shapes of the weights; the layer widths are taken from the weights themselves."""
    width, keys, joint = (len(arrays.get(f"{name}.bias", ())) for name in ("person", "key", "joint"))
    layers = {
        "person": (OWN, width),
        "pair": (PAIR, width),
        "query": (width, keys),
        "key": (width, keys),
        "value": (width, width),
        "joint": (2 * width, joint),
        "out": (joint, 2 * len(FADING)),
    }
    return shapes_of(layers, {})


def weights_of(name_or_path: str) -> dict[str, Floats]:
    """Return the weights with the given name or from the given file; an unchanged file is read only once.

    Raises:
        UnknownNameError: no weights have this name.
        InputError: the file does not exist or is invalid.
    """
    path = _path(name_or_path)
    with reading(path, "weights of learned_motion"):
        refuse_what_is_no_file(path)
        return _read(path, path.stat().st_mtime_ns)


def _path(name_or_path: str) -> Path:
    path = Path(name_or_path)
    return path if "/" in name_or_path or path.suffix == SUFFIX else named_file("predictors", name_or_path, SUFFIX)


@functools.lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> dict[str, Floats]:
    about, arrays = read_safetensors(path)
    if about.get("format") != FORMAT:
        raise InputError(f"{path}: expected a file of {FORMAT}, got {about.get('format', 'no format')}")
    try:
        check_weights(arrays, shapes(arrays), "learned_motion")
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return arrays
