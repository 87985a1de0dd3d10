"""A function becomes a crowd model."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

from agora.config import build_component
from agora.errors import InputError
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.function import crowd_model
from agora.testing import ContractError, check_crowd_model
from agora.testing.crowds import crowd, standing


@crowd_model("velocity", max_speed_factor=1.5, max_step=0.05)
def stroll(scene: Any, *, haste: float = 0.2, gap: float = 0.5) -> Any:
    """Walks to its waypoint, slower near walls.

    Attributes:
        haste: share of the way per second.
        gap: to a wall, m, below which it slows down.
    """
    return haste * (scene.waypoint - scene.position) * np.minimum(scene.wall_distance / gap, 1.0)[..., None]


@crowd_model("velocity")
def lost(scene: Any) -> Any:
    return np.full((1, 2), np.nan)


def test_it_is_a_dataclass_whose_fields_are_the_functions_parameters_and_keeps_the_contract():
    assert {f.name: (f.type, f.default) for f in dataclasses.fields(stroll)} == {"haste": (float, 0.2), "gap": (float, 0.5)}
    assert stroll.declares == CrowdDeclaration("velocity", 1.5, 0.05)
    assert "slower near walls" in stroll.__doc__
    assert pickle.loads(pickle.dumps(stroll(haste=0.4))) == stroll(haste=0.4)  # noqa: S301
    check_crowd_model(stroll())


def test_files_set_its_parameters_and_are_told_what_is_wrong(monkeypatch):
    monkeypatch.setattr("agora.config.load_component", lambda kind, name: stroll)
    assert build_component("crowd_models", {"name": "stroll", "gap": 0.75}).part == stroll(gap=0.75)
    with pytest.raises(InputError, match="hast: unknown key; did you mean 'haste'"):
        build_component("crowd_models", {"name": "stroll", "hast": 1.0})
    with pytest.raises(InputError, match=r"stroll.gap is nan; expected a finite number"):
        stroll(gap=float("nan"))


def test_errors_name_it():
    with pytest.raises(ContractError, match="lost"):
        check_crowd_model(lost())
    with pytest.raises(InputError, match="crowd model needy: the parameter speed needs a default"):

        @crowd_model("velocity")
        def needy(scene: Any, speed: float) -> Any:
            return scene.velocity


def test_a_scene_shows_minds_headings_and_the_clearance_of_any_point():
    seen = {}

    @crowd_model("velocity")
    def watch(scene: Any) -> Any:
        seen["scene"] = scene
        seen["here"] = scene.clearance(scene.position)
        seen["there"] = scene.clearance(np.tile(np.float32([[5.1, 4.2], [6.3, 5.9]]), (4, 1, 1)))
        return scene.velocity

    world = standing(crowd())
    world.minds.state[1, 2], world.minds.type[0, 3] = 5, 2
    from agora.engine.scene import CrowdReader

    out = np.zeros((2, 4, world.slots), np.float32)
    CrowdReader(watch(), world, world.pedestrians, world.robots, world.waypoints, True, True, 0.1, out).compute()
    scene = seen["scene"]
    assert np.array_equal(seen["here"][0], scene.wall_distance) and np.array_equal(seen["here"][1], scene.wall_direction)
    assert seen["there"][0] == pytest.approx(np.tile([0.7, 1.2], (4, 1)), abs=0.08)
    assert seen["there"][1][2, 0] == pytest.approx([-1.0, 0.0], abs=0.05)
    assert (scene.state[1, 2], scene.type[0, 3]) == (5, 2)
    assert np.array_equal(scene.heading, world.pedestrians.heading)
    with pytest.raises(InputError, match=r"crowd model watch: clearance of points \(2,\), not \(4, K, 2\)"):
        scene.clearance(np.zeros(2))
