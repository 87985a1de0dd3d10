"""Bonds: where they pull, and that they hold pairs together."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines import engine as engine_at
from tests.starts import people, plane, start

from agora.pedestrians.models.bonding import Bonding
from agora.pedestrians.models.evacuation import Evacuation
from pedestrians import crowds


def bond(d, group=(4, 4), sees=3, **more):
    """The acceleration of the first of two at rest at distance ``d`` towards the other, less that without bonds."""
    crowd = crowds.placed([(0.0, 0.0), (0.6 * d, 0.8 * d)], group=group, radius=0.25)
    a, b = (crowds.forces(model, crowd, sees)[0, 0] for model in (Bonding(**more), Evacuation()))
    return (a - b).astype(float) @ [0.6, 0.8]


def test_a_bond_grows_exponentially_from_its_rest_length_to_its_limit_and_then_breaks():
    assert bond(0.79) == 0.0
    assert bond(0.801) == pytest.approx(20.0 * 0.001 / 0.8 / 80.0, rel=0.01)
    assert bond(1.6) == pytest.approx(20.0 * (np.e - 1.0) / 80.0, rel=1e-4)
    assert bond(4.9) == pytest.approx(200.0 / 80.0, rel=1e-4)
    assert bond(5.01) == 0.0
    assert bond(5.01, bond_reach=6.0) == pytest.approx(200.0 / 80.0, rel=1e-4)


def test_only_members_of_a_group_who_see_each_other_are_bound():
    assert bond(2.0) > 0.1
    assert bond(2.0, (4, 3)) == bond(2.0, (-1, -1)) == 0.0
    assert bond(2.0, sees=2) == 0.0


def test_pairs_stay_together_where_speeds_would_part_them():
    """A slow one and a fast one, 30 s on the same way: with bonds they end within d0 + 2 D."""
    apart = {}
    for model in (Evacuation(), Bonding()):
        crowd = people([[-6.0, 1.0], [-6.0, 1.9]], [[[300.0, 120.0]]] * 2, radius=0.25)
        crowd.speed[:] = 1.2, 1.5
        crowd.group[:] = 3
        one = start(crowd=crowd, place=plane(80.0, 80.0), timeout=60.0, pose=(-3.0, 60.0, 0.0))
        engine = engine_at([one], crowd=model)
        for _ in range(600):
            engine.step()
        place = np.stack([engine.world.pedestrians.x, engine.world.pedestrians.y], -1)[0, :2]
        apart[type(model)] = np.linalg.norm(place[1] - place[0])
    assert apart[Evacuation] > 5.0
    assert apart[Bonding] < 0.8 + 2 * 0.8
