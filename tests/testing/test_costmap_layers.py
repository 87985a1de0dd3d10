"""Every costmap layer that can be had by name keeps the contract, and bad ones do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from agora.core.jit import kernel
from agora.costmap.personal_space import PersonalSpace
from agora.costmap.semantic import Semantic
from agora.registry import available, make
from agora.testing import ContractError, check_costmap_layer

GIVEN = {"semantic": {"attribute": "stress"}}


@pytest.mark.parametrize("name", sorted(available("costmap_layers")))
def test_a_registered_layer_keeps_the_contract(name):
    check_costmap_layer(make("costmap_layers", name, **GIVEN.get(name, {})))


@pytest.mark.parametrize(
    "layer", [Semantic("pedestrian", combination="overwrite"), PersonalSpace(seconds=0.0, least_deviation=3.0)]
)
def test_so_does_it_with_other_parameters(layer):
    check_costmap_layer(layer)


@dataclass(frozen=True)
class Bad:
    """A layer with somebody's kernel."""

    code: object
    attribute: str = "pedestrian"

    def kernel(self):
        return self.code

    def parameters(self):
        return np.zeros(1, np.float32)


@kernel
def draws_nothing(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    pass


@kernel
def draws_everywhere(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    cost[:] = np.uint8(40)


@kernel
def clears_what_is_lethal(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    for n in range(first, last):
        cost[n] = np.uint8(40)


@kernel
def draws_the_absent(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    for n in range(first, last):
        for q in range(position.shape[1]):
            column, row = np.int64((position[n, q, 0] - origin[n, 0]) / cell), np.int64((position[n, q, 1] - origin[n, 1]) / cell)
            if 0 <= column < cost.shape[2] and 0 <= row < cost.shape[1]:
                cost[n, row, column] = max(cost[n, row, column], np.uint8(40))


@kernel
def draws_the_last_slot(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    for n in range(first, last):
        column = np.int64((position[n, 6, 0] - origin[n, 0]) / cell)
        cost[n, 0, column] = max(cost[n, 0, column], np.uint8(40))


@kernel
def forgets_the_origin(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    for n in range(first, last):
        for q in range(position.shape[1]):
            if present[n, q]:
                column = np.int64(abs(position[n, q, 0]) / cell) % cost.shape[2]
                cost[n, 3, column] = max(cost[n, 3, column], np.uint8(40))


BAD = {
    draws_nothing: "leave no cost",
    draws_everywhere: "not requested",
    clears_what_is_lethal: "is overwritten",
    draws_the_absent: "absent pedestrian leaves",
    draws_the_last_slot: "depend on the order or number of slots",
    forgets_the_origin: "shifted by whole cells",
}


@pytest.mark.parametrize(("code", "reason"), BAD.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_bad_layer_fails_for_its_own_reason(code, reason):
    with pytest.raises(ContractError, match=reason):
        check_costmap_layer(Bad(code))


def test_an_attribute_that_there_is_not_is_told_the_nearest():
    with pytest.raises(ContractError, match=r"energi.*energy"):
        check_costmap_layer(Bad(draws_nothing, "energi"))
