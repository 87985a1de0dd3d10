"""Arena's names and parameters, from cells to metres."""

import pytest
from tests.maps.generators.places import stream

from agora.errors import InputError
from agora.maps.generators.arena import from_arena


@pytest.mark.parametrize(
    ("algorithm", "config", "name", "expected"),
    [
        ("barn", {"fill_pct": 0.125, "smooth_iter": 5, "seed": None}, "barn", {"fill_pct": 0.125, "cell": 0.5}),
        ("rosnav", {"map_type": "indoor", "corridor_radius": 4, "iterations": 50}, "rosmap_indoor", {"corridor_radius": 2.25}),
        (
            "rosnav",
            {"map_type": "outdoor", "obstacle_num": 15},
            "rosnav_outdoor",
            {"obstacle_num": 15, "obstacle_extra_radius": 0.75},
        ),
        (
            "rosnav",
            {"map_type": "indoor", "indoor": {"corridor_radius": 4, "iterations": 40}, "outdoor": {"obstacle_num": 9}},
            "rosmap_indoor",
            {"corridor_radius": 2.25, "iterations": 40},
        ),
        ("rosmap", {"obstacle_extra_radius": 2}, "rosmap_outdoor", {"obstacle_num": 15, "obstacle_extra_radius": 1.25}),
        ("rosmap", {"map_type": "canteen", "chair_chance": 0.6}, "canteen", {"chair_chance": 0.6, "counter": False}),
        ("Rosnav Canteen", {}, "canteen", {"chair_chance": 0.4, "obstacle_extra_radius": 2.75}),
        ("Rosmap Indoor", {"iterations": 7}, "rosmap_indoor", {"iterations": 7, "room": (3.0, 6.0)}),
        ("Rosnav Industrial Hall", {"rack_chance": 0.2}, "industrial_hall", {"rack_chance": 0.2, "pallets": 0}),
        ("rosmap", {"map_type": "warehouse", "vert_dist_shelfs_min": 18}, "industrial_hall", {"aisle": 4.5, "pallet_jacks": 3}),
        ("rosmap", {"map_type": "office", "row_chance": 0.7}, "office", {"obstacle_num": 24, "meeting_rooms": 0}),
    ],
)
def test_a_generator_of_arena_is_one_of_ours_in_metres(algorithm, config, name, expected):
    made = from_arena({"algorithm": algorithm, "algorithm_config": config, "map_properties": {"width": 70, "height": 60}})
    assert made.name == name
    assert (made.part.width, made.part.height, made.part.resolution) == (35.0, 30.0, 0.1)
    assert {key: getattr(made.part, key) for key in expected} == expected
    assert made.part.generate(stream()).map.shape == (300, 350)


def test_indoor_maps_of_arenas_code_are_corridors_alone():
    made = from_arena({"algorithm": "rosnav", "algorithm_config": {"corridor_radius": 3}})
    assert made.part.room == (3.5, 3.5)
    assert made.part.iterations == 100


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"algorithm": "barns"}, "no algorithm of Arena called 'barns'; did you mean 'barn'"),
        ({"algorithm": "rosnav", "algorithm_config": {"map_type": "attic"}}, "no algorithm of Arena called 'rosnav_attic'"),
        (
            {"algorithm": "barn", "algorithm_config": {"fill": 0.2}},
            "algorithm_config.fill: unknown key of 'barn'; did you mean 'fill_pct'",
        ),
        ({"algorithm": "barn", "algorithm_config": {"fill_pct": 3.0}}, r"fill_pct: expected a number in \[0, 1\]"),
        ({"algorithm": "rosnav", "algorithm_config": {"corridor_radius": "4"}}, "corridor_radius: expected a number, got '4'"),
        ({"algorithm": "barn", "map_properties": {"widht": 3}}, "map_properties.widht: unknown key; did you mean 'width'"),
        ({"algorithm": "rosnav", "algorithm_config": {"map_type": ["indoor"]}}, "no algorithm of Arena called"),
        ({"algorithm": "rosnav", "algorithm_config": {"indor": {"iterations": 4}}}, "algorithm_config.indor: unknown key"),
        ({"algorithm_config": {}}, "algorithm: expected a string"),
    ],
)
def test_what_arena_would_not_know_is_refused_by_its_key(values, message):
    with pytest.raises(InputError, match=message):
        from_arena(values)
