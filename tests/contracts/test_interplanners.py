"""Every registered interplanner keeps the contract, and one that breaks it is told how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from agora.planners.inter.bypass import Bypass
from agora.planners.inter.surroundings import unchanged
from agora.registry import available, make
from agora.testing import ContractError, check_interplanner


@pytest.mark.parametrize("name", sorted(available("interplanners")))
def test_a_registered_interplanner_keeps_the_contract(name):
    check_interplanner(make("interplanners", name))


@dataclass(frozen=True)
class Naughty(Bypass):
    """Breaks a clause."""

    needs: ClassVar[frozenset[str]] = frozenset({"path", "pedestrians"})
    how: str = ""

    def guide(self, observation, memory):
        found, o = unchanged(observation), observation
        rows = len(o.pose)
        broken = {
            "fast": {"speed": np.full(rows, 1.5, np.float32)},
            "afraid": {"danger": np.full(rows, 0.3, np.float32)},
            "elsewhere": {"goal": o.goal + np.float32(1.0)},
            "mixed": {"speed": np.full(rows, 1.0 / rows, np.float32)},
            "ghosts": {"speed": (0.1 * o.pedestrians.radius.sum(1)).astype(np.float32)},
        }
        return replace(found, **broken[self.how]), memory


@pytest.mark.parametrize(
    ("how", "clause"),
    [
        ("fast", "speed must be in"),
        ("afraid", "danger must be 0 with nobody about"),
        ("elsewhere", "not at its goal"),
        ("mixed", "rows are mixed"),
        ("ghosts", "empty slots of pedestrians count"),
    ],
)
def test_what_breaks_the_contract_is_told_which_clause(how, clause):
    with pytest.raises(ContractError, match=clause):
        check_interplanner(Naughty(how))
