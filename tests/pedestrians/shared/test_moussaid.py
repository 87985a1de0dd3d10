from __future__ import annotations

import numpy as np
import pytest

from agora.core.jit import kernel
from agora.pedestrians.shared.moussaid import interaction
from pedestrians import crowds

LAW = tuple(np.float32(v) for v in (2.0, 0.35, 2.0, 3.0, 1e4))


@kernel
def _interactions(way, relative, law, out):
    for k in range(len(way)):
        out[k, 0], out[k, 1] = interaction(way[k, 0], way[k, 1], relative[k, 0], relative[k, 1], law)


def interactions(way, relative):
    out = np.zeros((len(way), 2), np.float32)
    _interactions(np.array(way, np.float32), np.array(relative, np.float32), LAW, out)
    return out


def test_a_neighbour_at_rest_pushes_straight_back():
    # D = e: B = gamma, theta = 0
    assert interactions([(0.6, 0.8)], [(0.0, 0.0)])[0] == pytest.approx(-np.exp(-1 / 0.35) * np.array([0.6, 0.8]), rel=1e-5)


def test_one_ahead_on_the_left_is_passed_on_the_right():
    # walking towards +x, the neighbour stands 2 m ahead and 0.1 m to the left: brake and go right
    fx, fy = interactions([(2.0, 0.1)], [(1.0, 0.0)])[0]
    assert fx < 0.0
    assert fy < 0.0
    mirrored = interactions([(2.0, -0.1)], [(1.0, 0.0)])[0]
    assert np.array_equal(mirrored, [fx, -fy])


@pytest.mark.parametrize("speed", [1.3, -1.3])
def test_exactly_ahead_or_behind_there_is_no_sideways_force(speed):
    assert interactions([(2.0, 0.0)], [(speed, 0.0)])[0, 1] == 0.0


def test_the_force_does_not_depend_on_the_direction_of_the_axes():
    # PySocialForce's does: the angles of t and e lie on both sides of the cut at -x for half of these directions
    angle = np.linspace(-np.pi, np.pi, 73)
    turn = np.stack([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]).transpose(2, 0, 1)
    force = interactions(turn @ (1.5, 0.2), turn @ (1.2, 0.1))
    back = np.einsum("kji,kj->ki", turn, force)
    assert np.abs(back - back[0]).max() < 1e-5 * np.linalg.norm(back[0])


def test_two_at_one_place_without_relative_velocity_do_not_push():
    assert np.array_equal(interactions([(0.0, 0.0)], [(0.0, 0.0)])[0], [0.0, 0.0])


def test_the_pair_loop_leaves_the_pedestrian_itself_out(rng):
    from agora.pedestrians.models.pysocial import PySocial

    crowd = crowds.placed(rng.normal(0.0, 9.0, (1, 2)), velocity=[(1.1, -0.4)])
    seen = crowds.forces(PySocial(), crowd, sees=1)
    assert np.array_equal(seen, crowds.forces(PySocial(), crowd, sees=0))
