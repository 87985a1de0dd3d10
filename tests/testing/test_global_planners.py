"""Every global planner that can be had by name keeps the contract, and bad ones do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agora.planners.global_.astar import AStar
from agora.registry import available, make
from agora.testing import ContractError, check_global_planner


@pytest.mark.parametrize("name", sorted(available("global_planners")))
def test_a_registered_global_planner_keeps_the_contract(name):
    check_global_planner(make("global_planners", name))


@pytest.mark.parametrize("planner", [AStar(factor=0.0), AStar(smooth=False)], ids=["shortest", "not smooth"])
def test_so_does_it_with_other_parameters(planner):
    check_global_planner(planner)


class Bad:
    """Spoils what A* finds."""

    def __init__(self, path: Any) -> None:
        self.change = path

    def path(self, clearance, resolution, origin, start, goal, radius):
        return self.change(AStar(factor=0.0).path, clearance, resolution, origin, start, goal, radius)


def goes_through_walls(find, clearance, resolution, origin, start, goal, radius):
    return np.linspace(start, goal, 50)


def takes_rows_for_columns(find, clearance, resolution, origin, start, goal, radius):
    found = find(clearance, resolution, origin, start, goal, radius)
    return None if found is None else found[:, ::-1]


def forgets_the_radius(find, clearance, resolution, origin, start, goal, radius):
    return find(clearance, resolution, origin, start, goal, 0.1)


def forgets_the_origin(find, clearance, resolution, origin, start, goal, radius):
    return find(clearance, resolution, np.float32([-3.7, 2.3]), start, goal, radius)


def leaves_the_goal_out(find, clearance, resolution, origin, start, goal, radius):
    found = find(clearance, resolution, origin, start, goal, radius)
    return None if found is None else found[: max(len(found) - 5, 1)]


def raises_without_a_way(find, *question):
    return find(*question).astype(float)


def writes_to_the_map(find, clearance, *question):
    clearance -= 0.01
    return find(clearance, *question)


def wanders(find, *question):
    found = find(*question)
    return None if found is None else found + np.random.default_rng().normal(0.0, 1e-3, found.shape)


BAD = {
    goes_through_walls: "the wall is",
    takes_rows_for_columns: "does not start at",
    forgets_the_radius: "the wall is",
    forgets_the_origin: "moved by whole cells",
    leaves_the_goal_out: "does not end at",
    raises_without_a_way: "a goal in a pillar: raises AttributeError",
    writes_to_the_map: "writes to clearance",
    wanders: "not deterministic",
}


@pytest.mark.parametrize(("path", "reason"), BAD.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_bad_global_planner_fails_for_its_own_reason(path, reason):
    with pytest.raises(ContractError, match=reason):
        check_global_planner(Bad(path))
