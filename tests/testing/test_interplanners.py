"""Every registered interplanner keeps the contract, and one that breaks it is told how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from agora.interfaces import Declaration
from agora.planners.inter.bypass import Bypass
from agora.planners.inter.surroundings import unchanged
from agora.registry import Named, available, make
from agora.testing import ContractError, check_interplanner

IN_CELLS = {
    "replan": {"grid": True, "tolerance": 0.1},
    "checkpoint": {"grid": True},
    "polite": {"grid": True},
    **dict.fromkeys(("meta", "sideways"), {"grid": True, "handed": True}),
}
"""Ways over cells: of two that are alike another one is taken in a scene that is turned. Retreats end before the cells of walls.
`sideways`, which `meta` chooses too, retreats to the right."""


@pytest.mark.parametrize("name", sorted(available("interplanners")))
def test_a_registered_interplanner_keeps_the_contract(name):
    check_interplanner(make("interplanners", name), **IN_CELLS.get(name, {}))


@pytest.mark.parametrize("name", ["around_groups", "polite"])
def test_one_that_foresees_with_what_its_predictor_remembers_keeps_the_contract(name):
    foresees = {"foresight": 1.4} if name == "polite" else {"detect": True}
    prediction = Named.of("predictors", "goal_directed", averaging=0.5)
    check_interplanner(make("interplanners", name, prediction=prediction, **foresees), **IN_CELLS.get(name, {}))


@dataclass(frozen=True)
class Naughty(Bypass):
    """Breaks a clause."""

    declares: ClassVar[Declaration] = Declaration(needs=("path", "pedestrians", "scan"))
    how: str = ""

    def guide(self, observation, memory):
        found, o = unchanged(observation), observation
        rows = len(o.pose)
        broken = {
            "fast": {"speed": np.full(rows, 1.5, np.float32)},
            "afraid": {"danger": np.full(rows, 0.3, np.float32)},
            "elsewhere": {"goal": o.goal + np.float32(1.0)},
            "mixed": {"speed": np.full(rows, 1.0 / rows, np.float32)},
            "ghosts": {"speed": (1e-3 * o.pedestrians.radius.sum(1)).astype(np.float32)},
            "half": {"twist": np.zeros((rows, 3), np.float32)},
            "flat": {"twist": np.zeros((rows, 2), np.float32), "overrules": np.ones(rows, bool)},
            "swift": {"twist": np.full((rows, 3), 2.0, np.float32), "overrules": np.arange(rows) == 1},
            "vague": {"twist": np.zeros((rows, 3), np.float32), "overrules": np.full(rows, 0.5, np.float32)},
            "crowded": {"pedestrians": replace(o.pedestrians, radius=o.pedestrians.radius[:, :0])},
            "nowhere": {"pedestrians": replace(o.pedestrians, position=np.full_like(o.pedestrians.position, np.nan))},
            "shrunk": {"pedestrians": replace(o.pedestrians, radius=-o.pedestrians.radius)},
            "rooted": {"twist": 0.1 * np.abs(np.sin(o.pose)) * (1, 0, 0), "overrules": np.ones(rows, bool)},
            "crossed": {"pedestrians": replace(o.pedestrians, radius=o.pedestrians.radius[::-1].copy())},
            "blinded": {"speed": np.clip(o.scan.min(1), 0.0, 1.0)},
        }
        return replace(found, **broken[self.how]), memory


@pytest.mark.parametrize(
    ("how", "clause"),
    [
        ("fast", "speed must be in"),
        ("afraid", "danger must be 0 without pedestrians"),
        ("elsewhere", "not at its goal"),
        ("mixed", "rows affect each other"),
        ("ghosts", "empty slots of pedestrians change the result"),
        ("half", "one is given, the other is None"),
        ("flat", r"twist must be finite and of shape \(4, 3\)"),
        ("swift", "twist: vx 2 of row 1 is beyond"),
        ("vague", "overrules must be bool"),
        ("crowded", r"pedestrians: radius must be of shape \(4, 5\)"),
        ("nowhere", "pedestrians: position must be .* finite where present"),
        ("shrunk", "radius at least 0"),
        ("rooted", "the scene shifted"),
        ("crossed", "rows affect each other"),
        ("blinded", "bad input: step 0: speed must be finite"),
    ],
)
def test_what_breaks_the_contract_is_told_which_clause(how, clause):
    with pytest.raises(ContractError, match=clause):
        check_interplanner(Naughty(how))
