"""Every global planner that can be had by name keeps the contract, and bad ones do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from agora.planners.global_.astar import AStar
from agora.registry import available, make
from agora.testing import ContractError, check_global_planner
from agora.testing.crowds import hall

ORIENTED = {"artplanner", "rrt_star", "hybrid_a_star"}
"""Planners whose paths depend on the orientation of the map."""


@pytest.mark.parametrize("name", sorted(available("global_planners")))
def test_a_registered_global_planner_keeps_the_contract(name):
    check_global_planner(make("global_planners", name), oriented=name in ORIENTED)


@pytest.mark.parametrize("planner", [AStar(factor=0.0), AStar(smooth=False)], ids=["shortest", "not smooth"])
def test_so_does_it_with_other_parameters(planner):
    check_global_planner(planner)


class Bad:
    """Spoils what A* finds."""

    def __init__(self, path: Any) -> None:
        self.change = path

    def path(self, request):
        return self.change(AStar(factor=0.0).path, request)


def goes_through_walls(find, request):
    return np.linspace(request.start[:2], request.goal[:2], 50)


def takes_rows_for_columns(find, request):
    found = find(request)
    return None if found is None else found[:, ::-1]


def forgets_the_radius(find, request):
    return find(replace(request, radius=0.1))


def forgets_the_origin(find, request):
    return find(replace(request, map=hall()))


def forgets_the_border(find, request):
    m = request.map
    wider = tuple(v - 10 * m.resolution for v in m.origin)
    return find(replace(request, map=replace(m, occupied=np.pad(m.occupied, 10), origin=wider)))


def leaves_the_goal_out(find, request):
    found = find(request)
    return None if found is None else found[: max(len(found) - 5, 1)]


def raises_without_a_way(find, request):
    return find(request).astype(float)


def writes_to_the_request(find, request):
    request.start[0] -= 0.01
    return find(request)


def wanders(find, request):
    found = find(request)
    return None if found is None else found + np.random.default_rng().normal(0.0, 1e-3, found.shape)


BAD = {
    goes_through_walls: "the wall is",
    takes_rows_for_columns: "does not start at",
    forgets_the_radius: "the wall is",
    forgets_the_origin: "moved by whole cells",
    forgets_the_border: "the border is|wider than the radius",
    leaves_the_goal_out: "does not end at",
    raises_without_a_way: "a goal in a pillar: raises AttributeError",
    writes_to_the_request: "writes to start",
    wanders: "not deterministic",
}


@pytest.mark.parametrize(("path", "reason"), BAD.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_bad_global_planner_fails_for_its_own_reason(path, reason):
    with pytest.raises(ContractError, match=reason):
        check_global_planner(Bad(path))
