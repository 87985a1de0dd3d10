"""The benchmark of Arena 3.0's paper is what the paper says, and Arena's files and Agora's give the same episodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.benchmark.contest import read_contest
from agora.errors import InputError
from agora.maps.generators.arena import from_arena
from agora.planners.global_.astar import geodesic_length
from agora.share import folder
from agora.tasks.modules.dynamic_map import DynamicMap
from agora.tasks.suite import load_suite
from agora.testing.guard import identical

PLACES = {
    "random": "barn",
    "canteen": "canteen",
    "industrial_hall": "industrial_hall",
    "office": "office",
    "indoor": "rosmap_indoor",
    "outdoor": "rosmap_outdoor",
    "corridor": "corridor",
}
SUITE = load_suite("arena")
PAPER = folder("configs") / "benchmark" / "arena_paper"


@pytest.fixture(scope="module")
def begun():
    return {name: SUITE.start(name, 3) for name in PLACES}


def test_a_jackal_has_100_random_episodes_and_ten_in_each_of_six_places():
    assert {stage.name: (stage.count, stage.robot) for stage in SUITE.stages} == {
        name: (100 if name == "random" else 10, "jackal") for name in PLACES
    }
    places = [stage.world.part.names() for stage in SUITE.stages]
    assert all(len(set(names)) == stage.count for names, stage in zip(places, SUITE.stages, strict=True))
    assert {s.name: names[0] for names, s in zip(places, SUITE.stages, strict=True)} == {k: f"{v}-0" for k, v in PLACES.items()}


def test_random_episodes_have_shelves_and_up_to_30_pedestrians():
    starts = [SUITE.start("random", k) for k in (0, 3, 92)]
    counts, shelves = [len(s.pedestrians.id) for s in starts], [len(s.things) for s in starts]
    assert max(counts) <= 30 and max(counts) - min(counts) > 5
    assert min(shelves) >= 5 and max(shelves) <= 10
    assert {thing.furniture.model for s in starts for thing in s.things} == {"shelf"}
    assert len({s.map.occupied.tobytes() for s in starts}) == len(starts)


@pytest.mark.parametrize("stage", PLACES)
def test_every_robot_has_room_and_a_way_that_its_time_is_enough_for_five_times(begun, stage):
    start = begun[stage]
    robot = start.robots[0]
    ends = np.vstack([robot.pose[:2], robot.goals[0, :2]])
    assert start.map.gap(ends).min() >= robot.model.radius + 0.2
    way = geodesic_length(start.map, *ends, robot.model.radius)
    assert way >= 5.0 and 5.0 * way / robot.model.vx[1] < start.timeout == 180.0


@pytest.mark.parametrize("stage", PLACES)
def test_arenas_files_give_the_same_episodes_but_for_the_goals_angle_to_a_hundredth_of_a_degree(begun, stage):
    suite, _ = read_contest(PAPER)
    assert [(s.name, s.count) for s in suite.stages] == [(s.name, s.count) for s in SUITE.stages]
    other = suite.start(stage, 3)
    assert np.degrees(other.heading_tolerance) == pytest.approx(np.degrees(begun[stage].heading_tolerance), abs=0.01)
    assert identical(replace(other, heading_tolerance=begun[stage].heading_tolerance), begun[stage])


def test_keys_of_arenas_map_generator_under_dynamicmap_choose_the_map():
    values = {"algorithm": "rosnav", "algorithm_config": {"map_type": "outdoor", "obstacle_num": 4}, "episode_per_map": 3}
    generator, episodes = DynamicMap.of(values).resolved()
    assert (generator.name, generator.part.obstacle_num, generator.part.width, episodes) == ("rosnav_outdoor", 4, 30.0, 3)
    same = DynamicMap.of({"episode_per_map": 2}).resolved()
    assert same == (DynamicMap().resolved()[0], 2)


def test_an_algorithm_that_arena_lacks_may_be_one_of_agoras_with_its_own_parameters():
    size = {"width": 50, "height": 18, "resolution": 0.5}
    made = from_arena({"algorithm": "corridor", "algorithm_config": {"corridor_width": 2.6}, "map_properties": size}).part
    assert (made.width, made.height, made.corridor_width) == (25.0, 9.0, 2.6)
    with pytest.raises(InputError, match="did you mean 'corridor_width'"):
        from_arena({"algorithm": "corridor", "algorithm_config": {"corridor_widht": 2.6}})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("algorithm: barn,", "algorithm: bran,", "no algorithm of Arena called 'bran'; did you mean 'barn'?"),
        ("fill_pct:", "fil_pct:", "DYNAMICMAP: algorithm_config.fil_pct: unknown key of 'barn'; did you mean 'fill_pct'?"),
        (
            "episode_per_map: 1}",
            "episodes_per_map: 1}",
            "DYNAMICMAP: episodes_per_map: unknown key; did you mean 'episode_per_map'?",
        ),
        ("episode_per_map: 1}", "episode_per_map: -1}", "episode_per_map: expected an integer in [0, 1000000], got -1"),
        ("{map_type: canteen,", "{map_type: kanteen,", "did you mean 'rosmap_canteen'?"),
    ],
)
def test_a_wrong_map_generator_is_refused_with_the_file_and_its_stage(tmp_path, old, new, message):
    for path in PAPER.rglob("*.yaml"):
        copy = tmp_path / path.relative_to(PAPER)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        read_contest(tmp_path)
    assert message in str(caught.value) and "suites/arena.yaml:" in str(caught.value), str(caught.value)
