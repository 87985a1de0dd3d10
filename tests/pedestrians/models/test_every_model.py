"""The promises of every compiled crowd model of this folder."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import agora
from agora.core.jit import OPTIONS, bind
from agora.errors import InputError
from agora.interfaces import CrowdRecord
from agora.pedestrians.models.bonding import Bonding
from agora.pedestrians.models.deep_social_force import DeepSocialForce
from agora.pedestrians.models.evacuation import Evacuation
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.helbing_simple import HelbingSimple
from agora.pedestrians.models.pedsim import Pedsim
from agora.pedestrians.models.pysocial import PySocial
from agora.pedestrians.models.waypoint import Waypoint
from pedestrians import crowds, twins

FORCE_MODELS = [
    pytest.param(DeepSocialForce(), twins.deep_social_force, id="deep_social_force"),
    pytest.param(Helbing(), twins.helbing, id="helbing"),
    pytest.param(Helbing(cutoff=2.5), twins.helbing, id="helbing-cutoff"),
    pytest.param(HelbingSimple(), twins.helbing_simple, id="helbing_simple"),
    pytest.param(Pedsim(), twins.pedsim, id="pedsim"),
    pytest.param(PySocial(), twins.pysocial, id="pysocial"),
    pytest.param(Evacuation(), twins.evacuation, id="evacuation"),
    pytest.param(Bonding(), twins.bonding, id="bonding"),
]
MODELS = [*(pytest.param(p.values[0], id=p.id) for p in FORCE_MODELS), pytest.param(Waypoint(), id="waypoint")]


def moved(crowd, matrix, shift):
    """The crowd mapped by an orthogonal matrix and a shift, on a map without obstacles."""
    linear = ((crowd.pedestrians, "vx", "vy"), (crowd.robots, "world_vx", "world_vy"))
    points = ((crowd.pedestrians, "x", "y"), (crowd.waypoints, "x", "y"), (crowd.robots, "x", "y"))
    records = {type(record): record for record in crowd}
    for offset, names in ((np.zeros(2), linear), (np.asarray(shift), points)):
        for record, x, y in names:
            value = np.stack([getattr(record, x), getattr(record, y)], -1).astype(np.float64) @ np.asarray(matrix).T + offset
            records[type(record)] = records[type(record)]._replace(
                **{x: value[..., 0].astype(np.float32), y: value[..., 1].astype(np.float32)}
            )
    return crowds.Crowd(*(records[type(record)] for record in crowd))


@pytest.mark.parametrize(("model", "twin"), FORCE_MODELS)
@pytest.mark.parametrize("sees", [0, 1, 2, 3])
def test_kernel_agrees_with_its_float64_twin(model, twin, sees, rng):
    crowd = crowds.random_crowd(rng)
    expected, size = twin(model, crowd, sees)
    error = np.linalg.norm(crowds.forces(model, crowd, sees) - expected, axis=-1)
    stiffness = getattr(model, "body", 0.0) / getattr(model, "mass", 1.0)  # by which a micrometre of rounding counts
    assert size[crowd.pedestrians.active].min() > 0.0
    assert np.all(error <= 1e-5 * size + 1e-6 * stiffness)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("slots", [48, 64, 128])
def test_padding_changes_no_bit(model, slots, rng):
    crowd = crowds.random_crowd(rng)
    here, there = crowds.forces(model, crowd), crowds.forces(model, crowds.repadded(crowd, slots))
    assert here.any()
    assert np.array_equal(here, there[:, :32])
    assert not there[:, 32:].any()


@pytest.mark.parametrize("model", MODELS)
def test_a_world_does_not_depend_on_its_place_in_the_batch(model, rng):
    crowd = crowds.random_crowd(rng)
    together = crowds.forces(model, crowd)
    for w in range(4):
        assert np.array_equal(crowds.forces(model, crowds.one_world(crowd, w))[0], together[w])


@pytest.mark.parametrize("model", MODELS)
def test_who_is_not_active_has_no_influence_and_gets_nothing(model, rng):
    crowd = crowds.random_crowd(rng)
    before = crowds.forces(model, crowd)
    asleep = ~crowd.pedestrians.active
    for values in (*crowd.pedestrians[:5], crowd.traits.radius, crowd.traits.speed, crowd.waypoints.x):
        values[asleep] = rng.uniform(-5.0, 5.0, int(asleep.sum()))
    crowd.traits.group[asleep] = 0
    crowd.robots.x[:, 1] = 0.5
    after = crowds.forces(model, crowd)
    assert np.array_equal(before, after)
    assert not after[asleep].any()


@pytest.mark.parametrize("model", MODELS)
def test_only_the_range_of_worlds_asked_for_is_written(model, rng):
    crowd = crowds.random_crowd(rng)
    out = np.full((2, *crowd.pedestrians.x.shape), 7.0, np.float32)
    bind(model.kernel(), model.parameters(), CrowdRecord(np.float32(0.1), np.int64(3), *crowd), out[0], out[1])(1, 3)
    assert np.all(out[:, [0, 3]] == 7.0)
    assert not np.any(out[:, 1:3] == 7.0)


@pytest.mark.parametrize("model", MODELS)
def test_turned_moved_and_mirrored_scenes_give_turned_and_mirrored_results(model, rng):
    crowd = crowds.random_crowd(rng)._replace(maps=crowds.open_plain(4))
    before = crowds.forces(model, crowd)
    angle = 2.1
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for matrix in (turn, turn @ np.diag([1.0, -1.0])):
        after = crowds.forces(model, moved(crowd, matrix, (-4.3, 1.7)))
        scale = 1.0 + np.abs(before).max()
        assert np.abs(after - before @ matrix.T).max() < 3e-5 * scale


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_machine_code_knows_no_float64(model, rng):
    crowd = crowds.random_crowd(rng)
    out = np.zeros((2, *crowd.pedestrians.x.shape), np.float32)
    fresh = numba.njit(**{**OPTIONS, "cache": False})(model.kernel().py_func)
    fresh(model.parameters(), CrowdRecord(np.float32(0.1), np.int64(3), *crowd), out[0], out[1], 0, 4)
    (code,) = fresh.inspect_llvm().values()
    assert "float" in code
    assert not re.findall(r"(?:fpext|fadd|fmul|fdiv|fsub|fcmp)[^\n]*double", code)


_DUMP = """
import sys
import crowds, numpy as np
from agora.pedestrians.models.pedsim import Pedsim
from agora.pedestrians.models.pysocial import PySocial
for model in (Pedsim(), PySocial()):
    crowd = crowds.random_crowd(np.random.default_rng(3), counts=(23, 170), slots=176)
    people = crowd.pedestrians
    for _ in range(10):
        a = crowds.forces(model, crowd)
        for x, v, da in ((people.x, people.vx, a[..., 0]), (people.y, people.vy, a[..., 1])):
            v[:] = np.clip(v + np.float32(0.1) * da, -1.5, 1.5)
            x[:] += np.float32(0.1) * v
    sys.stdout.buffer.write(a.tobytes())
"""


def bits(cache, **environment):
    """Return the output of a process with a given cache of compiled code."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), str(Path(agora.__file__).parents[1])])
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": path} | environment
    return subprocess.run([sys.executable, "-c", _DUMP], env=environment, check=True, capture_output=True).stdout


@pytest.mark.slow
def test_bits_depend_neither_on_the_cpu_nor_on_whether_code_was_compiled_or_cached(tmp_path):
    compiled, cached = bits(tmp_path / "native"), bits(tmp_path / "native")
    assert len(compiled) == 2 * 2 * 176 * 2 * 4
    assert compiled == cached
    assert compiled == bits(tmp_path / "v3", NUMBA_CPU_NAME="x86-64-v3", NUMBA_CPU_FEATURES="")


@pytest.mark.parametrize("model", MODELS)
def test_one_pedestrian_alone_walks_straight(model):
    crowd = crowds.placed([(1.0, 2.0)], goal=[(4.0, 6.0)])
    (ax, ay) = crowds.forces(model, crowd)[0, 0]
    assert ax > 0.0
    assert ay / ax == pytest.approx(4.0 / 3.0, rel=1e-5)


@pytest.mark.parametrize("model", [p for p in MODELS if dataclasses.fields(p.values[0])])
def test_values_that_make_no_sense_are_refused_by_name(model):
    for field in (f for f in dataclasses.fields(model) if f.type == "float"):
        for value in (-1.0, float("nan"), float("inf")):
            with pytest.raises(InputError, match=field.name):
                dataclasses.replace(model, **{field.name: value})


class _Step(NamedTuple):
    position: np.ndarray
    velocity: np.ndarray


def walk(model, crowd, steps, dt):
    """Advance a crowd as the engine does: v += a dt, capped, p += v dt."""
    people, cap = crowd.pedestrians, model.declares.max_speed_factor * crowd.traits.speed
    for _ in range(steps):
        a = crowds.forces(model, crowd, dt=dt)
        v = np.stack([people.vx, people.vy], -1) + dt * a if model.declares.output == "acceleration" else a
        v *= np.minimum(1.0, cap / np.maximum(np.linalg.norm(v, axis=-1), 1e-9))[..., None]
        people.vx[:], people.vy[:] = v[..., 0], v[..., 1]
        people.x[:] += dt * people.vx
        people.y[:] += dt * people.vy
        yield _Step(np.stack([people.x, people.y], -1), np.stack([people.vx, people.vy], -1))


@pytest.mark.parametrize("model", MODELS)
def test_who_stays_at_the_last_waypoint_comes_to_rest_there(model):
    crowd = crowds.placed([(0.3, -0.2)], goal=[(3.0, 1.0)])
    crowd.waypoints.mode[:], crowd.waypoints.count[:] = 2, 1
    *_, end = walk(model, crowd, 200, np.float32(0.1))
    assert np.linalg.norm(end.position[0, 0] - (3.0, 1.0)) < 0.25
    assert np.linalg.norm(end.velocity[0, 0]) < 0.01


@pytest.mark.parametrize(
    ("model", "tau"),
    [
        (Evacuation(), 0.5),
        (DeepSocialForce(), 0.5),
        (Helbing(), 0.5),
        (Pedsim(relaxation_time=0.8), 0.8),
        (PySocial(), 0.5),
        (HelbingSimple(relaxation=1.6), 0.625),
    ],
)
def test_free_relaxation_is_the_closed_form_of_semi_implicit_euler(model, tau):
    dt = 0.05
    crowd = crowds.placed([(0.0, 0.0)], goal=[(24.0, -10.0)], speed=1.2)
    for k, step in enumerate(walk(model, crowd, 40, np.float32(dt)), start=1):
        assert np.linalg.norm(step.velocity[0, 0]) == pytest.approx(1.2 * (1.0 - (1.0 - dt / tau) ** k), rel=2e-5)
