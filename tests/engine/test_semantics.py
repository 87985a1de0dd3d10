"""Semantic attributes read from an engine: points for users and ROS, maps for planners, costs for global planners."""

import numpy as np
import pytest
from tests.engines import engine as engine_at

from agora.core.semantics import ATTRIBUTES
from agora.core.state import SOCIAL_STATES, TYPES
from agora.costmap.personal_space import PersonalSpace
from agora.costmap.semantic import Semantic
from agora.engine.observe import Observer
from agora.engine.semantics import layer_costs, semantic_points
from agora.engine.wiring import Wiring
from agora.errors import UnknownNameError
from agora.interfaces import SemanticWindow, Setting
from agora.pedestrians.models.waypoint import Waypoint
from agora.world.world import World
from starts import people, plane, start

PLACES = [(1.3, 2.2), (-2.7, 0.4), (3.9, -1.1)]


@pytest.fixture
def world():
    begun = start(pose=(0.4, 0.7, 1.1), crowd=people(PLACES, [(9.3, 2.2), (-2.7, 0.4), (3.9, 5.0)]))
    moved = engine_at([begun, begun], crowd=Waypoint())
    for _ in range(4):
        moved.step()
    world = moved.world
    world.minds.type[1, :3] = [TYPES.index(name) for name in ("adult", "elder", "child")]
    world.minds.state[1, :3] = [SOCIAL_STATES.index(name) for name in ("walking", "phone", "running")]
    world.minds.stress[1, :3] = 0.1, 0.2, 0.7
    return world


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("pedestrian", [1, 1, 1]),
        ("pedestrian_moving", [1, 0, 1]),
        ("pedestrian_vel_x", [1.0, 0, 0]),
        ("pedestrian_vel_y", [0, 0, 1.0]),
        ("pedestrian_type", [0, 1, 2]),
        ("stress", [0.1, 0.2, 0.7]),
        ("energy", [0.5, 0.5, 0.5]),
        ("social_state.phone", [0, 1, 0]),
        ("social_state.running", [0, 0, 1]),
    ],
)
def test_points_carry_the_evidence_of_every_pedestrian_there_is(world, attribute, expected):
    points = semantic_points(world, 1, attribute)
    assert points.evidence == pytest.approx(np.array(expected), abs=1e-6)
    assert points.location == pytest.approx(np.array([[1.5, 2.2], [-2.7, 0.4], [3.9, -0.9]]), abs=1e-5)
    assert points.id.tolist() == [11, 12, 13]
    assert points.time == pytest.approx(0.2)
    assert (points.attribute, world.slots) == (attribute, 16)


def test_an_attribute_that_there_is_not_is_told_the_nearest(world):
    with pytest.raises(UnknownNameError, match="energy"):
        semantic_points(world, 0, "enrgy")


def test_maps_hold_the_evidence_in_the_cell_where_the_pedestrian_is(world):
    window = SemanticWindow(("pedestrian", "stress", "pedestrian_vel_y"), size=8.4, resolution=0.28)
    observer = Observer(world, Wiring.of({window}), 0.1)
    maps = observer.observe().semantics
    assert maps.evidence.shape == (2, 3, 30, 30)
    for place, stress, vy in zip([(1.5, 2.2), (-2.7, 0.4), (3.9, -0.9)], (0.1, 0.2, 0.7), (0, 0, 1), strict=True):
        column, row = ((np.array(place) - maps.origin[1]) / 0.28).astype(int)
        assert maps.evidence[1, :, row, column] == pytest.approx([1, stress, vy])
    assert (maps.evidence[1] != 0).sum() == 3 + 3 + 1
    assert maps.evidence[0, 1].max() == 0
    assert maps.origin[1] / 0.28 == pytest.approx(np.round(maps.origin[1] / 0.28), abs=1e-4)


def test_of_two_in_one_cell_the_larger_evidence_is_kept_whatever_their_slots(world):
    world.pedestrians.x[1, :3], world.pedestrians.y[1, :3] = 1.0, 1.0
    maps = Observer(world, Wiring.of({SemanticWindow(("stress",))}), 0.1).observe().semantics
    assert np.unique(maps.evidence[1]) == pytest.approx([0.0, 0.7])


def test_layers_cost_the_same_on_the_whole_map_and_on_the_local_window(world):
    from agora.costmap.window import Window

    layers = (PersonalSpace(cost=120.0), Semantic("social_state.phone", cost=200.0, radius=0.6))
    place = plane()
    whole = layer_costs(world, 1, layers, place)
    window = Window(size=6.0, resolution=place.resolution, sources=("map",))
    observer = Observer(world, Wiring.of({window}, Setting(layers=layers)), 0.1)
    local = observer.observe().costmap
    column, row = np.round((local.origin[1] - place.origin) / place.resolution).astype(int)
    assert whole.max() == 200
    assert np.array_equal(local.cost[1], whole[row : row + 60, column : column + 60])
    assert local.cost[0].max() < 121


def test_nobody_there_leaves_empty_points_maps_and_costs():
    begun = start()
    world = World.of([begun], dt=0.05)
    world.reset(0, begun)
    assert all(len(semantic_points(world, 0, name).evidence) == 0 for name in ATTRIBUTES)
    assert not layer_costs(world, 0, (PersonalSpace(),), begun.map).any()


def test_a_window_of_an_unknown_attribute_is_refused():
    with pytest.raises(ValueError, match=r"sociall.*social"):
        SemanticWindow(("sociall",))
    with pytest.raises(ValueError, match="size and resolution"):
        SemanticWindow(size=1.0, resolution=0.0)
