"""Every crowd model that can be had by name keeps the contract, and bad ones do not."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from agora.core.jit import kernel
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.orca import Orca
from agora.registry import available, make
from agora.testing import ContractError, check_crowd_model


@pytest.mark.parametrize("name", sorted(available("crowd_models")))
def test_a_registered_crowd_model_keeps_the_contract(name):
    check_crowd_model(make("crowd_models", name), handed=name in ("anticipation", "spinny"))


@pytest.mark.parametrize("model", [Helbing(cutoff=3.0), Orca(walls=False)], ids=repr)
def test_so_does_it_with_other_parameters(model):
    check_crowd_model(model)


@dataclass(frozen=True)
class Decent:
    """Relaxes to its way, keeps from others and walls: plain NumPy, as a newcomer writes it."""

    declares: ClassVar[CrowdDeclaration] = CrowdDeclaration("acceleration")
    strength: float = 2.0

    def __post_init__(self) -> None:
        if not self.strength >= 0:
            raise ValueError("strength")

    def compute(self, s: Any) -> Any:
        away = s.position[:, :, None] - s.position[:, None]
        distance = np.hypot(away[..., 0], away[..., 1]) + np.float32(1e-3)
        push = self.strength * np.exp(-distance) / distance * (s.active[:, None, :] & s.sees_pedestrians)
        out = (push[..., None] * away).sum(axis=2)
        ahead = s.waypoint - s.position
        out += s.preferred_speed[..., None] * ahead / (np.hypot(ahead[..., 0], ahead[..., 1])[..., None] + 1e-3) - s.velocity
        for r in range(s.robot_position.shape[1]):
            away = s.position - s.robot_position[:, r : r + 1]
            distance = np.hypot(away[..., 0], away[..., 1]) + 1e-3
            out += (np.exp(-distance) / distance * s.robot_active[:, r : r + 1])[..., None] * away
        return out + np.exp(-5 * s.wall_distance)[..., None] * s.wall_direction


def test_a_decent_model_in_numpy_passes():
    check_crowd_model(Decent())


def bad(compute: Any) -> Any:
    """A model that spoils what `Decent` answers."""

    @dataclass(frozen=True)
    class Bad(Decent):
        def compute(self, s: Any) -> Any:
            return compute(s, super().compute)

    return Bad()


def divides_by_zero(s, good):
    with np.errstate(all="ignore"):
        away = s.waypoint - s.position
        return good(s) + away / np.hypot(away[..., 0], away[..., 1])[..., None]


def crashes_on_nobody(s, good):
    good(s)[s.active][0]
    return good(s)


def writes_to_the_scene(s, good):
    s.velocity[:] = 0
    return good(s)


def writes_to_the_scene_with_force(s, good):
    s.radius.flags.writeable = True
    s.radius[:] *= 2
    return good(s)


def draws_from_nowhere(s, good):
    return good(s) + np.random.default_rng().normal(0, 1e-3)


def mixes_worlds(s, good):
    return good(s) - 0.01 * s.preferred_speed.mean(axis=0)[..., None]


def counts_slots(s, good):
    return good(s) / s.active.shape[1]


def looks_into_empty_slots(s, good):
    return good(dataclasses.replace(s, active=np.ones_like(s.active)))


def sees_the_unseen(s, good):
    return good(dataclasses.replace(s, robot_active=np.ones_like(s.robot_active)))


def drifts_north(s, good):
    return good(s) + np.float32([0.0, 0.1])


def keeps_to_the_right(s, good):
    return good(s) + 0.2 * np.stack([s.velocity[..., 1], -s.velocity[..., 0]], -1)


def wrong_shape(s, good):
    return good(s)[..., 0]


BAD = {
    divides_by_zero: "returned an answer with (nan|inf)",
    crashes_on_nobody: "nobody: raises IndexError",
    writes_to_the_scene: "read-only",
    writes_to_the_scene_with_force: "writes to traits.radius",
    draws_from_nowhere: "not deterministic",
    mixes_worlds: "worlds affect each other",
    counts_slots: "the number of slots changes the result",
    looks_into_empty_slots: "empty slots change the result",
    sees_the_unseen: "empty slots change the result|unseen robots change the result",
    drifts_north: "turned by 90 degrees",
    keeps_to_the_right: "mirrored",
    wrong_shape: "returned an answer as",
}


@pytest.mark.parametrize(("compute", "reason"), BAD.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_bad_model_fails_for_its_own_reason(compute, reason):
    with pytest.raises(ContractError, match=reason):
        check_crowd_model(bad(compute))


def test_a_parameter_that_may_be_nan_is_named():
    @dataclass(frozen=True)
    class Careless(Decent):
        strength: float = 2.0

        def __post_init__(self) -> None:
            pass

    with pytest.raises(ContractError, match="parameter strength accepts NaN"):
        check_crowd_model(Careless())


@kernel
def _follow(parameters, crowd, out_x, out_y, first, last):
    for w in range(first, last):
        for i in range(crowd.pedestrians.x.shape[1]):
            out_x[w, i], out_y[w, i] = crowd.pedestrians.vx[w, i - 1], crowd.pedestrians.vy[w, i - 1]


@kernel
def _half_done(parameters, crowd, out_x, out_y, first, last):
    for w in range(first, last):
        for i in range(crowd.traits.count[w]):
            out_x[w, i], out_y[w, i] = crowd.pedestrians.vx[w, i], crowd.pedestrians.vy[w, i]


@pytest.mark.parametrize(
    ("function", "reason"), [(_follow, "empty slots change the result"), (_half_done, "empty slot 9 of world 0")]
)
def test_a_bad_compiled_model_fails(function, reason):
    class Bad:
        declares = CrowdDeclaration("velocity")

        def kernel(self) -> Any:
            return function

        def parameters(self) -> Any:
            return ()

    with pytest.raises(ContractError, match=reason):
        check_crowd_model(Bad())
