"""An interplanner that returns an impossible guidance fails by its name, before a local planner reads the guidance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from agora.core.recording import Reason
from agora.interfaces import Declaration, Guidance
from agora.planners.adapters import call
from agora.planners.guided import GuidedPlanner
from agora.planners.local.pure_pursuit import PurePursuit
from agora.registry import Named
from agora.testing.scenes import observation

SEEN = observation(1)
K = SEEN.path.shape[1]
PLAIN = Guidance(SEEN.path, SEEN.path_count, SEEN.goal, np.ones(1, np.float32), np.zeros(1, np.float32))


@dataclass(frozen=True)
class Leads:
    """Returns the same for every observation."""

    answer: Any
    declares = Declaration(needs=("path", "pedestrians"))

    def guide(self, seen, memory):
        return self.answer


def driven(answer):
    planner = GuidedPlanner(Named("pure_pursuit", PurePursuit()), Named("crooked", Leads(answer)))
    return call(planner, SEEN, {}, np.ones(1, bool))


def changed(name, value):
    return replace(PLAIN, **{name: value}), {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("path", SEEN.path * np.float32(np.nan)),
        ("path", SEEN.path[:, :, :1]),
        ("path", SEEN.path.astype(str)),
        ("path_count", SEEN.path_count + K),
        ("path_count", SEEN.path_count - 1000),
        ("path_count", np.zeros(3, np.int32)),
        ("goal", SEEN.goal[:, :2]),
        ("goal", SEEN.goal + np.float32(np.inf)),
        ("speed", np.full(1, np.nan)),
        ("speed", np.full(1, -0.5)),
        ("speed", np.full(1, 1.5)),
        ("speed", 1.0),
        ("danger", np.full(1, np.nan)),
        ("reason", np.full(1, 99)),
        ("reason", np.array(["no"])),
        ("twist", np.zeros((1, 3))),
        ("pedestrians", 3),
        ("pedestrians", replace(SEEN.pedestrians, velocity=SEEN.pedestrians.velocity[:, :1])),
        ("pedestrians", replace(SEEN.pedestrians, position=SEEN.pedestrians.position * np.float32(np.nan))),
    ],
)
def test_an_impossible_guidance_fails_and_names_the_interplanner_and_the_field(name, value):
    answer, failures = driven(changed(name, value))
    assert set(failures) == {0} and (answer.twists == 0.0).all()
    assert all(reason.startswith(f"interplanner crooked returned {name}") for reason in failures.values())


@pytest.mark.parametrize("answer", [None, PLAIN, (None, {}), (PLAIN, {}, {})])
def test_something_that_is_no_guidance_and_memory_fails(answer):
    assert all("expected a Guidance and a memory" in reason for reason in driven(answer)[1].values())


def test_a_guidance_in_other_types_of_numbers_drives_as_one_in_the_usual_types():
    usual, _ = driven((PLAIN, {}))
    others = {"path": np.float64, "goal": np.float64, "speed": np.int64, "path_count": np.float64, "danger": np.int8}
    wide = replace(PLAIN, **{name: getattr(PLAIN, name).astype(kind) for name, kind in others.items()})
    answer, failures = driven((replace(wide, reason=np.full(1, int(Reason.WAITING))), {}))
    assert not failures and (answer.twists == usual.twists).all() and (answer.notes["reason"] == Reason.WAITING).all()
