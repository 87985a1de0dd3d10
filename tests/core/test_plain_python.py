"""With ``NUMBA_DISABLE_JIT=1`` everything runs as plain Python, so that a debugger can step through it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.environments import ROOT
from tests.suites import suite, write_world

from agora.episode import Conditions, Episodes
from agora.planners.presets import named_planner
from agora.registry import make, ready
from agora.tasks.suite import Suite

_SECONDS = 0.15
_FEWER = {
    "artplanner": "artplanner(density=4, window={size: 4.0, resolution: 0.1, inflation_radius: 0.1})",
    "brne": "brne(samples=36, steps=6, max_agents=3)",
    "cohan": "cohan(band={max_number_classes: 1, no_inner_iterations: 1, no_outer_iterations: 1})",
    "mppi": "mppi(samples=16, time_steps=5, temperature=30)",
    "sampling": "sampling(waypoints=40, start_speeds=3)",
}
"""Planners with less to do: plain Python takes minutes for them, or rounding grows with every iteration."""


def room(folder: Path) -> Suite:
    """A suite of one stage in a small room with coarse cells, because plain Python is slow to find ways."""
    people = {"name": "itineraries", "people": [4, 8]}
    one = {"name": "random", "distance": 5.0}
    return suite(write_world(folder / "room"), 2, crowds=["anticipation"], robots=one, obstacles=people, robot="jackal")


def ways(names: list[str], folder: str) -> dict[str, list]:
    """Return the places of the robot and the people after some steps, under each ``planners/NAME`` or ``crowd_models/NAME``."""
    made = room(Path(folder))
    [stage] = made.stages
    begun = replace(made.start(stage.name, 1), timeout=_SECONDS)
    found = {}
    for name in names:
        kind, _, component = name.partition("/")
        conditions = Conditions.of(stage)
        if kind == "crowd_models":
            conditions = replace(conditions, crowd=make(kind, component))
        planner = named_planner(component if kind == "planners" else "go_to_goal")[1].part
        ((_, (recording,)),) = Episodes([begun], planner, conditions)
        assert not recording.failure, f"{name}: {recording.failure}"
        found[name] = [recording.pose.tolist(), recording.pedestrian_position.tolist()]
    return found


def test_every_planner_and_crowd_model_runs_as_plain_python(tmp_path):
    names = [f"{kind}/{_FEWER.get(name, name)}" for kind in ("planners", "crowd_models") for name in ready(kind)]
    script = (
        "import json, sys; from tests.core.test_plain_python import ways; json.dump(ways(*json.loads(sys.argv[1])), sys.stdout)"
    )
    given = json.dumps([names, str(tmp_path / "plain")])
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", script, given], capture_output=True, text=True, env=environment, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    plain, compiled = json.loads(done.stdout), ways(names, str(tmp_path / "compiled"))
    for name in names:
        for one, other in zip(plain[name], compiled[name], strict=True):
            assert np.asarray(one) == pytest.approx(np.asarray(other), abs=2e-3), name
